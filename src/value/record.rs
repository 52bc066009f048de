//! Records: how are named values shared until one of them changes?
//!
//! In: named values, and rules that compute some of them from the others.
//! Out: [`Record`], an object that is cheap to clone: a change copies only the member that changes.
//! Never: shares parts within a member, or computes a member again unless a member that it reads has changed.

use super::weight::{MAX_VALUE_DEPTH, weight};
use super::{ByteBudget, Members, Value};
use crate::text::Present;
use serde::ser::SerializeMap;
use serde::{Serialize, Serializer};
use smallvec::SmallVec;
use std::fmt;
use std::sync::atomic::{AtomicUsize, Ordering::Relaxed};
use std::sync::{Arc, LazyLock, OnceLock};

/// An object that shares its members with its clones until they change. It serializes like any JSON object.
///
/// ```
/// use rulebook::value::{Record, Value};
/// use serde_json::json;
///
/// let before: Record = [("turns", json!(3)), ("notes", json!([]))].into_iter().collect();
/// let mut after = before.clone();
/// after.put("turns", 4);
/// assert_eq!((before.get("turns"), after.get("turns")), (Some(&3.into()), Some(&4.into())));
/// assert_eq!(Value::from(&after), json!({ "turns": 4, "notes": [] }));
/// ```
#[derive(Clone)]
pub struct Record {
    inner: Arc<RecordData>,
    /// The budget from which computed members take their bytes during an occasion.
    budget: Option<Arc<ByteBudget>>,
}

/// Most records have at most this many computed members.
const FEW_COMPUTED: usize = 8;

/// The empty record, made once because every turn needs it.
static EMPTY: LazyLock<Record> = LazyLock::new(|| Record { inner: Arc::default(), budget: None });

impl Default for Record {
    fn default() -> Self {
        EMPTY.clone()
    }
}

#[derive(Default)]
struct RecordData {
    /// The names of the members. Clones share them, because they hardly ever change.
    names: Arc<Members<()>>,
    /// The values, each at the index of its name.
    values: Vec<Value>,
    /// The computed members, in the order of the members. Clones share them, like the names.
    computed: Arc<Vec<Computed>>,
    /// Of each computed member, its value and the bytes that it took.
    results: Vec<OnceLock<(Value, usize)>>,
    /// The bytes that computed members have taken; [`usize::MAX`] if the budget refused one.
    made: AtomicUsize,
    /// Whether all members have the values that the pack declares, whose computed values were checked with the pack.
    checked: bool,
}

impl Clone for RecordData {
    fn clone(&self) -> Self {
        let Self { names, values, computed, results, made, checked } = self;
        let (names, values, computed, results) = (names.clone(), values.clone(), computed.clone(), results.clone());
        Self { names, values, computed, results, made: AtomicUsize::new(made.load(Relaxed)), checked: *checked }
    }
}

/// A member that is computed when it is first read; its own value is null.
#[derive(Clone)]
struct Computed {
    /// The index of its member.
    place: usize,
    /// The indexes of the members that it reads; `None` if it may read any.
    reads: Option<Vec<usize>>,
    rule: ComputeRule,
}

impl RecordData {
    /// The index in `computed` of the member at `place`.
    fn computed(&self, place: usize) -> Option<usize> {
        self.computed.iter().position(|computed| computed.place == place)
    }

    /// Whether every computed member that takes memory has its value.
    fn has_all_values(&self) -> bool {
        let mut all = self.computed.iter().zip(&self.results);
        all.all(|(computed, result)| !computed.rule.0.makes || result.get().is_some())
    }

    /// Drops the value of the member at `place` if it is computed, and every value computed from it. Returns the bytes
    /// that these had taken, if they are to be returned to the budget.
    fn forget(&mut self, place: usize) -> usize {
        let made = self.made.get_mut();
        if *made == usize::MAX {
            // The budget refused one member, and therefore all after it: after this change they are tried again.
            *made = 0;
            self.results.iter_mut().for_each(|result| drop(result.take()));
            return 0;
        }
        // One pass suffices, because a computed member comes after those that it reads.
        let mut stale: SmallVec<[usize; FEW_COMPUTED]> = SmallVec::new();
        let mut forgotten = 0;
        for (computed, result) in self.computed.iter().zip(&mut self.results) {
            let is_stale = |read: &usize| *read == place || stale.binary_search(read).is_ok();
            if computed.place == place || computed.reads.as_ref().is_none_or(|reads| reads.iter().any(is_stale)) {
                forgotten += result.take().map_or(0, |(_, taken)| taken);
                stale.push(computed.place);
            }
        }
        *made = made.saturating_sub(forgotten);
        forgotten
    }

    /// The members as stored.
    fn members(&self) -> impl ExactSizeIterator<Item = (&Arc<str>, &Value)> {
        self.names.as_slice().iter().map(|(name, ())| name).zip(&self.values)
    }
}

/// A view of a record: of all members, or without the values of computed members from an index on.
#[derive(Debug, Clone, Copy)]
pub(crate) struct View<'r> {
    record: &'r Record,
    /// From this index on, computed members are hidden.
    until: usize,
}

impl<'r> View<'r> {
    /// The member of this name, if there is one.
    pub(crate) fn get(self, name: &str) -> Option<&'r Value> {
        let place = self.record.inner.names.position(name)?;
        self.record.inner.values.get(place).map(|value| self.value(place, value))
    }

    /// The members in order.
    pub(crate) fn iter(self) -> impl ExactSizeIterator<Item = (&'r Arc<str>, &'r Value)> {
        let members = self.record.inner.members().enumerate();
        members.map(move |(place, (name, value))| (name, self.value(place, value)))
    }

    /// All members as a value.
    pub(crate) fn to_value(self) -> Value {
        Value::Object(self.iter().map(|(name, value)| (name.clone(), value.clone())).collect())
    }

    fn value(self, place: usize, stored: &'r Value) -> &'r Value {
        match self.record.inner.computed(place) {
            Some(computed) if place < self.until => self.record.result(computed).unwrap_or(&Value::Null),
            Some(_) => &Value::Null,
            None => stored,
        }
    }
}

impl<'r> From<&'r Record> for View<'r> {
    fn from(record: &'r Record) -> Self {
        Self { record, until: usize::MAX }
    }
}

/// Computes a member of a record from the others. `None` if the budget refuses the bytes.
type Compute = dyn Fn(&Record, &ByteBudget) -> Option<Value> + Send + Sync;

/// The rule by which a member of a record is computed from the others. A clone is the same rule.
#[derive(Clone)]
pub(crate) struct ComputeRule(Arc<Formula>);

struct Formula {
    /// The names of the members that it reads; `None` if it may read any.
    reads: Option<Vec<String>>,
    /// Whether it makes a new value, and does not only return a part of another member.
    makes: bool,
    compute: Box<Compute>,
}

impl ComputeRule {
    pub(crate) fn new(
        reads: Option<Vec<String>>,
        makes: bool,
        compute: impl Fn(&Record, &ByteBudget) -> Option<Value> + Send + Sync + 'static,
    ) -> Self {
        Self(Arc::new(Formula { reads, makes, compute: Box::new(compute) }))
    }

    /// Whether both are the same rule, by identity.
    pub(crate) fn is(&self, other: &ComputeRule) -> bool {
        Arc::ptr_eq(&self.0, &other.0)
    }
}

impl fmt::Debug for ComputeRule {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Rule")
    }
}

impl Record {
    /// The member of this name, if there is one.
    pub fn get(&self, name: &str) -> Option<&Value> {
        View::from(self).get(name)
    }

    /// The bytes that the computed members have taken.
    pub(super) fn made(&self) -> usize {
        self.inner.made.load(Relaxed)
    }

    /// Whether the budget refused a computed member.
    pub(crate) fn is_too_costly(&self) -> bool {
        self.made() == usize::MAX
    }

    /// Lets computed members take their bytes from the budget of an occasion.
    pub(crate) fn spend(&mut self, budget: &Arc<ByteBudget>) {
        // Copy the cells of results first: a value computed or refused under this budget must not reach other records.
        if !self.has_all_values() {
            Arc::make_mut(&mut self.inner);
        }
        self.budget = Some(Arc::clone(budget));
    }

    /// Whether every computed member that takes memory has its value.
    pub(crate) fn has_all_values(&self) -> bool {
        self.inner.has_all_values()
    }

    /// Computes the members that take memory before the occasion and its budget end, unless they were checked with the
    /// pack.
    pub(crate) fn end_occasion(&mut self) {
        if self.budget.is_some() && !self.inner.checked {
            let makes = self.inner.computed.iter().enumerate().filter(|(_, computed)| computed.rule.0.makes);
            makes.for_each(|(number, _)| _ = self.result(number));
        }
        self.budget = None;
    }

    /// Computes all members now. Records that share them are not affected.
    pub(crate) fn compute_all(&mut self) {
        Arc::make_mut(&mut self.inner);
        (0..self.inner.computed.len()).for_each(|number| _ = self.result(number));
    }

    /// Notes that members that take memory need not be computed before a change, because these values were checked with
    /// the pack.
    pub(crate) fn mark_checked(&mut self) {
        Arc::make_mut(&mut self.inner).checked = true;
    }

    /// The value of a computed member, by its index in `computed`.
    fn result(&self, number: usize) -> Option<&Value> {
        let (computed, result) = (self.inner.computed.get(number)?, self.inner.results.get(number)?);
        Some(&result.get_or_init(|| self.compute_now(&computed.rule)).0)
    }

    /// Computes a member within the budget of the occasion or, outside of an occasion, within a budget of the computed
    /// members. The value is null if the budget refuses the bytes. Then all other members are null, too, because each
    /// could be computed from a member that is missing.
    fn compute_now(&self, rule: &ComputeRule) -> (Value, usize) {
        let own;
        let budget = match &self.budget {
            Some(budget) if !self.is_too_costly() => budget,
            _ => {
                own = Arc::new(ByteBudget::of_computed(self));
                &own
            }
        };
        let (spent, made) = (budget.spent(), self.made());
        let value = (rule.0.compute)(self, budget);
        // A member that this one reads may have been computed meanwhile, and have been refused.
        let Some(value) = value.filter(|_| made == usize::MAX || !self.is_too_costly()) else {
            self.inner.made.store(usize::MAX, Relaxed);
            return (Value::Null, 0);
        };
        // Members that this one reads have counted their own bytes.
        let others = self.made().saturating_sub(made);
        let taken = budget.spent().saturating_sub(spent).saturating_sub(others);
        self.inner.made.store(self.made().saturating_add(taken), Relaxed);
        (value, taken)
    }

    /// The weight of the members that are not computed. A computed member is stored as null.
    pub(crate) fn weight(&self) -> usize {
        self.inner.values.iter().map(|value| weight(value, MAX_VALUE_DEPTH)).sum()
    }

    /// The member of this name, mutable; added as `null` if there is none. Members computed from it will be computed
    /// again.
    #[expect(clippy::indexing_slicing, reason = "the place was found or made just before")]
    #[doc(hidden)]
    pub fn entry(&mut self, name: &str) -> &mut Value {
        let place = self.inner.names.position(name);
        // Compute the value first: the change below may affect the members that it is computed from.
        let computed =
            place.filter(|place| self.inner.computed(*place).is_some()).and_then(|_| self.get(name).cloned());
        // If another record shares the values, their memory is still in use, so no bytes are returned.
        let is_alone = Arc::get_mut(&mut self.inner).is_some();
        let inner = Arc::make_mut(&mut self.inner);
        inner.checked = false;
        let place = place.unwrap_or_else(|| {
            Arc::make_mut(&mut inner.names).insert(name.into(), ());
            inner.values.push(Value::Null);
            inner.values.len() - 1
        });
        let forgotten = inner.forget(place);
        if let Some(budget) = self.budget.as_ref().filter(|_| is_alone) {
            budget.give_back(forgotten);
        }
        if let (Some(value), Some(number)) = (computed, inner.computed(place)) {
            Arc::make_mut(&mut inner.computed).remove(number);
            inner.results.remove(number);
            inner.values[place] = value;
        }
        &mut inner.values[place]
    }

    /// Sets the member of this name.
    pub fn put(&mut self, name: &str, value: impl Into<Value>) {
        *self.entry(name) = value.into();
    }

    /// Computes the member of this name by a rule from now on. The rule should only read the members
    /// [before](Record::before) it.
    pub(crate) fn compute(&mut self, name: &str, rule: ComputeRule) {
        self.put(name, Value::Null);
        let Some(place) = self.inner.names.position(name) else { return };
        let inner = Arc::make_mut(&mut self.inner);
        // A rule that reads a member that does not exist yet is run again after any change.
        let places = |reads: &Vec<String>| reads.iter().map(|read| inner.names.position(read)).collect();
        let reads = rule.0.reads.as_ref().and_then(places);
        let before = inner.computed.partition_point(|computed| computed.place < place);
        Arc::make_mut(&mut inner.computed).insert(before, Computed { place, reads, rule });
        inner.results.insert(before, OnceLock::new());
    }

    /// Whether the member of this name is computed by this very rule.
    pub(crate) fn is_computed(&self, name: &str, rule: &ComputeRule) -> bool {
        let place = self.inner.names.position(name);
        place.is_some_and(|place| self.inner.computed.iter().any(|one| one.place == place && one.rule.is(rule)))
    }

    /// The rules of computed members, in the order of the members.
    pub(crate) fn rules(&self) -> impl Iterator<Item = &ComputeRule> {
        self.inner.computed.iter().map(|computed| &computed.rule)
    }

    /// The record without the computed members from this name on.
    pub(crate) fn before(&self, name: &str) -> View<'_> {
        View { record: self, until: self.inner.names.position(name).present() }
    }

    /// The member of this name, mutable, if there is one.
    #[doc(hidden)]
    pub fn get_mut(&mut self, name: &str) -> Option<&mut Value> {
        self.inner.names.position(name).is_some().then(|| self.entry(name))
    }

    /// Removes and returns the member of this name; the others keep their order.
    #[doc(hidden)]
    pub fn remove(&mut self, name: &str) -> Option<Value> {
        let place = self.inner.names.position(name)?;
        self.entry(name);
        let inner = Arc::make_mut(&mut self.inner);
        for computed in Arc::make_mut(&mut inner.computed) {
            computed.place -= usize::from(computed.place > place);
            // A rule that reads the removed member is run again after any change.
            computed.reads = computed.reads.take().filter(|reads| !reads.contains(&place));
            let later = computed.reads.iter_mut().flatten().filter(|read| **read > place);
            later.for_each(|read| *read -= 1);
        }
        Arc::make_mut(&mut inner.names).remove(name);
        Some(inner.values.remove(place))
    }

    /// The members in order.
    #[doc(hidden)]
    pub fn iter(&self) -> impl ExactSizeIterator<Item = (&str, &Value)> {
        View::from(self).iter().map(|(name, value)| (&**name, value))
    }

    /// The record as a value.
    #[doc(hidden)]
    pub fn to_value(&self) -> Value {
        View::from(self).to_value()
    }
}

/// The record as a value.
impl From<&Record> for Value {
    fn from(record: &Record) -> Self {
        record.to_value()
    }
}

/// Prints `…` for members that have not been computed yet.
impl fmt::Debug for Record {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let mut map = f.debug_map();
        for (place, (name, value)) in self.inner.members().enumerate() {
            let known = match self.inner.computed(place).and_then(|number| self.inner.results.get(number)) {
                Some(result) => result.get().map(|(value, _)| value),
                None => Some(value),
            };
            match known {
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
        Arc::ptr_eq(&self.inner, &other.inner) || (self.iter().len() == other.iter().len() && self.iter().all(same))
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
            // Of members with the same name, the last value counts, at the position of the first.
            match names.position(&name).and_then(|place| values.get_mut(place)) {
                Some(stored) => *stored = value,
                None => {
                    names.insert(name, ());
                    values.push(value);
                }
            }
        }
        Self { inner: Arc::new(RecordData { names: Arc::new(names), values, ..RecordData::default() }), budget: None }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::value::value;

    fn record() -> Record {
        let mut record: Record =
            [("notes", value!([1])), ("count", value!(null)), ("twice", value!(null))].into_iter().collect();
        let count = |record: &Record, _: &ByteBudget| Some(record.get("notes")?.as_array().map(<[Value]>::len).into());
        let twice = |record: &Record, _: &ByteBudget| Some(record.get("count")?.as_u64().map(|count| 2 * count).into());
        record.compute("count", ComputeRule::new(Some(vec!["notes".into()]), true, count));
        record.compute("twice", ComputeRule::new(Some(vec!["count".into()]), true, twice));
        record
    }

    #[test]
    fn computed_members_follow_their_sources() {
        let before = record();
        let mut after = before.clone();
        *after.entry("notes") = value!([1, 2]);
        assert_eq!(before.to_value(), value!({ "notes": [1], "count": 1, "twice": 2 }));
        assert_eq!(after.to_value(), value!({ "notes": [1, 2], "count": 2, "twice": 4 }));
        // Setting a computed member replaces its rule by the value.
        *after.entry("count") = 7.into();
        *after.entry("notes") = value!([]);
        assert_eq!(after.to_value(), value!({ "notes": [], "count": 7, "twice": 14 }));
        assert_eq!(after.remove("twice"), Some(14.into()));
    }

    #[test]
    fn only_members_that_depend_on_a_change_are_recomputed() {
        let times = Arc::new(AtomicUsize::new(0));
        let (counted, mut record) = (Arc::clone(&times), record());
        let rule = move |record: &Record, _: &ByteBudget| {
            counted.fetch_add(1, Relaxed);
            record.get("twice").cloned()
        };
        record.compute("again", ComputeRule::new(Some(vec!["twice".into()]), true, rule));
        assert_eq!(record.get("again"), Some(&2.into()));
        record.put("other", 1);
        assert_eq!((record.get("again"), times.load(Relaxed)), (Some(&2.into()), 1));
        record.put("notes", value!([1, 2]));
        assert_eq!((record.get("again"), times.load(Relaxed)), (Some(&4.into()), 2));
    }

    #[test]
    fn the_budget_of_an_occasion_ends_with_it() {
        let mut record = record();
        record.compute(
            "spent",
            ComputeRule::new(Some(vec!["notes".into()]), false, |_, budget| Some(budget.spent().into())),
        );
        let budget = Arc::new(ByteBudget::new(100, Record::default(), Value::Null));
        record.spend(&budget);
        assert_eq!(budget.take(64), Ok(()));
        assert_eq!(record.get("spent"), Some(&64.into()));
        record.end_occasion();
        assert!(record.has_all_values());
        record.put("notes", value!([1, 2]));
        let spent = record.get("spent").and_then(Value::as_u64);
        assert!(spent.is_some_and(|spent| spent < 64), "{spent:?}");
    }

    #[test]
    fn a_computed_member_sees_the_members_before_it() {
        assert_eq!(record().before("twice").to_value(), value!({ "notes": [1], "count": 1, "twice": null }));
        assert_eq!(record().before("count").to_value(), value!({ "notes": [1], "count": null, "twice": null }));
    }
}
