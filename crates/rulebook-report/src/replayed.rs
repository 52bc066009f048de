//! Replayed answers: how often does each result occur?
//!
//! In: outcomes one by one, and how each differs from that of another pack.
//! Out: totals, and the kinds of differences with examples, as text for people and as data.
//! Never: uses more memory for more answers.

use super::count;
use super::drawing::{BAD, FAINT, GOOD, Pen, STRONG, WARN, paint};
use indexmap::IndexMap;
use rulebook::Outcome;
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;
use std::fmt::Write as _;

/// The most kinds of differences that are counted separately.
const MAX_KINDS: usize = 200;
/// The most differing answers that are listed; `--out` writes all of them.
const MAX_LISTED_ANSWERS: usize = 1_000;
/// The most answers that are named for a kind of difference, in text for people.
const MAX_ANSWERS_PER_KIND: usize = 5;

/// Counts by name.
pub type Counts = BTreeMap<String, usize>;

/// The results of a file of answers.
#[derive(Debug, Clone, Default)]
pub struct Replayed {
    /// The number of lines that are not empty.
    pub lines: usize,
    /// The number of those lines that are not answers.
    pub broken: usize,
    /// The totals over the other lines.
    pub sums: Sums,
    /// Members of lines that `replay` ignores: the first line with each, and the number of lines that have it.
    pub unread: IndexMap<String, (usize, usize)>,
    /// How many answers were also judged by another pack.
    pub compared: usize,
    /// How many of the compared answers have differing outcomes.
    pub differing: usize,
    /// The first of the differing answers.
    pub named: Vec<Differing>,
    /// The kinds of differences, each a list of phrases, with counts.
    pub kinds: IndexMap<Vec<String>, usize>,
}

/// Totals over outcomes.
#[derive(Debug, Clone, Default)]
pub struct Sums {
    /// Outcomes by status.
    pub status: Counts,
    /// Outcomes by the dialect that read them.
    pub dialects: Counts,
    /// Findings by code; for a guardrail, with its name.
    pub codes: Counts,
    /// Findings by the strategy that answered them.
    pub strategies: Counts,
}

/// An answer whose outcomes differ.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Differing {
    /// Its `id` in the file; its line if it has none.
    pub id: String,
    /// Its line, from 1.
    pub line: usize,
    /// The differences, from the other pack's outcome to this one's.
    pub how: Vec<String>,
}

impl Sums {
    /// The counts for one outcome.
    pub fn of(outcome: &Outcome) -> Self {
        let mut sums = Self::default();
        add(&mut sums.status, outcome.status.name(), 1);
        add(&mut sums.dialects, outcome.dialect.as_deref().unwrap_or("none"), 1);
        for finding in &outcome.diagnostics {
            match &finding.id {
                Some(id) => add(&mut sums.codes, &format!("{}: {id}", finding.code), 1),
                None => add(&mut sums.codes, finding.code.as_str(), 1),
            }
            if let Some(strategy) = &finding.strategy {
                add(&mut sums.strategies, strategy.name(), 1);
            }
        }
        sums
    }

    /// Adds the counts of `others`.
    pub fn add(&mut self, others: &Self) {
        let all = [
            (&mut self.status, &others.status),
            (&mut self.dialects, &others.dialects),
            (&mut self.codes, &others.codes),
            (&mut self.strategies, &others.strategies),
        ];
        for (counts, others) in all {
            others.iter().for_each(|(name, number)| add(counts, name, *number));
        }
    }
}

fn add(counts: &mut Counts, name: &str, more: usize) {
    match counts.get_mut(name) {
        Some(number) => *number += more,
        None => drop(counts.insert(name.to_owned(), more)),
    }
}

impl Replayed {
    /// Records how the outcomes of an answer differ, if they do.
    pub fn compare(&mut self, differing: Differing) {
        self.compared += 1;
        if differing.how.is_empty() {
            return;
        }
        self.differing += 1;
        if let Some(number) = self.kinds.get_mut(&differing.how) {
            *number += 1;
        } else if self.kinds.len() < MAX_KINDS {
            self.kinds.insert(differing.how.clone(), 1);
        }
        if self.named.len() < MAX_LISTED_ANSWERS {
            self.named.push(differing);
        }
    }

    /// Records the members of a line that `replay` ignores.
    pub fn ignore(&mut self, members: Vec<String>, line: usize) {
        for name in members {
            if let Some((_, times)) = self.unread.get_mut(&name) {
                *times += 1;
            } else if self.unread.len() < MAX_KINDS {
                self.unread.insert(name, (line, 1));
            }
        }
    }

    /// The last line of `replay`: how many answers there are, and how many of each status.
    pub fn sum(&self) -> String {
        let of = |name: &str, style| self.sums.status.get(name).map(|number| paint(style, &format!("{number} {name}")));
        let mut words: Vec<String> =
            [of("clean", GOOD), of("degraded", WARN), of("refused", BAD)].into_iter().flatten().collect();
        if self.broken > 0 {
            words.push(paint(BAD, &format!("{} broken", self.broken)));
        }
        if self.differing > 0 {
            words.push(paint(WARN, &format!("{} differ", self.differing)));
        } else if self.compared > 0 {
            words.push("none differ".to_owned());
        }
        match words.as_slice() {
            [] => "no answers\n".to_owned(),
            words => format!("{}: {}\n", count(self.lines, "answer"), words.join(", ")),
        }
    }
}

impl Pen {
    /// The totals, the most frequent names first, and the kinds of differences.
    pub fn replayed(&self, replayed: &Replayed) -> String {
        let mut text = String::new();
        let sums = &replayed.sums;
        let tables = [("dialects", &sums.dialects), ("findings", &sums.codes), ("strategies", &sums.strategies)];
        for (title, counts) in tables.iter().filter(|(_, counts)| !counts.is_empty()) {
            _ = writeln!(text, "{}", paint(STRONG, title));
            let mut rows: Vec<(&String, &usize)> = counts.iter().collect();
            rows.sort_by_key(|(_, number)| std::cmp::Reverse(**number));
            for (name, number) in rows {
                let share = 100.0 * *number as f64 / replayed.lines.max(1) as f64;
                _ = writeln!(text, "  {number:>8} {} {name}", paint(FAINT, &format!("{share:>5.1}%")));
            }
            text.push('\n');
        }
        if replayed.differing > 0 {
            text += &differences(replayed);
            text.push('\n');
        }
        text
    }
}

fn differences(replayed: &Replayed) -> String {
    let mut text = format!("{}\n", paint(STRONG, "differences"));
    let mut kinds: Vec<(&Vec<String>, &usize)> = replayed.kinds.iter().collect();
    kinds.sort_by_key(|(_, number)| std::cmp::Reverse(**number));
    for (how, number) in kinds {
        let mut first = true;
        for phrase in how {
            let number = if std::mem::take(&mut first) { number.to_string() } else { String::new() };
            _ = writeln!(text, "  {number:>8} {phrase}");
        }
        let same = |one: &&Differing| one.how == *how;
        let names: Vec<&str> =
            replayed.named.iter().filter(same).take(MAX_ANSWERS_PER_KIND).map(|one| one.id.as_str()).collect();
        let more = if *number > names.len() { ", …" } else { "" };
        _ = writeln!(text, "           {}", paint(FAINT, &format!("{}{more}", names.join(", "))));
    }
    let total: usize = replayed.kinds.values().sum();
    if total < replayed.differing {
        _ = writeln!(text, "  {:>8} in other ways; `--out` has all of them", replayed.differing - total);
    }
    text
}
