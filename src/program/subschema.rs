//! Subschemas: which schema must a part satisfy, so that the whole stays valid against its own schema?
//!
//! In: the JSON Schema of a valid whole, and the path of the part that changes.
//! Out: a [`PartSchema`] that decides about that change alone, and where it applies.
//! Never: reads more of the whole than what is on the path.

use super::{Schema, misfit_at};
use crate::program::PathKey;
use crate::value::Value as Json;
use crate::value::{Members, Value};

/// A schema, and the schemas of those parts that can be validated on their own.
#[derive(Debug)]
pub(crate) struct PartSchema {
    schema: Schema,
    inside: SubschemaPart,
}

#[derive(Debug)]
enum SubschemaPart {
    /// The parts cannot be validated on their own.
    Whole,
    /// An object whose members can be validated one by one. The second schema is for undeclared members, and none if
    /// none are allowed.
    Members(Members<PartSchema>, Option<Box<PartSchema>>),
    /// A list whose items can be validated one by one.
    Items(Box<PartSchema>),
}

/// Keywords that do not relate members or items to each other.
const APART: [&str; 8] =
    ["type", "properties", "additionalProperties", "items", "description", "title", "default", "examples"];

impl PartSchema {
    pub(crate) fn of(schema: &Json) -> Self {
        // References are resolved from the root of a schema, so a schema with references is not divided.
        let inside = if refers(schema) { SubschemaPart::Whole } else { Self::inside(schema) };
        Self { schema: Schema::new(schema.clone()), inside }
    }

    fn inside(schema: &Json) -> SubschemaPart {
        let Some(words) = schema.as_object() else { return SubschemaPart::Whole };
        if !words.keys().all(|word| APART.contains(&word) || word.starts_with("x-")) {
            return SubschemaPart::Whole;
        }
        let of = |schema: Option<&Json>| Box::new(Self::of(schema.unwrap_or(&Json::Bool(true))));
        match words.get("type").and_then(Json::as_str) {
            Some("object") => {
                let named = words.get("properties").and_then(Json::as_object).into_iter().flatten();
                let named = named.map(|(name, one)| (name.into(), Self::of(one))).collect();
                let others = words.get("additionalProperties").filter(|others| **others != Json::Bool(true));
                SubschemaPart::Members(named, (others != Some(&Json::Bool(false))).then(|| of(others)))
            }
            Some("array") => SubschemaPart::Items(of(words.get("items"))),
            _ => SubschemaPart::Whole,
        }
    }

    /// The schema of the deepest part along `path` that can be validated on its own, and the number of steps to it.
    pub(crate) fn at<'p>(&'p self, whole: Option<&Value>, path: &[PathKey<'_>]) -> (&'p PartSchema, usize) {
        let (mut part, mut value) = (self, whole);
        for (steps, key) in path.iter().enumerate() {
            let next = match (&part.inside, value) {
                (SubschemaPart::Members(named, others), Some(Value::Object(members))) => {
                    let member = named.get(key).or(others.as_deref());
                    member.map(|member| (member, members.get(key)))
                }
                (SubschemaPart::Items(items), Some(Value::Array(list))) => {
                    Some((&**items, key.parse().ok().and_then(|index: usize| list.get(index))))
                }
                _ => None,
            };
            match next {
                Some(next) => (part, value) = next,
                None => return (part, steps),
            }
        }
        (part, path.len())
    }

    /// What is wrong with `value`, which messages call `name`.
    pub(crate) fn misfit(&self, value: &Value, name: impl FnOnce() -> String) -> Option<String> {
        // Fast path: a schema that allows everything needs no validator.
        match self.schema.json() {
            Json::Bool(true) => return None,
            Json::Object(words) if words.is_empty() => return None,
            _ => {}
        }
        let validator = self.schema.validator().ok().filter(|validator| !validator.is_valid(value))?;
        validator.faults(value).next().map(|error| misfit_at(&name(), &error))
    }
}

fn refers(schema: &Json) -> bool {
    match schema {
        Json::Object(words) => {
            words.keys().any(|word| ["$ref", "$dynamicRef"].contains(&word)) || words.values().any(refers)
        }
        Json::Array(items) => items.iter().any(refers),
        _ => false,
    }
}
