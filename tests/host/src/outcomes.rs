//! Outcomes: what do all shipped cases come to, as text that builds of the engine for other hosts can be compared by?
//!
//! In: a suite: packs with their files and cases, as JSON.
//! Out: a line of JSON for each finding of a pack, each prompt, and each result of a case.
//! Never: reads a disk, so that it runs as WebAssembly too.

use rulebook::cases::{self, CaseOptions, TurnResult};
use rulebook::prompt::{Export, Request};
use rulebook::{Diagnostic, Folder, Sources, Value};
use serde_json::to_string;
use std::collections::BTreeMap;
use std::fmt::Write;

/// The text for all packs of a suite: `{ "PACK": { "files": { "PATH": "TEXT" }, "cases": { "PATH": "TEXT" } } }`.
pub(crate) fn of_suite(suite: &str) -> Result<String, serde_json::Error> {
    let suite: BTreeMap<String, Value> = serde_json::from_str(suite)?;
    let mut text = String::new();
    for (name, pack) in &suite {
        of_pack(name, pack, &mut text)?;
    }
    Ok(text)
}

fn of_pack(name: &str, pack: &Value, text: &mut String) -> Result<(), serde_json::Error> {
    let loaded = rulebook::check::review(&Folder::new(name, files(pack.get("files"))));
    findings(name, name, &loaded.diagnostics, text);
    let Some(program) = loaded.value else { return Ok(()) };
    for mode in program.modes() {
        let mut session = program.session();
        session.mode = mode.to_owned();
        line(text, name, mode, &to_string(&program.prompt(&session, &Request::default()))?);
        for what in [Export::ResponseFormat, Export::OpenaiTools, Export::AnthropicTools] {
            let exported = program.export(mode, what, true);
            line(text, name, mode, &to_string(&exported.value)?);
            findings(name, mode, &exported.diagnostics, text);
        }
    }
    for (path, written) in files(pack.get("cases")) {
        let read = cases::parse(&mut Sources::default(), &path, written.as_bytes());
        findings(name, &path, &read.diagnostics, text);
        let Some(case) = read.value else { continue };
        for chunk in [None, Some(7)] {
            let run = cases::run(&program, &case, CaseOptions { chunk, trace: true });
            line(text, name, &path, run.verdict.name());
            run.failures.iter().for_each(|failure| line(text, name, &path, &failure.to_string()));
            findings(name, &path, &run.diagnostics, text);
            for result in &run.results {
                let json = match result {
                    TurnResult::Heard(heard) => to_string(heard)?,
                    TurnResult::Outcome(outcome) => to_string(outcome)?,
                };
                line(text, name, &path, &json);
            }
        }
    }
    Ok(())
}

fn files(files: Option<&Value>) -> Vec<(String, String)> {
    let file = |(path, text): (&str, &Value)| (path.to_owned(), text.as_str().unwrap_or_default().to_owned());
    files.and_then(Value::as_object).into_iter().flatten().map(file).collect()
}

fn findings(pack: &str, part: &str, found: &[Diagnostic], text: &mut String) {
    for one in found {
        line(text, pack, part, &format!("{} {} {:?}", one.code, one.message, one.help));
    }
}

fn line(text: &mut String, pack: &str, part: &str, what: &str) {
    let _ = writeln!(text, "{pack} {part} {}", what.replace('\n', "\\n"));
}
