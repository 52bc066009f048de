//! Part: what do all objects of contracts have in common in Python?
//!
//! In: a whole contract of the engine, or the members of a struct.
//! Out: [`Part`], the base of all these classes: members, JSON, equality, pickles. It is immutable.
//! Never: has members of its own: the classes are declared in Python.

use super::classes::{Class, Declared, Shape};
use super::contract::{Contract, written};
use super::objects::{member, object, plain};
use super::values::value_of;
use pyo3::exceptions::{PyTypeError, PyValueError};
use pyo3::prelude::*;
use pyo3::pyclass::CompareOp;
use pyo3::types::{PyDict, PyList, PyString, PyTuple, PyType};
use rulebook::value::to_value;
use rulebook::{Object, Value};
use std::sync::{Arc, Mutex, OnceLock, PoisonError};

/// The data behind an object.
#[derive(Debug)]
pub(crate) enum Backing {
    /// A contract: a member is converted when it is first read.
    Whole(Contract, Box<[OnceLock<Py<PyAny>>]>),
    /// The members of a struct; `None` for one that it omits.
    Built(Box<[Option<Py<PyAny>>]>),
}

/// The argument of the constructor. Only the engine makes one, so only the engine makes objects.
#[pyclass(frozen, module = "rulebook._engine")]
pub(crate) struct Seed(Mutex<Option<(Arc<Class>, Backing)>>);

impl Seed {
    pub(crate) fn new(class: Arc<Class>, backing: Backing) -> Self {
        Self(Mutex::new(Some((class, backing))))
    }
}

/// A part of a contract.
#[pyclass(frozen, subclass, module = "rulebook._engine")]
pub(crate) struct Part {
    class: Arc<Class>,
    backing: Backing,
}

/// The object for a whole contract.
pub(crate) fn whole(py: Python<'_>, contract: Contract) -> PyResult<Bound<'_, PyAny>> {
    let class = Class::named(contract.name())?;
    let members = std::iter::repeat_with(OnceLock::new).take(class.fields.len()).collect();
    class.backed_by(py, Backing::Whole(contract, members))
}

impl Part {
    /// The contract, if the object is a whole one.
    pub(crate) fn contract(&self) -> Option<&Contract> {
        match &self.backing {
            Backing::Whole(contract, _) => Some(contract),
            Backing::Built(_) => None,
        }
    }

    /// The part as JSON.
    pub(crate) fn value(&self, this: &Bound<'_, PyAny>, name: &str) -> PyResult<Value> {
        match &self.backing {
            Backing::Whole(contract, _) => {
                to_value(contract).ok_or_else(|| PyValueError::new_err(format!("{name} cannot be written as JSON")))
            }
            Backing::Built(_) => {
                let members = self.members(this.py());
                let members = members.map(|(key, value)| Ok((key, value_of(&value, name)?)));
                Ok(Value::Object(members.collect::<PyResult<Object>>()?))
            }
        }
    }

    fn get<'py>(&self, py: Python<'py>, place: usize) -> PyResult<Bound<'py, PyAny>> {
        let field = self.class.fields.get(place).ok_or_else(|| PyValueError::new_err("there is no such member"))?;
        match &self.backing {
            Backing::Built(values) => {
                Ok(values.get(place).and_then(Option::as_ref).unwrap_or(&field.absent).bind(py).clone())
            }
            Backing::Whole(contract, members) => {
                let Some(known) = members.get(place) else { return Ok(field.absent.bind(py).clone()) };
                if let Some(known) = known.get() {
                    return Ok(known.bind(py).clone());
                }
                // No lock is taken while the member is converted. If two threads do so at once, the first result is
                // stored.
                let made = match contract.within(&field.name) {
                    Some(within) => whole(py, within)?,
                    None if field.extra => member(py, &contract.extra(), field)?,
                    None => member(py, contract, field)?,
                };
                let _ = known.set(made.unbind());
                Ok(known.get().unwrap_or(&field.absent).bind(py).clone())
            }
        }
    }

    /// The members of a built part, without those that are omitted.
    fn members<'a, 'py>(&'a self, py: Python<'py>) -> impl Iterator<Item = (&'a str, Bound<'py, PyAny>)> {
        let values: &[Option<Py<PyAny>>] = if let Backing::Built(values) = &self.backing { values } else { &[] };
        let members = self.class.fields.iter().zip(values);
        members.filter_map(move |(field, value)| Some((field.name.as_str(), value.as_ref()?.bind(py).clone())))
    }
}

#[pymethods]
impl Part {
    #[new]
    fn new(seed: &Bound<'_, PyAny>) -> PyResult<Self> {
        let only = || PyTypeError::new_err("objects of this class come from a program");
        let seed = seed.cast::<Seed>().map_err(|_| only())?;
        let taken = seed.get().0.lock().unwrap_or_else(PoisonError::into_inner).take();
        let (class, backing) = taken.ok_or_else(only)?;
        Ok(Self { class, backing })
    }

    /// The same as plain dicts, lists, texts and numbers, as `to_json` writes them. It is new each time, and yours.
    fn to_dict<'py>(this: &Bound<'py, Self>) -> PyResult<Bound<'py, PyAny>> {
        let py = this.py();
        match &this.get().backing {
            Backing::Whole(contract, _) => plain(py, contract),
            Backing::Built(_) => {
                let dict = PyDict::new(py);
                for (key, value) in this.get().members(py) {
                    dict.set_item(PyString::intern(py, key), plain_copy(&value)?)?;
                }
                Ok(dict.into_any())
            }
        }
    }

    /// The same as JSON text, as the command writes it.
    fn to_json(this: &Bound<'_, Self>) -> PyResult<String> {
        match &this.get().backing {
            Backing::Whole(contract, _) => this.py().detach(|| written(contract)),
            Backing::Built(_) => written(&this.get().value(this.as_any(), "the part")?),
        }
    }

    fn __repr__(this: &Bound<'_, Self>) -> PyResult<String> {
        let py = this.py();
        let mut listed = Vec::new();
        for (place, field) in this.get().class.fields.iter().enumerate() {
            let value = this.get().get(py, place)?;
            let is_left_out =
                matches!(&this.get().backing, Backing::Built(values) if values.get(place).is_none_or(Option::is_none));
            if !is_left_out && !field.extra && !value.is_none() {
                listed.push(format!("{}={}", field.name, value.repr()?));
            }
        }
        Ok(format!("{}({})", this.get_type().name()?, listed.join(", ")))
    }

    fn __richcmp__<'py>(
        this: &Bound<'py, Self>,
        other: &Bound<'py, PyAny>,
        how: CompareOp,
    ) -> PyResult<Bound<'py, PyAny>> {
        let py = this.py();
        let unknown = || Ok(py.NotImplemented().into_bound(py));
        let Ok(other) = other.cast::<Self>() else { return unknown() };
        if !Arc::ptr_eq(&this.get().class, &other.get().class) {
            return unknown();
        }
        let equal = match (&this.get().backing, &other.get().backing) {
            (Backing::Whole(one, _), Backing::Whole(two, _)) => one == two,
            _ => this.get().value(this, "the part")? == other.get().value(other, "the part")?,
        };
        match how {
            CompareOp::Eq => equal.into_pyobject(py).map(|truth| truth.to_owned().into_any()).map_err(Into::into),
            CompareOp::Ne => (!equal).into_pyobject(py).map(|truth| truth.to_owned().into_any()).map_err(Into::into),
            _ => unknown(),
        }
    }

    fn __reduce__<'py>(this: &Bound<'py, Self>) -> PyResult<(Bound<'py, PyAny>, Bound<'py, PyTuple>)> {
        let py = this.py();
        let engine = py.import("rulebook._engine")?;
        Ok(match &this.get().backing {
            Backing::Whole(contract, _) => {
                let arguments = (contract.name(), written(contract)?, written(&contract.extra())?);
                (engine.getattr("restore")?, arguments.into_pyobject(py)?)
            }
            Backing::Built(_) => {
                let members = PyDict::new(py);
                for (key, value) in this.get().members(py) {
                    members.set_item(key, value)?;
                }
                (engine.getattr("rebuild")?, (this.get_type(), members).into_pyobject(py)?)
            }
        })
    }
}

/// A copy of a value in which parts are dicts and tuples are lists.
fn plain_copy<'py>(value: &Bound<'py, PyAny>) -> PyResult<Bound<'py, PyAny>> {
    let py = value.py();
    if let Ok(part) = value.cast::<Part>() {
        return Part::to_dict(part);
    }
    if let Ok(dict) = value.cast::<PyDict>() {
        let copy = PyDict::new(py);
        for (key, value) in dict {
            copy.set_item(key, plain_copy(&value)?)?;
        }
        return Ok(copy.into_any());
    }
    let items: Vec<Bound<'py, PyAny>> = match (value.cast::<PyTuple>(), value.cast::<PyList>()) {
        (Ok(tuple), _) => tuple.iter().map(|item| plain_copy(&item)).collect::<PyResult<_>>()?,
        (_, Ok(list)) => list.iter().map(|item| plain_copy(&item)).collect::<PyResult<_>>()?,
        _ => return Ok(value.clone()),
    };
    Ok(PyList::new(py, items)?.into_any())
}

/// The function of a property, which reads one member of a part.
#[pyclass(frozen, module = "rulebook._engine")]
pub(crate) struct Getter {
    place: usize,
}

#[pymethods]
impl Getter {
    #[new]
    fn new(place: usize) -> Self {
        Self { place }
    }

    fn __call__<'py>(&self, part: &Bound<'py, Part>) -> PyResult<Bound<'py, PyAny>> {
        part.get().get(part.py(), self.place)
    }
}

/// The contract in a pickle of another process.
#[pyfunction]
pub(crate) fn restore<'py>(py: Python<'py>, name: &str, json: &str, extra: &str) -> PyResult<Bound<'py, PyAny>> {
    whole(py, Contract::read(name, json, extra)?)
}

/// An object of a declared class with these members, from a pickle or a host.
#[pyfunction]
pub(crate) fn rebuild<'py>(class_: &Bound<'py, PyType>, members: &Bound<'py, PyDict>) -> PyResult<Bound<'py, PyAny>> {
    let declared = class_.getattr("__contract__")?;
    let class = Arc::clone(&declared.cast::<Declared>()?.get().0);
    let values = class.fields.iter().map(|field| Ok(members.get_item(&field.name)?.map(Bound::unbind)));
    let values = values.collect::<PyResult<Vec<_>>>()?;
    class.built(members.py(), values)
}

/// An object of the class `name` for a value that the engine serializes.
pub(crate) fn part<'py>(py: Python<'py>, name: &str, value: &impl serde::Serialize) -> PyResult<Bound<'py, PyAny>> {
    object(py, value, &Shape::named(name))
}
