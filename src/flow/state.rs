//! State: which value is at a path?
//!
//! In: the state as JSON, and a path of keys; numbers are indexes of lists.
//! Out: the changed state, or why there is no such path.
//! Never: turns a value that is not a list into one.

use crate::program::PathKey;
use crate::value::Record;
use crate::value::{Object, Value};
use std::sync::Arc;

/// The deepest nesting of the state. JSON readers usually allow 128 levels, and the JSON around a session needs a
/// few. Without a limit, a value that includes itself at every turn would make a session that no host can read.
pub(super) const MAX_STATE_DEPTH: usize = 120;

/// Whether a value is nested more than `levels` deep.
pub(super) fn is_deeper(value: &Value, levels: usize) -> bool {
    let below = levels.checked_sub(1);
    match value {
        Value::Array(items) => below.is_none_or(|below| items.iter().any(|item| is_deeper(item, below))),
        Value::Object(members) => below.is_none_or(|below| members.values().any(|value| is_deeper(value, below))),
        Value::Null | Value::Bool(_) | Value::Number(_) | Value::String(_) => false,
    }
}

/// Sets the value at a path; missing objects on the path are created.
pub(super) fn set(state: &mut Record, path: &[PathKey<'_>], value: &Value) -> Result<(), String> {
    match path {
        [only] => state.put(only, value.clone()),
        _ => reach(state, path)?.clone_from(value),
    }
    Ok(())
}

/// The path as effects write it: keys with dots between them; a key that contains a dot is quoted.
pub(super) fn dotted(path: &[PathKey<'_>]) -> String {
    let mut out = String::with_capacity(path.iter().map(|key| key.len() + 1).sum());
    for (index, key) in path.iter().enumerate() {
        if index > 0 {
            out.push('.');
        }
        match memchr::memchr2(b'.', b'"', key.as_bytes()).is_some() {
            true => out.push_str(&Value::from(&**key).to_string()),
            false => out.push_str(key),
        }
    }
    out
}

/// The value at a path, created if it is missing.
pub(super) fn reach<'s>(state: &'s mut Record, path: &[PathKey<'_>]) -> Result<&'s mut Value, String> {
    let (first, rest) = path.split_first().ok_or("the path is empty")?;
    let mut at = state.entry(first);
    for key in rest {
        if at.is_null() {
            *at = Value::Object(Object::new());
        }
        at = match at {
            Value::Object(members) => members.entry(key),
            Value::Array(items) => {
                let items = Arc::make_mut(items);
                let length = items.len();
                let item = place(key).and_then(|index| items.get_mut(index));
                item.ok_or_else(|| format!("`{key}` is no place in a list of {length}"))?
            }
            _ => return Err(format!("`{key}` goes into a value that has no members")),
        };
    }
    Ok(at)
}

/// The value at a path, if there is one.
pub(super) fn get<'s>(state: &'s Record, path: &[PathKey<'_>]) -> Option<&'s Value> {
    let (first, rest) = path.split_first()?;
    rest.iter().try_fold(state.get(first)?, |at, key| match at {
        Value::Object(members) => members.get(key),
        Value::Array(items) => items.get(place(key)?),
        _ => None,
    })
}

/// Removes and returns the value at a path; `None` if there is none. A whole value of the state becomes `initial`
/// again, as in a new session.
pub(super) fn remove(state: &mut Record, path: &[PathKey<'_>], initial: Option<&Value>) -> Option<Value> {
    let (first, rest) = path.split_first()?;
    let Some((last, before)) = rest.split_last() else {
        let value = state.get(first).filter(|value| !value.is_null())?.clone();
        state.put(first, initial.cloned().unwrap_or_default());
        return Some(value);
    };
    let mut at = state.get_mut(first)?;
    for key in before {
        at = match at {
            Value::Object(members) => members.get_mut(key)?,
            Value::Array(items) => Arc::make_mut(items).get_mut(place(key)?)?,
            _ => return None,
        };
    }
    match at {
        Value::Object(members) => members.remove(last),
        Value::Array(items) => {
            let index = place(last).filter(|index| *index < items.len())?;
            Some(Arc::make_mut(items).remove(index))
        }
        _ => None,
    }
}

/// The index in a list, written as in a JSON Pointer (RFC 6901, §4): without sign or leading zeros.
fn place(key: &str) -> Option<usize> {
    let plain = key.starts_with(|first: char| first.is_ascii_digit()) && (key == "0" || !key.starts_with('0'));
    key.parse().ok().filter(|_| plain)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::value::value as json;

    fn path(text: &str) -> Vec<PathKey<'_>> {
        text.split('.').map(PathKey::Spelt).collect()
    }

    fn record(value: Value) -> Record {
        match value {
            Value::Object(members) => members.iter().map(|(name, value)| (name, value.clone())).collect(),
            other => [("", other)].into_iter().collect(),
        }
    }

    #[track_caller]
    fn check(state: Value, at: &str, expected: Result<Value, ()>) {
        let mut state = record(state);
        let done = set(&mut state, &path(at), &json!(1));
        assert_eq!(done.map(|()| state.to_value()).map_err(drop), expected);
    }

    #[test]
    fn the_depth_of_a_value_counts_its_lists_and_objects() {
        for (value, levels) in [(json!(1), 0), (json!([]), 1), (json!([1, { "a": [] }]), 3), (json!({ "a": 1 }), 1)] {
            assert!(!is_deeper(&value, levels) && (levels == 0 || is_deeper(&value, levels - 1)), "{value}");
        }
    }

    #[test]
    fn setting_a_path_creates_objects_but_no_lists() {
        check(json!({}), "a.b", Ok(json!({ "a": { "b": 1 } })));
        check(json!({ "a": [0, 0] }), "a.1", Ok(json!({ "a": [0, 1] })));
        check(json!({ "a": [] }), "a.0", Err(()));
        check(json!({ "a": [0, 0] }), "a.+1", Err(()));
        check(json!({ "a": [0, 0] }), "a.01", Err(()));
        check(json!({ "a": "x" }), "a.b", Err(()));
    }

    #[test]
    fn removing_an_absent_value_fails() {
        let mut state = record(json!({ "a": { "b": [1, 2] }, "c": 3 }));
        assert_eq!(remove(&mut state, &path("a.b.0"), None), Some(json!(1)));
        assert_eq!(remove(&mut state, &path("a.c"), None), None);
        assert_eq!(remove(&mut state, &path("c"), Some(&json!(0))), Some(json!(3)));
        assert_eq!(state.to_value(), json!({ "a": { "b": [2] }, "c": 0 }));
    }
}
