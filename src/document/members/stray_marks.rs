//! Stray marks: is this punctuation superfluous?
//!
//! In: a punctuation character in a faulty object, the text after it, and the open containers around it.
//! Out: whether it opens, ends or separates nothing.
//! Never: advances, or looks further than a few punctuation characters and one key.
//!
//! A model that loses count writes superfluous brackets and commas. Taken literally, one would end an object too early,
//! or open one that is never closed, and all text after it would be misplaced. The text after it decides: an object
//! starts with a key, and after it is closed, its list or the answer continues.

use super::cursor::Cursor;
use super::keys::{self, is_stray_quote};
use super::quote_end::{MAX_MARKS, names_member};
use super::stack::{OpenContainer, OpenLevel, outer};
use super::tape::{MemberNodeKind, ObjectTape};
use super::whitespace::skip_whitespace;
use crate::grammar::RuleId;
use crate::program::{LevelId, ObjectShape};
use crate::text::Slice;

/// The longest key with its colon: how far to look after a quote that is never closed.
pub(super) const MAX_KEY_BYTES: usize = 300;
/// The most braces in a row that are examined.
const MAX_BRACES: usize = 8;

/// The fault of punctuation in place of a key.
pub(super) fn at_key(outline: &ObjectShape, mark: u8) -> Option<RuleId> {
    let faults = &outline.faults;
    match mark {
        b'}' => faults.extra_brace,
        b']' => faults.extra_bracket,
        b',' => faults.extra_comma,
        _ => faults.stray_quote,
    }
}

/// The fault of the punctuation here, before the value of a member.
pub(super) fn before_value(cursor: &Cursor<'_, '_>, level: Option<LevelId>) -> Option<RuleId> {
    let faults = &cursor.outline.faults;
    match cursor.byte() {
        b':' => faults.extra_colon,
        b'{' if opens_nothing(cursor, level) => faults.extra_brace,
        b'[' if cursor.byte_behind(cursor.at) == b':' => faults.extra_bracket,
        _ => None,
    }
}

/// Whether a brace before the value of a member opens no object, because no key follows it.
fn opens_nothing(cursor: &Cursor<'_, '_>, level: Option<LevelId>) -> bool {
    let Cursor { text, bytes, outline, at, .. } = *cursor;
    let next = skip_whitespace(bytes, at + 1);
    let entry = outline.is_entry(level);
    match cursor.byte_at(next) {
        b'[' | b':' => true,
        b'{' => !entry,
        byte if outline.is_body(level) && byte.is_ascii_alphabetic() => keys::any(text, next).is_none(),
        b'"' => !entry && !is_key(cursor, next) && keys::any(text, next).is_none(),
        _ => false,
    }
}

/// Whether the string that a quote at `at` opens is a key, of any length.
fn is_key(cursor: &Cursor<'_, '_>, at: usize) -> bool {
    let rest = cursor.bytes.slice(at + 1..);
    let mut escaped = false;
    let closes = |byte: &u8| {
        let closes = *byte == b'"' && !escaped;
        escaped = *byte == b'\\' && !escaped;
        closes
    };
    let end = rest.iter().take(MAX_KEY_BYTES).position(closes);
    end.is_some_and(|end| cursor.byte_behind(at + end + 1) == b':')
}

/// Whether the brace here, in a list, is superfluous, because it does not end an object around the list either.
pub(super) fn brace_in_list(cursor: &Cursor<'_, '_>, open: &[OpenLevel]) -> bool {
    let Cursor { text, bytes, outline, at, .. } = *cursor;
    let nested = open.iter().skip(2).any(|open| open.list);
    let mut at = skip_whitespace(bytes, at + 1);
    for _ in 0..MAX_BRACES {
        if bytes.get(at) != Some(&b'}') {
            break;
        }
        at = skip_whitespace(bytes, at + 1);
    }
    match bytes.get(at) {
        Some(b']' | b'{') => !nested,
        Some(b'"') if is_stray_quote(text, at) => !nested,
        Some(b',') => {
            let next = skip_whitespace(bytes, at + 1);
            match bytes.get(next) {
                Some(b'{') => !nested,
                Some(b'"') if names_member(outline, text, next, outer(open)) => {
                    names_member(outline, text, next, open.first().and_then(|list| list.level))
                }
                Some(b'"') => !nested,
                _ => false,
            }
        }
        _ => false,
    }
}

/// Whether the quote here, in a list, belongs to no string. If an entry is `due`, only an object after the quote proves
/// that.
pub(super) fn quote_in_list(cursor: &Cursor<'_, '_>, due: bool) -> bool {
    is_stray_quote(cursor.text, cursor.at) && (!due || cursor.byte_behind(cursor.at) == b'{')
}

/// Whether the list is superfluous: a member that contains only another list, or a body that contains one string.
pub(super) fn list_around(outline: &ObjectShape, tape: &ObjectTape, list: OpenContainer) -> bool {
    let first = tape.get(list.node + 1).filter(|first| first.ends_at() == tape.nodes.len());
    first.is_some_and(|first| match first.kind {
        MemberNodeKind::List => list.level.is_some(),
        MemberNodeKind::String | MemberNodeKind::Torn => outline.is_body(list.level),
        _ => false,
    })
}

/// Whether the object that ends at `end` continues: superfluous punctuation follows, and then another of its members.
pub(super) fn goes_on_behind(outline: &ObjectShape, text: &str, end: usize) -> bool {
    let bytes = text.as_bytes();
    let mut at = skip_whitespace(bytes, end);
    for _ in 0..MAX_MARKS {
        match bytes.get(at) {
            Some(b'}' | b']') => at = skip_whitespace(bytes, at + 1),
            Some(b',') => return names_member(outline, text, skip_whitespace(bytes, at + 1), [ObjectShape::ROOT]),
            Some(b'"') => return names_member(outline, text, at, [ObjectShape::ROOT]),
            _ => return false,
        }
    }
    false
}
