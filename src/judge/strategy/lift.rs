//! `lift`: does a nested block count as if it were outside?
//!
//! In: a block inside another.
//! Out: the block by itself; its text is removed from the block around it.
//! Never: lifts a block out of thinking, unless the thinking block `holds` it.

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
