//! Fitting: may a string end at this quote, and does the object go on?
//!
//! In: a place in a response, what is open there, and the names that are bound.
//! Out: whether what stands behind it is what stands behind the end of a value.
//! Never: looks further than a few marks and names, so that many quotes cost no more than a few looks each.
//!
//! A model that forgets to escape quotes writes code whose quotes look like the answer's own: `"a", "b": 1` may be code or
//! the next member. The names tell them apart: behind the body of a block only a name that the dialect binds goes on.

use crate::document::decode::decode_string;
use crate::program::{LevelId, Outline};

/// What is open around a string.
#[derive(Debug, Clone, Copy)]
pub(super) struct Around<'a> {
    /// The objects and lists around it, the innermost first.
    pub(super) open: &'a [Open],
    /// Whether it is the body of a block: foreign text, such as code.
    pub(super) body: bool,
    pub(super) last: Last,
}

/// An object or a list.
#[derive(Debug, Clone, Copy)]
pub(super) struct Open {
    pub(super) list: bool,
    /// The level of its members; of a list, that of its entries.
    pub(super) level: Option<LevelId>,
}

/// Where the last quotes of a response stand.
#[derive(Debug, Clone, Copy)]
pub(super) struct Last {
    quote: usize,
    /// The last one that a closing mark follows, and none stands before.
    closing: usize,
}

impl Last {
    pub(super) fn of(text: &str) -> Self {
        let bytes = text.as_bytes();
        let quote = memchr::memrchr(b'"', bytes).unwrap_or(0);
        let mut end = bytes.len();
        while let Some(at) = memchr::memrchr(b'"', bytes.get(..end).unwrap_or_default()) {
            let closes = matches!(bytes.get(blank(bytes, at + 1)), Some(b'}' | b']'));
            let before = bytes.get(..at).unwrap_or_default().trim_ascii_end().last();
            if closes && !matches!(before, Some(b'\\' | b'}' | b']')) {
                return Self { quote, closing: at };
            }
            end = at;
        }
        Self { quote, closing: 0 }
    }
}

/// The longest key that is looked for.
const LONGEST: usize = 64;
/// The longest string that is looked over, behind a key that no name binds.
const LOOK: usize = 200;
/// The most marks in a row that are looked at.
const MARKS: usize = 12;

/// Whether the string that may end at the quote at `quote` ends there.
pub(super) fn ends(outline: &Outline, text: &str, quote: usize, around: Around<'_>) -> bool {
    let look = Look { outline, text, bytes: text.as_bytes(), around, quote };
    look.behind_value(quote + 1, 2) || look.leads_to_name(quote + 1)
}

/// Whether a quote at `at` starts a key of one of the levels, with its colon.
pub(super) fn names_member(outline: &Outline, text: &str, at: usize, levels: &[LevelId]) -> bool {
    key(text, at).is_some_and(|(name, _)| is_known(outline, name, levels))
}

/// Whether the object that ends at `end` goes on all the same: marks that close nothing, and another of its members.
pub(super) fn belongs(outline: &Outline, text: &str, end: usize) -> bool {
    let bytes = text.as_bytes();
    let mut at = blank(bytes, end);
    for _ in 0..MARKS {
        match bytes.get(at) {
            Some(b'}' | b']') => at = blank(bytes, at + 1),
            Some(b',') => return names_member(outline, text, blank(bytes, at + 1), &[Outline::ROOT]),
            Some(b'"') => return names_member(outline, text, at, &[Outline::ROOT]),
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
        Some(b'`') => is_fence(bytes, next),
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

/// Whether the response ends here, or in a key that starts here.
fn is_cut_key(bytes: &[u8], at: usize) -> bool {
    let rest = bytes.get(at..).unwrap_or_default();
    let Some((b'"', rest)) = rest.split_first() else { return rest.is_empty() };
    let inside = rest.iter().take(LONGEST).take_while(|byte| !matches!(byte, b'"' | b'\n' | b'\r')).count();
    match rest.get(inside) {
        None => true,
        Some(b'"') => blank(bytes, at + inside + 2) >= bytes.len(),
        Some(_) => false,
    }
}

/// Whether a code fence stands here.
pub(super) fn is_fence(bytes: &[u8], at: usize) -> bool {
    bytes.get(at..).is_some_and(|rest| rest.starts_with(b"```"))
}

/// The next place that is no white space.
pub(super) fn blank(bytes: &[u8], mut at: usize) -> usize {
    while bytes.get(at).is_some_and(|byte| matches!(byte, b' ' | b'\t' | b'\r' | b'\n')) {
        at += 1;
    }
    at
}

/// The next place that is no white space, behind a short comment if one stands there.
fn over_comment(bytes: &[u8], at: usize) -> usize {
    let at = blank(bytes, at);
    let rest = bytes.get(at..bytes.len().min(at + LOOK)).unwrap_or_default();
    let length = match rest {
        [b'/', b'/', ..] => memchr::memchr(b'\n', rest),
        [b'/', b'*', ..] => memchr::memmem::find(rest, b"*/").map(|closer| closer + 2),
        _ => None,
    };
    length.map_or(at, |length| blank(bytes, at + length))
}

fn is_known(outline: &Outline, name: &str, levels: &[LevelId]) -> bool {
    let name = decode_string(name);
    levels.iter().any(|level| outline.member(*level, &name).is_some())
}

struct Look<'l> {
    outline: &'l Outline,
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
        let innermost = self.around.open.first();
        let in_list = innermost.is_some_and(|open| open.list);
        let in_entry = !in_list && self.around.open.get(1).is_some_and(|open| open.list);
        for _ in 0..MARKS {
            let from = at;
            at = blank(self.bytes, at);
            match self.bytes.get(at) {
                None => return true,
                Some(b'`') if is_fence(self.bytes, at) => return self.is_last(closed),
                Some(b'}') if closed > 0 || !in_list || in_entry => {
                    closed += 1;
                    at += 1;
                }
                // Not even a bracket ends the value of a member, unless a brace is missing.
                Some(b']') if closed > 0 || in_list || in_entry => {
                    closed += 1;
                    at += 1;
                }
                Some(b',') => return self.behind_comma(over_comment(self.bytes, at + 1), closed, more),
                Some(b'"') if self.known(at, closed) => return true,
                // Another quote may be the end that this one seemed to be.
                Some(b'"') if closed > 0 && self.around.body && self.ends_well(at + 1) => return false,
                Some(b'"') if closed > 0 && (is_stray(self.text, at) || at == self.around.last.quote) => at += 1,
                Some(b'{') => return closed > 0 && self.opens_entry(at),
                // Words behind the answer, if nothing more of it comes.
                Some(_) => {
                    let line = self.bytes.get(from..at).is_some_and(|space| space.contains(&b'\n'));
                    return line && closed > 0 && self.is_last(closed);
                }
            }
        }
        false
    }

    /// Whether nothing but marks, whatever they are, stands between here and the name of a member.
    fn leads_to_name(&self, at: usize) -> bool {
        let mut closed = 0;
        let mut between = false;
        for (at, byte) in self.bytes.iter().enumerate().skip(at).take(2 * MARKS) {
            match byte {
                b'"' if between && self.known(at, closed) => return true,
                b'"' if self.ends_well(at + 1) => return false,
                b'}' | b']' => closed += 1,
                b'{' | b'[' | b',' | b'"' | b' ' | b'\t' | b'\r' | b'\n' => {}
                _ => return false,
            }
            between |= matches!(byte, b'}' | b']' | b',');
        }
        false
    }

    /// Whether no later quote ends a value.
    fn is_last(&self, closed: usize) -> bool {
        let last = self.around.last;
        if closed > 0 { self.quote >= last.closing } else { self.quote > last.closing }
    }

    /// Whether what is open ends as it should behind a value, up to where more of it comes or the answer ends.
    fn ends_well(&self, at: usize) -> bool {
        let mut at = blank(self.bytes, at);
        let mut open = self.around.open.iter();
        while let Some(inner) = open.clone().next() {
            match self.bytes.get(at) {
                Some(b',') => {
                    let next = blank(self.bytes, at + 1);
                    return match inner.list {
                        true => self.opens_entry(next),
                        false => inner.level.is_some_and(|level| self.names(next, &[level])),
                    };
                }
                Some(b']') if inner.list => {}
                Some(b'}') if !inner.list => {}
                _ => return false,
            }
            open.next();
            at = blank(self.bytes, at + 1);
        }
        at >= self.bytes.len() || is_fence(self.bytes, at) || self.around.last.quote < at
    }

    fn behind_comma(&self, at: usize, closed: usize, more: usize) -> bool {
        let in_list = self.around.open.first().is_some_and(|open| open.list);
        match self.bytes.get(at) {
            _ if is_cut_key(self.bytes, at) => true,
            Some(b'{') => self.opens_entry(at),
            Some(b'}' | b']') => closed > 0 || self.behind_value(at, 0),
            Some(b'"' | b'\'') => match key(self.text, at) {
                Some(_) if self.known(at, closed) => true,
                Some(_) if !self.around.body => true,
                Some((_, colon)) => closed == 0 && more > 0 && self.over_member(colon, more),
                None if self.bytes.get(at) == Some(&b'"') && is_stray(self.text, at) => {
                    self.opens_entry(blank(self.bytes, at + 1))
                }
                None => in_list || (closed > 1 && !self.around.body),
            },
            Some(b'[' | b'-' | b'0'..=b'9' | b't' | b'f' | b'n') => in_list,
            _ => false,
        }
    }

    /// Whether an object starts here that may be the next entry of the list around.
    fn opens_entry(&self, at: usize) -> bool {
        let at = if self.bytes.get(at) == Some(&b'{') { blank(self.bytes, at + 1) } else { return false };
        is_cut_key(self.bytes, at) || self.known(at, usize::MAX) || (!self.around.body && key(self.text, at).is_some())
    }

    /// Whether a quote at `at` starts the name of a member that may come once so many marks have closed something.
    fn known(&self, at: usize, closed: usize) -> bool {
        // Behind foreign text only the names of what is still open count, or of the next entry.
        let reach = match closed {
            0 | 1 if self.around.body => 2,
            _ => usize::MAX,
        };
        let levels = self.around.open.iter().take(reach).filter_map(|open| open.level);
        key(self.text, at).is_some_and(|(name, _)| {
            let name = decode_string(name);
            levels.into_iter().any(|level| self.outline.member(level, &name).is_some())
        })
    }

    fn names(&self, at: usize, levels: &[LevelId]) -> bool {
        names_member(self.outline, self.text, at, levels)
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
