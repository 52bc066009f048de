//! `join`: do several read as one?
//!
//! In: blocks of one name.
//! Out: all of them stand; texts of one name are joined by a blank line.
//! Never: joins calls.

use crate::judge::{Judgement, Subject};

pub(super) fn apply(judgement: &mut Judgement<'_>, subject: &Subject) -> bool {
    let _ = judgement;
    matches!(subject, Subject::Blocks(..))
}
