//! `salvage`: is what could be read of a value good enough?
//!
//! In: a block that was cut off, or a call whose payload has faults.
//! Out: the value as it was read, even if something of it was lost or guessed.
//! Never: accepts what could not be read.

use crate::judge::{Judgement, Subject};

pub(super) fn apply(judgement: &mut Judgement<'_>, subject: &Subject) -> bool {
    match subject {
        Subject::Block(block) => judgement.was_read(*block) != Some(false),
        Subject::Call(call) => judgement.can_salvage(*call),
        _ => false,
    }
}
