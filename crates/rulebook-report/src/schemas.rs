//! Schemas: which structure do pack files, case headers and the contracts have?
//!
//! In: the types that read the files and make the JSON.
//! Out: a JSON Schema (draft 2020-12) for each, for editors and hosts.
//! Never: describes a structure that no type has.

use crate::json::{Applied, Checked, Compared, Replay, Tested};
use rulebook::cases::CaseHeader;
use rulebook::outcome::{Heard, Outcome, Prompt};
use rulebook::surface::File;
use schemars::JsonSchema;
use schemars::generate::SchemaSettings;
use serde_json::Value;

/// Something with a schema.
#[derive(Debug, Clone, Copy)]
pub struct Described {
    /// Its name; the schema is in `schemas/NAME.schema.json`.
    pub name: &'static str,
    /// What it is, in a few words.
    pub about: &'static str,
    make: fn() -> Value,
}

/// Everything that has a schema.
pub const ALL: &[Described] = &[
    Described { name: "pack", about: "A TOML file of a Rulebook pack", make: read::<File> },
    Described { name: "case", about: "The header of a Rulebook case", make: read::<CaseHeader> },
    Described { name: "outcome", about: "What Rulebook makes of one response", make: written::<Outcome> },
    Described { name: "heard", about: "What Rulebook makes of the user's words", make: written::<Heard> },
    Described { name: "check", about: "What `rulebook check` found", make: written::<Checked> },
    Described { name: "test", about: "What came of the cases of `rulebook test`", make: written::<Tested> },
    Described { name: "apply", about: "What `rulebook apply` wrote", make: written::<Applied> },
    Described { name: "replay", about: "What `rulebook replay` counted", make: written::<Replay> },
    Described { name: "diff", about: "What `rulebook diff` says a change means", make: written::<Compared> },
    Described { name: "prompt", about: "The messages that Rulebook writes for a model", make: written::<Prompt> },
];

impl Described {
    /// The schema.
    pub fn schema(&self) -> Value {
        let made = (self.make)();
        let id =
            format!("https://raw.githubusercontent.com/rulebook-rs/rulebook/main/schemas/{}.schema.json", self.name);
        // Who and what comes first, then the shape.
        let mut schema = serde_json::Map::new();
        schema.insert("$schema".into(), "https://json-schema.org/draft/2020-12/schema".into());
        schema.insert("$id".into(), id.into());
        schema.insert("title".into(), made.get("title").cloned().unwrap_or_else(|| self.about.into()));
        schema.insert("description".into(), self.about.into());
        for (key, value) in made.as_object().into_iter().flatten() {
            if !schema.contains_key(key) {
                schema.insert(key.clone(), value.clone());
            }
        }
        Value::Object(schema)
    }

    /// The text of the schema's file.
    pub fn text(&self) -> String {
        format!("{:#}\n", self.schema())
    }
}

fn read<T: JsonSchema>() -> Value {
    SchemaSettings::draft2020_12().into_generator().into_root_schema_for::<T>().to_value()
}

fn written<T: JsonSchema>() -> Value {
    let settings = SchemaSettings::draft2020_12().for_serialize();
    let mut schema = settings.into_generator().into_root_schema_for::<T>().to_value();
    name(&mut schema, &T::schema_name());
    for (of, definition) in schema.get_mut("$defs").and_then(Value::as_object_mut).into_iter().flatten() {
        name(definition, of);
    }
    schema
}

/// Gives a type its name as the title, and each variant of a tagged one its tag before it: generators of code name the
/// types that they make by these.
fn name(schema: &mut Value, of: &str) {
    let Some(members) = schema.as_object_mut() else { return };
    for variant in members.get_mut("oneOf").and_then(Value::as_array_mut).into_iter().flatten() {
        let Some(variant) = variant.as_object_mut() else { continue };
        let tags = variant.get("properties").and_then(Value::as_object).into_iter().flatten();
        let tag = tags.into_iter().find_map(|(_, property)| property.get("const")?.as_str());
        if let Some(tag) = tag {
            let mut letters = tag.chars();
            let tag: String = letters.next().into_iter().flat_map(char::to_uppercase).chain(letters).collect();
            variant.insert("title".into(), format!("{tag}{of}").into());
        }
    }
    members.insert("title".into(), of.into());
}
