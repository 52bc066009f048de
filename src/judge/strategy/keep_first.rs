//! `keep-first`: which of several counts?
//!
//! In: blocks of one name, or accepted calls.
//! Out: the first ones stand, as many as may.
//! Never: reads a later one.

use crate::judge::{Judgement, Subject};

pub(super) fn apply(judgement: &mut Judgement<'_>, subject: &Subject) -> bool {
    match subject {
        Subject::Blocks(..) | Subject::Calls(..) => super::drop::apply(judgement, subject),
        _ => false,
    }
}
