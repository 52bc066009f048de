//! The runner: what are the results of the parts of a case, and are they as expected?
//!
//! In: a program and one case.
//! Out: [`CaseRun`]: the verdict, every failed expectation, and the result of each part.
//! Never: stops at the first failure, or lets one case use the session of another.

use super::expectation::PartKind;
use super::matching::{CaseFailure, compare};
use super::parse::{Case, CaseStep, parse};
use super::prompts;
use super::talk::{Talk, TurnResult};
use crate::diagnostic::{Code, Diagnostic, Message, alternatives};
use crate::outcome::Options;
use crate::program::Program;
use crate::session::{Misfit, Session};
use crate::surface::Tree;
use crate::text::{Location, Sources, Spanned};
use crate::value::{Object, Value};

/// How cases are run.
#[derive(Debug, Clone, Copy, Default)]
pub struct CaseOptions {
    /// Feeds each answer in chunks of this many bytes.
    pub chunk: Option<usize>,
    /// Whether outcomes include their trace, which coverage needs.
    pub trace: bool,
}

/// The result of one case.
#[derive(Debug, Clone)]
#[non_exhaustive]
pub struct CaseRun {
    /// Whether it passed.
    pub verdict: CaseVerdict,
    /// The expectations that were not met.
    pub failures: Vec<CaseFailure>,
    /// Why it could not be run, and other findings.
    pub diagnostics: Vec<Diagnostic>,
    /// The results: first those of the header's `classes`, then those of the parts.
    pub results: Vec<TurnResult>,
}

/// Whether a case passed.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum CaseVerdict {
    /// Every expectation was met.
    Passed,
    /// An expectation was not met.
    Failed,
    /// An expectation was not met, and the case is marked `todo`.
    Todo,
    /// Every expectation was met although the case is marked `todo`.
    Done,
}

impl CaseVerdict {
    /// The name: `passed`, `failed`, `todo` or `done`.
    #[doc(hidden)]
    pub fn name(self) -> &'static str {
        match self {
            CaseVerdict::Passed => "passed",
            CaseVerdict::Failed => "failed",
            CaseVerdict::Todo => "todo",
            CaseVerdict::Done => "done",
        }
    }
}

/// What is wrong with case files, each with its name and bytes: faults of their form and, if there is a program, the
/// names that its pack does not have.
pub fn faults<'f>(
    program: Option<&Program>,
    files: impl Iterator<Item = (&'f str, &'f [u8])>,
) -> (Sources, Vec<Diagnostic>) {
    let (mut sources, mut faults) = (Sources::default(), Vec::new());
    for (name, bytes) in files {
        let parsed = parse(&mut sources, name, bytes);
        faults.extend(parsed.diagnostics);
        if let (Some(program), Some(case)) = (program, parsed.value) {
            faults.extend(misnamed(program, &case));
        }
    }
    (sources, faults)
}

/// Findings about every name in a case that the pack does not have, or that is probably misspelt. None for a case
/// marked `todo`.
fn misnamed(program: &Program, case: &Case) -> Vec<Diagnostic> {
    if case.header.todo.is_some() {
        return Vec::new();
    }
    let mut found = start(program, case).err().unwrap_or_default();
    let model = case.header.model.as_ref();
    found.extend(
        model.and_then(|model| Some(Diagnostic { at: Some(model.at), ..program.misnamed_model(&model.value)? })),
    );
    found
}

/// Runs the parts of a case in order, each in the session after the part before. For prompts, the parts before are the
/// history.
pub fn run(program: &Program, case: &Case, options: CaseOptions) -> CaseRun {
    let mut run =
        CaseRun { verdict: CaseVerdict::Passed, failures: Vec::new(), diagnostics: Vec::new(), results: Vec::new() };
    match start(program, case) {
        Ok(session) => {
            run.classes(program, &session, case, options.trace);
            let dialect = case.header.dialect.as_ref().map(|dialect| dialect.value.clone());
            let options = Options { dialect, trace: options.trace, chunk: options.chunk, ..Options::default() };
            let mut talk = Talk::new(program, session, options);
            for step in &case.steps {
                match step.part {
                    PartKind::Start => run.take(step, talk.start()),
                    PartKind::User => run.take(step, talk.hear(&step.text)),
                    PartKind::Response => run.take(step, talk.answer(&step.text)),
                    PartKind::Reply(provider) => match talk.judge(provider, &step.text) {
                        Ok(result) => run.take(step, result),
                        Err(faults) => {
                            let placed = |fault: Diagnostic| fault.placed(step.at);
                            run.diagnostics.extend(faults.diagnostics.into_iter().map(placed));
                        }
                    },
                    PartKind::Confirm => run.take(step, talk.confirm(step.text.trim())),
                    PartKind::Decline => run.take(step, talk.decline(step.text.trim())),
                    PartKind::Prompt => {
                        let named = |word: &Option<Spanned<String>>| word.as_ref().map(|word| word.value.clone());
                        let (prompt, model) = (named(&case.header.prompt), named(&case.header.model));
                        let prompt = talk.prompt_for(&step.text, prompt, model);
                        run.failures.extend(prompts::compare(&step.expected, &prompt));
                        // Without a prompt, nothing is in it: what it should lack says nothing.
                        if !prompts::expects_findings(&step.expected) {
                            let errors = prompt.found.into_iter().filter(Diagnostic::is_error);
                            run.diagnostics.extend(errors.map(|fault| fault.placed(step.at)));
                        }
                    }
                }
            }
        }
        Err(diagnostics) => run.diagnostics = diagnostics,
    }
    let holds = run.failures.is_empty() && run.diagnostics.is_empty();
    run.verdict = match (&case.header.todo, holds) {
        (None, true) => CaseVerdict::Passed,
        (None, false) => CaseVerdict::Failed,
        (Some(todo), true) => {
            let message = "every expectation is met now";
            run.diagnostics.push(Diagnostic::new(Code::CASE_HOLDS, todo.at, message).with_help("take the `todo` out"));
            CaseVerdict::Done
        }
        (Some(_), false) => CaseVerdict::Todo,
    };
    run
}

impl CaseRun {
    /// Classifies each text of the header's `classes` on its own.
    fn classes(&mut self, program: &Program, session: &Session, case: &Case, trace: bool) {
        for (class, words) in &case.header.classes {
            for text in &words.value.0 {
                let heard = program.hear(session, &text.value, &Options { trace, ..Options::default() });
                let got = heard.class.clone().unwrap_or_default();
                if got != *class {
                    let failure =
                        CaseFailure::new(text.at, "class".to_owned(), class.as_str().into(), Some(got.into()));
                    self.failures.push(CaseFailure { step: Some(self.results.len()), ..failure });
                }
                self.results.push(TurnResult::Heard(Box::new(heard)));
            }
        }
    }

    /// Compares the result of a step with what is expected of it.
    fn take(&mut self, step: &CaseStep, result: TurnResult) {
        match result.json() {
            Some(json) => self.failures.extend(compare(self.results.len(), &step.expected, &json)),
            None => {
                let message = "what came of this cannot be written as JSON";
                self.diagnostics.push(Diagnostic::new(Code::INTERNAL, step.at, message));
            }
        }
        self.results.push(result);
    }
}

/// The session in which a case starts.
pub(super) fn start(program: &Program, case: &Case) -> Result<Session, Vec<Diagnostic>> {
    let header = &case.header;
    let mut partial = Object::new();
    let mut unknown = Vec::new();
    if let Some(mode) = &header.mode {
        partial.insert("mode", mode.value.clone().into());
        unknown.extend(unless_declared("mode", &mode.value, mode.at, program.modes()));
    }
    if let Some(dialect) = &header.dialect {
        unknown.extend(unless_declared("dialect", &dialect.value, dialect.at, program.dialects()));
    }
    if let Some(prompt) = &header.prompt {
        let prompts = program.prompts.prompts.keys().map(String::as_str);
        unknown.extend(unless_declared("prompt", &prompt.value, prompt.at, prompts));
    }
    if let Some(state) = &header.state {
        let computed = |(name, _): &&(Spanned<String>, Tree)| {
            program.slots.get(&name.value).is_some_and(|slot| slot.compute.is_some())
        };
        let members = if let Tree::Table(members, _) = state { members.as_slice() } else { &[] };
        unknown.extend(members.iter().filter(computed).map(|(name, _)| {
            let message = format!("`state.{}` is computed: a value given here is not used", name.value);
            let fault = Diagnostic::new(Code::SESSION_MISFIT, name.at, message);
            fault.with_help("set the values that it is computed from")
        }));
        partial.insert("state", state.to_json());
    }
    if let Some(now) = &header.now {
        partial.insert("now", now.value.clone().into());
    }
    for (class, words) in header.classes.iter().filter(|(class, _)| !class.is_empty()) {
        unknown.extend(unless_declared("class", class, words.at, program.classes()));
    }
    if !unknown.is_empty() {
        return Err(unknown);
    }
    // Faults of the session are reported at the header's `state`, or else at its `claim`.
    let place = header.state.as_ref().map_or(header.claim.at, |state| state.at());
    let (session, misfits) = program.resume_in_part(&Value::Object(partial));
    if misfits.is_empty() {
        return Ok(session);
    }
    let placed = |misfit: Misfit| {
        let inside = misfit
            .pointer
            .strip_prefix("/state")
            .and_then(|pointer| Some(header.state.as_ref()?.place(pointer, misfit.named)));
        Diagnostic { at: Some(inside.unwrap_or(place)), ..misfit.diagnostic }
    };
    Err(misfits.into_iter().map(placed).collect())
}

fn unless_declared<'n>(
    what: &str,
    name: &str,
    at: Location,
    declared: impl Iterator<Item = &'n str>,
) -> Option<Diagnostic> {
    let declared: Vec<&str> = declared.collect();
    // A pack without modes has the implicit mode `default`, which only the session reports.
    if declared.is_empty() || declared.contains(&name) {
        return None;
    }
    let mut diagnostic = Diagnostic::new(Code::SESSION_MISFIT, at, format!("the pack has no {what} `{name}`"));
    diagnostic.help = alternatives(name, declared).map(Message::from);
    Some(diagnostic)
}
