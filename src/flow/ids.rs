//! Ids: which number was the last of its kind?
//!
//! In: the ids that a session has counted, the state as it was before the occasion, and a kind of id.
//! Out: what the session counted; where it has no count, as a host may keep the state alone, the greatest number that the
//! state holds.
//! Never: gives an id out, or takes one for given that only this answer names.

use crate::expression::Record;
use crate::value::Value;
use indexmap::IndexMap;

/// The last number of a kind; 0 if there was none.
pub(super) fn last(ids: &IndexMap<String, u64>, state: &Record, kind: &str) -> u64 {
    ids.get(kind).copied().unwrap_or_else(|| {
        let mut waiting: Vec<&Value> = Vec::new();
        let mut last = 0;
        for (name, value) in state.iter() {
            last = last.max(number(name, kind));
            waiting.push(value);
            while let Some(value) = waiting.pop() {
                match value {
                    Value::String(text) => last = last.max(number(text, kind)),
                    Value::Array(items) => waiting.extend(items.iter()),
                    Value::Object(members) => {
                        last = members.keys().map(|name| number(name, kind)).fold(last, u64::max);
                        waiting.extend(members.values());
                    }
                    Value::Null | Value::Bool(_) | Value::Number(_) => {}
                }
            }
        }
        last
    })
}

/// The number of an id of a kind; 0 of what is none. Nobody counts as far as 32 bits: whoever writes such a number did not get
/// it here, and shall not use the others up.
fn number(text: &str, kind: &str) -> u64 {
    let digits = text.strip_prefix(kind).and_then(|rest| rest.strip_prefix('-')).unwrap_or_default();
    let is_plain = digits.bytes().all(|byte| byte.is_ascii_digit()) && !digits.starts_with('0');
    digits.parse::<u32>().ok().filter(|_| is_plain).map_or(0, u64::from)
}
