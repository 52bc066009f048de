//! Shape: does the reply have the blocks that it should have?
//!
//! In: the blocks that stand, and the mode's `[reply]`.
//! Out: forbidden, surplus, absent and misplaced blocks, answered.
//! Never: looks inside a block.

use super::{Judgement, Subject, defect};
use crate::diagnostic::Defect;
use crate::program::{BlockId, Outside};
use crate::text::Span;

impl Judgement<'_> {
    pub(super) fn judge_shape(&mut self) {
        let Some(mode) = self.mode else { return };
        for count in &mode.reply.counts {
            let blocks = self.standing(&count.blocks);
            match count.most {
                Some(0) => {
                    for block in blocks {
                        let Some((found, _)) = self.block(block) else { continue };
                        let message = format!("a reply in the mode `{}` has no `{}`", self.session.mode, count.name);
                        let finding = defect(Defect::ForbiddenBlock, found.span, message).with_rule(Some(count.at));
                        self.answer(Defect::ForbiddenBlock, &Subject::Block(block), finding);
                    }
                    continue;
                }
                Some(most) if blocks.len() > most => {
                    let second = blocks.get(most).and_then(|block| self.block(*block)).map(|(block, _)| block.span);
                    let message = format!("`{}` stands {} times, {most} at the most", count.name, blocks.len());
                    let finding =
                        defect(Defect::DuplicateBlock, second.unwrap_or_default(), message).with_rule(Some(count.at));
                    self.answer(Defect::DuplicateBlock, &Subject::Blocks(blocks.clone(), most), finding);
                }
                _ => {}
            }
            if count.required && blocks.is_empty() && !(count.message && self.outside_is_message()) {
                let end = Span::new(self.text.len(), self.text.len());
                let what = if count.message { Defect::MissingMessage } else { Defect::MissingBlock };
                // Without a dialect there is no block at all, which has been said.
                if self.dialect.is_none() {
                    continue;
                }
                let finding = defect(what, end, format!("the reply has no `{}`", count.name)).with_rule(Some(count.at));
                self.answer(what, &Subject::Reply, finding);
            }
        }
        self.judge_order();
    }

    fn outside_is_message(&self) -> bool {
        self.dialect.is_some_and(|(_, dialect)| dialect.text == Outside::Message)
    }

    /// The blocks that stand and are bound to one of these declarations.
    fn standing(&self, bound: &[(usize, BlockId)]) -> Vec<usize> {
        let Some((dialect, _)) = self.dialect else { return Vec::new() };
        let fits = |id: BlockId| bound.contains(&(dialect, id));
        let blocks = self.document.blocks.iter().enumerate();
        blocks.filter(|(index, block)| fits(block.id) && self.stands(*index)).map(|(index, _)| index).collect()
    }

    /// A block is out of order if one stands before it that should come after it.
    fn judge_order(&mut self) {
        let (Some(mode), Some((dialect, _))) = (self.mode, self.dialect) else { return };
        if mode.reply.order.is_empty() {
            return;
        }
        let rank = |id: BlockId| mode.reply.order.iter().position(|blocks| blocks.contains(&(dialect, id)));
        let mut furthest = 0;
        for index in 0..self.document.blocks.len() {
            let Some((block, bound)) = self.block(index).filter(|_| self.stands(index)) else { continue };
            let Some(rank) = rank(block.id) else { continue };
            if rank < furthest {
                let message = format!("`{}` should stand earlier in the reply", bound.name);
                let finding = defect(Defect::OutOfOrder, block.span, message).with_rule(mode.reply.order_at);
                self.answer(Defect::OutOfOrder, &Subject::Block(index), finding);
            }
            furthest = furthest.max(rank);
        }
    }
}
