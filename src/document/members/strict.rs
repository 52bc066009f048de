//! Strict: is this valid JSON, and where are its members?
//!
//! In: a response, and the offset of a brace.
//! Out: the tape of the object, if all of it is valid; a part without declared names is one sealed node.
//! Never: decodes a string, or reads anything that is a fault.

use super::tape::{MemberNodeKind, ObjectTape};
use super::{ReadObject, stray_marks};
use crate::json::has_lone_surrogate;
use crate::program::{LevelId, Limits, ObjectShape};
use crate::text::{JsonCursor, Span};
use crate::value::broken;
use serde::de::IgnoredAny;

/// The object at `brace`, if it is valid JSON and no text after it belongs to it.
///
/// # Errors
///
/// The number of bytes that were read in vain.
pub(super) fn read(text: &str, brace: usize, outline: &ObjectShape, limits: &Limits) -> Result<ReadObject, usize> {
    let rest = text.get(brace..).filter(|rest| rest.starts_with('{')).ok_or(0_usize)?;
    let mut values = serde_json::Deserializer::from_str(rest).into_iter::<IgnoredAny>();
    values.next().ok_or(0_usize)?.map_err(|error| broken::read(&error, rest))?;
    let end = brace + values.byte_offset();
    // Half of a surrogate pair is valid JSON, and still a fault.
    if stray_marks::goes_on_behind(outline, text, end) || has_lone_surrogate(Span::new(brace, end).of(text)) {
        return Err(end - brace);
    }
    let most = limits.fields;
    let mut walk =
        StrictScan { cursor: JsonCursor::new(text, brace), text, outline, most, tape: ObjectTape::default() };
    walk.value(Some(ObjectShape::ROOT));
    Ok(ReadObject { tape: walk.tape, end, junk: Vec::new() })
}

/// A scan of valid JSON, which therefore needs no checks.
struct StrictScan<'w> {
    text: &'w str,
    cursor: JsonCursor<'w>,
    outline: &'w ObjectShape,
    /// How many members of a block are listed separately although they have no declared names.
    most: usize,
    tape: ObjectTape,
}

impl StrictScan<'_> {
    /// Scans the value here. Recursion is as deep as the pack's names, whatever the response contains.
    fn value(&mut self, level: Option<LevelId>) {
        let start = self.cursor.at;
        let level = level.filter(|level| self.outline.level(*level).looks_inside());
        match (self.cursor.byte(), level) {
            (b'{', Some(level)) => {
                let level = self.outline.of_object(level);
                let object = self.tape.leaf(MemberNodeKind::Object, Span::new(start, start), false);
                let mut apart = if self.outline.level(level).block.is_some() { self.most } else { 0 };
                let mut beside = false;
                while !matches!(self.cursor.step(), b'}') {
                    let from = self.cursor.at;
                    self.cursor.string();
                    let key = Span::new(from, self.cursor.at);
                    let name = Span::new(key.start + 1, key.end - 1).of(self.text);
                    let below = match memchr::memchr(b'\\', name.as_bytes()) {
                        None => self.outline.member(level, name),
                        Some(_) => self.outline.member(level, &crate::json::decode_string(name)),
                    };
                    // The colon.
                    self.cursor.step();
                    if below.is_some() || !beside {
                        self.tape.leaf(MemberNodeKind::Key, key, false);
                        self.value(below);
                    } else {
                        self.cursor.skip_value();
                        self.tape.extend_last(self.cursor.at);
                    }
                    apart = apart.saturating_sub(1);
                    beside = below.is_none() && apart == 0;
                    if self.cursor.next_is_end(b'}') {
                        break;
                    }
                }
                self.cursor.at += 1;
                self.tape.close(object, self.cursor.at, false);
            }
            (b'[', Some(level)) => {
                let each = self.outline.level(level).each;
                let list = self.tape.leaf(MemberNodeKind::List, Span::new(start, start), false);
                while !matches!(self.cursor.step(), b']') {
                    self.value(each);
                    if self.cursor.next_is_end(b']') {
                        break;
                    }
                }
                self.cursor.at += 1;
                self.tape.close(list, self.cursor.at, false);
            }
            (first, _) => {
                self.cursor.skip_value();
                let kind = match first {
                    b'"' => MemberNodeKind::String,
                    b'{' | b'[' => MemberNodeKind::Sealed,
                    _ => MemberNodeKind::Scalar,
                };
                self.tape.leaf(kind, Span::new(start, self.cursor.at), false);
            }
        }
    }
}
