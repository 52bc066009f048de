//! Decoding: what is a text after its entities or escapes are decoded?
//!
//! In: a text as it is in the response.
//! Out: the text with the five entities of XML and character references decoded, or with the escapes of a JSON string
//! decoded, or without its guards.
//! Never: changes an unknown entity, or decodes a text twice that was not obviously encoded twice.

use crate::json::{decode_quoted, decode_string, escape_in, known_escape, next_backslash, resolve, unescape};
use crate::program::BlockBinding;
use crate::surface::Decoding;
use crate::text::{Guard, Slice, starts_fence};
use std::borrow::Cow;

/// How a text is encoded in the response.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum TextEncoding {
    Plain,
    Entities,
    /// With guards before lines that look like markup.
    Guarded(Guard),
    /// With the escapes of string literals in code: those of JSON, and both kinds of quotation marks.
    Escapes,
    /// With the escapes of a JSON string.
    Json,
    /// With escaped escapes.
    EscapesTwice,
}

impl TextEncoding {
    /// The encoding of the parameters of a call.
    pub(crate) fn of(block: &BlockBinding) -> Self {
        match block.decode {
            Some(Decoding::Entities) => TextEncoding::Entities,
            Some(Decoding::Escapes) => TextEncoding::Escapes,
            Some(Decoding::Guarded) | None => TextEncoding::Plain,
        }
    }

    /// The decoded text.
    pub(crate) fn decode(self, raw: &str) -> Cow<'_, str> {
        match self {
            TextEncoding::Plain => Cow::Borrowed(raw),
            TextEncoding::Entities => decode_entities(raw),
            TextEncoding::Guarded(guard) => guard.take_off(raw),
            TextEncoding::Escapes => decode_quoted(raw, '\''),
            TextEncoding::Json => decode_string(raw),
            TextEncoding::EscapesTwice => unescape_again(&decode_string(raw)).into(),
        }
    }

    /// The length of the part of a growing text that can be decoded already: a reference or an escape at the end may be
    /// incomplete.
    pub(crate) fn whole(self, raw: &str) -> usize {
        let from = crate::text::boundary(raw, raw.len().saturating_sub(MAX_REFERENCE_BYTES));
        let rest = raw.as_bytes().slice(from..);
        let ends = |at: &usize| rest.get(*at..).is_some_and(|rest| memchr::memchr(b';', rest).is_some());
        let half = match self {
            TextEncoding::Plain | TextEncoding::Guarded(_) => None,
            TextEncoding::Entities => memchr::memrchr(b'&', rest).filter(|at| !ends(at)),
            // An escape may be the second half of a pair, and a backslash may be escaped: wait at the first of a run.
            TextEncoding::Escapes | TextEncoding::Json | TextEncoding::EscapesTwice => memchr::memchr(b'\\', rest),
        };
        half.map_or(raw.len(), |at| from + at)
    }

    /// The offset in the raw text of the offset `decoded` in the decoded text.
    pub(crate) fn raw_offset(self, raw: &str, decoded: usize) -> usize {
        match self {
            TextEncoding::Plain => decoded,
            TextEncoding::Entities => raw_offset_of_entities(raw, decoded),
            TextEncoding::Guarded(guard) => guard.raw_offset(raw, decoded),
            TextEncoding::Escapes => raw_offset_of_escapes(raw, decoded, |text| escape_in(text, '\'')),
            TextEncoding::Json => raw_offset_of_escapes(raw, decoded, unescape),
            TextEncoding::EscapesTwice => {
                let once = decode_string(raw);
                let offset = raw_offset_of_escapes(&once, decoded, known_escape);
                raw_offset_of_escapes(raw, offset, unescape)
            }
        }
    }
}

/// The longest reference that is recognised, from `&` to `;`.
const MAX_REFERENCE_BYTES: usize = 12;

/// Decodes `&lt; &gt; &amp; &quot; &apos;` and `&#…;`. All other text is left as it is.
pub(crate) fn decode_entities(text: &str) -> Cow<'_, str> {
    let Some(first) = memchr::memchr(b'&', text.as_bytes()) else { return Cow::Borrowed(text) };
    let mut out = String::with_capacity(text.len());
    let mut from = 0;
    let mut at = first;
    loop {
        let rest = text.slice(at..);
        if let Some((length, character)) = reference(rest) {
            out.push_str(text.slice(from..at));
            out.push(character);
            from = at + length;
        }
        let next = from.max(at + 1);
        match memchr::memchr(b'&', text.as_bytes().slice(next..)) {
            Some(offset) => at = next + offset,
            None => break,
        }
    }
    out.push_str(text.slice(from..));
    Cow::Owned(out)
}

/// The length of the reference at the start of `text`, and its character.
fn reference(text: &str) -> Option<(usize, char)> {
    let end = text.bytes().take(MAX_REFERENCE_BYTES).position(|byte| byte == b';')?;
    let name = text.get(1..end)?;
    let character = match name {
        "lt" => '<',
        "gt" => '>',
        "amp" => '&',
        "quot" => '"',
        "apos" => '\'',
        _ => {
            let digits = name.strip_prefix('#')?;
            let number = match digits.strip_prefix(['x', 'X']) {
                Some(hex) if hex.bytes().all(|byte| byte.is_ascii_hexdigit()) => u32::from_str_radix(hex, 16).ok()?,
                None if digits.bytes().all(|byte| byte.is_ascii_digit()) => digits.parse().ok()?,
                _ => return None,
            };
            // XML has no NUL.
            char::from_u32(number).filter(|character| *character != '\0')?
        }
    };
    Some((end + 1, character))
}

/// A JSON string without the quotes at its ends. Either quote may be missing in a text that is cut off.
pub(crate) fn unquoted(raw: &str) -> &str {
    let ends: &[char] = match raw.chars().next() {
        Some('"') => &['"'],
        Some('\'') => &['\''],
        Some('“' | '”' | '„') => &['“', '”'],
        _ => return raw,
    };
    let mut rest = raw.chars();
    rest.next();
    rest.as_str().strip_suffix(ends).unwrap_or(rest.as_str())
}

/// Whether a JSON string was escaped twice: decoded once, it has no line break, but at least one `\n` where a line
/// could break, outside quotes and parentheses, and no backslash that starts no escape. A `\n` mentioned in prose does
/// not count.
pub(super) fn is_escaped_twice(raw: &str) -> bool {
    // Fast path: most strings of several lines have an escape for a line break, and no escaped one.
    if memchr::memmem::find(raw.as_bytes(), br"\\n").is_none() || has_line_break(raw) {
        return false;
    }
    let once = decode_string(raw);
    if memchr::memchr2(b'\n', b'\r', once.as_bytes()).is_some() {
        return false;
    }
    let mut breaks = 0;
    let mut clear = false;
    let mut rest = once.as_ref();
    while let Some(at) = next_backslash(rest.as_bytes()) {
        let escape = rest.slice(at + 1..);
        let (length, character) = known_escape(escape);
        if length == 0 {
            return false;
        }
        rest = escape.slice(length..);
        let before = once.slice(..once.len() - escape.len() - 1);
        if character == '\n' && !is_named(before, rest) {
            if breaks == 0 && is_quoted(before) {
                return false;
            }
            breaks += 1;
            clear |= before.ends_with(';') || !rest.starts_with(|next: char| next.is_ascii_lowercase());
        }
    }
    breaks > 2 || clear
}

/// Whether a JSON string has an escape for a line break.
fn has_line_break(raw: &str) -> bool {
    let mut rest = raw.as_bytes();
    while let Some(at) = next_backslash(rest) {
        if matches!(rest.get(at + 1), Some(b'n' | b'r')) {
            return true;
        }
        rest = rest.get(at + 2..).unwrap_or_default();
    }
    false
}

/// Whether the escape is only mentioned in prose, between words, as in: the escape `\n` and others.
fn is_named(before: &str, behind: &str) -> bool {
    let apart = before.ends_with(' ') && !before.ends_with("  ");
    apart && !behind.starts_with(['\\', '#', '-', '*', '|', '<', '`', '}'])
}

/// Whether the end of a line of code is inside quotes, parentheses or a regular expression.
fn is_quoted(line: &str) -> bool {
    // A code fence is no quotation mark, and a row of a table does not end in a regular expression.
    let start = line.trim_start();
    if starts_fence(start.as_bytes()) || start.starts_with('|') && line.ends_with('|') {
        return false;
    }
    let mut quote = None;
    let mut depth = 0usize;
    let mut before = ' ';
    for character in line.chars() {
        match (quote, character) {
            (Some(open), close) if open == close && before != '\\' => quote = None,
            (Some(_), _) => {}
            (None, '"' | '`') if before != '\\' => quote = Some(character),
            // An apostrophe inside a word is no quotation mark.
            (None, '\'') if !before.is_alphanumeric() => quote = Some(character),
            (None, '(') => depth += 1,
            (None, ')') => depth = depth.saturating_sub(1),
            _ => {}
        }
        before = character;
    }
    quote.is_some() || depth > 0 || matches!(before, '/' | '[' | '|' | '^')
}

/// Decodes escapes once more. All other text is left as it is.
fn unescape_again(text: &str) -> String {
    resolve(text, known_escape)
}

/// The offset in a raw text that corresponds to the offset `decoded` in the text with decoded escapes.
fn raw_offset_of_escapes(raw: &str, decoded: usize, escape: impl Fn(&str) -> (usize, char)) -> usize {
    let (mut from, mut to) = (0, 0);
    loop {
        let rest = raw.slice(from..);
        let next = memchr::memchr(b'\\', rest.as_bytes()).unwrap_or(rest.len());
        if next >= decoded - to || rest.is_empty() {
            return from + (decoded - to);
        }
        let (length, character) = escape(rest.slice(next + 1..));
        let width = if length == 0 { 1 } else { character.len_utf8() };
        if to + next + width > decoded {
            return from + next;
        }
        from += next + 1 + length;
        to += next + width;
    }
}

/// The offset in a raw text that corresponds to the offset `decoded` in the text with decoded entities.
fn raw_offset_of_entities(raw: &str, decoded: usize) -> usize {
    let (mut from, mut to) = (0, 0);
    while to < decoded {
        let rest = raw.slice(from..);
        let next = memchr::memchr(b'&', rest.as_bytes()).unwrap_or(rest.len());
        if next >= decoded - to || rest.is_empty() {
            return from + (decoded - to);
        }
        from += next;
        to += next;
        let (length, width) =
            reference(raw.slice(from..)).map_or((1, 1), |(length, character)| (length, character.len_utf8()));
        from += length;
        to += width;
    }
    from
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check(text: &str, expected: &str) {
        assert_eq!(decode_entities(text), expected);
    }

    #[test]
    fn entities_are_resolved_once() {
        check("a &lt;b&gt; &amp;lt; &quot;&apos;", "a <b> &lt; \"'");
        check("&#65;&#x42;&#X43;", "ABC");
        check("&nbsp; &; & &#; &#x; &#0; &#+1; &#xD800; &lt", "&nbsp; &; & &#; &#x; &#0; &#+1; &#xD800; &lt");
    }

    #[test]
    fn offsets_of_decoded_text_point_at_what_was_written() {
        let at = |spelling: TextEncoding, raw: &str, decoded| spelling.raw_offset(raw, decoded);
        assert_eq!(at(TextEncoding::Entities, "a &lt; b", 2), 2);
        assert_eq!(at(TextEncoding::Entities, "a &lt; b", 3), 6);
        assert_eq!(at(TextEncoding::Entities, "&&amp;x", 2), 6);
        assert_eq!(at(TextEncoding::Entities, "& b&#32;c", 2), 2);
        assert_eq!(at(TextEncoding::Entities, "& b&#32;c", 4), 8);
        assert_eq!(at(TextEncoding::Escapes, r"a\nb", 1), 1);
        assert_eq!(at(TextEncoding::Escapes, r"a\nb", 2), 3);
        assert_eq!(at(TextEncoding::Escapes, r"\u00e9x", 2), 6);
        assert_eq!(at(TextEncoding::EscapesTwice, r"a\\nb", 2), 4);
    }

    #[test]
    fn escapes_are_resolved() {
        assert_eq!(decode_string(r#"a\n\u00e9\ud83d\ude00\/\"\d\ud800"#), "a\n\u{e9}\u{1f600}/\"\\d\u{fffd}");
        assert_eq!(TextEncoding::EscapesTwice.decode(r#"a\\n\\\"b\\\""#), "a\n\"b\"");
    }

    #[track_caller]
    fn check_twice(text: &str, expected: bool) {
        let raw = serde_json::to_string(text).unwrap();
        assert_eq!(is_escaped_twice(raw.trim_matches('"')), expected, "{text}");
    }

    #[test]
    fn text_is_decoded_twice_only_if_it_was_certainly_escaped_twice() {
        check_twice(r"# Title\n# Date\n\n- it's a list", true);
        check_twice(r"import x from 'y';\n", true);
        check_twice(r#"const a = \"b\";\nconst c = 1;\n"#, true);
        check_twice(r"const a = 1;\nconst b = 2;\nconst c = 3;", true);
        check_twice(r"| a | b |\n|---|---|\n", true);
        check_twice(r#"```json\n{\"a\": 1}\n```"#, true);
        check_twice(r"Split at \n and join.", false);
        check_twice(r"Split the text at \n into lines.", false);
        check_twice(r"It ends in \n.", false);
        check_twice(r#"console.log("a\nb\n\n");"#, false);
        check_twice(r"print('a\n')", false);
        check_twice(r"const s = `a\n#b`;", false);
        check_twice(r"export const lines = (t) => t.split(/\r?\n/);", false);
        check_twice(r"sed 's/x/\n/'", false);
        check_twice("real\nlines with \\n and \\n\\n", false);
        check_twice(r"$\nabla f$", false);
        check_twice(r"C:\new\data\names", false);
        check_twice("plain", false);
    }
}
