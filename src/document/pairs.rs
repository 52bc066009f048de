//! Pairs: which tags of a text were read, and which of them belong together?
//!
//! In: tags in their order, and how far strings and tags were followed.
//! Out: [`Pairs`], [`Tagged`] and [`Data`]: where a search for what quotes a mark goes on.
//! Never: reads a text.

use super::payload::{MOST_TAGS, Tag};
use super::strings::Strings;
use crate::text::Span;

/// The tags of a part of the response.
#[derive(Debug, Default)]
pub(super) struct Pairs {
    pub(super) part: Span,
    pub(super) list: Vec<Tag>,
}

impl Pairs {
    /// The first tag from `at` on.
    pub(super) fn position(&self, at: usize) -> usize {
        self.list.partition_point(|tag| tag.span().start < at)
    }

    /// Whether they are all that stand between `at` and `end`, or as many of them as are looked at.
    pub(super) fn cover(&self, at: usize, end: usize) -> bool {
        let last = self.list.get(MOST_TAGS - 1).map_or(end, |last| last.span().start);
        self.part.end == end && self.part.start <= at && at <= last
    }
}

/// What the payload of an open call quotes, read as far as marks were met; of other blocks, what the tags in them do.
#[derive(Debug, Clone)]
pub(super) struct Data {
    pub(super) strings: Strings,
    pub(super) tags: Tagged,
}

impl Data {
    pub(super) fn new(from: usize) -> Self {
        Self { strings: Strings::new(from), tags: Tagged::new(from) }
    }
}

/// The tags of a text, read as far as marks were met.
#[derive(Debug, Clone, Copy, Default)]
pub(super) struct Tagged {
    /// Up to where they are read.
    pub(super) at: usize,
    /// One that does not end yet is read again once the text is so long.
    pub(super) retry: usize,
}

impl Tagged {
    pub(super) fn new(from: usize) -> Self {
        Self { at: from, retry: 0 }
    }

    /// Leaves out what stands before this place.
    pub(super) fn pass(&mut self, at: usize) {
        self.at = self.at.max(at);
    }
}
