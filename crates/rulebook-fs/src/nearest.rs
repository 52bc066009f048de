//! Nearest: which lines of a file resemble a text that is not in it?
//!
//! In: the lines of a file, and a text that was not found.
//! Out: the lines that share the most with the text, cut to a readable length.
//! Never: takes more than a few passes over the file, or returns more than a few lines.

use super::cut::cut;
use super::haystack::Haystack;
use rulebook::outcome::FileLines;
use std::collections::{HashMap, HashSet};

/// The most lines of the text that are compared.
const MAX_COMPARED: usize = 200;
/// The most lines of an excerpt.
const MAX_LINES: usize = 12;
/// The longest line of an excerpt, in bytes.
const MAX_BYTES: usize = 240;
/// A line that occurs more often than this in the file is ignored: it does not locate the text.
const MAX_OCCURRENCES: usize = 50;
/// The shortest word, in characters, that is compared.
const MIN_WORD_CHARACTERS: usize = 3;

/// The lines of the file that share the most with the text; empty if they share nothing.
pub(super) fn nearest(haystack: &Haystack<'_>, find: &str) -> Vec<FileLines> {
    let lines: Vec<&str> = find.lines().map(str::trim).take(MAX_COMPARED).collect();
    let start = by_lines(haystack, &lines).or_else(|| by_words(haystack, &lines));
    let count = lines.len().max(1);
    start.map(|start| excerpt_of(haystack, start, count)).into_iter().collect()
}

/// An excerpt of the file that starts at `line`; long lines are cut.
pub(super) fn excerpt_of(haystack: &Haystack<'_>, line: usize, count: usize) -> FileLines {
    let end = (line + count.min(MAX_LINES)).min(haystack.count());
    let text: Vec<_> = (line..end).map(|line| cut(haystack.line(line), MAX_BYTES)).collect();
    FileLines { line: line as u64 + 1, text: text.join("\n") }
}

/// The line at which the text would start according to most of its lines that occur in the file.
fn by_lines(haystack: &Haystack<'_>, lines: &[&str]) -> Option<usize> {
    let mut places: HashMap<&str, Vec<usize>> =
        lines.iter().filter(|line| !line.is_empty()).map(|line| (*line, Vec::new())).collect();
    for (number, line) in haystack.lines().enumerate() {
        if let Some(places) = places.get_mut(line.trim()).filter(|places| places.len() <= MAX_OCCURRENCES) {
            places.push(number);
        }
    }
    let mut votes: HashMap<usize, usize> = HashMap::new();
    for (offset, line) in lines.iter().enumerate() {
        let distinctive = places.get(line).filter(|places| places.len() <= MAX_OCCURRENCES);
        for place in distinctive.into_iter().flatten() {
            *votes.entry(place.saturating_sub(offset)).or_default() += 1;
        }
    }
    votes.into_iter().max_by_key(|(start, votes)| (*votes, usize::MAX - start)).map(|(start, _)| start)
}

/// The line at which the text would start according to the line that shares the most words with the first line of the
/// text that has words.
fn by_words(haystack: &Haystack<'_>, lines: &[&str]) -> Option<usize> {
    let (offset, line) = lines.iter().enumerate().find(|(_, line)| words(line).next().is_some())?;
    let wanted: HashSet<&str> = words(line).collect();
    let share = |line: &str| {
        let (mut shared, mut all) = (HashSet::<&str>::new(), 0_usize);
        for word in words(line) {
            all += 1;
            shared.extend(wanted.get(word));
        }
        // Per mille of the words of both lines.
        (shared.len() * 2000) / (all + wanted.len()).max(1)
    };
    let shares = haystack.lines().map(share).enumerate();
    let best = shares.filter(|(_, share)| *share > 0).max_by_key(|(number, share)| (*share, usize::MAX - number))?;
    Some(best.0.saturating_sub(offset))
}

/// The words of a line that are long enough to be compared.
fn words(line: &str) -> impl Iterator<Item = &str> {
    line.split(|c: char| !c.is_alphanumeric() && c != '_')
        .filter(|word| word.chars().nth(MIN_WORD_CHARACTERS - 1).is_some())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check(text: &str, find: &str, expected: &[(u64, &str)]) {
        let found = nearest(&Haystack::new(text), find);
        let found: Vec<(u64, &str)> = found.iter().map(|lines| (lines.line, lines.text.as_str())).collect();
        assert_eq!(found, expected);
    }

    #[test]
    fn the_lines_that_share_most_are_the_nearest() {
        let text = "fn one() {\n    first();\n}\n\nfn two() {\n    second(1);\n    third();\n}\n";
        check(
            text,
            "fn two() {\n    second(2);\n    third();\n}\n",
            &[(5, "fn two() {\n    second(1);\n    third();\n}")],
        );
        check(text, "    second( 3 );", &[(6, "    second(1);")]);
        check(text, "nothing of it", &[]);
        check("", "a", &[]);
    }

    #[test]
    fn what_is_shown_is_short() {
        let long = format!("word {}\n", "x".repeat(100_000));
        let found = nearest(&Haystack::new(&long), "a word");
        assert!(found[0].text.len() < MAX_BYTES + 4);
        let many = "word\n".repeat(100);
        assert_eq!(nearest(&Haystack::new(&many), &"some word\n".repeat(50))[0].text.lines().count(), MAX_LINES);
    }
}
