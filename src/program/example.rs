//! Examples: which value is valid against a schema?
//!
//! In: a JSON Schema.
//! Out: a value that is probably valid: one that the author gives, or else a plain one of its type.
//! Never: promises that the value is valid; a validator can check it.

use super::{properties, requires};
use crate::pack::schemas::FORMATS;
use crate::value::{Value, value};

/// The deepest level of a schema that is followed.
const MAX_SCHEMA_DEPTH: usize = 16;

/// Keywords that apply only to texts, so that a schema without `type` is one for texts.
const TEXT_KEYS: [&str; 3] = ["pattern", "minLength", "maxLength"];

/// The members that an example of an object has. With `All` and `Required`, a value of any type is null.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum ExampleMembers {
    /// All declared members.
    All,
    /// The required members.
    Required,
    /// The required members, and those for which the author gives an example; a text describes its own meaning.
    Exemplified,
    /// All declared members; a text describes its own meaning.
    AllDescribed,
}

/// An example of a value for a schema.
pub(crate) fn example(schema: &Value, members: ExampleMembers) -> Value {
    sample(schema, members, MAX_SCHEMA_DEPTH)
}

/// The author's example, or a constant, a default, or the first of a list of words.
fn given(schema: &Value) -> Option<&Value> {
    let first = |key: &str| schema.get(key).and_then(Value::as_array).and_then(|list| list.first());
    first("examples").or_else(|| schema.get("const")).or_else(|| schema.get("default")).or_else(|| first("enum"))
}

fn sample(schema: &Value, members: ExampleMembers, depth: usize) -> Value {
    if let Some(value) = given(schema) {
        return value.clone();
    }
    let first = |key: &str| schema.get(key).and_then(Value::as_array).and_then(|list| list.first());
    if depth == 0 {
        return Value::Null;
    }
    if let Some(one) = first("anyOf").or_else(|| first("oneOf")).or_else(|| first("allOf")) {
        return sample(one, members, depth - 1);
    }
    let number = |key: &str| schema.get(key).and_then(Value::as_f64);
    let kind = schema.get("type").and_then(|kind| kind.as_str().or_else(|| kind.as_array()?.first()?.as_str()));
    let has = |key: &str| schema.get(key).is_some();
    match kind {
        Some("object") => object(schema, members, depth),
        None if has("properties") => object(schema, members, depth),
        Some("array") => {
            schema.get("items").map_or_else(|| value!([]), |items| value!([sample(items, members, depth - 1)]))
        }
        Some("boolean") => value!(true),
        Some(kind @ ("integer" | "number")) => {
            let least =
                number("minimum").or_else(|| number("exclusiveMinimum").map(|least| least + 1.0)).unwrap_or(1.0);
            let most =
                number("maximum").or_else(|| number("exclusiveMaximum").map(|most| most - 1.0)).unwrap_or(f64::MAX);
            let value = least.min(most);
            if kind == "integer" { value!(value.ceil() as i64) } else { value!(value) }
        }
        Some("null") => Value::Null,
        _ if format(schema).is_some() => value!(format(schema)),
        _ if matches!(members, ExampleMembers::Exemplified | ExampleMembers::AllDescribed)
            && description(schema).is_some() =>
        {
            description(schema).unwrap_or_default().into()
        }
        // Expressions are tried on this example: with `null`, they cannot rely on a type that is not declared.
        None if matches!(members, ExampleMembers::All | ExampleMembers::Required)
            && !TEXT_KEYS.iter().any(|key| has(key)) =>
        {
            Value::Null
        }
        _ => {
            let bound = |key: &str| schema.get(key).and_then(Value::as_u64).map(|length| length.min(4096) as usize);
            let mut text: String = "sample".to_owned();
            text.truncate(bound("maxLength").unwrap_or(usize::MAX));
            text.extend(std::iter::repeat_n('x', bound("minLength").unwrap_or_default().saturating_sub(text.len())));
            value!(text)
        }
    }
}

/// An example text in the format that the schema requires.
fn format(schema: &Value) -> Option<&'static str> {
    let asked = schema.get("format")?.as_str()?;
    FORMATS.iter().find(|(format, _)| *format == asked).map(|(_, text)| *text)
}

/// The description of a text, if the schema allows it as a value: it is not too long or too short, and need not match.
fn description(schema: &Value) -> Option<&str> {
    let description = schema.get("description")?.as_str()?;
    let bound = |key: &str| schema.get(key).and_then(Value::as_u64);
    let letters = description.chars().count() as u64;
    let is_within = (bound("minLength").unwrap_or(0)..=bound("maxLength").unwrap_or(u64::MAX)).contains(&letters);
    let is_free = !["pattern", "format"].iter().any(|key| schema.get(key).is_some());
    (is_within && is_free).then_some(description)
}

fn object(schema: &Value, members: ExampleMembers, depth: usize) -> Value {
    let is_member = |name: &str, property: &Value| match members {
        ExampleMembers::All | ExampleMembers::AllDescribed => true,
        _ if requires(schema, name) => true,
        ExampleMembers::Exemplified => property.get("examples").is_some(),
        ExampleMembers::Required => false,
    };
    let chosen = properties(schema).filter(|(name, property)| is_member(name, property));
    Value::Object(chosen.map(|(name, schema)| (name, sample(schema, members, depth - 1))).collect())
}
