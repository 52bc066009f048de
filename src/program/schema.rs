//! Schemas, compiled: which values may a payload hold?
//!
//! In: the `params` of an action, as the pack writes them.
//! Out: [`Schema`]: plain JSON Schema, and a validator that is compiled on first use.
//! Never: fetches a `$ref`, or changes a value.

use super::Types;
use super::part::PartSchema;
use crate::surface::{Named, Tree};
use crate::text::excerpt;
use crate::value::{Validator, validator};
use jsonschema::ValidationError;
use jsonschema::error::ValidationErrorKind;
use serde_json::{Map, Value, json};
use std::sync::OnceLock;

/// The JSON Schema of a value or payload.
#[derive(Debug)]
pub(crate) struct Schema {
    json: Value,
    types: OnceLock<Types>,
    part: OnceLock<Box<PartSchema>>,
    validator: OnceLock<Result<Validator, String>>,
}

impl Schema {
    /// The schema of an object with these members. At every depth, members may have `required = true`, `about` for
    /// `description`, and `example` for `examples` with one entry.
    pub(super) fn of_params(params: &Named<Tree>) -> Self {
        let members = params.iter().map(|(name, tree)| (name.as_str(), &tree.value));
        Self::new(object_of(members))
    }

    /// The schema of one value.
    pub(crate) fn of_value(tree: &Tree) -> Self {
        Self::new(plain(tree).0)
    }

    /// The schema of a member, and whether the member is required.
    pub(crate) fn of_member(tree: &Tree) -> (Self, bool) {
        let (schema, required) = plain(tree);
        (Self::new(schema), required)
    }

    /// The schema of one of its properties.
    pub(crate) fn of_property(&self, name: &str) -> Self {
        Self::new(self.property(name).cloned().unwrap_or_default())
    }

    /// The JSON Schema of one of its properties, if it declares it.
    pub(crate) fn property(&self, name: &str) -> Option<&Value> {
        self.json.get("properties")?.get(name)
    }

    pub(super) fn new(json: Value) -> Self {
        Self { json, types: OnceLock::new(), part: OnceLock::new(), validator: OnceLock::new() }
    }

    /// The JSON Schema.
    pub(crate) fn json(&self) -> &Value {
        &self.json
    }

    /// The types that it declares.
    pub(crate) fn types(&self) -> &Types {
        self.types.get_or_init(|| Types::of(&self.json))
    }

    /// The schemas of the parts that can be validated on their own.
    pub(crate) fn part(&self) -> &PartSchema {
        self.part.get_or_init(|| Box::new(PartSchema::of(&self.json)))
    }

    /// Whether it allows `null`.
    pub(crate) fn takes_null(&self) -> bool {
        self.validator().is_ok_and(|validator| validator.is_valid(&crate::Value::Null))
    }

    /// The validator, or why the schema cannot be compiled.
    pub(crate) fn validator(&self) -> Result<&Validator, &String> {
        self.validator.get_or_init(|| validator(&self.json).map_err(|error| error.to_string())).as_ref()
    }
}

/// The properties that a schema declares.
pub(crate) fn properties(schema: &Value) -> impl Iterator<Item = (&String, &Value)> {
    schema.get("properties").and_then(Value::as_object).into_iter().flatten()
}

/// Whether a schema requires a property.
pub(crate) fn requires(schema: &Value, name: &str) -> bool {
    schema.get("required").and_then(Value::as_array).is_some_and(|names| names.iter().any(|one| one == name))
}

/// The error of a validator in words, for the value called `name` or a part of it.
pub(crate) fn misfit_at(name: &str, error: &ValidationError<'_>) -> String {
    let steps = error.instance_path().segments().map(|step| step.to_string());
    let path = std::iter::once(name.to_owned()).chain(steps).collect::<Vec<_>>().join(".");
    match path.trim_start_matches('.') {
        "" => misfit(error),
        place => format!("`{}`: {}", excerpt(place, 120), misfit(error)),
    }
}

/// The error of a validator in words, quoting only as much of the value as is needed.
fn misfit(error: &ValidationError<'_>) -> String {
    let whole = error.instance().to_string();
    let value = excerpt(&whole, 60);
    match error.kind() {
        ValidationErrorKind::Contains => format!("no entry of {value} is as `contains` wants one"),
        ValidationErrorKind::AnyOf { .. } | ValidationErrorKind::OneOfNotValid { .. } => {
            format!("{value} has none of the forms that it may have")
        }
        ValidationErrorKind::OneOfMultipleValid { .. } => format!("{value} has more than one of the forms of `oneOf`"),
        ValidationErrorKind::Enum { options } => {
            format!("{value} is not one of {}", choices(options.as_array().map(Vec::as_slice).unwrap_or_default()))
        }
        _ => excerpt(&error.masked_with(value).to_string(), 160).into_owned(),
    }
}

/// The values of a list in words, as many as people and models can take in.
fn choices(options: &[Value]) -> String {
    const SHOWN: usize = 10;
    let mut words: Vec<String> =
        options.iter().take(SHOWN).map(|option| excerpt(&option.to_string(), 40).into_owned()).collect();
    let last = match options.len().saturating_sub(SHOWN) {
        0 => words.pop().unwrap_or_default(),
        more => format!("{more} others"),
    };
    if words.is_empty() { last } else { format!("{} or {last}", words.join(", ")) }
}

/// The schema of an object whose members are written as in a pack.
fn object_of<'t>(members: impl Iterator<Item = (&'t str, &'t Tree)>) -> Value {
    let mut properties = Map::new();
    let mut required = Vec::new();
    for (name, tree) in members {
        let (schema, needed) = plain(tree);
        if needed {
            required.push(Value::from(name));
        }
        properties.insert(name.to_owned(), schema);
    }
    json!({ "type": "object", "properties": properties, "required": required })
}

/// A schema in plain JSON Schema, and whether the pack requires the value.
fn plain(tree: &Tree) -> (Value, bool) {
    let Tree::Table(members, _) = tree else { return (tree.to_json(), false) };
    let mut schema = Map::new();
    let mut needed = false;
    let mut inner_required = Vec::new();
    for (key, value) in members {
        match (key.value.as_str(), value) {
            ("required", Tree::Constant(Value::Bool(flag), _)) => needed = *flag,
            ("about", Tree::Text(text)) => {
                schema.insert("description".to_owned(), text.value.clone().into());
            }
            ("example", example) => {
                schema.insert("examples".to_owned(), json!([example.to_json()]));
            }
            ("properties", Tree::Table(properties, _)) => {
                let inner = object_of(properties.iter().map(|(name, tree)| (name.value.as_str(), tree)));
                if let Value::Object(mut inner) = inner {
                    schema.insert("properties".to_owned(), inner.remove("properties").unwrap_or_default());
                    if let Some(Value::Array(names)) = inner.remove("required") {
                        inner_required.extend(names);
                    }
                }
            }
            ("items" | "contains" | "additionalProperties", Tree::Table(..)) => {
                schema.insert(key.value.clone(), plain(value).0);
            }
            ("compute" | "from", _) => {}
            _ => {
                schema.insert(key.value.clone(), value.to_json());
            }
        }
    }
    if !inner_required.is_empty() {
        let listed = schema.entry("required").or_insert_with(|| json!([]));
        if let Value::Array(listed) = listed {
            listed.extend(inner_required);
        }
    }
    (Value::Object(schema), needed)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::pack::schemas::FORMATS;

    #[test]
    fn every_format_is_checked() {
        for (format, text) in FORMATS {
            let schema = Schema::new(json!({ "format": format }));
            let fits = |text: &str| schema.validator().unwrap().is_valid(&crate::Value::from(text));
            assert!(fits(text), "{format}");
            assert!(!fits("{ [\\"), "{format}");
        }
    }
}
