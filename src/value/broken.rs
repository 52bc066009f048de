//! Broken: where does a text stop being JSON, and why?
//!
//! In: a text, and the error from parsing it.
//! Out: the character at which the text stops being JSON, and the reason in words.
//! Never: parses the text, or tolerates anything.

use crate::text::{Span, boundary};
use serde_json::Error;

/// The reason, without line and column.
pub fn why(error: &Error) -> String {
    let whole = error.to_string();
    match whole.split(" at line ").next().unwrap_or_default() {
        // serde_json expects an identifier after any `t`, `f` or `n`, with which ordinary words start, too.
        "expected ident" => "expected value".to_owned(),
        why => why.to_owned(),
    }
}

/// The character at which parsing failed; empty at the end of the text.
pub fn place(error: &Error, text: &str) -> Span {
    let at = boundary(text, line(error, text) + error.column().saturating_sub(1));
    let length = text.get(at..).and_then(|rest| rest.chars().next()).map_or(0, char::len_utf8);
    Span::new(at, at + length)
}

/// How many bytes were parsed.
pub(crate) fn read(error: &Error, text: &str) -> usize {
    (line(error, text) + error.column()).min(text.len())
}

/// Where the line with the error starts.
fn line(error: &Error, text: &str) -> usize {
    let starts = memchr::memchr_iter(b'\n', text.as_bytes()).map(|end| end + 1);
    std::iter::once(0).chain(starts).nth(error.line().saturating_sub(1)).unwrap_or(text.len())
}
