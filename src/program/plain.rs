//! Plain schemas: is a schema certainly valid, and is a value certainly valid against it?
//!
//! In: a JSON Schema and a value.
//! Out: `true` if that is obvious; otherwise the validator has to decide.
//! Never: returns `true` where the validator would find a fault.
//!
//! Nearly all schemas of packs consist of a few keywords. The validator needs 16 million instructions before it
//! compiles the first schema, and some hundred thousand for each schema.

use crate::value::{Object, Value};

/// Whether the validator can certainly compile a schema.
pub(super) fn compiles(schema: &Value) -> bool {
    match schema {
        Value::Bool(_) => true,
        Value::Object(members) => members.iter().all(|(keyword, value)| is_valid(keyword, value)),
        _ => false,
    }
}

/// Whether a keyword is one of those handled here, with a valid value.
fn is_valid(keyword: &str, value: &Value) -> bool {
    match keyword {
        "type" => match value {
            Value::String(_) => is_type(value),
            one => one
                .as_array()
                .is_some_and(|names| !names.is_empty() && are_distinct(names) && names.iter().all(is_type)),
        },
        "enum" => value.as_array().is_some_and(|values| !values.is_empty() && are_distinct(values)),
        "const" | "default" => true,
        "title" | "description" => value.as_str().is_some(),
        "examples" => value.as_array().is_some(),
        "minLength" | "maxLength" | "minItems" | "maxItems" | "minProperties" | "maxProperties" => {
            value.as_u64().is_some_and(|limit| limit <= u64::from(u32::MAX))
        }
        "minimum" | "maximum" | "exclusiveMinimum" | "exclusiveMaximum" => value.is_number(),
        "uniqueItems" => value.as_bool().is_some(),
        "required" => {
            value.as_array().is_some_and(|names| are_distinct(names) && names.iter().all(|one| one.as_str().is_some()))
        }
        "properties" => value.as_object().is_some_and(|members| members.values().all(compiles)),
        "items" | "additionalProperties" => compiles(value),
        "anyOf" | "oneOf" | "allOf" => value.as_array().is_some_and(|all| !all.is_empty() && all.iter().all(compiles)),
        _ => false,
    }
}

fn is_type(name: &Value) -> bool {
    let names = ["string", "number", "integer", "boolean", "object", "array", "null"];
    name.as_str().is_some_and(|name| names.contains(&name))
}

fn are_distinct(values: &[Value]) -> bool {
    // For the few values of nearly all lists, comparing all pairs is faster than a set.
    values.len() <= MAX_VALUES
        && values.iter().enumerate().all(|(at, one)| !values.iter().skip(at + 1).any(|other| other == one))
}

/// Longer lists are left to the validator.
const MAX_VALUES: usize = 64;

/// Whether a value is certainly valid against a schema, provided that the validator can compile the schema.
pub(super) fn accepts(schema: &Value, value: &Value) -> bool {
    match schema {
        Value::Bool(anything) => *anything,
        Value::Object(members) => members.iter().all(|(keyword, rule)| satisfies(members, keyword, rule, value)),
        _ => false,
    }
}

/// Whether a value certainly satisfies one keyword of a schema.
fn satisfies(schema: &Object, keyword: &str, rule: &Value, value: &Value) -> bool {
    let limit = |length: usize, is_least: bool| {
        rule.as_u64().is_some_and(|limit| if is_least { length as u64 >= limit } else { length as u64 <= limit })
    };
    match (keyword, value) {
        ("title" | "description" | "default" | "examples", _) => true,
        ("type", _) => match rule {
            Value::Array(names) => names.iter().any(|name| is_of_type(name, value)),
            name => is_of_type(name, value),
        },
        ("enum", _) => rule.as_array().is_some_and(|values| values.iter().any(|one| one == value)),
        ("const", _) => rule == value,
        ("minLength" | "maxLength", Value::String(text)) => limit(text.chars().count(), keyword == "minLength"),
        ("minItems" | "maxItems", Value::Array(items)) => limit(items.len(), keyword == "minItems"),
        ("minProperties" | "maxProperties", Value::Object(members)) => limit(members.len(), keyword == "minProperties"),
        ("minimum" | "maximum", Value::Number(_)) => match (rule.as_i64(), value.as_i64()) {
            (Some(limit), Some(number)) if keyword == "minimum" => number >= limit,
            (Some(limit), Some(number)) => number <= limit,
            _ => false,
        },
        ("uniqueItems", Value::Array(items)) => items.len() < 2 || rule.as_bool() == Some(false),
        ("items", Value::Array(items)) => items.iter().all(|item| accepts(rule, item)),
        ("required", Value::Object(members)) => rule
            .as_array()
            .is_some_and(|names| names.iter().all(|name| name.as_str().is_some_and(|name| members.contains_key(name)))),
        ("properties", Value::Object(members)) => {
            members.iter().all(|(name, member)| rule.get(name).is_none_or(|schema| accepts(schema, member)))
        }
        ("additionalProperties", Value::Object(members)) => {
            let declared = schema.get("properties");
            let is_declared = |name: &str| declared.is_some_and(|declared| declared.get(name).is_some());
            members.iter().all(|(name, member)| is_declared(name) || accepts(rule, member))
        }
        (
            "minLength"
            | "maxLength"
            | "minItems"
            | "maxItems"
            | "minProperties"
            | "maxProperties"
            | "minimum"
            | "maximum"
            | "uniqueItems"
            | "items"
            | "required"
            | "properties"
            | "additionalProperties",
            _,
        ) => true,
        ("anyOf", _) => rule.as_array().is_some_and(|all| all.iter().any(|one| accepts(one, value))),
        ("allOf", _) => rule.as_array().is_some_and(|all| all.iter().all(|one| accepts(one, value))),
        _ => false,
    }
}

fn is_of_type(name: &Value, value: &Value) -> bool {
    match value {
        Value::Null => name == "null",
        Value::Bool(_) => name == "boolean",
        Value::Number(_) => name == "number" || (name == "integer" && value.as_i64().is_some()),
        Value::String(_) => name == "string",
        Value::Array(_) => name == "array",
        Value::Object(_) => name == "object",
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::value::{validator, value};
    use proptest::prelude::*;

    #[track_caller]
    fn check(schema: &Value, given: &Value) {
        let validator = validator(schema);
        assert!(!compiles(schema) || validator.is_ok(), "{schema}");
        if let Ok(validator) = validator {
            assert!(!accepts(schema, given) || validator.is_valid(given), "{schema} {given}");
        }
    }

    #[test]
    fn schemas_of_packs_are_plain() {
        let params = value!({
            "type": "object",
            "properties": { "title": { "type": "string", "minLength": 1 }, "weight": { "enum": [1, 2], "default": 1 } },
            "required": ["title"],
            "additionalProperties": false,
        });
        assert!(compiles(&params));
        assert!(accepts(&params, &value!({ "title": "a", "weight": 2 })));
        assert!(!accepts(&params, &value!({ "title": "a", "other": 2 })));
        assert!(!accepts(&params, &value!({ "weight": 2 })));
        assert!(accepts(&value!({ "type": "array", "items": { "type": "string" } }), &value!([])));
        assert!(!compiles(&value!({ "type": "text" })));
        assert!(!compiles(&value!({ "pattern": "(" })));
        assert!(!compiles(&value!({ "required": ["a", "a"] })));
    }

    fn any_value() -> impl Strategy<Value = Value> {
        let leaf = prop::sample::select(vec![
            value!(null),
            value!(true),
            value!(0),
            value!(2),
            value!(-1),
            value!(1.0),
            value!(1.5),
            value!(""),
            value!("é"),
            value!("string"),
            value!("a"),
            value!([]),
            value!({}),
        ]);
        leaf.prop_recursive(3, 12, 3, |inner| {
            let list = prop::collection::vec(inner.clone(), 0..3).prop_map(Value::from);
            let names = prop::sample::select(vec!["a", "b"]);
            let object = prop::collection::vec((names, inner), 0..3);
            prop_oneof![list, object.prop_map(|members| Value::Object(members.into_iter().collect()))]
        })
    }

    fn schema() -> impl Strategy<Value = Value> {
        let number = prop::sample::select(vec![value!(0), value!(1), value!(2), value!(-1), value!(1.5), value!("1")]);
        let word = prop::sample::select(vec![
            value!("string"),
            value!("integer"),
            value!("number"),
            value!("array"),
            value!("object"),
            value!("null"),
            value!("boolean"),
            value!("text"),
            value!(["integer", "string"]),
            value!([]),
        ]);
        let limits = prop::sample::select(vec![
            "minLength", "maxLength", "minItems", "maxItems", "minProperties", "maxProperties", "minimum", "maximum",
            "exclusiveMinimum", "uniqueItems",
        ]);
        let leaf = prop_oneof![
            word.prop_map(|word| value!({ "type": word })),
            (limits, number).prop_map(|(keyword, number)| Value::Object([(keyword, number)].into_iter().collect())),
            prop::collection::vec(any_value(), 0..3).prop_map(|values| value!({ "enum": values })),
            any_value().prop_map(|one| value!({ "const": one })),
            any_value().prop_map(|one| value!({ "required": one })),
            prop::bool::ANY.prop_map(Value::from),
        ];
        leaf.prop_recursive(3, 12, 3, |inner| {
            let keyword = prop::sample::select(vec!["items", "additionalProperties", "properties", "not"]);
            let one = (keyword, inner.clone())
                .prop_map(|(keyword, inner)| Value::Object([(keyword, inner)].into_iter().collect()));
            let members = (inner.clone(), inner.clone())
                .prop_map(|(one, other)| value!({ "properties": { "a": one }, "additionalProperties": other }));
            let many = prop::sample::select(vec!["anyOf", "oneOf", "allOf"]);
            let all = prop::collection::vec(inner, 0..3);
            let joined =
                (many, all).prop_map(|(keyword, all)| Value::Object([(keyword, all.into())].into_iter().collect()));
            prop_oneof![one, members, joined]
        })
    }

    proptest! {
        #[test]
        fn the_validator_agrees(schema in schema(), given in any_value()) {
            check(&schema, &given);
        }
    }
}
