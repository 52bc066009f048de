//! Functions: what do the engine's own words say here?
//!
//! In: the use of a function in a template.
//! Out: its text, which is the same in every prompt of a mode.
//! Never: reads the state.

use super::draft::Sight;
use crate::expression::Call;

/// The text of a call.
pub(super) fn text(_: &Call, _: &Sight<'_>) -> String {
    String::new()
}
