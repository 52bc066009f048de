//! Records: which values does a name stand for that are shared until one of them changes?
//!
//! In: named values, and promises of values.
//! Out: [`Record`], an object that is cheap to clone: a change copies the one member that it is about.
//! Never: shares a part of a member, or makes a promised value before somebody reads it.

use indexmap::IndexMap;
use indexmap::map::raw_entry_v1::RawEntryApiV1;
use serde::ser::SerializeMap;
use serde::{Serialize, Serializer};
use serde_json::{Map, Value as Json};
use std::sync::{Arc, LazyLock};

/// An object whose members are shared with its clones until they change; in JSON it is like any other.
///
/// ```
/// use rulebook::expression::Record;
/// use serde_json::json;
///
/// let before: Record = [("turns", json!(3)), ("notes", json!([]))].into_iter().collect();
/// let mut after = before.clone();
/// *after.entry("turns") = json!(4);
/// assert_eq!((before.get("turns"), after.get("turns")), (Some(&json!(3)), Some(&json!(4))));
/// assert_eq!(serde_json::to_value(&after).unwrap(), json!({ "turns": 4, "notes": [] }));
/// ```
#[derive(Debug, Clone, Default)]
pub struct Record {
    members: Arc<IndexMap<Arc<str>, Member>>,
    /// Who vouches for it as it is.
    seal: Option<Seal>,
}

/// A value that is there, one that is made when it is read first, or `null`.
#[derive(Debug, Clone, Default)]
struct Member {
    made: Option<Arc<Json>>,
    promised: Option<Arc<LazyLock<Json, Promise>>>,
}

/// Makes a value.
type Promise = Box<dyn FnOnce() -> Json + Send>;

impl Member {
    fn of(value: Arc<Json>) -> Self {
        Self { made: Some(value), promised: None }
    }

    fn value(&self) -> &Json {
        let promised = || self.promised.as_deref().map(LazyLock::force);
        self.made.as_deref().or_else(promised).unwrap_or(&Json::Null)
    }

    /// The value, to be changed: from here on it is no promise.
    fn value_mut(&mut self) -> &mut Json {
        let promised = self.promised.take();
        let kept = || promised.map(|promised| LazyLock::force(&promised).clone());
        Arc::make_mut(self.made.get_or_insert_with(|| Arc::new(kept().unwrap_or_default())))
    }

    fn into_value(self) -> Json {
        let made = self.made.map(Arc::unwrap_or_clone);
        made.or_else(|| self.promised.as_deref().map(LazyLock::force).cloned()).unwrap_or_default()
    }
}

/// Somebody who vouches for records; each one is like no other.
#[derive(Debug, Clone, Default)]
pub(crate) struct Seal(Arc<()>);

impl Record {
    /// The member of this name.
    pub fn get(&self, name: &str) -> Option<&Json> {
        self.members.get(name).map(Member::value)
    }

    /// The member of this name, to be changed; `null` if there was none.
    pub fn entry(&mut self, name: &str) -> &mut Json {
        self.slot(name).value_mut()
    }

    /// Puts a shared value in the place of the member of this name.
    pub fn put(&mut self, name: &str, value: Arc<Json>) {
        *self.slot(name) = Member::of(value);
    }

    /// Puts a value in the place of the member of this name that is made when somebody reads it.
    pub(crate) fn promise(&mut self, name: &str, make: impl FnOnce() -> Json + Send + 'static) {
        let promised = Arc::new(LazyLock::new(Box::new(make) as Promise));
        *self.slot(name) = Member { made: None, promised: Some(promised) };
    }

    /// The member of this name, to be changed, if there is one.
    pub fn get_mut(&mut self, name: &str) -> Option<&mut Json> {
        self.seal = None;
        Arc::make_mut(&mut self.members).get_mut(name).map(Member::value_mut)
    }

    /// Takes the member of this name out; the others keep their order.
    pub fn remove(&mut self, name: &str) -> Option<Json> {
        self.seal = None;
        Arc::make_mut(&mut self.members).shift_remove(name).map(Member::into_value)
    }

    /// The members in their order.
    pub fn iter(&self) -> impl ExactSizeIterator<Item = (&str, &Json)> {
        self.members.iter().map(|(name, member)| (&**name, member.value()))
    }

    /// The members of these names alone.
    pub(crate) fn part<'n>(&self, names: impl Iterator<Item = &'n str>) -> Self {
        let members = names.filter_map(|name| self.members.get_key_value(name));
        let members = members.map(|(name, member)| (name.clone(), member.clone())).collect();
        Self { members: Arc::new(members), seal: None }
    }

    /// Vouches for the record as it is, until a member changes.
    pub(crate) fn seal(&mut self, seal: &Seal) {
        self.seal = Some(seal.clone());
    }

    /// Whether this one vouched for the record as it is.
    pub(crate) fn is_sealed(&self, seal: &Seal) -> bool {
        self.seal.as_ref().is_some_and(|known| Arc::ptr_eq(&known.0, &seal.0))
    }

    fn slot(&mut self, name: &str) -> &mut Member {
        self.seal = None;
        let members = Arc::make_mut(&mut self.members).raw_entry_mut_v1();
        members.from_key(name).or_insert_with(|| (name.into(), Member::default())).1
    }

    /// The same object as plain JSON.
    pub fn to_json(&self) -> Json {
        Json::Object(self.iter().map(|(name, value)| (name.to_owned(), value.clone())).collect::<Map<_, _>>())
    }
}

impl PartialEq for Record {
    fn eq(&self, other: &Self) -> bool {
        let same = |(name, value): (&str, &Json)| other.get(name) == Some(value);
        Arc::ptr_eq(&self.members, &other.members)
            || (self.members.len() == other.members.len() && self.iter().all(same))
    }
}

impl Serialize for Record {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let mut map = serializer.serialize_map(Some(self.members.len()))?;
        self.iter().try_for_each(|(name, value)| map.serialize_entry(name, value))?;
        map.end()
    }
}

impl<N: Into<Arc<str>>> FromIterator<(N, Json)> for Record {
    fn from_iter<I: IntoIterator<Item = (N, Json)>>(members: I) -> Self {
        let made = |(name, value): (N, Json)| (name.into(), Member::of(Arc::new(value)));
        Self { members: Arc::new(members.into_iter().map(made).collect()), seal: None }
    }
}
