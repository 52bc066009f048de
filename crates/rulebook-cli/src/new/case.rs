//! New cases: which case tests a new table?
//!
//! In: the kind and name of the table, a mode, and the program with the table.
//! Out: the path and text of a case that passes; or why there is none.
//! Never: expects what the outcome of its answer does not contain.

use crate::Error;
use rulebook::cases::{self, CaseOptions, CaseVerdict};
use rulebook::outcome::{Call, Verdict};
use rulebook::program::DeclarationKind;
use rulebook::value::value;
use rulebook::{Options, Outcome, Program, Role, Sources};

/// The path and text of a case for the new table, or the reason why no answer exercises it.
pub(super) fn write(
    kind: DeclarationKind,
    name: &str,
    mode: &str,
    program: &Program,
) -> Result<Result<(String, String), String>, Error> {
    let asked = if kind == DeclarationKind::Mode { name } else { mode };
    let session = program.resume(&value!({ "mode": asked })).unwrap_or_else(|_| program.session());
    let dialect = (kind == DeclarationKind::Dialect).then(|| name.to_owned());
    let options = Options { dialect: dialect.clone(), ..Options::default() };
    let mut judged = answers(kind, name, mode, program).into_iter().map(|answer| {
        let outcome = program.run_with(&session, answer.as_bytes(), &options);
        (answer, outcome)
    });
    let first = judged.next();
    let shows_it = |(_, outcome): &(String, Outcome)| shows(kind, name, outcome);
    let best = first.iter().find(|one| shows_it(one)).cloned().or_else(|| judged.find(shows_it)).or(first);
    let Some((answer, outcome)) = best else { return Err(Error::Failed("no answer shows it".to_owned())) };
    let does_it = shows(kind, name, &outcome);
    if kind == DeclarationKind::Action && !does_it {
        let found = outcome.diagnostics.iter().find(|one| one.severity != rulebook::Severity::Info);
        return Ok(Err(match found {
            _ if outcome.calls.iter().all(|call| call.action != name) => "no answer can ask for it yet".to_owned(),
            Some(found) => format!("a call of it is not accepted: {}", found.message),
            None => "a call of it is not accepted".to_owned(),
        }));
    }
    let claim = claim(kind, name, asked, does_it);
    let mut text = format!("claim   = {claim:?}\n");
    // The case of a dialect needs no mode if the dialect applies in the start mode.
    let starts = kind == DeclarationKind::Dialect && asked == program.session().mode;
    if !starts && program.modes().next().is_some() {
        text += &format!("mode    = {asked:?}\n");
    }
    text += &dialect.map(|dialect| format!("dialect = {dialect:?}\n")).unwrap_or_default();
    text += &format!("\n=== response ===\n{answer}\n=== expect ===\n{}", expected(kind, name, &outcome));
    let file = claim.replace([' ', '_'], "-").replace('`', "").to_ascii_lowercase();
    let path = format!("tests/{file}.case");
    let case = cases::parse(&mut Sources::default(), &path, text.as_bytes()).value;
    let run = case.map(|case| cases::run(program, &case, CaseOptions::default()));
    match run.map(|run| run.verdict) {
        Some(CaseVerdict::Passed) => Ok(Ok((path, text))),
        _ => Err(Error::Failed("no case could be written for it: write one by hand".to_owned())),
    }
}

fn claim(kind: DeclarationKind, name: &str, mode: &str, does_it: bool) -> String {
    match kind {
        DeclarationKind::Action => format!("the action `{name}` is permitted in {mode}"),
        DeclarationKind::Mode => format!("an answer is judged in the mode `{name}`"),
        DeclarationKind::Dialect => format!("an answer is read as {name}"),
        DeclarationKind::Guardrail if does_it => format!("the guardrail `{name}` is tripped"),
        DeclarationKind::Guardrail => format!("an answer passes the guardrail `{name}`"),
    }
}

/// Answers that may exercise the table, the likeliest first.
fn answers(kind: DeclarationKind, name: &str, mode: &str, program: &Program) -> Vec<String> {
    let wording = match kind {
        DeclarationKind::Guardrail => format!("Well: {}.", name.replace(['-', '_'], " ")),
        _ => "Hello.".to_owned(),
    };
    if kind == DeclarationKind::Dialect {
        return vec![format!("<{name}>{wording}</{name}>")];
    }
    let call = program.action_forms(mode).into_iter().find(|form| form.name == name && kind == DeclarationKind::Action);
    let call = call.and_then(|form| form.example);
    let mut answers = Vec::new();
    for form in program.forms(mode) {
        let mut blocks: Vec<String> = Vec::new();
        for block in &form.blocks {
            match block.role {
                Role::Message => blocks.push(message_in(&block.text, &wording)),
                Role::Call => blocks.extend(call.clone()),
                _ if block.required => blocks.push(block.text.clone()),
                _ => {}
            }
        }
        answers.push(blocks.join("\n"));
        blocks.extend(call.clone().filter(|call| !blocks.contains(call)));
        answers.push(blocks.join("\n"));
    }
    answers.push(wording);
    answers.retain(|answer| !answer.trim().is_empty());
    answers
}

/// The example of a block with `wording` in place of its body: between the end of the first tag and the start of the
/// last one.
fn message_in(example: &str, wording: &str) -> String {
    let inside = example.find('>').and_then(|start| Some((start + 1, example.rfind("</")?)));
    match inside.filter(|(start, end)| start <= end) {
        Some((start, end)) => [example.get(..start), Some(wording), example.get(end..)].into_iter().flatten().collect(),
        None => example.to_owned(),
    }
}

fn shows(kind: DeclarationKind, name: &str, outcome: &Outcome) -> bool {
    match kind {
        DeclarationKind::Action => {
            outcome.calls.iter().any(|call| call.action == name && call.verdict == Verdict::Accepted)
        }
        DeclarationKind::Mode => !outcome.has_errors(),
        DeclarationKind::Dialect => outcome.dialect.as_deref() == Some(name),
        DeclarationKind::Guardrail => outcome.diagnostics.iter().any(|one| one.id.as_deref() == Some(name)),
    }
}

fn expected(kind: DeclarationKind, name: &str, outcome: &Outcome) -> String {
    let own = match kind {
        DeclarationKind::Action => {
            let call = |call: &Call| format!("{{ action = {:?}, verdict = {:?} }}", call.action, call.verdict.name());
            let calls: Vec<String> = outcome.calls.iter().map(call).collect();
            Some(format!("calls   = [{}]\n", calls.join(", ")))
        }
        DeclarationKind::Mode => Some(format!("mode    = {:?}\n", outcome.mode)),
        DeclarationKind::Dialect => Some(format!("dialect = {name:?}\nmessage = {:?}\n", outcome.message)),
        DeclarationKind::Guardrail => None,
    };
    let reported = outcome.diagnostics.iter().filter(|one| one.severity != rulebook::Severity::Info);
    let codes: Vec<String> = reported.map(|one| format!("{:?}", one.code.as_str())).collect();
    own.unwrap_or_default() + &format!("codes   = [{}]\n", codes.join(", "))
}
