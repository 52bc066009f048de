//! Scope: which names can an expression use?
//!
//! In: names with values, borrowed where they are large.
//! Out: [`Scope`], which returns the value of a name.
//! Never: copies a borrowed value.

use crate::text::same;
use crate::value::{ByteBudget, Record, Value, View};
use std::borrow::Cow;

/// The names that an expression can use. Cheap to build for one evaluation; later names shadow earlier ones.
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
    /// The first names, in order; stored inline, because a scope is made for each evaluation.
    few: [Option<ScopeEntry<'a>>; FEW_NAMES],
    count: usize,
    /// All further names.
    more: Vec<ScopeEntry<'a>>,
    owned: Vec<Value>,
    /// The byte budget that all evaluations of one occasion share.
    budget: Option<&'a ByteBudget>,
}

type ScopeEntry<'a> = (&'a str, StoredValue<'a>);

/// The number of names stored inline; most scopes have no more.
const FEW_NAMES: usize = 12;

/// The value of a name.
#[derive(Debug, Clone, Copy)]
pub(super) enum NamedValue<'s> {
    Value(&'s Value),
    Record(View<'s>),
}

/// A [`NamedValue`] as a scope stores it, in two machine words: an owned value is an index into `owned`.
#[derive(Debug, Clone, Copy)]
enum StoredValue<'a> {
    Value(&'a Value),
    Record(&'a Record),
    View(&'a View<'a>),
    Owned(usize),
}

impl<'a> Scope<'a> {
    /// A scope without names.
    pub fn new() -> Self {
        Self::default()
    }

    /// A scope with all names of `outer`, and those that are added to it.
    pub fn inside(outer: &'a Scope<'a>) -> Self {
        Self { outer: Some(outer), ..Self::default() }
    }

    /// Adds `name` with a borrowed value.
    pub fn with(mut self, name: &'a str, value: &'a Value) -> Self {
        self.add(name, value);
        self
    }

    /// Adds `name` with an owned value.
    pub fn with_owned(mut self, name: &'a str, value: Value) -> Self {
        self.add_owned(name, value);
        self
    }

    /// Adds `name` with a borrowed value.
    pub fn add(&mut self, name: &'a str, value: &'a Value) {
        self.push(name, StoredValue::Value(value));
    }

    /// Adds `name` with an owned value.
    pub fn add_owned(&mut self, name: &'a str, value: Value) {
        self.push(name, StoredValue::Owned(self.owned.len()));
        self.owned.push(value);
    }

    /// Adds `name` with a record as its value.
    pub fn add_record(&mut self, name: &'a str, record: &'a Record) {
        self.push(name, StoredValue::Record(record));
    }

    /// Adds `name` with a view of a record as its value.
    pub(crate) fn add_view(&mut self, name: &'a str, view: &'a View<'a>) {
        self.push(name, StoredValue::View(view));
    }

    /// Charges the values that evaluations make to a budget.
    pub(crate) fn limit(&mut self, budget: &'a ByteBudget) {
        self.budget = Some(budget);
    }

    pub(super) fn budget(&self) -> Option<&'a ByteBudget> {
        self.budget.or_else(|| self.outer?.budget())
    }

    fn push(&mut self, name: &'a str, stored: StoredValue<'a>) {
        match self.few.get_mut(self.count) {
            Some(slot) => *slot = Some((name, stored)),
            None => self.more.push((name, stored)),
        }
        self.count += 1;
    }

    /// The names that were added here, the last one first.
    fn own(&self) -> impl Iterator<Item = &ScopeEntry<'a>> {
        let few = self.few.get(..self.count).unwrap_or(&self.few);
        self.more.iter().rev().chain(few.iter().rev().flatten())
    }

    /// The value of `name`, if it is in scope.
    pub fn get(&self, name: &str) -> Option<Cow<'_, Value>> {
        Some(match self.find(name)? {
            NamedValue::Value(value) => Cow::Borrowed(value),
            NamedValue::Record(record) => Cow::Owned(record.to_value()),
        })
    }

    pub(super) fn find(&self, name: &str) -> Option<NamedValue<'_>> {
        let Some((_, stored)) = self.own().find(|(known, _)| same(known, name)) else { return self.outer?.find(name) };
        Some(match *stored {
            StoredValue::Value(value) => NamedValue::Value(value),
            StoredValue::Record(record) => NamedValue::Record(record.into()),
            StoredValue::View(view) => NamedValue::Record(*view),
            StoredValue::Owned(number) => NamedValue::Value(self.owned.get(number)?),
        })
    }

    /// Every name in scope, innermost first; shadowed names occur several times.
    pub fn names(&self) -> impl Iterator<Item = &str> {
        let mut next = Some(self);
        std::iter::from_fn(move || {
            let scope = next?;
            next = scope.outer;
            Some(scope.own().map(|(name, _)| *name))
        })
        .flatten()
    }
}
