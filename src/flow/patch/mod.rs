//! Patch: which changes to which files does a text describe?
//!
//! In: a unified diff, as Git and `diff -u` write it, a `*** Begin Patch`, or SEARCH/REPLACE blocks.
//! Out: the changes, file by file; or the first line that cannot be read, and why.
//! Never: trusts a count of lines, reads a file, or decides whether a path is safe.
//!
//! Models count badly, so the numbers in `@@ -1,4 +1,5 @@` at most decide which of several places is meant: a hunk
//! ends where its lines end. Omissions without loss are tolerated: the space before an empty line of context, a code
//! fence around the whole patch, the line breaks of another system. Everything else outside the format is a fault,
//! with its line: a patch is carried out as a whole or not at all.

mod begin;
mod blocks;
mod hunk;
mod unified;

use crate::text::starts_fence;
use std::fmt;

/// What a patch does to one file.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct FilePatch {
    /// The path, as the patch writes it, without the prefixes `a/` and `b/` of Git.
    pub(crate) key: String,
    /// The change to the file.
    pub(crate) change: FileChange,
    /// The new path, if the file is moved after the change.
    pub(crate) to: Option<String>,
}

/// A change to a file.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum FileChange {
    /// A new file.
    Add { text: String, executable: bool },
    /// A file to delete, with the text that it has according to a diff.
    Delete { text: Option<String> },
    /// The hunks in order; none if the file is only moved.
    Update(Vec<Hunk>),
}

/// A replacement of one text by another.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub(crate) struct Hunk {
    /// The lines to replace; empty if lines are only added.
    pub(crate) find: String,
    pub(crate) put: String,
    /// The line of the file at which it starts, after the hunks before it.
    pub(crate) line: Option<u64>,
    /// Lines that come before it.
    pub(crate) after: Vec<String>,
    /// Whether it is at the end of the file.
    pub(crate) end: bool,
}

/// Why a patch cannot be read.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct PatchFault {
    /// The line of the patch, from 1.
    pub(crate) line: usize,
    pub(crate) why: String,
}

impl fmt::Display for PatchFault {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} (line {})", self.why, self.line)
    }
}

/// Reads a patch. `file` is the file to which blocks, and hunks without a file header, belong.
pub(crate) fn parse(text: &str, file: Option<&str>) -> Result<Vec<FilePatch>, PatchFault> {
    let mut lines = PatchLines::of(text);
    let files = match lines.peek() {
        Some(first) if first.trim_end() == begin::FIRST => begin::parse(&mut lines)?,
        Some(first) if blocks::begin(first) => blocks::parse(&mut lines, file)?,
        _ => unified::parse(&mut lines, file)?,
    };
    match files.is_empty() {
        true => Err(lines
            .fault("it changes no file: there is no `*** Begin Patch`, no `<<<<<<< SEARCH` and no header of a file")),
        false => Ok(files),
    }
}

/// The lines of a patch, without their line breaks.
struct PatchLines<'p> {
    all: Vec<&'p str>,
    next: usize,
}

impl<'p> PatchLines<'p> {
    /// The lines, without empty ones at both ends, and without a code fence around all others.
    fn of(text: &'p str) -> Self {
        let all = text.split('\n').map(|line| line.strip_suffix('\r').unwrap_or(line));
        let mut lines = Self { all: all.collect(), next: 0 };
        lines.trim();
        let is_fence = |line: Option<&&str>| line.is_some_and(|line| starts_fence(line.as_bytes()));
        if is_fence(lines.all.get(lines.next)) && is_fence(lines.all.last()) && lines.all.len() > lines.next + 1 {
            lines.next += 1;
            lines.all.pop();
            lines.trim();
        }
        lines
    }

    fn trim(&mut self) {
        let is_blank = |line: &&str| line.trim().is_empty();
        // A last line with a space is an empty line of context.
        while self.all.len() > self.next && self.all.last().is_some_and(|line| line.is_empty()) {
            self.all.pop();
        }
        while self.all.get(self.next).is_some_and(is_blank) {
            self.next += 1;
        }
    }

    fn peek(&self) -> Option<&'p str> {
        self.ahead(0)
    }

    /// The line that is `count` lines after the next one.
    fn ahead(&self, count: usize) -> Option<&'p str> {
        self.all.get(self.next + count).copied()
    }

    fn advance(&mut self) {
        self.next += 1;
    }

    /// A fault at the next line.
    fn fault(&self, why: impl Into<String>) -> PatchFault {
        self.fault_at(self.next, why)
    }

    /// A fault at the line with this index.
    fn fault_at(&self, index: usize, why: impl Into<String>) -> PatchFault {
        PatchFault { line: index.min(self.all.len().saturating_sub(1)) + 1, why: why.into() }
    }
}

#[cfg(test)]
mod tests;
