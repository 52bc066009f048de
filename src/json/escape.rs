//! Escapes: which character does an escape in a JSON string denote?
//!
//! In: the text after a backslash.
//! Out: the character, and the length of the escape.
//! Never: drops a backslash that starts no escape: the backslash is part of the text.

use crate::text::{Slice, eights};
use memchr::memmem;
use std::borrow::Cow;
use std::sync::LazyLock;

/// Decodes the escapes of a JSON string without its quotes.
pub(crate) fn decode_string(raw: &str) -> Cow<'_, str> {
    if memchr::memchr(b'\\', raw.as_bytes()).is_none() {
        return Cow::Borrowed(raw);
    }
    resolve(raw, unescape).into()
}

/// Like `decode_string`, for a string in other quotes, which can be escaped, too.
pub(crate) fn decode_quoted(raw: &str, quote: char) -> Cow<'_, str> {
    if memchr::memchr(b'\\', raw.as_bytes()).is_none() {
        return Cow::Borrowed(raw);
    }
    resolve(raw, |text| escape_in(text, quote)).into()
}

/// Like [`unescape`], for a string in other quotes, which can be escaped, too.
pub(crate) fn escape_in(text: &str, quote: char) -> (usize, char) {
    if text.starts_with(quote) { (quote.len_utf8(), quote) } else { unescape(text) }
}

/// Replaces each backslash together with the escape that `escape` reads after it; a length of 0 leaves the backslash.
pub(crate) fn resolve(raw: &str, escape: impl Fn(&str) -> (usize, char)) -> String {
    let mut out = String::with_capacity(raw.len());
    let mut rest = raw;
    while let Some(at) = next_backslash(rest.as_bytes()) {
        out.push_str(rest.slice(..at));
        let after = rest.slice(at + 1..);
        let (length, character) = escape(after);
        out.push(if length == 0 { '\\' } else { character });
        rest = after.slice(length..);
    }
    out.push_str(rest);
    out
}

/// The index of the next backslash.
pub(crate) fn next_backslash(text: &[u8]) -> Option<usize> {
    eights::near_or_far(text, |eight| eights::equal(b'\\', eight), |far| memchr::memchr(b'\\', far))
}

/// The escapes that nobody writes for what they denote.
static DOUBTFUL: LazyLock<[memmem::Finder<'static>; 2]> = LazyLock::new(|| [r"\b", r"\f"].map(memmem::Finder::new));

/// Whether it is doubtful what the escapes of a string mean, since another backslash in it starts none: a backspace or a
/// form feed, which nobody writes, may be a backslash and a letter, as in `/\bfoo\d/`, and so may any control character
/// in a path of Windows.
pub(crate) fn has_doubtful_escapes(raw: &str) -> bool {
    let is_path = matches!(raw.as_bytes(), [drive, b':', b'\\', ..] if drive.is_ascii_alphabetic());
    // Fast path: line breaks alone are never doubtful (run of valid JSON: 6 % fewer instructions).
    if !is_path && DOUBTFUL.iter().all(|escape| escape.find(raw.as_bytes()).is_none()) {
        return false;
    }
    let (mut rest, mut is_broken, mut is_doubtful) = (raw, false, false);
    while let Some(at) = next_backslash(rest.as_bytes()) {
        let after = rest.slice(at + 1..);
        is_doubtful |= match after.bytes().next() {
            Some(b'b' | b'f') => true,
            Some(b'n' | b'r' | b't') => is_path,
            _ => false,
        };
        let (length, _) = known_escape(after);
        is_broken |= length == 0;
        rest = after.slice(length..);
    }
    is_broken && is_doubtful
}

/// How an escape by its number starts.
static NUMBERED: LazyLock<memmem::Finder<'static>> = LazyLock::new(|| memmem::Finder::new(r"\u"));

/// Whether an escape is half of a surrogate pair without the other half, which is no character.
pub(crate) fn has_lone_surrogate(raw: &str) -> bool {
    // Fast path: most texts have no such escape at all.
    let Some(first) = NUMBERED.find(raw.as_bytes()) else { return false };
    // The backslash found may be the second of two.
    let start = raw.slice(..first).trim_end_matches('\\').len();
    let mut rest = raw.slice(start..);
    while let Some(at) = next_backslash(rest.as_bytes()) {
        let after = rest.slice(at + 1..);
        let (length, character) = known_escape(after);
        let is_written = || after.get(1..5).is_some_and(|digits| digits.eq_ignore_ascii_case("fffd"));
        if length > 1 && character == char::REPLACEMENT_CHARACTER && !is_written() {
            return true;
        }
        rest = after.slice(length..);
    }
    false
}

/// The length of the escape after a backslash, and the character that it denotes; 0 if JSON has no such escape. An
/// unpaired half of a surrogate pair becomes U+FFFD.
pub(crate) fn known_escape(text: &str) -> (usize, char) {
    let hex = |from: usize| {
        let digits = text.get(from..from + 4)?;
        u32::from_str_radix(digits, 16).ok().filter(|_| digits.bytes().all(|byte| byte.is_ascii_hexdigit()))
    };
    match text.bytes().next() {
        Some(quote @ (b'"' | b'\\' | b'/')) => (1, char::from(quote)),
        Some(b'n') => (1, '\n'),
        Some(b't') => (1, '\t'),
        Some(b'r') => (1, '\r'),
        Some(b'b') => (1, '\u{8}'),
        Some(b'f') => (1, '\u{c}'),
        Some(b'u') => {
            let Some(unit) = hex(1) else { return (0, '\\') };
            if let Some(character) = char::from_u32(unit) {
                return (5, character);
            }
            let low = text.get(5..7).filter(|next| *next == "\\u").and_then(|_| hex(7));
            match low.filter(|low| (0xD800..0xDC00).contains(&unit) && (0xDC00..0xE000).contains(low)) {
                Some(low) => {
                    let code = 0x10000 + ((unit - 0xD800) << 10) + (low - 0xDC00);
                    (11, char::from_u32(code).unwrap_or(char::REPLACEMENT_CHARACTER))
                }
                None => (5, char::REPLACEMENT_CHARACTER),
            }
        }
        _ => (0, '\\'),
    }
}

/// Like `known_escape`, but also reads the escapes `\x41` and `\u{1f600}` of other languages.
pub(crate) fn unescape(text: &str) -> (usize, char) {
    let code = |digits: &str| {
        let is_hex = !digits.is_empty() && digits.bytes().all(|byte| byte.is_ascii_hexdigit());
        u32::from_str_radix(digits, 16).ok().filter(|_| is_hex).and_then(char::from_u32)
    };
    match text.as_bytes() {
        [b'x', ..] => text.get(1..3).and_then(code).map_or((0, '\\'), |character| (3, character)),
        [b'u', b'{', ..] => {
            let digits = text.slice(2..);
            let end = digits.bytes().take(7).position(|byte| byte == b'}');
            let written = end.and_then(|end| Some((end, code(digits.get(..end)?)?)));
            written.map_or((0, '\\'), |(end, character)| (end + 3, character))
        }
        _ => known_escape(text),
    }
}
