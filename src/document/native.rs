//! Native: which blocks are the parts of a structured reply besides its text?
//!
//! In: the document of the text of a reply, and the layout of the whole reply.
//! Out: the same document with a block for each native call and each part of the reasoning, in the order of the layout.
//! Never: reads the arguments of a call, except to find out whether a call that may be cut off is complete.

use super::{Attributes, Block, BodyEncoding, Document, Ended, FindingKind, ReaderFinding};
use crate::diagnostic::{Defect, Remark};
use crate::json::{self, Context};
use crate::program::{BlockId, Dialect, Limits, TextRole};
use crate::provider::{Reply, ReplyLayout};
use crate::surface::Role;
use crate::text::{Extent, Present, Span};
use std::cell::Cell;
use std::collections::BTreeSet;

/// The parts of a structured reply besides its text.
#[derive(Debug, Default)]
pub(crate) struct Natives {
    /// Whether the reply was read at all: one that is longer than the limit is not.
    pub(crate) is_read: bool,
    /// The places of the parts in the source: the text, the calls, the reasoning.
    pub(crate) parts: Vec<Span>,
    /// The index of the block of the first native call.
    first: usize,
    /// For each native call, its id and how much of the text comes before it.
    calls: Vec<(Option<String>, usize)>,
    /// The provider's names for the parts that are ignored.
    pub(crate) others: Vec<String>,
    /// Whether the provider reports that the model refused.
    pub(crate) refused: bool,
    /// The provider's word for why a truncated reply ended, if it is not that the tokens ran out.
    pub(crate) reason: Option<String>,
}

impl Natives {
    fn of(reply: &Reply) -> Self {
        let others = reply.others().map(str::to_owned).collect();
        Self { others, refused: reply.refused, reason: reply.reason.clone(), ..Self::default() }
    }

    /// The id of the native call whose block has this index.
    pub(crate) fn id(&self, index: usize) -> Option<&str> {
        let (id, _) = self.calls.get(index.checked_sub(self.first)?)?;
        id.as_deref()
    }

    /// Whether there are native calls.
    pub(crate) fn has_calls(&self) -> bool {
        !self.calls.is_empty()
    }

    /// A key that sorts the blocks in the order in which the model wrote them.
    pub(crate) fn order(&self, index: usize, start: usize) -> (usize, bool, usize) {
        match index.checked_sub(self.first).map(|native| self.calls.get(native)) {
            None => (start, true, index),
            Some(Some((_, before))) => (*before, false, index),
            Some(None) => (usize::MAX, true, index),
        }
    }

    /// A key that sorts the places of calls in the order in which the model wrote them.
    pub(crate) fn order_of(&self, span: Span) -> (usize, bool) {
        match self.call_at(span.start).checked_sub(1).and_then(|call| self.calls.get(call)) {
            Some((_, before)) => (*before, false),
            None => (span.start, true),
        }
    }

    /// The number of the native call that contains this offset of the source, from 1; 0 if none does.
    pub(crate) fn call_at(&self, place: usize) -> usize {
        Some(self.part(place)).filter(|part| *part <= self.calls.len()).unwrap_or_default()
    }

    /// The number of the part that contains this offset of the source.
    pub(crate) fn part(&self, place: usize) -> usize {
        self.parts.partition_point(|part| part.start <= place).saturating_sub(1)
    }

    /// A range of the source as a range of one of its parts.
    pub(crate) fn extent(&self, span: Span) -> Extent {
        let number = self.part(span.start);
        let part = self.parts.get(number).copied().present();
        let within = |place: usize| place.min(part.end).saturating_sub(part.start);
        Extent { part: number as u32, start: within(span.start), end: within(span.end) }
    }
}

impl Document {
    /// The document of a reply that is longer than the limit.
    pub(crate) fn too_large(reply: &Reply, layout: &ReplyLayout, limit: usize) -> Self {
        let text = layout.parts.first().copied().present();
        let found = ReaderFinding::new(Defect::TooLarge, Span::new(limit.min(text.end), text.end));
        let natives = Natives { parts: layout.parts.clone(), ..Natives::of(reply) };
        let natives = Some(Box::new(natives));
        Document { bytes: text.end, found: [found].into_iter().collect(), natives, ..Document::default() }
    }

    /// The number of blocks in the text.
    pub(crate) fn text_blocks(&self) -> usize {
        self.natives.as_ref().map_or(self.blocks.len(), |natives| natives.first)
    }

    /// Adds the native parts of a reply. If no dialect found anything in the text, the text is the message.
    pub(crate) fn with_natives(
        mut self,
        reply: &Reply,
        layout: &ReplyLayout,
        dialects: &[Dialect],
        limits: &Limits,
    ) -> Self {
        let dialect = self.dialect.and_then(|id| id.of(dialects));
        if dialect.is_none_or(|dialect| dialect.text != TextRole::Message) {
            self.leave_unread();
        }
        let is_call = |block: &&Block| {
            let bound = dialect.and_then(|dialect| dialect.block(block.id));
            bound.is_some_and(|bound| bound.role == Role::Call)
        };
        let first = self.blocks.len();
        let spelled = self.blocks.iter().filter(is_call).count();
        let room = limits.calls.saturating_sub(spelled).min(limits.blocks.saturating_sub(first));
        let mut natives = Natives { is_read: true, parts: layout.parts.clone(), first, ..Natives::of(reply) };
        let unfinished: BTreeSet<usize> = reply.unfinished.iter().copied().collect();
        let ids = reply.calls().map(|(id, ..)| id.map(str::to_owned));
        for (number, (id, (name, before))) in ids.zip(&layout.calls).enumerate() {
            let Some(span) = layout.parts.get(number + 1).copied() else { break };
            if number >= room {
                self.found.push(ReaderFinding::new(Defect::TooLarge, span));
                break;
            }
            // Several calls may arrive at once, so that any of them may be cut off, and not only the last.
            let doubtful = || (reply.truncated || reply.refused) && !is_complete(span.of(&layout.source), limits);
            let cut = unfinished.contains(&number) || doubtful();
            let ended = if cut { Ended::Open } else { Ended::Whole };
            if cut {
                self.found.push(ReaderFinding::of(Defect::UnclosedBlock, span, self.blocks.len()));
            }
            let body = span.trimmed(&layout.source);
            self.blocks.push(Block::native(BlockId::CALL, *name, span, body, ended));
            natives.calls.push((id, *before));
        }
        let thinking = layout.parts.iter().skip(1 + layout.calls.len()).copied();
        for span in thinking.take(limits.blocks.saturating_sub(self.blocks.len())) {
            let body = span.trimmed(&layout.source);
            let name = Span::new(span.start, span.start);
            self.blocks.push(Block::native(BlockId::THINKING, name, span, body, Ended::Whole));
        }
        self.natives = Some(Box::new(natives));
        self
    }

    /// Leaves the text without a dialect if no dialect found a block or a defect in it.
    fn leave_unread(&mut self) {
        let is_ignorable = |what: FindingKind| {
            matches!(what, FindingKind::Remark(Remark::QuotedBlock) | FindingKind::Defect(Defect::NoDialect))
        };
        if self.blocks.is_empty() && self.found.iter().all(|found| is_ignorable(found.what)) {
            let quoted = self.found.iter().filter(|found| found.what != FindingKind::Defect(Defect::NoDialect));
            self.found = quoted.cloned().collect();
            self.dialect = None;
            self.markup.clear();
            self.outer_fence = None;
        }
    }
}

impl Block {
    /// Whether it is a part of a structured reply, and not of its text.
    pub(crate) fn is_native(&self) -> bool {
        self.id.is_native()
    }

    fn native(id: BlockId, name: Span, span: Span, body: Span, ended: Ended) -> Self {
        Self {
            id,
            family: 0,
            ended,
            written: BodyEncoding::Bound,
            parent: None,
            name: name.into(),
            span: span.into(),
            inner: span.into(),
            body: body.into(),
            attributes: Attributes::new(),
            value: None,
        }
    }
}

/// Whether the arguments of a call that may have been cut off are complete.
fn is_complete(arguments: &str, limits: &Limits) -> bool {
    let values = Cell::new(limits.values);
    json::strict(arguments.trim(), Context::new(limits.depth, &values)).is_ok()
}
