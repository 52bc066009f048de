//! Quoted: does this opener stand in a field of the call that is open?
//!
//! In: an open call, a mark that opens the same block, and the text so far.
//! Out: where the field ends that quotes it, if one does.
//! Never: takes an opener for quoted unless its field and the call around it are both closed behind it.
//!
//! A call that is never closed ends at the next one. But a field may quote a call, and what it quotes must not run: then
//! the tags around it balance. Each text is paired once, however many openers are asked about.

use super::Given;
use super::ladder::Open;
use super::mark::Mark;
use super::payload::{MOST_TAGS, Tag, read_tags};
use super::reader::Scanner;
use crate::program::Block;
use crate::surface::Role;
use crate::text::Span;

/// The tags of a part of the response.
#[derive(Debug, Default)]
pub(super) struct Tags {
    part: Span,
    list: Vec<Tag>,
}

impl Tags {
    /// The first tag from `at` on.
    fn position(&self, at: usize) -> usize {
        self.list.partition_point(|tag| tag.span().start < at)
    }

    /// Whether they are all that stand between `at` and `end`, or as many of them as are looked at.
    fn cover(&self, at: usize, end: usize) -> bool {
        let last = self.list.get(MOST_TAGS - 1).map_or(end, |last| last.span().start);
        self.part.end == end && self.part.start <= at && at <= last
    }
}

/// What is known of an opener.
pub(super) enum Quoted {
    No,
    /// The field that quotes it ends here.
    Until(usize),
    /// It stands in a field; what follows says whether that is ever closed.
    Unknown,
}

impl Scanner {
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
            self.pairs = Tags { part, list: self.tags(open, part, given) };
        }
        let closes = |tag: &Tag| tag.closer().and_then(|closer| self.pairs.list.get(closer));
        let call = self.pairs.list.get(self.pairs.position(open.opener.start));
        let Some(outer) = call.and_then(closes).filter(|closer| closer.span().start >= mark.span().end) else {
            return Quoted::No;
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

    fn tags(&self, open: &Open, part: Span, given: &Given<'_>) -> Vec<Tag> {
        read_tags(given.text, part, self.masks.found(), given.dialect, open.family, &self.limits)
    }
}
