//! `coerce`: does a value fit after converting it to the declared type?
//!
//! In: a call whose payload does not fit its schema, or a section whose value does not.
//! Out: the same with converted values, if all of it then fits.
//! Never: loses any information in a value.

use crate::judge::{Judgement, Subject};

pub(super) fn apply(judgement: &mut Judgement<'_>, subject: &Subject) -> bool {
    match subject {
        Subject::Call(call) => judgement.coerce(*call),
        Subject::Block(block) => judgement.coerce_block(*block),
        _ => false,
    }
}
