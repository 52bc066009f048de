//! Validity: how does a schema validate a shared value?
//!
//! In: a JSON Schema; a [`Value`].
//! Out: a [`Validator`], and the view of the value that it needs.
//! Never: fetches a `$ref`, or copies a value, except to say what is wrong with it.

use super::{Object, Value};
use jsonschema::json::{self, Json, Node, NodeIdentity, SerdeJson};
use jsonschema::types::JsonType;
use jsonschema::{PatternOptions, ValidationError, ValidationOptions};
use serde_json::Number;
use std::borrow::Cow;

/// Tells whether a value fits a schema.
pub(crate) type Validator = jsonschema::Validator<Shared>;

/// Compiles a schema. Patterns are those of the `regex` crate, in linear time.
///
/// # Errors
/// If the schema is not one of JSON Schema, or has a pattern that cannot be used.
pub(crate) fn validator(schema: &serde_json::Value) -> Result<Validator, ValidationError<'static>> {
    ValidationOptions::<_, Shared>::default()
        .with_pattern_options(PatternOptions::regex())
        // A format that nobody checks would be a rule that does not hold.
        .should_validate_formats(true)
        .build(schema)
}

/// Shared values, as a kind of JSON that validators can be compiled for.
#[derive(Debug)]
pub(crate) struct Shared;

impl Json for Shared {
    type Node<'a> = &'a Value;
    type PreparedKey = String;
    type StringBuffer = Value;

    fn prepare_key(key: &str) -> String {
        SerdeJson::prepare_key(key)
    }

    fn with_string_node<T>(buffer: &mut Value, string: &str, then: impl FnOnce(&Value) -> T) -> T {
        *buffer = string.into();
        then(buffer)
    }
}

impl<'a> Node<'a, Shared> for &'a Value {
    type Object = &'a Object;
    type Array = &'a [Value];
    type Number = &'a Number;

    fn as_object(&self) -> Option<&'a Object> {
        Value::as_object(self)
    }

    fn as_array(&self) -> Option<&'a [Value]> {
        Value::as_array(self)
    }

    fn as_string(&self) -> Option<Cow<'a, str>> {
        Value::as_str(self).map(Cow::Borrowed)
    }

    fn as_number(&self) -> Option<&'a Number> {
        if let Value::Number(number) = self { Some(number) } else { None }
    }

    fn as_boolean(&self) -> Option<bool> {
        Value::as_bool(self)
    }

    fn is_null(&self) -> bool {
        Value::is_null(self)
    }

    fn json_type(&self) -> JsonType {
        match self {
            Value::Null => JsonType::Null,
            Value::Bool(_) => JsonType::Boolean,
            Value::Number(_) => JsonType::Number,
            Value::String(_) => JsonType::String,
            Value::Array(_) => JsonType::Array,
            Value::Object(_) => JsonType::Object,
        }
    }

    fn to_value(&self) -> Cow<'a, serde_json::Value> {
        Cow::Owned((*self).into())
    }

    fn identity(&self) -> Option<NodeIdentity> {
        Some(NodeIdentity::new(std::ptr::from_ref::<Value>(self) as usize))
    }
}

impl<'a> json::Object<'a, Shared> for &'a Object {
    type Node = &'a Value;
    type MemberName = &'a str;
    type MembersIter = super::object::Iter<'a>;

    fn len(&self) -> usize {
        Object::len(self)
    }

    fn get(&self, key: &String) -> Option<&'a Value> {
        Object::get(self, key)
    }

    fn members(&self) -> super::object::Iter<'a> {
        self.iter()
    }
}

impl<'a> json::Array<'a, Shared> for &'a [Value] {
    type Node = &'a Value;
    type ElementsIter = std::slice::Iter<'a, Value>;

    fn len(&self) -> usize {
        <[Value]>::len(self)
    }

    fn elements(&self) -> std::slice::Iter<'a, Value> {
        self.iter()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    /// A schema must judge a shared value as it judges the same value as plain JSON.
    #[track_caller]
    fn check(schema: serde_json::Value, values: &[serde_json::Value]) {
        let plain = jsonschema::validator_for(&schema).unwrap();
        let shared = jsonschema::ValidationOptions::<_, Shared>::default().build(&schema).unwrap();
        for json in values {
            let value = Value::from(json);
            assert_eq!(shared.is_valid(&value), plain.is_valid(json), "{json} in {schema}");
            let of_shared = shared.iter_errors(&value).map(|error| format!("{} {error}", error.instance_path()));
            let of_plain = plain.iter_errors(json).map(|error| format!("{} {error}", error.instance_path()));
            assert_eq!(of_shared.collect::<Vec<_>>(), of_plain.collect::<Vec<_>>(), "{json} in {schema}");
        }
    }

    #[test]
    fn a_schema_judges_what_is_shared_as_it_judges_plain_json() {
        let values = [
            json!(null),
            json!(true),
            json!(1),
            json!(1.0),
            json!(2.5),
            json!(-3),
            json!(u64::MAX),
            json!(""),
            json!("ä\u{1F980}"),
            json!("12"),
            json!([]),
            json!([1, 1.0]),
            json!([1, "1", { "a": [2] }, { "a": [2.0] }]),
            json!({}),
            json!({ "a": 1, "b": "x" }),
            json!({ "b": { "a": [null, { "a": "q" }] } }),
        ];
        check(json!({ "type": ["integer", "null"] }), &values);
        check(json!({ "type": "number", "multipleOf": 0.5, "minimum": 0 }), &values);
        check(json!({ "minLength": 1, "maxLength": 2, "pattern": "^\\D" }), &values);
        check(json!({ "uniqueItems": true, "maxItems": 3, "contains": { "const": 1 } }), &values);
        check(json!({ "enum": [1, "12", [], { "b": "x", "a": 1.0 }] }), &values);
        check(json!({ "required": ["a"], "properties": { "a": { "type": "integer" } } }), &values);
        check(
            json!({ "additionalProperties": false, "propertyNames": { "maxLength": 1 }, "minProperties": 1 }),
            &values,
        );
        check(
            json!({ "properties": { "b": { "$ref": "#" }, "a": { "items": { "anyOf": [{ "$ref": "#" }, false] } } } }),
            &values,
        );
    }
}
