//! Applied answers: what was written, or would be?
//!
//! In: the files of an answer and what became of them.
//! Out: a line for each, and before them how it differs.
//! Never: looks at a disk.

use super::count;
use super::diff::{Line, compare_lines};
use super::drawing::{BAD, FAINT, GOOD, Pen, STRONG, WARN, paint};
use super::outcome::visible;
use serde::Serialize;
use std::fmt::Write as _;

/// How many common lines stay around a difference.
const AROUND: usize = 3;

/// One file of an answer.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[cfg_attr(feature = "schema", schemars(deny_unknown_fields))]
pub struct AppliedFile {
    /// Its path below the root.
    pub key: String,
    /// `created`, `replaced`, `unchanged`, or `left` as it was: it or another file of the answer cannot be written.
    pub change: String,
    /// The bytes of its new text.
    pub bytes: usize,
    /// With `--dry-run`: how it would differ, in the unified format.
    pub diff: Option<String>,
    /// What the pack says of its edits.
    pub said: Vec<String>,
}

impl Pen {
    /// What became of the files, after the diagnostics that were drawn of them.
    pub fn applied(&self, files: &[AppliedFile], faults: &[String]) -> String {
        let mut text = String::new();
        for part in faults {
            text += part;
            text.push('\n');
        }
        for diff in files.iter().filter_map(|file| file.diff.as_ref()) {
            text += &coloured(diff);
            text.push('\n');
        }
        for said in files.iter().flat_map(|file| &file.said) {
            _ = writeln!(text, "{}", visible(said));
        }
        for file in files {
            let style = match file.change.as_str() {
                "created" | "replaced" => GOOD,
                "left" => BAD,
                _ => FAINT,
            };
            let word = paint(style, &format!("{:<9}", file.change));
            let size = paint(FAINT, &format!("({})", count(file.bytes, "byte")));
            _ = writeln!(text, "{word} {} {size}", visible(&file.key));
        }
        text
    }
}

/// The last line of `apply`: how many files, and what became of them.
pub fn applied_sum(files: &[AppliedFile], dry_run: bool) -> String {
    let mut words: Vec<(&str, usize)> = Vec::new();
    for file in files {
        match words.iter_mut().find(|(word, _)| *word == file.change) {
            Some((_, number)) => *number += 1,
            None => words.push((&file.change, 1)),
        }
    }
    let words: Vec<String> = words.iter().map(|(word, number)| format!("{number} {word}")).collect();
    let dry = if dry_run { paint(WARN, " (dry run: nothing was written)") } else { String::new() };
    match words.as_slice() {
        [] => format!("no file to write{dry}\n"),
        words => format!("{}: {}{dry}\n", count(files.len(), "file"), words.join(", ")),
    }
}

/// How a text differs from what was there before, in the unified format.
pub fn unified(key: &str, before: Option<&str>, after: &str) -> String {
    let old: Vec<&str> = before.unwrap_or_default().split_inclusive('\n').collect();
    let new: Vec<&str> = after.split_inclusive('\n').collect();
    let lines = compare_lines(&old, &new);
    let mut text = match before {
        Some(_) => format!("--- a/{key}\n+++ b/{key}\n"),
        None => format!("--- /dev/null\n+++ b/{key}\n"),
    };
    let differs = |line: &Line<'_>| !matches!(line, Line::Both(_));
    let (mut at, mut told) = (0, Told::default());
    while let Some(first) = lines.iter().skip(at).position(differs).map(|first| at + first) {
        // A piece goes on while the next difference stands so near that their surroundings meet.
        let mut last = first;
        while let Some(next) = lines.iter().skip(last + 1).take(2 * AROUND + 1).position(differs) {
            last += next + 1;
        }
        let start = first.saturating_sub(AROUND).max(at);
        let end = (last + AROUND + 1).min(lines.len());
        told.pass(lines.get(at..start).unwrap_or_default());
        hunk(lines.get(start..end).unwrap_or_default(), &mut told, &mut text);
        at = end;
    }
    text
}

/// How many lines of both texts have been passed.
#[derive(Default, Clone, Copy)]
struct Told {
    old: usize,
    new: usize,
}

impl Told {
    fn pass(&mut self, lines: &[Line<'_>]) {
        self.old += lines.iter().filter(|line| !matches!(line, Line::Found(_))).count();
        self.new += lines.iter().filter(|line| !matches!(line, Line::Missing(_))).count();
    }
}

fn hunk(lines: &[Line<'_>], told: &mut Told, text: &mut String) {
    let before = *told;
    told.pass(lines);
    let range = |before: usize, after: usize| match after - before {
        // Of nothing, the line before it is named.
        0 => format!("{before},0"),
        1 => format!("{after}"),
        length => format!("{},{length}", before + 1),
    };
    _ = writeln!(text, "@@ -{} +{} @@", range(before.old, told.old), range(before.new, told.new));
    for line in lines {
        let (sign, line) = match line {
            Line::Both(line) => (' ', line),
            Line::Missing(line) => ('-', line),
            Line::Found(line) => ('+', line),
        };
        text.push(sign);
        *text += line;
        if !line.ends_with('\n') {
            *text += "\n\\ No newline at end of file\n";
        }
    }
}

fn coloured(diff: &str) -> String {
    let mut text = String::new();
    for line in diff.lines() {
        let style = match line.as_bytes().first() {
            _ if line.starts_with("--- ") || line.starts_with("+++ ") => STRONG,
            Some(b'+') => GOOD,
            Some(b'-') => BAD,
            Some(b'@' | b'\\') => FAINT,
            _ => {
                _ = writeln!(text, "{}", visible(line));
                continue;
            }
        };
        _ = writeln!(text, "{}", paint(style, &visible(line)));
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check(before: Option<&str>, after: &str, expected: &str) {
        let diff = unified("f", before, after);
        assert_eq!(diff.split_once("+++ b/f\n").unwrap().1, expected);
    }

    #[test]
    fn a_difference_is_told_as_patch_wants_it() {
        check(None, "a\n", "@@ -0,0 +1 @@\n+a\n");
        check(Some("a\nb\n"), "a\nc\n", "@@ -1,2 +1,2 @@\n a\n-b\n+c\n");
        check(Some("a"), "a\n", "@@ -1 +1 @@\n-a\n\\ No newline at end of file\n+a\n");
        check(Some("a\n"), "", "@@ -1 +0,0 @@\n-a\n");
    }

    #[test]
    fn far_differences_stand_in_pieces_of_their_own() {
        let old: String = (1..=20).map(|line| format!("{line}\n")).collect();
        let new = old.replace("2\n3\n", "2\nnew\n3\n").replace("19\n", "nineteen\n");
        check(
            Some(&old),
            &new,
            "@@ -1,5 +1,6 @@\n 1\n 2\n+new\n 3\n 4\n 5\n@@ -16,5 +17,5 @@\n 16\n 17\n 18\n-19\n+nineteen\n 20\n",
        );
    }
}
