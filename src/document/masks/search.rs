//! Search: how is no byte examined several times?
//!
//! In: the bytes of a response that may still grow.
//! Out: [`Search`], which continues where it stopped, and [`Last`], which decides whether a search can succeed.
//! Never: starts again from an offset that it has examined.

use crate::text::Slice;
use std::collections::BTreeMap;

/// A search that started at one offset and has reached another.
#[derive(Debug, Clone, Copy, Default)]
pub(super) struct Search {
    start: usize,
    at: usize,
}

impl Search {
    /// Continues to the first match of `find`. `None` if there is no match yet; the search has then reached the end of
    /// the text.
    pub(super) fn go_on(&mut self, bytes: &[u8], start: usize, find: impl Fn(&[u8]) -> Option<usize>) -> Option<usize> {
        if self.start != start || self.at < start {
            *self = Search { start, at: start };
        }
        let found = find(bytes.slice(self.at..));
        self.at = found.map_or(bytes.len(), |found| self.at + found);
        found.map(|_| self.at)
    }

    /// The end of the run of equal bytes that starts here.
    pub(super) fn run(&mut self, bytes: &[u8], start: usize) -> usize {
        let mark = bytes.get(start).copied();
        self.go_on(bytes, start, |rest| rest.iter().position(|byte| Some(*byte) != mark)).unwrap_or(bytes.len())
    }

    /// The end of the line, if its line break has arrived.
    pub(super) fn line(&mut self, bytes: &[u8], start: usize) -> Option<usize> {
        self.go_on(bytes, start, |rest| memchr::memchr(b'\n', rest))
    }

    /// The end of the word that starts here, if it has arrived: at white space, a fence character or the edge of a tag.
    pub(super) fn word(&mut self, bytes: &[u8], start: usize) -> Option<usize> {
        let ends = |byte: &u8| byte.is_ascii_whitespace() || matches!(byte, b'`' | b'~' | b'<' | b'>');
        self.go_on(bytes, start, |rest| rest.iter().position(ends))
    }

    /// The first byte that is a line break, or not white space.
    pub(super) fn past_word(&mut self, bytes: &[u8], start: usize) -> Option<usize> {
        self.go_on(bytes, start, |rest| rest.iter().position(|byte| *byte == b'\n' || !byte.is_ascii_whitespace()))
    }

    /// The first byte that is not a space, a tab or a carriage return.
    pub(super) fn past_blanks(&mut self, bytes: &[u8], start: usize) -> Option<usize> {
        self.go_on(bytes, start, |rest| rest.iter().position(|byte| !matches!(byte, b' ' | b'\t' | b'\r')))
    }
}

/// Lengths up to this one have an entry in the table; a text has few different longer ones.
const MAX_TABLED_LENGTH: usize = 255;
const NOWHERE: usize = usize::MAX;

/// For each length, the last offset at which a run of that length starts or, after [`accumulate`](Self::accumulate), a
/// run of at least that length.
#[derive(Debug, Clone)]
pub(super) struct Last {
    pub(super) known: bool,
    at: Vec<usize>,
    longer: BTreeMap<usize, usize>,
    /// Whether entries are for runs of at least their length.
    at_least: bool,
}

impl Last {
    pub(super) fn new() -> Self {
        Self { known: false, at: Vec::new(), longer: BTreeMap::new(), at_least: false }
    }

    pub(super) fn clear(&mut self) {
        self.known = true;
        self.at_least = false;
        self.at.clear();
        self.at.resize(MAX_TABLED_LENGTH + 1, NOWHERE);
        self.longer.clear();
    }

    pub(super) fn note(&mut self, length: usize, place: usize) {
        match self.at.get_mut(length) {
            Some(slot) => *slot = place,
            None => drop(self.longer.insert(length, place)),
        }
    }

    /// Changes the entries from "exactly this long" to "at least this long".
    pub(super) fn accumulate(&mut self) {
        self.at_least = true;
        let mut last = NOWHERE;
        for slot in self.at.iter_mut().chain(self.longer.values_mut()).rev() {
            if *slot != NOWHERE && (last == NOWHERE || *slot > last) {
                last = *slot;
            }
            *slot = last;
        }
    }

    pub(super) fn after(&self, length: usize, place: usize) -> bool {
        let last = match self.at.get(length) {
            None if self.at_least => self.longer.range(length..).next().map(|(_, last)| last),
            None => self.longer.get(&length),
            last => last,
        };
        last.is_some_and(|last| *last != NOWHERE && *last > place)
    }
}
