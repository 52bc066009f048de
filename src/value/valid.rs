//! Validity: how does a schema validate a shared value?
//!
//! In: a JSON Schema; a [`Value`].
//! Out: a [`Validator`], and the view of the value that it needs; a [`SchemaFault`] for each part that is not valid.
//! Never: fetches a `$ref`, or copies a value, except to describe a fault. Nor does it depend on the order of a map of
//! `serde_json`, which sorts its names unless a host turns on `preserve_order`.

use super::{Number, Object, Value, value};
use crate::text::{excerpt, unsafe_because};
use jsonschema::error::ValidationErrorKind;
use jsonschema::json::{self, Json, JsonNumber, Node, NodeIdentity, SerdeJson};
use jsonschema::types::JsonType;
use jsonschema::{PatternOptions, ValidationError, ValidationOptions};
use std::borrow::Cow;
use std::fmt;

/// Decides whether a value is valid against a schema.
#[derive(Debug)]
pub(crate) struct Validator {
    compiled: jsonschema::Validator<Shared>,
    schema: Value,
}

/// Compiles a schema. Patterns are compiled by the `regex` crate, which matches in linear time.
///
/// # Errors
///
/// If the schema is not one of JSON Schema, or has a pattern that cannot be used.
pub(crate) fn validator(schema: &Value) -> Result<Validator, String> {
    let compiled = compile(schema).map_err(|error| first_fault(schema).unwrap_or_else(|| error.to_string()))?;
    Ok(Validator { compiled, schema: schema.clone() })
}

fn compile(schema: &Value) -> Result<jsonschema::Validator<Shared>, ValidationError<'static>> {
    ValidationOptions::<_, Shared>::default()
        .with_pattern_options(PatternOptions::regex())
        // If formats were not validated, `format` would be a rule without effect.
        .should_validate_formats(true)
        .with_format("relative-path", |path: &str| unsafe_because(path).is_none())
        .build(&schema.into())
}

/// The first fault of a schema that is not valid JSON Schema, in the order in which the schema is written.
fn first_fault(schema: &Value) -> Option<String> {
    let draft = schema.get("$schema").and_then(Value::as_str).unwrap_or("https://json-schema.org/draft/2020-12/schema");
    let rules = value!({ "$ref": draft });
    let compiled = compile(&rules).ok()?;
    let fault = Validator { compiled, schema: rules }.faults(schema).next()?.in_full();
    Some(fault)
}

impl Validator {
    /// Whether the value is valid.
    pub(crate) fn is_valid(&self, value: &Value) -> bool {
        self.compiled.is_valid(value)
    }

    /// Where and why the value is not valid; the members of an object in the order of the value.
    pub(crate) fn faults<'v>(&'v self, value: &'v Value) -> impl Iterator<Item = SchemaFault<'v>> {
        let place = |error: ValidationError<'v>| SchemaFault {
            rule: error.evaluation_path().segments().map(|step| step.to_string()).collect(),
            pointer: error.instance_path().segments().map(|step| step.to_string()).collect(),
            error,
            value,
            schema: &self.schema,
        };
        let mut faults: Vec<SchemaFault<'v>> = self.compiled.iter_errors(value).map(place).collect();
        arrange(&mut faults, 0, 0, Some(value));
        faults.into_iter()
    }
}

/// A part of a value that is not valid. Its text describes the fault, and quotes only as much of the value as is
/// needed.
#[derive(Debug)]
pub(crate) struct SchemaFault<'v> {
    /// The path through the schema to the keyword.
    rule: Vec<String>,
    /// The path to the part in the value.
    pub(crate) pointer: Vec<String>,
    error: ValidationError<'v>,
    value: &'v Value,
    schema: &'v Value,
}

/// Sorts faults whose paths are equal up to these steps. The validator reports them in the order of the keywords and,
/// for one keyword, of the value; but the properties of a schema in the order of its map, which is undone here.
fn arrange(faults: &mut [SchemaFault<'_>], rule: usize, pointer: usize, value: Option<&Value>) {
    if faults.len() < 2 {
        return;
    }
    let step = |fault: &SchemaFault<'_>| fault.pointer.get(pointer).cloned();
    let place = |fault: &SchemaFault<'_>| value?.as_object()?.position(fault.pointer.get(pointer)?);
    for same in faults.chunk_by_mut(|one, other| one.rule.get(rule) == other.rule.get(rule)) {
        let keyword = same.first().and_then(|fault| fault.rule.get(rule)).map(String::as_str).unwrap_or_default();
        // How many steps of the path through the schema, and of the path to the part, this keyword takes.
        let (rules, steps) = match keyword {
            "" => continue,
            "properties" | "patternProperties" | "prefixItems" => (2, 1),
            "items"
            | "additionalProperties"
            | "additionalItems"
            | "contains"
            | "unevaluatedItems"
            | "unevaluatedProperties" => (1, 1),
            "allOf" | "dependentSchemas" | "dependencies" => (2, 0),
            _ => (1, 0),
        };
        match keyword {
            "properties" | "patternProperties" => {
                same.sort_by_cached_key(|fault| (place(fault), fault.rule.get(rule + 1).cloned()));
            }
            "dependentSchemas" | "dependencies" => same.sort_by_cached_key(|fault| fault.rule.get(rule + 1).cloned()),
            "dependentRequired" => same.sort_by_cached_key(ToString::to_string),
            _ => {}
        }
        let parts = |one: &SchemaFault<'_>, other: &SchemaFault<'_>| {
            one.rule.get(rule + rules - 1) == other.rule.get(rule + rules - 1)
                && (steps == 0 || step(one) == step(other))
        };
        for part in same.chunk_by_mut(parts) {
            let next = part.first().and_then(step);
            let below = if steps == 0 { value } else { next.and_then(|step| value?.part(&step)) };
            arrange(part, rule + rules, pointer + steps, below);
        }
    }
}

impl SchemaFault<'_> {
    /// The name of the required member that is missing, if this is the fault.
    pub(crate) fn missing(&self) -> Option<&str> {
        match self.error.kind() {
            ValidationErrorKind::Required { property } => property.as_str(),
            _ => None,
        }
    }

    /// Whether the part, or one that contains it, has its meaning by its position in a list.
    pub(crate) fn is_in_tuple(&self) -> bool {
        self.rule.iter().any(|step| step == "prefixItems")
    }

    /// The JSON pointer to the part.
    pub(crate) fn pointer(&self) -> &str {
        self.error.instance_path().as_str()
    }

    /// The message in three parts: the words before the quoted part of the value, the quotation, and the words after
    /// it. If the words name members of the value, the whole message counts as a quotation.
    pub(crate) fn in_parts(&self) -> (String, String, String) {
        // A private-use character, which occurs in no schema and in no message of the validator.
        const HOLE: &str = "\u{e000}";
        let words = self.about(HOLE);
        match (words.split_once(HOLE), self.error.kind()) {
            (Some((before, behind)), _) => (before.to_owned(), self.quoted(), behind.to_owned()),
            (None, ValidationErrorKind::Required { .. }) => (words, String::new(), String::new()),
            (None, _) => (String::new(), words, String::new()),
        }
    }

    /// The part that is not valid, as far as it is quoted.
    fn quoted(&self) -> String {
        excerpt(&self.part().to_string(), 60).into_owned()
    }

    /// The message, with `value` in place of the part.
    fn about(&self, value: &str) -> String {
        match self.error.kind() {
            ValidationErrorKind::Contains => format!("no entry of {value} matches `contains`"),
            ValidationErrorKind::AnyOf { .. } | ValidationErrorKind::OneOfNotValid { .. } => {
                format!("{value} matches none of the schemas that are allowed")
            }
            ValidationErrorKind::OneOfMultipleValid { .. } => {
                format!("{value} has more than one of the forms of `oneOf`")
            }
            ValidationErrorKind::Enum { options } => {
                format!("{value} is not one of {}", choices(self.rule(options).as_array().unwrap_or_default()))
            }
            _ => excerpt(&self.in_words_of_the_validator(value), 160).into_owned(),
        }
    }

    /// The part of the value that is not valid: for a fault in the name of a property, the name, which is not in the
    /// value.
    fn part(&self) -> Cow<'_, Value> {
        let part = self.value.pointer(self.pointer()).filter(|part| **part == **self.error.instance());
        part.map_or_else(|| Cow::Owned((&**self.error.instance()).into()), Cow::Borrowed)
    }

    /// A part of the schema, from our copy, which preserves the order of members.
    fn rule<'r>(&'r self, same: &serde_json::Value) -> Cow<'r, Value> {
        let part = self.schema.pointer(self.error.schema_path().as_str()).filter(|part| **part == *same);
        part.map_or_else(|| Cow::Owned(same.into()), Cow::Borrowed)
    }

    /// The message in the words of the validator.
    fn in_words_of_the_validator(&self, value: &str) -> String {
        match self.error.kind() {
            ValidationErrorKind::Constant { expected_value } => format!("{} was expected", self.rule(expected_value)),
            ValidationErrorKind::Not { schema } => format!("{} is not allowed for {value}", self.rule(schema)),
            _ => self.error.masked_with(value).to_string(),
        }
    }

    /// The message, with the whole part.
    fn in_full(&self) -> String {
        self.in_words_of_the_validator(&self.part().to_string())
    }
}

impl fmt::Display for SchemaFault<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.about(&self.quoted()))
    }
}

/// The values of a list in words, but no more than people and models can take in.
fn choices(options: &[Value]) -> String {
    const MAX_CHOICES: usize = 10;
    let mut words: Vec<String> =
        options.iter().take(MAX_CHOICES).map(|option| excerpt(&option.to_string(), 40).into_owned()).collect();
    let last = match options.len().saturating_sub(MAX_CHOICES) {
        0 => words.pop().unwrap_or_default(),
        more => format!("{more} others"),
    };
    if words.is_empty() { last } else { format!("{} or {last}", words.join(", ")) }
}

/// Shared values as a representation of JSON that validators can be compiled for.
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
    type Number = Number;

    fn as_object(&self) -> Option<&'a Object> {
        Value::as_object(self)
    }

    fn as_array(&self) -> Option<&'a [Value]> {
        Value::as_array(self)
    }

    fn as_string(&self) -> Option<Cow<'a, str>> {
        Value::as_str(self).map(Cow::Borrowed)
    }

    fn as_number(&self) -> Option<Number> {
        Value::as_number(self)
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

impl JsonNumber for Number {
    fn as_u64(&self) -> Option<u64> {
        Number::as_u64(*self)
    }

    fn as_i64(&self) -> Option<i64> {
        Number::as_i64(*self)
    }

    fn as_f64(&self) -> Option<f64> {
        Some(Number::as_f64(*self))
    }

    fn as_str(&self) -> Cow<'_, str> {
        Cow::Owned(self.to_string())
    }

    fn to_number(&self) -> Cow<'_, serde_json::Number> {
        Cow::Owned((*self).into())
    }

    fn is_integer(&self) -> bool {
        !self.is_f64() || Number::as_f64(*self).fract() == 0.0
    }

    /// A double beyond the range of `i64` is printed with an exponent, and has no fraction.
    fn is_written_as_integer(&self) -> bool {
        !self.is_f64() || Number::as_f64(*self).abs() >= 9_223_372_036_854_775_808.0
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

    /// A schema must decide alike about a shared value and about the same value as plain JSON.
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
