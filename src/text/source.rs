//! Sources: which line and column of which file does a byte belong to?
//!
//! In: the text of a file, or of a response.
//! Out: [`Source`], [`Sources`] and [`Lines`], which convert offsets to a [`Place`] for people.
//! Never: reads a file.

use super::{FilePlace, Location, Slice, SourceId, Span};
use std::cell::Cell;
use std::fmt;
use std::str::Utf8Error;
use std::sync::{Arc, OnceLock};

/// A line and a column, both counted from 1; a column counts characters.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub struct Place {
    /// The line, from 1.
    pub line: usize,
    /// The column in characters, from 1.
    pub column: usize,
}

impl Place {
    const FIRST: Self = Self { line: 1, column: 1 };

    /// The place after `text`, which starts here.
    fn after(self, text: &str) -> Self {
        let breaks = memchr::memchr_iter(b'\n', text.as_bytes()).count();
        let last = memchr::memrchr(b'\n', text.as_bytes()).filter(|_| breaks > 0);
        let line = last.map_or(text, |last| text.slice(last + 1..));
        let column = if breaks > 0 { 1 } else { self.column };
        Self { line: self.line + breaks, column: column + line.chars().count() }
    }
}

impl fmt::Display for Place {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}:{}", self.line, self.column)
    }
}

/// A text with a name.
#[derive(Debug, Clone)]
pub struct Source {
    name: Arc<str>,
    text: String,
    lines: OnceLock<Vec<usize>>,
}

impl Source {
    /// A source with this `name` in messages, usually a path relative to an argument of the user.
    pub fn new(name: impl Into<Arc<str>>, text: impl Into<String>) -> Self {
        Self { name: name.into(), text: text.into(), lines: OnceLock::new() }
    }

    /// The name in messages.
    pub fn name(&self) -> &str {
        &self.name
    }

    /// The text.
    pub fn text(&self) -> &str {
        &self.text
    }

    /// The line and column of the byte `offset`. The lines are indexed once, on first use.
    pub fn place(&self, offset: usize) -> Place {
        let starts = self.starts();
        let line = starts.partition_point(|start| *start <= offset).max(1);
        let start = starts.get(line - 1).copied().unwrap_or_default();
        let before = self.text.slice(start..offset.min(self.text.len()));
        Place { line, column: before.chars().count() + 1 }
    }

    /// The text of line `number`, counted from 1, with its line break; empty if there is no such line.
    pub fn line(&self, number: usize) -> &str {
        let start = |line: usize| self.starts().get(line).copied().unwrap_or(self.text.len());
        match number.checked_sub(1) {
            Some(line) => self.text.slice(start(line)..start(number)),
            None => "",
        }
    }

    fn starts(&self) -> &[usize] {
        let breaks = || memchr::memchr_iter(b'\n', self.text.as_bytes());
        self.lines.get_or_init(|| std::iter::once(0).chain(breaks().map(|at| at + 1)).collect())
    }
}

/// The sources of a pack, by [`SourceId`].
#[derive(Debug, Clone, Default)]
pub struct Sources(Vec<Source>);

impl Sources {
    /// Adds a source and returns its id.
    #[doc(hidden)]
    pub fn add(&mut self, source: Source) -> SourceId {
        self.0.push(source);
        SourceId((self.0.len() - 1) as u32)
    }

    /// Adds a file that is not UTF-8, with replacement characters; returns the location of the first bad byte.
    pub(crate) fn add_broken(&mut self, name: &str, bytes: &[u8], error: Utf8Error) -> Location {
        let source = self.add(Source::new(name, String::from_utf8_lossy(bytes)));
        let start = error.valid_up_to();
        Location { source, span: Span::new(start, start + char::REPLACEMENT_CHARACTER.len_utf8()) }
    }

    /// The source with this id; `None` for the id of another set, or of the response.
    #[doc(hidden)]
    pub fn get(&self, id: SourceId) -> Option<&Source> {
        self.0.get(id.0 as usize)
    }

    /// The place of the start of `at`.
    #[doc(hidden)]
    pub fn place(&self, at: Location) -> Option<FilePlace> {
        let source = self.get(at.source)?;
        Some(FilePlace::new(source.name.clone(), source.place(at.span.start)))
    }

    /// The source with this name in messages.
    pub(crate) fn find(&self, name: &str) -> Option<(SourceId, &Source)> {
        self.iter().find(|(_, source)| source.name() == name)
    }

    /// All sources, in the order in which they were added.
    #[doc(hidden)]
    pub fn iter(&self) -> impl Iterator<Item = (SourceId, &Source)> {
        self.0.iter().enumerate().map(|(index, source)| (SourceId(index as u32), source))
    }
}

/// Lines and columns of a borrowed text. Fastest if offsets are asked for in ascending order.
#[derive(Debug)]
pub struct Lines<'t> {
    text: &'t str,
    /// The last offset asked for and its place, from which the next place is counted.
    known: Cell<(usize, Place)>,
}

impl<'t> Lines<'t> {
    /// The lines of `text`.
    pub fn new(text: &'t str) -> Self {
        Self { text, known: Cell::new((0, Place::FIRST)) }
    }

    /// The text itself.
    pub(crate) fn text(&self) -> &'t str {
        self.text
    }

    /// The line and column of the byte `offset`.
    pub fn place(&self, offset: usize) -> Place {
        let offset = offset.min(self.text.len());
        let (start, from) = Some(self.known.get()).filter(|(start, _)| *start <= offset).unwrap_or((0, Place::FIRST));
        let place = from.after(self.text.slice(start..offset));
        self.known.set((offset, place));
        place
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check(text: &str, offset: usize, line: usize, column: usize) {
        assert_eq!(Source::new("t", text).place(offset), Place { line, column });
        let lines = Lines::new(text);
        assert_eq!(lines.place(offset), Place { line, column });
        lines.place(text.len());
        assert_eq!(lines.place(offset), Place { line, column });
    }

    #[test]
    fn places_count_lines_and_characters_from_one() {
        check("", 0, 1, 1);
        check("ab\ncd", 3, 2, 1);
        check("äb\ncd", 2, 1, 2);
        check("a\n", 2, 2, 1);
    }
}
