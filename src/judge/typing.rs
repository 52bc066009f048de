//! Typing: what do fields or JSON say once the schema gives them their types?
//!
//! In: a payload as it was read, and the JSON Schema of its action.
//! Out: parameters, the keys that the schema does not declare, and the fields that stand twice.
//! Never: decides whether the parameters are valid: a field that does not fit its type stays text.

use crate::document::Mask;
use crate::document::decode_entities;
use crate::document::payload::{Fields, read_fields, read_strictly};
use crate::program::{Dialect, Limits};
use crate::text::Span;
use crate::value::{Object, Value};
use serde_json::Value as Schema;
use std::borrow::Cow;
use std::cell::Cell;
use std::collections::HashMap;
use std::sync::Arc;

/// What typing needs to know of the response.
#[derive(Clone, Copy)]
pub(super) struct Source<'t> {
    pub(super) text: &'t str,
    pub(super) masks: &'t [Mask],
    pub(super) dialect: &'t Dialect,
    pub(super) family: usize,
    pub(super) entities: bool,
    pub(super) limits: &'t Limits,
    /// How many values the payloads may still hold.
    pub(super) values: &'t Cell<usize>,
}

/// Parameters with what is worth saying about them.
#[derive(Debug, Default)]
pub(super) struct Typed {
    pub(super) params: Object,
    /// Fields of one value that stand several times.
    pub(super) repeated: Vec<(String, Span)>,
}

/// The fields of one name.
struct Group<'g> {
    name: &'g str,
    schema: &'g Schema,
    first: Span,
    /// The bodies of all of them, the first included, if there are several.
    further: Vec<Span>,
    /// The last of them as a whole.
    last: Span,
}

impl<'t> Source<'t> {
    fn decoded(&self, span: Span) -> Cow<'t, str> {
        let raw = span.of(self.text);
        if self.entities { decode_entities(raw) } else { Cow::Borrowed(raw) }
    }

    /// Whether the payloads may hold one more value.
    fn takes(&self) -> bool {
        let left = self.values.get();
        self.values.set(left.saturating_sub(1));
        left > 0
    }

    /// The JSON value in a text that starts with `first`.
    fn json_of(&self, text: &str, first: char) -> Option<Value> {
        if !text.starts_with(first) {
            return None;
        }
        let before = self.values.get();
        let read = read_strictly(text, self.limits, self.values);
        if read.is_err() && self.values.get() > 0 {
            self.values.set(before);
        }
        Some(read.ok()?.value)
    }

    fn fields_in(&self, span: Span) -> Fields {
        read_fields(self.text, span, self.masks, self.dialect, self.family, self.limits)
    }

    /// The members that the fields give, typed by the schema's properties.
    pub(super) fn members(&self, fields: &Fields, schema: &Schema, depth: usize) -> Typed {
        let properties = schema.get("properties").and_then(Schema::as_object);
        let mut typed = Typed::default();
        let mut groups: Vec<Group<'_>> = Vec::with_capacity(fields.list.len());
        for field in &fields.list {
            let raw = field.name.of(self.text);
            let declared = properties.and_then(|properties| {
                properties
                    .get_key_value(raw)
                    .or_else(|| properties.iter().find(|(name, _)| self.dialect.names.same(name, raw)))
            });
            let name = declared.map_or(raw, |(name, _)| name.as_str());
            match groups.iter_mut().find(|group| group.name == name) {
                Some(group) => {
                    if group.further.is_empty() {
                        group.further.push(group.first);
                    }
                    group.further.push(field.body);
                    group.last = field.span;
                }
                None => {
                    let schema = declared.map_or(&Schema::Null, |(_, schema)| schema);
                    groups.push(Group { name, schema, first: field.body, further: Vec::new(), last: field.span });
                }
            }
        }
        for group in groups {
            let bodies = if group.further.is_empty() { std::slice::from_ref(&group.first) } else { &group.further };
            if bodies.len() > 1 && kind(group.schema) != "array" {
                typed.repeated.push((group.name.to_owned(), group.last));
            }
            typed.params.insert(group.name.to_owned(), self.value(bodies, group.schema, depth));
        }
        typed
    }

    /// The value of a field that stands once for each body.
    fn value(&self, bodies: &[Span], schema: &Schema, depth: usize) -> Value {
        let Some(last) = bodies.last().copied().filter(|_| self.takes()) else { return Value::Null };
        let text = || self.decoded(last);
        match kind(schema) {
            "array" => self.items(bodies, schema, depth),
            "object" => {
                let text = text();
                if let Some(object @ Value::Object(_)) = self.json_of(&text, '{') {
                    return object;
                }
                let fields = self.fields_in(last);
                if fields.list.is_empty() || depth == 0 {
                    return text.into();
                }
                Value::Object(self.members(&fields, schema, depth - 1).params)
            }
            "integer" | "number" => number_of(&text()).unwrap_or_else(|| text().into()),
            "boolean" => match &*text() {
                "true" => Value::Bool(true),
                "false" => Value::Bool(false),
                other => other.into(),
            },
            // Inside an object without declared members, what looks like fields is fields.
            "" if schema.is_null() => {
                let fields = self.fields_in(last);
                if fields.list.is_empty() || depth == 0 {
                    return text().into();
                }
                Value::Object(self.members(&fields, schema, depth - 1).params)
            }
            _ => text().into(),
        }
    }

    /// A list is a JSON array, fields inside one field, words between commas, or the same field several times.
    fn items(&self, bodies: &[Span], schema: &Schema, depth: usize) -> Value {
        let item = schema.get("items").unwrap_or(&Schema::Null);
        if let [only] = bodies {
            let text = self.decoded(*only);
            if let Some(items @ Value::Array(_)) = self.json_of(&text, '[') {
                return items;
            }
            let fields = self.fields_in(*only);
            if !fields.list.is_empty() && depth > 0 {
                return fields.list.iter().map(|field| self.value(&[field.body], item, depth - 1)).collect();
            }
            let words = text.split(',').map(str::trim).filter(|word| !word.is_empty());
            return words.take_while(|_| self.takes()).map(|word| scalar(word, item)).collect();
        }
        bodies.iter().map(|body| self.value(&[*body], item, depth.saturating_sub(1))).collect()
    }
}

/// The type that a schema asks for; the first of several, and nothing where it says nothing.
fn kind(schema: &Schema) -> &str {
    match schema.get("type") {
        Some(Schema::String(kind)) => kind,
        Some(Schema::Array(kinds)) => kinds.first().and_then(Schema::as_str).unwrap_or_default(),
        _ if schema.get("properties").is_some() => "object",
        _ => "",
    }
}

/// A word as its schema types it.
fn scalar(word: &str, schema: &Schema) -> Value {
    match kind(schema) {
        "integer" | "number" => number_of(word).unwrap_or_else(|| word.into()),
        "boolean" if word == "true" => true.into(),
        "boolean" if word == "false" => false.into(),
        _ => word.into(),
    }
}

fn number_of(text: &str) -> Option<Value> {
    serde_json::from_str(text.trim()).ok().map(Value::Number)
}

/// The way from a payload to one of its members.
#[derive(Clone, Copy)]
struct Way<'w> {
    step: &'w dyn std::fmt::Display,
    before: Option<&'w Way<'w>>,
}

impl Way<'_> {
    fn path(&self) -> Vec<String> {
        let mut path = self.before.map(Way::path).unwrap_or_default();
        path.push(self.step.to_string());
        path
    }
}

/// Takes the same value as the schema types it: `3.0` is the integer 3. Returns the paths of members that it does not
/// declare.
pub(super) fn settle(value: &mut Value, schema: &Schema) -> Vec<Vec<String>> {
    let mut unknown = Vec::new();
    settle_at(value, schema, None, &mut unknown);
    unknown
}

fn settle_at(value: &mut Value, schema: &Schema, before: Option<&Way<'_>>, unknown: &mut Vec<Vec<String>>) {
    match value {
        Value::Object(members) => {
            let properties = schema.get("properties").and_then(Schema::as_object);
            let open = !matches!(schema.get("additionalProperties"), None | Some(Schema::Bool(false)));
            let closed = !open && properties.is_some();
            for (name, member) in members.iter_mut() {
                let way = Way { step: &name, before };
                match properties.and_then(|properties| properties.get(name)) {
                    Some(schema) => settle_at(member, schema, Some(&way), unknown),
                    None if closed => unknown.push(way.path()),
                    None => {}
                }
            }
        }
        Value::Array(items) => {
            let Some(schema) = schema.get("items") else { return };
            for (index, item) in Arc::make_mut(items).iter_mut().enumerate() {
                settle_at(item, schema, Some(&Way { step: &index, before }), unknown);
            }
        }
        Value::Number(number) if number.is_f64() && kind(schema) == "integer" => {
            let whole = number.as_f64().filter(|float| float.fract() == 0.0 && float.abs() < 9.0e15);
            if let Some(whole) = whole {
                *value = Value::from(whole as i64);
            }
        }
        _ => {}
    }
}

/// Takes the members at these paths out.
pub(super) fn remove(value: &mut Value, paths: &[Vec<String>]) {
    remove_below(value, paths.iter().map(Vec::as_slice));
}

fn remove_below<'p>(value: &mut Value, paths: impl Iterator<Item = &'p [String]>) {
    let mut below: HashMap<&str, Vec<&[String]>> = HashMap::new();
    for path in paths {
        if let Some((first, rest)) = path.split_first() {
            below.entry(first).or_default().push(rest);
        }
    }
    match value {
        Value::Object(members) => members.retain(|name, member| match below.get(name) {
            Some(rests) if rests.iter().any(|rest| rest.is_empty()) => false,
            Some(rests) => {
                remove_below(member, rests.iter().copied());
                true
            }
            None => true,
        }),
        Value::Array(items) => {
            let items = Arc::make_mut(items);
            for (index, rests) in below {
                if let Some(item) = index.parse().ok().and_then(|index: usize| items.get_mut(index)) {
                    remove_below(item, rests.into_iter());
                }
            }
        }
        _ => {}
    }
}

/// Whether the schema names one type, which is not `null`.
fn wants_value(schema: &Schema) -> bool {
    schema.get("type").is_some_and(|kind| kind.as_str().is_some_and(|kind| kind != "null"))
}

/// The value converted to the schema's types where that loses nothing.
pub(super) fn coerced(value: &Value, schema: &Schema) -> Value {
    match (kind(schema), value) {
        ("object", Value::Object(members)) => {
            let properties = schema.get("properties").and_then(Schema::as_object);
            let member = |(name, value): (&str, &Value)| {
                let schema = properties.and_then(|properties| properties.get(name)).unwrap_or(&Schema::Null);
                // Where a type is wanted, `null` says that there is no value.
                (!value.is_null() || !wants_value(schema)).then(|| (name.to_owned(), coerced(value, schema)))
            };
            Value::Object(members.iter().filter_map(member).collect())
        }
        ("array", Value::Array(items)) => {
            let schema = schema.get("items").unwrap_or(&Schema::Null);
            items.iter().map(|item| coerced(item, schema)).collect()
        }
        ("array", single) if !single.is_null() => {
            vec![coerced(single, schema.get("items").unwrap_or(&Schema::Null))].into()
        }
        ("integer" | "number", Value::String(text)) => number_of(text).unwrap_or_else(|| value.clone()),
        ("string", Value::Number(_) | Value::Bool(_)) => value.to_string().into(),
        ("boolean", Value::String(text)) => match text.to_ascii_lowercase().as_str() {
            "true" | "yes" => Value::Bool(true),
            "false" | "no" => Value::Bool(false),
            _ => value.clone(),
        },
        ("string", Value::String(text)) => match schema.get("enum").and_then(Schema::as_array) {
            // A word of a closed list in another case or with white space around it is still that word.
            Some(words) => {
                let mut words = words.iter().filter_map(Schema::as_str);
                words.find(|word| word.eq_ignore_ascii_case(text.trim())).map_or_else(|| value.clone(), Value::from)
            }
            None => value.clone(),
        },
        _ => value.clone(),
    }
}
