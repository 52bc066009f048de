//! `keep-last`: which of several counts?
//!
//! In: blocks of one name, or accepted calls.
//! Out: the last ones count, as many as are allowed.
//! Never: lets an earlier one count instead.

use crate::judge::{Fate, Judgement, Subject};

pub(super) fn apply(judgement: &mut Judgement<'_>, subject: &Subject) -> bool {
    match subject {
        Subject::Blocks(blocks, most) => {
            for block in blocks.iter().rev().skip(*most) {
                judgement.set_fate(*block, Fate::Dropped);
            }
            true
        }
        Subject::Calls(calls, most) => {
            for call in calls.iter().rev().skip(*most) {
                judgement.drop_call(*call);
            }
            true
        }
        _ => false,
    }
}
