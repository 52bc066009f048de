//! Scopes: which names may an expression see?
//!
//! In: names with values, borrowed where they are large.
//! Out: [`Scope`], which gives the value of a name.
//! Never: copies a borrowed value.

use super::Record;
use crate::value::Value;
use std::borrow::Cow;

/// The names an expression may see. Cheap to build for one evaluation; later names shadow earlier ones.
///
/// ```
/// use rulebook::expression::Scope;
///
/// let state = serde_json::json!({ "turns": 3 }).into();
/// let outer = Scope::new().with("state", &state);
/// let inner = Scope::inside(&outer).with_owned("item", "x".into());
/// assert_eq!(inner.get("state").as_deref(), Some(&state));
/// assert_eq!(outer.get("item"), None);
/// ```
#[derive(Debug, Clone, Default)]
pub struct Scope<'a> {
    outer: Option<&'a Scope<'a>>,
    names: Vec<(&'a str, Held<'a>)>,
}

#[derive(Debug, Clone)]
enum Held<'a> {
    Borrowed(&'a Value),
    Owned(Value),
    Record(&'a Record),
}

/// What a name stands for.
#[derive(Debug, Clone, Copy)]
pub(super) enum Named<'s> {
    Value(&'s Value),
    Record(&'s Record),
}

impl<'a> Scope<'a> {
    /// A scope without names.
    pub fn new() -> Self {
        Self::default()
    }

    /// A scope without names, with room for so many.
    pub(crate) fn with_room(names: usize) -> Self {
        Self { outer: None, names: Vec::with_capacity(names) }
    }

    /// A scope that sees all of `outer` and whatever is added here.
    pub fn inside(outer: &'a Scope<'a>) -> Self {
        Self { outer: Some(outer), names: Vec::new() }
    }

    /// With `name` for a borrowed value.
    pub fn with(mut self, name: &'a str, value: &'a Value) -> Self {
        self.add(name, value);
        self
    }

    /// With `name` for a value of its own.
    pub fn with_owned(mut self, name: &'a str, value: Value) -> Self {
        self.add_owned(name, value);
        self
    }

    /// Adds `name` for a borrowed value.
    pub fn add(&mut self, name: &'a str, value: &'a Value) {
        self.names.push((name, Held::Borrowed(value)));
    }

    /// Adds `name` for a value of its own.
    pub fn add_owned(&mut self, name: &'a str, value: Value) {
        self.names.push((name, Held::Owned(value)));
    }

    /// Adds `name` for an object whose members are shared.
    pub fn add_record(&mut self, name: &'a str, record: &'a Record) {
        self.names.push((name, Held::Record(record)));
    }

    /// The value of `name`, if it is in scope.
    pub fn get(&self, name: &str) -> Option<Cow<'_, Value>> {
        Some(match self.find(name)? {
            Named::Value(value) => Cow::Borrowed(value),
            Named::Record(record) => Cow::Owned(record.to_value()),
        })
    }

    pub(super) fn find(&self, name: &str) -> Option<Named<'_>> {
        let own = self.names.iter().rev().find(|(known, _)| *known == name);
        match own {
            Some((_, Held::Borrowed(value))) => Some(Named::Value(value)),
            Some((_, Held::Owned(value))) => Some(Named::Value(value)),
            Some((_, Held::Record(record))) => Some(Named::Record(record)),
            None => self.outer?.find(name),
        }
    }

    /// Every name in scope, innermost first; a shadowed name stands several times.
    pub fn names(&self) -> impl Iterator<Item = &str> {
        let mut next = Some(self);
        std::iter::from_fn(move || {
            let scope = next?;
            next = scope.outer;
            Some(scope.names.iter().rev().map(|(name, _)| *name))
        })
        .flatten()
    }
}
