//! Resolving: which value is at the end of a path into the scope?
//!
//! In: a [`Read`] of a lowered text, and a [`Scope`].
//! Out: its value, borrowed; an absent one is `none`.
//! Never: converts or copies more than necessary.

use super::scope::Named;
use super::{Failure, Scope};
use crate::text::{SourceId, Span};
use crate::value::Value;
use std::borrow::Cow;
use std::str::FromStr;

/// A path into the scope.
#[derive(Debug)]
pub(super) struct Read {
    /// Its first place in the text.
    pub(super) at: Span,
    /// Its file, if it is not the current text.
    pub(super) file: Option<SourceId>,
    pub(super) name: String,
    pub(super) steps: Vec<Step>,
}

/// One step of a [`Read`].
#[derive(Debug, Clone, PartialEq)]
pub(super) enum Step {
    Key(String),
    Place(i64),
    /// The key or index is the value of another read.
    Of(usize),
    /// The length. A step of its own, because states can be large and this is what is asked most often.
    Length,
}

/// The value of a read, borrowed; an absent one is `none`.
pub(super) fn resolve<'j>(reads: &[Read], index: usize, scope: &'j Scope<'_>) -> Result<Cow<'j, Value>, Failure> {
    let Some(read) = reads.get(index) else { return Ok(Cow::Owned(Value::Null)) };
    let Some(named) = scope.find(&read.name) else {
        return Err(Failure::new(format!("nothing is called `{}` here", read.name)));
    };
    let (mut value, steps) = match (named, read.steps.as_slice()) {
        // As most paths lead.
        (Named::Value(Value::Object(members)), [Step::Key(key), rest @ ..]) => (found(members.get(key)), rest),
        (Named::Value(value), steps) => (Cow::Borrowed(value), steps),
        // Of a record, one member is borrowed; as a whole it is copied.
        (Named::Record(record), [Step::Key(key), rest @ ..]) => (found(record.get(key)), rest),
        (Named::Record(record), [Step::Of(other), rest @ ..]) => {
            let key = resolve(reads, *other, scope)?;
            (found(key.as_str().and_then(|key| record.get(key))), rest)
        }
        (Named::Record(record), steps) => (Cow::Owned(record.to_value()), steps),
    };
    for step in steps {
        value = match (step, value) {
            // As most steps lead.
            (Step::Key(key), Cow::Borrowed(Value::Object(members))) => found(members.get(key)),
            (Step::Key(key), value) => within(value, |value| called(value, key)),
            (Step::Place(place), value) => within(value, |value| item(value, *place)),
            (Step::Of(other), value) => {
                let key = resolve(reads, *other, scope)?;
                within(value, |value| member(value, &key))
            }
            (Step::Length, value) => Cow::Owned(length(&value)?),
        };
    }
    Ok(value)
}

/// An absent value becomes `none`.
fn found(value: Option<&Value>) -> Cow<'_, Value> {
    value.map_or(Cow::Owned(Value::Null), Cow::Borrowed)
}

/// The value that `find` returns from `value`, borrowed if `value` is.
fn within<'j>(value: Cow<'j, Value>, find: impl Fn(&Value) -> Option<Cow<'_, Value>>) -> Cow<'j, Value> {
    let found = match value {
        Cow::Borrowed(value) => find(value),
        Cow::Owned(value) => find(&value).map(|found| Cow::Owned(found.into_owned())),
    };
    found.unwrap_or(Cow::Owned(Value::Null))
}

fn length(value: &Value) -> Result<Value, Failure> {
    Ok(Value::from(match value {
        Value::Null => 0,
        Value::String(text) => text.chars().count(),
        Value::Array(items) => items.len(),
        Value::Object(members) => members.len(),
        Value::Bool(_) | Value::Number(_) => return Err(Failure::new(format!("{value} has no length"))),
    }))
}

/// A member by name, or an item or character by index; negative indexes count from the end.
fn member<'j>(holder: &'j Value, key: &Value) -> Option<Cow<'j, Value>> {
    match key.as_str() {
        Some(name) => called(holder, name),
        None => item(holder, key.as_i64()?),
    }
}

fn called<'j>(holder: &'j Value, name: &str) -> Option<Cow<'j, Value>> {
    match holder {
        Value::Object(members) => members.get(name).map(Cow::Borrowed),
        Value::Array(_) | Value::String(_) => item(holder, i64::from_str(name).ok()?),
        _ => None,
    }
}

fn item(holder: &Value, place: i64) -> Option<Cow<'_, Value>> {
    let place =
        |len: usize| usize::try_from(if place < 0 { place.checked_add_unsigned(len as u64)? } else { place }).ok();
    match holder {
        Value::Array(items) => items.get(place(items.len())?).map(Cow::Borrowed),
        Value::String(text) => {
            let char = text.chars().nth(place(text.chars().count())?)?;
            Some(Cow::Owned(Value::from(String::from(char))))
        }
        _ => None,
    }
}
