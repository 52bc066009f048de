//! JSON: how is plain JSON converted to shared values and back?
//!
//! In: values of `serde_json`, or [`Value`]; anything that serializes.
//! Out: the other kind; serde implementations for [`Value`].
//! Never: changes a value, or depends on the features with which a host builds `serde_json`: without `preserve_order`
//! its maps forget the order of their members, and with `arbitrary_precision` its numbers arrive as objects.

use super::{Members, Number, Object, Value};
use serde::de::{Error, MapAccess, SeqAccess, Visitor};
use serde::ser::SerializeMap;
use serde::{Deserialize, Deserializer, Serialize, Serializer};
use serde_json::Value as Json;
use serde_json::ser::Formatter;
use std::sync::Arc;
use std::{fmt, io};

/// The name of the only member of the object as which `serde_json`, if it is built with `arbitrary_precision`, passes
/// on a number that is not whole. Its value is the text of the number, passed on as an owned string; the strings of an
/// input are borrowed. So an object whose author wrote this name is not taken for a number.
const WRITTEN_NUMBER: &str = "$serde_json::private::Number";

impl From<Json> for Value {
    fn from(json: Json) -> Self {
        match json {
            Json::Null => Self::Null,
            Json::Bool(truth) => Self::Bool(truth),
            Json::Number(number) => Self::Number((&number).into()),
            Json::String(text) => text.into(),
            Json::Array(items) => items.into_iter().map(Self::from).collect(),
            Json::Object(members) => {
                Self::Object(members.into_iter().map(|(name, value)| (name, value.into())).collect())
            }
        }
    }
}

impl From<&Json> for Value {
    fn from(json: &Json) -> Self {
        match json {
            Json::Null => Self::Null,
            Json::Bool(truth) => Self::Bool(*truth),
            Json::Number(number) => Self::Number(number.into()),
            Json::String(text) => text.as_str().into(),
            Json::Array(items) => items.iter().map(Self::from).collect(),
            Json::Object(members) => {
                Self::Object(members.iter().map(|(name, value)| (name.as_str(), value.into())).collect())
            }
        }
    }
}

impl From<&Value> for Json {
    fn from(value: &Value) -> Self {
        match value {
            Value::Null => Self::Null,
            Value::Bool(truth) => Self::Bool(*truth),
            Value::Number(number) => Self::Number((*number).into()),
            Value::String(text) => Self::String((**text).to_owned()),
            Value::Array(items) => items.iter().map(Self::from).collect(),
            Value::Object(members) => {
                Self::Object(members.iter().map(|(name, value)| (name.to_owned(), value.into())).collect())
            }
        }
    }
}

impl From<Value> for Json {
    fn from(value: Value) -> Self {
        Self::from(&value)
    }
}

impl PartialEq<Json> for Value {
    fn eq(&self, json: &Json) -> bool {
        match (self, json) {
            (Self::Null, Json::Null) => true,
            (Self::Bool(truth), Json::Bool(other)) => truth == other,
            (Self::Number(number), Json::Number(other)) => *number == other.into(),
            (Self::String(text), Json::String(other)) => **text == **other,
            (Self::Array(items), Json::Array(others)) => **items == **others,
            (Self::Object(members), Json::Object(others)) => {
                let same = |(name, value): (&str, &Value)| others.get(name).is_some_and(|other| value == other);
                members.len() == others.len() && members.iter().all(same)
            }
            _ => false,
        }
    }
}

impl PartialEq<Value> for Json {
    fn eq(&self, value: &Value) -> bool {
        value == self
    }
}

impl Serialize for Value {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        match self {
            Self::Null => serializer.serialize_unit(),
            Self::Bool(truth) => serializer.serialize_bool(*truth),
            Self::Number(number) => number.serialize(serializer),
            Self::String(text) => serializer.serialize_str(text),
            Self::Array(items) => items.serialize(serializer),
            Self::Object(object) => object.serialize(serializer),
        }
    }
}

impl Serialize for Object {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let mut map = serializer.serialize_map(Some(self.len()))?;
        self.iter().try_for_each(|(name, value)| map.serialize_entry(name, value))?;
        map.end()
    }
}

impl<'de> Deserialize<'de> for Value {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        deserializer.deserialize_any(ValueReading).map(|(value, _)| value)
    }
}

impl<'de> Deserialize<'de> for Object {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        match Value::deserialize(deserializer)? {
            Value::Object(object) => Ok(object),
            other => {
                Err(Error::custom(format!("expected an object, not {}", crate::text::excerpt(&other.to_string(), 40))))
            }
        }
    }
}

/// Reads a value, and reports whether it is a string that was passed on as an owned one.
struct ValueReading;

/// A value that is an element or a member.
struct NestedValue(Value, bool);

impl<'de> Deserialize<'de> for NestedValue {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        deserializer.deserialize_any(ValueReading).map(|(value, owned)| Self(value, owned))
    }
}

impl<'de> Visitor<'de> for ValueReading {
    type Value = (Value, bool);

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a JSON value")
    }

    fn visit_unit<E>(self) -> Result<(Value, bool), E> {
        Ok((Value::Null, false))
    }

    fn visit_none<E>(self) -> Result<(Value, bool), E> {
        Ok((Value::Null, false))
    }

    fn visit_some<D: Deserializer<'de>>(self, deserializer: D) -> Result<(Value, bool), D::Error> {
        deserializer.deserialize_any(self)
    }

    fn visit_bool<E>(self, truth: bool) -> Result<(Value, bool), E> {
        Ok((truth.into(), false))
    }

    fn visit_i64<E>(self, number: i64) -> Result<(Value, bool), E> {
        Ok((number.into(), false))
    }

    fn visit_u64<E>(self, number: u64) -> Result<(Value, bool), E> {
        Ok((number.into(), false))
    }

    fn visit_f64<E>(self, number: f64) -> Result<(Value, bool), E> {
        Ok((number.into(), false))
    }

    fn visit_str<E>(self, text: &str) -> Result<(Value, bool), E> {
        Ok((text.into(), false))
    }

    fn visit_string<E>(self, text: String) -> Result<(Value, bool), E> {
        Ok((text.into(), true))
    }

    fn visit_seq<A: SeqAccess<'de>>(self, mut items: A) -> Result<(Value, bool), A::Error> {
        let mut list = Vec::new();
        while let Some(NestedValue(item, _)) = items.next_element()? {
            list.push(item);
        }
        Ok((list.into(), false))
    }

    fn visit_map<A: MapAccess<'de>>(self, mut members: A) -> Result<(Value, bool), A::Error> {
        let mut object = Members::default();
        while let Some(name) = members.next_key::<String>()? {
            let NestedValue(value, owned) = members.next_value()?;
            match value {
                Value::String(text) if owned && name == WRITTEN_NUMBER && object.as_slice().is_empty() => {
                    return Ok((Value::Number(written_number(&text)?), false));
                }
                value => drop(object.insert(Arc::from(name), value)),
            }
        }
        Ok((Value::Object(object.into()), false))
    }
}

/// The number that `serde_json` passes on as a string.
fn written_number<E: Error>(text: &str) -> Result<Number, E> {
    // The message of `serde_json` without `arbitrary_precision`.
    Number::nearest(text).ok_or_else(|| E::custom("number out of range"))
}

/// Anything that serializes, as a value, with its members in their order.
pub fn to_value(anything: &(impl Serialize + ?Sized)) -> Option<Value> {
    serde_json::from_slice(&serde_json::to_vec(anything).ok()?).ok()
}

impl Value {
    /// As JSON on one line, with a space after each comma and colon, as the chat templates of models print it.
    pub(crate) fn on_one_line(&self) -> String {
        let mut json = Vec::new();
        let mut serializer = serde_json::Serializer::with_formatter(&mut json, OneLine);
        match self.serialize(&mut serializer) {
            Ok(()) => String::from_utf8(json).unwrap_or_default(),
            Err(_) => self.to_string(),
        }
    }
}

/// The separators of [`Value::on_one_line`].
struct OneLine;

impl Formatter for OneLine {
    fn begin_array_value<W: io::Write + ?Sized>(&mut self, writer: &mut W, first: bool) -> io::Result<()> {
        if first { Ok(()) } else { writer.write_all(b", ") }
    }

    fn begin_object_key<W: io::Write + ?Sized>(&mut self, writer: &mut W, first: bool) -> io::Result<()> {
        if first { Ok(()) } else { writer.write_all(b", ") }
    }

    fn begin_object_value<W: io::Write + ?Sized>(&mut self, writer: &mut W) -> io::Result<()> {
        writer.write_all(b": ")
    }
}

/// Prints JSON; with `{:#}`, on several lines with indentation.
impl fmt::Display for Value {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let json = if f.alternate() { serde_json::to_string_pretty(self) } else { serde_json::to_string(self) };
        f.write_str(&json.map_err(|_| fmt::Error)?)
    }
}

/// Prints like `Display`; with `{:#?}`, on several lines with indentation.
impl fmt::Debug for Value {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Array(items) => f.debug_list().entries(&**items).finish(),
            Self::Object(members) => members.fmt(f),
            other => write!(f, "{other}"),
        }
    }
}

impl fmt::Debug for Object {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_map().entries(self).finish()
    }
}

#[cfg(feature = "schema")]
impl schemars::JsonSchema for Value {
    fn inline_schema() -> bool {
        Json::inline_schema()
    }

    fn schema_name() -> std::borrow::Cow<'static, str> {
        Json::schema_name()
    }

    fn json_schema(generator: &mut schemars::SchemaGenerator) -> schemars::Schema {
        Json::json_schema(generator)
    }
}

#[cfg(feature = "schema")]
impl schemars::JsonSchema for Object {
    fn inline_schema() -> bool {
        serde_json::Map::<String, Json>::inline_schema()
    }

    fn schema_name() -> std::borrow::Cow<'static, str> {
        serde_json::Map::<String, Json>::schema_name()
    }

    fn json_schema(generator: &mut schemars::SchemaGenerator) -> schemars::Schema {
        serde_json::Map::<String, Json>::json_schema(generator)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::value::values;
    use proptest::prelude::*;

    #[test]
    fn a_value_is_debugged_as_json() {
        let value = crate::value::value!({ "notes": ["a \"b\"", 1, true], "gone": null, "none": {} });
        assert_eq!(format!("{value:?}"), r#"{"notes": ["a \"b\"", 1, true], "gone": null, "none": {}}"#);
    }

    #[test]
    fn members_and_numbers_are_read_as_they_are_written() {
        let written = r#"{"b":[1.5,-0.0,1e+300,{"z":0.1,"a":null}],"a":-3,"$serde_json::private::Number":"1.5"}"#;
        for written in [written, r#"{"$serde_json::private::Number":"1.5"}"#, "2.50"] {
            let value: Value = serde_json::from_str(written).unwrap();
            let written = written.replace("2.50", "2.5");
            assert_eq!(value.to_string(), written);
            assert_eq!(to_value(&value).unwrap().to_string(), written);
        }
        assert!(serde_json::from_str::<Value>("1e999").unwrap_err().to_string().starts_with("number out of range"));
    }

    proptest! {
        #[test]
        fn a_value_is_the_json_that_it_came_from(json in values(), other in values()) {
            let (json, other) = (serde_json::Value::from(json), serde_json::Value::from(other));
            let value = Value::from(&json);
            prop_assert_eq!(&value, &json);
            prop_assert_eq!(&serde_json::Value::from(&value), &json);
            prop_assert_eq!(to_value(&value), Some(value.clone()));
            prop_assert_eq!(&serde_json::from_value::<Value>(json.clone()).unwrap(), &value);
            let another = Value::from(&other);
            prop_assert_eq!(value == another, json == other);
            prop_assert_eq!(value == other, json == other);
        }
    }
}
