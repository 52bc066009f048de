//! Ids: which number does the next thing of a kind bear?
//!
//! In: the last number of each kind, and the state, in which ids may stand that the host has not counted.
//! Out: the number behind the last that stands nowhere in the state.
//! Never: gives a number twice on one occasion, or one that the state has as a key or as a text.

use crate::expression::Record;
use crate::value::Value;
use std::collections::{BTreeMap, BTreeSet};

/// The numbers that stood in the state when a kind was first asked for.
#[derive(Default)]
pub(super) struct Taken(BTreeMap<String, BTreeSet<u64>>);

impl Taken {
    /// The number behind `last`; none if there is no greater one.
    pub(super) fn next(&mut self, kind: &str, last: u64, state: &Record) -> Option<u64> {
        if !self.0.contains_key(kind) {
            self.0.insert(kind.to_owned(), numbers(kind, state));
        }
        let taken = self.0.get(kind);
        let mut next = last.checked_add(1)?;
        while taken.is_some_and(|taken| taken.contains(&next)) {
            next = next.checked_add(1)?;
        }
        Some(next)
    }
}

/// The numbers of the ids of a kind that stand in a state.
fn numbers(kind: &str, state: &Record) -> BTreeSet<u64> {
    let number = |id: &str| id.strip_prefix(kind)?.strip_prefix('-')?.parse::<u64>().ok();
    let mut found = BTreeSet::new();
    let mut left: Vec<&Value> = state.iter().map(|(_, value)| value).collect();
    while let Some(value) = left.pop() {
        match value {
            Value::String(text) => found.extend(number(text)),
            Value::Array(items) => left.extend(items.iter()),
            Value::Object(members) => {
                found.extend(members.keys().filter_map(&number));
                left.extend(members.values());
            }
            _ => {}
        }
    }
    found
}
