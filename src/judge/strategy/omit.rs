//! `omit`: can the value be left out?
//!
//! In: a value that does not fit its schema, or the values of a call of which something was lost, guessed or cut off.
//! Out: nothing in their place: an optional member is absent, a list has one entry less.
//! Never: leaves out a whole payload, or an entry that has its meaning by its position.

use crate::judge::mending::{Mend, MisfitPart};
use crate::judge::{Judgement, Subject};
use crate::surface::Role;

pub(super) fn mend(part: &MisfitPart<'_>) -> Option<Mend> {
    let can_be_absent = part.value.is_some() && !part.pointer.is_empty() && !part.is_in_tuple;
    can_be_absent.then(|| (part.pointer.to_vec(), None))
}

pub(super) fn apply(judgement: &mut Judgement<'_>, subject: &Subject) -> bool {
    match subject {
        // What a call that was cut off loses is known once its payload is read.
        Subject::Block(block) => judgement.has_role(*block, Role::Call),
        Subject::Call(call) => judgement.omit_losses(*call),
        _ => false,
    }
}
