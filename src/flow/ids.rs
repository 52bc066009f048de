//! Ids: which number was the last of its kind?
//!
//! In: the ids that a session has counted, the state as it was before the occasion, and a kind of id.
//! Out: the greatest number that the session counted or that the state holds, as a host may keep the state alone, or counts
//! that are older than it.
//! Never: gives an id out, or takes one for given that only this answer names.

use crate::expression::Record;
use crate::value::Value;
use indexmap::IndexMap;

/// What ids an occasion goes on behind.
#[derive(Default)]
pub(super) struct Held {
    /// The kinds that the state was looked through for: from then on the session counts right.
    sought: Vec<String>,
}

impl Held {
    /// The last number of a kind; 0 if there was none.
    pub(super) fn last(&mut self, ids: &IndexMap<String, u64>, state: &Record, kind: &str) -> u64 {
        let counted = ids.get(kind).copied().unwrap_or_default();
        if self.sought.iter().any(|sought| sought == kind) {
            return counted;
        }
        self.sought.push(kind.to_owned());
        counted.max(greatest(state, kind))
    }
}

/// The greatest number of an id that the state holds, be it as a name or as a text.
fn greatest(state: &Record, kind: &str) -> u64 {
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
}

/// The number of an id of a kind; 0 of what is none. Nobody counts as far as 32 bits: whoever writes such a number did not get
/// it here, and shall not use the others up.
fn number(text: &str, kind: &str) -> u64 {
    let digits = text.strip_prefix(kind).and_then(|rest| rest.strip_prefix('-')).unwrap_or_default();
    let is_plain = digits.bytes().all(|byte| byte.is_ascii_digit()) && !digits.starts_with('0');
    digits.parse::<u32>().ok().filter(|_| is_plain).map_or(0, u64::from)
}
