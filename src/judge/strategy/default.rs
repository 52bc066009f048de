//! `default`: does the payload fit with the declared defaults?
//!
//! In: a call whose payload its schema refuses.
//! Out: the same call, what is wrong or absent replaced by the schema's `default`, if all of it then fits.
//! Never: invents a value.

use crate::judge::{Judgement, Subject};

pub(super) fn apply(judgement: &mut Judgement<'_>, subject: &Subject) -> bool {
    match subject {
        Subject::Call(call) => judgement.fill_defaults(*call),
        _ => false,
    }
}
