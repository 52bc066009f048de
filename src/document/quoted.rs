//! Quoted: is this mark inside data of the open call, a fence of the open content, or an attribute of a tag in text?
//!
//! In: an open call or content, a mark after its opener, and the text so far; or an opener, and where the last block
//! ended.
//! Out: the end of the string, tag, field or fence that quotes it, if one does.
//! Never: treats an opener as quoted by a field or a fence, unless both that and the block around it are closed after
//! the opener.
//!
//! A call that is never closed ends at the next one. But JSON strings and attributes may quote a call or a closer, and
//! fields may quote a call, and a quoted call must not run: a string ends where JSON continues, and the tags in and
//! around a field balance. A document about answers may contain examples in code fences, whose files must not be
//! written: blocks in such a fence balance, too, and a closer of the document follows. Each text is paired only once,
//! however many openers are checked.

use super::ladder::{EndSearch, closes_surely};
use super::mark::{Mark, MarkKind};
use super::masks::is_masked;
use super::open_block::OpenBlock;
use super::pairs::{Pairs, Tagged};
use super::payload::{MAX_TAGS, Tag, TagSource, Tags, field_family, merged};
use super::scanner::DialectScanner;
use super::strings::TagMarks;
use super::{Quoted, ReadContext};
use crate::grammar::Progress;
use crate::program::Family;
use crate::surface::{Anchor, Payload, Role};
use crate::text::{Present, SearchState, Slice, Span, boundary};

/// How many tags after an opener are searched for the one that was paired with the closer of the call around it.
const MAX_TAGS_AHEAD: usize = 32;

/// How the tags in the payload of a call start.
pub(super) fn tag_marks(family: &Family) -> TagMarks<'_> {
    let opens = family.grammar.first(family.open).only_first_byte();
    TagMarks { open: opens.unwrap_or(b'<'), close: closer_start(family).unwrap_or_default() }
}

/// The text that every closer of the family starts with.
fn closer_start(family: &Family) -> Option<&str> {
    family.grammar.first(family.close?).only_literal()
}

/// Whether a field may be open at the end of a text, judged by the number of possible openers and closers. Most calls
/// close all of their fields.
fn may_be_open(family: &Family, text: &str) -> bool {
    let starts = family.grammar.first(family.open).only_literal().zip(closer_start(family));
    let Some((open, close)) = starts else { return true };
    let count = |literal: &str| memchr::memmem::find_iter(text.as_bytes(), literal).count();
    let closers = count(close);
    let openers = count(open) - if close.starts_with(open) { closers } else { 0 };
    openers > closers
}

impl DialectScanner {
    /// Whether a JSON string or a tag in the payload of `open` quotes the mark at `at`.
    pub(super) fn in_data(&mut self, open: &mut OpenBlock, search: &EndSearch<'_>, at: usize) -> Quoted {
        let EndSearch { context, block, .. } = *search;
        let grammar = context.dialect.families.get(open.family).is_none_or(|family| family.payload.is_some());
        if block.role != Role::Call || grammar || !block.payload.iter().any(|reader| reader.may_quote()) {
            return Quoted::No;
        }
        let own = || field_family(context.dialect, open.family);
        let Some(family) = block.fields.as_deref().or_else(own) else { return Quoted::No };
        let (within, complete) = (search.within(), search.is_complete());
        let data = &mut open.data;
        if !data.strings.is_over() {
            let quoted = data.strings.quotes_mark(at, within, tag_marks(family), complete);
            data.tags.at = data.strings.at();
            if !matches!(quoted, Quoted::No) || !data.strings.is_over() {
                return quoted;
            }
        }
        self.in_tag(&mut data.tags, family, at, within, complete)
    }

    /// Whether an attribute of a tag quotes an opener that counts anywhere, in the text of a block that is no call.
    pub(super) fn in_text(&mut self, open: &mut OpenBlock, search: &EndSearch<'_>, mark: &Mark) -> Quoted {
        let EndSearch { context, block, region } = *search;
        if matches!(block.role, Role::Call | Role::Content) {
            return Quoted::No;
        }
        self.in_attribute(&mut open.data.tags, mark, context, region)
    }

    /// Like `in_text`, for the text that contains these tags; `region` is its end, if known.
    pub(super) fn in_attribute(
        &mut self,
        tags: &mut Tagged,
        mark: &Mark,
        context: &ReadContext<'_>,
        region: Option<usize>,
    ) -> Quoted {
        let MarkKind::Open { family, id, .. } = mark.kind else { return Quoted::No };
        // An opener that counts only at the start of a line cannot be in an attribute.
        let anywhere = context.block(id).is_some_and(|block| block.anchor == Anchor::Anywhere);
        let family = context.dialect.families.get(usize::from(family)).filter(|family| family.attribute.is_some());
        let Some(family) = family.filter(|_| anywhere && !mark.masked) else { return Quoted::No };
        let within = region.and_then(|region| context.text.get(..region)).unwrap_or(context.text);
        self.in_tag(tags, family, mark.start(), within, region.is_some())
    }

    /// Whether a tag that starts after the last one read contains the offset `at`.
    fn in_tag(&mut self, tags: &mut Tagged, family: &Family, at: usize, within: &str, complete: bool) -> Quoted {
        let bytes = within.as_bytes();
        let first = tag_marks(family).open;
        // Fast path: a tag can contain something like a tag only in quotes, and most payloads have none.
        let quotes = |part: &[u8]| memchr::memchr2(b'"', b'\'', part).is_some();
        if !quotes(bytes.slice(tags.at..at)) {
            tags.pass(at);
            return Quoted::No;
        }
        while let Some(offset) = bytes.get(tags.at..at).and_then(|rest| memchr::memchr(first, rest)) {
            let start = tags.at + offset;
            tags.at = start + 1;
            let next = bytes.get(tags.at..at).and_then(|rest| memchr::memchr(first, rest));
            let between = bytes.slice(start..next.map_or(at, |next| tags.at + next));
            if !quotes(between) || family.may_open(between) == Some(false) || is_masked(self.masks.found(), start) {
                continue;
            }
            let (seen, retry) = self.arrived.seen_from(start);
            if tags.retry.is_some_and(|(knew_all, arrived)| knew_all == complete && self.arrived.is_before(arrived)) {
                tags.at = start;
                return Quoted::Unknown;
            }
            let part = if complete { within } else { within.get(..boundary(within, seen.bytes)).unwrap_or(within) };
            tags.retry = None;
            self.machine.start(&family.grammar, family.open, start);
            match self.quotes.run_anew(&mut self.machine, family, (part, complete), seen) {
                Progress::Matched(end) => {
                    tags.at = end;
                    if end > at {
                        return Quoted::Until(end);
                    }
                }
                Progress::Pending => {
                    tags.at = start;
                    tags.retry = Some((complete, retry));
                    return Quoted::Unknown;
                }
                Progress::Failed | Progress::TooDeep | Progress::Spent => {}
            }
        }
        tags.pass(at);
        Quoted::No
    }

    /// Whether a field or a fence in `open` quotes the opener `mark`; `region` is where the region around both ends, if
    /// known.
    pub(super) fn quoted(&mut self, open: &mut OpenBlock, search: &EndSearch<'_>, mark: &Mark) -> Quoted {
        let EndSearch { context, block, region } = *search;
        if block.role == Role::Content {
            return self.fenced(open, search, mark);
        }
        let fields = context.dialect.families.get(open.family).is_some_and(|family| family.payload.is_none());
        if block.role != Role::Call || !fields {
            return Quoted::No;
        }
        let Some(end) = region else {
            let before = self.tags(open, Span::new(open.fields, mark.start()), context);
            return if before.iter().any(Tag::is_left_open) { Quoted::Unknown } else { Quoted::No };
        };
        if !self.pairs.cover(open.opener.start, end) {
            let part = Span::new(open.opener.start, end);
            self.pairs = Pairs { part, list: self.tags(open, part, context).into_vec() };
        }
        let closes = |tag: &Tag| tag.closer().and_then(|closer| self.pairs.list.get(closer));
        let call = self.pairs.list.get(self.pairs.position(open.opener.start));
        let own = call.and_then(closes).filter(|closer| closer.span().start >= mark.span().end);
        // A quoted opener without a closer is paired with the closer of the call.
        let taken = || {
            let name = call?.name().of(context.text);
            let mut next = self.pairs.list.get(self.pairs.position(mark.start())..)?.iter().take(MAX_TAGS_AHEAD);
            next.find_map(|tag| closes(tag).filter(|_| context.dialect.names.same(tag.name().of(context.text), name)))
        };
        let Some(outer) = own.or_else(taken) else {
            // With more tags than are examined, it is unknown what is quoted: to be safe, count everything as quoted.
            return if self.pairs.list.len() >= MAX_TAGS { Quoted::Until(end) } else { Quoted::No };
        };
        let mut next = self.pairs.position(open.fields);
        while let Some(tag) = self.pairs.list.get(next).filter(|tag| tag.span().end <= mark.start()) {
            // The call breaks off in this field, so another call follows.
            if own.is_none() && tag.is_left_open() {
                return Quoted::No;
            }
            next = match (closes(tag), tag.closer()) {
                (Some(closer), _) if closer.span().start >= outer.span().start => next + 1,
                (Some(closer), _) if closer.span().start > mark.start() => return Quoted::Until(closer.span().end),
                (Some(_), Some(closer)) => closer + 1,
                _ => next + 1,
            };
        }
        Quoted::No
    }

    /// Whether a field of the call `open` quotes its closer `mark`: the field is open there and closed later, and the
    /// call is closed after the field, before another block opens.
    pub(super) fn in_field(&mut self, open: &mut OpenBlock, search: &EndSearch<'_>, mark: &Mark) -> Quoted {
        let EndSearch { context, block, region } = *search;
        let family = block.fields.as_deref().or_else(|| field_family(context.dialect, open.family));
        let Some(family) = family.filter(|_| block.role == Role::Call && block.payload.contains(&Payload::Tags)) else {
            return Quoted::No;
        };
        let before = Span::new(open.fields, mark.start());
        if !may_be_open(family, before.of(context.text))
            || !self.tags(open, before, context).iter().any(Tag::is_left_open)
        {
            return Quoted::No;
        }
        let Some(end) = region else { return Quoted::Unknown };
        if !self.pairs.cover(open.opener.start, end) {
            let part = Span::new(open.opener.start, end);
            self.pairs = Pairs { part, list: self.tags(open, part, context).into_vec() };
        }
        let first = self.pairs.position(open.fields);
        let fields = self.pairs.list.iter().skip(first).take_while(|tag| tag.span().end <= mark.start());
        let closers = fields.filter_map(|tag| self.pairs.list.get(tag.closer()?));
        let Some(closer) = closers.map(|closer| closer.span()).find(|closer| closer.start > mark.start()) else {
            return Quoted::No;
        };
        // A block that opens in between may have closers of its own.
        let mut number = open.search;
        while let Some(next) = self.marker.mark(number).filter(|next| next.start() < end) {
            number += 1;
            let opens = matches!(next.kind, MarkKind::Open { leaves: false, .. })
                && !next.masked
                && self.counts(context, &next);
            if opens {
                return Quoted::No;
            }
            if next.start() >= closer.end && closes_surely(open, search, &next) {
                return Quoted::Until(closer.end);
            }
        }
        Quoted::No
    }

    /// Like `in_field`, for a content, in which only fences quote. No text is searched twice for that.
    fn fenced(&mut self, open: &mut OpenBlock, search: &EndSearch<'_>, mark: &Mark) -> Quoted {
        let EndSearch { context, region, .. } = *search;
        if open.opener.start < self.unfenced || open.fences.open_at(mark.start(), context.text).is_none() {
            return Quoted::No;
        }
        // A content that starts directly after the line of an open fence is in that fence: the next fence line may
        // close it, and quotes nothing in the content.
        let start = self.masks.outer_fence().map_or(0, |(fence, _)| fence.end);
        if self.fences.around(open.opener.start, start, context.text, &self.blocks) {
            return Quoted::No;
        }
        let Some(end) = region else { return Quoted::Unknown };
        match self.closer_behind_fences(open, search, mark, end) {
            SearchState::FoundAt(closer) => Quoted::Until(closer),
            SearchState::NotBefore(end) => {
                self.unfenced = end;
                Quoted::No
            }
        }
    }

    /// The closer of a content after a fence in which `first` opens a block like it, if all such blocks before the
    /// closer are in fences and have their own closers.
    fn closer_behind_fences(
        &mut self,
        open: &OpenBlock,
        search: &EndSearch<'_>,
        first: &Mark,
        end: usize,
    ) -> SearchState {
        let context = search.context;
        let mut fences = open.fences;
        let mut fence = fences.open_at(first.start(), context.text);
        let mut examples = vec![self.examples(first, open, context)];
        let mut number = open.search;
        loop {
            let Some(mark) = self.marker.mark(number).filter(|mark| mark.start() < end) else {
                return SearchState::NotBefore(end);
            };
            number += 1;
            let opens = matches!(mark.kind, MarkKind::Open { id, .. } if id == open.id && self.counts(context, &mark));
            if !opens && !closes_surely(examples.last().unwrap_or(open), search, &mark) {
                continue;
            }
            let around = fences.open_at(mark.start(), context.text);
            let torn = around != fence && !examples.is_empty();
            if torn || (opens && around.is_none()) || examples.len() > self.limits.depth {
                return SearchState::NotBefore(mark.start());
            }
            fence = around;
            if opens {
                examples.push(self.examples(&mark, open, context));
            } else if examples.pop().is_none() {
                return SearchState::FoundAt(mark.start());
            }
        }
    }

    /// A block like `open`, as an example in one of its fences.
    fn examples(&mut self, mark: &Mark, open: &OpenBlock, context: &ReadContext<'_>) -> OpenBlock {
        let family = context.dialect.families.get(open.family);
        let attributes = family.map(|family| self.opener(family, mark, context).attributes).present();
        OpenBlock::new(open.family, open.id, mark, attributes, false, 0)
    }

    /// The tags of a call, and those of its fields if these have another grammar.
    pub(super) fn tags(&self, open: &OpenBlock, part: Span, context: &ReadContext<'_>) -> Tags {
        let (masks, limits) = (self.masks.found(), &self.limits);
        let ReadContext { text, dialect, .. } = *context;
        let read = |family| TagSource { text, body: part, masks, dialect, family, limits }.tags(&[]);
        let tags = field_family(context.dialect, open.family).map(read).unwrap_or_default();
        match context.block(open.id).and_then(|block| block.fields.as_deref()) {
            Some(fields) => merged(tags, read(fields)),
            None => tags,
        }
    }
}
