//! Case runs for people: which expectations failed, and what was found instead?
//!
//! In: the cases of a pack, their results, and their files.
//! Out: every failure at its line, the expected value beside the actual one, and one line with totals.
//! Never: reports a case that passes, unless it is still marked `todo`.

use super::count;
use super::diff::{Change, DiffLine, compare};
use super::drawing::{BAD, FAINT, GOOD, Mark, Pen, Picture, STRONG, WARN, paint};
use super::suggestion::meant;
use rulebook::cases::{Case, CaseFailure, CaseRun, CaseVerdict, Coverage, Covered};
use rulebook::diagnostic::Row;
use rulebook::outcome::Finding;
use rulebook::text::excerpt;
use rulebook::{Code, Diagnostic, Severity, Sources, Value};
use std::fmt::Write as _;

/// A pack whose cases were run.
#[derive(Debug)]
pub struct TestedPack {
    /// The name of the pack.
    pub name: String,
    /// The pen to draw its files with.
    pub pen: Pen,
    /// Why the pack cannot run, with its sources.
    pub faults: Option<(Sources, Vec<Diagnostic>)>,
    /// The sources of the case files.
    pub sources: Sources,
    /// Diagnostics about case files that cannot be read.
    pub broken: Vec<Diagnostic>,
    /// Files that look like cases but are not read as cases.
    pub overlooked: Vec<Diagnostic>,
    /// The cases with their results.
    pub runs: Vec<(Case, CaseRun)>,
    /// The coverage, if it was asked for.
    pub coverage: Option<Coverage>,
    /// The minimum coverage, in percent.
    pub least: Option<usize>,
    /// Whether to print the whole coverage.
    pub lists: bool,
}

impl TestedPack {
    /// The number of cases with this verdict.
    pub fn count(&self, verdict: CaseVerdict) -> usize {
        self.runs.iter().filter(|(_, run)| run.verdict == verdict).count()
    }

    /// Whether there was no case to run, and neither the pack nor a case file has a fault.
    pub fn is_idle(&self) -> bool {
        self.runs.is_empty() && self.broken.is_empty() && self.faults.is_none()
    }

    /// Whether a case failed or could not be read, the pack cannot run, or its coverage is below the minimum.
    pub fn has_failed(&self) -> bool {
        let faults = self.faults.iter().flat_map(|(_, faults)| faults);
        let failed = self.count(CaseVerdict::Failed) > 0 || self.uncovered().next().is_some();
        failed || faults.chain(&self.broken).any(Diagnostic::is_error)
    }

    /// The declarations that no case exercised, if the coverage is too low.
    fn uncovered(&self) -> impl Iterator<Item = &Covered> {
        let below = |coverage: &&Coverage| self.least.is_some_and(|least| coverage.percent() < least);
        self.coverage.iter().filter(below).flat_map(|coverage| coverage.rows.iter().filter(|row| row.hits == 0))
    }

    /// A row for each reason why the pack or a case file cannot be used.
    pub fn unusable(&self) -> impl Iterator<Item = Row> {
        let faults = self.faults.iter().flat_map(|(sources, faults)| faults.iter().map(move |one| (sources, one)));
        let all = faults.chain(self.broken.iter().map(|one| (&self.sources, one)));
        all.map(|(sources, one)| self.pen.row(sources, one))
    }

    /// A row for everything that needs attention.
    pub fn rows(&self) -> Vec<Row> {
        let listed = self.runs.iter().filter(|(_, run)| matches!(run.verdict, CaseVerdict::Failed | CaseVerdict::Done));
        let of_runs = listed.flat_map(|(case, run)| {
            let faults = run.diagnostics.iter().map(|one| self.pen.row(&self.sources, one));
            faults.chain(run.failures.iter().map(|one| {
                let found = if needs_findings(&one.path) { findings(run, one) } else { None };
                let mut row = self.pen.failure_row(&self.sources, case, one);
                if let (Some(help), Some((_, found))) = (&mut row.help, found) {
                    help.extend(["; found: ", found.lines().next().unwrap_or_default()]);
                }
                row
            }))
        });
        // Without a minimum, uncovered rows are no errors: they are listed as remarks, and only if the list was asked
        // for.
        let listed = self.coverage.iter().filter(|_| self.lists).flat_map(|coverage| &coverage.rows);
        let listed = listed.filter(|row| row.hits == 0 && self.uncovered().next().is_none());
        let listed = listed.map(|row| {
            let mut row = self.pen.uncovered_row(row);
            row.severity = Severity::Info;
            row
        });
        let uncovered = self.uncovered().map(|row| self.pen.uncovered_row(row));
        let overlooked = self.overlooked.iter().map(|finding| self.pen.row(&self.sources, finding));
        self.unusable().chain(overlooked).chain(of_runs).chain(uncovered).chain(listed).collect()
    }

    /// Everything that needs attention, for people.
    pub fn human(&self) -> String {
        let mut text = String::new();
        if let Some((sources, faults)) = &self.faults {
            text += &self.pen.diagnostics(sources, faults);
        }
        text += &self.pen.diagnostics(&self.sources, &self.broken);
        text += &self.overlooked();
        for (case, run) in &self.runs {
            if matches!(run.verdict, CaseVerdict::Failed | CaseVerdict::Done) {
                text += &self.pen.diagnostics(&self.sources, &run.diagnostics);
                text.extend(run.failures.iter().map(|failure| self.failure(case, run, failure) + "\n"));
            }
        }
        let lists = self.lists || self.uncovered().next().is_some();
        if let Some(coverage) = self.coverage.as_ref().filter(|_| lists) {
            text += &self.pen.coverage(&self.name, coverage, self.least);
        }
        text
    }

    /// The files that look like cases but are not read as cases, for people.
    pub fn overlooked(&self) -> String {
        self.pen.diagnostics(&self.sources, &self.overlooked)
    }

    fn failure(&self, case: &Case, run: &CaseRun, failure: &CaseFailure) -> String {
        let (label, difference) = explain(failure);
        let mut notes = Vec::new();
        notes.extend(difference.map(|text| ("difference", text)));
        // A status or a code alone does not say why the case failed, so the findings are printed with it.
        if needs_findings(&failure.path) {
            notes.extend(findings(run, failure));
        }
        notes.extend(meant(failure).map(|help| ("help", help)));
        notes.push(("claim", case.header.claim.value.clone()));
        let source = self.sources.get(failure.at.source);
        let mark = source.map(|source| Mark { source, span: failure.at.span, label: Some(label), primary: true });
        self.pen.draw(&Picture {
            severity: Severity::Error,
            code: Code::CASE_FAILED.to_string(),
            message: format!("`{}` is not as expected", failure.path),
            marks: mark.into_iter().collect(),
            notes,
        })
    }
}

/// The longest expected value, in characters, that is printed next to its line.
const MAX_VALUE_CHARACTERS: usize = 60;

impl Pen {
    /// The last line of `test`: how many cases of how many packs pass.
    pub fn tested_sum(&self, packs: &[TestedPack]) -> String {
        let sum = |verdict| packs.iter().map(|pack| pack.count(verdict)).sum::<usize>();
        let cases: usize = packs.iter().map(|pack| pack.runs.len()).sum();
        let unread: usize = packs.iter().map(|pack| pack.broken.len()).sum();
        let unfit = packs.iter().filter(|pack| pack.faults.is_some()).count();
        let failed = sum(CaseVerdict::Failed);
        let mut words = vec![paint(
            if failed + unread + unfit == 0 { GOOD } else { STRONG },
            &format!("{} passed", sum(CaseVerdict::Passed)),
        )];
        if failed > 0 {
            words.push(paint(BAD, &format!("{failed} failed")));
        }
        if unread > 0 {
            words.push(paint(BAD, &format!("{} in case files", count(unread, "fault"))));
        }
        if unfit > 0 {
            words.push(paint(BAD, &format!("{} cannot run", count(unfit, "pack"))));
        }
        if sum(CaseVerdict::Todo) > 0 {
            words.push(paint(FAINT, &format!("{} to do", sum(CaseVerdict::Todo))));
        }
        if sum(CaseVerdict::Done) > 0 {
            words.push(paint(WARN, &format!("{} no longer to do", sum(CaseVerdict::Done))));
        }
        format!("{} in {}: {}\n", count(cases, "case"), count(packs.len(), "pack"), words.join(", "))
    }

    fn coverage(&self, name: &str, coverage: &Coverage, least: Option<usize>) -> String {
        let percent = coverage.percent();
        let (style, wanted) = match least {
            Some(least) if percent < least => (BAD, format!(" (at least {least} % required)")),
            _ => (STRONG, String::new()),
        };
        let mut text = format!("{}{wanted}\n", paint(style, &format!("{name}: the cases exercise {percent} %")));
        let mut kinds: Vec<&str> = coverage.rows.iter().map(|row| row.kind).collect();
        kinds.dedup();
        for kind in kinds {
            let rows: Vec<_> = coverage.rows.iter().filter(|row| row.kind == kind).collect();
            let hit = rows.iter().filter(|row| row.hits > 0).count();
            let style = if hit == rows.len() { GOOD } else { WARN };
            _ = writeln!(text, "{}", paint(style, &format!("{hit} of {}", count(rows.len(), kind))));
            for row in rows.iter().filter(|row| row.hits == 0) {
                let rule = row.rule.as_ref().map(|rule| self.display_name(rule)).unwrap_or_default();
                let reason = row.reason.as_ref().map(ToString::to_string).unwrap_or_default();
                _ = writeln!(text, "  {}  {}  {}", row.name, paint(WARN, &reason), paint(FAINT, &rule));
            }
        }
        text.push('\n');
        text
    }
}

/// The label for the line of a failed expectation; and the difference, line by line, if the values are too long for a
/// label.
fn explain(failure: &CaseFailure) -> (String, Option<String>) {
    let Some(got) = &failure.got else {
        let holds = failure.path.split('[').next() == Some("contains");
        let label = if holds { "the prompt does not contain this" } else { "expected, but there is nothing here" };
        return (label.to_owned(), None);
    };
    if failure.is_unwanted() {
        return (format!("unexpected: it contains {}", excerpt(&got.to_string(), MAX_VALUE_CHARACTERS)), None);
    }
    // White space that differs is visible only in quotes, so values that differ in nothing else are printed as strings.
    let blank = |value: &Value| value.as_str().map(|text| text.split_whitespace().collect::<Vec<_>>().join(" "));
    let spaced = blank(got).is_some() && blank(&failure.expected) == blank(got);
    let short = |value: &Value| {
        let text = value.to_string();
        let lines = value.as_str().is_some_and(|text| text.contains('\n'));
        (text.chars().count() <= MAX_VALUE_CHARACTERS && (spaced || !lines)).then_some(text)
    };
    match (short(&failure.expected), short(got)) {
        (Some(expected), Some(got)) => (format!("expected {expected}, got {got}"), None),
        _ => {
            let lines = |value: &Value| match value {
                Value::String(text) => (**text).to_owned(),
                other => serde_json::to_string_pretty(other).unwrap_or_default(),
            };
            let label = if spaced { "got other white space" } else { "got something else" };
            (label.to_owned(), Some(draw_difference(&lines(&failure.expected), &lines(got))))
        }
    }
}

/// The difference between two texts: expected lines with a minus, actual ones with a plus, and a few common lines
/// around them.
fn draw_difference(expected: &str, got: &str) -> String {
    let drawn = compare(expected, got).into_iter().map(|line| match line {
        DiffLine::Line(Change::Equal, text) => format!("  {text}"),
        DiffLine::Line(Change::Delete, text) => format!("- {text}"),
        DiffLine::Line(Change::Insert, text) => format!("+ {text}"),
        DiffLine::LeftOut => "…".to_owned(),
    });
    let drawn: Vec<String> = std::iter::once("- expected, + got".to_owned()).chain(drawn).collect();
    drawn.join("\n")
}

/// Whether the values at a path explain a failure only together with the findings of the answer.
fn needs_findings(path: &str) -> bool {
    ["status", "codes", "remarks"].contains(&path) || path.ends_with(".verdict")
}

/// The findings that explain why a value is not the expected one.
fn findings(run: &CaseRun, failure: &CaseFailure) -> Option<(&'static str, String)> {
    let wanted = |finding: &&Finding| (finding.severity == Severity::Info) == (failure.path == "remarks");
    let lines: Vec<String> = run
        .results
        .get(failure.step?)?
        .diagnostics()
        .iter()
        .filter(wanted)
        .map(|one| {
            // The help of a finding names the condition that denies a call.
            let why = one.help.as_ref().map(|help| format!(" ({help})")).unwrap_or_default();
            format!("{}:{} {} {}{why}", one.line, one.column, one.code, one.message)
        })
        .collect();
    (!lines.is_empty()).then(|| ("found", lines.join("\n")))
}
