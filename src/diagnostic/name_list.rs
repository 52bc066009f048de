//! Name list: which of many names was probably meant, without comparing each of them?
//!
//! In: names that exist, and a name as typed.
//! Out: [`NameList`], which finds the same nearest name as a comparison with all of them would.
//! Never: decides how similar two names are: [`names`](super::names) does.
//!
//! The similarity of two names is limited by the letters that both contain. Letters are bits of a number, so most names
//! are ruled out by counting bits. Once a similar name is found, all names that cannot be more similar are ruled out,
//! too.

use super::names::{ENOUGH, MARGIN, MAX_COMMON_START, likeness, most_alike};
use crate::text::Present;
use std::cmp::Reverse;
use std::collections::HashSet;
use std::sync::{Arc, OnceLock};

/// Names that exist, each once, in order. They are indexed when a name is first compared with them.
#[derive(Debug)]
pub(crate) struct NameList {
    names: Vec<Arc<str>>,
    by_length: OnceLock<Vec<OfLength>>,
}

/// The names of one length.
#[derive(Debug)]
struct OfLength {
    /// Their length in characters, in lower case.
    length: usize,
    /// The letters of each name as bits, and the index of the name; sorted.
    names: Vec<(u64, u32)>,
}

impl FromIterator<Arc<str>> for NameList {
    fn from_iter<I: IntoIterator<Item = Arc<str>>>(names: I) -> Self {
        let mut seen = HashSet::new();
        let names = names.into_iter().filter(|name| seen.insert(Arc::clone(name))).collect();
        Self { names, by_length: OnceLock::new() }
    }
}

impl PartialEq for NameList {
    fn eq(&self, other: &Self) -> bool {
        self.names == other.names
    }
}

impl Eq for NameList {}

impl NameList {
    pub(crate) fn is_empty(&self) -> bool {
        self.names.is_empty()
    }

    /// The names, in order.
    pub(super) fn iter(&self) -> impl Iterator<Item = &str> + Clone {
        self.names.iter().map(|name| &**name)
    }

    /// The name nearest to `typed`, if it is similar enough.
    pub(super) fn nearest(&self, typed: &str) -> Option<&str> {
        let typed = typed.to_lowercase();
        let (letters, length) = (letters_of(&typed), typed.chars().count());
        let mut lists: Vec<&OfLength> = self.by_length().iter().filter(|list| list.length > 0).collect();
        // Names of nearly the same length can be most similar: found first, they rule out most others.
        lists.sort_by_key(|list| list.length.abs_diff(length));
        let mut best: Option<(f64, Reverse<&str>)> = None;
        for list in lists {
            let enough = |shared: usize, best: &Option<(f64, Reverse<&str>)>| {
                let most = most_alike(shared, length, list.length, MAX_COMMON_START);
                most + MARGIN > ENOUGH && best.as_ref().is_none_or(|(best, _)| most + MARGIN >= *best)
            };
            // The fewest letters that a name of this length has to share.
            let most = length.min(list.length);
            let mut least = (0..=most).find(|shared| enough(*shared, &best)).unwrap_or(usize::MAX);
            if least > most {
                continue;
            }
            let shared = |other: u64| {
                let only_here = (letters & !other).count_ones() as usize;
                let only_there = (other & !letters).count_ones() as usize;
                length.saturating_sub(only_here).min(list.length.saturating_sub(only_there))
            };
            // Names with exactly the same letters come first, since they may rule out the others of their length.
            let start = list.names.partition_point(|(other, _)| *other < letters);
            let same = list.names.iter().skip(start).take_while(|(other, _)| *other == letters).count();
            let (before, rest) = list.names.split_at_checked(start).present();
            let (alike, after) = rest.split_at_checked(same).present();
            for (part, is_alike) in [(alike, true), (before, false), (after, false)] {
                if !is_alike && least == length && length == list.length {
                    break;
                }
                for (other, index) in part {
                    if shared(*other) < least {
                        continue;
                    }
                    let Some(name) = self.names.get(*index as usize) else { continue };
                    let Some(found) = likeness(&typed, name).map(|score| (score, Reverse(&**name))) else { continue };
                    let is_better = |known: &(f64, Reverse<&str>)| {
                        found.0.total_cmp(&known.0).then_with(|| found.1.cmp(&known.1)).is_gt()
                    };
                    if best.as_ref().is_none_or(is_better) {
                        best = Some(found);
                        least = (least..=most).find(|shared| enough(*shared, &best)).unwrap_or(usize::MAX);
                    }
                }
            }
        }
        best.map(|(_, Reverse(name))| name)
    }

    fn by_length(&self) -> &[OfLength] {
        self.by_length.get_or_init(|| {
            let mut lists: Vec<OfLength> = Vec::new();
            for (index, name) in self.names.iter().enumerate() {
                let lower = name.to_lowercase();
                let length = lower.chars().count();
                let number = lists.iter().position(|list| list.length == length).unwrap_or(lists.len());
                if number == lists.len() {
                    lists.push(OfLength { length, names: Vec::new() });
                }
                let entry = (letters_of(&lower), u32::try_from(index).unwrap_or(u32::MAX));
                lists.get_mut(number).into_iter().for_each(|list| list.names.push(entry));
            }
            lists.iter_mut().for_each(|list| list.names.sort_unstable());
            lists
        })
    }
}

/// The letters of a name as bits; several letters share a bit.
pub(super) fn letters_of(name: &str) -> u64 {
    name.chars().fold(0, |letters, letter| letters | bit(letter))
}

/// The bit of a letter; several letters share one.
pub(super) fn bit(letter: char) -> u64 {
    1 << (letter as u32 % 64)
}
