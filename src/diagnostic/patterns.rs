//! Patterns: why can a pattern not be used?
//!
//! In: an error of the `regex` crate.
//! Out: the message and the help of a diagnostic.
//! Never: compiles a pattern.

use crate::text::{Location, Span, Spanned};
use regex::Error;

/// The place of the fault in the pattern, or the whole pattern if its source cannot be mapped to it.
pub(crate) fn bad_pattern_place(pattern: &Spanned<String>) -> Location {
    let span = match regex_syntax::parse(&pattern.value) {
        Err(regex_syntax::Error::Parse(error)) => *error.span(),
        Err(regex_syntax::Error::Translate(error)) => *error.span(),
        _ => return pattern.at,
    };
    pattern.place_of(Span::new(span.start.offset, span.end.offset.max(span.start.offset + 1)))
}

/// What is wrong with a pattern, and how to fix it.
pub(crate) fn bad_pattern_words(error: &Error) -> (String, &'static str) {
    match error {
        Error::CompiledTooBig(_) => ("the pattern is too large".to_owned(), "bound its repetitions, or split it"),
        other => {
            let text = other.to_string();
            let last = text.lines().last().unwrap_or_default();
            let reason = last.strip_prefix("error: ").unwrap_or(last);
            let help = match reason {
                reason if reason.starts_with("unclosed") || reason.starts_with("unopened") => {
                    "a bracket that is meant literally needs a backslash before it"
                }
                reason if reason.starts_with("repetition operator missing") => {
                    "a `*`, `+` or `?` that is meant literally needs a backslash before it"
                }
                _ => "patterns are those of the `regex` crate: no look-around, no back-references",
            };
            (format!("the pattern cannot be used: {reason}"), help)
        }
    }
}
