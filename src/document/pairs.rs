//! Pairs: which tags of a text have been read, and which of them pair up?
//!
//! In: tags in order, and how far strings and tags have been read.
//! Out: [`Pairs`], [`Tagged`] and [`Data`]: where the search for quoted marks continues.
//! Never: reads a text.

use super::payload::{MAX_TAGS, Tag};
use super::strings::Strings;
use crate::text::Span;

/// The tags of a part of the response.
#[derive(Debug, Default)]
pub(super) struct Pairs {
    pub(super) part: Span,
    pub(super) list: Vec<Tag>,
}

impl Pairs {
    /// The index of the first tag at or after `at`.
    pub(super) fn position(&self, at: usize) -> usize {
        self.list.partition_point(|tag| tag.span().start < at)
    }

    /// Whether these are all tags between `at` and `end`, or as many as are examined at most.
    pub(super) fn cover(&self, at: usize, end: usize) -> bool {
        let last = self.list.get(MAX_TAGS - 1).map_or(end, |last| last.span().start);
        self.part.end == end && self.part.start <= at && at <= last
    }
}

/// What the payload of an open call quotes, as far as it has been read; for other blocks, what their tags quote.
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

/// The tags of a text, as far as the text has been read.
#[derive(Debug, Clone, Copy, Default)]
pub(super) struct Tagged {
    /// Everything before this offset has been read.
    pub(super) at: usize,
    /// A tag that has not ended yet is read again once this much of the response has arrived. The flag says whether all
    /// the text that the tag may reach had arrived, so that only more steps were needed.
    pub(super) retry: Option<(bool, usize)>,
}

impl Tagged {
    pub(super) fn new(from: usize) -> Self {
        Self { at: from, retry: None }
    }

    /// Skips everything before this offset.
    pub(super) fn pass(&mut self, at: usize) {
        self.at = self.at.max(at);
    }
}
