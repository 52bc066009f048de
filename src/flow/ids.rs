//! Ids: what was the last number of a kind of id?
//!
//! In: the ids counted by a session, the state as it was before the occasion, and a kind of id.
//! Out: the greatest number that the session counted or the state contains: a host may have stored only the state, or
//! older counts.
//! Never: assigns an id, or counts one that only this answer mentions.

use crate::session::Ids;
use crate::value::Record;
use crate::value::Value;

/// The ids that exist before an occasion.
#[derive(Default)]
pub(super) struct KnownIds {
    /// The kinds for which the state has been searched; the session's count is correct from then on.
    sought: Vec<String>,
}

impl KnownIds {
    /// The last number of a kind; 0 if there is none.
    pub(super) fn last(&mut self, ids: &Ids, state: &Record, kind: &str) -> u64 {
        let counted = ids.last(kind).unwrap_or_default();
        if self.sought.iter().any(|sought| sought == kind) {
            return counted;
        }
        self.sought.push(kind.to_owned());
        counted.max(greatest(state, kind))
    }
}

/// The greatest number of an id in the state, as a name or as a text.
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

/// The number of an id of this kind; 0 if it is not one. Numbers of more than 32 bits are ignored: the engine has not
/// assigned them, and must not use up its range by counting on from them.
fn number(text: &str, kind: &str) -> u64 {
    let digits = text.strip_prefix(kind).and_then(|rest| rest.strip_prefix('-')).unwrap_or_default();
    let is_plain = digits.bytes().all(|byte| byte.is_ascii_digit()) && !digits.starts_with('0');
    digits.parse::<u32>().ok().filter(|_| is_plain).map_or(0, u64::from)
}
