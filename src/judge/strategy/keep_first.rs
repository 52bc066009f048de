//! `keep-first`: which of several counts?
//!
//! In: blocks of one name, or accepted calls.
//! Out: the first ones count, as many as are allowed.
//! Never: lets a later one count instead.

use crate::judge::{Judgement, Subject};

pub(super) fn apply(judgement: &mut Judgement<'_>, subject: &Subject) -> bool {
    match subject {
        Subject::Blocks(..) | Subject::Calls(..) => super::drop::apply(judgement, subject),
        _ => false,
    }
}
