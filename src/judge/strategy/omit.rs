//! `omit`: can the value be left out?
//!
//! In: a value that is not valid against its schema, or the values of a call of which a part was dropped, guessed or
//! cut off.
//! Out: the payload without them: an optional member is absent, a list has one item less.
//! Never: leaves out a whole payload, or an item whose position gives it its meaning.

use crate::judge::invalid_values::{MisfitPart, Replacement};
use crate::judge::{Judgement, Subject};
use crate::surface::Role;

pub(super) fn replace(part: &MisfitPart<'_>) -> Option<Replacement> {
    let can_be_absent = part.value.is_some() && !part.pointer.is_empty() && !part.is_in_tuple;
    can_be_absent.then(|| (part.pointer.to_vec(), None))
}

pub(super) fn apply(judgement: &mut Judgement<'_>, subject: &Subject) -> bool {
    match subject {
        // Which values of a call are cut off is known only once its payload has been read.
        Subject::Block(block) => judgement.has_role(*block, Role::Call),
        Subject::Call(call) => judgement.omit_losses(*call),
        _ => false,
    }
}
