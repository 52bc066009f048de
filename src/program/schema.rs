//! Schemas, compiled: which values may a payload contain?
//!
//! In: the `params` of an action, as the pack writes them.
//! Out: [`Schema`]: plain JSON Schema, and a validator that is compiled on first use.
//! Never: fetches a `$ref`, or changes a value.

use super::subschema::PartSchema;
use super::{Types, plain};
use crate::diagnostic::KnownNames;
use crate::surface::{Named, Tree};
use crate::text::excerpt;
use crate::value::{Object, SchemaFault, Validator, Value, validator, value};
use std::collections::BTreeSet;
use std::sync::{Arc, OnceLock};

/// The JSON Schema of a value or payload.
#[derive(Debug)]
pub(crate) struct Schema {
    json: Value,
    /// The schema with other spellings of names and words, which only readers use. None if there are no other
    /// spellings.
    spelled: Option<Value>,
    /// The parameters whose text is used as written.
    verbatim: BTreeSet<String>,
    /// The paths of the values that effects take as keys of files: they are paths below the root, too.
    keys: Arc<[Vec<String>]>,
    types: OnceLock<Types>,
    /// The names of the members, for findings about other names; collected for the first of these.
    names: OnceLock<KnownNames>,
    part: OnceLock<Box<PartSchema>>,
    validator: OnceLock<Result<Validator, String>>,
}

impl Schema {
    /// The schema of an object with these members. At every depth, members may have `required = true`, `about` for
    /// `description`, `example` for `examples` with one entry, and `names`; those at the top may also have `verbatim =
    /// true`.
    pub(super) fn of_params(params: &Named<Tree>) -> Self {
        let members = params.iter().map(|(name, tree)| (name.as_str(), &tree.value));
        let is_verbatim = |tree: &Tree| matches!(tree.get("verbatim"), Some(Tree::Constant(Value::Bool(true), _)));
        let verbatim = members.clone().filter(|(_, tree)| is_verbatim(tree)).map(|(name, _)| name.to_owned()).collect();
        let spelled = members.clone().any(|(_, tree)| has_spellings(tree));
        let spelled = spelled.then(|| object_of(members.clone(), true));
        Self { verbatim, spelled, ..Self::new(object_of(members, false)) }
    }

    /// The schema of one value.
    pub(crate) fn of_value(tree: &Tree) -> Self {
        Self::of_member(tree).0
    }

    /// The schema of a member, and whether the member is required.
    pub(crate) fn of_member(tree: &Tree) -> (Self, bool) {
        let (schema, required) = plain(tree, false);
        let spelled = has_spellings(tree).then(|| plain(tree, true).0);
        (Self { spelled, ..Self::new(schema) }, required)
    }

    /// The schema of one of its properties.
    pub(crate) fn of_property(&self, name: &str) -> Self {
        Self::new(self.property(name).cloned().unwrap_or_default())
    }

    /// The JSON Schema of one of its properties, if the property is declared.
    pub(crate) fn property(&self, name: &str) -> Option<&Value> {
        self.json.get("properties")?.get(name)
    }

    pub(crate) fn new(json: Value) -> Self {
        Self {
            json,
            spelled: None,
            verbatim: BTreeSet::new(),
            keys: Arc::default(),
            types: OnceLock::new(),
            names: OnceLock::new(),
            part: OnceLock::new(),
            validator: OnceLock::new(),
        }
    }

    /// A copy of the schema that is not compiled yet.
    pub(crate) fn again(&self) -> Self {
        let (spelled, verbatim, keys) = (self.spelled.clone(), self.verbatim.clone(), self.keys());
        Self { spelled, verbatim, keys, ..Self::new(self.json.clone()) }
    }

    /// The same schema for values of which effects take the parts at these paths as keys of files.
    pub(crate) fn with_keys(self, keys: Arc<[Vec<String>]>) -> Self {
        Self { keys, types: OnceLock::new(), ..self }
    }

    /// The paths of the values that effects take as keys of files.
    pub(crate) fn keys(&self) -> Arc<[Vec<String>]> {
        Arc::clone(&self.keys)
    }

    /// The JSON Schema.
    pub(crate) fn json(&self) -> &Value {
        &self.json
    }

    /// The JSON Schema with two more keywords: `names` for other spellings of a member's name, and `spelled` for other
    /// spellings of the values of an `enum`.
    pub(crate) fn with_spellings(&self) -> &Value {
        self.spelled.as_ref().unwrap_or(&self.json)
    }

    /// Whether the text of this parameter is used as written.
    pub(crate) fn is_verbatim(&self, param: &str) -> bool {
        self.verbatim.contains(param)
    }

    /// The types that the schema declares.
    pub(crate) fn types(&self) -> &Types {
        self.types.get_or_init(|| {
            let types = Types::of_params(self.with_spellings(), &self.verbatim);
            self.keys.iter().fold(types, |types, key| types.with_path_at(key))
        })
    }

    /// The names of the declared members, to be compared with one that is not declared.
    pub(crate) fn names(&self) -> &KnownNames {
        self.names.get_or_init(|| Arc::new(self.types().members().map(|(name, _)| Arc::clone(name)).collect()))
    }

    /// The default for the part at the end of a path, or else for the nearest part around it that has one. Returns the
    /// path to the part with the default, and the default.
    pub(crate) fn default_at<'w>(&self, pointer: &'w [String]) -> Option<(&'w [String], &Value)> {
        let (mut schema, mut found) = (Some(&self.json), None);
        for (index, step) in pointer.iter().enumerate() {
            schema = schema.and_then(|schema| self.part_of(schema, step));
            let default = schema.and_then(|schema| schema.get("default"));
            found = default.and_then(|default| Some((pointer.get(..=index)?, default))).or(found);
        }
        found
    }

    /// The schema of a member or an entry of a value that `schema` describes.
    fn part_of<'s>(&'s self, schema: &'s Value, step: &str) -> Option<&'s Value> {
        let target = schema.get("$ref").and_then(Value::as_str).and_then(|target| target.strip_prefix('#'));
        let schema = target.map_or(Some(schema), |target| self.json.pointer(target))?;
        schema.get("properties").and_then(|properties| properties.get(step)).or_else(|| schema.get("items"))
    }

    /// The schemas of the parts that can be validated on their own.
    pub(crate) fn part(&self) -> &PartSchema {
        self.part.get_or_init(|| Box::new(PartSchema::of(&self.json)))
    }

    /// Whether the schema allows `null`.
    pub(crate) fn takes_null(&self) -> bool {
        self.validator().is_ok_and(|validator| validator.is_valid(&crate::Value::Null))
    }

    /// Whether the schema restricts no text, so that every text is valid.
    pub(crate) fn takes_every_text(&self) -> bool {
        self.json.as_object().is_some_and(|members| members.iter().all(|(key, _)| OF_OBJECTS.contains(&key)))
    }

    /// Why the schema cannot be compiled. A schema that obviously can be is not compiled for this.
    pub(super) fn fault(&self) -> Option<&String> {
        if plain::compiles(&self.json) { None } else { self.validator().err() }
    }

    /// The first fault of a value; none if the schema cannot be compiled.
    pub(super) fn first_fault<'v>(&'v self, value: &'v Value) -> Option<SchemaFault<'v>> {
        if plain::accepts(&self.json, value) { None } else { self.validator().ok()?.faults(value).next() }
    }

    /// The validator, or the reason why the schema cannot be compiled.
    pub(crate) fn validator(&self) -> Result<&Validator, &String> {
        self.validator.get_or_init(|| validator(&self.json)).as_ref()
    }
}

/// Keywords that restrict objects alone, or no values at all.
const OF_OBJECTS: &[&str] =
    &["properties", "required", "additionalProperties", "patternProperties", "title", "description", "examples"];

/// The properties that a schema declares.
pub(crate) fn properties(schema: &Value) -> impl Iterator<Item = (&str, &Value)> {
    schema.get("properties").and_then(Value::as_object).into_iter().flatten()
}

/// Whether a schema requires a property.
pub(crate) fn requires(schema: &Value, name: &str) -> bool {
    schema.get("required").and_then(Value::as_array).is_some_and(|names| names.iter().any(|one| one == name))
}

/// Describes what is wrong with a value, or with a part of it; `name` is the name of the value.
pub(crate) fn misfit_at(name: &str, fault: &SchemaFault<'_>) -> String {
    let path = std::iter::once(name).chain(fault.pointer.iter().map(String::as_str)).collect::<Vec<_>>().join(".");
    match path.trim_start_matches('.') {
        "" => fault.to_string(),
        place => format!("`{}`: {fault}", excerpt(place, 120)),
    }
}

/// Whether a schema of a pack contains other spellings of a name or a word anywhere.
fn has_spellings(tree: &Tree) -> bool {
    match tree {
        Tree::Table(members, _) => members.iter().any(|(key, value)| match (key.value.as_str(), value) {
            ("names", _) => true,
            ("enum", Tree::List(values, _)) => values.iter().any(|value| value.spelled_value().is_some()),
            ("default" | "example" | "examples" | "const", _) => false,
            (_, value) => has_spellings(value),
        }),
        Tree::List(items, _) => items.iter().any(has_spellings),
        Tree::Text(_) | Tree::Constant(..) => false,
    }
}

/// The schema of an object whose members are written as in a pack; `spelled` is whether to include other spellings.
fn object_of<'t>(members: impl Iterator<Item = (&'t str, &'t Tree)>, spelled: bool) -> Value {
    let mut properties = Object::new();
    let mut required = Vec::new();
    for (name, tree) in members {
        let (schema, needed) = plain(tree, spelled);
        if needed {
            required.push(Value::from(name));
        }
        properties.insert(name, schema);
    }
    value!({ "type": "object", "properties": properties, "required": required })
}

/// A schema as plain JSON Schema, and whether the pack requires the value; `spelled` is whether to include other
/// spellings.
fn plain(tree: &Tree, spelled: bool) -> (Value, bool) {
    let Tree::Table(members, _) = tree else { return (tree.to_json(), false) };
    let mut schema = Object::new();
    let mut needed = false;
    let mut inner_required = Vec::new();
    for (key, value) in members {
        match (key.value.as_str(), value) {
            ("required", Tree::Constant(Value::Bool(flag), _)) => needed = *flag,
            ("about", Tree::Text(text)) => {
                schema.insert("description", text.value.as_str().into());
            }
            ("example", example) => {
                schema.insert("examples", value!([example.to_json()]));
            }
            ("properties", Tree::Table(properties, _)) => {
                let properties = properties.iter().map(|(name, tree)| (name.value.as_str(), tree));
                let inner = object_of(properties, spelled);
                if let Value::Object(mut inner) = inner {
                    schema.insert("properties", inner.remove("properties").unwrap_or_default());
                    if let Some(Value::Array(names)) = inner.remove("required") {
                        inner_required.extend(names.iter().cloned());
                    }
                }
            }
            ("items" | "contains" | "additionalProperties" | "not" | "if" | "then" | "else", Tree::Table(..)) => {
                schema.insert(key.value.as_str(), plain(value, spelled).0);
            }
            ("anyOf" | "oneOf" | "allOf" | "prefixItems", Tree::List(schemas, _)) => {
                let schemas: Vec<Value> = schemas.iter().map(|one| plain(one, spelled).0).collect();
                schema.insert(key.value.as_str(), schemas.into());
            }
            ("patternProperties" | "$defs" | "definitions" | "dependentSchemas", Tree::Table(schemas, _)) => {
                let schemas = schemas.iter().map(|(name, one)| (name.value.as_str(), plain(one, spelled).0));
                schema.insert(key.value.as_str(), Value::Object(schemas.collect()));
            }
            ("enum", Tree::List(values, _)) => {
                let value = |value: &Tree| value.spelled_value().unwrap_or(value).to_json();
                schema.insert("enum", values.iter().map(value).collect());
                if spelled {
                    let pair = |entry: &Tree, name: &str| value!([name, (value(entry))]);
                    let others = values.iter().filter(|entry| entry.spelled_value().is_some());
                    let others = others.flat_map(|entry| entry.names().map(|name| pair(entry, &name.value)));
                    schema.insert("spelled", others.collect());
                }
            }
            ("names", _) if !spelled => {}
            ("compute" | "from" | "verbatim", _) => {}
            _ => {
                schema.insert(key.value.as_str(), value.to_json());
            }
        }
    }
    if !inner_required.is_empty() {
        let listed = schema.entry("required");
        if listed.is_null() {
            *listed = value!([]);
        }
        if let Some(listed) = listed.as_array_mut() {
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
            let schema = Schema::new(value!({ "format": format }));
            let is_valid = |text: &str| schema.validator().unwrap().is_valid(&crate::Value::from(text));
            assert!(is_valid(text), "{format}");
            assert!(!is_valid("{ [\\"), "{format}");
        }
    }
}
