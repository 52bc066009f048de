//! Derived schemas: which schemas follow from the types that read files and write JSON?
//!
//! In: those types.
//! Out: the text of each file in `schemas/`.
//! Never: is part of the command, which prints the files instead: `schemars` would make its build longer.

use crate::json::{Applied, Checked, Compared, Replay, Tested};
use indexmap::IndexMap;
use rulebook::cases::CaseHeader;
use rulebook::outcome::{Heard, Prompt};
use rulebook::prompt::Turn;
use rulebook::surface::{File, ORDER};
use rulebook::{Object, Outcome, Reply, StreamEvent, Value};
use schemars::JsonSchema;
use schemars::generate::SchemaSettings;
use serde_json::Value as Json;

/// The name and the text of each schema.
pub fn all() -> Vec<(&'static str, String)> {
    let all = [
        ("pack", "A TOML file of a Rulebook pack", read::<File>()),
        ("case", "The header of a Rulebook case", read::<CaseHeader>()),
        ("outcome", "The outcome of one response", written::<Outcome>()),
        ("heard", "The outcome of the user's words", written::<Heard>()),
        ("check", "What `rulebook check` found", written::<Checked>()),
        ("test", "What came of the cases of `rulebook test`", written::<Tested>()),
        ("apply", "What `rulebook apply` wrote", written::<Applied>()),
        ("replay", "What `rulebook replay` counted", written::<Replay>()),
        ("diff", "What `rulebook diff` says a change means", written::<Compared>()),
        ("prompt", "The messages that Rulebook writes for a model", written::<Prompt>()),
        ("reply", "What a model answered through an API, in parts", read::<Reply>()),
        ("turn", "One turn of the history that a prompt shows", written::<Turn>()),
        ("event", "An event of a stream, before the response has ended", written::<StreamEvent>()),
    ];
    all.into_iter().map(|(name, about, made)| (name, format!("{:#}\n", headed(name, about, &made)))).collect()
}

/// The schema with its version, address, title and description first, then its other keywords.
fn headed(name: &str, about: &str, made: &Value) -> Value {
    let id = format!("https://raw.githubusercontent.com/rulebook-rs/rulebook/main/schemas/{name}.schema.json");
    let mut schema = Object::new();
    schema.insert("$schema", "https://json-schema.org/draft/2020-12/schema".into());
    schema.insert("$id", id.into());
    schema.insert("title", made.get("title").cloned().unwrap_or_else(|| about.into()));
    let described = made.get("description").and_then(Value::as_str).map(|more| format!("{about}.\n\n{more}"));
    schema.insert("description", described.unwrap_or_else(|| about.to_owned()).into());
    for (key, value) in made.as_object().into_iter().flatten() {
        if !schema.contains_key(key) {
            schema.insert(key, value.clone());
        }
    }
    Value::Object(schema)
}

fn read<T: JsonSchema>() -> Value {
    in_order(&SchemaSettings::draft2020_12().into_generator().into_root_schema_for::<T>().to_value())
}

fn written<T: JsonSchema>() -> Value {
    let settings = SchemaSettings::draft2020_12().for_serialize();
    let mut schema = settings.into_generator().into_root_schema_for::<T>().to_value();
    let mut variants = variants_of(&mut schema, &T::schema_name());
    if let Some(named) = schema.get_mut("$defs").and_then(Json::as_object_mut) {
        for (of, definition) in named.iter_mut() {
            variants.extend(variants_of(definition, of));
        }
        named.extend(variants);
    }
    in_order(&schema)
}

/// The order in which the keywords of a schema are written; others follow by name, and `$defs` comes last.
const KEYWORDS: &[&str] = &[
    "$ref",
    "anyOf",
    "title",
    "type",
    "const",
    "enum",
    "format",
    "items",
    "minItems",
    "maxItems",
    "minimum",
    "maximum",
    "additionalProperties",
    "oneOf",
    "properties",
    "required",
    "description",
];

/// The schema with its keywords in a fixed order, and its properties in the order of their declaration. A map of
/// `serde_json` is sorted by name, so that order comes from `required`, or for a table of the pack language from
/// [`ORDER`].
fn in_order(root: &Json) -> Value {
    let mut ordering = Ordering { named: root.get("$defs"), done: IndexMap::new() };
    let mut schema = ordering.schema(root);
    if let Some(members) = schema.as_object_mut().filter(|_| !ordering.done.is_empty()) {
        members.insert("$defs", Value::Object(ordering.done.into_iter().collect()));
    }
    schema
}

/// Gives a type its name as the title. Each variant of a tagged type becomes a type of its own, named after the tag and
/// the type, with the members that all variants share: code generators turn these into types with readable names.
fn variants_of(schema: &mut Json, of: &str) -> Vec<(String, Json)> {
    let Some(members) = schema.as_object_mut() else { return Vec::new() };
    members.insert("title".into(), of.into());
    let Some(Json::Array(variants)) = members.get("oneOf").cloned() else { return Vec::new() };
    let tag = |variant: &Json| {
        let tags = variant.get("properties")?.as_object()?;
        tags.values().find_map(|property| property.get("const")?.as_str()).map(str::to_owned)
    };
    let Some(tags) = variants.iter().map(tag).collect::<Option<Vec<_>>>() else { return Vec::new() };
    let shared = [members.remove("properties"), members.remove("required")];
    members.remove("type");
    let mut named = Vec::new();
    for (mut variant, tag) in variants.into_iter().zip(tags) {
        let mut letters = tag.chars();
        let name: String =
            letters.next().into_iter().flat_map(char::to_uppercase).chain(letters).chain(of.chars()).collect();
        for (word, shared) in ["properties", "required"].into_iter().zip(&shared) {
            match (variant.get_mut(word), shared) {
                (Some(Json::Object(own)), Some(Json::Object(shared))) => own.extend(shared.clone()),
                (Some(Json::Array(own)), Some(Json::Array(shared))) => own.extend(shared.iter().cloned()),
                _ => {}
            }
        }
        if let Some(variant) = variant.as_object_mut() {
            variant.insert("title".into(), name.as_str().into());
        }
        named.push((name, variant));
    }
    let references = named.iter().map(|(name, _)| serde_json::json!({ "$ref": format!("#/$defs/{name}") }));
    members.insert("oneOf".into(), references.collect());
    named
}

/// A schema that is being written, and the named schemas that it has referred to so far.
struct Ordering<'s> {
    named: Option<&'s Json>,
    done: IndexMap<&'s str, Value>,
}

impl<'s> Ordering<'s> {
    fn schema(&mut self, schema: &'s Json) -> Value {
        let Json::Object(words) = schema else { return schema.into() };
        let table = words.get(ORDER).and_then(Json::as_array);
        let names = table.or_else(|| words.get("required")?.as_array()).map(Vec::as_slice).unwrap_or_default();
        let rank = |word: &str| match KEYWORDS.iter().position(|known| *known == word) {
            // The description of a table of a pack comes before the keys of the table.
            Some(_) if table.is_some() && word == "description" => 0,
            place => place.map_or(usize::MAX, |place| place + 1),
        };
        let mut sorted: Vec<_> = words.iter().filter(|(word, _)| !["$defs", ORDER].contains(&word.as_str())).collect();
        sorted.sort_by_key(|(word, _)| rank(word));
        sorted
            .into_iter()
            .map(|(word, value)| (word.as_str(), self.keyword(word, value, names)))
            .collect::<Object>()
            .into()
    }

    fn keyword(&mut self, word: &str, value: &'s Json, names: &[Json]) -> Value {
        match (word, value) {
            ("properties", Json::Object(properties)) => {
                let place = |name: &str| names.iter().position(|one| one == name).unwrap_or(names.len());
                let mut sorted: Vec<_> = properties.iter().collect();
                sorted.sort_by_key(|(name, _)| place(name));
                sorted.into_iter().map(|(name, one)| (name.as_str(), self.schema(one))).collect::<Object>().into()
            }
            ("anyOf" | "oneOf" | "allOf", Json::Array(schemas)) => schemas.iter().map(|one| self.schema(one)).collect(),
            ("items" | "additionalProperties", schema) => self.schema(schema),
            ("$ref", Json::String(place)) => {
                self.define(place);
                value.into()
            }
            _ => value.into(),
        }
    }

    /// Writes a named schema when the first reference to it is written.
    fn define(&mut self, place: &'s str) {
        let Some(name) = place.strip_prefix("#/$defs/").filter(|name| !self.done.contains_key(name)) else { return };
        let Some(schema) = self.named.and_then(|named| named.get(name)) else { return };
        self.done.insert(name, Value::Null);
        let schema = self.schema(schema);
        self.done.insert(name, schema);
    }
}
