//! Trimmed lines: where do lines match apart from the white space around them?
//!
//! In: the lines of a file, and the whole lines that an edit looks for.
//! Out: the places where each line is the same apart from white space at both ends; the new lines, with the indentation
//! of the file.
//! Never: takes more than one pass over the file; changes the indentation if the difference is not the same in every
//! line.

use super::find::{Place, Search, Wanted};
use super::haystack::Haystack;
use std::borrow::Cow;
use std::collections::HashMap;

/// The occurrences of whole lines.
#[derive(Debug)]
pub(super) struct Trimmed {
    /// The offset at which each occurrence starts, and its length without the last line break, in order.
    found: Vec<(usize, usize)>,
}

impl Trimmed {
    pub(super) fn new(haystack: &Haystack<'_>, wanted: &Wanted<'_>) -> Self {
        let lines: Vec<&str> = wanted.find.lines().map(str::trim).collect();
        // Empty lines occur everywhere, so they identify no place.
        if lines.iter().all(|line| line.is_empty()) {
            return Self { found: Vec::new() };
        }
        let mut ids: HashMap<&str, usize> = HashMap::new();
        let needle: Vec<usize> = lines.iter().map(|line| id(&mut ids, line)).collect();
        let at_end = wanted.end || (wanted.lines && !wanted.find.ends_with('\n'));
        let own = haystack.lines().map(|line| ids.get(line.trim()).copied());
        let starts = occurrences(&needle, own).into_iter();
        let fitting = starts.filter(|line| !at_end || line + lines.len() == haystack.count());
        let found = fitting.map(|line| {
            let (start, end) = (haystack.start(line), haystack.start(line + lines.len()));
            (start, end.saturating_sub(start + 1))
        });
        Self { found: found.collect() }
    }

    /// The place of the occurrence that starts at this offset.
    pub(super) fn place<'e>(&self, haystack: &Haystack<'_>, wanted: &Wanted<'e>, start: usize) -> Place<'e> {
        let end = start + self.length(start);
        let ended = wanted.lines || wanted.find.ends_with('\n');
        if ended && wanted.put.is_empty() {
            return Place { range: start..end + 1, put: Cow::Borrowed("") };
        }
        // If only one of two texts of whole lines ends without a line break, the edit removes or adds the last one of the
        // file.
        let own = haystack.text().get(start..end).unwrap_or_default();
        match (wanted.find.ends_with('\n'), wanted.put.ends_with('\n')) {
            (true, false) if wanted.lines => {
                return Place { range: start..end + 1, put: Cow::Owned(indented(&wanted.find, own, &wanted.put)) };
            }
            (false, true) if wanted.lines && haystack.is_unended() => {
                return Place { range: start..end, put: Cow::Owned(indented(&wanted.find, own, &wanted.put)) };
            }
            _ => {}
        }
        let put = if ended { wanted.put.strip_suffix('\n').unwrap_or(&wanted.put) } else { &wanted.put };
        Place { range: start..end, put: Cow::Owned(indented(&wanted.find, own, put)) }
    }
}

impl Search for Trimmed {
    fn next(&self, from: usize) -> Option<usize> {
        let index = self.found.partition_point(|(start, _)| *start < from);
        self.found.get(index).map(|(start, _)| *start)
    }

    fn length(&self, start: usize) -> usize {
        let index = self.found.partition_point(|(own, _)| *own < start);
        self.found.get(index).map_or(0, |(_, length)| *length)
    }
}

/// The number of a line; equal lines have the same number.
fn id<'l>(ids: &mut HashMap<&'l str, usize>, line: &'l str) -> usize {
    let next = ids.len();
    *ids.entry(line).or_insert(next)
}

/// The indexes in `own` at which the needle occurs, overlapping or not, in one pass: the algorithm of Knuth, Morris and
/// Pratt.
fn occurrences(needle: &[usize], own: impl Iterator<Item = Option<usize>>) -> Vec<usize> {
    let is_at = |length: usize, line: usize| needle.get(length) == Some(&line);
    // For each length of a matched prefix: the length of the next shorter prefix that also matches.
    let mut shorter = vec![0; needle.len() + 1];
    let mut length = 0;
    for (index, line) in needle.iter().enumerate().skip(1) {
        while length > 0 && !is_at(length, *line) {
            length = shorter.get(length).copied().unwrap_or_default();
        }
        length += usize::from(is_at(length, *line));
        if let Some(entry) = shorter.get_mut(index + 1) {
            *entry = length;
        }
    }
    let (mut found, mut length) = (Vec::new(), 0);
    for (index, line) in own.enumerate() {
        let Some(line) = line else {
            length = 0;
            continue;
        };
        while length > 0 && !is_at(length, line) {
            length = shorter.get(length).copied().unwrap_or_default();
        }
        length += usize::from(is_at(length, line));
        if length == needle.len() {
            found.push(index + 1 - length);
            length = shorter.get(length).copied().unwrap_or_default();
        }
    }
    found
}

/// The new text with the indentation of the file: changed by the difference between `find` and the lines `own` of the
/// file, if that is the same in every line; otherwise unchanged.
fn indented(find: &str, own: &str, put: &str) -> String {
    let pairs = || find.lines().zip(own.lines()).filter(|(line, _)| !line.trim().is_empty());
    let more = common(pairs().map(|(line, own)| indent(own).strip_suffix(indent(line))));
    let less = common(pairs().map(|(line, own)| indent(line).strip_suffix(indent(own))));
    let blank = |line: &str| line.trim().is_empty();
    let by_line = |change: &dyn Fn(&str) -> String| {
        let changed = |line: &str| if blank(line) { line.to_owned() } else { change(line) };
        put.split_inclusive('\n').map(changed).collect()
    };
    match (more, less) {
        (Some(more), _) => by_line(&|line| format!("{more}{line}")),
        (None, Some(less)) if put.lines().all(|line| blank(line) || line.starts_with(less)) => {
            by_line(&|line| line.strip_prefix(less).unwrap_or(line).to_owned())
        }
        _ => put.to_owned(),
    }
}

/// The white space at the start of a line.
fn indent(line: &str) -> &str {
    line.strip_suffix(line.trim_start()).unwrap_or_default()
}

/// The text that all items are; `None` if they differ.
fn common<'t>(mut all: impl Iterator<Item = Option<&'t str>>) -> Option<&'t str> {
    let first = all.next()??;
    all.all(|one| one == Some(first)).then_some(first)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check_indented(find: &str, own: &str, put: &str, expected: &str) {
        assert_eq!(indented(find, own, put), expected);
    }

    #[test]
    fn a_replacement_is_indented_like_the_file() {
        check_indented("a\n  b", "  a\n    b", "c\n\n  d", "  c\n\n    d");
        check_indented("    a\n      b", "  a\n    b", "    c\n      d\n", "  c\n    d\n");
        check_indented("a\nb", "\ta\n\tb", "c\nd", "\tc\n\td");
        // The difference is not the same in every line, or it removes more white space than a line has.
        check_indented("a\n  b", "\ta\n\t\tb", "c\n  d", "c\n  d");
        check_indented("  a", "a", "c\n  d", "c\n  d");
        check_indented("a ", "a", "c", "c");
    }

    #[test]
    fn lines_are_found_in_one_pass() {
        let found = |needle: &[usize], own: &[usize]| occurrences(needle, own.iter().map(|line| Some(*line)));
        assert_eq!(found(&[1, 1], &[1, 1, 1, 2, 1, 1]), [0, 1, 4]);
        assert_eq!(found(&[1, 2, 1, 3], &[1, 2, 1, 2, 1, 3]), [2]);
        assert_eq!(found(&[1], &[]), [0; 0]);
    }
}
