//! Legible text: how is a text quoted in one line of a message?
//!
//! In: any text.
//! Out: the text or its start, without characters that would end the line, control a terminal or reverse the direction
//! of text.
//! Never: knows why the text is quoted.

use super::Slice;
use std::borrow::Cow;

/// `text` cut to at most `most` characters, with an ellipsis if it was cut. Line breaks become spaces;
/// characters that change the direction of text are escaped.
pub fn excerpt(text: &str, most: usize) -> Cow<'_, str> {
    let flat = |text: &str| {
        let mut out = String::with_capacity(text.len());
        for c in text.chars() {
            match c {
                c if c.is_control() => out.push(' '),
                c if is_bidi_control(c) => out.extend(c.escape_unicode()),
                c => out.push(c),
            }
        }
        out
    };
    let cut = if text.len() > most { text.char_indices().nth(most) } else { None };
    match cut {
        Some((cut, _)) => Cow::Owned(flat(text.slice(..cut)) + "…"),
        None if is_line(text) => Cow::Borrowed(text),
        None => Cow::Owned(flat(text)),
    }
}

/// The text without characters that would end its line or control a terminal.
pub fn one_line(text: &str) -> Cow<'_, str> {
    if is_line(text) {
        return Cow::Borrowed(text);
    }
    let mut line = String::with_capacity(text.len());
    for c in text.chars() {
        match c {
            '\n' => line.push_str("\\n"),
            '\r' => line.push_str("\\r"),
            '\t' => line.push_str("\\t"),
            c if c.is_control() || is_bidi_control(c) => line.extend(c.escape_unicode()),
            c => line.push(c),
        }
    }
    Cow::Owned(line)
}

/// The whole text, with its line breaks. Other characters that are invisible, or would control a terminal or change the
/// direction of text, are escaped, so that nothing in it is hidden from a person who decides about it.
pub(crate) fn legible(text: &str) -> Cow<'_, str> {
    let is_hidden = |c: char| c != '\n' && (c.is_control() || is_bidi_control(c) || is_invisible(c));
    if !text.contains(is_hidden) {
        return Cow::Borrowed(text);
    }
    let mut whole = String::with_capacity(text.len());
    for c in text.chars() {
        if is_hidden(c) { whole.extend(c.escape_unicode()) } else { whole.push(c) }
    }
    Cow::Owned(whole)
}

/// Whether the text can be displayed on one line as it is.
fn is_line(text: &str) -> bool {
    // Fast path: most texts are printable ASCII, and the compiler vectorizes this loop.
    let plain = text.bytes().fold(true, |plain, byte| plain & matches!(byte, b' '..=b'~'));
    plain || !text.chars().any(|c| c.is_control() || is_bidi_control(c))
}

/// Whether a character changes the direction in which text is displayed: `Bidi_Control` of Unicode.
pub fn is_bidi_control(c: char) -> bool {
    matches!(c, '\u{61c}' | '\u{200e}' | '\u{200f}' | '\u{202a}'..='\u{202e}' | '\u{2066}'..='\u{2069}')
}

/// Whether a character is displayed as nothing, or ends a line unseen. Joiners and variation selectors are not among
/// these: emoji and some scripts need them.
fn is_invisible(c: char) -> bool {
    matches!(c, '\u{ad}' | '\u{34f}' | '\u{115f}' | '\u{1160}' | '\u{17b4}' | '\u{17b5}' | '\u{180e}' | '\u{200b}')
        || matches!(c, '\u{2028}' | '\u{2029}' | '\u{2060}'..='\u{2064}' | '\u{206a}'..='\u{206f}' | '\u{3164}')
        || matches!(c, '\u{feff}' | '\u{ffa0}' | '\u{fff9}'..='\u{fffb}' | '\u{e0000}'..='\u{e0fff}')
}

/// Whether a person or a model may not see the character. Unlike [`legible`], this includes what emoji and some scripts
/// need.
pub(crate) fn is_unseen(c: char) -> bool {
    let joins = matches!(c, '\u{200c}' | '\u{200d}' | '\u{fe00}'..='\u{fe0f}');
    joins || c.is_control() || is_bidi_control(c) || is_invisible(c)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_excerpt_is_one_line_and_short() {
        assert_eq!(excerpt("a\nb", 9), "a b");
        assert_eq!(excerpt("abcdef", 3), "abc…");
        assert_eq!(excerpt("a\u{202e}b", 9), "a\\u{202e}b");
    }

    #[test]
    fn a_question_to_a_person_is_whole_and_has_no_invisible_characters() {
        let long = format!("Run `{}`?", "x".repeat(1000));
        assert_eq!(legible(&long), long);
        assert_eq!(legible("Run `a\nb`?"), "Run `a\nb`?");
        assert_eq!(legible("a\u{200b}b\u{e0041}c\u{2028}d"), "a\\u{200b}b\\u{e0041}c\\u{2028}d");
        assert_eq!(legible("a\rb\u{1b}[2K\u{202e}c\td"), "a\\u{d}b\\u{1b}[2K\\u{202e}c\\u{9}d");
    }
}
