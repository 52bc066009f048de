//! `salvage`: is what could be read of a value good enough?
//!
//! In: a block that was cut off, or a call whose payload has faults.
//! Out: the value as it was read, even if a part of it was dropped or guessed.
//! Never: accepts a value that could not be read at all.

use crate::judge::{Judgement, Subject};

pub(super) fn apply(judgement: &mut Judgement<'_>, subject: &Subject) -> bool {
    match subject {
        Subject::Block(block) => judgement.was_read(*block) != Some(false),
        Subject::Call(call) => judgement.can_salvage(*call),
        _ => false,
    }
}
