//! Object: which member has this name?
//!
//! In: names with values.
//! Out: [`Object`], which preserves their order.
//! Never: copies its members unless they are shared and one of them changes.

use super::Value;
use super::members::{Members, NamedMember};
use std::sync::{Arc, LazyLock};

/// Values by name, in order. Clones share the members until one of them changes.
#[derive(Clone)]
pub struct Object(Arc<Members<Value>>);

/// The empty object, made once because it is needed often.
static EMPTY: LazyLock<Object> = LazyLock::new(|| Object(Arc::default()));

impl Default for Object {
    fn default() -> Self {
        EMPTY.clone()
    }
}

impl Object {
    /// An empty object.
    #[doc(hidden)]
    pub fn new() -> Self {
        Self::default()
    }

    /// An empty object with room for this many members.
    #[doc(hidden)]
    pub fn with_capacity(members: usize) -> Self {
        Self(Arc::new(Members::with_capacity(members)))
    }

    /// The number of members.
    #[doc(hidden)]
    pub fn len(&self) -> usize {
        self.0.as_slice().len()
    }

    /// Whether the object has no members.
    #[doc(hidden)]
    pub fn is_empty(&self) -> bool {
        self.0.as_slice().is_empty()
    }

    /// The member of this name, if there is one.
    pub fn get(&self, name: &str) -> Option<&Value> {
        self.0.get(name)
    }

    /// The member of this name, mutable, if there is one.
    #[doc(hidden)]
    pub fn get_mut(&mut self, name: &str) -> Option<&mut Value> {
        if !self.contains_key(name) {
            return None;
        }
        Arc::make_mut(&mut self.0).get_mut(name)
    }

    /// The index of the member with this name, if there is one.
    pub(crate) fn position(&self, name: &str) -> Option<usize> {
        self.0.position(name)
    }

    /// Whether there is a member of this name.
    #[doc(hidden)]
    pub fn contains_key(&self, name: &str) -> bool {
        self.0.position(name).is_some()
    }

    /// The member of this name, mutable; added as null if there is none.
    #[doc(hidden)]
    pub fn entry(&mut self, name: &str) -> &mut Value {
        Arc::make_mut(&mut self.0).entry(name)
    }

    /// Sets a member, adding it at the end if it is new; returns the old value.
    #[doc(hidden)]
    pub fn insert(&mut self, name: impl Into<Arc<str>>, value: Value) -> Option<Value> {
        Arc::make_mut(&mut self.0).insert(name.into(), value)
    }

    /// Removes and returns the member of this name; the others keep their order.
    #[doc(hidden)]
    pub fn remove(&mut self, name: &str) -> Option<Value> {
        if !self.contains_key(name) {
            return None;
        }
        Arc::make_mut(&mut self.0).remove(name)
    }

    /// Retains only the members for which `keep` returns true.
    #[doc(hidden)]
    pub fn retain(&mut self, keep: impl FnMut(&str, &mut Value) -> bool) {
        Arc::make_mut(&mut self.0).retain(keep);
    }

    /// The members in their order.
    #[doc(hidden)]
    pub fn iter(&self) -> Iter<'_> {
        Iter(self.0.as_slice().iter())
    }

    /// The members as they are stored.
    pub(crate) fn members(&self) -> &[NamedMember<Value>] {
        self.0.as_slice()
    }

    /// The members in their order, mutable.
    #[doc(hidden)]
    pub fn iter_mut(&mut self) -> impl Iterator<Item = (&str, &mut Value)> {
        Arc::make_mut(&mut self.0).iter_mut()
    }

    /// The names in their order.
    #[doc(hidden)]
    pub fn keys(&self) -> impl ExactSizeIterator<Item = &str> {
        self.iter().map(|(name, _)| name)
    }

    /// The values in their order.
    #[doc(hidden)]
    pub fn values(&self) -> impl ExactSizeIterator<Item = &Value> {
        self.iter().map(|(_, value)| value)
    }
}

/// The members of an [`Object`].
#[derive(Debug, Clone)]
pub struct Iter<'o>(std::slice::Iter<'o, NamedMember<Value>>);

impl<'o> Iterator for Iter<'o> {
    type Item = (&'o str, &'o Value);

    fn next(&mut self) -> Option<Self::Item> {
        self.0.next().map(|(name, value)| (&**name, value))
    }

    fn size_hint(&self) -> (usize, Option<usize>) {
        self.0.size_hint()
    }
}

impl ExactSizeIterator for Iter<'_> {}

impl<'o> IntoIterator for &'o Object {
    type Item = (&'o str, &'o Value);
    type IntoIter = Iter<'o>;

    fn into_iter(self) -> Iter<'o> {
        self.iter()
    }
}

impl PartialEq for Object {
    /// Two objects are equal whatever the order of their members.
    fn eq(&self, other: &Self) -> bool {
        Arc::ptr_eq(&self.0, &other.0) || self.0 == other.0
    }
}

/// An object of members that are not shared. Adding them one by one to an object would check for sharing each time.
impl From<Members<Value>> for Object {
    fn from(members: Members<Value>) -> Self {
        Self(Arc::new(members))
    }
}

impl<N: Into<Arc<str>>> FromIterator<(N, Value)> for Object {
    fn from_iter<I: IntoIterator<Item = (N, Value)>>(members: I) -> Self {
        Self(Arc::new(members.into_iter().map(|(name, value)| (name.into(), value)).collect()))
    }
}

impl<N: Into<Arc<str>>> Extend<(N, Value)> for Object {
    fn extend<I: IntoIterator<Item = (N, Value)>>(&mut self, members: I) {
        Arc::make_mut(&mut self.0).extend(members.into_iter().map(|(name, value)| (name.into(), value)));
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::value::value;

    #[test]
    fn a_change_does_not_affect_other_owners() {
        let before = value!({ "a": { "b": [1] }, "c": 2, "d": 3 });
        let mut after = before.clone();
        let members = after.as_object_mut().unwrap();
        members.get_mut("a").and_then(|a| a.as_object_mut()?.entry("b").as_array_mut()).unwrap().push(2.into());
        assert_eq!(members.remove("c"), Some(2.into()));
        assert_eq!((members.insert("c", 4.into()), members.remove("e")), (None, None));
        assert_eq!(before.to_string(), r#"{"a":{"b":[1]},"c":2,"d":3}"#);
        assert_eq!(after.to_string(), r#"{"a":{"b":[1,2]},"d":3,"c":4}"#);
    }

    #[test]
    fn unchanged_parts_stay_shared() {
        let before = value!({ "a": [1], "b": [2] });
        let mut after = before.clone();
        after.as_object_mut().unwrap().entry("a").as_array_mut().unwrap().push(Value::Null);
        let list = |value: &Value, name: &str| match value.get(name) {
            Some(Value::Array(items)) => items.clone(),
            _ => Arc::default(),
        };
        assert!(Arc::ptr_eq(&list(&before, "b"), &list(&after, "b")));
        assert!(!Arc::ptr_eq(&list(&before, "a"), &list(&after, "a")));
    }
}
