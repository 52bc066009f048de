//! Quoted: does this mark stand in the data of the call that is open, or in an attribute of a tag that nothing binds?
//!
//! In: an open call, a mark behind its opener, and the text so far; or an opener, and from where on no block has ended.
//! Out: where the string, the tag or the field ends that quotes it, if one does.
//! Never: takes an opener for quoted by a field unless that and the call around it are both closed behind it.
//!
//! A call that is never closed ends at the next one. But a string of JSON or an attribute may quote a call or a closer, and
//! a field may quote a call, and what they quote must not run: a string ends where JSON goes on, and the tags around what a
//! field quotes balance. Each text is paired once, however many openers are asked about.

use super::mark::{Kind, Mark};
use super::masks::is_masked;
use super::open::Open;
use super::pairs::{Pairs, Tagged};
use super::payload::{MOST_TAGS, Tag, Tags, field_family, read_tags};
use super::scanner::Scanner;
use super::strings::TagMarks;
use super::{Given, Quoted};
use crate::grammar::Progress;
use crate::program::{Block, Family};
use crate::surface::{Anchor, Payload, Role};
use crate::text::Span;

/// How the tags in the payload of a call are spelled.
pub(super) fn lead(family: &Family) -> TagMarks<'_> {
    TagMarks { open: family.open_lead.literal.bytes().next().unwrap_or(b'<'), close: &family.close_lead.literal }
}

impl Scanner {
    /// Whether a string of JSON or a tag in the payload of `open` quotes the mark at `at`.
    pub(super) fn in_data(
        &mut self,
        open: &mut Open,
        block: &Block,
        at: usize,
        given: &Given<'_>,
        region: Option<usize>,
    ) -> Quoted {
        let grammar = given.dialect.families.get(open.family).is_none_or(|family| family.payload.is_some());
        let reads = |reader: &Payload| matches!(reader, Payload::Json | Payload::Tags);
        if block.role != Role::Call || grammar || !block.payload.iter().any(reads) {
            return Quoted::No;
        }
        let Some(family) = field_family(given.dialect, open.family) else { return Quoted::No };
        let within = region.and_then(|region| given.text.get(..region)).unwrap_or(given.text);
        let data = &mut open.data;
        if !data.strings.is_over() {
            let quoted = data.strings.hold(at, within, lead(family), region.is_some());
            data.tags.at = data.strings.at();
            if !matches!(quoted, Quoted::No) || !data.strings.is_over() {
                return quoted;
            }
        }
        self.in_tag(&mut data.tags, family, at, within, region.is_some())
    }

    /// Whether an attribute of a tag quotes an opener that counts wherever it stands, in the text of a block that is no call.
    pub(super) fn in_text(
        &mut self,
        open: &mut Open,
        block: &Block,
        mark: &Mark,
        given: &Given<'_>,
        region: Option<usize>,
    ) -> Quoted {
        if matches!(block.role, Role::Call | Role::Content) {
            return Quoted::No;
        }
        self.in_attribute(&mut open.data.tags, mark, given, region)
    }

    /// The same for the text of which these tags are read; `region` is where it ends, once known.
    pub(super) fn in_attribute(
        &mut self,
        tags: &mut Tagged,
        mark: &Mark,
        given: &Given<'_>,
        region: Option<usize>,
    ) -> Quoted {
        let Kind::Open { family, id, .. } = mark.kind else { return Quoted::No };
        // What begins a line stands behind no quote.
        let anywhere = given.block(id).is_some_and(|block| block.anchor == Anchor::Anywhere);
        let family = given.dialect.families.get(usize::from(family)).filter(|family| family.attribute.is_some());
        let Some(family) = family.filter(|_| anywhere && !mark.masked) else { return Quoted::No };
        let within = region.and_then(|region| given.text.get(..region)).unwrap_or(given.text);
        self.in_tag(tags, family, mark.start(), within, region.is_some())
    }

    /// Whether a tag that starts behind the last one reaches over the place `at`.
    fn in_tag(&mut self, tags: &mut Tagged, family: &Family, at: usize, within: &str, complete: bool) -> Quoted {
        let bytes = within.as_bytes();
        let first = lead(family).open;
        // Only quotes keep what looks like a tag in one, and most payloads have none.
        let quotes = |part: &[u8]| memchr::memchr2(b'"', b'\'', part).is_some();
        if !quotes(bytes.get(tags.at..at).unwrap_or_default()) {
            tags.pass(at);
            return Quoted::No;
        }
        while let Some(offset) = bytes.get(tags.at..at).and_then(|rest| memchr::memchr(first, rest)) {
            let start = tags.at + offset;
            tags.at = start + 1;
            let next = bytes.get(tags.at..at).and_then(|rest| memchr::memchr(first, rest));
            let between = bytes.get(start..next.map_or(at, |next| tags.at + next)).unwrap_or_default();
            if !quotes(between) || !family.may_open(between) || is_masked(self.masks.found(), start) {
                continue;
            }
            if !complete && within.len() < tags.retry {
                tags.at = start;
                return Quoted::Unknown;
            }
            self.machine.start(&family.grammar, family.open, start);
            match self.budget.run(&mut self.machine, family, within, complete) {
                Progress::Matched(end) => {
                    tags.at = end;
                    if end > at {
                        return Quoted::Until(end);
                    }
                }
                Progress::Pending => {
                    tags.at = start;
                    tags.retry = start + 2 * (within.len() - start);
                    return Quoted::Unknown;
                }
                Progress::Failed | Progress::TooDeep | Progress::Spent => {}
            }
        }
        tags.pass(at);
        Quoted::No
    }

    /// Whether a field of `open` quotes the opener `mark`; `region` is where the surroundings of both end, once known.
    pub(super) fn quoted(
        &mut self,
        open: &Open,
        block: &Block,
        mark: &Mark,
        given: &Given<'_>,
        region: Option<usize>,
    ) -> Quoted {
        let fields = given.dialect.families.get(open.family).is_some_and(|family| family.payload.is_none());
        if block.role != Role::Call || !fields {
            return Quoted::No;
        }
        let Some(end) = region else {
            let before = self.tags(open, Span::new(open.fields, mark.start()), given);
            return if before.iter().any(Tag::is_left_open) { Quoted::Unknown } else { Quoted::No };
        };
        if !self.pairs.cover(open.opener.start, end) {
            let part = Span::new(open.opener.start, end);
            self.pairs = Pairs { part, list: self.tags(open, part, given).into_vec() };
        }
        let closes = |tag: &Tag| tag.closer().and_then(|closer| self.pairs.list.get(closer));
        let call = self.pairs.list.get(self.pairs.position(open.opener.start));
        let Some(outer) = call.and_then(closes).filter(|closer| closer.span().start >= mark.span().end) else {
            // Where there are more tags than are looked at, nobody knows what they quote: nothing of it may run.
            return if self.pairs.list.len() >= MOST_TAGS { Quoted::Until(end) } else { Quoted::No };
        };
        let mut next = self.pairs.position(open.fields);
        while let Some(tag) = self.pairs.list.get(next).filter(|tag| tag.span().end <= mark.start()) {
            next = match (closes(tag), tag.closer()) {
                (Some(closer), _) if closer.span().start >= outer.span().start => next + 1,
                (Some(closer), _) if closer.span().start > mark.start() => return Quoted::Until(closer.span().end),
                (Some(_), Some(closer)) => closer + 1,
                _ => next + 1,
            };
        }
        Quoted::No
    }

    fn tags(&self, open: &Open, part: Span, given: &Given<'_>) -> Tags {
        read_tags(given.text, part, self.masks.found(), given.dialect, open.family, &self.limits)
    }
}
