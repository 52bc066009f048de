//! Patterns: why can one not be used?
//!
//! In: what the `regex` crate says of a pattern.
//! Out: the message and the help of a diagnostic.
//! Never: compiles a pattern.

use regex::Error;

/// What is wrong with a pattern, and how to mend it.
pub(crate) fn bad_pattern_words(error: &Error) -> (String, &'static str) {
    match error {
        Error::CompiledTooBig(_) => ("the pattern is too large".to_owned(), "bound its repetitions, or split it"),
        other => {
            let text = other.to_string();
            let last = text.lines().last().unwrap_or_default();
            let reason = last.strip_prefix("error: ").unwrap_or(last);
            (
                format!("the pattern cannot be used: {reason}"),
                "patterns are those of the `regex` crate: no look-around, no back-references",
            )
        }
    }
}
