//! Outside: what becomes of the text outside every block?
//!
//! In: the blocks, and the dialect's setting for text outside them.
//! Out: the [`OutsideText`]s with their fates; stray ones are answered by strategies.
//! Never: composes a text: each piece only has a place and a fate.

use super::enclosing_wrapper::wrapped;
use super::{Judgement, Subject, defect};
use crate::diagnostic::{Defect, Remark, message, quote};
use crate::document::{Block, ChunkedVec, without_between, without_frame};
use crate::program::TextRole;
use crate::surface::{Between, Role};
use crate::text::{Span, Stretch};

/// Text outside every block.
#[derive(Debug)]
pub(super) struct OutsideText {
    gap: Stretch,
    core: Stretch,
    pub(super) fate: OutsideFate,
}

impl OutsideText {
    fn new(gap: Span, core: Span, fate: OutsideFate) -> Self {
        Self { gap: gap.into(), core: core.into(), fate }
    }

    /// The whole gap between two blocks, including white space.
    pub(super) fn gap(&self) -> Span {
        self.gap.span()
    }

    /// The gap, trimmed at both ends of white space and of what the dialect allows between blocks.
    pub(super) fn core(&self) -> Span {
        self.core.span()
    }
}

/// The fate of text outside every block.
#[derive(Debug, Default, Clone, Copy, PartialEq, Eq)]
pub(super) enum OutsideFate {
    #[default]
    Stray,
    Section,
    Message,
    Dropped,
}

impl Judgement<'_> {
    /// Finds the text outside every block, and answers text that has no place in the dialect.
    pub(super) fn judge_outside(&mut self) {
        self.texts.pieces = self.outside_pieces();
        self.judge_loose();
        // Where no dialect read the answer, `no-dialect` has been reported for the whole text.
        if self.dialect.is_none() {
            return;
        }
        let end = self.uncounted.after.unwrap_or(usize::MAX);
        for index in 0..self.texts.pieces.len() {
            let Some(piece) = self.texts.pieces.get(index).filter(|piece| !piece.core().is_empty()) else { continue };
            let core = piece.core();
            let (message, rule) = match piece.fate {
                OutsideFate::Message if core.start >= end => {
                    let message =
                        message!("`{}` follows the last call, which must be last", quote(core.of(self.text), 40));
                    (message, self.mode.and_then(|mode| mode.reply.calls_last))
                }
                OutsideFate::Stray => {
                    let message = message!("`{}` is outside every block", quote(core.of(self.text), 40));
                    (message, self.dialect.map(|dialect| dialect.at))
                }
                _ => continue,
            };
            self.answer(
                Defect::StrayText,
                &Subject::Outside(index),
                defect(Defect::StrayText, core, message).with_rule(rule),
            );
        }
    }

    /// Drops text that is directly inside a closed wrapper if there is message text elsewhere: it is not meant for
    /// the user.
    fn judge_loose(&mut self) {
        let Some(dialect) = self.dialect.filter(|dialect| dialect.wraps && dialect.text == TextRole::Message) else {
            return;
        };
        let wrapped = wrapped(&self.document.blocks, dialect);
        let loose = |span: Span| {
            let next = wrapped.partition_point(|(inner, _)| inner.end < span.end);
            wrapped.get(next).filter(|(inner, _)| inner.start <= span.start)
        };
        let pieces = || self.texts.pieces.iter().enumerate().filter(|(_, piece)| !piece.core().is_empty());
        let found: Vec<(usize, Span, Span)> = pieces()
            .filter(|(_, piece)| piece.fate == OutsideFate::Message)
            .filter_map(|(index, piece)| Some((index, piece.core(), loose(piece.core())?.1)))
            .collect();
        let is_message = |block: &Block| {
            self.bound(block).is_some_and(|bound| bound.role == Role::Message) && !block.body().is_empty()
        };
        let others = pieces().filter(|(_, piece)| piece.fate == OutsideFate::Message).count() > found.len()
            || self.document.blocks.iter().any(is_message);
        for (index, core, opener) in found.into_iter().filter(|_| others) {
            self.place_outside(index, OutsideFate::Dropped);
            let (text, wrapper) = (quote(core.of(self.text), 40), quote(opener.of(self.text), 40));
            let message = message!("`{}` is loose text in `{}` and is ignored", text, wrapper);
            self.remark(Remark::FieldForm, core, message, Some(dialect.at));
        }
    }

    /// The text outside every block in order, including what was taken out of it.
    fn outside_pieces(&self) -> ChunkedVec<OutsideText> {
        let outside = self.dialect.map_or(&TextRole::Stray, |dialect| &dialect.text);
        let strays = self.texts.strays;
        let section = self.outside_section().map(|(_, span)| span);
        let closers = self.stray_closers();
        let pieces = self.gaps().map(|gap| match section {
            Some(core) if gap.contains(core.start) => OutsideText::new(gap, core, OutsideFate::Section),
            _ if *outside == TextRole::Message => OutsideText::new(gap, gap.trimmed(self.text), OutsideFate::Message),
            _ => OutsideText::new(gap, self.without_between(gap, &closers), strays),
        });
        let mut pieces = pieces.peekable();
        let mut taken = self.texts.taken.iter().peekable();
        let both = std::iter::from_fn(|| {
            let next = pieces.peek().map_or(usize::MAX, |piece| piece.gap().start);
            match taken.next_if(|taken| taken.start < next) {
                Some(taken) => Some(OutsideText::new(*taken, *taken, OutsideFate::Dropped)),
                None => pieces.next(),
            }
        });
        both.collect()
    }

    /// Whether there is text outside every block that has no place in the dialect.
    pub(super) fn has_stray_text(&self) -> bool {
        let section = self.outside_section().map(|(_, span)| span);
        let closers = self.stray_closers();
        let mut gaps = self.gaps().filter(|gap| section.is_none_or(|section| !gap.contains(section.start)));
        gaps.any(|gap| !self.without_between(gap, &closers).is_empty())
    }

    /// The gaps outside every block without what was taken out of them, including white space.
    pub(super) fn gaps(&self) -> impl Iterator<Item = Span> {
        let inner = self.outer();
        let outermost = self.document.blocks.iter().filter(|block| block.parent().is_none());
        let mut blocks = outermost.map(|block| block.span()).peekable();
        // Markup between blocks, such as the commas of an object, is not text.
        let spans = [&self.document.markup, &self.texts.taken];
        let [mut markup, mut taken] = spans.map(|spans| spans.iter().copied().peekable());
        let mut at = Some(inner.start);
        std::iter::from_fn(move || {
            while let Some(from) = at {
                let start = |next: Option<&Span>| next.map_or(inner.end, |next| next.start.min(inner.end));
                let next = start(blocks.peek()).min(start(markup.peek())).min(start(taken.peek()));
                let is_next = |cover: &Span| cover.start == next;
                let cover = blocks.next_if(is_next).or_else(|| markup.next_if(is_next));
                let cover = cover.or_else(|| taken.next_if(is_next));
                at = cover.map(|cover| from.max(cover.end));
                if from < next {
                    return Some(Span::new(from, next));
                }
            }
            None
        })
    }

    /// The text before the first block that is an answer, if the dialect makes it a section and no block has that
    /// name. The fate of that block does not matter.
    pub(super) fn outside_section(&self) -> Option<(&str, Span)> {
        let dialect = self.dialect?;
        let TextRole::Section(name) = &dialect.text else { return None };
        if !self.texts.pieces.is_empty() {
            return self.outside_piece(OutsideFate::Section).map(|(_, piece)| (name.as_str(), piece.core()));
        }
        let is_called = |index: usize| {
            let is_section = self.block(index).is_some_and(|(_, bound)| bound.role == Role::Section);
            is_section && self.content_name(index).as_deref() == Some(name)
        };
        if (0..self.document.blocks.len()).any(is_called) {
            return None;
        }
        let Span { start: mut at, end } = self.outer();
        let core = |gap: Span| {
            let mut parts = gap.without(&self.document.markup).map(|part| without_between(part, self.text));
            parts.find(|core| !core.is_empty())
        };
        // If a section replaces an earlier one, the answer starts again there, with the text before that section.
        let span = |index: usize| self.document.blocks.get(index).map(Block::span);
        let text_before = |index: usize| {
            let start = index.checked_sub(1).and_then(span).map_or(at, |before| before.end);
            core(Span::new(start.min(span(index)?.start), span(index)?.start))
        };
        let mut again = (0..self.document.blocks.len()).rev().filter(|index| self.replaces(*index));
        if let Some(core) = again.find_map(text_before) {
            return Some((name, core));
        }
        for block in self.document.blocks.iter().filter(|block| block.parent().is_none()) {
            if let Some(core) = core(Span::new(at, block.span().start)) {
                return Some((name, core));
            }
            at = block.span().end;
            if self.bound(block).is_none_or(|bound| bound.role.is_answer()) {
                return None;
            }
        }
        core(Span::new(at, end)).map(|core| (name.as_str(), core))
    }

    /// The first piece with this fate, and its index.
    pub(super) fn outside_piece(&self, fate: OutsideFate) -> Option<(usize, &OutsideText)> {
        self.texts.pieces.iter().enumerate().find(|(_, piece)| piece.fate == fate)
    }

    /// Closers that close nothing, if the dialect allows them between blocks.
    fn stray_closers(&self) -> Vec<Span> {
        let lets = self.dialect.is_some_and(|dialect| dialect.between.contains(&Between::Closer));
        self.document.stray_closers().filter(|_| lets).collect()
    }

    /// Trims a gap of white space, and of what the dialect allows between blocks, at both ends.
    fn without_between(&self, gap: Span, closers: &[Span]) -> Span {
        let between = self.dialect.map(|dialect| dialect.between.as_slice()).unwrap_or_default();
        let mut core = gap.trimmed(self.text);
        if between.is_empty() {
            return core;
        }
        let mut first = closers.partition_point(|closer| closer.start < core.start);
        let mut last = closers.partition_point(|closer| closer.end <= core.end);
        loop {
            core = without_frame(core, self.text, between);
            let next = closers.get(first).filter(|closer| first < last && closer.start == core.start);
            let before = last.checked_sub(1).filter(|before| *before >= first).and_then(|before| closers.get(before));
            if let Some(closer) = next {
                core = Span::new(closer.end, core.end).trimmed(self.text);
                first += 1;
            } else if let Some(closer) = before.filter(|closer| closer.end == core.end) {
                core = Span::new(core.start, closer.start).trimmed(self.text);
                last -= 1;
            } else {
                return core;
            }
        }
    }

    /// The text without the fence around the whole answer, if there is one.
    pub(super) fn outer(&self) -> Span {
        let whole = Span::new(0, self.document.bytes);
        self.document.outer_fence.map_or(whole, |(opener, closer)| Span::new(opener.end, closer.start))
    }

    /// Removes a place from the text outside every block; returns false if it is in a section, which is never cut.
    pub(super) fn take_out(&mut self, place: Span) -> bool {
        if self.outside_section().is_some_and(|(_, section)| section.contains(place.start)) {
            return false;
        }
        let at = self.texts.taken.partition_point(|taken| taken.start < place.start);
        self.texts.taken.insert(at, place);
        true
    }

    pub(super) fn place_outside(&mut self, piece: usize, fate: OutsideFate) {
        if let Some(piece) = self.texts.pieces.get_mut(piece) {
            piece.fate = fate;
        }
    }
}
