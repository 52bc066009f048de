//! Schemas of tools: how does a pack declare the parameters of a tool?
//!
//! In: the JSON Schema of a tool, as an API accepts it.
//! Out: the table `params` of an action, and the parts of the schema that a pack cannot express, each with its path.
//! Never: drops a part without reporting it, except for keywords that do not restrict a value.

use rulebook::pack::{is_format, is_keyword};
use rulebook::{Object, Value};
use toml_edit::{Array, InlineTable};

/// The most references that are followed in a chain. A schema may refer to itself.
const MAX_REFERENCES: usize = 3;

/// Keywords that are dropped without a report: they do not restrict a value, or `params` implies them.
const SILENT: [&str; 9] = [
    "$defs",
    "definitions",
    "$schema",
    "$id",
    "title",
    "strict",
    "nullable",
    "propertyOrdering",
    "additionalProperties",
];

/// Formats of OpenAPI that name the representation of a value in a program, and do not restrict its text.
const OPEN_API: [&str; 7] = ["int32", "int64", "float", "double", "byte", "binary", "password"];

/// The parameters of a tool, as a pack writes them.
#[derive(Debug, Default)]
pub(super) struct Params {
    pub(super) table: InlineTable,
    /// The parts that a pack cannot express: each a keyword, after the path to its schema.
    pub(super) left_out: Vec<String>,
}

/// The parameters that a schema declares; `None` if it declares none.
pub(super) fn params(schema: &Value) -> Option<Params> {
    let mut writer = Writer { root: schema, left_out: Vec::new() };
    let top = writer.resolved(schema.as_object()?, "", 0)?;
    let table = writer.members(&top, "", 0);
    let read = ["type", "properties", "required", "description"];
    for (key, _) in top.iter().filter(|(key, _)| !read.contains(key) && !SILENT.contains(key)) {
        writer.left_out.push(key.to_owned());
    }
    (!table.is_empty() || !writer.left_out.is_empty()).then_some(Params { table, left_out: writer.left_out })
}

struct Writer<'s> {
    root: &'s Value,
    left_out: Vec<String>,
}

impl Writer<'_> {
    fn leave_out(&mut self, path: &str, key: &str) {
        self.left_out.push(if path.is_empty() { key.to_owned() } else { format!("{path}.{key}") });
    }

    /// A schema in which a reference is replaced by its target; `None` if there is no target.
    fn resolved(&mut self, schema: &Object, path: &str, depth: usize) -> Option<Object> {
        let Some(reference) = schema.get("$ref") else { return Some(schema.clone()) };
        let target = reference.as_str().and_then(|one| one.strip_prefix('#'));
        // A fragment without a slash is a name, not a pointer.
        let target = target.filter(|pointer| pointer.is_empty() || pointer.starts_with('/'));
        let target = target.and_then(|pointer| self.root.pointer(pointer));
        let Some(target) = target.and_then(Value::as_object).filter(|_| depth < MAX_REFERENCES) else {
            self.leave_out(path, "$ref");
            return None;
        };
        let mut whole = self.resolved(target, path, depth + 1)?;
        for (key, value) in schema.iter().filter(|(key, _)| *key != "$ref") {
            whole.insert(key, value.clone());
        }
        Some(whole)
    }

    /// The members in the `properties` of a schema. In a pack, each member has its own `required`.
    fn members(&mut self, schema: &Object, path: &str, depth: usize) -> InlineTable {
        let described = schema.get("properties").and_then(Value::as_object).into_iter().flat_map(Object::iter);
        let required: Vec<&str> =
            schema.get("required").and_then(Value::as_array).into_iter().flatten().filter_map(Value::as_str).collect();
        let mut table = InlineTable::new();
        for (name, member) in described {
            let path = if path.is_empty() { name.to_owned() } else { format!("{path}.{name}") };
            let mut member = match member.as_object() {
                Some(member) => self.schema(member, &path, depth),
                // `true` permits any value.
                None => InlineTable::new(),
            };
            if required.contains(&name) {
                member.insert("required", true.into());
            }
            table.insert(name, member.into());
        }
        // A required member without a schema may have any value.
        for name in required {
            if !table.contains_key(name) {
                table.insert(name, InlineTable::from_iter([("required", toml_edit::Value::from(true))]).into());
            }
        }
        table
    }

    fn schema(&mut self, schema: &Object, path: &str, depth: usize) -> InlineTable {
        let mut table = InlineTable::new();
        let is_reference = schema.get("$ref").is_some();
        let Some(schema) = self.resolved(schema, path, depth) else { return table };
        // Counted per reference, because the target may refer back to this schema.
        let depth = depth + usize::from(is_reference);
        let mut or_null = schema.get("nullable").and_then(Value::as_bool) == Some(true);
        for (key, value) in schema.iter() {
            match (key, value) {
                // TOML has no null. A default or example with one is dropped: it does not restrict a value.
                ("default" | "example", _) if holds_null(value) => {}
                ("examples", Value::Array(items)) => {
                    let whole: Array = items.iter().filter(|one| !holds_null(one)).filter_map(plain).collect();
                    table.insert(key, whole.into());
                }
                ("const", Value::Null) => _ = table.insert("type", "null".into()),
                ("enum", Value::Array(items)) => {
                    or_null |= items.iter().any(Value::is_null);
                    let others: Array = items.iter().filter_map(plain).collect();
                    match others.is_empty() {
                        true => _ = table.insert("type", "null".into()),
                        false => _ = table.insert(key, others.into()),
                    }
                }
                ("type", Value::String(word)) => _ = table.insert(key, word.to_lowercase().into()),
                ("type", Value::Array(words)) => {
                    let words = words.iter().filter_map(Value::as_str).map(str::to_lowercase);
                    table.insert(key, words.collect::<Array>().into());
                }
                ("format", Value::String(format)) if !is_format(format) => {
                    if !OPEN_API.contains(&&**format) {
                        self.leave_out(path, &format!("format = {format:?}"));
                    }
                }
                ("additionalProperties", Value::Bool(_)) => _ = table.insert(key, (value == &Value::Bool(true)).into()),
                (key, _) if SILENT.contains(&key) && key != "additionalProperties" => {}
                (key, _) if key.starts_with("x-") => {}
                (key, _) if !is_keyword(key) => self.leave_out(path, key),
                ("properties", Value::Object(_)) => {
                    let members = self.members(&schema, path, depth);
                    table.insert(key, members.into());
                }
                ("required", Value::Array(_)) if schema.get("properties").is_some() => {}
                (_, Value::Object(members)) if matches!(key, "patternProperties" | "dependentSchemas") => {
                    let inner = members.iter().map(|(name, member)| {
                        let path = format!("{path}.{name}");
                        (name.to_owned(), self.part(member, &path, depth))
                    });
                    table.insert(key, inner.collect::<InlineTable>().into());
                }
                (_, Value::Array(items)) if matches!(key, "anyOf" | "oneOf" | "allOf" | "prefixItems") => {
                    let inner = items.iter().map(|one| self.part(one, path, depth));
                    table.insert(key, inner.collect::<Array>().into());
                }
                (
                    "items" | "contains" | "additionalProperties" | "propertyNames" | "not" | "if" | "then" | "else",
                    _,
                ) => {
                    let inner = self.part(value, &format!("{path}[]"), depth);
                    table.insert(key, inner);
                }
                (key, value) => match plain(value) {
                    Some(value) => _ = table.insert(key, value),
                    None => self.leave_out(path, key),
                },
            }
        }
        if or_null && table.get("type").and_then(|kind| kind.as_str()) != Some("null") {
            nullable(table)
        } else {
            table
        }
    }

    /// A subschema, which may be `true` or `false`.
    fn part(&mut self, schema: &Value, path: &str, depth: usize) -> toml_edit::Value {
        match schema {
            Value::Bool(truth) => (*truth).into(),
            Value::Object(schema) => self.schema(schema, path, depth).into(),
            _ => InlineTable::new().into(),
        }
    }
}

/// A schema that also permits null. The keywords for readers move to the outer schema.
fn nullable(mut schema: InlineTable) -> InlineTable {
    let mut outer = InlineTable::new();
    for key in ["description", "default", "example", "examples"] {
        if let Some(value) = schema.remove(key) {
            outer.insert(key, value);
        }
    }
    // `null` in the list of types is redundant now: the outer schema permits it.
    if let Some(kinds) = schema.get_mut("type").and_then(toml_edit::Value::as_array_mut) {
        kinds.retain(|kind| kind.as_str() != Some("null"));
    }
    let null = InlineTable::from_iter([("type", toml_edit::Value::from("null"))]);
    outer.insert("anyOf", Array::from_iter([schema, null]).into());
    outer
}

fn holds_null(value: &Value) -> bool {
    match value {
        Value::Null => true,
        Value::Array(items) => items.iter().any(holds_null),
        Value::Object(members) => members.iter().any(|(_, member)| holds_null(member)),
        _ => false,
    }
}

/// A value as TOML; `None` if it contains null.
fn plain(value: &Value) -> Option<toml_edit::Value> {
    Some(match value {
        Value::Null => return None,
        Value::Bool(truth) => (*truth).into(),
        Value::Number(number) => match number.as_i64() {
            Some(whole) => whole.into(),
            None => number.as_f64().into(),
        },
        Value::String(text) => (&**text).into(),
        Value::Array(items) => items.iter().map(plain).collect::<Option<Array>>()?.into(),
        Value::Object(members) => {
            let members = members.iter().map(|(name, value)| Some((name.to_owned(), plain(value)?)));
            members.collect::<Option<InlineTable>>()?.into()
        }
    })
}
