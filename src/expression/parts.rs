//! Parts: why did a condition hold, or not?
//!
//! In: a condition, and the scope in which it was evaluated.
//! Out: [`Part`]s: the operands of its `and`, `or`, `not` and comparisons, and the paths it reads, each with its value.
//! Never: decides whether the condition holds; a part that cannot be evaluated alone says why.

use super::syntax::{Expr, Kind};
use super::{Expression, Scope, parse};
use crate::text::{Spanned, excerpt};
use std::io::{self, Write};

/// The most bytes of a value that are shown.
const VALUE: usize = 160;
/// The most parts of a condition that are shown.
const MOST: usize = 16;

/// A part of a condition, and its value.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Part {
    /// Its source, as the pack writes it.
    pub(crate) text: String,
    /// Its value as JSON, shortened; or why it has none.
    pub(crate) value: String,
}

impl Expression {
    /// Its parts in the order of the text, each whole before its operands; then the paths that it reads.
    pub(crate) fn parts(&self, scope: &Scope<'_>) -> Vec<Part> {
        let mut operands = Operands { source: self.source(), texts: Vec::new() };
        if let Ok(tree) = parse::expression(self.source()) {
            operands.find(&tree);
        }
        let reads = self.reads().iter().filter_map(|path| spelled(path));
        let mut parts: Vec<Part> = Vec::new();
        for text in operands.texts.into_iter().chain(reads) {
            if parts.len() == MOST || parts.iter().any(|part| part.text == text) {
                continue;
            }
            let Ok(part) = Expression::parse(&Spanned::new(text.clone(), self.at())) else { continue };
            let value = match part.value(scope) {
                Ok(value) => brief(&value),
                Err(failure) => format!("fails: {}", excerpt(&failure.message, VALUE)),
            };
            parts.push(Part { text, value });
        }
        parts
    }
}

/// The operands of the `and`s of a condition, or of its `or`s; the whole condition if there are none.
pub(crate) fn operands(source: &str, joined: Joined) -> Vec<&str> {
    fn find<'s>(tree: &Expr<'s>, source: &'s str, joined: Joined, found: &mut Vec<&'s str>) {
        match (&tree.kind, joined) {
            (Kind::And(parts), Joined::And) | (Kind::Or(parts), Joined::Or) => {
                parts.iter().for_each(|part| find(part, source, joined, found));
            }
            _ => found.push(tree.of(source)),
        }
    }
    let mut found = Vec::new();
    if let Ok(tree) = parse::expression(source) {
        find(&tree, source, joined, &mut found);
    }
    found
}

/// A word that joins conditions.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Joined {
    And,
    Or,
}

/// The operands, as source text.
struct Operands<'s> {
    source: &'s str,
    texts: Vec<String>,
}

impl<'s> Operands<'s> {
    fn find(&mut self, tree: &Expr<'s>) {
        match &tree.kind {
            Kind::Not(inner) => self.add(inner),
            // A chain is one list: `a and b and c` has three parts.
            Kind::And(parts) => parts.iter().for_each(|part| match &part.kind {
                Kind::And(_) => self.find(part),
                _ => self.add(part),
            }),
            Kind::Or(parts) => parts.iter().for_each(|part| match &part.kind {
                Kind::Or(_) => self.find(part),
                _ => self.add(part),
            }),
            Kind::Comparison(_, sides) => sides.iter().for_each(|side| self.add(side)),
            Kind::Chain(first, rest) => {
                self.add(first);
                rest.iter().for_each(|(_, part)| self.add(part));
            }
            Kind::Test(call) => self.add(&call.base),
            Kind::Choice(choice) => self.add(&choice.test),
            _ => {}
        }
    }

    fn add(&mut self, part: &Expr<'s>) {
        if part.constant().is_none() {
            self.texts.push(part.of(self.source).to_owned());
        }
        self.find(part);
    }
}

/// The path as an expression would write it.
fn spelled(path: &[String]) -> Option<String> {
    let (name, keys) = path.split_first()?;
    let mut text = name.clone();
    for key in keys {
        let is_word = |c: char| c.is_ascii_alphanumeric() || c == '_';
        let is_name = key.starts_with(|c: char| is_word(c) && !c.is_ascii_digit()) && key.chars().all(is_word);
        match key.parse::<u32>() {
            Ok(place) => text += &format!("[{place}]"),
            Err(_) if is_name => text += &format!(".{key}"),
            Err(_) => text += &format!("[{}]", serde_json::to_string(key).ok()?),
        }
    }
    Some(text)
}

/// A value as JSON, shortened without writing out large ones.
fn brief(value: &crate::value::Value) -> String {
    let mut start = Start(Vec::new());
    let cut = serde_json::to_writer(&mut start, value).is_err();
    let text = String::from_utf8_lossy(&start.0);
    match cut {
        true => format!("{}…", text.trim_end_matches(char::REPLACEMENT_CHARACTER)),
        false => text.into_owned(),
    }
}

/// Keeps only the first bytes that are written.
struct Start(Vec<u8>);

impl Write for Start {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        let room = VALUE - self.0.len();
        self.0.extend(bytes.iter().take(room));
        if bytes.len() > room { Err(io::ErrorKind::FileTooLarge.into()) } else { Ok(bytes.len()) }
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::text::{Location, Span};
    use crate::value::value;

    #[track_caller]
    fn check(source: &str, expected: &[(&str, &str)]) {
        let at = Location::response(Span::default());
        let when = Expression::parse(&Spanned::new(source.to_owned(), at)).unwrap();
        let state = value!({ "turns": 3, "names": ["a", "b"], "odd key": null, "long": "é".repeat(200) });
        let parts = when.parts(&Scope::new().with("state", &state));
        let told: Vec<(&str, &str)> = parts.iter().map(|part| (part.text.as_str(), part.value.as_str())).collect();
        assert_eq!(told, expected);
    }

    #[test]
    fn what_a_condition_rests_on_is_told_with_its_values() {
        check("state.turns > 3", &[("state.turns", "3")]);
        check("state.names | length == 0", &[("state.names | length", "2"), ("state.names", "[\"a\",\"b\"]")]);
        check("not state.turns", &[("state.turns", "3")]);
        check("state.turns", &[("state.turns", "3")]);
        check("state['odd key'] is none", &[("state['odd key']", "null"), ("state[\"odd key\"]", "null")]);
        check(
            "state.missing + 1 > 2",
            &[("state.missing + 1", "fails: `+` takes numbers, texts or lists, not none"), ("state.missing", "null")],
        );
        check("state.long", &[("state.long", &format!("\"{}…", "é".repeat(79)))]);
    }

    #[test]
    fn a_chain_is_one_list_of_parts() {
        check(
            "state.turns > 1 and state.turns < 3 and ('a' in state.names or state.turns)",
            &[
                ("state.turns > 1", "true"),
                ("state.turns", "3"),
                ("state.turns < 3", "false"),
                ("'a' in state.names or state.turns", "true"),
                ("'a' in state.names", "true"),
                ("state.names", "[\"a\",\"b\"]"),
            ],
        );
    }
}
