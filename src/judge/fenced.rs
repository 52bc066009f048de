//! Fenced: which blocks does a fallback dialect read inside quotations, such as code fences?
//!
//! In: a document that a fallback has read, with the quotations that the dialect on which it is based would skip.
//! Out: the blocks in these quotations, answered by strategies.
//! Never: looks for quotations itself.
//!
//! A call or content in a quotation that has no block which the fallback needs is an example: no strategy carries it
//! out. The exception is an answer of nothing but quotations with such a block in one of them: there are no words
//! that present an example, and models do put each tag into a fence of its own.

use super::{Judgement, Subject, defect, head};
use crate::diagnostic::{Defect, Strategy, message, quote};
use crate::document::{Block, Mask, is_masked};
use crate::program;
use crate::surface::Role;
use crate::text::Span;

impl Judgement<'_> {
    /// Answers each quoted block. For a wrapper, only the blocks inside it are answered.
    pub(super) fn judge_fenced(&mut self) {
        let Some(dialect) = self.dialect.filter(|_| !self.document.fenced.is_empty()) else { return };
        let is_needed = |block: &&Block| {
            let is_answer = self.bound(block).is_some_and(|bound| bound.role.is_answer());
            is_answer && dialect.is_claimed_by(block.name().of(self.text))
        };
        // Blocks and quotations are both in order, so a single pass over the blocks is enough.
        let mut needed = self.document.blocks.iter().filter(is_needed).map(|block| block.span().start).peekable();
        let holds_needed = |mask: &&Mask| {
            while needed.next_if(|start| *start < mask.span().start).is_some() {}
            needed.peek().is_some_and(|start| mask.span().contains(*start))
        };
        let mut meant: Vec<Mask> = self.document.fenced.iter().filter(holds_needed).copied().collect();
        if !meant.is_empty() && self.is_nothing_but_fenced() {
            meant.clone_from(&self.document.fenced);
        }
        for index in 0..self.document.blocks.len() {
            let Some((block, bound)) = self.block(index).filter(|_| self.counts(index)) else { continue };
            if bound.role == Role::Wrapper || !self.is_fenced(block) {
                continue;
            }
            let only_in_fence = !is_masked(&meant, block.span().start);
            self.answer_fenced(index, block, bound, only_in_fence && matches!(bound.role, Role::Call | Role::Content));
        }
    }

    /// Whether there is only white space outside quotations and reasoning.
    fn is_nothing_but_fenced(&self) -> bool {
        let is_thought = |block: &&Block| self.bound(block).is_some_and(|bound| bound.role == Role::Thinking);
        let thoughts = self.document.blocks.iter().filter(is_thought).map(Block::span);
        let mut spans: Vec<Span> = self.document.fenced.iter().map(|mask| mask.span()).chain(thoughts).collect();
        spans.sort_unstable_by_key(|span| span.start);
        let is_blank = |from: usize, to: usize| self.text.get(from..to).is_none_or(|text| text.trim().is_empty());
        let end = spans.iter().try_fold(0, |end, span| is_blank(end, span.start).then_some(end.max(span.end)));
        end.is_some_and(|end| is_blank(end, self.document.bytes))
    }

    /// Answers a quoted block. If it is only in a fence that quotes an example, `keep` is not a valid answer.
    fn answer_fenced(&mut self, index: usize, block: &Block, bound: &program::BlockBinding, only_in_fence: bool) {
        let head = head(block);
        let message = message!("`{}` is quoted, and only a fallback reads it there", quote(head.of(self.text), 40));
        let finding = defect(Defect::FencedBlock, head, message)
            .with_rule(Some(bound.at))
            .with_help("write it as it is, without a code fence around it");
        let subject = Subject::Block(index);
        let strategies = self.answers(Defect::FencedBlock, &subject);
        let accepts = move |one: Strategy| only_in_fence && one == Strategy::Keep;
        let chosen = self.answer_with(strategies.filter(move |(one, _)| !accepts(*one)), &subject, finding);
        if bound.role == Role::Call && chosen != Strategy::Keep {
            self.uncounted.quoted.insert(index);
        }
    }

    /// Whether a block is inside a quotation, where only a fallback reads it.
    fn is_fenced(&self, block: &Block) -> bool {
        is_masked(&self.document.fenced, block.span().start)
    }
}
