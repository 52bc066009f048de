//! Diff: which lines are missing, and which are new?
//!
//! In: two texts.
//! Out: the lines that differ, with a few common ones around them; or a diff in the unified format.
//! Never: compares within a line.

use similar::{TextDiff, TextDiffConfig};
use std::time::Duration;

pub(super) use similar::ChangeTag as Change;

/// How many common lines are printed around those that differ.
const LINES_AROUND: usize = 2;
/// The lines of context in the unified format: `patch` and other tools expect three.
const LINES_AROUND_FOR_TOOLS: usize = 3;
/// After this time, `similar` stops looking for the shortest difference of two long texts that have little in common.
const PATIENCE: Duration = Duration::from_secs(1);

/// A line of a comparison.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum DiffLine<'t> {
    Line(Change, &'t str),
    /// Common lines that are left out.
    LeftOut,
}

/// The difference between `before` and `after`; empty if they are equal.
pub(super) fn compare<'t>(before: &'t str, after: &'t str) -> Vec<DiffLine<'t>> {
    let old: Vec<&str> = before.split('\n').collect();
    let new: Vec<&str> = after.split('\n').collect();
    let diff = config().diff_slices(&old, &new);
    let mut lines = Vec::new();
    let mut at = 0;
    for group in diff.grouped_ops(LINES_AROUND) {
        let start = group.first().map_or(at, |first| first.old_range().start);
        lines.extend((start > at).then_some(DiffLine::LeftOut));
        for change in group
            .iter()
            .flat_map(|part| part.iter_slices(&old, &new))
            .flat_map(|(tag, part)| part.iter().map(move |line| DiffLine::Line(tag, line)))
        {
            lines.push(change);
        }
        at = group.last().map_or(at, |last| last.old_range().end);
    }
    lines.extend((!lines.is_empty() && at < old.len()).then_some(DiffLine::LeftOut));
    lines
}

/// The diff of a file that is not moved, in the unified format.
pub fn unified(key: &str, before: Option<&str>, after: &str) -> String {
    unified_paths(before.map(|_| key), Some(key), before.or(Some("")), Some(after))
}

/// The diff of a file, in the unified format. `from` and `to` are its paths before and after: `from` is `None` for a
/// new file, `to` for a deleted one. A text is `None` if its bytes are not known; the diff then says only that they
/// differ.
pub fn unified_paths(from: Option<&str>, to: Option<&str>, before: Option<&str>, after: Option<&str>) -> String {
    let name =
        |side: &str, key: Option<&str>| key.map_or_else(|| "/dev/null".to_owned(), |key| format!("{side}/{key}"));
    let (old, new) = (name("a", from), name("b", to));
    let renamed = match (from, to) {
        (Some(from), Some(to)) if from != to => {
            format!("diff --git {old} {new}\nrename from {from}\nrename to {to}\n")
        }
        _ => String::new(),
    };
    if !renamed.is_empty() && before == after {
        return renamed;
    }
    let (Some(before), Some(after)) = (before, after) else {
        return format!("{renamed}Binary files {old} and {new} differ\n");
    };
    // In the unified format a line ends with a line feed, and a carriage return before it is a part of the line.
    let before: Vec<&str> = before.split_inclusive('\n').collect();
    let after: Vec<&str> = after.split_inclusive('\n').collect();
    let diff: TextDiff<'_, '_, str> = config().newline_terminated(true).diff_slices(&before, &after);
    format!("{renamed}--- {old}\n+++ {new}\n{}", diff.unified_diff().context_radius(LINES_AROUND_FOR_TOOLS))
}

fn config() -> TextDiffConfig {
    let mut config = TextDiff::<str>::configure();
    config.timeout(PATIENCE);
    config
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check(before: &str, after: &str, lines: &str) {
        let found: Vec<String> = compare(before, after)
            .into_iter()
            .map(|line| match line {
                DiffLine::Line(change, text) => format!("{change}{text}"),
                DiffLine::LeftOut => "…".to_owned(),
            })
            .collect();
        assert_eq!(found.join("|"), lines);
    }

    #[test]
    fn common_lines_stay_and_others_are_distinguished() {
        check("a", "a", "");
        check("a\nb\nc", "a\nc", " a|-b| c");
        check("a\nb\nc\nd", "x\nb\nd\ne", "-a|+x| b|-c| d|+e");
        check("", "a", "-|+a");
        check("1\n2\n3\n4\n5\n6\n7\n8\n9\na", "1\n2\n3\n4\nx\n6\n7\n8\n9\na", "…| 3| 4|-5|+x| 6| 7|…");
    }

    #[test]
    fn a_line_without_its_end_is_reported() {
        let text = unified("a.txt", Some("one\r\ntwo"), "one\r\nthree\n");
        assert_eq!(
            text,
            "--- a/a.txt\n+++ b/a.txt\n@@ -1,2 +1,2 @@\n one\r\n-two\n\\ No newline at end of file\n+three\n"
        );
        assert_eq!(unified("a.txt", None, ""), "--- /dev/null\n+++ b/a.txt\n");
    }

    #[test]
    fn a_file_that_moves_or_goes_is_named() {
        let moved = "diff --git a/a b/b\nrename from a\nrename to b\n";
        assert_eq!(unified_paths(Some("a"), Some("b"), Some("1\n"), Some("1\n")), moved);
        let edited = unified_paths(Some("a"), Some("b"), Some("1\n"), Some("2\n"));
        assert_eq!(edited, format!("{moved}--- a/a\n+++ b/b\n@@ -1 +1 @@\n-1\n+2\n"));
        assert_eq!(
            unified_paths(Some("a"), None, Some("1\n"), Some("")),
            "--- a/a\n+++ /dev/null\n@@ -1 +0,0 @@\n-1\n"
        );
        assert_eq!(unified_paths(Some("a"), None, None, Some("")), "Binary files a/a and /dev/null differ\n");
    }

    #[track_caller]
    fn check_unified(before: Option<&str>, after: &str, expected: &str) {
        let diff = unified("f", before, after);
        assert_eq!(diff.split_once("+++ b/f\n").unwrap().1, expected);
    }

    #[test]
    fn a_difference_is_reported_as_patch_wants_it() {
        check_unified(None, "a\n", "@@ -0,0 +1 @@\n+a\n");
        check_unified(Some("a\nb\n"), "a\nc\n", "@@ -1,2 +1,2 @@\n a\n-b\n+c\n");
        check_unified(Some("a"), "a\n", "@@ -1 +1 @@\n-a\n\\ No newline at end of file\n+a\n");
        check_unified(Some("a\n"), "", "@@ -1 +0,0 @@\n-a\n");
    }

    #[test]
    fn far_differences_stand_in_pieces_of_their_own() {
        let old: String = (1..=20).map(|line| format!("{line}\n")).collect();
        let new = old.replace("2\n3\n", "2\nnew\n3\n").replace("19\n", "nineteen\n");
        check_unified(
            Some(&old),
            &new,
            "@@ -1,5 +1,6 @@\n 1\n 2\n+new\n 3\n 4\n 5\n@@ -16,5 +17,5 @@\n 16\n 17\n 18\n-19\n+nineteen\n 20\n",
        );
    }
}
