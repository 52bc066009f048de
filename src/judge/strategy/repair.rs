//! `repair`: is what was read with faults good enough?
//!
//! In: a block that was cut off, or a call whose payload has faults.
//! Out: the value as it was read.
//! Never: accepts what could not be read.

use crate::judge::{Judgement, Subject};

pub(super) fn apply(judgement: &mut Judgement<'_>, subject: &Subject) -> bool {
    match subject {
        Subject::Block(_) => true,
        Subject::Call(call) => judgement.can_repair(*call),
        _ => false,
    }
}
