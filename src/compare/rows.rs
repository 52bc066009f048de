//! Rows: which rows appeared, disappeared or differ, by their names?
//!
//! In: the rows of two versions, and the directions for one that appeared or disappeared.
//! Out: a [`DeclarationChange`] for each row that differs.
//! Never: knows what a row is about.

use super::{DeclarationChange, Direction};
use crate::text::{FilePlace, Slice, excerpt, glob};
use indexmap::IndexMap;
use std::cmp::Ordering;
use std::hash::Hash;

/// How many characters of a value are printed.
const MAX_VALUE_CHARACTERS: usize = 60;

/// Things to compare, by name: a description, and the place.
pub(super) type Rows<T> = Vec<(String, T, Option<FilePlace>)>;

pub(super) fn row(
    kind: &str,
    name: &str,
    direction: Direction,
    how: Vec<String>,
    rule: Option<FilePlace>,
) -> DeclarationChange {
    DeclarationChange { kind: kind.to_owned(), name: name.to_owned(), direction, how, rule, gone: false }
}

/// The change for something that no longer exists, with its old place.
pub(super) fn gone(kind: &str, name: &str, direction: Direction, rule: Option<FilePlace>) -> DeclarationChange {
    DeclarationChange { gone: true, ..row(kind, name, direction, vec!["it is gone".to_owned()], rule) }
}

/// `old → new`, each short enough for a line: long ones are printed from where they differ.
pub(super) fn arrow(old: &str, new: &str) -> String {
    let alike = old.chars().zip(new.chars()).take_while(|(one, other)| one == other).count();
    let skipped = if alike > MAX_VALUE_CHARACTERS / 2 { alike - MAX_VALUE_CHARACTERS / 4 } else { 0 };
    let short = |text: &str| match text.char_indices().nth(skipped) {
        Some((cut, _)) if skipped > 0 && text.chars().nth(MAX_VALUE_CHARACTERS).is_some() => {
            format!("…{}", excerpt(text.slice(cut..), MAX_VALUE_CHARACTERS))
        }
        _ => excerpt(text, MAX_VALUE_CHARACTERS).into_owned(),
    };
    format!("{} → {}", short(old), short(new))
}

/// Everything in both versions by name: first all of the old version, then what only the new version has.
pub(super) fn both<'v, K: Hash + Eq + ?Sized, V>(
    old: impl IntoIterator<Item = (&'v K, &'v V)>,
    new: impl IntoIterator<Item = (&'v K, &'v V)>,
) -> IndexMap<&'v K, (Option<&'v V>, Option<&'v V>)> {
    let mut all: IndexMap<_, _> = old.into_iter().map(|(name, old)| (name, (Some(old), None))).collect();
    new.into_iter().for_each(|(name, new)| all.entry(name).or_default().1 = Some(new));
    all
}

/// The path of a member of the value at `path`.
pub(super) fn member(path: &str, name: &str) -> String {
    if path.is_empty() { name.to_owned() } else { format!("{path}.{name}") }
}

/// Combines all changes of one row; none if there are no changes.
pub(super) fn together(all: Vec<(Direction, String)>) -> Option<(Direction, Vec<String>)> {
    let direction = all.iter().map(|(direction, _)| *direction).reduce(Direction::and)?;
    Some((direction, all.into_iter().map(|(_, how)| how).collect()))
}

/// The directions of a row that appeared, and of one that disappeared.
#[derive(Debug, Clone, Copy)]
pub(super) struct RowDirections {
    appeared: Direction,
    disappeared: Direction,
}

impl RowDirections {
    /// Those of rows that allow something.
    pub(super) const ALLOWING: Self = Self { appeared: Direction::Widened, disappeared: Direction::Narrowed };
    /// Those of rows that forbid or limit something.
    pub(super) const RESTRICTING: Self = Self { appeared: Direction::Narrowed, disappeared: Direction::Widened };
}

/// Compares the rows with the same name.
pub(super) fn pair<T>(
    kind: &str,
    old: &Rows<T>,
    new: &Rows<T>,
    directions: RowDirections,
    changes: &mut Vec<DeclarationChange>,
    direction: impl Fn(&T, &T) -> Option<(Direction, Vec<String>)>,
) {
    for (name, before, place) in old {
        match new.iter().find(|(known, ..)| known == name) {
            Some((_, now, place)) => {
                changes.extend(
                    direction(before, now).map(|(direction, how)| row(kind, name, direction, how, place.clone())),
                );
            }
            None => changes.push(gone(kind, name, directions.disappeared, place.clone())),
        }
    }
    for (name, _, place) in new.iter().filter(|(name, ..)| old.iter().all(|(known, ..)| known != name)) {
        changes.push(row(kind, name, directions.appeared, vec!["it is new".to_owned()], place.clone()));
    }
}

/// The change between the modes in which something applies; `more` and `fewer` are the directions for more and fewer
/// modes.
pub(super) fn modes_change(
    old: &[String],
    new: &[String],
    more: Direction,
    fewer: Direction,
) -> Option<(Direction, String)> {
    let (direction, which) = match reach(new, old) {
        Some(Ordering::Equal) => return None,
        Some(Ordering::Greater) => (more, "more"),
        Some(Ordering::Less) => (fewer, "fewer"),
        // Some modes are new and some are gone: count that as widened, to be safe.
        None => (Direction::Widened, "other"),
    };
    Some((direction, format!("it applies in {which} modes")))
}

/// Which of two lists of names matches more, with `*` and `?` in names; an empty list matches everything. None if each
/// matches something that the other does not.
pub(super) fn reach(one: &[String], other: &[String]) -> Option<Ordering> {
    // A `*` matches any text, and so everything that another pattern matches. A `?` would match the `*` of the other
    // pattern as if it were one byte.
    let takes = |outer: &String, name: &String| outer == name || (!outer.contains('?') && glob(outer, name));
    let within = |inner: &[String], outer: &[String]| {
        outer.is_empty()
            || outer.iter().any(|pattern| pattern == "*")
            || (!inner.is_empty() && inner.iter().all(|name| outer.iter().any(|pattern| takes(pattern, name))))
    };
    match (within(one, other), within(other, one)) {
        (true, true) => Some(Ordering::Equal),
        (true, false) => Some(Ordering::Less),
        (false, true) => Some(Ordering::Greater),
        (false, false) => None,
    }
}
