//! `refuse`: does the answer count at all?
//!
//! In: anything.
//! Out: no effects, and the session unchanged: the ruling says so.
//! Never: removes what there is to show.

pub(super) fn apply() -> bool {
    true
}
