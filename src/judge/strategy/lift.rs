//! `lift`: does it count as if it stood outside?
//!
//! In: a block inside another.
//! Out: the block on its own; its text is taken out of the one around it.
//! Never: lifts out of thinking that does not hold it.

use crate::judge::{Fate, Judgement, Subject};

pub(super) fn apply(judgement: &mut Judgement<'_>, subject: &Subject) -> bool {
    match subject {
        Subject::Block(block)
            if judgement.document.blocks.get(*block).is_some_and(|block| block.parent().is_some()) =>
        {
            judgement.set_fate(*block, Fate::Lifted);
            true
        }
        _ => false,
    }
}
