//! `refuse`: does the answer count at all?
//!
//! In: anything.
//! Out: no effects, and the session unchanged.
//! Never: removes what there is to show.

use crate::judge::{Judgement, Subject};

pub(super) fn apply(judgement: &mut Judgement<'_>, subject: &Subject) -> bool {
    let _ = subject;
    judgement.refused = true;
    true
}
