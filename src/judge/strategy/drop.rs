//! `drop`: what remains without the faulty part?
//!
//! In: a block, a call, parameters, or text, which may be the whole answer.
//! Out: the reply without that part.
//! Never: changes the text around it.

use crate::judge::{Fate, Judgement, OutsideFate, Subject};

pub(super) fn apply(judgement: &mut Judgement<'_>, subject: &Subject) -> bool {
    match subject {
        Subject::Block(block) => judgement.set_fate(*block, Fate::Dropped),
        Subject::Blocks(blocks, most) => {
            for block in blocks.iter().skip(*most) {
                judgement.set_fate(*block, Fate::Dropped);
            }
        }
        Subject::Call(call) => judgement.drop_call(*call),
        Subject::Calls(calls, most) => {
            for call in calls.iter().skip(*most) {
                judgement.drop_call(*call);
            }
        }
        Subject::Params(call) => judgement.drop_params(*call),
        Subject::Outside(piece) => judgement.place_outside(*piece, OutsideFate::Dropped),
        Subject::Message(_) => judgement.texts.message_dropped = true,
        Subject::Unread => judgement.texts.strays = OutsideFate::Dropped,
        Subject::Place(None, span) => return judgement.take_out(*span),
        // A place inside a block belongs to the text of that block, which is not changed.
        Subject::Place(Some(_), _) | Subject::Reply => return false,
    }
    true
}
