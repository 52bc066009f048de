//! Byte ledger: what became of every byte of the response?
//!
//! In: the blocks with their fates, the text outside them, and which parts of both are visible.
//! Out: each part of the response once, in order, with the kind under which the ledger counts it.
//! Never: adds up bytes: the ledger and the trace do.

use super::outside::{OutsideFate, OutsideText};
use super::{Fate, Judgement};
use crate::program::TextRole;
use crate::surface::Role;
use crate::text::Span;
use serde::{Deserialize, Serialize};
use std::fmt;

/// The part of the ledger under which a byte counts.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "lowercase")]
pub enum Leaf {
    /// Text shown to the user.
    Message,
    /// The model's reasoning.
    Thinking,
    /// The payload of a call.
    Calls,
    /// The body of a content.
    Contents,
    /// The body of a section.
    Sections,
    /// The body of an utterance.
    Utterances,
    /// Openers, closers, keys, quotes, separators, removed fences.
    Markup,
    /// Text outside every block.
    Stray,
    /// What a strategy removed, with its markup.
    Dropped,
    /// White space outside blocks, and white space that was trimmed.
    Blank,
}

impl Leaf {
    /// Its name in the ledger.
    #[doc(hidden)]
    pub fn word(self) -> &'static str {
        match self {
            Leaf::Message => "message",
            Leaf::Thinking => "thinking",
            Leaf::Calls => "calls",
            Leaf::Contents => "contents",
            Leaf::Sections => "sections",
            Leaf::Utterances => "utterances",
            Leaf::Markup => "markup",
            Leaf::Stray => "stray",
            Leaf::Dropped => "dropped",
            Leaf::Blank => "blank",
        }
    }
}

impl fmt::Display for Leaf {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(self.word())
    }
}

impl Judgement<'_> {
    /// Calls `leaf` for every byte of the response once, in order.
    pub(crate) fn leaves(&self, mut leaf: impl FnMut(Span, Leaf)) {
        let mut leaf = |span: Span, kind: Leaf| match kind {
            Leaf::Markup | Leaf::Dropped | Leaf::Blank => leaf(span, kind),
            _ if self.redactions.is_empty() => leaf(span, kind),
            // Redacted text is never visible, so it counts as dropped.
            _ => self.redactions.split(span, |part, hidden| leaf(part, if hidden { Leaf::Dropped } else { kind })),
        };
        if let Some((opener, closer)) = self.document.outer_fence {
            self.markup(Span::new(0, opener.end), &mut leaf);
            self.inner_leaves(&mut leaf);
            self.markup(Span::new(closer.start, self.document.bytes), &mut leaf);
        } else {
            self.inner_leaves(&mut leaf);
        }
        self.native_leaves(&mut leaf);
    }

    /// Counts removed markup, such as a fence, and the white space at its ends.
    fn markup(&self, span: Span, leaf: &mut impl FnMut(Span, Leaf)) {
        let core = span.trimmed(self.text);
        let core = if core.is_empty() { Span::new(span.end, span.end) } else { core };
        leaf(Span::new(span.start, core.start), Leaf::Blank);
        leaf(core, Leaf::Markup);
        leaf(Span::new(core.end, span.end), Leaf::Blank);
    }

    fn inner_leaves(&self, leaf: &mut impl FnMut(Span, Leaf)) {
        let outside = self.dialect.map_or(&TextRole::Stray, |dialect| &dialect.text);
        let prose = match outside {
            TextRole::Message => self.prose().concat(),
            _ => Vec::new(),
        };
        let mut pieces = self.texts.pieces.iter().peekable();
        let Span { start: mut at, end } = self.outer();
        let count = self.document.text_blocks();
        for index in 0..=count {
            let block = self.document.blocks.get(index).filter(|_| index < count);
            if block.is_some_and(|block| block.parent().is_some()) {
                continue;
            }
            let next = block.map_or(end, |block| block.span().start);
            while let Some(piece) = pieces.next_if(|piece| piece.gap().start < next) {
                leaf(Span::new(at, piece.gap().start), Leaf::Markup);
                self.outside_leaves(piece, outside, &prose, leaf);
                at = piece.gap().end;
            }
            leaf(Span::new(at, next), Leaf::Markup);
            if let Some(block) = block {
                match self.fate(index) {
                    Fate::Text if *outside == TextRole::Message => self.prose_leaves(block.span(), &prose, leaf),
                    _ => self.block_leaves(index, leaf),
                }
                at = block.span().end;
            }
        }
    }

    /// Counts the parts of a structured reply other than its text.
    fn native_leaves(&self, leaf: &mut impl FnMut(Span, Leaf)) {
        let Some(natives) = &self.document.natives else { return };
        let mut blocks = self.document.blocks.from(self.document.text_blocks()).peekable();
        for part in natives.parts.iter().skip(1) {
            match blocks.next_if(|(_, block)| block.span() == *part) {
                Some((index, _)) => self.block_leaves(index, leaf),
                // A part beyond the limits has no block, so it is dropped.
                None => leaf(*part, Leaf::Dropped),
            }
        }
    }

    fn outside_leaves(
        &self,
        piece: &OutsideText,
        outside: &TextRole,
        prose: &[Span],
        leaf: &mut impl FnMut(Span, Leaf),
    ) {
        let kind = match (piece.fate, outside) {
            (OutsideFate::Dropped, _) => Leaf::Dropped,
            (OutsideFate::Message, TextRole::Message) => return self.prose_leaves(piece.gap(), prose, leaf),
            (OutsideFate::Message, _) if self.texts.message_dropped => Leaf::Dropped,
            (OutsideFate::Message, _) => Leaf::Message,
            (OutsideFate::Section, _) => Leaf::Sections,
            (OutsideFate::Stray, _) => Leaf::Stray,
        };
        self.markup(Span::new(piece.gap().start, piece.core().start), leaf);
        leaf(piece.core(), kind);
        self.markup(Span::new(piece.core().end, piece.gap().end), leaf);
    }

    /// Counts `part`: visible prose as message, and the rest, which was removed as white space, as blank.
    fn prose_leaves(&self, part: Span, prose: &[Span], leaf: &mut impl FnMut(Span, Leaf)) {
        let first = prose.partition_point(|span| span.end <= part.start);
        let mut at = part.start;
        for span in prose.iter().skip(first).take_while(|span| span.start < part.end) {
            let (start, end) = (span.start.max(part.start), span.end.min(part.end));
            leaf(Span::new(at, start), Leaf::Blank);
            leaf(Span::new(start, end), if self.texts.message_dropped { Leaf::Dropped } else { Leaf::Message });
            at = end;
        }
        leaf(Span::new(at, part.end), Leaf::Blank);
    }

    fn block_leaves(&self, index: usize, leaf: &mut impl FnMut(Span, Leaf)) {
        let Some((block, bound)) = self.block(index) else { return };
        let kind = match bound.role {
            Role::Message if self.texts.message_dropped => Leaf::Dropped,
            Role::Message => Leaf::Message,
            Role::Thinking => Leaf::Thinking,
            Role::Call => Leaf::Calls,
            Role::Content => Leaf::Contents,
            Role::Section => Leaf::Sections,
            Role::Utterance => Leaf::Utterances,
            Role::Wrapper => Leaf::Markup,
        };
        match self.fate(index) {
            Fate::Dropped => return self.dropped_leaves(index, block.span(), leaf),
            Fate::Text => {
                return leaf(block.span(), if self.texts.message_dropped { Leaf::Dropped } else { Leaf::Message });
            }
            Fate::Counts | Fate::Lifted | Fate::Inner => {}
        }
        leaf(Span::new(block.span().start, block.inner().start), Leaf::Markup);
        if bound.role == Role::Call {
            leaf(block.inner(), kind);
        } else {
            self.body_leaves(index, block.inner(), kind, leaf);
        }
        leaf(Span::new(block.inner().end, block.span().end), Leaf::Markup);
    }

    /// Counts the bytes of a dropped block as dropped, except for blocks lifted out of it and blocks displayed as raw
    /// text.
    fn dropped_leaves(&self, index: usize, span: Span, leaf: &mut impl FnMut(Span, Leaf)) {
        let mut at = span.start;
        let inside = self.document.blocks.from(index + 1).take_while(|(_, child)| child.span().start < span.end);
        let is_apart = |fate: Fate| matches!(fate, Fate::Lifted | Fate::Text);
        for (child, found) in inside.filter(|(child, _)| is_apart(self.fate(*child))) {
            if found.span().start >= at {
                leaf(Span::new(at, found.span().start), Leaf::Dropped);
                self.block_leaves(child, leaf);
                at = found.span().end;
            }
        }
        leaf(Span::new(at, span.end), Leaf::Dropped);
    }

    /// Counts the text of a block and the blocks inside it, in order; the rest is markup or white space.
    fn body_leaves(&self, index: usize, inner: Span, kind: Leaf, leaf: &mut impl FnMut(Span, Leaf)) {
        let mut at = inner.start;
        let visible = self.body_spans(index);
        let mut visible = visible.iter().copied().peekable();
        let mut child = index + 1;
        while at < inner.end {
            while self.document.blocks.get(child).is_some_and(|found| {
                found.parent().is_some() && (found.parent() != Some(index) || self.stays_in(child, index))
            }) {
                child += 1;
            }
            let inside = self.document.blocks.get(child).filter(|found| found.parent() == Some(index));
            while visible.peek().is_some_and(|span| span.end <= at) {
                visible.next();
            }
            let text = visible.peek().copied();
            let next_text = text.map_or(inner.end, |span| span.start.max(at));
            let next_child = inside.map_or(inner.end, |found| found.span().start);
            let next = next_text.min(next_child);
            self.markup(Span::new(at, next), leaf);
            at = next;
            if let Some(found) = inside.filter(|found| found.span().start == at) {
                self.block_leaves(child, leaf);
                at = found.span().end;
                child += 1;
            } else if let Some(span) = text.filter(|span| span.start <= at) {
                let end = span.end.min(next_child);
                leaf(Span::new(at, end), kind);
                at = end;
            }
        }
    }
}
