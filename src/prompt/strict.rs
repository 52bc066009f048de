//! Strict schemas: how is a schema written in the subset that servers enforce during generation?
//!
//! In: a JSON Schema.
//! Out: a schema in which every object is closed; for OpenAI every member is also required, and an optional one may be
//! `null`.
//! Never: leaves out a constraint without a `prompt/unsaid`.
//!
//! Both vendors document their subsets. A constraint that a subset lacks is still checked when the answer is read.

use crate::diagnostic::{Code, Diagnostic};
use crate::text::Location;
use crate::value::{Object, Value, value};

/// The vendor of the subset.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Vendor {
    OpenAi,
    Anthropic,
}

/// The keywords in both subsets.
const KNOWN: &[&str] =
    &["type", "enum", "const", "anyOf", "allOf", "description", "title", "format", "pattern", "$ref", "minItems"];
/// The keywords only in OpenAI's subset.
const NUMBERS: &[&str] = &["minimum", "maximum", "exclusiveMinimum", "exclusiveMaximum", "multipleOf", "maxItems"];
/// Keywords that constrain nothing.
const SILENT: &[&str] = &["default", "examples", "$comment", "deprecated", "readOnly", "writeOnly"];
/// The deepest level of a schema that is followed.
const MAX_SCHEMA_DEPTH: usize = 32;

/// The strict form of a schema. `at` returns the place of the member with this path.
pub(super) fn strict(
    schema: &Value,
    vendor: Vendor,
    at: &dyn Fn(&[String]) -> Option<Location>,
    diagnostics: &mut Vec<Diagnostic>,
) -> Value {
    Strict { vendor, at, diagnostics, path: Vec::new() }.schema(schema)
}

struct Strict<'s> {
    vendor: Vendor,
    at: &'s dyn Fn(&[String]) -> Option<Location>,
    diagnostics: &'s mut Vec<Diagnostic>,
    path: Vec<String>,
}

impl Strict<'_> {
    fn schema(&mut self, schema: &Value) -> Value {
        let Value::Object(members) = schema else {
            if schema == &value!(false) {
                return schema.clone();
            }
            self.unsaid("any value at all");
            return schema.clone();
        };
        if self.path.len() > MAX_SCHEMA_DEPTH {
            self.unsaid("what is nested so deeply");
            return value!({});
        }
        let mut strict = Object::new();
        for (key, value) in members {
            match key {
                "properties" | "required" | "additionalProperties" => {}
                "items" => {
                    let items = self.inside("[]", value);
                    strict.insert(key, items);
                }
                // No server knows this format: its constraint on a path is checked when the answer is read.
                "format" if value.as_str() == Some("relative-path") => {}
                "$defs" => {
                    let defs = value.as_object().into_iter().flatten();
                    let defs: Object = defs.map(|(name, one)| (name, self.inside(name, one))).collect();
                    strict.insert(key, defs.into());
                }
                "anyOf" | "allOf" if self.knows(key) => {
                    let choices = value.as_array().into_iter().flatten();
                    let choices: Vec<Value> = choices.map(|choice| self.schema(choice)).collect();
                    strict.insert(key, choices.into());
                }
                // The answer must match one of the choices; that it matches only one is checked when it is read.
                "oneOf" => {
                    let choices = value.as_array().into_iter().flatten();
                    let choices: Vec<Value> = choices.map(|choice| self.schema(choice)).collect();
                    strict.insert("anyOf".to_owned(), choices.into());
                }
                silent if SILENT.contains(&silent) => {}
                known if self.knows(known) => {
                    strict.insert(key, value.clone());
                }
                other => self.unsaid(&format!("`{other}`")),
            }
        }
        if members.get("type").is_some_and(|kind| kind == "object") || members.contains_key("properties") {
            self.close(members, &mut strict);
        }
        Value::Object(strict)
    }

    /// Closes an object, and for OpenAI makes its members required.
    fn close(&mut self, members: &Object, strict: &mut Object) {
        let required: Vec<&str> =
            members.get("required").and_then(Value::as_array).into_iter().flatten().filter_map(Value::as_str).collect();
        let properties = members.get("properties").and_then(Value::as_object);
        let open = members.get("additionalProperties").is_some_and(|more| more != &value!(false));
        if open || properties.is_none_or(Object::is_empty) && !self.path.is_empty() {
            self.unsaid("members that no schema names");
        }
        let mut closed = Object::new();
        for (name, schema) in properties.into_iter().flatten() {
            let inner = self.inside(name, schema);
            let optional = self.vendor == Vendor::OpenAi && !required.contains(&name);
            closed.insert(name, if optional { or_null(inner) } else { inner });
        }
        let names: Vec<Value> = match self.vendor {
            Vendor::OpenAi => closed.keys().map(Value::from).collect(),
            Vendor::Anthropic => required.into_iter().map(Value::from).collect(),
        };
        strict.insert("properties", closed.into());
        strict.insert("required", names.into());
        strict.insert("additionalProperties", value!(false));
    }

    fn inside(&mut self, name: &str, schema: &Value) -> Value {
        self.path.push(name.to_owned());
        let inner = self.schema(schema);
        self.path.pop();
        inner
    }

    fn knows(&self, key: &str) -> bool {
        match self.vendor {
            Vendor::OpenAi => KNOWN.contains(&key) && key != "allOf" || NUMBERS.contains(&key),
            Vendor::Anthropic => KNOWN.contains(&key),
        }
    }

    fn unsaid(&mut self, what: &str) {
        let names = self.path.iter().fold(String::new(), |path, name| match name.as_str() {
            "[]" => path + "[]",
            name if path.is_empty() => name.to_owned(),
            name => format!("{path}.{name}"),
        });
        let of = if names.is_empty() { String::new() } else { format!(" of `{names}`") };
        let message = format!("a strict schema cannot say {what}{of}");
        self.diagnostics.push(
            Diagnostic::new(Code::PROMPT_UNSAID, (self.at)(&self.path), message)
                .with_help("the model may write otherwise; it is still checked when the answer is read"),
        );
    }
}

/// The schema extended to accept `null`.
fn or_null(schema: Value) -> Value {
    let Value::Object(mut members) = schema else { return schema };
    if let Some(values) = members.get_mut("enum").and_then(Value::as_array_mut)
        && !values.contains(&Value::Null)
    {
        values.push(Value::Null);
    }
    let kinds = match members.get("type") {
        Some(Value::String(kind)) if !members.contains_key("const") => value!([kind, "null"]),
        Some(Value::Array(kinds)) => {
            kinds.iter().filter(|kind| *kind != "null").cloned().chain(["null".into()]).collect()
        }
        None if members.contains_key("enum") => return Value::Object(members),
        _ => return value!({ "anyOf": [members, { "type": "null" }] }),
    };
    members.insert("type", kinds);
    Value::Object(members)
}
