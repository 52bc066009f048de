//! Keys: is there the key of a member here, and which faults does it have?
//!
//! In: an offset in a response.
//! Out: [`MemberKey`]: its name, where its value starts, and the punctuation that is missing or superfluous.
//! Never: knows which names are declared, or looks further than the longest name.

use super::whitespace::{is_fence, skip_whitespace};
use crate::text::{Slice, Span};

/// A key, as recognised by its punctuation.
#[derive(Debug, Clone, Copy)]
pub(super) struct MemberKey<'t> {
    /// As written, without quotes.
    pub(super) name: &'t str,
    pub(super) span: Span,
    /// The start of its value: after the colon, or after the place of a missing colon.
    pub(super) value: usize,
    pub(super) form: KeyForm,
}

/// The form of a key.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum KeyForm {
    Whole,
    /// Without quotes, as keys are often written in code.
    Bare,
    /// With a missing or superfluous quote, or superfluous punctuation before its colon; the offset is where the fault
    /// is.
    Torn(usize),
    /// In quotes, but without a colon, which is missing at this offset.
    NoColon(usize),
}

impl KeyForm {
    /// Whether only a faulty answer has such a key, and never code.
    pub(super) fn is_damaged(self) -> bool {
        matches!(self, KeyForm::Torn(_) | KeyForm::NoColon(_))
    }
}

/// The longest key that is recognised.
pub(super) const MAX_NAME_BYTES: usize = 64;

/// The key in quotes that starts at `at`, with its colon.
pub(super) fn whole(text: &str, at: usize) -> Option<MemberKey<'_>> {
    let bytes = text.as_bytes();
    let first = *bytes.get(at)?;
    // In UTF-8, `“`, `”` and `„` differ in the last of three bytes.
    let width = match bytes.get(at..)? {
        [b'"' | b'\'', ..] => 1,
        [0xE2, 0x80, 0x9C..=0x9E, ..] => 3,
        _ => return None,
    };
    let rest = bytes.get(at + width..)?;
    let ends = |at: usize| match (width, rest.slice(at..)) {
        (1, [byte, ..]) => *byte == first,
        (_, [0xE2, 0x80, 0x9C | 0x9D, ..]) => true,
        _ => false,
    };
    let length =
        (0..rest.len().min(MAX_NAME_BYTES)).find(|at| ends(*at) || matches!(rest.get(*at), Some(b'\n' | b'\r')))?;
    let span = Span::new(at + width, at + width + length);
    if !ends(length) || length == 0 {
        return None;
    }
    let colon = skip_whitespace(bytes, span.end + width);
    let name = text.get(span.start..span.end)?;
    (bytes.get(colon) == Some(&b':')).then_some(MemberKey { name, span, value: colon + 1, form: KeyForm::Whole })
}

/// The key that starts at `at`, whatever faults it has.
pub(super) fn any(text: &str, at: usize) -> Option<MemberKey<'_>> {
    whole(text, at).or_else(|| faulty(text, at))
}

fn faulty(text: &str, at: usize) -> Option<MemberKey<'_>> {
    let bytes = text.as_bytes();
    let quotes = |at: usize| {
        let rest = bytes.slice(at..);
        rest.iter().take(2).take_while(|byte| **byte == b'"').count()
    };
    let before = quotes(at);
    let start = at + before;
    let word = |byte: &u8| byte.is_ascii_alphanumeric() || matches!(byte, b'_' | b'$' | b'-');
    let length = bytes.get(start..)?.iter().take(MAX_NAME_BYTES).take_while(|byte| word(byte)).count();
    let span = Span::new(start, start + length);
    let name = text.get(span.start..span.end)?;
    if name.starts_with(|first: char| !first.is_ascii_alphabetic() && !matches!(first, '_' | '$')) || name.is_empty() {
        return None;
    }
    let after = quotes(span.end);
    let colon = skip_whitespace(bytes, span.end + after);
    let form = match (before, after, bytes.get(colon) == Some(&b':')) {
        (0, 0, true) => KeyForm::Bare,
        (2, ..=1, true) | (1, 0, true) => KeyForm::Torn(at),
        (0 | 1, 1.., true) => KeyForm::Torn(span.end + after - 1),
        (1, 1, false) if matches!(bytes.get(colon), Some(b'}' | b']' | b',')) => {
            let behind = skip_whitespace(bytes, colon + 1);
            let form = KeyForm::Torn(colon);
            return (bytes.get(behind) == Some(&b':')).then_some(MemberKey { name, span, value: behind + 1, form });
        }
        // Two strings in a row are a key and its value, unless the second is a key itself.
        (1, 1.., false) => {
            let value = if after == 1 { colon } else { span.end + 1 };
            let is_value = starts_value(bytes, value) && whole(text, value).is_none();
            return is_value.then_some(MemberKey { name, span, value, form: KeyForm::NoColon(span.end + 1) });
        }
        _ => return None,
    };
    Some(MemberKey { name, span, value: colon + 1, form })
}

/// Whether a value starts here, and not a comma or colon.
fn starts_value(bytes: &[u8], at: usize) -> bool {
    matches!(bytes.get(at), Some(b'"' | b'[' | b'{' | b'-' | b'0'..=b'9'))
}

/// Whether a quote at `at` belongs to no string: a closer, another member or entry, or the end of the text follows.
pub(super) fn is_stray_quote(text: &str, at: usize) -> bool {
    let bytes = text.as_bytes();
    let next = skip_whitespace(bytes, at + 1);
    match bytes.get(next) {
        None | Some(b'}' | b']') => true,
        Some(b'`' | b'~') => is_fence(bytes, next),
        Some(b'{') => whole(text, skip_whitespace(bytes, next + 1)).is_some(),
        Some(b',') => {
            let after = skip_whitespace(bytes, next + 1);
            match bytes.get(after) {
                Some(b'{') => true,
                Some(b'"') => {
                    whole(text, after).is_some() || bytes.get(skip_whitespace(bytes, after + 1)) == Some(&b'{')
                }
                _ => false,
            }
        }
        _ => false,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The form of the faulty key at the start of a text, and its value.
    #[track_caller]
    fn check(text: &str, expected: Option<(KeyForm, &str)>) {
        let key = faulty(text, 0).map(|key| (key.form, text.slice(key.value..).trim()));
        assert_eq!(key, expected, "{text}");
    }

    #[test]
    fn a_faulty_key_is_one_with_a_colon_or_a_value_behind_it() {
        check("name: 1", Some((KeyForm::Bare, "1")));
        check("\"name: 1", Some((KeyForm::Torn(0), "1")));
        check("name\": 1", Some((KeyForm::Torn(4), "1")));
        check("\"name\",: 1", Some((KeyForm::Torn(6), "1")));
        check("\"name\" }: 1", Some((KeyForm::Torn(7), "1")));
        check("\"name\" 1", Some((KeyForm::NoColon(6), "1")));
    }

    #[test]
    fn entries_of_a_list_are_no_keys() {
        check("\"name\", 1", None);
        check("\"name\"}", None);
        check("name, other: 1", None);
        check("1name: 1", None);
        check(": 1", None);
    }
}
