//! Condition parts: why is a condition true or false?
//!
//! In: a condition, and the scope in which it was evaluated.
//! Out: [`ConditionPart`]s: the operands of its `and`, `or`, `not` and comparisons, and the paths it reads, with
//! values.
//! Never: decides whether the condition is true. If a part cannot be evaluated by itself, its value is the error.

use crate::expression::{ExprTree, Expression, Failure, Operation, Scope, at_path};
use crate::text::excerpt;
use crate::value::Value;
use std::io::{self, Write};

/// The maximum bytes of a value in the trace.
const MAX_VALUE_BYTES: usize = 160;
/// The maximum number of parts of a condition in the trace.
const MAX_PARTS: usize = 16;

/// A part of a condition, and its value.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct ConditionPart {
    /// The source of the part, as the pack writes it.
    pub(crate) text: String,
    /// The value as JSON, shortened; or the error, if there is no value.
    pub(crate) value: String,
}

/// The parts of a condition in the order of its text, each before its own operands; then the paths that it reads.
pub(super) fn parts(when: &Expression, scope: &Scope<'_>) -> Vec<ConditionPart> {
    let mut parts: Vec<ConditionPart> = Vec::new();
    let mut add = |text: String, value: &dyn Fn() -> Result<Value, Failure>| {
        if parts.len() < MAX_PARTS && !parts.iter().any(|part| part.text == text) {
            let fails = |failure: Failure| format!("fails: {}", excerpt(&failure.message, MAX_VALUE_BYTES));
            parts.push(ConditionPart { text, value: value().map_or_else(fails, |value| brief(&value)) });
        }
    };
    if let Some(tree) = when.tree() {
        operands(tree, &mut |part| add(part.span.of(when.source()).to_owned(), &|| when.part(part, scope)));
    }
    for path in when.reads() {
        if let Some((name, keys)) = path.split_first() {
            add(spelled(name, keys), &|| at_path(name, keys, scope));
        }
    }
    parts
}

/// Calls `found` for each operand of a condition, before the operands of that operand. Constants are skipped.
fn operands<'t>(tree: &'t ExprTree, found: &mut dyn FnMut(&'t ExprTree)) {
    let parts = match (&tree.op, &*tree.parts) {
        (Operation::Not | Operation::And | Operation::Or | Operation::Comparison(_) | Operation::Chain(_), parts) => {
            parts
        }
        (Operation::Test(_), [base, ..]) => std::slice::from_ref(base),
        (Operation::Conditional, [_, test, _]) => std::slice::from_ref(test),
        _ => &[],
    };
    for part in parts {
        let is_list = matches!((&tree.op, &part.op), (Operation::And, Operation::And) | (Operation::Or, Operation::Or));
        // `a not in b` is one operator, written where `not` and `a in b` would both be.
        let is_half = matches!(tree.op, Operation::Not) && part.span == tree.span;
        // A chain of one operator is a list: `a and b and c` has three parts.
        if part.constant().is_none() && !is_list && !is_half {
            found(part);
        }
        operands(part, found);
    }
}

/// A path in the notation of expressions.
fn spelled(name: &str, keys: &[String]) -> String {
    let mut text = name.to_owned();
    for key in keys {
        let is_word = |c: char| c.is_ascii_alphanumeric() || c == '_';
        let is_name = key.starts_with(|c: char| is_word(c) && !c.is_ascii_digit()) && key.chars().all(is_word);
        match key.parse::<u32>() {
            Ok(place) => text += &format!("[{place}]"),
            Err(_) if is_name => text += &format!(".{key}"),
            Err(_) => text += &format!("[{}]", Value::from(key.as_str())),
        }
    }
    text
}

/// A value as JSON, cut to `MAX_VALUE_BYTES` bytes. A large value is not written to its end.
fn brief(value: &Value) -> String {
    let mut start = FirstBytes(Vec::new());
    let cut = serde_json::to_writer(&mut start, value).is_err();
    let text = String::from_utf8_lossy(&start.0);
    match cut {
        true => format!("{}…", text.trim_end_matches(char::REPLACEMENT_CHARACTER)),
        false => text.into_owned(),
    }
}

/// A writer that stores the first `MAX_VALUE_BYTES` bytes and then fails.
struct FirstBytes(Vec<u8>);

impl Write for FirstBytes {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        let room = MAX_VALUE_BYTES - self.0.len();
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
    use crate::text::{Location, Span, Spanned};
    use crate::value::value;

    #[track_caller]
    fn check(source: &str, expected: &[(&str, &str)]) {
        let at = Location::response(Span::default());
        let when = Expression::parse(&Spanned::new(source.to_owned(), at)).unwrap();
        let state = value!({ "turns": 3, "names": ["a", "b"], "odd key": null, "long": "é".repeat(200) });
        let parts = super::parts(&when, &Scope::new().with("state", &state));
        let pairs: Vec<(&str, &str)> = parts.iter().map(|part| (part.text.as_str(), part.value.as_str())).collect();
        assert_eq!(pairs, expected);
    }

    #[test]
    fn the_operands_of_a_condition_are_reported_with_their_values() {
        check("state.turns > 3", &[("state.turns", "3")]);
        check("state.names | length == 0", &[("state.names | length", "2"), ("state.names", "[\"a\",\"b\"]")]);
        check("not state.turns", &[("state.turns", "3")]);
        check("state.turns", &[("state.turns", "3")]);
        check("state['odd key'] is none", &[("state['odd key']", "null"), ("state[\"odd key\"]", "null")]);
        check(
            "state.missing + 1 > 2",
            &[("state.missing + 1", "fails: `+` takes numbers, texts or lists, not none"), ("state.missing", "null")],
        );
        check("3 not in state.names", &[("state.names", "[\"a\",\"b\"]")]);
        check(
            "state.turns is not odd or 'a' not in state.names",
            &[
                ("state.turns is not odd", "false"),
                ("state.turns", "3"),
                ("'a' not in state.names", "false"),
                ("state.names", "[\"a\",\"b\"]"),
            ],
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
