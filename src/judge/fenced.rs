//! Fenced: what does a fallback read that every other dialect only quotes?
//!
//! In: a document that a fallback has read, with what the dialect quotes that it is like.
//! Out: the blocks in these quotations, answered by strategies.
//! Never: looks for quotations itself.

use super::{Judgement, Subject, defect, head};
use crate::diagnostic::{Defect, message, quote};
use crate::document::{Block, is_masked};
use crate::surface::Role;

impl Judgement<'_> {
    /// Answers each block that is quoted. Of a wrapper, only what is in it counts.
    pub(super) fn judge_fenced(&mut self) {
        if self.document.fenced.is_empty() {
            return;
        }
        for index in 0..self.document.blocks.len() {
            let Some((block, bound)) = self.block(index).filter(|_| self.stands(index)) else { continue };
            if bound.role == Role::Wrapper || !self.is_fenced(block) {
                continue;
            }
            let head = head(block);
            let message = message!("`{}` is quoted, and only a fallback reads it there", quote(head.of(self.text), 40));
            let finding = defect(Defect::FencedBlock, head, message)
                .with_rule(Some(bound.at))
                .with_help("write it as it is, without a code fence around it");
            self.answer(Defect::FencedBlock, &Subject::Block(index), finding);
        }
    }

    /// Whether a block is quoted, and read only by a fallback.
    pub(super) fn is_fenced(&self, block: &Block) -> bool {
        is_masked(&self.document.fenced, block.span().start)
    }
}
