//! JSON payloads: what is in this object, read strictly or as models write it?
//!
//! In: a body.
//! Out: [`Json`]: a value, the faults that were tolerated, and repeated keys.
//! Never: changes a value that is strict JSON, or tolerates a fault without noting it.

use crate::document::decode::decode_string;
use crate::grammar::{Capture, Grammar, Machine, inside, shipped};
use crate::program::Limits;
use crate::text::{SourceId, Span};
use crate::value::{Members, Value, WRITTEN_NUMBER, broken, loses_number, number, numbers_are_objects, written_number};
use serde::de::{Deserialize, DeserializeSeed, Deserializer, MapAccess, SeqAccess, Visitor};
use std::borrow::Cow;
use std::cell::{Cell, RefCell};
use std::fmt;
use std::sync::{Arc, LazyLock};

/// A JSON value that was read.
#[derive(Debug)]
pub(crate) struct Json {
    pub(crate) value: Value,
    /// The faults; empty if the value is strict JSON.
    pub(crate) faults: Vec<Fault>,
    /// Keys that are repeated in one object; the last counts.
    pub(crate) repeated: Vec<String>,
    /// The number of faults and repeated keys that are not listed.
    pub(crate) left_out: usize,
    /// Numbers that cannot be kept exactly; each is a text in the value.
    pub(crate) lost: Vec<Lost>,
    /// How it was read, if it was not written as it should be.
    pub(crate) forgiven: Option<&'static str>,
}

impl Json {
    /// A value that was written as it should be.
    pub(super) fn whole(value: Value) -> Self {
        Self { value, faults: Vec::new(), repeated: Vec::new(), left_out: 0, lost: Vec::new(), forgiven: None }
    }

    /// If the value is a text with an object in it, the object.
    pub(super) fn unquoted(self, limits: &Limits, values: &Cell<usize>) -> Self {
        let inner = match &self.value {
            Value::String(text) => strict(text, limits, values).ok(),
            _ => None,
        };
        match inner.filter(|inner| inner.value.is_object()) {
            Some(inner) => Self { forgiven: Some("the payload is a text that holds the object"), ..inner },
            None => self,
        }
    }
}

/// Something that strict JSON does not allow, named by the grammar.
#[derive(Debug)]
pub(crate) struct Fault {
    pub(crate) name: Arc<str>,
    pub(crate) span: Span,
}

/// A number that cannot be kept as it is written.
#[derive(Debug)]
pub(crate) struct Lost {
    /// The path to it in the value.
    pub(crate) way: Vec<String>,
    pub(crate) span: Span,
    pub(crate) why: &'static str,
}

/// Why a number cannot be kept.
const LOST: &str = "a number cannot be kept as it is written";
const TOO_DEEP: &str = "it is nested too deeply";
const OUT_OF_RANGE: &str = "it cannot be read as JSON: number out of range";

/// The message for a payload with faults.
pub(crate) const FORGIVEN: &str = "the payload can only be read by forgiving its faults";

/// The most faults, repeated keys and lost numbers that are listed.
const MOST: usize = 100;

/// Why a body is not JSON, and where.
#[derive(Debug)]
pub(crate) struct Unreadable {
    pub(crate) why: Cow<'static, str>,
    pub(crate) at: Span,
}

/// Reads the body strictly, or else leniently.
pub(super) fn read(text: &str, body: Span, limits: &Limits, values: &Cell<usize>) -> Result<Json, Unreadable> {
    let before = values.get();
    let error = match strict(body.of(text), limits, values) {
        Ok(json) => return Ok(json),
        Err(error) => error,
    };
    if values.get() == 0 {
        return Err(Unreadable {
            why: format!("the payloads of the response hold more than {} values together", limits.values).into(),
            at: body,
        });
    }
    values.set(before);
    lenient(text, body, limits, values).ok_or_else(|| {
        let why = broken::why(&error);
        let deep = too_deep(body.of(text), limits.depth).filter(|_| why == TOO_DEEP);
        let at = deep.unwrap_or_else(|| broken::place(&error, body.of(text)));
        Unreadable {
            why: format!("it cannot be read as JSON: {why}").into(),
            at: Span::new(body.start + at.start, body.start + at.end),
        }
    })
}

/// The first bracket of a JSON text that is inside `depth` others.
fn too_deep(raw: &str, depth: usize) -> Option<Span> {
    let (mut open, mut in_string, mut escaped) = (0_usize, false, false);
    let mut opens = |byte: &u8| {
        match byte {
            _ if escaped => escaped = false,
            b'\\' if in_string => escaped = true,
            b'"' => in_string = !in_string,
            b'{' | b'[' if !in_string => open += 1,
            b'}' | b']' if !in_string => open = open.saturating_sub(1),
            _ => {}
        }
        open > depth
    };
    let at = raw.as_bytes().iter().position(&mut opens)?;
    Some(Span::new(at, at + 1))
}

/// Reads strict JSON. Each value is deducted from the `values` that the response may still have.
pub(crate) fn strict(raw: &str, limits: &Limits, values: &Cell<usize>) -> Result<Json, serde_json::Error> {
    let repeated = RefCell::default();
    let mut deserializer = serde_json::Deserializer::from_str(raw);
    let (floats, owned) = (Cell::new(false), Cell::new(false));
    let seed = Seed { depth: limits.depth, repeated: &repeated, values, floats: &floats, owned: &owned };
    let value = seed.deserialize(&mut deserializer)?;
    deserializer.end()?;
    if floats.get() && loses_number(raw) {
        return Err(serde::de::Error::custom(LOST));
    }
    let Repeated { keys: repeated, more } = repeated.into_inner();
    Ok(Json { repeated, left_out: more, ..Json::whole(value) })
}

/// Reads a value and notes repeated keys.
#[derive(Clone, Copy)]
struct Seed<'r> {
    depth: usize,
    repeated: &'r RefCell<Repeated>,
    values: &'r Cell<usize>,
    /// Whether there is a number that may have lost digits.
    floats: &'r Cell<bool>,
    /// Whether the last text was passed on as an owned one: see [`WRITTEN_NUMBER`].
    owned: &'r Cell<bool>,
}

impl<'de> DeserializeSeed<'de> for Seed<'_> {
    type Value = Value;

    fn deserialize<D: Deserializer<'de>>(self, deserializer: D) -> Result<Value, D::Error> {
        self.spend()?;
        deserializer.deserialize_any(self)
    }
}

impl Seed<'_> {
    /// Deducts one value.
    fn spend<E: serde::de::Error>(self) -> Result<(), E> {
        let left = self.values.get().checked_sub(1);
        self.values.set(left.ok_or_else(|| E::custom("it holds too many values"))?);
        Ok(())
    }

    fn deeper<E: serde::de::Error>(self) -> Result<Self, E> {
        let depth = self.depth.checked_sub(1).ok_or_else(|| E::custom(TOO_DEEP))?;
        Ok(Self { depth, ..self })
    }
}

impl<'de> Visitor<'de> for Seed<'_> {
    type Value = Value;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a JSON value")
    }

    fn visit_bool<E>(self, value: bool) -> Result<Value, E> {
        Ok(Value::Bool(value))
    }

    fn visit_i64<E>(self, value: i64) -> Result<Value, E> {
        Ok(Value::from(value))
    }

    fn visit_u64<E>(self, value: u64) -> Result<Value, E> {
        Ok(Value::from(value))
    }

    fn visit_f64<E>(self, value: f64) -> Result<Value, E> {
        self.floats.set(true);
        Ok(value.into())
    }

    fn visit_str<E>(self, value: &str) -> Result<Value, E> {
        self.owned.set(false);
        Ok(value.into())
    }

    fn visit_string<E>(self, value: String) -> Result<Value, E> {
        self.owned.set(true);
        Ok(value.into())
    }

    fn visit_unit<E>(self) -> Result<Value, E> {
        Ok(Value::Null)
    }

    fn visit_seq<A: SeqAccess<'de>>(self, mut items: A) -> Result<Value, A::Error> {
        let deeper = self.deeper()?;
        let mut list = Vec::new();
        while let Some(item) = items.next_element_seed(deeper)? {
            list.push(item);
        }
        Ok(list.into())
    }

    fn visit_map<A: MapAccess<'de>>(self, mut members: A) -> Result<Value, A::Error> {
        let mut object = Members::default();
        if numbers_are_objects()
            && let Some(Key(key)) = members.next_key()?
        {
            if *key == *WRITTEN_NUMBER {
                // The text of a number is a part of it: no further value, and no deeper.
                self.values.set(self.values.get() + 1);
                let value = members.next_value_seed(Self { depth: self.depth.saturating_sub(1), ..self })?;
                if let Value::String(text) = &value
                    && self.owned.get()
                {
                    self.floats.set(true);
                    return written_number(text).map(Value::Number);
                }
                object.push(key, value);
                self.spend()?;
            } else {
                object.push(key, members.next_value_seed(self.deeper()?)?);
            }
        }
        let deeper = self.deeper()?;
        while let Some(Key(key)) = members.next_key()? {
            let value = members.next_value_seed(deeper)?;
            insert(&mut object, key, value, &mut self.repeated.borrow_mut());
        }
        Ok(Value::Object(object.into()))
    }
}

struct Key(Arc<str>);

impl<'de> Deserialize<'de> for Key {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        deserializer.deserialize_str(KeyVisitor)
    }
}

struct KeyVisitor;

impl Visitor<'_> for KeyVisitor {
    type Value = Key;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a key")
    }

    fn visit_str<E>(self, key: &str) -> Result<Key, E> {
        Ok(Key(key.into()))
    }
}

/// Repeated keys, and how many more there are.
#[derive(Debug, Default)]
struct Repeated {
    keys: Vec<String>,
    more: usize,
}

/// Sets a key; if it is repeated, the last value counts.
fn insert(object: &mut Members<Value>, key: Arc<str>, value: Value, repeated: &mut Repeated) {
    match object.get_mut(&key) {
        Some(before) => *before = value,
        None => return object.push(key, value),
    }
    match repeated.keys.len() < MOST {
        true => repeated.keys.push((*key).to_owned()),
        false => repeated.more += 1,
    }
}

static GRAMMAR: LazyLock<Option<Grammar>> =
    LazyLock::new(|| Grammar::parse(SourceId::RESPONSE, shipped("json")?).value);

/// The grammar `json`.
pub(crate) fn grammar() -> Option<&'static Grammar> {
    GRAMMAR.as_ref()
}

/// The grammar `json`, and the pieces that it finds in the body: at most `most` values.
pub(super) fn pieces(text: &str, body: Span, limits: &Limits, most: usize) -> Option<(&'static Grammar, Machine)> {
    let grammar = GRAMMAR.as_ref()?;
    let within = text.get(..body.end)?;
    let payload = grammar.rule("payload")?;
    // A member is three captures, its key and its value among them.
    let mut machine = Machine::new().capturing(8 + 3 * most);
    let end = machine.match_at(grammar, payload, within, body.start, &mut limits.steps(body.len()));
    (end == Some(body.end)).then_some((grammar, machine))
}

/// Reads the body with the grammar `json`.
fn lenient(text: &str, body: Span, limits: &Limits, values: &Cell<usize>) -> Option<Json> {
    let (grammar, machine) = pieces(text, body, limits, values.get())?;
    let captures = machine.captures();
    let (repeated, lost) = (Repeated::default(), Vec::new());
    let mut building = Building { text, grammar, captures, way: Vec::new(), repeated, lost };
    let mut found = grammar.faults(captures);
    let told = found.by_ref().take(MOST);
    let faults: Vec<Fault> = told.map(|(rule, span)| Fault { name: grammar.rule_name(rule).into(), span }).collect();
    let more = found.count();
    let value = building.first_value(Some(0), limits.depth)?;
    let read = captures.iter().filter(|capture| is_value(grammar, capture)).count();
    values.set(values.get().checked_sub(read)?);
    let Building { repeated, lost, .. } = building;
    let forgiven = (!faults.is_empty()).then_some(FORGIVEN);
    let left_out = more + repeated.more;
    Some(Json { value, faults, repeated: repeated.keys, left_out, lost, forgiven })
}

/// Builds a value from captures.
struct Building<'b> {
    text: &'b str,
    grammar: &'b Grammar,
    captures: &'b [Capture],
    /// The path to the value being read.
    way: Vec<String>,
    repeated: Repeated,
    lost: Vec<Lost>,
}

impl Building<'_> {
    /// The first value directly inside the capture at `outer`.
    fn first_value(&mut self, outer: Option<usize>, depth: usize) -> Option<Value> {
        let found = inside(self.captures, outer).find(|(_, capture)| is_value(self.grammar, capture));
        let (index, _) = found?;
        self.value(index, depth)
    }

    fn value(&mut self, index: usize, depth: usize) -> Option<Value> {
        let capture = self.captures.get(index)?;
        let raw = capture.span().of(self.text);
        Some(match self.grammar.rule_name(capture.rule()) {
            "object" => {
                let depth = depth.checked_sub(1)?;
                let mut object = Members::default();
                let members: Vec<usize> = self.children(index, "member");
                for member in members {
                    let key = self.children(member, "key").first().copied()?;
                    let key = unquote(self.captures.get(key)?.span().of(self.text));
                    self.way.push(key.to_string());
                    let value = self.first_value(Some(member), depth)?;
                    self.way.pop();
                    insert(&mut object, key.into(), value, &mut self.repeated);
                }
                Value::Object(object.into())
            }
            "array" => {
                let depth = depth.checked_sub(1)?;
                let items: Vec<usize> = inside(self.captures, Some(index))
                    .filter(|(_, capture)| is_value(self.grammar, capture))
                    .map(|(item, _)| item)
                    .collect();
                let mut list = Vec::with_capacity(items.len());
                for (number, item) in items.into_iter().enumerate() {
                    self.way.push(number.to_string());
                    list.push(self.value(item, depth)?);
                    self.way.pop();
                }
                list.into()
            }
            "string" => unquote(raw).into(),
            "number" => match number(raw) {
                Some(number) => Value::Number(number),
                // A payload with so many is none.
                None if self.lost.len() >= MOST => return None,
                None => {
                    let why = if raw.parse().is_ok_and(f64::is_finite) { LOST } else { OUT_OF_RANGE };
                    self.lost.push(Lost { way: self.way.clone(), span: capture.span(), why });
                    raw.into()
                }
            },
            _ => match raw {
                "true" | "True" => Value::Bool(true),
                "false" | "False" => Value::Bool(false),
                _ => Value::Null,
            },
        })
    }

    fn children(&self, outer: usize, name: &str) -> Vec<usize> {
        inside(self.captures, Some(outer))
            .filter(|(_, capture)| self.grammar.rule_name(capture.rule()) == name)
            .map(|(index, _)| index)
            .collect()
    }
}

pub(super) fn is_value(grammar: &Grammar, capture: &Capture) -> bool {
    matches!(grammar.rule_name(capture.rule()), "object" | "array" | "string" | "number" | "literal")
}

/// The text of a string with quotes of either kind or none; invalid escapes are allowed.
pub(super) fn unquote(raw: &str) -> Cow<'_, str> {
    let quoted = ['"', '\''].into_iter().find_map(|quote| raw.strip_prefix(quote)?.strip_suffix(quote));
    decode_string(quoted.unwrap_or(raw))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::value::value;

    #[track_caller]
    fn check(text: &str, value: &Value, faults: &[&str]) {
        let read = read(text, Span::new(0, text.len()), &Limits::default(), &Cell::new(10_000))
            .unwrap_or_else(|error| Json::whole(error.why.into()));
        assert_eq!(read.value, *value, "{text}");
        let names: Vec<&str> = read.faults.iter().map(|fault| &*fault.name).collect();
        assert_eq!(names, faults, "{text}");
    }

    #[test]
    fn strict_json_is_read_as_it_is() {
        check(r#"{"a": [1, 1.5, "x\n\u00e4", null, true]}"#, &value!({ "a": [1, 1.5, "x\nä", null, true] }), &[]);
        check(r#"{"a": 1, "a": 2}"#, &value!({ "a": 2 }), &[]);
        check(r#"{"a": [1, 1e999], "b": 2.0}"#, &value!({ "a": [1, "1e999"], "b": 2.0 }), &[]);
    }

    #[test]
    fn faults_are_forgiven_and_named() {
        check(r#"{"a": 1,}"#, &value!({ "a": 1 }), &["fault_trailing_comma"]);
        check("{'a': \"x\ny\"}", &value!({ "a": "x\ny" }), &["fault_single_quotes", "fault_bare_newline"]);
        check(r#"{a: True}"#, &value!({ "a": true }), &["fault_unquoted_key", "fault_constant"]);
    }
}
