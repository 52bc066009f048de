//! Values: how does a Python object become JSON?
//!
//! In: `None`, `bool`, `int`, `float`, `str`, lists, tuples, dicts with texts as keys, and parts of contracts.
//! Out: the engine's [`Value`].
//! Never: changes a value: one that JSON cannot represent is an error.

use super::part::Part;
use super::text::utf8;
use pyo3::exceptions::{PyTypeError, PyValueError};
use pyo3::prelude::*;
use pyo3::types::{PyBool, PyDict, PyFloat, PyInt, PyList, PyMapping, PyString, PyTuple};
use rulebook::{Object, Value};

/// The deepest nesting of a value that a host passes in. JSON of the engine is nested no deeper, so a host can pass in
/// whatever `json.loads` reads of it.
const MAX_DEPTH: usize = 128;

/// The value of an object, for the parameter `name`.
pub(crate) fn value_of(object: &Bound<'_, PyAny>, name: &str) -> PyResult<Value> {
    value(object, name, MAX_DEPTH)
}

fn value(object: &Bound<'_, PyAny>, name: &str, depth: usize) -> PyResult<Value> {
    let Some(depth) = depth.checked_sub(1) else {
        return Err(PyValueError::new_err(format!("{name} is nested more than {MAX_DEPTH} levels deep")));
    };
    if object.is_none() {
        return Ok(Value::Null);
    }
    if let Ok(text) = object.cast::<PyString>() {
        return Ok(Value::from(&*utf8(text)?));
    }
    if let Ok(truth) = object.cast::<PyBool>() {
        return Ok(truth.is_true().into());
    }
    if let Ok(whole) = object.cast::<PyInt>() {
        return number(whole, name);
    }
    if let Ok(float) = object.cast::<PyFloat>() {
        let float = float.value();
        return match float.is_finite() {
            true => Ok(float.into()),
            false => Err(PyValueError::new_err(format!("{name} holds {float}, which JSON cannot"))),
        };
    }
    if let Ok(list) = object.cast::<PyList>() {
        return list.iter().map(|item| value(&item, name, depth)).collect();
    }
    if let Ok(list) = object.cast::<PyTuple>() {
        return list.iter().map(|item| value(&item, name, depth)).collect();
    }
    if let Ok(part) = object.cast::<Part>() {
        return part.get().value(object, name);
    }
    if let Ok(members) = object.cast::<PyDict>() {
        let members = members.iter().map(|(key, item)| Ok((key_of(&key, name)?, value(&item, name, depth)?)));
        return Ok(Value::Object(members.collect::<PyResult<Object>>()?));
    }
    if let Ok(members) = object.cast::<PyMapping>() {
        let mut object = Object::new();
        for pair in members.items()?.iter() {
            let (key, item): (Bound<'_, PyAny>, Bound<'_, PyAny>) = pair.extract()?;
            object.insert(key_of(&key, name)?, value(&item, name, depth)?);
        }
        return Ok(Value::Object(object));
    }
    let kind = object.get_type();
    Err(PyTypeError::new_err(format!("{name} contains a {}, which JSON cannot represent", kind.name()?)))
}

fn number(whole: &Bound<'_, PyInt>, name: &str) -> PyResult<Value> {
    let number = whole.extract::<i64>().map(Value::from).or_else(|_| whole.extract::<u64>().map(Value::from));
    number.map_err(|_| PyValueError::new_err(format!("{name} holds a whole number that has more than 64 bits")))
}

fn key_of(key: &Bound<'_, PyAny>, name: &str) -> PyResult<String> {
    match key.cast::<PyString>() {
        Ok(key) => Ok(utf8(key)?.into_owned()),
        Err(_) => Err(PyTypeError::new_err(format!("{name} has a key that is no str"))),
    }
}
