//! Truncated: what may an answer have left unfinished that the host says was cut off?
//!
//! In: the blocks, how each ended, and the first fence, code span and reasoning that nothing closes.
//! Out: `truncated`, answered, and `unclosed-block` for each call and content of which nobody knows whether it was meant.
//! Never: asks anything of an answer that the host says nothing of.

use super::{Judgement, Subject, defect};
use crate::diagnostic::Defect;
use crate::document::{Block, Ended};
use crate::grammar::{Machine, Progress};
use crate::surface::Role;
use crate::text::{Span, excerpt};
use std::collections::BTreeSet;

impl Judgement<'_> {
    pub(super) fn judge_truncated(&mut self) {
        if !self.truncated {
            return;
        }
        let end = Span::new(self.document.bytes, self.document.bytes);
        let finding = defect(Defect::Truncated, end, "the model ran out of tokens")
            .with_help("what it was about to say is missing");
        self.answer(Defect::Truncated, &Subject::Reply, finding);
        for index in self.unfinished.clone() {
            // A block that a later rung ended has been told as `unclosed-block`.
            let told = |block: &Block| block.ended.is_cut() || !self.stands(index);
            let Some((block, bound)) = self.block(index).filter(|(block, _)| !told(block)) else { continue };
            let name = excerpt(block.name().of(self.text), 40);
            let message = format!("`{name}` may be half of what was meant, or be quoted by it: the answer was cut off");
            let finding = defect(Defect::UnclosedBlock, block.span(), message).with_rule(Some(bound.at));
            self.answer(Defect::UnclosedBlock, &Subject::Block(index), finding);
        }
    }

    /// Of an answer that was cut off the calls and contents of which nobody knows whether they were meant: what only the cut
    /// ended, and what stands behind a fence, a code span, a call, reasoning or content that it left open, which may quote
    /// it.
    pub(super) fn unfinished(&self) -> BTreeSet<usize> {
        let mut found = BTreeSet::new();
        if !self.truncated {
            return found;
        }
        let open = [self.document.open_fence, self.document.open_reasoning];
        let mut behind = open.into_iter().flatten().min();
        let spans = self.open_spans();
        // Contents often end only where the next one begins: a content may quote the call that follows.
        let mut content = None;
        for (index, block) in self.document.blocks.iter().enumerate() {
            let Some(bound) = self.bound(block) else { continue };
            let asks = matches!(bound.role, Role::Call | Role::Content);
            let start = block.span().start;
            let open = behind.into_iter().chain(content.filter(|_| bound.role == Role::Call)).min();
            let quoted = || open.is_some_and(|open| open < start) || spans.iter().any(|span| span.contains(start));
            if asks && (quoted() || self.goes_on(index, block)) {
                found.insert(index);
            }
            let slot = if bound.role == Role::Content { &mut content } else { &mut behind };
            if block.ended.is_cut() && matches!(bound.role, Role::Call | Role::Content | Role::Thinking) {
                *slot = Some(slot.map_or(start, |open| open.min(start)));
            }
        }
        found
    }

    /// What code spans might quote that only the end of the answer leaves open; none reaches beyond the block that it starts in.
    fn open_spans(&self) -> Vec<Span> {
        let until = |open: usize| {
            let around = |block: &&Block| block.span().contains(open) && !block.ended.is_cut();
            self.document.blocks.iter().find(around).map_or(self.document.bytes, |block| block.span().end)
        };
        self.document.open_spans.iter().map(|open| Span::new(*open, until(*open))).collect()
    }

    /// Whether only the end of the answer ended a block: where no closer ends the last of its contents, nor any block behind
    /// it, what that was taken to end at may stand in its text.
    fn goes_on(&self, index: usize, block: &Block) -> bool {
        let ends_here = || self.text.get(block.span().end..).is_some_and(|rest| rest.trim().is_empty());
        match block.ended {
            Ended::Last => ends_here(),
            Ended::Whole | Ended::Bare => !block.is_closed() && ends_here() && self.may_grow(block),
            Ended::Cut | Ended::Open => {
                let closed = |later: &Block| !later.ended.is_cut() && later.parent().is_none();
                self.document.blocks.from(index).all(|(later, found)| {
                    let other = self.bound(found).is_none_or(|bound| later == index || bound.role != Role::Content);
                    !closed(found) && other
                })
            }
        }
    }

    /// Whether more text could belong to the payload of a block, or to its opener where it has none, as its grammar has it.
    fn may_grow(&self, block: &Block) -> bool {
        let family = self.dialect.and_then(|dialect| dialect.families.get(block.family()));
        let grows = family.and_then(|family| {
            let (rule, start) = match block.inner().is_empty() {
                true => (family.open, block.span().start),
                false => (family.payload?, block.body().start),
            };
            let mut machine = Machine::new();
            machine.start(&family.grammar, rule, start);
            let mut steps = self.program.limits.steps(block.span().len());
            Some(machine.run(&family.grammar, self.text, false, &mut steps) == Progress::Pending)
        });
        grows == Some(true)
    }
}
