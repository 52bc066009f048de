//! `keep-as-text`: should the user see the raw text instead?
//!
//! In: a block, a call, or text outside every block.
//! Out: its raw text as part of the message.
//! Never: runs a call.

use crate::judge::{Judgement, OutsideFate, Subject};

pub(super) fn apply(judgement: &mut Judgement<'_>, subject: &Subject) -> bool {
    match subject {
        Subject::Block(block) => judgement.show_block(*block),
        // A call that was dropped for another defect remains dropped.
        Subject::Call(call) if judgement.is_dropped(*call) => return false,
        Subject::Call(call) => judgement.show_call(*call),
        Subject::Calls(calls, most) => {
            for call in calls.iter().skip(*most) {
                judgement.show_call(*call);
            }
        }
        Subject::Outside(piece) => judgement.place_outside(*piece, OutsideFate::Message),
        Subject::Blocks(..)
        | Subject::Params(_)
        | Subject::Place(..)
        | Subject::Message(_)
        | Subject::Unread
        | Subject::Reply => return false,
    }
    true
}
