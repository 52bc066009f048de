//! `omit`: can the value be left out?
//!
//! In: a value that does not fit its schema.
//! Out: nothing in its place: an optional member is absent, a list has one entry less.
//! Never: leaves out a whole payload, or an entry that has its meaning by its position.

use crate::judge::mending::{Change, Part};

pub(super) fn mend(part: &Part<'_>) -> Option<Change> {
    let can_be_absent = part.value.is_some() && !part.way.is_empty() && !part.is_in_tuple;
    can_be_absent.then(|| (part.way.to_vec(), None))
}
