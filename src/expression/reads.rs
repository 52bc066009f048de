//! Reads: which paths does an expression read, and where?
//!
//! In: the reads of a compiled text, and the text.
//! Out: [`Reads`]: each path once, with the place of its first occurrence.
//! Never: knows which paths exist.

use super::SyntaxFault;
use super::resolve::ReadStep;
use super::tree::{ExprBody, Relation};
use crate::text::{Location, SourceId, Span, Spanned};

/// What the parser notes for the checks of a pack.
#[derive(Debug, Default)]
pub(super) struct Notes {
    /// Paths below values that statements and filters take from the scope, such as a member of a loop variable. No
    /// [`ScopeRead`](super::resolve::ScopeRead) has them.
    pub(super) inner: Vec<Noted>,
    /// Constants that are compared with the value at a path, each with the relation of the value to the constant.
    pub(super) compared: Vec<(Noted, Relation)>,
    /// The constants of the pack that are used as patterns.
    pub(super) patterns: Vec<Noted>,
    /// The path of the whole value, if it is read unchanged from the scope.
    pub(super) path: Option<Vec<String>>,
    /// The first unknown name, filter or test, or invalid pattern. Faults of syntax are reported before it.
    pub(super) fault: Option<SyntaxFault>,
}

/// A path, its place, and the constant that is compared with its value.
#[derive(Debug)]
pub(super) struct Noted {
    pub(super) at: Span,
    /// The included file where it is; `None` for the parsed text itself.
    pub(super) file: Option<SourceId>,
    pub(super) path: Vec<String>,
    pub(super) constant: Option<Constant>,
}

/// A text, number or boolean.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub(crate) enum Constant {
    Text(String),
    /// As an expression prints it.
    Number(String),
    Truth(bool),
}

/// A comparison of the value at a path with a constant.
#[derive(Debug, Clone)]
pub(crate) struct Compared {
    pub(crate) path: Vec<String>,
    /// The relation of the value to the constant.
    pub(crate) relation: Relation,
    pub(crate) constant: Spanned<Constant>,
}

/// The paths that are read, in the order of the text, each as far as it is known without evaluation.
#[derive(Debug, Clone, Default)]
pub(crate) struct Reads {
    paths: Vec<Vec<String>>,
    places: Vec<Location>,
    /// Paths below these that statements and filters read.
    inner: Vec<(Vec<String>, Location)>,
    /// The constants that are compared with the value at a path.
    compared: Vec<Compared>,
    /// The constants of the pack that are used as patterns.
    patterns: Vec<(Vec<String>, Location)>,
    /// The path of the whole value, if it is read unchanged from the scope.
    path: Option<Vec<String>>,
}

/// The segment for any entry of a list or table.
pub(crate) const ENTRY: &str = "[]";

/// A path as a pack would write it.
pub(crate) fn spelled(path: &[String]) -> String {
    path.join(".").replace(".[]", ENTRY)
}

impl Reads {
    pub(super) fn of(body: &ExprBody, notes: Notes, typed: &Spanned<String>) -> Self {
        let located = |at, file| match file {
            Some(source) => Location { source, span: at },
            None => typed.place_of(at),
        };
        let mut reads = Reads { path: notes.path, ..Reads::default() };
        let mut in_order = body.reads();
        in_order.sort_by_key(|read| read.at.start);
        for read in in_order {
            let keys = read.steps.iter().map_while(|step| match step {
                ReadStep::Key(key) => Some(key.clone()),
                ReadStep::Index(place) if *place >= 0 => Some(place.to_string()),
                _ => None,
            });
            reads.add(std::iter::once(read.name.clone()).chain(keys).collect(), located(read.at, read.file));
        }
        let compared = |(one, relation): (Noted, Relation)| {
            let constant = Spanned::new(one.constant?, located(one.at, one.file));
            Some(Compared { path: one.path, relation, constant })
        };
        reads.compared = notes.compared.into_iter().filter_map(compared).collect();
        let place = |noted: Noted| (noted.path, located(noted.at, noted.file));
        reads.inner = notes.inner.into_iter().map(place).collect();
        reads.patterns = notes.patterns.into_iter().map(place).collect();
        reads
    }

    /// Adds the reads of another text.
    pub(crate) fn join(&mut self, other: &Reads) {
        other.iter().for_each(|(path, at)| self.add(path.to_vec(), at));
        self.inner.extend(other.inner.iter().cloned());
        self.compared.extend(other.compared.iter().cloned());
        self.patterns.extend(other.patterns.iter().cloned());
    }

    fn add(&mut self, path: Vec<String>, at: Location) {
        if !self.paths.contains(&path) {
            self.paths.push(path);
            self.places.push(at);
        }
    }

    pub(super) fn paths(&self) -> &[Vec<String>] {
        &self.paths
    }

    /// The paths that statements and filters read below values of the scope, with [`ENTRY`] for each entry of a list or
    /// table that they iterate over.
    pub(crate) fn inner(&self) -> impl Iterator<Item = (&[String], Location)> {
        self.inner.iter().map(|(path, at)| (path.as_slice(), *at))
    }

    /// The constants that are compared with the value at a path, each with its path; [`ENTRY`] as in
    /// [`inner`](Self::inner).
    pub(crate) fn compared(&self) -> &[Compared] {
        &self.compared
    }

    /// The constants of the pack that are used as patterns, by their paths.
    pub(crate) fn patterns(&self) -> impl Iterator<Item = (&[String], Location)> {
        self.patterns.iter().map(|(path, at)| (path.as_slice(), *at))
    }

    /// The path of the whole value, if it is read unchanged from the scope.
    pub(crate) fn path(&self) -> Option<&[String]> {
        self.path.as_deref()
    }

    /// The first place where this name, or a part of its value, is read.
    pub(crate) fn first_of(&self, name: &str) -> Option<Location> {
        self.iter().find(|(path, _)| path.first().is_some_and(|head| head == name)).map(|(_, at)| at)
    }

    /// Each path with its place.
    pub(crate) fn iter(&self) -> impl Iterator<Item = (&[String], Location)> {
        self.paths.iter().map(Vec::as_slice).zip(self.places.iter().copied())
    }
}
