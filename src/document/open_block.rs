//! Open block: what is known about a block whose end is being searched for?
//!
//! In: its opener, and the closers after it one by one.
//! Out: [`OpenBlock`], and the [`BlockEnd`] for one of its rungs.
//! Never: chooses a rung: the ladder does.

use super::braces::BraceCount;
use super::fences::Paired;
use super::mark::{Mark, MarkKind};
use super::pairs::Data;
use super::trim::{ends_line, without_tail};
use super::{Attributes, BodyEncoding, Ended};
use crate::document;
use crate::program::{BlockBinding, BlockId, Closer};
use crate::surface::{Anchor, Ending, Role, Trim};
use crate::text::{SearchState, Slice, Span};
use smallvec::SmallVec;

/// A closer of an open block.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct FoundCloser {
    pub(super) span: Span,
    /// Whether it is the first of `close`, as declared.
    pub(super) is_first: bool,
    /// Whether it has another name, which is that of a block that opens inside, so that it may be the closer of that.
    pub(super) is_inner: bool,
}

/// A block whose end is being searched for.
#[derive(Debug, Clone)]
pub(super) struct OpenBlock {
    pub(super) family: usize,
    pub(super) id: BlockId,
    pub(super) name: Span,
    pub(super) opener: Span,
    pub(super) attributes: Attributes,
    pub(super) empty: bool,
    /// Whether it is the closer of a wrapper.
    pub(super) leaves: bool,
    /// The first mark after the opener.
    pub(super) first: usize,
    /// The mark at which the search continues. The fields below are what it has found so far.
    pub(super) search: usize,
    /// The closers found so far, by tier.
    pub(super) closers: [Option<FoundCloser>; 3],
    /// Whether an opener comes before them, to which one of them may belong.
    pub(super) contains_opener: bool,
    /// Whether it is reasoning that contains its own opener, so that any of its names closes it.
    pub(super) repeated: bool,
    /// The names of relevant openers in it that have no closer so far.
    pub(super) inner: SmallVec<[Span; 4]>,
    /// Whether a closer was found that closes none of these openers.
    pub(super) found_outer_closer: bool,
    /// Whether a closer was found that no later one can supersede.
    pub(super) closer_is_certain: bool,
    /// The first and the last closer that do not satisfy the anchor.
    pub(super) first_loose: Option<FoundCloser>,
    pub(super) loose: Option<FoundCloser>,
    pub(super) masked_closer: Option<FoundCloser>,
    /// The closer that balances its opener, if blocks of its name open in it.
    pub(super) balanced: Option<FoundCloser>,
    /// Whether blocks of its name open in it, but no closer balances its opener.
    pub(super) unbalanced: bool,
    pub(super) next_block: Option<usize>,
    /// Whether the region around the block also ends there.
    pub(super) ends_with_region: bool,
    /// The next opener of the same block that is not quoted by a field or a fence: no rung looks beyond it.
    pub(super) bound: Option<usize>,
    /// The fields up to this offset are known to be closed.
    pub(super) fields: usize,
    pub(super) data: Data,
    /// The code fences in it.
    pub(super) fences: Paired,
    /// Whether the code fence that ends it may have closed on an earlier line.
    pub(super) unsure_fence: bool,
    /// Whether later text decides if the next opener of the same block is quoted.
    pub(super) waits: bool,
    pub(super) payload: PayloadState,
    /// Only white space is between the opener and this offset, before a payload.
    pub(super) payload_from: usize,
    pub(super) blank: Option<usize>,
    blank_from: usize,
    /// Only spaces and tabs are between the line break at `blank_from` and this offset.
    blank_seen: usize,
    /// The end of the opener's line.
    pub(super) line: SearchState,
}

impl OpenBlock {
    pub(super) fn new(
        family: usize,
        id: BlockId,
        mark: &Mark,
        attributes: Attributes,
        empty: bool,
        first: usize,
    ) -> Self {
        Self {
            family,
            id,
            name: mark.name(),
            opener: mark.span(),
            attributes,
            empty,
            leaves: matches!(mark.kind, MarkKind::Open { leaves: true, .. }),
            first,
            search: first,
            closers: [None; 3],
            contains_opener: false,
            repeated: false,
            inner: SmallVec::new(),
            found_outer_closer: false,
            closer_is_certain: false,
            first_loose: None,
            loose: None,
            masked_closer: None,
            balanced: None,
            unbalanced: false,
            next_block: None,
            ends_with_region: false,
            bound: None,
            fields: mark.span().end,
            data: Data::new(mark.span().end),
            fences: Paired::from(mark.span().end),
            unsure_fence: false,
            waits: false,
            payload: PayloadState::Unknown,
            payload_from: mark.span().end,
            blank: None,
            blank_from: mark.span().end,
            blank_seen: 0,
            line: SearchState::NotBefore(mark.span().end),
        }
    }

    /// The block, without a parent and without attributes; the caller adds them if there are any.
    pub(super) fn block(&self, span: Span, inner: Span, body: Span, ended: Ended) -> document::Block {
        document::Block {
            id: self.id,
            family: self.family as u8,
            name: self.name.into(),
            span: span.into(),
            inner: inner.into(),
            body: body.into(),
            attributes: Attributes::new(),
            ended,
            parent: None,
            written: BodyEncoding::Bound,
            value: None,
        }
    }

    /// Whether no later closer can have a better tier than the one that was found.
    pub(super) fn sure(&self, block: &BlockBinding) -> bool {
        if self.closer_is_certain {
            return true;
        }
        block.surest != Closer::LAST_TIER && self.closers.iter().take(block.surest + 1).any(Option::is_some)
    }

    /// The best closer so far. If it comes before the next opener of the same block, it is the block's closer.
    pub(super) fn closer(&self) -> Option<FoundCloser> {
        self.closers.iter().flatten().next().copied()
    }

    /// The first closer, whether it satisfies the anchor or not.
    pub(super) fn loose_closer(&self) -> Option<FoundCloser> {
        self.closer().into_iter().chain(self.first_loose).min_by_key(|closer| closer.span.start)
    }

    /// The end of the block by this ending at `at`.
    pub(super) fn end_at(&self, at: usize, ending: Ending, rung: usize, block: &BlockBinding, text: &str) -> BlockEnd {
        let closer = match ending {
            Ending::Closer => self.closer(),
            Ending::BalancedCloser => self.balanced.or(self.closer()),
            Ending::LooseCloser => self.loose_closer(),
            Ending::LastLooseCloser => self.closer().or(self.loose),
            Ending::QuotedCloser => self.masked_closer,
            Ending::Payload => {
                let payload = if let PayloadState::Whole { body, .. } = self.payload { Some(body) } else { None };
                // An opener without a payload is bare, whichever rung ends it.
                let rung = if payload.is_some() { rung } else { 0 };
                return BlockEnd { at, closer: None, rung, ending, payload, alike: false };
            }
            Ending::Fence | Ending::NextBlock | Ending::BlankLine | Ending::End => {
                let alike = ending == Ending::NextBlock && self.bound == Some(at);
                let ending = if self.ends_with_region && ending == Ending::NextBlock { Ending::End } else { ending };
                let body = Span::new(self.opener.end, at);
                let text_end = body.start + body.of(text).trim_end().len();
                let end = match ending {
                    Ending::NextBlock if block.trim.contains(&Trim::WrappingFence) => without_tail(body, text).end,
                    _ => text_end,
                };
                // A call that was cut off retains the white space at its end. Any other block leaves it to the text
                // after it, together with the rules and the fence before the next block.
                let at = if rung > 0 && block.role == Role::Call && end == text_end { at } else { end };
                return BlockEnd { at, closer: None, rung, ending, payload: None, alike };
            }
        };
        BlockEnd { at: closer.map_or(at, |closer| closer.span.end), closer, rung, ending, payload: None, alike: false }
    }

    /// Handles a closer of this tier; false if more text is needed to decide whether it counts.
    pub(super) fn take_closer(
        &mut self,
        block: &BlockBinding,
        mark: &Mark,
        (tier, closer): (usize, FoundCloser),
        text: &str,
        complete: bool,
    ) -> bool {
        let (first, closer) = (closer.is_first, Some(closer));
        let mut counts = block.anchor == Anchor::Anywhere || mark.starts_line();
        if !counts && self.shares_line(mark.start(), text) {
            let Some(ends) = ends_line(mark.span().end, text, complete) else { return false };
            counts = ends;
        }
        let Some(slot) = self.closers.get(tier) else { return true };
        if mark.masked {
            self.masked_closer = self.masked_closer.or(closer.filter(|_| counts));
        } else if !counts {
            let within = block.role == Role::Content || self.next_block.is_none();
            let sought = || block.ends.iter().flatten().any(|ending| ending.is_loose());
            if within && tier != Closer::LAST_TIER && sought() {
                self.first_loose = self.first_loose.or(closer);
                self.loose = closer;
            }
        } else {
            // If a closer is written twice, the first one ends the block.
            let blank = |span: Span| Span::new(span.end, mark.start()).of(text).trim().is_empty();
            let again = slot.is_some_and(|closer| tier != Closer::LAST_TIER || blank(closer.span));
            let before = self.closers.slice(..Closer::LAST_TIER);
            let doubled = before.iter().flatten().any(|closer| blank(closer.span));
            // If no opener is inside the block, a closer as declared, or a doubled one, certainly belongs to it.
            let named = tier != Closer::LAST_TIER && block.surest != Closer::LAST_TIER;
            self.closer_is_certain = named && !self.contains_opener && (first || doubled);
            let known = again || (self.closer_is_certain && doubled);
            if !known && let Some(slot) = self.closers.get_mut(tier) {
                *slot = self.loose.filter(|loose| blank(loose.span)).or(closer);
            }
        }
        true
    }

    /// Whether a mark is on the line of the opener.
    pub(super) fn shares_line(&mut self, at: usize, text: &str) -> bool {
        let SearchState::NotBefore(from) = self.line else { return false };
        let between = text.as_bytes().slice(from..at);
        let Some(offset) = memchr::memchr(b'\n', between) else {
            self.line = SearchState::NotBefore(at);
            return true;
        };
        self.line = SearchState::FoundAt(from + offset);
        false
    }
}

/// The state of the search for the payload of a block.
#[derive(Debug, Clone, Copy)]
pub(super) enum PayloadState {
    Unknown,
    Running,
    /// The payload is complete and ends at `end`; `body` is the part of it that is read.
    Whole {
        end: usize,
        body: Span,
    },
    Absent,
    Broken,
    /// The payload is nested more deeply than its grammar can follow, so its braces are counted.
    TooDeep(BraceCount),
    /// The payload is nested that deeply, and never closed.
    Bottomless,
}

/// The end of a block.
pub(super) struct BlockEnd {
    pub(super) at: usize,
    pub(super) closer: Option<FoundCloser>,
    pub(super) rung: usize,
    pub(super) ending: Ending,
    pub(super) payload: Option<Span>,
    /// Whether the next block of its own kind ends it.
    pub(super) alike: bool,
}

impl BlockEnd {
    /// The same end, or the incomplete closer at the end of the answer, if there is one.
    pub(super) fn or_in_closer(self, closer: impl FnOnce() -> Option<Span>) -> Self {
        match if self.ended() == Ended::Open { closer() } else { None } {
            Some(span) => {
                BlockEnd { at: span.end, closer: Some(FoundCloser { span, is_first: true, is_inner: false }), ..self }
            }
            None => self,
        }
    }

    /// The span between opener and closer.
    pub(super) fn inner(&self, open: &OpenBlock) -> Span {
        let until = self.closer.map_or(self.at, |closer| closer.span.start);
        Span::new(open.opener.end, until)
    }

    /// The payload, or `inner` after trimming.
    pub(super) fn body(&self, inner: Span, block: &BlockBinding, trim: impl FnOnce(Span) -> Span) -> Span {
        match self.payload {
            // The payload of a call is not trimmed, because its readers skip white space.
            Some(payload) if block.role == Role::Call => payload,
            payload => trim(payload.unwrap_or(inner)),
        }
    }

    /// How the block ended, if it may have a body.
    pub(super) fn ended(&self) -> Ended {
        match (self.rung, self.ending) {
            (0, Ending::Payload) if self.payload.is_none() => Ended::Bare,
            (0, Ending::End) => Ended::Last,
            (0, _) if self.closer.is_some_and(|closer| closer.is_inner) => Ended::Inner,
            (0, _) => Ended::Whole,
            (_, Ending::End) => Ended::Open,
            _ if self.alike => Ended::Alike,
            _ => Ended::Cut,
        }
    }
}

/// Searches for the first blank line after the opener, up to `known`.
pub(super) fn blank_line(open: &mut OpenBlock, text: &str, known: usize) {
    let bytes = text.as_bytes();
    while open.blank.is_none() {
        let rest = bytes.slice(open.blank_from..known);
        let Some(offset) = memchr::memchr(b'\n', rest) else {
            open.blank_from = open.blank_from.max(known);
            return;
        };
        let line = open.blank_from + offset;
        let after = bytes.slice(open.blank_seen.max(line + 1)..known);
        match after.iter().find(|byte| !matches!(byte, b' ' | b'\t' | b'\r')) {
            Some(b'\n') => {
                open.blank = Some(line - usize::from(bytes.get(..line).is_some_and(|line| line.ends_with(b"\r"))))
            }
            Some(_) => open.blank_from = line + 1,
            // It is not known yet whether the next line is blank.
            None => {
                open.blank_from = line;
                open.blank_seen = known;
                return;
            }
        }
    }
}
