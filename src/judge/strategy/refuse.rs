//! `refuse`: does the answer count at all?
//!
//! In: anything.
//! Out: no effects, and the session unchanged; the ruling records this.
//! Never: changes a block or a text.

pub(super) fn apply() -> bool {
    true
}
