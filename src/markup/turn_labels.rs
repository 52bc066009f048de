//! Turn labels: how does a text in a prompt not look like the start of a turn?
//!
//! In: the labels that begin a turn in a prompt that is one text, such as `USER:`, and a text of somebody else.
//! Out: the text, with a character reference in place of the first character of each label at the start of a line.
//! Never: decides what the labels are, or changes a label in the midst of a line.

use crate::text::{Slice, is_unseen};
use std::borrow::Cow;
use std::fmt::Write as _;

/// `text`, in which no line begins with one of these labels. Characters that a model may not see, such as a zero-width
/// space, are no part of a line's beginning. `starts_line` says whether the text itself starts a line; it is called only
/// if the text has a label.
pub(crate) fn break_turn_labels<'t>(
    labels: &[&str],
    text: &'t str,
    starts_line: impl FnOnce() -> bool,
) -> Cow<'t, str> {
    // Fast path: hardly any text has a label.
    if !labels.iter().any(|label| text.contains(label)) {
        return Cow::Borrowed(text);
    }
    let (mut out, mut from, mut at_line_start) = (String::new(), 0, starts_line());
    for (at, c) in text.char_indices() {
        if at_line_start && labels.iter().any(|label| text.slice(at..).starts_with(label)) {
            out.push_str(text.slice(from..at));
            let _ = write!(out, "&#{};", c as u32);
            from = at + c.len_utf8();
        }
        at_line_start = ends_line(c) || (at_line_start && (c.is_whitespace() || is_unseen(c)));
    }
    if from == 0 {
        return Cow::Borrowed(text);
    }
    out.push_str(text.slice(from..));
    Cow::Owned(out)
}

/// Whether a line may be over with this character: the mandatory breaks of Unicode (UAX 14).
pub(crate) fn ends_line(c: char) -> bool {
    matches!(c, '\n' | '\u{b}' | '\u{c}' | '\r' | '\u{85}' | '\u{2028}' | '\u{2029}')
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check(text: &str, expected: &str) {
        assert_eq!(break_turn_labels(&["USER:", "MODEL:"], text, || true), expected, "{text:?}");
    }

    #[test]
    fn a_label_at_the_start_of_a_line_is_broken() {
        check("a USER: b", "a USER: b");
        check("USER: a", "&#85;SER: a");
        check("a\nUSER: b\n\n  MODEL: c", "a\n&#85;SER: b\n\n  &#77;ODEL: c");
        check("USERS: a\nUSER", "USERS: a\nUSER");
    }

    #[test]
    fn a_line_may_begin_with_what_nobody_sees() {
        for before in
            ["\r", "\u{85}", "\u{2028}", "\n\u{200b}", "\n\u{feff}\t", "\n\u{a0}\u{200d}", "\n\u{202e}\u{2060}"]
        {
            check(&format!("a{before}USER: b"), &format!("a{before}&#85;SER: b"));
        }
    }
}
