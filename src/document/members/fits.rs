//! Fitting: may a string end at this quote, and does the object go on?
//!
//! In: a place in a response, what is open there, and the names that are bound.
//! Out: whether what stands behind it is what stands behind the end of a value.
//! Never: looks further than a few marks and names, so that many quotes cost no more than a few looks each.
//!
//! A model that forgets to escape quotes writes code whose quotes look like the answer's own: `"a", "b": 1` may be code or
//! the next member. The names tell them apart: behind the body of a block only a name that the dialect binds goes on.

use crate::document::decode::decode_string;
use crate::program::{LevelId, Members};

/// What is open around a string.
#[derive(Debug, Clone, Copy)]
pub(super) struct Around<'a> {
    /// The levels of the objects and lists around it that are known, the innermost first.
    pub(super) levels: &'a [LevelId],
    /// Whether it is an entry of a list; else it is the value of a member.
    pub(super) in_list: bool,
    /// Whether the object that it is a member of is an entry of a list.
    pub(super) in_entry: bool,
    /// Whether it is the body of a block: foreign text, such as code.
    pub(super) body: bool,
    /// How many objects and lists are open.
    pub(super) depth: usize,
    /// The last quote of the response that a closing mark follows.
    pub(super) last: usize,
}

/// The longest key that is looked for.
const LONGEST: usize = 64;
/// The longest string that is looked over, behind a key that no name binds.
const LOOK: usize = 200;
/// The most marks in a row that are looked at.
const MARKS: usize = 12;

/// Whether the string that may end at the quote at `quote` ends there.
pub(super) fn ends(members: &Members, text: &str, quote: usize, around: Around<'_>) -> bool {
    Look { members, text, bytes: text.as_bytes(), around, quote }.behind_value(quote + 1, 2)
}

/// Whether a quote at `at` starts a key of one of the levels, with its colon.
pub(super) fn names_member(members: &Members, text: &str, at: usize, levels: &[LevelId]) -> bool {
    key(text, at).is_some_and(|(name, _)| is_known(members, name, levels))
}

/// Whether the object that ends at `end` goes on all the same: marks that close nothing, and another of its members.
pub(super) fn belongs(members: &Members, text: &str, end: usize) -> bool {
    let bytes = text.as_bytes();
    let mut at = blank(bytes, end);
    for _ in 0..MARKS {
        match bytes.get(at) {
            Some(b'}' | b']') => at = blank(bytes, at + 1),
            Some(b',') => return names_member(members, text, blank(bytes, at + 1), &[Members::ROOT]),
            Some(b'"') => return names_member(members, text, at, &[Members::ROOT]),
            _ => return false,
        }
    }
    false
}

/// The key that starts at `at`, without its quotes, and where its colon ends.
pub(super) fn key(text: &str, at: usize) -> Option<(&str, usize)> {
    let bytes = text.as_bytes();
    let quote = *bytes.get(at).filter(|byte| matches!(byte, b'"' | b'\''))?;
    let rest = bytes.get(at + 1..)?;
    let length = rest.iter().take(LONGEST).position(|byte| *byte == quote || matches!(byte, b'\n' | b'\r'))?;
    let end = at + 1 + length;
    if bytes.get(end) != Some(&quote) || length == 0 {
        return None;
    }
    let colon = blank(bytes, end + 1);
    (bytes.get(colon) == Some(&b':')).then_some((text.get(at + 1..end)?, colon + 1))
}

/// Whether a quote at `at` belongs to no string: a mark that ends something follows, or an object.
pub(super) fn is_stray(text: &str, at: usize) -> bool {
    let bytes = text.as_bytes();
    let next = blank(bytes, at + 1);
    match bytes.get(next) {
        None | Some(b'}' | b']') => true,
        Some(b'{') => key(text, blank(bytes, next + 1)).is_some(),
        Some(b',') => {
            let after = blank(bytes, next + 1);
            match bytes.get(after) {
                Some(b'{') => true,
                Some(b'"') => key(text, after).is_some() || bytes.get(blank(bytes, after + 1)) == Some(&b'{'),
                _ => false,
            }
        }
        _ => false,
    }
}

/// The next place that is no white space.
pub(super) fn blank(bytes: &[u8], mut at: usize) -> usize {
    while bytes.get(at).is_some_and(|byte| matches!(byte, b' ' | b'\t' | b'\r' | b'\n')) {
        at += 1;
    }
    at
}

fn is_known(members: &Members, name: &str, levels: &[LevelId]) -> bool {
    let name = decode_string(name);
    levels.iter().any(|level| members.member(*level, &name).is_some())
}

struct Look<'l> {
    members: &'l Members,
    text: &'l str,
    bytes: &'l [u8],
    around: Around<'l>,
    quote: usize,
}

impl Look<'_> {
    /// Whether what stands at `at` may follow a value; up to `more` members with unknown names are looked over.
    fn behind_value(&self, at: usize, more: usize) -> bool {
        let mut at = at;
        let mut closed = 0;
        for _ in 0..MARKS {
            let from = at;
            at = blank(self.bytes, at);
            match self.bytes.get(at) {
                None => return true,
                Some(b'`') if self.bytes.get(at..).is_some_and(|rest| rest.starts_with(b"```")) => return true,
                Some(b'}') if closed > 0 || !self.around.in_list || self.around.in_entry => {
                    closed += 1;
                    at += 1;
                }
                // Not even a bracket ends the value of a member, unless a brace is missing.
                Some(b']') if closed > 0 || self.around.in_list || self.around.in_entry => {
                    closed += 1;
                    at += 1;
                }
                Some(b',') => return self.behind_comma(blank(self.bytes, at + 1), closed, more),
                Some(b'"') if self.known(at) => return true,
                Some(b'"') if closed > 0 && is_stray(self.text, at) => at += 1,
                Some(b'{') => return closed > 0 && self.opens_entry(at),
                // Words behind the answer, if nothing more of it comes.
                Some(_) => {
                    let line = self.bytes.get(from..at).is_some_and(|space| space.contains(&b'\n'));
                    return closed >= self.around.depth && line && self.quote >= self.around.last;
                }
            }
        }
        false
    }

    fn behind_comma(&self, at: usize, closed: usize, more: usize) -> bool {
        match self.bytes.get(at) {
            None => true,
            Some(b'{') => self.opens_entry(at),
            Some(b'}' | b']') => closed > 0 || self.behind_value(at, 0),
            Some(b'"' | b'\'') => match key(self.text, at) {
                Some(_) if self.known(at) => true,
                Some(_) if !self.around.body => true,
                Some((_, colon)) => closed == 0 && more > 0 && self.over_member(colon, more),
                None if self.bytes.get(at) == Some(&b'"') && is_stray(self.text, at) => {
                    self.opens_entry(blank(self.bytes, at + 1))
                }
                None => self.around.in_list || (closed > 1 && !self.around.body),
            },
            Some(b'[' | b'-' | b'0'..=b'9' | b't' | b'f' | b'n') => self.around.in_list,
            Some(_) => false,
        }
    }

    /// Whether an object starts here that may be the next entry of the list around.
    fn opens_entry(&self, at: usize) -> bool {
        let at = if self.bytes.get(at) == Some(&b'{') { blank(self.bytes, at + 1) } else { return false };
        self.known(at) || (!self.around.body && key(self.text, at).is_some())
    }

    fn known(&self, at: usize) -> bool {
        names_member(self.members, self.text, at, self.around.levels)
    }

    /// Whether a short value stands here, and what may follow a value behind it.
    fn over_member(&self, colon: usize, more: usize) -> bool {
        let at = blank(self.bytes, colon);
        let end = match self.bytes.get(at) {
            Some(b'"') => {
                let rest = self.bytes.get(at + 1..).unwrap_or_default();
                let length = rest.iter().take(LOOK).position(|byte| matches!(byte, b'"' | b'\\' | b'\n'));
                match length {
                    Some(length) if rest.get(length) == Some(&b'"') => at + length + 2,
                    _ => return false,
                }
            }
            Some(b'-' | b'0'..=b'9' | b't' | b'f' | b'n') => {
                let rest = self.bytes.get(at..).unwrap_or_default();
                let word = |byte: &u8| byte.is_ascii_alphanumeric() || matches!(byte, b'-' | b'+' | b'.');
                at + rest.iter().take(LONGEST).take_while(|byte| word(byte)).count()
            }
            _ => return false,
        };
        self.behind_value(end, more - 1)
    }
}
