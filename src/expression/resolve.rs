//! Resolving: which value is at the end of a path into the scope?
//!
//! In: a [`ScopeRead`], and a [`Scope`].
//! Out: its value, borrowed where possible; an absent value is `none`.
//! Never: copies more than necessary.

use super::item::Item;
use super::scope::NamedValue;
use super::{Failure, Scope};
use crate::text::{SourceId, Span};
use crate::value::Value;
use std::borrow::Cow;

/// A path into the scope. Equality ignores the place in the text: equal paths have the same value.
#[derive(Debug, Clone)]
pub(crate) struct ScopeRead {
    /// Its place in the text.
    pub(super) at: Span,
    /// The included file where it is; `None` for the parsed text itself.
    pub(super) file: Option<SourceId>,
    pub(super) name: String,
    pub(super) steps: Vec<ReadStep>,
}

impl ScopeRead {
    /// Whether it reads a constant of the pack, by a path that is known without evaluation.
    pub(super) fn is_constant(&self) -> bool {
        self.name == "data" && !self.steps.is_empty() && self.steps.iter().all(|step| matches!(step, ReadStep::Key(_)))
    }
}

/// One step of a [`ScopeRead`].
#[derive(Debug, Clone, PartialEq)]
pub(super) enum ReadStep {
    Key(String),
    Index(i64),
    /// The key or index is the value of another read.
    Of(Box<ScopeRead>),
    /// The length of the value. It is a step and not a filter, because states can be large, and their length is what
    /// conditions read most often.
    Length,
}

impl PartialEq for ScopeRead {
    fn eq(&self, other: &Self) -> bool {
        self.name == other.name && self.steps == other.steps
    }
}

impl ScopeRead {
    /// The name that the path starts with; `None` if it ends in a length, which is no part of the value of the name.
    pub(crate) fn head(&self) -> Option<&str> {
        (!self.steps.contains(&ReadStep::Length)).then_some(&self.name)
    }

    /// Whether the path is known without evaluation: none of its keys is read from the scope.
    pub(crate) fn is_fixed(&self) -> bool {
        !self.steps.iter().any(|step| matches!(step, ReadStep::Of(_)))
    }

    /// Adds the paths that are keys of this path, and then this path, unless `found` already has them.
    pub(super) fn find<'r>(&'r self, found: &mut Vec<&'r ScopeRead>) {
        for step in &self.steps {
            if let ReadStep::Of(key) = step {
                key.find(found);
            }
        }
        if !found.contains(&self) {
            found.push(self);
        }
    }

    /// The value at the path, borrowed where possible; an absent value is `none`.
    pub(super) fn resolve<'v>(&self, scope: &'v Scope<'_>) -> Result<Cow<'v, Value>, Failure> {
        let Some(named) = scope.find(&self.name) else {
            return Err(Failure::new(format!("nothing is called `{}` here", self.name)));
        };
        let (mut value, steps) = match (named, self.steps.as_slice()) {
            // Fast path: most paths start with a member of a borrowed table.
            (NamedValue::Value(Value::Object(members)), [ReadStep::Key(key), rest @ ..]) => {
                (found(members.get(key)), rest)
            }
            (NamedValue::Value(value), steps) => (Cow::Borrowed(value), steps),
            // One member of a record can be borrowed; a whole record has to be copied.
            (NamedValue::Record(record), [ReadStep::Key(key), rest @ ..]) => (found(record.get(key)), rest),
            (NamedValue::Record(record), [ReadStep::Of(other), rest @ ..]) => {
                let key = other.resolve(scope)?;
                (found(key.as_str().and_then(|key| record.get(key))), rest)
            }
            (NamedValue::Record(record), steps) => (Cow::Owned(record.to_value()), steps),
        };
        for step in steps {
            value = match (step, value) {
                (ReadStep::Key(key), Cow::Borrowed(Value::Object(members))) => found(members.get(key)),
                (ReadStep::Key(key), value) => within(value, |item| item.called(key)),
                (ReadStep::Index(place), value) => within(value, |item| item.at((*place).into())),
                (ReadStep::Of(other), value) => {
                    let key = other.resolve(scope)?;
                    within(value, |item| item.get(&Item::Ref(&key)))
                }
                (ReadStep::Length, value) => Cow::Owned(length(&value)?),
            };
        }
        Ok(value)
    }
}

/// The value at a path; keys that are numbers are indexes.
pub(crate) fn at_path(name: &str, keys: &[String], scope: &Scope<'_>) -> Result<Value, Failure> {
    let step = |key: &String| {
        key.parse::<u32>().map_or_else(|_| ReadStep::Key(key.clone()), |key| ReadStep::Index(key.into()))
    };
    let steps = keys.iter().map(step).collect();
    ScopeRead { at: Span::default(), file: None, name: name.to_owned(), steps }.resolve(scope).map(Cow::into_owned)
}

/// An absent value becomes `none`.
fn found(value: Option<&Value>) -> Cow<'_, Value> {
    value.map_or(Cow::Owned(Value::Null), Cow::Borrowed)
}

/// The part of a value that `find` returns, borrowed if the value is borrowed.
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
    let length = if value.is_null() { Some(0) } else { Item::Ref(value).len() };
    length.map(Value::from).ok_or_else(|| Failure::new(format!("{value} has no length")))
}
