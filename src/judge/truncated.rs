//! Truncated: what may be unfinished in an answer that was cut off?
//!
//! In: the blocks and how each ended, and the quotations and reasoning that are never closed.
//! Out: `truncated`, answered by a strategy, and `unclosed-block` for each call and content that may be incomplete or
//! quoted.
//! Never: does anything unless the host says that the answer was cut off.

use super::{Judgement, Subject, defect};
use crate::diagnostic::{Defect, message, quote};
use crate::document::{Block, Document, Ended, Paired};
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
        let reason = self.document.natives.as_ref().and_then(|natives| natives.reason.as_deref());
        let finding = match reason {
            None => defect(Defect::Truncated, end, "the model ran out of tokens")
                .with_help("give the model more tokens, or let it continue"),
            Some(reason) => {
                let why = message!("the reply ended with `{}`, so that it may be incomplete", quote(reason, 60));
                defect(Defect::Truncated, end, why).with_help("ask the model again, or let it continue")
            }
        };
        self.answer(Defect::Truncated, &Subject::Reply, finding);
        for index in self.uncounted.unfinished.clone() {
            // A block that a later rung ended has been reported as `unclosed-block`.
            let is_reported = |block: &Block| block.ended.is_cut() || !self.counts(index);
            let Some((block, bound)) = self.block(index).filter(|(block, _)| !is_reported(block)) else { continue };
            let name = excerpt(block.name().of(self.text), 40);
            let message =
                message!("`{}` may be half of what was meant, or be quoted by it: the answer was cut off", &name);
            let finding = defect(Defect::UnclosedBlock, block.span(), message).with_rule(Some(bound.at));
            self.answer(Defect::UnclosedBlock, &Subject::Block(index), finding);
        }
    }

    /// The calls and contents of a truncated answer that may be incomplete or quoted: those that only the end of the
    /// answer ended, and those after an open quotation, call, reasoning or content, which may quote them.
    pub(super) fn unfinished(&self) -> BTreeSet<usize> {
        let mut found = BTreeSet::new();
        if !self.truncated {
            return found;
        }
        let Document { open_fences, open_section, open_reasoning, .. } = self.document;
        let open = [open_fences.first().copied(), *open_section, *open_reasoning];
        let mut behind = open.into_iter().flatten().min();
        let cut = self.cut_quotations();
        let in_cut =
            |at: usize| cut.get(cut.partition_point(|span| span.end <= at)).is_some_and(|span| span.contains(at));
        // Contents often end only where the next one begins: a content may quote the call that follows, and the
        // contents in a fence that opens in it.
        let mut content = None;
        let mut fences: Option<(usize, Paired)> = None;
        for (index, block) in self.document.blocks.iter().enumerate() {
            // Nothing in the text quotes a native call.
            let Some(bound) = self.bound(block).filter(|_| !block.is_native()) else { continue };
            let asks = matches!(bound.role, Role::Call | Role::Content);
            let start = block.span().start;
            let open = behind.into_iter().chain(content.filter(|_| bound.role == Role::Call)).min();
            let quoted = || open.is_some_and(|open| open < start) || in_cut(start);
            let goes_on = || block.ended == Ended::Inner || self.goes_on(index, block);
            if asks && (quoted() || goes_on()) {
                found.insert(index);
            }
            let is_open = block.ended.is_cut() || block.ended == Ended::Inner;
            let slot = if bound.role == Role::Content { &mut content } else { &mut behind };
            if is_open && matches!(bound.role, Role::Call | Role::Content | Role::Thinking) {
                *slot = Some(slot.map_or(start, |open| open.min(start)));
            }
            if bound.role != Role::Content {
                continue;
            }
            if let Some((around, fences)) = &mut fences
                && fences.open_at(start, self.text).is_some()
            {
                found.extend([*around, index]);
            } else if matches!(block.ended, Ended::Alike | Ended::Inner) {
                fences = Some((index, Paired::from(block.opener().end)));
            }
        }
        found
    }

    /// What unclosed code spans and quotation marks may quote, if the answer was cut off inside them, in order and apart
    /// from each other. None extends beyond its block.
    fn cut_quotations(&self) -> Vec<Span> {
        let mut found: Vec<Span> = Vec::new();
        let mut whole = self.document.blocks.iter().filter(|block| !block.ended.is_cut()).peekable();
        for open in self.document.cut_quotations.iter().copied() {
            while whole.next_if(|block| block.span().end <= open).is_some() {}
            let around = whole.peek().filter(|block| block.span().contains(open));
            let until = around.map_or(self.document.bytes, |block| block.span().end);
            if found.last().is_none_or(|last| last.end <= open) {
                found.push(Span::new(open, until));
            }
        }
        found
    }

    /// Whether a block could go on after the end of the answer: nothing but the end of the answer ended it, or it ended
    /// at the next block, and no later block was closed.
    pub(super) fn goes_on(&self, index: usize, block: &Block) -> bool {
        let ends_here = || self.text.get(block.span().end..).is_some_and(|rest| rest.trim().is_empty());
        match block.ended {
            Ended::Last => ends_here(),
            Ended::Whole | Ended::Bare | Ended::Inner => !block.is_closed() && ends_here() && self.may_grow(block),
            Ended::Cut | Ended::Alike | Ended::Torn | Ended::Unsure | Ended::Open => {
                let closed = |later: &Block| !later.ended.is_cut() && later.parent().is_none();
                self.document.blocks.from(index).all(|(later, found)| {
                    let other = self.bound(found).is_none_or(|bound| later == index || bound.role != Role::Content);
                    !closed(found) && other
                })
            }
        }
    }

    /// Whether more text could belong to the payload of a block, or to its opener if it has no payload, by its grammar.
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
