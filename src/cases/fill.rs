//! Filling: which expectations does a case with empty ones get?
//!
//! In: a program, and a case file with empty `=== expect ===` parts.
//! Out: the same text with the result of each part as its expectation.
//! Never: fixes any other fault of a case, or claims that the result is right.

use super::expectation::PartKind;
use super::parse::read;
use super::runner::{CaseOptions, run, start};
use super::script::expectation;
use crate::diagnostic::{Code, Diagnostic};
use crate::program::Program;
use crate::text::Sources;

/// The text of a case file with its empty expectations filled in, in the form that [`script`](super::script()) writes.
/// None if anything else is wrong with the file, if an empty expectation is about a prompt, or if the case is marked
/// `todo`.
pub fn filled(program: &Program, path: &str, bytes: &[u8]) -> Option<String> {
    let mut sources = Sources::default();
    let (case, found) = read(&mut sources, path, bytes);
    let case = case.filter(|case| case.header.todo.is_none())?;
    let faults: Vec<&Diagnostic> = found.iter().filter(|one| one.is_error()).collect();
    let empty = || case.steps.iter().filter(|step| step.expected.is_empty());
    let is_only_missing = empty().count() == faults.len()
        && faults.iter().all(|fault| fault.code == Code::CASE_EMPTY)
        && empty().all(|step| step.part != PartKind::Prompt);
    if faults.is_empty() || !is_only_missing {
        return None;
    }
    let mut before = start(program, &case).ok()?;
    let run = run(program, &case, CaseOptions::default());
    let steps: Vec<_> = case.steps.iter().filter(|step| step.part != PartKind::Prompt).collect();
    // The results of the header come first: skip them.
    let turns = run.results.iter().skip(run.results.len().checked_sub(steps.len())?);
    let text = sources.get(case.source)?.text();
    let (mut out, mut done) = (String::with_capacity(text.len()), 0);
    for (step, turns) in steps.into_iter().zip(turns) {
        if step.expected.is_empty() {
            out += text.get(done..step.expects)?;
            if !out.ends_with('\n') {
                out.push('\n');
            }
            out += &expectation(&before, turns);
            done = step.expects;
        }
        before = turns.session().clone();
    }
    Some(out + text.get(done..)?)
}
