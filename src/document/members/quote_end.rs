//! Quote end: may a string end at this quote, so that the object continues?
//!
//! In: an offset in a response, the open containers around it, and the declared names.
//! Out: whether the text after the quote can follow the end of a value.
//! Never: looks further than a few punctuation characters and names, so that each quote only costs a few look-ups.
//!
//! A model that forgets to escape quotes writes code whose quotes look like those of the answer: `"a", "b": 1` may be
//! code or the next member. The names distinguish them: after the body of a block, only a name that the dialect
//! declares can follow.

use super::keys::{self, KeyForm, MAX_NAME_BYTES, MemberKey, is_stray_quote};
use super::stack::OpenLevel;
use super::whitespace::{is_fence, skip_whitespace};
use crate::json::decode_string;
use crate::program::{LevelId, ObjectShape};
use crate::text::Slice;

/// The containers around a string, and what is known about the string.
#[derive(Debug, Clone, Copy)]
pub(super) struct StringContext<'a> {
    /// The open objects and lists around it, innermost first.
    pub(super) open: &'a [OpenLevel],
    /// The level of the string itself.
    pub(super) own: Option<LevelId>,
    /// Whether the string is the body of a block: foreign text, such as code.
    pub(super) body: bool,
    /// Whether the keys of this answer have no quotes.
    pub(super) bare: bool,
    pub(super) last: LastQuotes,
}

/// The last quotes of a response.
#[derive(Debug, Clone, Copy)]
pub(super) struct LastQuotes {
    quote: usize,
    /// The last one that is followed by a closing bracket, but has none before it.
    closing: usize,
}

impl LastQuotes {
    pub(super) fn of(text: &str) -> Self {
        let bytes = text.as_bytes();
        let quote = memchr::memrchr(b'"', bytes).unwrap_or(0);
        let mut end = bytes.len();
        while let Some(at) = memchr::memrchr(b'"', bytes.slice(..end)) {
            let closes = matches!(bytes.get(skip_whitespace(bytes, at + 1)), Some(b'}' | b']'));
            let before = bytes.slice(..at).trim_ascii_end().last();
            if closes && !matches!(before, Some(b'\\' | b'}' | b']')) {
                return Self { quote, closing: at };
            }
            end = at;
        }
        Self { quote, closing: 0 }
    }
}

/// The longest string that is skipped after an unknown key.
const MAX_SKIPPED_BYTES: usize = 200;
/// The most punctuation characters in a row that are examined.
pub(super) const MAX_MARKS: usize = 12;

/// How members that were left out are written: three dots, or an ellipsis.
const DOTS: [&[u8; 3]; 2] = [b"...", b"\xE2\x80\xA6"];

/// Whether the string that may end at `quote` ends there.
pub(super) fn ends(outline: &ObjectShape, text: &str, quote: usize, around: StringContext<'_>) -> bool {
    let look = QuoteEnd { outline, text, bytes: text.as_bytes(), around, quote };
    look.may_follow_value(quote + 1, 2) || look.goes_on_with_name(quote + 1)
}

/// The end of a string whose closing quote is missing, if the quote at `quote` starts the next key: only the
/// punctuation that the open containers require is between them.
pub(super) fn missed(
    outline: &ObjectShape,
    text: &str,
    start: usize,
    quote: usize,
    around: StringContext<'_>,
) -> Option<usize> {
    let look = QuoteEnd { outline, text, bytes: text.as_bytes(), around, quote };
    look.next_member(quote).or_else(|| look.next_entry(quote)).filter(|end| *end > start)
}

/// Whether the text at `at` continues or ends the open containers, as it should after a value.
pub(super) fn goes_on(outline: &ObjectShape, text: &str, at: usize, around: StringContext<'_>) -> bool {
    QuoteEnd { outline, text, bytes: text.as_bytes(), around, quote: at }.ends_well(at)
}

/// Whether a quote at `at` starts a key of one of the levels, with its colon.
pub(super) fn names_member(
    outline: &ObjectShape,
    text: &str,
    at: usize,
    levels: impl IntoIterator<Item = LevelId>,
) -> bool {
    keys::whole(text, at).is_some_and(|key| is_known(outline, key.name, levels))
}

/// Whether the brace at `brace` opens an answer whose first key is damaged.
pub(super) fn opens_damaged(outline: &ObjectShape, text: &str, brace: usize) -> bool {
    let key = keys::any(text, skip_whitespace(text.as_bytes(), brace + 1)).filter(|key| key.form.is_damaged());
    key.is_some_and(|key| is_known(outline, key.name, [ObjectShape::ROOT]))
}

/// Whether the brace at `brace` opens an answer: an object whose first key is a declared name, even if the key is
/// damaged.
pub(super) fn opens_answer(outline: &ObjectShape, text: &str, brace: usize) -> bool {
    let bytes = text.as_bytes();
    let at = if bytes.get(brace) == Some(&b'{') { over_comments(bytes, brace + 1) } else { brace };
    keys::any(text, at).is_some_and(|key| is_known(outline, key.name, [ObjectShape::ROOT]))
}

/// Whether the response ends at `at`, or in a key that starts at `at`.
fn is_cut_key(bytes: &[u8], at: usize) -> bool {
    let rest = bytes.slice(at..);
    let Some((b'"', rest)) = rest.split_first() else { return rest.is_empty() };
    let inside = rest.iter().take(MAX_NAME_BYTES).take_while(|byte| !matches!(byte, b'"' | b'\n' | b'\r')).count();
    match rest.get(inside) {
        None => true,
        Some(b'"') => skip_whitespace(bytes, at + inside + 2) >= bytes.len(),
        Some(_) => skip_whitespace(bytes, at + inside + 1) >= bytes.len(),
    }
}

/// The next offset that is not white space or a short comment.
fn over_comments(bytes: &[u8], at: usize) -> usize {
    let until = bytes.len().min(at + MAX_SKIPPED_BYTES);
    let mut at = skip_whitespace(bytes, at);
    loop {
        let rest = bytes.slice(at..until);
        let length = match rest {
            [b'/', b'/', ..] => memchr::memchr(b'\n', rest),
            [b'/', b'*', ..] => memchr::memmem::find(rest, b"*/").map(|closer| closer + 2),
            _ => None,
        };
        let Some(length) = length else { return at };
        at = skip_whitespace(bytes, at + length);
    }
}

fn is_known(outline: &ObjectShape, name: &str, levels: impl IntoIterator<Item = LevelId>) -> bool {
    let name = decode_string(name);
    levels.into_iter().any(|level| outline.member(level, &name).is_some())
}

struct QuoteEnd<'l> {
    outline: &'l ObjectShape,
    text: &'l str,
    bytes: &'l [u8],
    around: StringContext<'l>,
    quote: usize,
}

impl QuoteEnd<'_> {
    /// Whether the text at `at` may follow a value; up to `more` members with unknown names are skipped.
    fn may_follow_value(&self, at: usize, more: usize) -> bool {
        let mut at = at;
        let mut closed = 0;
        let innermost = self.around.open.first();
        let in_list = innermost.is_some_and(|open| open.list);
        let in_entry = !in_list && self.around.open.get(1).is_some_and(|open| open.list);
        for _ in 0..MAX_MARKS {
            let from = at;
            at = over_comments(self.bytes, at);
            match self.bytes.get(at) {
                None => return true,
                Some(b'`' | b'~') if is_fence(self.bytes, at) => return self.is_last(closed),
                Some(b'}') if closed > 0 || !in_list || in_entry => {
                    closed += 1;
                    at += 1;
                }
                // A bracket can end the value of a member only if a brace is missing before the bracket.
                Some(b']') if closed > 0 || in_list || in_entry => {
                    closed += 1;
                    at += 1;
                }
                Some(b',') => {
                    let next = over_comments(self.bytes, at + 1);
                    // One superfluous comma is tolerated.
                    let extra = self.bytes.get(next) == Some(&b',');
                    let next = if extra { over_comments(self.bytes, next + 1) } else { next };
                    return self.may_follow_comma(next, closed, more);
                }
                Some(b'"') if self.known(at, closed) => return true,
                // The later quote may be the end of the string instead of this one.
                Some(b'"') if closed > 0 && self.around.body && self.ends_well(at + 1) => return false,
                Some(b'"') if closed > 0 && (is_stray_quote(self.text, at) || at == self.around.last.quote) => at += 1,
                Some(b'{') => return closed > 0 && self.opens_entry(at),
                // Words may follow the object, if no later quote ends a value.
                Some(_) => {
                    let line = self.bytes.get(from..at).is_some_and(|space| space.contains(&b'\n'));
                    return line && closed > 0 && self.is_last(closed);
                }
            }
        }
        false
    }

    /// Whether only punctuation is between `at` and the name of a member.
    fn goes_on_with_name(&self, at: usize) -> bool {
        let mut closed = 0;
        let mut between = false;
        for (at, byte) in self.bytes.iter().enumerate().skip(at).take(2 * MAX_MARKS) {
            match byte {
                b'"' if between && self.known(at, closed) => return true,
                b'"' if self.ends_well(at + 1) => return false,
                b'}' | b']' => closed += 1,
                b'{' | b'[' | b',' | b'"' | b' ' | b'\t' | b'\r' | b'\n' => {}
                _ => return between && self.known(at, closed),
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

    /// Whether the open containers end as they should after a value, up to where one of them continues or the answer
    /// ends.
    fn ends_well(&self, at: usize) -> bool {
        let mut at = over_comments(self.bytes, at);
        let mut open = self.around.open.iter();
        while let Some(inner) = open.clone().next() {
            match self.bytes.get(at) {
                Some(b',') => {
                    let next = over_comments(self.bytes, at + 1);
                    return match inner.list {
                        true => self.opens_entry(next),
                        false => names_member(self.outline, self.text, next, inner.level),
                    };
                }
                Some(b']') if inner.list => {}
                Some(b'}') if !inner.list => {}
                _ => return false,
            }
            open.next();
            at = over_comments(self.bytes, at + 1);
        }
        is_fence(self.bytes, at) || self.around.last.quote < at
    }

    fn may_follow_comma(&self, at: usize, closed: usize, more: usize) -> bool {
        let in_list = self.around.open.first().is_some_and(|open| open.list);
        match self.bytes.get(at) {
            _ if is_cut_key(self.bytes, at) => true,
            Some(b'{') => self.opens_entry(at),
            Some(b'}' | b']') => closed > 0 || self.may_follow_value(at, 0),
            _ if self.known(at, closed) => true,
            Some(b'"' | b'\'') => match keys::whole(self.text, at) {
                Some(_) if !self.around.body => true,
                Some(key) if closed > 0 || self.is_own(&key) => false,
                Some(key) => {
                    more > 0 && self.over_member(key.value).is_some_and(|end| self.may_follow_value(end, more - 1))
                }
                None if self.bytes.get(at) == Some(&b'"') && is_stray_quote(self.text, at) => {
                    self.opens_entry(skip_whitespace(self.bytes, at + 1))
                }
                None => in_list || (closed > 1 && !self.around.body),
            },
            // Dots in place of members that were left out.
            Some(b'.' | 0xE2)
                if DOTS.iter().any(|dots| self.bytes.get(at..).is_some_and(|rest| rest.starts_with(*dots))) =>
            {
                let next = over_comments(self.bytes, at + DOTS[0].len());
                match self.bytes.get(next) {
                    Some(b',') => self.may_follow_comma(over_comments(self.bytes, next + 1), closed, more),
                    _ => self.may_follow_comma(next, closed, more),
                }
            }
            Some(_) if self.is_bare(at) => true,
            Some(b'[' | b'-' | b'0'..=b'9' | b't' | b'f' | b'n') => in_list,
            _ => false,
        }
    }

    /// Whether an object starts here that may be the next entry of the list around the string.
    fn opens_entry(&self, at: usize) -> bool {
        let brace = |at: usize| self.bytes.get(at) == Some(&b'{');
        let at = if brace(at) { over_comments(self.bytes, at + 1) } else { return false };
        let at = if brace(at) { over_comments(self.bytes, at + 1) } else { at };
        let is_key = || match keys::any(self.text, at) {
            Some(MemberKey { form: KeyForm::Bare, .. }) => self.around.bare,
            key => key.is_some(),
        };
        is_cut_key(self.bytes, at) || self.known(at, usize::MAX) || (!self.around.body && is_key())
    }

    /// Whether the name of a member starts at `at` that may come after `closed` closing brackets. Something like a key
    /// may be foreign text, so more closers need more evidence.
    fn known(&self, at: usize, closed: usize) -> bool {
        let Some(key) = keys::any(self.text, at) else { return false };
        // After foreign text, only names of the containers that are still open count, or of the next entry.
        let reach = match closed {
            0 | 1 if self.around.body => 2,
            _ => usize::MAX,
        };
        let name = decode_string(key.name);
        let mut open = self.around.open.iter().take(reach);
        let found = open.find_map(|open| Some((open.level?, self.outline.member(open.level?, &name)?, open.present)));
        let Some((around, level, present)) = found else { return false };
        let StringContext { body, bare, own, .. } = self.around;
        let present = present & level.bit() != 0;
        match key.form {
            // The body of a member is not followed by the same member.
            _ if closed == 0 && body && Some(level) == own => false,
            // A member that the object already has starts another entry.
            KeyForm::Whole => closed > 0 || !body || !present || self.continues(&key, around),
            KeyForm::Torn(_) | KeyForm::NoColon(_) => closed > 0 || !present,
            KeyForm::Bare if bare => closed > 0 || !present,
            KeyForm::Bare if body => closed > 0 && self.continues(&key, around),
            KeyForm::Bare => matches!(self.bytes.get(skip_whitespace(self.bytes, key.value)), Some(b'"' | b'[' | b'{')),
        }
    }

    /// Whether a key has the same name as the string's own member.
    fn is_own(&self, key: &MemberKey<'_>) -> bool {
        let level = self.around.open.first().and_then(|open| open.level);
        let named = level.and_then(|level| self.outline.member(level, &decode_string(key.name)));
        named.is_some() && named == self.around.own
    }

    /// Whether a key without quotes starts here, in an answer whose other keys have none, and not after foreign text.
    fn is_bare(&self, at: usize) -> bool {
        let StringContext { bare, body, .. } = self.around;
        bare && !body && keys::any(self.text, at).is_some_and(|key| key.form == KeyForm::Bare)
    }

    /// Whether a short value follows a key, and another member of its object follows that.
    fn continues(&self, key: &MemberKey<'_>, level: LevelId) -> bool {
        let Some(end) = self.over_member(key.value) else { return false };
        let comma = skip_whitespace(self.bytes, end);
        if self.bytes.get(comma) != Some(&b',') {
            return false;
        }
        let next = keys::any(self.text, over_comments(self.bytes, comma + 1));
        next.is_some_and(|next| next.name != key.name && is_known(self.outline, next.name, [level]))
    }

    /// The end of a string without its closing quote, before the next member of an object around it.
    fn next_member(&self, quote: usize) -> Option<usize> {
        let key = keys::whole(self.text, quote)?;
        let name = decode_string(key.name);
        let comma = self.mark_before(quote, b',')?;
        // All containers inside that level must be closed before the comma, the innermost first.
        let end_within = |place| {
            let mut ends = self.around.open.iter().take(place).rev();
            ends.try_fold(comma, |end, open| self.mark_before(end, if open.list { b']' } else { b'}' }))
        };
        for (place, open) in self.around.open.iter().enumerate().take(MAX_MARKS) {
            let level = open.level.filter(|_| !open.list).and_then(|level| self.outline.member(level, &name));
            if level.is_some_and(|level| open.present & level.bit() == 0) {
                // Directly after foreign text such as code, a name alone is weak evidence.
                let ends = || self.over_member(key.value).is_some_and(|end| self.ends_well(end));
                return end_within(place).filter(|_| place > 0 || !self.around.body || ends());
            }
        }
        // In an object whose names the dialect does not declare, any key may come next.
        let innermost = self.around.open.first()?;
        (!innermost.list && innermost.level.is_none()).then_some(comma)
    }

    /// The end of a string without its closing quote, before the next entry of the list around it.
    fn next_entry(&self, quote: usize) -> Option<usize> {
        let key = keys::whole(self.text, quote)?;
        let [entry, list, ..] = self.around.open else { return None };
        let brace = self.mark_before(quote, b'{').filter(|_| !entry.list && list.list)?;
        let comma = self.mark_before(brace, b',')?;
        let end = self.mark_before(comma, b'}')?;
        let is_next = match entry.level {
            Some(level) => is_known(self.outline, key.name, [level]) && self.continues(&key, level),
            None => !self.around.body,
        };
        is_next.then_some(end)
    }

    /// The offset of this character, if only white space is between it and `at`.
    fn mark_before(&self, at: usize, mark: u8) -> Option<usize> {
        let before = self.bytes.get(..at)?.trim_ascii_end();
        (before.last() == Some(&mark)).then(|| before.len() - 1)
    }

    /// The end of the short value after a colon.
    fn over_member(&self, colon: usize) -> Option<usize> {
        let at = skip_whitespace(self.bytes, colon);
        match self.bytes.get(at) {
            Some(b'"') => {
                let rest = self.bytes.slice(at + 1..);
                let length = rest.iter().take(MAX_SKIPPED_BYTES).position(|byte| matches!(byte, b'"' | b'\\' | b'\n'));
                match length {
                    Some(length) if rest.get(length) == Some(&b'"') => Some(at + length + 2),
                    _ => None,
                }
            }
            Some(b'-' | b'0'..=b'9' | b't' | b'f' | b'n') => {
                let rest = self.bytes.slice(at..);
                let word = |byte: &u8| byte.is_ascii_alphanumeric() || matches!(byte, b'-' | b'+' | b'.');
                Some(at + rest.iter().take(MAX_NAME_BYTES).take_while(|byte| word(byte)).count())
            }
            _ => None,
        }
    }
}
