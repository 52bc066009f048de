//! Permits: which entries of a mode match this action, or this content?
//!
//! In: the permits and denials of a mode, with their names and patterns.
//! Out: [`Permit`], and [`PermitList`], which finds the entries for a name.
//! Never: evaluates a condition: the judge does.

use crate::expression::{Expression, Template};
use crate::surface::{is_about, is_pattern};
use crate::text::{Location, glob};
use crate::value::Table;
use smallvec::SmallVec;

/// One entry of the permits or denials of a mode.
#[derive(Debug)]
pub(crate) struct Permit {
    pub(crate) when: Option<Expression>,
    /// A description of the condition.
    pub(crate) about: Option<String>,
    /// What is missing if the condition of a permit is not true, or why a denial denies.
    pub(crate) advice: Option<Template>,
    /// The question that a person has to answer with yes.
    pub(crate) confirm: Option<Template>,
    pub(crate) at: Location,
}

impl Permit {
    /// Whether it permits or denies every call, without a condition or a confirmation.
    pub(crate) fn is_free(&self) -> bool {
        self.when.is_none() && self.confirm.is_none()
    }
}

/// The entries that match one name.
pub(crate) type MatchingEntries<'p> = SmallVec<[&'p Permit; 2]>;

/// The entries of one list in the order of declaration. Patterns are not expanded into names. So the size of a pack
/// does not grow with the product of its actions and modes, and tools that come at run time are found in the same way.
#[derive(Debug, Default)]
pub(crate) struct PermitList {
    entries: Vec<Permit>,
    /// For each name, the indexes of the entries with that name, in ascending order.
    exact: Table<String, Vec<usize>>,
    /// The patterns, each with the index of its entry, in ascending order.
    patterns: Vec<(String, usize)>,
}

impl PermitList {
    /// Adds an entry for these names and patterns.
    pub(crate) fn push<'n>(&mut self, named: impl IntoIterator<Item = &'n str>, permit: Permit) {
        let index = self.entries.len();
        self.entries.push(permit);
        for name in named {
            match is_pattern(name) {
                true => self.patterns.push((name.to_owned(), index)),
                false => self.exact.entry(name.to_owned()).or_default().push(index),
            }
        }
    }

    /// The entries for a name, in order.
    pub(crate) fn of<'p>(&'p self, name: &str) -> MatchingEntries<'p> {
        let exact = self.exact.get(name);
        // Fast path: most modes have no entry for most actions.
        if exact.is_none() && self.patterns.is_empty() {
            return MatchingEntries::new();
        }
        self.indexes(exact.into_iter().flatten().copied(), |pattern| glob(pattern, name))
    }

    /// The entries that may match a tool whose name matches `pattern`, in order.
    pub(crate) fn meeting<'p>(&'p self, pattern: &str) -> MatchingEntries<'p> {
        let exact = self.exact.iter().filter(|(name, _)| glob(pattern, name));
        self.indexes(exact.flat_map(|(_, indexes)| indexes.iter().copied()), |other| is_about(other, pattern))
    }

    fn indexes(&self, exact: impl Iterator<Item = usize>, is_match: impl Fn(&str) -> bool) -> MatchingEntries<'_> {
        let patterns = self.patterns.iter().filter(|(pattern, _)| is_match(pattern)).map(|(_, index)| *index);
        let mut indexes: SmallVec<[usize; 4]> = exact.chain(patterns).collect();
        indexes.sort_unstable();
        indexes.dedup();
        indexes.into_iter().filter_map(|index| self.entries.get(index)).collect()
    }

    /// The names in all entries; none if an entry has a pattern.
    pub(crate) fn exact_names(&self) -> Option<impl Iterator<Item = &str>> {
        self.patterns.is_empty().then(|| self.exact.keys().map(String::as_str))
    }

    /// Every entry with its first name or pattern.
    pub(crate) fn named(&self) -> Vec<(&str, &Permit)> {
        let exact = self.exact.iter().flat_map(|(name, all)| all.iter().map(move |index| (*index, name.as_str())));
        let patterns = self.patterns.iter().map(|(pattern, index)| (*index, pattern.as_str()));
        let mut named: Vec<(usize, &str)> = exact.chain(patterns).collect();
        named.sort_by_key(|(index, _)| *index);
        named.dedup_by_key(|(index, _)| *index);
        named.into_iter().filter_map(|(index, name)| Some((name, self.entries.get(index)?))).collect()
    }

    /// Every entry.
    pub(crate) fn iter(&self) -> impl Iterator<Item = &Permit> + Clone {
        self.entries.iter()
    }

    pub(crate) fn is_empty(&self) -> bool {
        self.entries.is_empty()
    }
}

/// The permits and denials of a mode, for actions or for contents. A denial beats every permit.
#[derive(Debug, Default)]
pub(crate) struct ModePermits {
    pub(crate) permits: PermitList,
    pub(crate) denies: PermitList,
}

impl ModePermits {
    /// Every permit and denial.
    pub(crate) fn iter(&self) -> impl Iterator<Item = &Permit> + Clone {
        self.permits.iter().chain(self.denies.iter())
    }

    /// The permits for a name; none if every call of that name is denied.
    pub(crate) fn possible<'p>(&'p self, name: &str) -> MatchingEntries<'p> {
        let denied = || self.denies.of(name).into_iter().any(|denial| denial.when.is_none());
        if !self.denies.is_empty() && denied() { MatchingEntries::new() } else { self.permits.of(name) }
    }
}
