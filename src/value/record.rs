//! Records: how are named values shared until one of them changes?
//!
//! In: named values, and rules that compute some of them from the others.
//! Out: [`Record`], an object that is cheap to clone: a change copies only the member that changes.
//! Never: shares a part of a member, or computes a member before it is read.

use super::weight::{DEPTH, weight};
use super::{Budget, Members, Value};
use serde::ser::SerializeMap;
use serde::{Serialize, Serializer};
use std::fmt;
use std::sync::atomic::{AtomicUsize, Ordering::Relaxed};
use std::sync::{Arc, LazyLock, OnceLock};

/// An object that shares its members with its clones until they change. It serializes like any JSON object.
///
/// ```
/// use rulebook::value::Record;
/// use serde_json::json;
///
/// let before: Record = [("turns", json!(3)), ("notes", json!([]))].into_iter().collect();
/// let mut after = before.clone();
/// after.put("turns", 4);
/// assert_eq!((before.get("turns"), after.get("turns")), (Some(&3.into()), Some(&4.into())));
/// assert_eq!(after.to_value(), json!({ "turns": 4, "notes": [] }));
/// ```
#[derive(Clone)]
pub struct Record(Arc<Inner>);

/// The empty record, made once because every turn needs it.
static EMPTY: LazyLock<Record> = LazyLock::new(|| Record(Arc::default()));

impl Default for Record {
    fn default() -> Self {
        EMPTY.clone()
    }
}

#[derive(Default)]
struct Inner {
    /// The names of the members. Clones share them, because they hardly ever change.
    names: Arc<Members<()>>,
    /// The values, each at the index of its name.
    values: Vec<Value>,
    /// The computed members, in the order of the members.
    computed: Vec<Computed>,
    /// The bytes that computed members have taken; [`usize::MAX`] if one did not get what it asked for.
    made: AtomicUsize,
    /// What they are taken from while an occasion lasts.
    budget: Option<Arc<Budget>>,
    /// Whether a member has changed since what takes memory was last computed at the end of an occasion.
    changed: bool,
}

impl Clone for Inner {
    fn clone(&self) -> Self {
        let Self { names, values, computed, made, budget, changed } = self;
        let (made, budget) = (AtomicUsize::new(made.load(Relaxed)), budget.clone());
        Self {
            names: names.clone(),
            values: values.clone(),
            computed: computed.clone(),
            made,
            budget,
            changed: *changed,
        }
    }
}

/// A member that is computed when it is first read; its own value is null.
#[derive(Clone)]
struct Computed {
    /// The index of its member.
    place: usize,
    rule: Rule,
    value: OnceLock<Value>,
}

impl Inner {
    fn computed(&self, place: usize) -> Option<&Computed> {
        self.computed.iter().find(|computed| computed.place == place)
    }

    /// The members as stored.
    fn members(&self) -> impl ExactSizeIterator<Item = (&Arc<str>, &Value)> {
        self.names.as_slice().iter().map(|(name, ())| name).zip(&self.values)
    }
}

/// A record as it is seen: completely, or without the computed members from one on.
#[derive(Debug, Clone, Copy)]
pub(crate) struct View<'r> {
    record: &'r Record,
    /// The index of the first member that is not seen if it is computed.
    until: usize,
}

impl<'r> View<'r> {
    /// The member of this name, if there is one.
    pub(crate) fn get(self, name: &str) -> Option<&'r Value> {
        let place = self.record.0.names.position(name)?;
        self.record.0.values.get(place).map(|value| self.value(place, value))
    }

    /// The members in order.
    pub(crate) fn iter(self) -> impl ExactSizeIterator<Item = (&'r Arc<str>, &'r Value)> {
        let members = self.record.0.members().enumerate();
        members.map(move |(place, (name, value))| (name, self.value(place, value)))
    }

    /// The same object as a value.
    pub(crate) fn to_value(self) -> Value {
        Value::Object(self.iter().map(|(name, value)| (name.clone(), value.clone())).collect())
    }

    fn value(self, place: usize, kept: &'r Value) -> &'r Value {
        match self.record.0.computed(place) {
            Some(computed) if place < self.until => computed.value.get_or_init(|| (computed.rule.compute)(self.record)),
            Some(_) => &Value::Null,
            None => kept,
        }
    }
}

impl<'r> From<&'r Record> for View<'r> {
    fn from(record: &'r Record) -> Self {
        Self { record, until: usize::MAX }
    }
}

/// Computes a member of a record from the others.
#[derive(Clone)]
pub(crate) struct Rule {
    compute: Arc<dyn Fn(&Record) -> Value + Send + Sync>,
    /// Whether it makes something, and does not only take a part of another member.
    makes: bool,
}

impl Rule {
    pub(crate) fn new(makes: bool, rule: impl Fn(&Record) -> Value + Send + Sync + 'static) -> Self {
        Self { compute: Arc::new(rule), makes }
    }

    /// Whether both are the same rule, by identity.
    pub(crate) fn is(&self, other: &Rule) -> bool {
        Arc::ptr_eq(&self.compute, &other.compute)
    }
}

impl fmt::Debug for Rule {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Rule")
    }
}

impl Record {
    /// The member of this name, if there is one.
    pub fn get(&self, name: &str) -> Option<&Value> {
        View::from(self).get(name)
    }

    /// The bytes that its computed members have taken.
    pub(super) fn made(&self) -> usize {
        self.0.made.load(Relaxed)
    }

    /// Whether computed members would take more than they may.
    pub(crate) fn is_too_costly(&self) -> bool {
        self.made() == usize::MAX
    }

    /// Lets computed members take what they need from the budget of an occasion.
    pub(crate) fn spend(&mut self, budget: &Arc<Budget>) {
        Arc::make_mut(&mut self.0).budget = Some(Arc::clone(budget));
    }

    /// Whether all that takes memory has been computed.
    pub(crate) fn is_settled(&self) -> bool {
        self.0.computed.iter().all(|computed| !computed.rule.makes || computed.value.get().is_some())
    }

    /// Computes what takes memory, if a member has changed: the occasion ends, and its budget with it.
    pub(crate) fn settle(&mut self) {
        if self.0.budget.is_some() {
            if self.0.changed {
                for computed in self.0.computed.iter().filter(|computed| computed.rule.makes) {
                    computed.value.get_or_init(|| (computed.rule.compute)(self));
                }
            }
            let inner = Arc::make_mut(&mut self.0);
            (inner.budget, inner.changed) = (None, false);
        }
    }

    /// Notes that what takes memory need not be computed before a member changes: these values were checked with the pack.
    pub(crate) fn mark_checked(&mut self) {
        Arc::make_mut(&mut self.0).changed = false;
    }

    /// Computes a member within the budget of the occasion; outside of one, within a budget of the computed members. It
    /// is null if `compute` does not get what it asks for. Then the others get nothing either: each could be made of
    /// what the others lack.
    pub(crate) fn within_budget(&self, compute: impl FnOnce(&Budget) -> Option<Value>) -> Value {
        let own;
        let budget = match &self.0.budget {
            Some(budget) if !self.is_too_costly() => budget,
            _ => {
                own = Arc::new(Budget::of_computed(self));
                &own
            }
        };
        let (before, was_too_costly) = (budget.spent(), self.is_too_costly());
        // What it was made of may have been computed meanwhile, and lack something.
        let value = compute(budget).filter(|_| was_too_costly || !self.is_too_costly());
        let made = if value.is_none() { usize::MAX } else { budget.spent().saturating_sub(before) };
        self.0.made.store(self.made().saturating_add(made), Relaxed);
        value.unwrap_or_default()
    }

    /// The weight of the members that are not computed.
    pub(crate) fn weight(&self) -> usize {
        self.0.values.iter().map(|value| weight(value, DEPTH)).sum()
    }

    /// The member of this name, mutable; added as `null` if there is none. Members computed from it will be computed
    /// again.
    #[expect(clippy::indexing_slicing, reason = "the place was found or made just before")]
    #[doc(hidden)]
    pub fn entry(&mut self, name: &str) -> &mut Value {
        let place = self.0.names.position(name);
        // Compute the value first: what follows may change what it is computed from.
        let computed = place.filter(|place| self.0.computed(*place).is_some()).and_then(|_| self.get(name).cloned());
        // What another record still has is not given back.
        let is_alone = Arc::get_mut(&mut self.0).is_some();
        let inner = Arc::make_mut(&mut self.0);
        inner.changed = true;
        inner.computed.iter_mut().for_each(|computed| drop(computed.value.take()));
        let made = std::mem::take(inner.made.get_mut());
        if let Some(budget) = inner.budget.as_ref().filter(|_| is_alone && made != usize::MAX) {
            budget.give_back(made);
        }
        let place = place.unwrap_or_else(|| {
            Arc::make_mut(&mut inner.names).insert(name.into(), ());
            inner.values.push(Value::Null);
            inner.values.len() - 1
        });
        if let Some(value) = computed {
            inner.computed.retain(|computed| computed.place != place);
            inner.values[place] = value;
        }
        &mut inner.values[place]
    }

    /// Sets the member of this name.
    pub fn put(&mut self, name: &str, value: impl Into<Value>) {
        *self.entry(name) = value.into();
    }

    /// Lets a rule compute the member of this name. The rule should only read the members [before](Record::before) it.
    pub(crate) fn compute(&mut self, name: &str, rule: Rule) {
        self.put(name, Value::Null);
        let Some(place) = self.0.names.position(name) else { return };
        let computed = &mut Arc::make_mut(&mut self.0).computed;
        let before = computed.partition_point(|computed| computed.place < place);
        computed.insert(before, Computed { place, rule, value: OnceLock::new() });
    }

    /// Whether the member of this name is computed by this rule.
    pub(crate) fn is_computed(&self, name: &str, rule: &Rule) -> bool {
        let computed = self.0.names.position(name).and_then(|place| self.0.computed(place));
        computed.is_some_and(|computed| computed.rule.is(rule))
    }

    /// The rules of computed members, in the order of the members.
    pub(crate) fn rules(&self) -> impl Iterator<Item = &Rule> {
        self.0.computed.iter().map(|computed| &computed.rule)
    }

    /// The record without the computed members from this name on.
    pub(crate) fn before(&self, name: &str) -> View<'_> {
        View { record: self, until: self.0.names.position(name).unwrap_or_default() }
    }

    /// The member of this name, mutable, if there is one.
    #[doc(hidden)]
    pub fn get_mut(&mut self, name: &str) -> Option<&mut Value> {
        self.0.names.position(name).is_some().then(|| self.entry(name))
    }

    /// Removes and returns the member of this name; the others keep their order.
    #[doc(hidden)]
    pub fn remove(&mut self, name: &str) -> Option<Value> {
        let place = self.0.names.position(name)?;
        self.entry(name);
        let inner = Arc::make_mut(&mut self.0);
        inner.computed.iter_mut().filter(|computed| computed.place > place).for_each(|computed| computed.place -= 1);
        Arc::make_mut(&mut inner.names).remove(name);
        Some(inner.values.remove(place))
    }

    /// The members in order.
    #[doc(hidden)]
    pub fn iter(&self) -> impl ExactSizeIterator<Item = (&str, &Value)> {
        View::from(self).iter().map(|(name, value)| (&**name, value))
    }

    /// The same object as a value.
    pub fn to_value(&self) -> Value {
        View::from(self).to_value()
    }
}

/// Shows `…` for members that have not been computed yet.
impl fmt::Debug for Record {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let mut map = f.debug_map();
        for (place, (name, value)) in self.0.members().enumerate() {
            match self.0.computed(place).map_or(Some(value), |computed| computed.value.get()) {
                Some(value) => map.entry(name, value),
                None => map.entry(name, &format_args!("…")),
            };
        }
        map.finish()
    }
}

impl PartialEq for Record {
    fn eq(&self, other: &Self) -> bool {
        let same = |(name, value): (&str, &Value)| other.get(name) == Some(value);
        Arc::ptr_eq(&self.0, &other.0) || (self.iter().len() == other.iter().len() && self.iter().all(same))
    }
}

impl Serialize for Record {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let mut map = serializer.serialize_map(Some(self.iter().len()))?;
        self.iter().try_for_each(|(name, value)| map.serialize_entry(name, value))?;
        map.end()
    }
}

impl<N: Into<Arc<str>>, V: Into<Value>> FromIterator<(N, V)> for Record {
    fn from_iter<I: IntoIterator<Item = (N, V)>>(members: I) -> Self {
        let (mut names, mut values) = (Members::default(), Vec::new());
        for (name, value) in members {
            let (name, value) = (name.into(), value.into());
            // Of those with the same name the last counts, in the place of the first.
            match names.position(&name).and_then(|place| values.get_mut(place)) {
                Some(kept) => *kept = value,
                None => {
                    names.insert(name, ());
                    values.push(value);
                }
            }
        }
        Self(Arc::new(Inner { names: Arc::new(names), values, ..Inner::default() }))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::value::value;

    fn record() -> Record {
        let mut record: Record =
            [("notes", value!([1])), ("count", value!(null)), ("twice", value!(null))].into_iter().collect();
        let count = |record: &Record| Value::from(record.get("notes").and_then(Value::as_array).map(<[Value]>::len));
        let twice = |record: &Record| Value::from(record.get("count").and_then(Value::as_u64).map(|count| 2 * count));
        record.compute("count", Rule::new(true, count));
        record.compute("twice", Rule::new(true, twice));
        record
    }

    #[test]
    fn what_is_computed_follows_what_it_is_computed_from() {
        let before = record();
        let mut after = before.clone();
        *after.entry("notes") = value!([1, 2]);
        assert_eq!(before.to_value(), value!({ "notes": [1], "count": 1, "twice": 2 }));
        assert_eq!(after.to_value(), value!({ "notes": [1, 2], "count": 2, "twice": 4 }));
        // What is changed by hand is computed no more.
        *after.entry("count") = 7.into();
        *after.entry("notes") = value!([]);
        assert_eq!(after.to_value(), value!({ "notes": [], "count": 7, "twice": 14 }));
        assert_eq!(after.remove("twice"), Some(14.into()));
    }

    #[test]
    fn what_is_computed_sees_what_stands_before_it() {
        assert_eq!(record().before("twice").to_value(), value!({ "notes": [1], "count": 1, "twice": null }));
        assert_eq!(record().before("count").to_value(), value!({ "notes": [1], "count": null, "twice": null }));
    }
}
