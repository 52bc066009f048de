//! `keep-as-text`: should the user see it instead?
//!
//! In: a block, or a call.
//! Out: its raw text as part of the message.
//! Never: runs it.

use crate::judge::{Judgement, OutsideFate, Subject};

pub(super) fn apply(judgement: &mut Judgement<'_>, subject: &Subject) -> bool {
    match subject {
        Subject::Block(block) => judgement.show_block(*block),
        // A call that the answer to another defect has removed is not shown again.
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
