//! JSON text: how is a JSON text written anew, without a loss of digits or of the order of its members?
//!
//! In: a text that is valid JSON.
//! Out: the same values on one line; the text with another value for one member; its members; its numbers.
//! Never: rounds a number, or changes the order of members.

use rulebook::text::quoted_length;
use serde::de::{Deserialize, Deserializer, MapAccess, Visitor};
use serde_json::value::RawValue;
use std::fmt;

/// The members of an object, in order, each with its value as it is written.
pub(super) struct WrittenMembers<'t>(pub(super) Vec<(String, &'t RawValue)>);

impl<'de: 't, 't> Deserialize<'de> for WrittenMembers<'t> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        deserializer.deserialize_map(InOrder)
    }
}

struct InOrder;

impl<'de> Visitor<'de> for InOrder {
    type Value = WrittenMembers<'de>;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("an object")
    }

    fn visit_map<A: MapAccess<'de>>(self, mut members: A) -> Result<Self::Value, A::Error> {
        let mut all = Vec::new();
        while let Some(member) = members.next_entry()? {
            all.push(member);
        }
        Ok(WrittenMembers(all))
    }
}

/// A part of a JSON text.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Part<'t> {
    /// A string with its quotes.
    Text(&'t str),
    /// A number, a constant, or punctuation.
    Other(&'t str),
}

/// The parts of a JSON text, without the white space between them.
fn parts(text: &str) -> impl Iterator<Item = Part<'_>> {
    let mut rest = text;
    std::iter::from_fn(move || {
        rest = rest.trim_start_matches([' ', '\t', '\r', '\n']);
        let is_text = rest.starts_with('"');
        let length = if is_text { quoted_length(rest).unwrap_or(rest.len()) } else { other_length(rest) };
        let (part, after) = rest.split_at_checked(length).filter(|(part, _)| !part.is_empty())?;
        rest = after;
        Some(if is_text { Part::Text(part) } else { Part::Other(part) })
    })
}

/// The length of what is at the start of a text up to white space or a string: one punctuation mark, or a word.
fn other_length(text: &str) -> usize {
    let is_mark = |c: char| matches!(c, '{' | '}' | '[' | ']' | ',' | ':');
    match text.chars().next() {
        Some(first) if is_mark(first) => first.len_utf8(),
        _ => text.find(|c: char| is_mark(c) || matches!(c, ' ' | '\t' | '\r' | '\n' | '"')).unwrap_or(text.len()),
    }
}

/// The same JSON on one line: without white space between its parts, and with each string written in one way. No
/// character is left that some reader takes for the end of a line.
pub(super) fn rewritten(text: &str) -> serde_json::Result<String> {
    let mut out = String::with_capacity(text.len());
    for part in parts(text) {
        match part {
            Part::Other(part) => out += part,
            Part::Text(part) => {
                let written = serde_json::to_string(&serde_json::from_str::<String>(part)?)?;
                for c in written.chars() {
                    match c {
                        '\u{85}' | '\u{2028}' | '\u{2029}' => out += &format!("\\u{:04x}", u32::from(c)),
                        c => out.push(c),
                    }
                }
            }
        }
    }
    Ok(out)
}

/// The numbers of a JSON text, as they are written.
pub(super) fn numbers(text: &str) -> impl Iterator<Item = &str> {
    parts(text).filter_map(|part| match part {
        Part::Other(part) if part.starts_with(|c: char| c == '-' || c.is_ascii_digit()) => Some(part),
        _ => None,
    })
}

/// An object on one line with `value` as the member at `path`, which is added if it is not there.
pub(super) fn with_member(text: &str, path: &[&str], value: &str) -> serde_json::Result<String> {
    let Some((name, path)) = path.split_first() else { return Ok(value.to_owned()) };
    let WrittenMembers(members) = serde_json::from_str(text)?;
    let mut written = Vec::with_capacity(members.len() + 1);
    let mut is_there = false;
    for (key, own) in members {
        let own = if key == *name { &*with_member(own.get(), path, value)? } else { own.get() };
        is_there |= key == *name;
        written.push(format!("{}:{own}", serde_json::to_string(&key)?));
    }
    if !is_there {
        written.push(format!("{}:{}", serde_json::to_string(name)?, with_member("{}", path, value)?));
    }
    Ok(format!("{{{}}}", written.join(",")))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check(text: &str, expected: &str) {
        assert_eq!(rewritten(text).unwrap(), expected);
    }

    #[test]
    fn a_text_is_written_on_one_line_with_each_number_as_it_is() {
        check(
            "{\"b\":\r\n [ 1E400 ,\t-0.0,\r9007199254740993.0 ], \"a\": true }",
            "{\"b\":[1E400,-0.0,9007199254740993.0],\"a\":true}",
        );
        check("\"a\\u0062 \\\\\\\" \\/ \\r\u{2028}\u{e9}\"", "\"ab \\\\\\\" / \\r\\u2028\u{e9}\"");
        check("{\"\\\\\":\"\\\\\"}", "{\"\\\\\":\"\\\\\"}");
        check(" null ", "null");
        assert!(rewritten("\"\\ud800\"").is_err());
    }

    #[test]
    fn a_number_in_a_text_is_none() {
        let text = "{\"1\":[-1,2e400,\"3\",true],\"a\":{\"b\": 0.50 }}";
        assert_eq!(numbers(text).collect::<Vec<_>>(), ["-1", "2e400", "0.50"]);
    }

    #[test]
    fn one_member_is_replaced_and_the_others_stay_as_they_are() {
        let text = "{\"z\":1.50,\"p\":{\"y\":1e400,\"a\":[1],\"x\":2}}";
        assert_eq!(with_member(text, &["p", "a"], "{}").unwrap(), "{\"z\":1.50,\"p\":{\"y\":1e400,\"a\":{},\"x\":2}}");
        assert_eq!(with_member("{\"p\":{}}", &["p", "a"], "1").unwrap(), "{\"p\":{\"a\":1}}");
    }
}
