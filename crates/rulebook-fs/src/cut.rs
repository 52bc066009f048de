//! Cut: which part of a long text is shown?
//!
//! In: any text.
//! Out: its start.
//! Never: cuts inside a character.

use std::borrow::Cow;

/// The most bytes of a key, or of an error of the system, that a message quotes.
const MAX_QUOTED_BYTES: usize = 160;

/// The start of a text: at most `most` bytes.
pub(super) fn start(text: &str, most: usize) -> &str {
    let end = (0..=most.min(text.len())).rev().find(|end| text.is_char_boundary(*end));
    end.and_then(|end| text.get(..end)).unwrap_or_default()
}

/// The text with an ellipsis in place of what is beyond `most` bytes.
pub(super) fn cut(text: &str, most: usize) -> Cow<'_, str> {
    let start = start(text, most);
    if start.len() < text.len() { Cow::Owned(format!("{start}…")) } else { Cow::Borrowed(text) }
}

/// A text as messages quote it. They replace what would end their line or control a terminal.
pub(super) fn quoted(text: &str) -> Cow<'_, str> {
    cut(text, MAX_QUOTED_BYTES)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_character_is_never_cut() {
        assert_eq!((start("aé", 2), start("aé", 3), start("aé", 9)), ("a", "aé", "aé"));
        assert_eq!((cut("aé", 2), cut("aé", 3)), ("a…".into(), "aé".into()));
    }
}
