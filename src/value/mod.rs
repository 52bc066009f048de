//! Value: which data do payloads, the state and effects contain?
//!
//! In: plain JSON, from a payload, a pack or a host.
//! Out: [`Value`] and [`Object`]: the same data as JSON, with shared parts.
//! Never: interprets a value: schemas and expressions do.
//!
//! Values are passed on often: from a payload to a condition, an effect, the state, the next session and the outcome.
//! Passing one on copies nothing, and a change copies only the parts on the path to it.

pub mod broken;
mod budget;
mod json;
mod members;
mod number;
mod object;
mod record;
mod valid;
mod weight;

pub(crate) use budget::{ByteBudget, Exceeded};
pub use json::to_value;
pub(crate) use members::{Members, NamedMember};
pub use number::{Number, number};
pub(crate) use number::{is_number, nearest};
pub use object::Object;
pub use record::Record;
pub(crate) use record::{ComputeRule, View};
pub(crate) use valid::{SchemaFault, Validator, validator};
pub(crate) use weight::{MAX_VALUE_DEPTH, NODE_WEIGHT, weight};

use crate::text::pointer_steps;
use foldhash::fast::RandomState;
use indexmap::IndexMap;
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
///
/// A type of the host's own is read from the plain JSON of `serde_json`, `Value::from(&value)`:
///
/// ```
/// #[derive(serde::Deserialize)]
/// struct Dim {
///     level: u8,
/// }
///
/// let value = rulebook::Value::from(serde_json::json!({ "level": 10 }));
/// let dim: Dim = serde_json::from_value((&value).into())?;
/// assert_eq!(dim.level, 10);
/// # Ok::<(), serde_json::Error>(())
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
    /// Whether two values are equal as conditions compare them: 1 equals 1.0, also inside lists and objects.
    pub(crate) fn equals(&self, other: &Value) -> bool {
        match (self, other) {
            (Value::Number(one), Value::Number(other)) => one.equals(*other),
            (Value::Array(items), Value::Array(others)) => {
                items.len() == others.len() && items.iter().zip(others.iter()).all(|(one, other)| one.equals(other))
            }
            (Value::Object(members), Value::Object(others)) => {
                let same = |(name, value): (&str, &Value)| others.get(name).is_some_and(|other| value.equals(other));
                members.len() == others.len() && members.iter().all(same)
            }
            (one, other) => one == other,
        }
    }

    /// Whether `is` returns true for one of its texts, at any depth.
    pub(crate) fn has_text(&self, is: &mut impl FnMut(&str) -> bool) -> bool {
        match self {
            Value::String(text) => is(text),
            Value::Array(items) => items.iter().any(|item| item.has_text(is)),
            Value::Object(members) => members.iter().any(|(_, member)| member.has_text(is)),
            Value::Null | Value::Bool(_) | Value::Number(_) => false,
        }
    }

    /// The value of a JSON text, as `serde_json` parses it. The function is not generic, so it is compiled with the
    /// engine: a command that is compiled for size parses as fast.
    #[doc(hidden)]
    pub fn read(json: &str) -> serde_json::Result<Self> {
        serde_json::from_str(json)
    }

    /// Whether the value is null.
    #[doc(hidden)]
    pub fn is_null(&self) -> bool {
        matches!(self, Self::Null)
    }

    /// Whether the value is a boolean.
    #[doc(hidden)]
    pub fn is_bool(&self) -> bool {
        matches!(self, Self::Bool(_))
    }

    /// Whether the value is a number.
    #[doc(hidden)]
    pub fn is_number(&self) -> bool {
        matches!(self, Self::Number(_))
    }

    /// Whether the value is a string.
    #[doc(hidden)]
    pub fn is_string(&self) -> bool {
        matches!(self, Self::String(_))
    }

    /// Whether the value is a list.
    #[doc(hidden)]
    pub fn is_array(&self) -> bool {
        matches!(self, Self::Array(_))
    }

    /// Whether the value is an object.
    #[doc(hidden)]
    pub fn is_object(&self) -> bool {
        matches!(self, Self::Object(_))
    }

    /// The boolean, if the value is one.
    #[doc(hidden)]
    pub fn as_bool(&self) -> Option<bool> {
        if let Self::Bool(truth) = self { Some(*truth) } else { None }
    }

    /// The number, if the value is a whole number within the range of `i64`.
    pub fn as_i64(&self) -> Option<i64> {
        if let Self::Number(number) = self { number.as_i64() } else { None }
    }

    /// The number, if the value is a whole number within the range of `u64`.
    #[doc(hidden)]
    pub fn as_u64(&self) -> Option<u64> {
        if let Self::Number(number) = self { number.as_u64() } else { None }
    }

    /// The number as the nearest `f64`, if the value is a number.
    pub fn as_f64(&self) -> Option<f64> {
        if let Self::Number(number) = self { Some(number.as_f64()) } else { None }
    }

    /// The string, if the value is one.
    pub fn as_str(&self) -> Option<&str> {
        if let Self::String(text) = self { Some(text) } else { None }
    }

    /// The number, if the value is one.
    #[doc(hidden)]
    pub fn as_number(&self) -> Option<Number> {
        if let Self::Number(number) = self { Some(*number) } else { None }
    }

    /// The list, if the value is one.
    pub fn as_array(&self) -> Option<&[Value]> {
        if let Self::Array(items) = self { Some(items) } else { None }
    }

    /// The object, if the value is one.
    pub fn as_object(&self) -> Option<&Object> {
        if let Self::Object(object) = self { Some(object) } else { None }
    }

    /// The list, mutable, if the value is one. Clones are not affected.
    #[doc(hidden)]
    pub fn as_array_mut(&mut self) -> Option<&mut Vec<Value>> {
        if let Self::Array(items) = self { Some(Arc::make_mut(items)) } else { None }
    }

    /// The object, mutable, if the value is one. Clones are not affected.
    #[doc(hidden)]
    pub fn as_object_mut(&mut self) -> Option<&mut Object> {
        if let Self::Object(object) = self { Some(object) } else { None }
    }

    /// The member of this name, if the value is an object that has one.
    pub fn get(&self, name: &str) -> Option<&Value> {
        self.as_object()?.get(name)
    }

    /// The member of this name, or the item at this index.
    pub(crate) fn part(&self, step: &str) -> Option<&Value> {
        match self {
            Self::Object(members) => members.get(step),
            Self::Array(items) => items.get(step.parse::<usize>().ok()?),
            _ => None,
        }
    }

    /// The part at a JSON pointer, if there is one.
    #[doc(hidden)]
    pub fn pointer(&self, pointer: &str) -> Option<&Value> {
        pointer_steps(pointer).try_fold(self, |value, step| value.part(&step))
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
    /// A number that is not finite becomes null, because JSON cannot represent it.
    fn from(number: f64) -> Self {
        Number::from_f64(number).map_or(Self::Null, Self::Number)
    }
}

impl From<Number> for Value {
    fn from(number: Number) -> Self {
        Self::Number(number)
    }
}

impl From<&Value> for Value {
    fn from(value: &Value) -> Self {
        value.clone()
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

impl From<&String> for Value {
    fn from(text: &String) -> Self {
        text.as_str().into()
    }
}

impl From<&Arc<str>> for Value {
    fn from(text: &Arc<str>) -> Self {
        Self::String(Arc::clone(text))
    }
}

impl From<&&str> for Value {
    fn from(text: &&str) -> Self {
        (*text).into()
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

/// The member of this name; null if there is none.
impl std::ops::Index<&str> for Value {
    type Output = Value;

    fn index(&self, name: &str) -> &Value {
        self.get(name).unwrap_or(&Value::Null)
    }
}

/// The item at this index, from 0; null if there is none.
impl std::ops::Index<usize> for Value {
    type Output = Value;

    fn index(&self, number: usize) -> &Value {
        self.as_array().and_then(|items| items.get(number)).unwrap_or(&Value::Null)
    }
}

impl PartialEq<str> for Value {
    fn eq(&self, text: &str) -> bool {
        self.as_str() == Some(text)
    }
}

impl PartialEq<&str> for Value {
    fn eq(&self, text: &&str) -> bool {
        self.as_str() == Some(*text)
    }
}

/// Makes a [`Value`] as `serde_json::json` does, with the members in the order in which they are written.
///
/// ```
/// let level = 10;
/// let value = rulebook::value!({ "level": level, "colours": ["red", null], "at": { "x": 1 + 1, "on": true } });
/// assert_eq!(value.to_string(), r#"{"level":10,"colours":["red",null],"at":{"x":2,"on":true}}"#);
/// ```
#[doc(hidden)]
#[macro_export]
macro_rules! value {
    (null) => { $crate::Value::Null };
    ([ $($items:tt)* ]) => {{
        #[allow(unused_mut, clippy::vec_init_then_push, reason = "the list may be empty")]
        let list: Vec<$crate::Value> = {
            let mut list = Vec::new();
            $crate::value!(@items list $($items)*);
            list
        };
        $crate::Value::from(list)
    }};
    ({ $($members:tt)* }) => {{
        #[allow(unused_mut, reason = "the object may be empty")]
        let mut object = $crate::Object::new();
        $crate::value!(@members object $($members)*);
        $crate::Value::Object(object)
    }};
    (@items $list:ident) => {};
    (@items $list:ident $item:tt , $($rest:tt)*) => {
        $list.push($crate::value!($item));
        $crate::value!(@items $list $($rest)*);
    };
    (@items $list:ident $item:tt) => { $list.push($crate::value!($item)); };
    (@items $list:ident $item:expr $(, $($rest:tt)*)?) => {
        $list.push($crate::Value::from($item));
        $($crate::value!(@items $list $($rest)*);)?
    };
    (@members $object:ident) => {};
    (@members $object:ident $name:literal : $member:tt , $($rest:tt)*) => {
        $object.insert($name, $crate::value!($member));
        $crate::value!(@members $object $($rest)*);
    };
    (@members $object:ident $name:literal : $member:tt) => { $object.insert($name, $crate::value!($member)); };
    (@members $object:ident $name:literal : $member:expr $(, $($rest:tt)*)?) => {
        $object.insert($name, $crate::Value::from($member));
        $($crate::value!(@members $object $($rest)*);)?
    };
    (@members $object:ident ($name:expr) : $member:tt $(, $($rest:tt)*)?) => {
        $object.insert($name, $crate::value!($member));
        $($crate::value!(@members $object $($rest)*);)?
    };
    ($value:expr) => { $crate::Value::from($value) };
}

pub use value;

/// Any value, usually an object or a list, for property tests.
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
