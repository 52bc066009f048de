//! Resolving: which value is at the end of a path into the scope?
//!
//! In: a [`Read`] of a compiled text, and a [`Scope`].
//! Out: its value, borrowed; an absent one is `none`.
//! Never: copies more than necessary.

use super::item::Item;
use super::scope::Named;
use super::{Failure, Scope};
use crate::text::{SourceId, Span};
use crate::value::Value;
use std::borrow::Cow;

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
pub(super) fn resolve<'v>(reads: &[Read], index: usize, scope: &'v Scope<'_>) -> Result<Cow<'v, Value>, Failure> {
    let Some(read) = reads.get(index) else { return Ok(Cow::Owned(Value::Null)) };
    let Some(named) = scope.find(&read.name) else {
        return Err(Failure::new(format!("nothing is called `{}` here", read.name)));
    };
    let (mut value, steps) = match (named, read.steps.as_slice()) {
        // Fast path: most paths start with a member of a borrowed table.
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
            (Step::Key(key), Cow::Borrowed(Value::Object(members))) => found(members.get(key)),
            (Step::Key(key), value) => within(value, |item| item.called(key)),
            (Step::Place(place), value) => within(value, |item| item.at((*place).into())),
            (Step::Of(other), value) => {
                let key = resolve(reads, *other, scope)?;
                within(value, |item| item.get(&Item::Ref(&key)))
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

/// What `find` finds in a value, borrowed if the value is.
fn within<'v>(value: Cow<'v, Value>, find: impl Fn(Item<'v>) -> Option<Item<'v>>) -> Cow<'v, Value> {
    let found = match value {
        Cow::Borrowed(value) => find(Item::Ref(value)),
        Cow::Owned(value) => find(Item::Own(value)),
    };
    match found {
        Some(Item::Ref(value)) => Cow::Borrowed(value),
        Some(Item::Own(value)) => Cow::Owned(value),
        _ => Cow::Owned(Value::Null),
    }
}

fn length(value: &Value) -> Result<Value, Failure> {
    Ok(match (value, Item::Ref(value).len()) {
        (Value::Null, _) => 0.into(),
        (_, Some(length)) => length.into(),
        (_, None) => return Err(Failure::new(format!("{value} has no length"))),
    })
}
