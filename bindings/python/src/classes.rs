//! Classes: which Python class does each struct of a contract have?
//!
//! In: classes that Python declares, with the shape of each member.
//! Out: [`Class`], and objects of such a class.
//! Never: knows the members of any contract.

use super::part::{Backing, Seed};
use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;
use pyo3::types::PyType;
use std::collections::HashMap;
use std::sync::{Arc, Mutex, OnceLock, PoisonError};

/// The Python class for the structs of one name.
#[derive(Debug)]
pub(crate) struct Class {
    python: Py<PyType>,
    pub(crate) fields: Vec<Field>,
}

/// A member of a struct.
#[derive(Debug)]
pub(crate) struct Field {
    pub(crate) name: String,
    pub(crate) shape: Shape,
    /// The value if a struct omits the member.
    pub(crate) absent: Py<PyAny>,
    /// Whether the member is not in the JSON.
    pub(crate) extra: bool,
}

/// The shape of a member's value. The shape of a list is that of its items, and the shape of an optional value is that
/// of the value.
#[derive(Debug)]
pub(crate) enum Shape {
    /// Numbers, texts, and dicts of them.
    Plain,
    /// Any JSON: a value of the user, and not a part of the contract.
    Json,
    /// A dict whose values have this shape.
    Map(Box<Shape>),
    /// A struct, or one of the variants of a union.
    Named(Name),
}

/// The name of a class or union. It is resolved at its first use, so that classes may be declared in any order.
#[derive(Debug)]
pub(crate) struct Name {
    name: String,
    target: OnceLock<Option<Target>>,
}

/// The class or union that a name refers to.
#[derive(Debug, Clone)]
pub(crate) enum Target {
    Class(Arc<Class>),
    Union(Arc<Union>),
}

/// Variants that are distinguished by the value of their first member, the tag.
#[derive(Debug, Default, Clone)]
pub(crate) struct Union {
    tag: String,
    variants: Vec<(String, Arc<Class>)>,
}

static TARGETS: Mutex<Option<HashMap<String, Target>>> = Mutex::new(None);

fn target(name: &str) -> Option<Target> {
    TARGETS.lock().unwrap_or_else(PoisonError::into_inner).as_ref()?.get(name).cloned()
}

impl Shape {
    /// The shape of a struct or union with this name.
    pub(crate) fn named(name: &str) -> Self {
        Self::Named(Name { name: name.to_owned(), target: OnceLock::new() })
    }
}

impl Name {
    /// The class or union of this name; `None` if it is a name for plain values, such as numbers or texts.
    pub(crate) fn target(&self) -> Option<&Target> {
        self.target.get_or_init(|| target(&self.name)).as_ref()
    }
}

impl Union {
    /// The variant with this value of the tag.
    pub(crate) fn class(&self, key: &str, value: &str) -> Option<&Arc<Class>> {
        let found = self.variants.iter().find(|(tag, _)| tag == value).filter(|_| self.tag == key);
        found.map(|(_, class)| class)
    }
}

impl Class {
    /// The class of this name.
    pub(crate) fn named(name: &str) -> PyResult<Arc<Self>> {
        match target(name) {
            Some(Target::Class(class)) => Ok(class),
            _ => Err(PyValueError::new_err(format!("no class is declared for {name}"))),
        }
    }

    /// An object with a value for each field; `None` for one that is omitted.
    pub(crate) fn built<'py>(
        self: &Arc<Self>,
        py: Python<'py>,
        values: Vec<Option<Py<PyAny>>>,
    ) -> PyResult<Bound<'py, PyAny>> {
        self.backed_by(py, Backing::Built(values.into_boxed_slice()))
    }

    /// An object with this backing.
    pub(crate) fn backed_by<'py>(self: &Arc<Self>, py: Python<'py>, backing: Backing) -> PyResult<Bound<'py, PyAny>> {
        self.python.bind(py).call1((Seed::new(Arc::clone(self), backing),))
    }
}

/// A declared class; Python stores it in an attribute of the class.
#[pyclass(frozen, module = "rulebook._engine")]
pub(crate) struct Declared(pub(crate) Arc<Class>);

/// Declares the class for structs called `name`; or with `tag`, its key and value, a variant of the union `name`. A
/// member is a tuple: its name; `plain`, `json`, `map` or `part`; the name of a class; its default; and whether it is
/// not in the JSON.
#[pyfunction]
#[pyo3(signature = (python, name, members, tag = None))]
pub(crate) fn declare(
    python: Bound<'_, PyType>,
    name: String,
    members: Vec<(String, String, String, Py<PyAny>, bool)>,
    tag: Option<(String, String)>,
) -> Declared {
    let field = |(name, kind, of, absent, extra): (String, String, String, Py<PyAny>, bool)| {
        let shape = match kind.as_str() {
            "json" => Shape::Json,
            "map" => Shape::Map(Box::new(Shape::named(&of))),
            "part" => Shape::named(&of),
            _ => Shape::Plain,
        };
        Field { name, shape, absent, extra }
    };
    let fields = members.into_iter().map(field).collect();
    let class = Arc::new(Class { python: python.unbind(), fields });
    let mut targets = TARGETS.lock().unwrap_or_else(PoisonError::into_inner);
    let targets = targets.get_or_insert_default();
    match tag {
        None => drop(targets.insert(name, Target::Class(Arc::clone(&class)))),
        Some((key, value)) => {
            let mut union = match targets.get(&name) {
                Some(Target::Union(union)) => Union::clone(union),
                _ => Union::default(),
            };
            union.tag = key;
            union.variants.push((value, Arc::clone(&class)));
            targets.insert(name, Target::Union(Arc::new(union)));
        }
    }
    Declared(class)
}
