//! Records: which values does a name stand for that are shared until one of them changes?
//!
//! In: named values.
//! Out: [`Record`], an object that is cheap to clone: a change copies the one member that it is about.
//! Never: shares a part of a member.

use indexmap::IndexMap;
use indexmap::map::raw_entry_v1::RawEntryApiV1;
use serde::Serialize;
use serde_json::{Map, Value as Json};
use std::sync::Arc;

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
#[derive(Debug, Clone, Default, PartialEq, Serialize)]
#[serde(transparent)]
pub struct Record(Arc<IndexMap<Arc<str>, Arc<Json>>>);

impl Record {
    /// The member of this name.
    pub fn get(&self, name: &str) -> Option<&Json> {
        self.0.get(name).map(Arc::as_ref)
    }

    /// The member of this name, to be changed; `null` if there was none.
    pub fn entry(&mut self, name: &str) -> &mut Json {
        Arc::make_mut(self.slot(name))
    }

    /// Puts a shared value in the place of the member of this name.
    pub fn put(&mut self, name: &str, value: Arc<Json>) {
        *self.slot(name) = value;
    }

    /// The member of this name, to be changed, if there is one.
    pub fn get_mut(&mut self, name: &str) -> Option<&mut Json> {
        Arc::make_mut(&mut self.0).get_mut(name).map(Arc::make_mut)
    }

    /// Takes the member of this name out; the others keep their order.
    pub fn remove(&mut self, name: &str) -> Option<Json> {
        Arc::make_mut(&mut self.0).shift_remove(name).map(Arc::unwrap_or_clone)
    }

    /// The members in their order.
    pub fn iter(&self) -> impl ExactSizeIterator<Item = (&str, &Json)> {
        self.0.iter().map(|(name, value)| (&**name, &**value))
    }

    fn slot(&mut self, name: &str) -> &mut Arc<Json> {
        let members = Arc::make_mut(&mut self.0).raw_entry_mut_v1();
        members.from_key(name).or_insert_with(|| (name.into(), Arc::default())).1
    }

    /// The same object as plain JSON.
    pub fn to_json(&self) -> Json {
        Json::Object(self.iter().map(|(name, value)| (name.to_owned(), value.clone())).collect::<Map<_, _>>())
    }
}

impl<N: Into<Arc<str>>> FromIterator<(N, Json)> for Record {
    fn from_iter<I: IntoIterator<Item = (N, Json)>>(members: I) -> Self {
        Self(Arc::new(members.into_iter().map(|(name, value)| (name.into(), Arc::new(value))).collect()))
    }
}
