//! Reads: which paths does an expression read, and where?
//!
//! In: the reads of a compiled text, and the text.
//! Out: [`Reads`]: each path once, with its first place.
//! Never: knows which paths exist.

use super::SyntaxFault;
use super::resolve::ReadStep;
use super::tree::{ExprBody, Relation};
use crate::text::{Location, SourceId, Span, Spanned};

/// What is noted while an expression is parsed.
#[derive(Debug, Default)]
pub(super) struct Notes {
    /// Paths that statements and filters use inside values taken from elsewhere, resolved when they run.
    pub(super) looks: Vec<Noted>,
    /// Constants that are compared with the value at a path, each with the relation of the value to it.
    pub(super) compared: Vec<(Noted, Relation)>,
    /// The constants that hold patterns.
    pub(super) patterns: Vec<Noted>,
    /// The path of the value, if it is taken unchanged from elsewhere.
    pub(super) path: Option<Vec<String>>,
    /// The first name, filter, test or pattern that does not exist. What is no expression at all is reported before.
    pub(super) fault: Option<SyntaxFault>,
}

/// A path, its place, and the constant that is compared with its value.
#[derive(Debug)]
pub(super) struct Noted {
    pub(super) at: Span,
    /// Its file, if it is not the text itself.
    pub(super) file: Option<SourceId>,
    pub(super) path: Vec<String>,
    pub(super) constant: Option<Constant>,
}

/// A text, number or boolean.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub(crate) enum Constant {
    Text(String),
    /// As typed.
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
    /// Paths that statements and filters use inside these.
    looks: Vec<(Vec<String>, Location)>,
    /// The constants that are compared with the value at a path.
    compared: Vec<Compared>,
    /// The constants that hold patterns.
    patterns: Vec<(Vec<String>, Location)>,
    /// The path of the whole value, if it is taken unchanged from elsewhere.
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
                ReadStep::Place(place) if *place >= 0 => Some(place.to_string()),
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
        reads.looks = notes.looks.into_iter().map(place).collect();
        reads.patterns = notes.patterns.into_iter().map(place).collect();
        reads
    }

    /// Adds the reads of another text.
    pub(crate) fn join(&mut self, other: &Reads) {
        other.iter().for_each(|(path, at)| self.add(path.to_vec(), at));
        self.looks.extend(other.looks.iter().cloned());
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

    /// The paths that statements and filters use, with [`ENTRY`] for any entry of what they iterate over.
    pub(crate) fn looks(&self) -> impl Iterator<Item = (&[String], Location)> {
        self.looks.iter().map(|(path, at)| (path.as_slice(), *at))
    }

    /// The constants that are compared with the value at a path, each with its path; [`ENTRY`] as in
    /// [`looks`](Self::looks).
    pub(crate) fn compared(&self) -> &[Compared] {
        &self.compared
    }

    /// The constants that hold patterns, by their paths.
    pub(crate) fn patterns(&self) -> impl Iterator<Item = (&[String], Location)> {
        self.patterns.iter().map(|(path, at)| (path.as_slice(), *at))
    }

    /// The path of the value, if it is taken unchanged from elsewhere.
    pub(crate) fn path(&self) -> Option<&[String]> {
        self.path.as_deref()
    }

    /// The place where it first reads this name, or anything inside its value.
    pub(crate) fn first_of(&self, name: &str) -> Option<Location> {
        self.iter().find(|(path, _)| path.first().is_some_and(|head| head == name)).map(|(_, at)| at)
    }

    /// Each path with its place.
    pub(crate) fn iter(&self) -> impl Iterator<Item = (&[String], Location)> {
        self.paths.iter().map(Vec::as_slice).zip(self.places.iter().copied())
    }
}
