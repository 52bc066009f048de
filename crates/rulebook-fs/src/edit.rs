//! Edit: what is the text of a file after an edit?
//!
//! In: the text of a file, and an edit.
//! Out: the text after the edit, with the change of line numbers recorded; or why the edit does not apply.
//! Never: changes a byte outside the places of the edit: line breaks, a byte order mark and a missing last line break
//! stay.

use super::find::{Missed, Place, Wanted, places};
use super::haystack::{Haystack, broken, plain};
use super::nearest::excerpt_of;
use rulebook::outcome::{Edit, MissKind};

/// Replaces the places of the edit with `put`, and records in `moved` how line numbers change.
pub(super) fn edit(text: &str, edit: &Edit, moved: &mut MovedLines) -> Result<String, Missed> {
    let (mark, body) = unmarked(text);
    let haystack = Haystack::new(body);
    let wanted = Wanted {
        find: plain(unmarked(&edit.find).1),
        put: plain(unmarked(&edit.put).1),
        matching: &edit.matching,
        all: edit.all,
        lines: edit.lines,
        line: edit.line.and_then(|line| moved.now(line.checked_sub(1)?)),
        after: &edit.after,
        end: edit.end,
    };
    let places = places(&haystack, &wanted)?;
    let mut out = String::with_capacity(text.len() + places.len() * wanted.put.len());
    out += mark;
    let mut done = 0;
    for place in &places {
        let range = haystack.original(&place.range);
        out += body.get(done..range.start).unwrap_or_default();
        out += &broken(&put(&haystack, &wanted, place), haystack.line_break(&place.range));
        done = range.end;
    }
    out += body.get(done..).unwrap_or_default();
    // In reverse order, because the line of a place counts from the text before this edit.
    for place in places.iter().rev() {
        let taken = haystack.text().get(place.range.clone()).map_or(0, breaks);
        moved.record(haystack.line_of(place.range.start), breaks(&place.put) as i64 - taken as i64);
    }
    Ok(out)
}

/// Checks that a file has the text that a deletion expects, line by line, without the white space around each line and
/// around the whole. If it has another text, the result has the lines from the first difference on.
pub(super) fn require(text: &str, expected: &str) -> Result<(), Missed> {
    let (body, expected) = (unmarked(text).1, unmarked(expected).1);
    let (own, wanted): (Vec<&str>, Vec<&str>) =
        (body.trim().lines().map(str::trim).collect(), expected.trim().lines().map(str::trim).collect());
    if own == wanted {
        return Ok(());
    }
    let same = own.iter().zip(&wanted).take_while(|(own, wanted)| own == wanted).count();
    let haystack = Haystack::new(body);
    let blank = haystack.lines().take_while(|line| line.trim().is_empty()).count();
    let first = (blank + same).min(haystack.count().saturating_sub(1));
    Err(Missed { kind: MissKind::NotFound, at: vec![excerpt_of(&haystack, first, usize::MAX)] })
}

/// The text for a place. A file without a last line break gets none, and an insertion becomes whole lines.
fn put(haystack: &Haystack<'_>, wanted: &Wanted<'_>, place: &Place<'_>) -> String {
    let (put, range) = (&*place.put, &place.range);
    let at_end = range.end == haystack.text().len();
    let without = put.strip_suffix('\n').unwrap_or(put);
    match range.is_empty() {
        true if put.is_empty() => String::new(),
        true if at_end && haystack.is_unended() => format!("\n{without}"),
        true if at_end && wanted.lines => put.to_owned(),
        true => format!("{without}\n"),
        false if at_end && haystack.is_unended() => without.to_owned(),
        false => put.to_owned(),
    }
}

/// The byte order mark of a text, if it has one, and the text after it.
pub(super) fn unmarked(text: &str) -> (&str, &str) {
    match text.strip_prefix('\u{feff}') {
        Some(body) => ("\u{feff}", body),
        None => ("", text),
    }
}

fn breaks(text: &str) -> usize {
    memchr::memchr_iter(b'\n', text.as_bytes()).count()
}

/// How edits have moved the lines of a file. The hunks of a patch count the lines of the file before the first hunk.
#[derive(Debug, Default, Clone)]
pub(super) struct MovedLines {
    /// Lines of the file before all edits, each with the number of lines that an edit added (or removed, if negative)
    /// there.
    by: Vec<(i64, i64)>,
}

impl MovedLines {
    /// The current number of a line of the file before all edits; both numbers count from 0.
    fn now(&self, line: u64) -> Option<usize> {
        let line = i64::try_from(line).ok()?;
        let moved: i64 = self.by.iter().filter(|(own, _)| *own < line).map(|(_, by)| by).sum();
        usize::try_from(line + moved).ok()
    }

    /// Records that an edit at `line`, a number in the current text, adds `by` lines.
    fn record(&mut self, line: usize, by: i64) {
        let mut before = i64::try_from(line).unwrap_or(i64::MAX);
        self.by.sort_unstable();
        for (own, by) in &self.by {
            if *own < before {
                before = (before - by).max(*own);
            }
        }
        self.by.extend((by != 0).then_some((before, by)));
    }
}

#[cfg(test)]
#[expect(
    clippy::disallowed_methods,
    clippy::string_slice,
    reason = "a test measures time, and cuts texts that it has made"
)]
mod tests {
    use super::*;
    use proptest::prelude::*;
    use rulebook::outcome::Matching;
    use std::time::{Duration, Instant};

    fn wanted(find: &str, put: &str) -> Edit {
        Edit { key: "a".into(), find: find.into(), put: put.into(), ..Edit::default() }
    }

    fn trimmed(find: &str, put: &str) -> Edit {
        let mut edit = wanted(find, put);
        edit.matching.push(Matching::TrimmedLines);
        edit
    }

    fn lines(find: &str, put: &str) -> Edit {
        let mut edit = wanted(find, put);
        edit.lines = true;
        edit
    }

    fn on(line: u64, mut edit: Edit) -> Edit {
        edit.line = Some(line);
        edit
    }

    fn after(lines: &[&str], mut edit: Edit) -> Edit {
        edit.after = lines.iter().map(|line| (*line).to_owned()).collect();
        edit
    }

    #[track_caller]
    fn check(text: &str, own: &Edit, expected: &str) {
        assert_eq!(edit(text, own, &mut MovedLines::default()).unwrap(), expected);
    }

    #[track_caller]
    fn misses(text: &str, own: &Edit, kind: MissKind, expected: &[u64]) {
        let missed = edit(text, own, &mut MovedLines::default()).unwrap_err();
        let at: Vec<u64> = missed.at.iter().map(|lines| lines.line).collect();
        assert_eq!((missed.kind, at.as_slice()), (kind, expected));
    }

    #[test]
    fn the_only_occurrence_is_replaced() {
        check("one two three", &wanted("two", "2"), "one 2 three");
        check("a\nb\nc\n", &wanted("b\n", ""), "a\nc\n");
        check("a\n", &wanted("a\n", "b"), "b");
        misses("one", &wanted("two", "2"), MissKind::NotFound, &[]);
        misses("b\na a\n", &wanted("a", "b"), MissKind::Ambiguous, &[2]);
        misses("aaa", &wanted("aa", "b"), MissKind::Ambiguous, &[1]);
        let mut all = wanted("aa", "b");
        all.all = true;
        check("aaa aa", &all, "ba b");
        misses("x", &all, MissKind::NotFound, &[]);
    }

    #[test]
    fn line_ends_and_the_mark_of_a_file_stay() {
        check("\u{feff}a\r\nb\r\nc\r\n", &wanted("b\nc\n", "B\nC\nD\n"), "\u{feff}a\r\nB\r\nC\r\nD\r\n");
        check("a\r\nb\r\n", &wanted("a\r\nb", "x\r\ny"), "x\r\ny\r\n");
        check("a\nb\n", &wanted("a\r\nb\r\n", "x\r\ny\r\n"), "x\ny\n");
        check("a\nb\r\nc\n", &wanted("b\n", "x\ny\n"), "a\nx\r\ny\r\nc\n");
        check("a\nb", &wanted("b\n", "c\n"), "a\nc");
        check("a\nb", &wanted("a\nb\n", "a\n"), "a");
        check("\u{feff}a", &wanted("\u{feff}a", "\u{feff}b"), "\u{feff}b");
    }

    #[test]
    fn whole_lines_start_where_lines_start() {
        check("ab\nb\n", &lines("b\n", "c\n"), "ab\nc\n");
        check("b\nab\n", &lines("b\n", "c\n"), "c\nab\n");
        check("b\nb", &lines("b", "c"), "b\nc");
        check("b", &lines("b", "c\n"), "c\n");
        misses("b\n", &lines("b", "c"), MissKind::NotFound, &[1]);
        misses("b\nb\n", &lines("b\n", "c\n"), MissKind::Ambiguous, &[1, 2]);
    }

    #[test]
    fn a_line_number_selects_the_only_occurrence_on_that_line() {
        check("a\nb\na\n", &on(3, wanted("a", "x")), "a\nb\nx\n");
        check("b\na\n", &on(40, wanted("a", "x")), "b\nx\n");
        misses("a\na\n", &on(3, wanted("a", "x")), MissKind::Ambiguous, &[1, 2]);
        misses("a a\na\n", &on(1, wanted("a", "x")), MissKind::Ambiguous, &[1, 2]);
        let many = "a\n".repeat(1000);
        check(&many, &on(900, wanted("a", "x")), &format!("{}x\n{}", "a\n".repeat(899), "a\n".repeat(100)));
        check(&many, &on(900, lines("a\n", "x\n")), &format!("{}x\n{}", "a\n".repeat(899), "a\n".repeat(100)));
    }

    #[test]
    fn preceding_lines_select_an_occurrence() {
        let text = "x\nclass A\n  f\n  x\nclass B\n  f\n  x\n  x\n";
        check(text, &after(&["class B"], wanted("  x", "  y")), &text.replace("B\n  f\n  x", "B\n  f\n  y"));
        check(text, &after(&["class A", "f"], wanted("x", "y")), &text.replace("A\n  f\n  x", "A\n  f\n  y"));
        misses(text, &after(&["f"], wanted("x", "y")), MissKind::Ambiguous, &[4, 7]);
        misses(text, &after(&["class C"], wanted("x", "y")), MissKind::NotFound, &[2]);
        misses("a\nb\n", &after(&["b"], wanted("a", "y")), MissKind::NotFound, &[1]);
        check("a\nb\n", &after(&["a"], wanted("", "new\n")), "a\nnew\nb\n");
        misses("a\nb\na\n", &after(&["a"], wanted("", "new\n")), MissKind::Ambiguous, &[2, 3]);
        check("f\nf\nx\n", &after(&["f"], wanted("x", "y")), "f\nf\ny\n");
    }

    #[test]
    fn an_addition_is_lines_of_its_own() {
        check("a\n", &wanted("", "b\n"), "a\nb\n");
        check("a\n", &wanted("", "b"), "a\nb\n");
        check("a", &wanted("", "b\n"), "a\nb");
        check("", &wanted("", "b\n"), "b\n");
        check("a\r\n", &wanted("", "b\nc\n"), "a\r\nb\r\nc\r\n");
        check("a\n", &lines("", "b"), "a\nb");
    }

    #[test]
    fn the_end_of_a_file_is_the_end() {
        let mut end = wanted("a", "x");
        end.end = true;
        check("a\na\n", &end, "a\nx\n");
        check("a\na", &end, "a\nx");
        misses("a\nb\n", &end, MissKind::NotFound, &[1]);
        let mut end = trimmed(" a\n", "x\n");
        end.end = true;
        check("a\na\n", &end, "a\nx\n");
    }

    /// A patch says of its last lines whether they have a line break.
    #[test]
    fn the_last_line_break_comes_and_goes_where_whole_lines_say_so() {
        for trims in [false, true] {
            let own = |find: &str, put: &str| {
                let find = if trims { format!(" {find}") } else { find.to_owned() };
                let put = if trims { format!(" {put}") } else { put.to_owned() };
                Edit { end: true, lines: true, ..if trims { trimmed(&find, &put) } else { wanted(&find, &put) } }
            };
            check("a\nx\n", &own("x\n", "y"), "a\ny");
            check("a\nx", &own("x\n", "y"), "a\ny");
            check("a\nx", &own("x", "y\n"), "a\ny\n");
            check("a\r\nx", &own("x", "y\n"), "a\r\ny\r\n");
            check("a\nx", &own("x", "y"), "a\ny");
            misses("x\nz\n", &own("x\n", "y"), MissKind::NotFound, &[1]);
            if trims {
                // A line break at the end is white space, too.
                check("a\nx\n", &own("x", "y"), "a\ny\n");
                check("a\nx\n", &own("x", "y\n"), "a\ny\n");
            } else {
                misses("a\nx\n", &own("x", "y"), MissKind::NotFound, &[2]);
            }
        }
        let end = Edit { end: true, ..after(&["a"], lines("", "new")) };
        check("a\nb\n", &end, "a\nb\nnew");
        misses("b\n", &end, MissKind::NotFound, &[]);
    }

    #[test]
    fn trimmed_lines_count_only_where_nothing_is_exact() {
        check("  a\n  b\n", &trimmed("a\nb\n", "c\nd\n"), "  c\n  d\n");
        check("if x:\n    a  \n", &trimmed("  a\n", "b\nc\n"), "if x:\n  b\n  c\n");
        check("\ta\r\n\tb", &trimmed("a\nb\n", "c\n"), "\tc");
        check(" a\nb\n", &trimmed("a ", ""), "\nb\n");
        check(" a\nb\n", &trimmed("a \n", ""), "b\n");
        misses(" a\n  a\n", &trimmed("a \n", "b\n"), MissKind::Ambiguous, &[1, 2]);
        misses("a\n\nb\n", &trimmed(" \n", "x\n"), MissKind::NotFound, &[]);
        misses("ab\n", &trimmed(" a", "x"), MissKind::NotFound, &[]);
    }

    #[test]
    fn a_deletion_requires_the_whole_file_to_match() {
        let at = |text: &str, expected: &str| -> Option<u64> { Some(require(text, expected).err()?.at[0].line) };
        for text in ["a\n\n b\n", "a\r\n\r\nb", "\u{feff}\na\n\nb\n\n"] {
            assert_eq!(at(text, "a\n\n b\n"), None, "{text:?}");
        }
        assert_eq!(at("\na\nb\nc\n", "a\nB\nc\n"), Some(3));
        assert_eq!(at("a\nb\n", "a\n"), Some(2));
        assert_eq!(at("a\n", "a\nb\n"), Some(1));
        assert_eq!(at("", "a\n"), Some(1));
    }

    #[test]
    fn later_hunks_count_the_lines_of_the_file_before_the_first() {
        let mut moved = MovedLines::default();
        let text = edit("a\nb\nx\nc\nx\n", &on(1, lines("a\n", "a\nnew\nnew\n")), &mut moved).unwrap();
        let text = edit(&text, &on(5, lines("x\n", "y\n")), &mut moved).unwrap();
        assert_eq!(text, "a\nnew\nnew\nb\nx\nc\ny\n");
        let text = edit(&text, &on(2, lines("b\n", "")), &mut moved).unwrap();
        assert_eq!((moved.now(0), moved.now(2), moved.now(4)), (Some(0), Some(3), Some(5)));
        assert_eq!(text, "a\nnew\nnew\nx\nc\ny\n");
    }

    #[test]
    fn the_work_is_bounded_whatever_is_looked_for() {
        let size = 512 << 10;
        let (one, lines_of_a) = ("a".repeat(size), "a\n".repeat(size / 2));
        let half = |text: &str| text[..text.len() / 2].to_owned();
        let mixed: String = (0..size / 8).map(|number| format!("{:07}\n", number % 1000)).collect();
        let mut words = "word ".repeat(size / 5);
        words.push('\n');
        for (text, find) in [
            (&one, half(&one)),
            (&one, half(&one) + "b"),
            (&one, "b".to_owned() + &half(&one)),
            (&lines_of_a, half(&lines_of_a)),
            (&lines_of_a, half(&lines_of_a) + "b\n"),
            (&lines_of_a, half(&lines_of_a).replace('a', " a")),
            (&lines_of_a, " b\n".repeat(size / 3)),
            (&mixed, half(&mixed).replace("0\n", " 0\n") + "x"),
            (&words, words.replace('\n', "") + "more"),
        ] {
            for mut own in
                [trimmed(&find, "x"), on(size as u64 / 4, trimmed(&find, "x")), after(&["a"], trimmed(&find, "x"))]
            {
                for whole in [false, true] {
                    own.lines = whole;
                    let clock = Instant::now();
                    _ = edit(text, &own, &mut MovedLines::default());
                    assert!(clock.elapsed() < Duration::from_secs(5), "{:?}: {:.20}", clock.elapsed(), own.find);
                }
            }
        }
    }

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(20_000))]
        #[test]
        fn an_edit_changes_nothing_outside_its_place(
            before in "[ab\n\r]{0,8}", own in "[cd\u{e9}]{1,3}(\r?\n[cd]{0,2}){0,2}", behind in "[ab\n\r]{0,8}",
            put in "[xy\n]{0,6}", mark in any::<bool>(), trims in any::<bool>(),
        ) {
            let mark = if mark { "\u{feff}" } else { "" };
            let text = format!("{mark}{before}{own}{behind}");
            let wanted = if trims { trimmed(&own, &put) } else { wanted(&own, &put) };
            if let Ok(edited) = edit(&text, &wanted, &mut MovedLines::default()) {
                prop_assert!(edited.starts_with(&format!("{mark}{before}")), "{edited:?}");
                prop_assert!(edited.ends_with(&behind), "{edited:?}");
                let middle = &edited[mark.len() + before.len()..edited.len() - behind.len()];
                prop_assert_eq!(middle.replace("\r\n", "\n"), put);
            }
        }
    }
}
