//! Unclosed: what may be part of reasoning, or of a quotation, that is never closed?
//!
//! In: the blocks of reasoning and the code fences that are never closed.
//! Out: the calls and contents after them, answered by strategies; none of these is carried out. Whether the reply is
//! nothing but such reasoning.
//! Never: removes a message: after unclosed reasoning, it is read as anywhere else.
//!
//! Nothing indicates where such reasoning, or such a quotation, would have ended. So a strategy that accepts a call
//! as it is does not apply here.

use super::{Judgement, Subject, defect, head};
use crate::diagnostic::{Defect, Diagnostic, Strategy, message, quote};
use crate::document::{Block, Ended};
use crate::json;
use crate::surface::Role;
use crate::text::{Slice, Span};

/// The range that unclosed reasoning, or an unclosed quotation, may cover.
#[derive(Debug, Clone, Copy)]
pub(super) struct Unclosed {
    opener: Span,
    until: usize,
    quotes: bool,
}

impl Judgement<'_> {
    /// The ranges that unclosed reasoning and unclosed quotations may cover, in the order of their openers.
    pub(super) fn unclosed(&self) -> Vec<Unclosed> {
        let blocks = &self.document.blocks;
        let is_thinking =
            |block: &&Block| !block.is_native() && self.bound(block).is_some_and(|bound| bound.role == Role::Thinking);
        let is_open = |block: &Block| block.ended.is_cut() && !block.is_closed();
        let mut found: Vec<Unclosed> = Vec::new();
        // If several ranges have the same end, the first one contains the others.
        let mut add = |one: Unclosed| match found.last_mut().filter(|later| later.until == one.until) {
            Some(later) => *later = one,
            None => found.push(one),
        };
        // Backwards: if reasoning is closed later, the model was reasoning up to there, and no longer.
        let mut until = self.document.bytes;
        for block in (0..blocks.len()).rev().filter_map(|index| blocks.get(index)).filter(is_thinking) {
            let around = block.parent().and_then(|parent| blocks.get(parent)).filter(|around| around.is_closed());
            match (is_open(block), around) {
                (false, _) => until = block.span().end,
                (true, Some(around)) => {
                    add(Unclosed { opener: block.opener(), until: around.span().end, quotes: false });
                }
                (true, None) => add(Unclosed { opener: block.opener(), until, quotes: false }),
            }
        }
        found.reverse();
        if let Some(open) = self.document.open_reasoning {
            found.push(Unclosed { opener: self.line_from(open), until: self.document.bytes, quotes: false });
        }
        // A fence in a closed block belongs to that block; a fence in a text that only the next block ended does not.
        // Blocks and fences are both in order.
        let is_text =
            |block: &Block| self.bound(block).is_some_and(|bound| !matches!(bound.role, Role::Call | Role::Content));
        let holds = |block: &&Block| {
            block.parent().is_none() && !block.ended.is_cut() && (block.is_closed() || !is_text(block))
        };
        let mut closed = blocks.iter().filter(holds).peekable();
        // The text around the calls of a list is markup, including a fence in it.
        let is_markup = |open: &usize| self.document.markup.iter().any(|span| span.contains(*open));
        for open in self.document.open_fences.iter().copied().filter(|open| !is_markup(open)) {
            while closed.next_if(|block| block.span().end <= open).is_some() {}
            if closed.peek().is_none_or(|block| open < block.span().start) {
                found.push(Unclosed { opener: self.line_from(open), until: self.document.bytes, quotes: true });
                // The range of the first such fence contains the others.
                break;
            }
        }
        // A value that breaks off may contain everything after it.
        let torn = blocks.iter().find(|block| self.is_torn(block) && block.parent().is_none());
        found.extend(torn.map(|block| Unclosed { opener: block.opener(), until: self.document.bytes, quotes: false }));
        found.extend(self.open_data().filter(|_| !self.reads_members()));
        found.sort_by_key(|one| one.opener.start);
        found
    }

    /// Data that is still open where a call without an opener starts: the call and all text after it may be part of it.
    fn open_data(&self) -> Option<Unclosed> {
        let mut before = 0;
        for block in self.document.blocks.iter().filter(|block| block.parent().is_none()) {
            let is_call = self.bound(block).is_some_and(|bound| bound.role == Role::Call);
            let start = block.span().start;
            // The bracket before the first call of a list is markup.
            let markup = &self.document.markup;
            let start = markup
                .binary_search_by_key(&start, |span| span.end)
                .ok()
                .and_then(|at| markup.get(at))
                .map_or(start, |span| span.start);
            if is_call
                && !block.is_native()
                && block.opener().is_empty()
                && let Some(text) = self.text.get(before..start).filter(|text| json::awaits_value(text))
            {
                let line = text.trim_end().rfind('\n').map_or(0, |at| at + 1);
                let opener = Span::new(before + line, start).trimmed(self.text);
                return Some(Unclosed { opener, until: self.document.bytes, quotes: true });
            }
            before = block.span().end;
        }
        None
    }

    /// Whether a block breaks off in the middle of a value that may contain the text after it. A content does not if the
    /// answer ends with a complete block, unless the answer was truncated or the content ends in an unclosed string. A
    /// call always may: models stop at the closer of a call, also at that of one which they quote.
    pub(super) fn is_torn(&self, block: &Block) -> bool {
        let ends_with_block = || {
            let blocks = &self.document.blocks;
            let mut all = (0..blocks.len()).rev().filter_map(|index| Some((index, blocks.get(index)?)));
            let last = all.find(|(_, block)| block.parent().is_none());
            last.is_some_and(|(index, last)| {
                let rest = self.text.slice(last.span().end..);
                !last.ended.is_cut() && rest.trim().is_empty() && !self.goes_on(index, last)
            })
        };
        // The rest of the block's last line belongs to a string that is never closed.
        let in_string = || json::breaks_off(block.inner().of(self.text));
        let is_call = || self.bound(block).is_some_and(|bound| bound.role == Role::Call);
        block.ended == Ended::Torn && (is_call() || self.truncated || in_string() || !ends_with_block())
    }

    /// Marks a reply of nothing but unclosed reasoning as degraded: the answer itself is missing.
    pub(super) fn judge_unclosed_alone(&mut self) {
        let is_reasoning =
            |block: &Block| self.bound(block).is_none_or(|bound| matches!(bound.role, Role::Thinking | Role::Wrapper));
        let alone = self.unclosed.iter().any(|one| !one.quotes)
            && self.document.blocks.iter().all(is_reasoning)
            && self.texts.pieces.iter().all(|piece| piece.core().is_empty());
        if alone {
            self.ruling.degrade();
        }
    }

    /// The span from `start` to the end of the line.
    pub(super) fn line_from(&self, start: usize) -> Span {
        let rest = self.text.slice(start..);
        Span::new(start, start + rest.lines().next().map_or(0, str::len))
    }

    /// The unclosed reasoning or quotation that may contain a block.
    fn unclosed_around(&self, block: &Block) -> Option<Unclosed> {
        let start = block.span().start;
        // Unclosed text cannot extend into native parts of a structured reply.
        if block.is_native() {
            return None;
        }
        self.unclosed.iter().find(|one| one.opener.start < start && start < one.until).copied()
    }

    /// Whether a block may be part of something that is never closed.
    pub(super) fn may_be_unclosed(&self, block: &Block) -> bool {
        self.unclosed_around(block).is_some()
    }

    /// Answers a call or a content that may be part of something that is never closed.
    pub(super) fn judge_in_unclosed(&mut self, index: usize, subject: &Subject) {
        let Some((block, bound)) = self.block(index).filter(|_| self.counts(index)) else { return };
        let Some(around) = self.unclosed_around(block) else { return };
        let (opener, kind) = (quote(around.opener.of(self.text), 40), bound.role.word());
        let what = if around.quotes { "quoted by it" } else { "part of it" };
        let message = message!("`{}` is never closed, and this {} may be {}", &opener, &kind, &what);
        let finding = defect(Defect::UnclosedBlock, head(block), message)
            .with_rule(Some(bound.at))
            .with_help("what follows it is not carried out");
        self.answer_unclosed(subject, finding);
    }

    /// Answers something unclosed that must not be carried out: no strategy that would accept it applies.
    pub(super) fn answer_unclosed(&mut self, subject: &Subject, finding: Diagnostic) -> Strategy {
        self.answer_unless(|one| accepts(one) || one == Strategy::Omit, subject, finding)
    }

    /// Answers a call whose last value the end of the response cut off: it can only be accepted without that value.
    pub(super) fn answer_cut(&mut self, subject: &Subject, finding: Diagnostic) -> Strategy {
        self.answer_unless(accepts, subject, finding)
    }

    pub(super) fn answer_unless(
        &mut self,
        excluded: impl Fn(Strategy) -> bool + Clone,
        subject: &Subject,
        finding: Diagnostic,
    ) -> Strategy {
        let strategies = self.answers(Defect::UnclosedBlock, subject);
        self.answer_with(strategies.filter(move |(one, _)| !excluded(*one)), subject, finding)
    }
}

/// Whether a strategy accepts a call or content as it is.
pub(super) fn accepts(strategy: Strategy) -> bool {
    matches!(strategy, Strategy::Keep | Strategy::Repair | Strategy::Salvage)
}
