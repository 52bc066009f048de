//! Weight: how many bytes does a value take?
//!
//! In: a value.
//! Out: its weight in bytes, as if no part were shared.
//! Never: goes deeper than the given depth.

use super::Value;

/// The deepest nesting of values that the engine makes.
pub(crate) const DEPTH: u8 = 64;
/// The weight of a value without its text and parts.
pub(crate) const NODE: usize = 32;

/// The weight of a value in bytes, down to the given depth.
pub(crate) fn weight(value: &Value, depth: u8) -> usize {
    let Some(deeper) = depth.checked_sub(1) else { return NODE };
    NODE + match value {
        Value::String(text) => text.len(),
        Value::Array(items) => items.iter().map(|item| weight(item, deeper)).sum(),
        Value::Object(members) => members.iter().map(|(key, value)| 2 * NODE + key.len() + weight(value, deeper)).sum(),
        Value::Null | Value::Bool(_) | Value::Number(_) => 0,
    }
}
