//! Objects: how does a part of a contract become Python objects?
//!
//! In: anything that the engine serializes, and the shape that the annotations in Python declare for it.
//! Out: numbers, texts, tuples, and for each struct an object of its class; or plain dicts and lists.
//! Never: knows the members of a contract: the classes are declared in Python, and generated from `schemas/`.

use super::classes::{Class, Field, Name, Shape, Target, Union};
use pyo3::BoundObject;
use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;
use pyo3::types::{PyDict, PyList, PyMappingProxy, PyString, PyTuple};
use serde::ser::{
    Error, Impossible, Serialize, SerializeMap, SerializeSeq, SerializeStruct, SerializeTuple, SerializeTupleStruct,
    Serializer,
};
use std::fmt::{self, Write};
use std::sync::Arc;

/// The object for a value of this shape.
pub(crate) fn object<'py>(py: Python<'py>, value: &impl Serialize, shape: &Shape) -> PyResult<Bound<'py, PyAny>> {
    value.serialize(Objects { py, of: Of::Shape(shape) }).map_err(|failed| failed.0)
}

/// A plain dict, list, text or number for a value.
pub(crate) fn plain<'py>(py: Python<'py>, value: &impl Serialize) -> PyResult<Bound<'py, PyAny>> {
    object(py, value, &Shape::Json)
}

/// The value of one member of a struct. The other members are not converted.
pub(crate) fn member<'py>(py: Python<'py>, value: &impl Serialize, field: &Field) -> PyResult<Bound<'py, PyAny>> {
    value.serialize(Objects { py, of: Of::Member(field) }).map_err(|failed| failed.0)
}

/// Which part of a value becomes an object.
#[derive(Clone, Copy)]
enum Of<'s> {
    Shape(&'s Shape),
    /// Only this member of a struct.
    Member(&'s Field),
}

/// A serializer that makes Python objects.
#[derive(Clone, Copy)]
struct Objects<'s, 'py> {
    py: Python<'py>,
    of: Of<'s>,
}

/// An exception, as an error of serde.
#[derive(Debug)]
struct Failed(PyErr);

impl From<PyErr> for Failed {
    fn from(error: PyErr) -> Self {
        Self(error)
    }
}

impl Error for Failed {
    fn custom<T: fmt::Display>(message: T) -> Self {
        Self(PyValueError::new_err(message.to_string()))
    }
}

impl std::error::Error for Failed {}

impl fmt::Display for Failed {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.fmt(f)
    }
}

type Made<'py> = Result<Bound<'py, PyAny>, Failed>;

impl<'s, 'py> Objects<'s, 'py> {
    fn made<T: IntoPyObject<'py>>(self, value: T) -> Made<'py>
    where
        PyErr: From<T::Error>,
    {
        let object = value.into_pyobject(self.py).map_err(|error| Failed(error.into()))?;
        Ok(object.into_any().into_bound())
    }

    fn items(self, length: Option<usize>) -> Items<'s, 'py> {
        Items { with: self, items: Vec::with_capacity(length.unwrap_or_default()) }
    }

    fn members(self) -> Members<'s, 'py> {
        let py = self.py;
        let into = match self.of {
            Of::Member(field) => Becomes::Member(field, None),
            Of::Shape(Shape::Plain) => Becomes::Dict(PyDict::new(py), &Shape::Plain),
            Of::Shape(Shape::Json) => Becomes::Dict(PyDict::new(py), &Shape::Json),
            Of::Shape(Shape::Map(each)) => Becomes::Mapping(PyDict::new(py), each),
            Of::Shape(named @ Shape::Named(name)) => match Name::target(name) {
                Some(Target::Class(class)) => Becomes::part(class),
                Some(Target::Union(union)) => Becomes::Union(union),
                None => Becomes::Dict(PyDict::new(py), named),
            },
        };
        Members { py, into, key: String::new() }
    }
}

impl<'s, 'py> Serializer for Objects<'s, 'py> {
    type Ok = Bound<'py, PyAny>;
    type Error = Failed;
    type SerializeSeq = Items<'s, 'py>;
    type SerializeTuple = Items<'s, 'py>;
    type SerializeTupleStruct = Items<'s, 'py>;
    type SerializeTupleVariant = Impossible<Self::Ok, Failed>;
    type SerializeMap = Members<'s, 'py>;
    type SerializeStruct = Members<'s, 'py>;
    type SerializeStructVariant = Impossible<Self::Ok, Failed>;

    fn serialize_bool(self, value: bool) -> Made<'py> {
        self.made(value)
    }
    fn serialize_i8(self, value: i8) -> Made<'py> {
        self.made(value)
    }
    fn serialize_i16(self, value: i16) -> Made<'py> {
        self.made(value)
    }
    fn serialize_i32(self, value: i32) -> Made<'py> {
        self.made(value)
    }
    fn serialize_i64(self, value: i64) -> Made<'py> {
        self.made(value)
    }
    fn serialize_u8(self, value: u8) -> Made<'py> {
        self.made(value)
    }
    fn serialize_u16(self, value: u16) -> Made<'py> {
        self.made(value)
    }
    fn serialize_u32(self, value: u32) -> Made<'py> {
        self.made(value)
    }
    fn serialize_u64(self, value: u64) -> Made<'py> {
        self.made(value)
    }
    fn serialize_f32(self, value: f32) -> Made<'py> {
        self.made(value)
    }
    fn serialize_f64(self, value: f64) -> Made<'py> {
        self.made(value)
    }
    fn serialize_char(self, value: char) -> Made<'py> {
        self.made(value)
    }
    fn serialize_str(self, value: &str) -> Made<'py> {
        self.made(value)
    }
    fn serialize_bytes(self, value: &[u8]) -> Made<'py> {
        self.made(value)
    }
    fn serialize_none(self) -> Made<'py> {
        Ok(self.py.None().into_bound(self.py))
    }
    fn serialize_some<T: Serialize + ?Sized>(self, value: &T) -> Made<'py> {
        value.serialize(self)
    }
    fn serialize_unit(self) -> Made<'py> {
        self.serialize_none()
    }
    fn serialize_unit_struct(self, _: &'static str) -> Made<'py> {
        self.serialize_none()
    }
    fn serialize_unit_variant(self, _: &'static str, _: u32, variant: &'static str) -> Made<'py> {
        Ok(PyString::intern(self.py, variant).into_any())
    }
    fn serialize_newtype_struct<T: Serialize + ?Sized>(self, _: &'static str, value: &T) -> Made<'py> {
        value.serialize(self)
    }
    fn serialize_newtype_variant<T: Serialize + ?Sized>(
        self,
        name: &'static str,
        _: u32,
        _: &'static str,
        _: &T,
    ) -> Made<'py> {
        Err(untagged(name))
    }
    fn serialize_seq(self, length: Option<usize>) -> Result<Items<'s, 'py>, Failed> {
        Ok(self.items(length))
    }
    fn serialize_tuple(self, length: usize) -> Result<Items<'s, 'py>, Failed> {
        Ok(self.items(Some(length)))
    }
    fn serialize_tuple_struct(self, _: &'static str, length: usize) -> Result<Items<'s, 'py>, Failed> {
        Ok(self.items(Some(length)))
    }
    fn serialize_tuple_variant(
        self,
        name: &'static str,
        _: u32,
        _: &'static str,
        _: usize,
    ) -> Result<Self::SerializeTupleVariant, Failed> {
        Err(untagged(name))
    }
    fn serialize_map(self, _: Option<usize>) -> Result<Members<'s, 'py>, Failed> {
        Ok(self.members())
    }
    fn serialize_struct(self, _: &'static str, _: usize) -> Result<Members<'s, 'py>, Failed> {
        Ok(self.members())
    }
    fn serialize_struct_variant(
        self,
        name: &'static str,
        _: u32,
        _: &'static str,
        _: usize,
    ) -> Result<Self::SerializeStructVariant, Failed> {
        Err(untagged(name))
    }
}

/// No contract has an enum whose variants have data but no tag.
fn untagged(name: &str) -> Failed {
    Failed::custom(format!("{name} has a variant without a tag"))
}

/// A list that is being built.
struct Items<'s, 'py> {
    with: Objects<'s, 'py>,
    items: Vec<Bound<'py, PyAny>>,
}

impl<'py> Items<'_, 'py> {
    fn add<T: Serialize + ?Sized>(&mut self, value: &T) -> Result<(), Failed> {
        self.items.push(value.serialize(self.with)?);
        Ok(())
    }

    /// JSON values become lists, and contracts, which are immutable, have tuples.
    fn done(self) -> Made<'py> {
        let py = self.with.py;
        Ok(match self.with.of {
            Of::Shape(Shape::Json) => PyList::new(py, self.items)?.into_any(),
            _ => PyTuple::new(py, self.items)?.into_any(),
        })
    }
}

macro_rules! items {
    ($($kind:ident $method:ident)*) => {
        $(impl<'py> $kind for Items<'_, 'py> {
            type Ok = Bound<'py, PyAny>;
            type Error = Failed;
            fn $method<T: Serialize + ?Sized>(&mut self, value: &T) -> Result<(), Failed> {
                self.add(value)
            }
            fn end(self) -> Made<'py> {
                self.done()
            }
        })*
    };
}

items!(SerializeSeq serialize_element SerializeTuple serialize_element SerializeTupleStruct serialize_field);

/// A struct or map that is being built.
struct Members<'s, 'py> {
    py: Python<'py>,
    into: Becomes<'s, 'py>,
    /// The key of the next value.
    key: String,
}

/// A key or a tag as text.
struct Text<'t, T: ?Sized>(&'t T);

impl<T: Serialize + ?Sized> fmt::Display for Text<'_, T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.serialize(f)
    }
}

/// The Python object that members are added to.
enum Becomes<'s, 'py> {
    /// A dict whose values have this shape.
    Dict(Bound<'py, PyDict>, &'s Shape),
    /// Such a dict behind an immutable view.
    Mapping(Bound<'py, PyDict>, &'s Shape),
    /// An object of a class: the values of its fields, and the index of the field that the next member probably has.
    Part(&'s Arc<Class>, Vec<Option<Py<PyAny>>>, usize),
    /// An object of a class that is selected by its first member, the tag.
    Union(&'s Union),
    /// One member; the others are skipped.
    Member(&'s Field, Option<Bound<'py, PyAny>>),
}

impl<'s> Becomes<'s, '_> {
    fn part(class: &'s Arc<Class>) -> Self {
        Self::Part(class, std::iter::repeat_with(|| None).take(class.fields.len()).collect(), 0)
    }
}

impl<'py> Members<'_, 'py> {
    fn put<T: Serialize + ?Sized>(&mut self, key: &str, fixed: bool, value: &T) -> Result<(), Failed> {
        let py = self.py;
        match &mut self.into {
            Becomes::Dict(dict, shape) | Becomes::Mapping(dict, shape) => {
                let value = value.serialize(Objects { py, of: Of::Shape(shape) })?;
                // Keys of structs are interned, because they occur often.
                let key = if fixed { PyString::intern(py, key) } else { PyString::new(py, key) };
                dict.set_item(key, value)?;
            }
            Becomes::Part(class, values, next) => {
                let count = class.fields.len();
                let place = (0..count).map(|step| (*next + step) % count);
                let is_it = |place: &usize| class.fields.get(*place).is_some_and(|field| field.name == key);
                let Some(place) = place.into_iter().find(is_it) else { return Ok(()) };
                let Some((field, slot)) = class.fields.get(place).zip(values.get_mut(place)) else { return Ok(()) };
                *slot = Some(value.serialize(Objects { py, of: Of::Shape(&field.shape) })?.unbind());
                *next = place + 1;
            }
            Becomes::Union(union) => {
                let tag = Text(value).to_string();
                let class = union.class(key, &tag);
                let class = class.ok_or_else(|| Failed::custom(format!("no class for {key} = {tag}")))?;
                self.into = Becomes::part(class);
                return self.put(key, fixed, value);
            }
            Becomes::Member(field, found) if field.name == key => {
                *found = Some(value.serialize(Objects { py, of: Of::Shape(&field.shape) })?);
            }
            Becomes::Member(..) => {}
        }
        Ok(())
    }

    fn done(self) -> Made<'py> {
        let py = self.py;
        Ok(match self.into {
            Becomes::Dict(dict, _) => dict.into_any(),
            Becomes::Mapping(dict, _) => PyMappingProxy::new(py, dict.as_mapping()).into_any(),
            Becomes::Part(class, values, _) => class.built(py, values)?,
            Becomes::Union(_) => return Err(Failed::custom("a variant has no tag")),
            Becomes::Member(field, found) => found.unwrap_or_else(|| field.absent.bind(py).clone()),
        })
    }
}

impl<'py> SerializeStruct for Members<'_, 'py> {
    type Ok = Bound<'py, PyAny>;
    type Error = Failed;
    fn serialize_field<T: Serialize + ?Sized>(&mut self, key: &'static str, value: &T) -> Result<(), Failed> {
        self.put(key, true, value)
    }
    fn end(self) -> Made<'py> {
        self.done()
    }
}

impl<'py> SerializeMap for Members<'_, 'py> {
    type Ok = Bound<'py, PyAny>;
    type Error = Failed;
    fn serialize_key<T: Serialize + ?Sized>(&mut self, key: &T) -> Result<(), Failed> {
        self.key.clear();
        write!(self.key, "{}", Text(key)).map_err(Failed::custom)
    }
    fn serialize_value<T: Serialize + ?Sized>(&mut self, value: &T) -> Result<(), Failed> {
        let key = std::mem::take(&mut self.key);
        self.put(&key, false, value)?;
        // The buffer of the key is reused for the next one.
        self.key = key;
        Ok(())
    }
    fn end(self) -> Made<'py> {
        self.done()
    }
}
