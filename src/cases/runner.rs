//! The runner: what comes of a case's answers, and does it match?
//!
//! In: a program and one case.
//! Out: [`CaseRun`]: the verdict, every expectation that did not hold, the outcomes.
//! Never: stops at the first failure, or lets one case see another's session.

use super::matching::{Failure, compare};
use super::parse::{Case, Step};
use crate::diagnostic::{Code, Diagnostic, alternatives};
use crate::outcome::{Options, Outcome};
use crate::program::Program;
use crate::session::Session;
use crate::text::Location;
use serde_json::{Map, Value};

/// How cases are run.
#[derive(Debug, Clone, Copy, Default)]
pub struct CaseOptions {
    /// Feeds each answer in pieces of so many bytes.
    pub chunk: Option<usize>,
    /// Whether the outcomes tell their story, for coverage.
    pub trace: bool,
}

/// What came of one case.
#[derive(Debug, Clone)]
pub struct CaseRun {
    /// Whether it holds.
    pub verdict: CaseVerdict,
    /// The expectations that did not hold.
    pub failures: Vec<Failure>,
    /// Why it could not be run.
    pub diagnostics: Vec<Diagnostic>,
    /// What came of each of its answers.
    pub outcomes: Vec<Outcome>,
}

/// Whether a case holds.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum CaseVerdict {
    /// Every expectation holds.
    Passed,
    /// One does not.
    Failed,
    /// One does not, as its `todo` says.
    Todo,
    /// Every expectation holds although its `todo` says otherwise.
    Done,
}

impl CaseVerdict {
    /// The word for it: `passed`, `failed`, `todo` or `done`.
    pub fn name(self) -> &'static str {
        match self {
            CaseVerdict::Passed => "passed",
            CaseVerdict::Failed => "failed",
            CaseVerdict::Todo => "todo",
            CaseVerdict::Done => "done",
        }
    }
}

/// Runs a case: its answers in order, each in the session that the one before left.
pub fn run(program: &Program, case: &Case, options: CaseOptions) -> CaseRun {
    let mut run =
        CaseRun { verdict: CaseVerdict::Passed, failures: Vec::new(), diagnostics: Vec::new(), outcomes: Vec::new() };
    match start(program, case) {
        Ok(mut session) => {
            let dialect = case.header.dialect.as_ref().map(|dialect| dialect.value.clone());
            let mut options = Options { dialect, trace: options.trace, chunk: options.chunk, ..Options::default() };
            for step in &case.steps {
                session = run.answer(program, &session, step, &options);
                // What follows a correction is the next attempt at the same answer.
                let asked = run.outcomes.last().is_some_and(|outcome| outcome.ask_again.is_some());
                options.attempts = if asked { options.attempts + 1 } else { 0 };
            }
        }
        Err(diagnostics) => run.diagnostics = diagnostics,
    }
    let holds = run.failures.is_empty() && run.diagnostics.is_empty();
    run.verdict = match (&case.header.todo, holds) {
        (None, true) => CaseVerdict::Passed,
        (None, false) => CaseVerdict::Failed,
        (Some(_), true) => CaseVerdict::Done,
        (Some(_), false) => CaseVerdict::Todo,
    };
    run
}

impl CaseRun {
    /// Reads one answer; the session after it.
    fn answer(&mut self, program: &Program, session: &Session, step: &Step, options: &Options) -> Session {
        let outcome = program.run_with(session, step.text.as_bytes(), options);
        match serde_json::to_value(&outcome) {
            Ok(json) => self.failures.extend(compare(self.outcomes.len(), &step.expected, &json)),
            Err(error) => {
                let message = format!("the outcome cannot be written as JSON: {error}");
                self.diagnostics.push(Diagnostic::new(Code::INTERNAL, step.at, message));
            }
        }
        let next = outcome.session.clone();
        self.outcomes.push(outcome);
        next
    }
}

/// The session in which a case starts.
fn start(program: &Program, case: &Case) -> Result<Session, Vec<Diagnostic>> {
    let header = &case.header;
    let mut partial = Map::new();
    let mut unknown = Vec::new();
    if let Some(mode) = &header.mode {
        partial.insert("mode".into(), mode.value.clone().into());
        unknown.extend(unless_declared("mode", &mode.value, mode.at, program.modes()));
    }
    if let Some(dialect) = &header.dialect {
        unknown.extend(unless_declared("dialect", &dialect.value, dialect.at, program.dialects()));
    }
    if let Some(state) = &header.state {
        partial.insert("state".into(), state.to_json());
    }
    if let Some(now) = &header.now {
        partial.insert("now".into(), now.value.clone().into());
    }
    if !unknown.is_empty() {
        return Err(unknown);
    }
    // What the session says of its parts stands in the header, at the state where there is one.
    let place = header.state.as_ref().map_or(header.claim.at, |state| state.at());
    program.resume(&Value::Object(partial)).map_err(|diagnostics| {
        diagnostics.into_iter().map(|one| Diagnostic { at: one.at.or(Some(place)), ..one }).collect()
    })
}

fn unless_declared<'n>(
    what: &str,
    name: &str,
    at: Location,
    declared: impl Iterator<Item = &'n str>,
) -> Option<Diagnostic> {
    let declared: Vec<&str> = declared.collect();
    // A pack without any has one, which only the session knows.
    if declared.is_empty() || declared.contains(&name) {
        return None;
    }
    let mut diagnostic = Diagnostic::new(Code::SESSION_MISFIT, at, format!("the pack has no {what} `{name}`"));
    diagnostic.help = alternatives(name, declared);
    Some(diagnostic)
}
