//! Building: which value does a tape describe?
//!
//! In: a tape and its text.
//! Out: [`Json`], with repeated keys and the numbers that cannot be stored exactly.
//! Never: reads the text between the values of the tape.

use super::escape::decode_string;
use super::fault::{self, Grade, JsonFault};
use super::tape::{JsonTape, TapeKind, TapeNode, inner};
use super::{Context, FORGIVEN, Json, LOSSY, MAX_NOTES, Rounded};
use crate::text::Present;
use crate::value::{Members, Value, nearest, number};
use std::sync::Arc;

/// The value of the whole tape; `None` if the response contains too many values.
pub(super) fn json(tape: &JsonTape, text: &str, context: Context<'_>) -> Option<Json> {
    let mut builder = JsonBuilder {
        tape,
        text,
        left: Some(context.values.get()),
        repeated: Vec::new(),
        numbers: Vec::new(),
        more: 0,
        at: 0,
    };
    let value = builder.value();
    let JsonBuilder { left, repeated, numbers, more, .. } = builder;
    context.values.set(left?);
    let mut json =
        Json { repeated: repeated.iter().map(|(key, _)| (**key).to_owned()).collect(), ..Json::whole(value?) };
    json.faults.clone_from(&tape.faults);
    json.left_out = tape.left_out + more;
    if !json.faults.is_empty() {
        json.faults.extend(repeated.iter().map(|(_, key)| JsonFault {
            name: fault::REPEATED_KEY,
            span: tape.span(*key).present(),
            grade: Grade::Lossy,
        }));
    }
    json.rounded.extend(numbers.into_iter().map(|(at, is_near)| Rounded {
        pointer: tape.pointer(at, text),
        span: tape.span(at).present(),
        is_near,
    }));
    if !json.faults.is_empty() {
        json.forgiven = Some(if json.is_lossy() { LOSSY } else { FORGIVEN });
    }
    Some(json)
}

/// A container with fewer nodes is assumed to contain no other containers.
const FEW_NODES: usize = 32;

struct JsonBuilder<'b> {
    tape: &'b JsonTape,
    text: &'b str,
    /// How many more values are allowed; `None` once there were too many.
    left: Option<usize>,
    /// Keys that are repeated in one object, with their nodes.
    repeated: Vec<(Arc<str>, usize)>,
    /// Numbers that cannot be stored exactly, and whether a double is near them.
    numbers: Vec<(usize, bool)>,
    more: usize,
    /// The next node.
    at: usize,
}

impl JsonBuilder<'_> {
    /// The next value. Recursion is limited, because the reader of the tape has limited the depth.
    fn value(&mut self) -> Option<Value> {
        let at = self.at;
        let node = self.tape.get(at)?;
        self.at += 1;
        self.left = self.left?.checked_sub(1);
        self.left?;
        Some(match node.kind {
            TapeKind::Object => {
                let end = self.tape.after(at);
                // Reserve the exact room: a list that grows by doubling takes twice the memory for a while.
                let mut members = Members::with_capacity(match end - at {
                    nodes @ 0..FEW_NODES => nodes / 2,
                    _ => self.tape.inside(at).count() / 2,
                });
                while self.at < end {
                    let key = self.at;
                    let name = self.key()?;
                    let value = self.value()?;
                    match members.get_mut(&name) {
                        None => members.push(name, value),
                        Some(before) => {
                            *before = value;
                            match self.repeated.len() < MAX_NOTES {
                                true => self.repeated.push((name, key)),
                                false => self.more += 1,
                            }
                        }
                    }
                }
                Value::Object(members.into())
            }
            TapeKind::List => {
                let end = self.tape.after(at);
                let mut items = Vec::with_capacity(match end - at {
                    nodes @ 0..FEW_NODES => nodes,
                    _ => self.tape.inside(at).count(),
                });
                while self.at < end {
                    items.push(self.value()?);
                }
                items.into()
            }
            TapeKind::Plain => inner(node.span(), self.text).into(),
            TapeKind::Escaped => decode_string(inner(node.span(), self.text)).into(),
            TapeKind::Number => self.number(at, node),
            TapeKind::True => Value::Bool(true),
            TapeKind::False => Value::Bool(false),
            TapeKind::Null => Value::Null,
            TapeKind::Made => self.tape.made(node).cloned().present(),
        })
    }

    fn key(&mut self) -> Option<Arc<str>> {
        let at = self.at;
        let node = self.tape.get(at)?;
        self.at += 1;
        Some(match (node.kind, self.tape.made(node)) {
            (TapeKind::Made, Some(Value::String(name))) => Arc::clone(name),
            _ => (&*self.tape.name(at, self.text)).into(),
        })
    }

    /// A number that cannot be stored exactly becomes the nearest double, or its text if it is out of range.
    fn number(&mut self, at: usize, node: TapeNode) -> Value {
        let raw = node.span().of(self.text);
        if let Some(number) = number(raw) {
            return Value::Number(number);
        }
        let near = nearest(raw);
        match self.numbers.len() < MAX_NOTES {
            true => self.numbers.push((at, near.is_some())),
            false => self.more += 1,
        }
        near.map_or_else(|| raw.into(), Value::Number)
    }
}
