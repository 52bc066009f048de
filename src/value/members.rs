//! Members: which value has this name?
//!
//! In: names with values.
//! Out: [`Members`], in the order in which they were added.
//! Never: hashes names if there are so few that a linear search is faster.

use crate::text::same;
use foldhash::fast::RandomState;
use hashbrown::HashTable;
use std::hash::BuildHasher;
use std::sync::Arc;

/// Up to this many members are searched linearly.
const FEW_MEMBERS: usize = 8;

/// Values by name, in order. Nearly every object has few members and is just a list, which is faster to make, copy and
/// search than a hash table, and half as large.
#[derive(Debug)]
pub(crate) struct Members<V> {
    list: Vec<NamedMember<V>>,
    /// The index of the names, once there are more than [`FEW_MEMBERS`]. Clones share it until one of them gains or
    /// loses a member.
    places: Option<Arc<HashIndex>>,
}

/// A name and its value.
pub(crate) type NamedMember<V> = (Arc<str>, V);

/// The positions of members in a list, by the hashes of their names.
#[derive(Debug, Clone, Default)]
struct HashIndex {
    hashes: RandomState,
    places: HashTable<u32>,
}

impl HashIndex {
    fn find<V>(&self, list: &[NamedMember<V>], name: &str) -> Option<usize> {
        self.places.find(self.hashes.hash_one(name), |place| is_called(list, *place, name)).map(|place| *place as usize)
    }

    /// Adds the last member of `list`.
    fn add<V>(&mut self, list: &[NamedMember<V>]) {
        let Some((name, _)) = list.last() else { return };
        let hash = |place: &u32| list.get(*place as usize).map_or(0, |(name, _)| self.hashes.hash_one(&**name));
        self.places.insert_unique(self.hashes.hash_one(&**name), list.len() as u32 - 1, hash);
    }

    /// Removes a member; the positions after it move up.
    fn remove<V>(&mut self, list: &[NamedMember<V>], place: usize, name: &str) {
        if let Ok(found) = self.places.find_entry(self.hashes.hash_one(name), |place| is_called(list, *place, name)) {
            found.remove();
        }
        for later in self.places.iter_mut().filter(|later| **later as usize > place) {
            *later -= 1;
        }
    }
}

fn is_called<V>(list: &[NamedMember<V>], place: u32, name: &str) -> bool {
    list.get(place as usize).is_some_and(|(one, _)| same(one, name))
}

impl<V: Clone> Clone for Members<V> {
    /// Leaves room for one more member, because a copy is usually made to add one.
    fn clone(&self) -> Self {
        let mut list = Vec::with_capacity(self.list.len() + 1);
        list.extend_from_slice(&self.list);
        Self { list, places: self.places.clone() }
    }
}

impl<V> Default for Members<V> {
    fn default() -> Self {
        Self { list: Vec::new(), places: None }
    }
}

impl<V> Members<V> {
    pub(crate) fn with_capacity(members: usize) -> Self {
        Self { list: Vec::with_capacity(members), places: None }
    }

    pub(crate) fn as_slice(&self) -> &[NamedMember<V>] {
        &self.list
    }

    pub(crate) fn iter_mut(&mut self) -> impl Iterator<Item = (&str, &mut V)> {
        self.list.iter_mut().map(|(name, value)| (&**name, value))
    }

    /// The index of the member with this name, if there is one.
    pub(crate) fn position(&self, name: &str) -> Option<usize> {
        match &self.places {
            Some(places) => places.find(&self.list, name),
            None => self.list.iter().position(|(one, _)| same(one, name)),
        }
    }

    pub(crate) fn get(&self, name: &str) -> Option<&V> {
        self.list.get(self.position(name)?).map(|(_, value)| value)
    }

    pub(crate) fn get_mut(&mut self, name: &str) -> Option<&mut V> {
        let place = self.position(name)?;
        self.list.get_mut(place).map(|(_, value)| value)
    }

    /// The member of this name; added at the end if there is none.
    pub(crate) fn entry(&mut self, name: &str) -> &mut V
    where
        V: Default,
    {
        self.entry_at(self.position(name), name)
    }

    /// Like `entry`, for an index that is known; `None` means that no member has the name.
    #[expect(clippy::indexing_slicing, reason = "the place was found or made just before")]
    fn entry_at(&mut self, position: Option<usize>, name: &str) -> &mut V
    where
        V: Default,
    {
        let place = position.unwrap_or(self.list.len());
        if position.is_none() {
            self.push(name.into(), V::default());
        }
        &mut self.list[place].1
    }

    /// Sets a member, adding it at the end if it is new; returns the old value.
    pub(crate) fn insert(&mut self, name: Arc<str>, value: V) -> Option<V> {
        match self.get_mut(&name) {
            Some(place) => Some(std::mem::replace(place, value)),
            None => {
                self.push(name, value);
                None
            }
        }
    }

    /// Removes and returns the member of this name; the others keep their order.
    pub(crate) fn remove(&mut self, name: &str) -> Option<V> {
        let place = self.position(name)?;
        if let Some(places) = &mut self.places {
            Arc::make_mut(places).remove(&self.list, place, name);
        }
        Some(self.list.remove(place).1)
    }

    /// Retains only the members for which `keep` returns true.
    pub(crate) fn retain(&mut self, mut keep: impl FnMut(&str, &mut V) -> bool) {
        self.list.retain_mut(|(name, value)| keep(name, value));
        // Release memory: a large object may lose most of its members, and live for long.
        self.list.shrink_to(self.list.len().max(FEW_MEMBERS));
        self.places = self.find_all();
    }

    /// Adds a member whose name is new.
    pub(crate) fn push(&mut self, name: Arc<str>, value: V) {
        self.list.push((name, value));
        match &mut self.places {
            Some(places) => Arc::make_mut(places).add(&self.list),
            None => self.places = self.find_all(),
        }
    }

    /// The index of all members, if there are more than [`FEW_MEMBERS`].
    fn find_all(&self) -> Option<Arc<HashIndex>> {
        let mut places = (self.list.len() > FEW_MEMBERS).then(HashIndex::default)?;
        (1..=self.list.len()).filter_map(|end| self.list.get(..end)).for_each(|list| places.add(list));
        Some(Arc::new(places))
    }
}

impl<V> Extend<NamedMember<V>> for Members<V> {
    /// If a name occurs twice, the last value counts, at the position of the first.
    fn extend<I: IntoIterator<Item = NamedMember<V>>>(&mut self, members: I) {
        for (name, value) in members {
            self.insert(name, value);
        }
    }
}

impl<V> FromIterator<NamedMember<V>> for Members<V> {
    fn from_iter<I: IntoIterator<Item = NamedMember<V>>>(members: I) -> Self {
        let members = members.into_iter();
        let mut all = Self::with_capacity(members.size_hint().0);
        all.extend(members);
        all
    }
}

impl<V: PartialEq> PartialEq for Members<V> {
    /// Two sets of members are equal whatever their order.
    fn eq(&self, other: &Self) -> bool {
        self.list.len() == other.list.len() && self.list.iter().all(|(name, value)| other.get(name) == Some(value))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use indexmap::IndexMap;
    use proptest::prelude::*;

    #[derive(Debug, Clone)]
    enum Step {
        Insert(u8, u8),
        Entry(u8),
        Remove(u8),
        Retain(u8),
    }

    fn steps() -> impl Strategy<Value = Vec<Step>> {
        let name = 0..16_u8;
        let step = prop_oneof![
            4 => (name.clone(), any::<u8>()).prop_map(|(name, value)| Step::Insert(name, value)),
            4 => name.clone().prop_map(Step::Entry),
            2 => name.prop_map(Step::Remove),
            1 => (2..5_u8).prop_map(Step::Retain),
        ];
        prop::collection::vec(step, 0..60)
    }

    proptest! {
        #[test]
        fn members_behave_like_an_index_map(steps in steps()) {
            let mut members = Members::default();
            let mut peer: IndexMap<String, u8> = IndexMap::new();
            for step in steps {
                match step {
                    Step::Insert(name, value) => {
                        let name = name.to_string();
                        prop_assert_eq!(members.insert(name.as_str().into(), value), peer.insert(name, value));
                    }
                    Step::Entry(name) => {
                        let name = name.to_string();
                        *members.entry(&name) ^= 1;
                        *peer.entry(name).or_default() ^= 1;
                    }
                    Step::Remove(name) => {
                        let name = name.to_string();
                        prop_assert_eq!(members.remove(&name), peer.shift_remove(&name));
                    }
                    Step::Retain(part) => {
                        members.retain(|_, value| *value % part != 0);
                        peer.retain(|_, value| *value % part != 0);
                    }
                }
                let list: Vec<(&str, u8)> = members.as_slice().iter().map(|(name, value)| (&**name, *value)).collect();
                prop_assert_eq!(list, peer.iter().map(|(name, value)| (name.as_str(), *value)).collect::<Vec<_>>());
                for name in (0..16).map(|name: u8| name.to_string()) {
                    prop_assert_eq!(members.position(&name), peer.get_index_of(&name));
                    prop_assert_eq!(members.get(&name), peer.get(&name));
                }
                let turned: Members<u8> = members.as_slice().iter().rev().cloned().collect();
                prop_assert_eq!(&turned, &members);
            }
        }
    }
}
