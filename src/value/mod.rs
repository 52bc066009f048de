//! Value: what do a payload, the state and an effect hold?
//!
//! In: plain JSON, from a payload, a pack or a host.
//! Out: [`Value`] and [`Object`]: the same data as JSON, with shared parts.
//! Never: gives a value a meaning; a schema or an expression does.
//!
//! Values are passed on often: from a payload to a condition, an effect, the state, the next session and the outcome.
//! Passing one on copies nothing, and a change copies only the parts on the path to it.

pub mod broken;
mod json;
mod members;
mod number;
mod object;
mod valid;

pub(crate) use members::Members;
pub(crate) use number::{loses_number, number};
pub use object::Object;
pub(crate) use valid::{Validator, validator};

use foldhash::fast::RandomState;
use indexmap::IndexMap;
use serde_json::Number;
use std::borrow::Cow;
use std::sync::Arc;

/// Values by name, in the order in which they were added.
pub(crate) type Table<K, V> = IndexMap<K, V, RandomState>;

/// A JSON value that shares its parts with its clones until one of them changes. It serializes like any JSON.
///
/// ```
/// use rulebook::Value;
/// use serde_json::json;
///
/// let before = Value::from(json!({ "notes": ["a", "b"], "turns": 3 }));
/// let mut after = before.clone();
/// after.as_object_mut().unwrap().insert("turns", 4.into());
/// assert_eq!((before.get("turns"), after.get("turns")), (Some(&3.into()), Some(&4.into())));
/// assert_eq!(after, json!({ "notes": ["a", "b"], "turns": 4 }));
/// ```
#[derive(Clone, Default, PartialEq)]
pub enum Value {
    /// `null`.
    #[default]
    Null,
    /// `true` or `false`.
    Bool(bool),
    /// A number.
    Number(Number),
    /// A string.
    String(Arc<str>),
    /// A list of values.
    Array(Arc<Vec<Value>>),
    /// An object: values by name.
    Object(Object),
}

impl Value {
    /// Whether it is null.
    pub fn is_null(&self) -> bool {
        matches!(self, Self::Null)
    }

    /// Whether it is a number.
    pub fn is_number(&self) -> bool {
        matches!(self, Self::Number(_))
    }

    /// Whether it is a string.
    pub fn is_string(&self) -> bool {
        matches!(self, Self::String(_))
    }

    /// Whether it is a list.
    pub fn is_array(&self) -> bool {
        matches!(self, Self::Array(_))
    }

    /// Whether it is an object.
    pub fn is_object(&self) -> bool {
        matches!(self, Self::Object(_))
    }

    /// The boolean, if it is one.
    pub fn as_bool(&self) -> Option<bool> {
        if let Self::Bool(truth) = self { Some(*truth) } else { None }
    }

    /// The number, if it is a whole one that fits.
    pub fn as_i64(&self) -> Option<i64> {
        if let Self::Number(number) = self { number.as_i64() } else { None }
    }

    /// The number, if it is a whole one, not negative, and fits.
    pub fn as_u64(&self) -> Option<u64> {
        if let Self::Number(number) = self { number.as_u64() } else { None }
    }

    /// The number, if it is one, as the nearest `f64`.
    pub fn as_f64(&self) -> Option<f64> {
        if let Self::Number(number) = self { number.as_f64() } else { None }
    }

    /// The string, if it is one.
    pub fn as_str(&self) -> Option<&str> {
        if let Self::String(text) = self { Some(text) } else { None }
    }

    /// The list, if it is one.
    pub fn as_array(&self) -> Option<&[Value]> {
        if let Self::Array(items) = self { Some(items) } else { None }
    }

    /// The object, if it is one.
    pub fn as_object(&self) -> Option<&Object> {
        if let Self::Object(object) = self { Some(object) } else { None }
    }

    /// The list, mutable, if it is one. Clones are not affected.
    pub fn as_array_mut(&mut self) -> Option<&mut Vec<Value>> {
        if let Self::Array(items) = self { Some(Arc::make_mut(items)) } else { None }
    }

    /// The object, mutable, if it is one. Clones are not affected.
    pub fn as_object_mut(&mut self) -> Option<&mut Object> {
        if let Self::Object(object) = self { Some(object) } else { None }
    }

    /// The member of this name, if this is an object that has one.
    pub fn get(&self, name: &str) -> Option<&Value> {
        self.as_object()?.get(name)
    }

    /// The same as plain JSON, from which `serde_json` reads a type of the host's own.
    ///
    /// ```
    /// # use rulebook::Value;
    /// #[derive(serde::Deserialize)]
    /// struct Dim {
    ///     level: u8,
    /// }
    ///
    /// # let value = Value::from(serde_json::json!({ "level": 10 }));
    /// let dim: Dim = serde_json::from_value(value.to_json())?;
    /// assert_eq!(dim.level, 10);
    /// # Ok::<(), serde_json::Error>(())
    /// ```
    pub fn to_json(&self) -> serde_json::Value {
        self.into()
    }
}

macro_rules! from_numbers {
    ($($type:ty)*) => {
        $(impl From<$type> for Value {
            fn from(number: $type) -> Self {
                Self::Number(number.into())
            }
        })*
    };
}

from_numbers!(i32 i64 u32 u64 usize);

impl From<f64> for Value {
    /// A number that is not finite becomes null, because JSON has none.
    fn from(number: f64) -> Self {
        Number::from_f64(number).map_or(Self::Null, Self::Number)
    }
}

impl From<bool> for Value {
    fn from(truth: bool) -> Self {
        Self::Bool(truth)
    }
}

impl From<&str> for Value {
    fn from(text: &str) -> Self {
        Self::String(text.into())
    }
}

impl From<String> for Value {
    fn from(text: String) -> Self {
        Self::String(text.into())
    }
}

impl From<Arc<str>> for Value {
    fn from(text: Arc<str>) -> Self {
        Self::String(text)
    }
}

impl From<Cow<'_, str>> for Value {
    fn from(text: Cow<'_, str>) -> Self {
        Self::String(text.into())
    }
}

impl From<Vec<Value>> for Value {
    fn from(items: Vec<Value>) -> Self {
        Self::Array(Arc::new(items))
    }
}

impl From<Object> for Value {
    fn from(object: Object) -> Self {
        Self::Object(object)
    }
}

impl<T: Into<Value>> From<Option<T>> for Value {
    fn from(value: Option<T>) -> Self {
        value.map_or(Self::Null, Into::into)
    }
}

impl FromIterator<Value> for Value {
    fn from_iter<I: IntoIterator<Item = Value>>(items: I) -> Self {
        Self::from(items.into_iter().collect::<Vec<_>>())
    }
}

/// Makes a value from JSON, as [`serde_json::json`] does.
#[cfg(test)]
macro_rules! value {
    ($($json:tt)+) => { $crate::value::Value::from(serde_json::json!($($json)+)) };
}

#[cfg(test)]
pub(crate) use value;

/// Any value, usually an object or a list.
#[cfg(test)]
pub(crate) fn values() -> impl proptest::strategy::Strategy<Value = Value> {
    use proptest::prelude::*;
    let leaf = prop_oneof![
        Just(Value::Null),
        any::<bool>().prop_map(Value::from),
        any::<i64>().prop_map(Value::from),
        any::<u64>().prop_map(Value::from),
        any::<f64>().prop_map(Value::from),
        "\\PC{0,30}".prop_map(Value::from),
    ];
    leaf.prop_recursive(3, 20, 4, |inner| {
        prop_oneof![
            prop::collection::vec(inner.clone(), 0..4).prop_map(Value::from),
            prop::collection::vec(("[abz]|\\PC{0,3}", inner), 0..4)
                .prop_map(|members| Value::Object(members.into_iter().collect())),
        ]
    })
}
