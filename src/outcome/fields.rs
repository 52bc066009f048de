//! Fields: which parts of the parameters of calls does a stream emit?
//!
//! In: the arguments of a call while they arrive, or the calls of an outcome.
//! Out: [`StreamEvent::Field`]s: the decoded pieces of each value that is neither an object nor a list.
//! Never: emits anything of a call that does not count, unless the pack asks for drafts (`hold = "none"`).

use super::contract::{Outcome, Verdict};
use crate::document::StreamEvent;
use crate::json::decode_string;
use crate::text::{Slice, quoted_length};
use crate::value::Value;

/// The fields of the calls that count, each as a whole; calls whose fields were emitted while they arrived are left
/// out.
pub(super) fn fields_of(outcome: &Outcome, is_emitted: impl Fn(usize) -> bool) -> Vec<StreamEvent> {
    let mut events = Vec::new();
    let counts = |(_, call): &(usize, &super::contract::Call)| call.verdict != Verdict::Dropped;
    for (call, one) in outcome.calls.iter().enumerate().filter(counts).filter(|(call, _)| !is_emitted(*call)) {
        leaves(&one.params, &mut Vec::new(), &mut |path, text| {
            events.push(StreamEvent::Field { call, path: path.to_vec(), text });
        });
    }
    events
}

/// Calls `each` for every value that is neither an object nor a list, with its path and its text.
fn leaves(value: &Value, path: &mut Vec<String>, each: &mut dyn FnMut(&[String], String)) {
    let mut inside = |step: String, value: &Value, each: &mut dyn FnMut(&[String], String)| {
        path.push(step);
        leaves(value, path, each);
        path.pop();
    };
    match value {
        Value::Object(members) => members.iter().for_each(|(name, value)| inside(name.to_owned(), value, each)),
        Value::Array(items) => {
            items.iter().enumerate().for_each(|(index, item)| inside(index.to_string(), item, each));
        }
        Value::String(text) => each(path, (**text).to_owned()),
        other => each(path, other.to_string()),
    }
}

/// The arguments of one call while they arrive, as strict JSON. If they are not, nothing more is emitted.
#[derive(Debug, Default)]
pub(super) struct Arguments {
    /// What has arrived and is not emitted yet: a token that may continue.
    rest: String,
    /// The objects and lists that are open.
    open: Vec<OpenValue>,
    state: FieldState,
}

/// An object or a list that is open, and the key or the index of its value that is arriving.
#[derive(Debug)]
struct OpenValue {
    is_list: bool,
    step: String,
    index: usize,
}

#[derive(Debug, Default, Clone, Copy, PartialEq, Eq)]
enum FieldState {
    /// A value is expected, or the end of a list.
    #[default]
    Value,
    /// A key is expected, or the end of the object.
    Key,
    Colon,
    /// A comma or a closer is expected.
    Next,
    /// Inside a text that is a value.
    Text,
    /// The value is complete, or it is not strict JSON.
    Over,
}

impl Arguments {
    /// Takes more of the arguments, and passes the path and the text of each new piece to `emit`.
    pub(super) fn push(&mut self, more: &str, emit: &mut dyn FnMut(Vec<String>, String)) {
        if self.state == FieldState::Over {
            return;
        }
        self.rest.push_str(more);
        let coming = std::mem::take(&mut self.rest);
        let mut at = 0;
        while let Some(length) = self.step(coming.slice(at..), emit) {
            at += length;
        }
        if self.state != FieldState::Over {
            self.rest = coming.slice(at..).to_owned();
        }
    }

    /// Reads one token; returns its length, or `None` if it may continue or nothing is left.
    fn step(&mut self, text: &str, emit: &mut dyn FnMut(Vec<String>, String)) -> Option<usize> {
        if self.state == FieldState::Text {
            return self.text(text, emit);
        }
        let blank = text.len() - text.trim_start().len();
        let rest = text.get(blank..)?;
        let first = rest.bytes().next()?;
        let length = match (self.state, first) {
            (FieldState::Value, b'"') => {
                self.state = FieldState::Text;
                1
            }
            (FieldState::Value, b'{' | b'[') => {
                self.open.push(OpenValue { is_list: first == b'[', step: "0".to_owned(), index: 0 });
                self.state = if first == b'[' { FieldState::Value } else { FieldState::Key };
                1
            }
            (FieldState::Value | FieldState::Key | FieldState::Next, b'}' | b']') => {
                let closed = self.open.pop();
                let is_matching = closed.is_some_and(|open| open.is_list == (first == b']'));
                self.state = if is_matching && !self.open.is_empty() { FieldState::Next } else { FieldState::Over };
                1
            }
            (FieldState::Key, b'"') => {
                let end = quoted_length(rest)?;
                let key = decode_string(rest.get(1..end - 1)?).into_owned();
                self.open.last_mut().into_iter().for_each(|open| open.step.clone_from(&key));
                self.state = FieldState::Colon;
                end
            }
            (FieldState::Colon, b':') => {
                self.state = FieldState::Value;
                1
            }
            (FieldState::Next, b',') => {
                let open = self.open.last_mut()?;
                open.index += 1;
                self.state = if open.is_list { FieldState::Value } else { FieldState::Key };
                if open.is_list {
                    open.step = open.index.to_string();
                }
                1
            }
            (FieldState::Value, b'0'..=b'9' | b'-' | b't' | b'f' | b'n') if !self.open.is_empty() => {
                // A number or a word is complete only when the next character has arrived.
                let end = rest.find(|c: char| !(c.is_ascii_alphanumeric() || matches!(c, '-' | '+' | '.')))?;
                let value = rest.get(..end)?;
                match serde_json::from_str::<Value>(value) {
                    Ok(value) => emit(self.path(), value.to_string()),
                    Err(_) => self.state = FieldState::Over,
                }
                if self.state == FieldState::Value {
                    self.state = FieldState::Next;
                }
                end
            }
            _ => {
                self.state = FieldState::Over;
                0
            }
        };
        (self.state != FieldState::Over).then_some(blank + length)
    }

    /// Reads more of a text, up to its end or to an escape that may be incomplete.
    fn text(&mut self, text: &str, emit: &mut dyn FnMut(Vec<String>, String)) -> Option<usize> {
        let (end, is_whole) = certain(text);
        let piece = text.get(..end)?;
        if !piece.is_empty() {
            emit(self.path(), decode_string(piece).into_owned());
        }
        if !is_whole {
            return (end > 0).then_some(end);
        }
        self.state = if self.open.is_empty() { FieldState::Over } else { FieldState::Next };
        (self.state != FieldState::Over).then_some(end + 1)
    }

    fn path(&self) -> Vec<String> {
        self.open.iter().map(|open| open.step.clone()).collect()
    }
}

/// How much of a text inside quotes can be decoded, whatever follows, and whether its closing quote comes right after
/// that.
fn certain(text: &str) -> (usize, bool) {
    let bytes = text.as_bytes();
    let mut at = 0;
    // Where the first half of a surrogate pair starts: it is decoded together with the second.
    let mut half = None;
    while let Some(byte) = bytes.get(at) {
        match byte {
            b'"' => return (at, true),
            b'\\' => {
                let length = if bytes.get(at + 1) == Some(&b'u') { 6 } else { 2 };
                if bytes.len() < at + length {
                    return (half.unwrap_or(at), false);
                }
                let is_half = length == 6
                    && matches!(bytes.get(at + 2), Some(b'd' | b'D'))
                    && matches!(bytes.get(at + 3), Some(b'8' | b'9' | b'a' | b'b' | b'A' | b'B'));
                half = if is_half { Some(at) } else { None };
                at += length;
            }
            _ => {
                half = None;
                at += 1;
            }
        }
    }
    (half.unwrap_or(at), false)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::value::values;
    use proptest::prelude::*;
    use std::collections::BTreeMap;

    fn collected(pieces: &[&str]) -> BTreeMap<Vec<String>, String> {
        let mut all: BTreeMap<Vec<String>, String> = BTreeMap::new();
        let mut arguments = Arguments::default();
        for piece in pieces {
            arguments.push(piece, &mut |path, text| all.entry(path).or_default().push_str(&text));
        }
        all
    }

    #[track_caller]
    fn check(arguments: &str, expected: &[(&str, &str)]) {
        let expected: BTreeMap<Vec<String>, String> = expected
            .iter()
            .map(|(path, text)| (path.split('.').map(str::to_owned).collect(), (*text).to_owned()))
            .collect();
        assert_eq!(collected(&[arguments]), expected);
        let each: Vec<String> = arguments.chars().map(String::from).collect();
        assert_eq!(collected(&each.iter().map(String::as_str).collect::<Vec<_>>()), expected, "one by one");
    }

    #[test]
    fn pieces_are_decoded_and_have_their_paths() {
        check(
            r#"{"a": "x\n\"y\"", "b": [1, true, {"c": null}]}"#,
            &[("a", "x\n\"y\""), ("b.0", "1"), ("b.1", "true"), ("b.2.c", "null")],
        );
        check(r#"{"a": "\ud83d\ude00 \u00e9", "a\"b": "z"}"#, &[("a", "😀 é"), ("a\"b", "z")]);
        check(r#"{"a": "unfinished"#, &[("a", "unfinished")]);
        check(r#"{'a': 1}"#, &[]);
        check("[]", &[]);
        check("{}", &[]);
    }

    proptest! {
        #[test]
        fn any_value_is_emitted_in_pieces_that_join_to_its_texts(value in values(), cut in 1..7_usize) {
            prop_assume!(value.is_object());
            let text = value.to_string();
            let chars: Vec<char> = text.chars().collect();
            let pieces: Vec<String> = chars.chunks(cut).map(|piece| piece.iter().collect()).collect();
            let mut expected = BTreeMap::new();
            leaves(&value, &mut Vec::new(), &mut |path, text| drop(expected.insert(path.to_vec(), text)));
            expected.retain(|_, text| !text.is_empty());
            prop_assert_eq!(collected(&pieces.iter().map(String::as_str).collect::<Vec<_>>()), expected);
        }
    }
}
