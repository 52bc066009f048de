//! Weight: how many bytes does a value take?
//!
//! In: a value.
//! Out: its weight in bytes, as if no part were shared.
//! Never: goes deeper than the given depth.

use super::Value;

/// The deepest nesting of values that the engine makes.
pub(crate) const MAX_VALUE_DEPTH: u8 = 64;
/// The weight of a value without its text and parts.
pub(crate) const NODE_WEIGHT: usize = 32;

/// The heaviest weight that is distinguished. Values share their parts, so a small pack can make one that would take for
/// ever to weigh: thirty lists, each with the one before it twice.
const MAX_WEIGHT: usize = 256 << 20;

/// The weight of a value in bytes, down to the given depth, but at most [`MAX_WEIGHT`].
pub(crate) fn weight(value: &Value, depth: u8) -> usize {
    let mut sum = 0;
    add(value, depth, &mut sum);
    sum.min(MAX_WEIGHT)
}

/// Adds the weight of a value, unless the sum is too large already.
fn add(value: &Value, depth: u8, sum: &mut usize) {
    if *sum >= MAX_WEIGHT {
        return;
    }
    *sum += NODE_WEIGHT;
    let Some(deeper) = depth.checked_sub(1) else { return };
    match value {
        Value::String(text) => *sum += text.len(),
        Value::Array(items) => items.iter().for_each(|item| add(item, deeper, sum)),
        Value::Object(members) => members.iter().for_each(|(key, value)| {
            *sum += 2 * NODE_WEIGHT + key.len();
            add(value, deeper, sum);
        }),
        Value::Null | Value::Bool(_) | Value::Number(_) => {}
    }
}
