//! Reads: what does an expression look at, and where does it say so?
//!
//! In: the reads of what was lowered, and the text that holds them.
//! Out: [`Reads`]: each path once, with the place where it stands first.
//! Never: knows which paths there are.

use super::lower::{Lowered, Step};
use super::place;
use crate::text::{Location, Spanned};

/// What is read, each as a path as far as it is known without running anything, in the order of the text.
#[derive(Debug, Clone, Default)]
pub(crate) struct Reads {
    paths: Vec<Vec<String>>,
    places: Vec<Location>,
}

impl Reads {
    pub(super) fn of(lowered: &Lowered, typed: &Spanned<String>) -> Self {
        let mut reads = Reads::default();
        let mut in_order: Vec<_> = lowered.reads.iter().collect();
        in_order.sort_by_key(|read| read.at.start);
        for read in in_order {
            let keys = read.steps.iter().map_while(|step| match step {
                Step::Key(key) => Some(key.clone()),
                Step::Place(place) if *place >= 0 => Some(place.to_string()),
                _ => None,
            });
            let at = match read.file {
                Some(source) => Location { source, span: read.at },
                None => place(typed, read.at),
            };
            reads.add(std::iter::once(read.name.clone()).chain(keys).collect(), at);
        }
        reads
    }

    /// Adds what another reads.
    pub(super) fn join(&mut self, other: &Reads) {
        other.iter().for_each(|(path, at)| self.add(path.to_vec(), at));
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

    /// Each path with its place.
    pub(crate) fn iter(&self) -> impl Iterator<Item = (&[String], Location)> {
        self.paths.iter().map(Vec::as_slice).zip(self.places.iter().copied())
    }
}
