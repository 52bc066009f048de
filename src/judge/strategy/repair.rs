//! `repair`: does every reading of a faulty text give the same value?
//!
//! In: a block that was cut off, or a call whose payload has faults.
//! Out: the value as it was read.
//! Never: accepts a value that could not be read, or of which a part was dropped or guessed.

use crate::judge::{Judgement, Subject};

pub(super) fn apply(judgement: &mut Judgement<'_>, subject: &Subject) -> bool {
    match subject {
        Subject::Block(block) => judgement.was_read(*block).is_none(),
        Subject::Call(call) => judgement.can_repair(*call),
        _ => false,
    }
}
