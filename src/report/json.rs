//! JSON for programs: what came of a command, in words that stay the same?
//!
//! In: rows, case runs and coverage.
//! Out: the reports of `check`, `test`, `apply`, `replay` and `diff`, version 1 (`schemas/check.schema.json` and its like).
//! Never: leaves a member out; what is absent is `null` or `[]`.

use super::row::Row;
use super::{AppliedFile, Counts, Differing, Replayed, Tally, TestedPack};
use crate::cases::CaseVerdict;
use crate::compare::{Change, Comparison, PromptChange};
use crate::outcome::Outcome;
use crate::session::contract;
use serde_json::Value;
use std::sync::Arc;

/// The version of these reports.
pub const VERSION: u32 = 1;

contract! {
    /// The report of `check`: every diagnostic of every pack, and their sum.
    pub struct Checked {
        /// The version of this report: 1.
        version: u32,
        /// Every diagnostic, pack by pack.
        diagnostics: Vec<Row>,
        /// How many there are.
        summary: CheckedSum,
    }

    /// How much `check` found.
    pub struct CheckedSum {
        /// The packs that were checked.
        packs: usize,
        /// Diagnostics that are errors.
        errors: usize,
        /// Diagnostics that are warnings.
        warnings: usize,
        /// Diagnostics that are neither.
        infos: usize,
    }

    /// The report of `apply`: every file and what became of it.
    pub struct Applied {
        /// The version of this report: 1.
        version: u32,
        /// Whether nothing was written because nothing was to be.
        dry_run: bool,
        /// Every file of the answer, in the order of its effects.
        files: Vec<AppliedFile>,
        /// What was wrong with the answer, then what stood in the way of its files.
        diagnostics: Vec<Row>,
        /// What `run` makes of the answer, with the next session.
        outcome: Outcome,
    }

    /// The report of `replay`: how often what came of the answers.
    pub struct Replay {
        /// The version of this report: 1.
        version: u32,
        /// The answers, the broken lines among them.
        answers: usize,
        /// Lines that are no answers.
        broken: usize,
        /// Outcomes by status.
        status: Counts,
        /// Outcomes by the dialect that read them; `none` where none did.
        dialects: Counts,
        /// Findings by code; of a guardrail, with its name behind a colon.
        codes: Counts,
        /// Findings by the strategy that answered them.
        strategies: Counts,
        /// With `--against`: where the outcomes differ.
        against: Option<Against>,
        /// The first of the broken lines.
        diagnostics: Vec<Row>,
    }

    /// The report of `diff`: what the change of a pack means.
    pub struct Compared {
        /// The version of this report: 1.
        version: u32,
        /// What changed, kind by kind.
        changes: Vec<Change>,
        /// The prompts whose size changed.
        prompts: Vec<PromptChange>,
        /// With `--replay`: what became of the recorded answers, and where their outcomes differ.
        replay: Option<Replay>,
    }

    /// Where the outcomes of two packs differ.
    pub struct Against {
        /// How many answers do.
        differing: usize,
        /// In which ways, and how often each.
        kinds: Vec<Kind>,
        /// The first of the answers.
        answers: Vec<Differing>,
    }

    /// One way of differing.
    pub struct Kind {
        /// Phrase by phrase, from the other pack's outcome to this one's.
        how: Vec<String>,
        /// How many answers differ just so.
        answers: usize,
    }

    /// The report of `test`: every case and what came of it, and their sum.
    pub struct Tested {
        /// The version of this report: 1.
        version: u32,
        /// Every case, pack by pack.
        cases: Vec<TestedCase>,
        /// What kept a pack or a case file from being used.
        diagnostics: Vec<Row>,
        /// With `--coverage`: every declaration and how often it counted.
        coverage: Vec<CoveredRow>,
        /// How many there are.
        summary: TestedSum,
    }

    /// One case.
    pub struct TestedCase {
        /// The pack's name.
        pack: String,
        /// The case's name: that of its file.
        name: String,
        /// Its file, as the user would type it.
        file: Option<String>,
        /// What it claims.
        claim: String,
        /// `passed`, `failed`, `todo` (it fails, as it says) or `done` (it passes although it says otherwise).
        verdict: String,
        /// The expectations that did not hold.
        failures: Vec<FailedExpectation>,
        /// Why it could not be run.
        diagnostics: Vec<Row>,
    }

    /// An expectation that did not hold.
    pub struct FailedExpectation {
        /// The way to it through the outcome, such as `calls[0].verdict`.
        path: String,
        /// The case file.
        file: Option<String>,
        /// The line of the expectation.
        line: Option<usize>,
        /// Its column.
        column: Option<usize>,
        /// The line of its end.
        end_line: Option<usize>,
        /// The column of its end.
        end_column: Option<usize>,
        /// What was expected.
        expected: Value,
        /// What came instead; `null` where there is nothing.
        got: Option<Value>,
    }

    /// How often the cases exercised one declaration.
    pub struct CoveredRow {
        /// The pack's name.
        pack: String,
        /// What kind of declaration it is.
        kind: String,
        /// What the pack calls it.
        name: String,
        /// Where it stands, `pack/file:line:column`.
        rule: Option<Arc<str>>,
        /// How often it counted.
        hits: usize,
        /// Why it never did.
        reason: Option<String>,
    }

    /// How the cases ended.
    pub struct TestedSum {
        /// The packs whose cases were run.
        packs: usize,
        /// All cases.
        cases: usize,
        /// Cases that hold.
        passed: usize,
        /// Cases that do not.
        failed: usize,
        /// Cases that fail, as their `todo` says.
        todo: usize,
        /// Cases that pass although their `todo` says otherwise.
        done: usize,
    }
}

impl Checked {
    /// The report of what was found in so many packs.
    pub fn new(diagnostics: Vec<Row>, packs: usize) -> Self {
        let Tally { errors, warnings, infos } = Tally::of(diagnostics.iter().map(|row| row.severity));
        let summary = CheckedSum { packs, errors, warnings, infos };
        Self { version: VERSION, diagnostics, summary }
    }
}

impl Applied {
    /// The report of these files.
    pub fn new(dry_run: bool, files: &[AppliedFile], diagnostics: Vec<Row>, outcome: &Outcome) -> Self {
        Self { version: VERSION, dry_run, files: files.to_vec(), diagnostics, outcome: outcome.clone() }
    }
}

impl Replay {
    /// The report of these sums.
    pub fn new(replayed: &Replayed, diagnostics: Vec<Row>) -> Self {
        let kind = |(how, answers): (&Vec<String>, &usize)| Kind { how: how.clone(), answers: *answers };
        let against = Against {
            differing: replayed.differing,
            kinds: replayed.kinds.iter().map(kind).collect(),
            answers: replayed.named.clone(),
        };
        Self {
            version: VERSION,
            answers: replayed.lines,
            broken: replayed.broken,
            status: replayed.sums.status.clone(),
            dialects: replayed.sums.dialects.clone(),
            codes: replayed.sums.codes.clone(),
            strategies: replayed.sums.strategies.clone(),
            against: (replayed.compared > 0).then_some(against),
            diagnostics,
        }
    }
}

impl Compared {
    /// The report of these changes.
    pub fn new(comparison: &Comparison, replay: Option<Replay>) -> Self {
        let Comparison { changes, prompts } = comparison.clone();
        Self { version: VERSION, changes, prompts, replay }
    }
}

impl Tested {
    /// The report of these packs.
    pub fn new(packs: &[TestedPack]) -> Self {
        let cases: Vec<TestedCase> = packs.iter().flat_map(cases).collect();
        let sum = |verdict| packs.iter().map(|pack| pack.count(verdict)).sum::<usize>();
        Self {
            version: VERSION,
            diagnostics: packs.iter().flat_map(TestedPack::unusable).collect(),
            coverage: packs.iter().flat_map(coverage).collect(),
            summary: TestedSum {
                packs: packs.len(),
                cases: cases.len(),
                passed: sum(CaseVerdict::Passed),
                failed: sum(CaseVerdict::Failed),
                todo: sum(CaseVerdict::Todo),
                done: sum(CaseVerdict::Done),
            },
            cases,
        }
    }
}

fn coverage(pack: &TestedPack) -> impl Iterator<Item = CoveredRow> {
    pack.coverage.iter().flat_map(|coverage| &coverage.rows).map(|row| CoveredRow {
        pack: pack.name.clone(),
        kind: row.kind.to_owned(),
        name: row.name.clone(),
        rule: row.rule.clone(),
        hits: row.hits,
        reason: row.reason.as_ref().map(ToString::to_string),
    })
}

fn cases(pack: &TestedPack) -> impl Iterator<Item = TestedCase> {
    pack.runs.iter().map(|(case, run)| {
        let failures = run.failures.iter().map(|failure| {
            let row = Row::of_failure(&pack.pen, &pack.sources, case, failure);
            let Row { file, line, column, end_line, end_column, .. } = row;
            let (path, expected, got) = (failure.path.clone(), failure.expected.clone(), failure.got.clone());
            FailedExpectation { path, file, line, column, end_line, end_column, expected, got }
        });
        TestedCase {
            pack: pack.name.clone(),
            name: case.name.clone(),
            file: pack.sources.get(case.source).map(|source| pack.pen.shown(source.name())),
            claim: case.header.claim.value.clone(),
            verdict: run.verdict.name().to_owned(),
            failures: failures.collect(),
            diagnostics: run.diagnostics.iter().map(|one| Row::of_diagnostic(&pack.pen, &pack.sources, one)).collect(),
        }
    })
}
