//! Fields: how are the parameters of a call written as fields?
//!
//! In: an object, and the grammar of the fields.
//! Out: the fields, so that the grammar reads them as these parameters.
//! Never: decides how a text is encoded: the block of the call does.

use crate::grammar::{RuleId, SpelledCapture};
use crate::program::{Family, FieldName};
use crate::value::Value;

/// The name of the fields that are the entries of a list.
const ITEM: &str = "item";

/// How the fields of a call are written.
#[derive(Clone, Copy)]
pub(super) struct FieldSpelling<'p> {
    pub(super) family: &'p Family,
    pub(super) named: Option<&'p FieldName>,
    /// Whether each field is on its own line without indentation, and a value other than a text is JSON on one line.
    pub(super) flat: bool,
    /// Whether a value is on lines of its own.
    pub(super) apart: bool,
}

impl FieldSpelling<'_> {
    /// The members of an object, or the entries of a list, as fields. `write` writes the text of a field.
    pub(super) fn members(self, value: &Value, write: &dyn Fn(&str, &str) -> String, depth: usize) -> String {
        let field = |(name, value): (&str, &Value)| self.field(name, value, write, depth);
        let fields: Vec<String> = match value {
            Value::Object(members) => members.iter().filter_map(field).collect(),
            Value::Array(items) => items.iter().filter_map(|item| field((ITEM, item))).collect(),
            _ => Vec::new(),
        };
        fields.join("\n")
    }

    fn field(self, name: &str, value: &Value, write: &dyn Fn(&str, &str) -> String, depth: usize) -> Option<String> {
        let Self { family, named, flat, apart } = self;
        let indent = if flat { String::new() } else { "  ".repeat(depth) };
        let body = match value {
            Value::String(text) => write(name, text),
            other if flat => write(name, &other.on_one_line()),
            // A list in an undeclared field is read from several fields with the same name.
            Value::Object(_) | Value::Array(_) if is_nested(value, depth) => {
                let write = |_: &str, text: &str| write(name, text);
                format!("\n{}\n{indent}", self.members(value, &write, depth + 1))
            }
            other => write(name, &other.to_string()),
        };
        let word = named.map_or(name, |named| &named.tag);
        let attributes: Vec<(&str, &str)> = named.iter().map(|named| (named.attribute.as_str(), name)).collect();
        // Some openers declare how the value is written.
        let form = if value.as_str().is_some() { family.text } else { family.json };
        let open = family.spell_opener(word, &attributes, form, "")?;
        let close = closer(family, family.close?, word)?;
        // A closer may be the line break itself.
        let close = close.strip_suffix('\n').unwrap_or(&close);
        let gap = if apart { "\n" } else { "" };
        Some(format!("{indent}{open}{gap}{body}{gap}{close}"))
    }
}

/// Whether a value is written as nested fields. A list of parameters, or a list with one entry, is written as JSON.
fn is_nested(value: &Value, depth: usize) -> bool {
    match value {
        Value::Object(members) => !members.is_empty(),
        Value::Array(items) => depth > 1 && items.len() > 1,
        _ => false,
    }
}

/// The text of a closer. In some grammars, closers have no name.
pub(super) fn closer(family: &Family, close: RuleId, name: &str) -> Option<String> {
    let spelled = |parts: &[SpelledCapture<'_>]| family.grammar.spell(close, parts, &["", "\n"]);
    spelled(&[SpelledCapture::Text(family.name, name)]).or_else(|| spelled(&[]))
}
