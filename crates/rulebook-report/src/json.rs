//! JSON for programs: what is the result of a command, in a stable format?
//!
//! In: rows, case runs and coverage.
//! Out: the reports of `check`, `test`, `apply`, `replay` and `diff`, version 1 (`schemas/check.schema.json` and
//! others).
//! Never: leaves out a member; an absent value is `null` or `[]`.

use super::{AppliedFile, Counts, Differing, Replayed, Tally, TestedPack};
use rulebook::cases::CaseVerdict;
use rulebook::compare::{Comparison, DeclarationChange, PromptChange};
use rulebook::diagnostic::Row;
use rulebook::program::{Permission, PermitCell};
use rulebook::{FilePlace, Outcome, Value};

/// The version of these reports.
pub const VERSION: u32 = 1;

rulebook::contract! {
    /// The report of `check`: every diagnostic of every pack, and totals.
    pub struct Checked {
        /// The version of this report: 1.
        version: u32,
        /// Every diagnostic, pack by pack.
        diagnostics: Vec<Row>,
        /// What each mode says of each action and tool; absent unless the tools of a host are given.
        #[serde(default, skip_serializing_if = "Vec::is_empty")]
        permits: Vec<PermitRow>,
        /// The totals.
        summary: CheckedSum,
    }

    /// What a mode says of an action or a tool.
    pub struct PermitRow {
        /// The action.
        action: String,
        /// The mode.
        mode: String,
        /// `always`, `when` or `never`.
        permitted: String,
        /// The condition; `confirmed` in it means that a person has to confirm each call. None if there is none.
        when: Option<String>,
        /// The place of the permit; none without one.
        rule: Option<FilePlace>,
    }

    /// The totals of `check`.
    pub struct CheckedSum {
        /// How many packs were checked.
        packs: usize,
        /// How many diagnostics are errors.
        errors: usize,
        /// How many diagnostics are warnings.
        warnings: usize,
        /// How many diagnostics are remarks.
        infos: usize,
    }

    /// The report of `apply`: every file and what became of it.
    pub struct Applied {
        /// The version of this report: 1.
        version: u32,
        /// Whether `--dry-run` was given, so that nothing was written.
        dry_run: bool,
        /// Every file of the answer, in the order of its effects.
        files: Vec<AppliedFile>,
        /// The findings about the answer, then the reasons why files could not be written.
        diagnostics: Vec<Row>,
        /// The outcome of the answer, with the next session, as from `run`.
        outcome: Outcome,
    }

    /// The report of `replay`: totals over all answers.
    pub struct Replay {
        /// The version of this report: 1.
        version: u32,
        /// How many answers there are, including broken lines.
        answers: usize,
        /// How many lines are not answers.
        broken: usize,
        /// Outcomes by status.
        status: Counts,
        /// Outcomes by the dialect that read them; `none` if none did.
        dialects: Counts,
        /// Findings by code; for a guardrail, the code, a colon and its name.
        codes: Counts,
        /// Findings by the strategy that answered them.
        strategies: Counts,
        /// With `--against`: the outcomes that differ.
        against: Option<Against>,
        /// Diagnostics about the first of the broken lines.
        diagnostics: Vec<Row>,
    }

    /// The report of `diff`: what a change to a pack means.
    pub struct Compared {
        /// The version of this report: 1.
        version: u32,
        /// The changes, by kind.
        changes: Vec<DeclarationChange>,
        /// The prompts whose size changed.
        prompts: Vec<PromptChange>,
        /// With `--replay`: totals over the recorded answers, and the outcomes that differ.
        replay: Option<Replay>,
    }

    /// The outcomes that differ between two packs.
    pub struct Against {
        /// How many answers have differing outcomes.
        differing: usize,
        /// The kinds of differences, and how often each occurs.
        kinds: Vec<Kind>,
        /// The first of these answers.
        answers: Vec<Differing>,
    }

    /// One kind of difference.
    pub struct Kind {
        /// The differences in phrases, from the other pack's outcome to this one's.
        how: Vec<String>,
        /// How many answers differ in exactly this way.
        answers: usize,
    }

    /// The report of `test`: every case with its result, and totals.
    pub struct Tested {
        /// The version of this report: 1.
        version: u32,
        /// Every case, pack by pack.
        cases: Vec<TestedCase>,
        /// Why a pack or a case file could not be used.
        diagnostics: Vec<Row>,
        /// With `--coverage`: every declaration, and how often it took effect.
        coverage: Vec<CoveredRow>,
        /// The totals.
        summary: TestedSum,
    }

    /// One case.
    pub struct TestedCase {
        /// The name of the pack.
        pack: String,
        /// The name of the case: that of its file.
        name: String,
        /// Its file, as the user would type it.
        file: Option<String>,
        /// What it claims.
        claim: String,
        /// `passed`, `failed`, `todo` (it fails, and is marked `todo`) or `done` (it passes, although it is marked
        /// `todo`).
        verdict: String,
        /// The expectations that were not met.
        failures: Vec<FailedExpectation>,
        /// Why it could not be run.
        diagnostics: Vec<Row>,
    }

    /// An expectation that was not met.
    pub struct FailedExpectation {
        /// The path in the outcome, such as `calls[0].verdict`.
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
        /// What was found instead; `null` if there is nothing.
        got: Option<Value>,
    }

    /// How often the cases exercised one declaration.
    pub struct CoveredRow {
        /// The name of the pack.
        pack: String,
        /// The kind of declaration.
        kind: String,
        /// Its name in the pack.
        name: String,
        /// Its place, as `pack/file:line:column`.
        rule: Option<FilePlace>,
        /// How often it took effect.
        hits: usize,
        /// Why it never did; `null` if it did.
        reason: Option<String>,
    }

    /// The totals of `test`.
    pub struct TestedSum {
        /// How many packs were tested.
        packs: usize,
        /// How many cases there are.
        cases: usize,
        /// How many cases pass.
        passed: usize,
        /// How many cases fail.
        failed: usize,
        /// How many cases fail, and are marked `todo`.
        todo: usize,
        /// How many cases pass, although they are marked `todo`.
        done: usize,
    }
}

impl Checked {
    /// The report of `check` on this many packs.
    pub fn new(diagnostics: Vec<Row>, packs: usize) -> Self {
        let Tally { errors, warnings, infos } = Tally::of(diagnostics.iter().map(|row| row.severity));
        let summary = CheckedSum { packs, errors, warnings, infos };
        Self { version: VERSION, diagnostics, permits: Vec::new(), summary }
    }

    /// Adds the permits of each mode to the report.
    pub fn with_permits<'c>(self, cells: impl Iterator<Item = &'c PermitCell>) -> Self {
        let permits = cells.map(|cell| {
            let (permitted, when, rule) = match &cell.permission {
                Permission::Forbidden => ("never", None, None),
                Permission::Always { rule } => ("always", None, Some(rule.clone())),
                Permission::When { condition, rule } => ("when", Some(condition.clone()), Some(rule.clone())),
            };
            let (action, mode) = (cell.name.clone(), cell.mode.clone());
            PermitRow { action, mode, permitted: permitted.to_owned(), when, rule }
        });
        Self { permits: permits.collect(), ..self }
    }
}

impl Applied {
    /// The report of `apply` on these files.
    pub fn new(dry_run: bool, files: &[AppliedFile], diagnostics: Vec<Row>, outcome: &Outcome) -> Self {
        Self { version: VERSION, dry_run, files: files.to_vec(), diagnostics, outcome: outcome.clone() }
    }
}

impl Replay {
    /// The report of `replay` with these totals.
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
    /// The report of `diff` on these changes.
    pub fn new(comparison: &Comparison, replay: Option<Replay>) -> Self {
        let Comparison { changes, prompts } = comparison.clone();
        Self { version: VERSION, changes, prompts, replay }
    }
}

impl Tested {
    /// The report of `test` on these packs.
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
            let row = pack.pen.failure_row(&pack.sources, case, failure);
            let Row { file, line, column, end_line, end_column, .. } = row;
            let (path, expected, got) = (failure.path.clone(), failure.expected.clone(), failure.got.clone());
            FailedExpectation { path, file, line, column, end_line, end_column, expected, got }
        });
        TestedCase {
            pack: pack.name.clone(),
            name: case.name.clone(),
            file: pack.sources.get(case.source).map(|source| pack.pen.display_name(source.name())),
            claim: case.header.claim.value.clone(),
            verdict: run.verdict.name().to_owned(),
            failures: failures.collect(),
            diagnostics: run.diagnostics.iter().map(|one| pack.pen.row(&pack.sources, one)).collect(),
        }
    })
}
