//! `default`: does the payload fit with the declared defaults?
//!
//! In: a call whose payload does not fit its schema.
//! Out: the same call with the schema's `default` for everything wrong or missing, if all of it then fits.
//! Never: invents a value.

use crate::judge::{Judgement, Subject};

pub(super) fn apply(judgement: &mut Judgement<'_>, subject: &Subject) -> bool {
    match subject {
        Subject::Call(call) => judgement.fill_defaults(*call),
        _ => false,
    }
}
