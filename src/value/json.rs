//! JSON: how is plain JSON converted to shared values and back?
//!
//! In: values of `serde_json`, or ours.
//! Out: the other kind; serde implementations for ours.
//! Never: changes a value.

use super::{Object, Value};
use serde::ser::SerializeMap;
use serde::{Deserialize, Deserializer, Serialize, Serializer};
use serde_json::Map;
use serde_json::Value as Json;
use std::fmt;

impl From<Json> for Value {
    fn from(json: Json) -> Self {
        match json {
            Json::Null => Self::Null,
            Json::Bool(truth) => Self::Bool(truth),
            Json::Number(number) => Self::Number(number),
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
            Json::Number(number) => Self::Number(number.clone()),
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
            Value::Number(number) => Self::Number(number.clone()),
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
            (Self::Number(number), Json::Number(other)) => number == other,
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
        Json::deserialize(deserializer).map(Self::from)
    }
}

impl<'de> Deserialize<'de> for Object {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let members = Map::<String, Json>::deserialize(deserializer)?;
        Ok(members.into_iter().map(|(name, value)| (name, Value::from(value))).collect())
    }
}

impl fmt::Display for Value {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&serde_json::to_string(self).map_err(|_| fmt::Error)?)
    }
}

/// The same as `Display`; `{:#?}` takes a line for each part.
impl fmt::Debug for Value {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Array(items) => f.debug_list().entries(&**items).finish(),
            Self::Object(members) => members.fmt(f),
            other => fmt::Display::fmt(other, f),
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
        Map::<String, Json>::inline_schema()
    }

    fn schema_name() -> std::borrow::Cow<'static, str> {
        Map::<String, Json>::schema_name()
    }

    fn json_schema(generator: &mut schemars::SchemaGenerator) -> schemars::Schema {
        Map::<String, Json>::json_schema(generator)
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

    proptest! {
        #[test]
        fn a_value_is_the_json_that_it_came_from(json in values(), other in values()) {
            let (json, other) = (json.to_json(), other.to_json());
            let value = Value::from(&json);
            prop_assert_eq!(&value, &json);
            prop_assert_eq!(&value.to_json(), &json);
            prop_assert_eq!(value.to_string(), json.to_string());
            prop_assert_eq!(&serde_json::from_value::<Value>(json.clone()).unwrap(), &value);
            let another = Value::from(&other);
            prop_assert_eq!(value == another, json == other);
            prop_assert_eq!(value == other, json == other);
        }
    }
}
