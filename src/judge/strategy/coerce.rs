//! `coerce`: does the value fit once it has the declared type?
//!
//! In: a call whose payload its schema refuses.
//! Out: the same call with converted values, if all of it then fits.
//! Never: loses anything of a value.

use crate::judge::{Judgement, Subject};

pub(super) fn apply(judgement: &mut Judgement<'_>, subject: &Subject) -> bool {
    match subject {
        Subject::Call(call) => judgement.coerce(*call),
        _ => false,
    }
}
