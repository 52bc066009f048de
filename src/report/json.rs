//! JSON for programs: what was found, in words that stay the same?
//!
//! In: diagnostics and case runs with their sources.
//! Out: version 1 of the reports of `check` and `test`.
//! Never: leaves a member out; what is absent is `null` or `[]`.

use super::{Pen, TestedPack};
use crate::cases::CaseVerdict;
use crate::diagnostic::{Diagnostic, Severity};
use crate::text::{Location, Sources};
use serde_json::{Map, Value, json};

/// The version of both reports.
pub const VERSION: u32 = 1;

/// One diagnostic: its code, severity and sentence, its place, its advice.
pub fn diagnostic(pen: &Pen, sources: &Sources, diagnostic: &Diagnostic) -> Value {
    let mut value = Map::new();
    value.insert("code".into(), diagnostic.code.to_string().into());
    value.insert("severity".into(), diagnostic.severity.name().into());
    value.insert("message".into(), diagnostic.message.clone().into());
    value.extend(place(pen, sources, diagnostic.at));
    value.insert("label".into(), diagnostic.label.clone().into());
    value.insert("help".into(), diagnostic.help.clone().into());
    let labels = diagnostic.labels.iter().map(|label| {
        let mut value = place(pen, sources, Some(label.at));
        value.insert("text".into(), label.text.clone().into());
        Value::Object(value)
    });
    value.insert("labels".into(), labels.collect());
    Value::Object(value)
}

/// The report of `check`: every diagnostic of every pack, and their sum.
pub fn checked(diagnostics: Vec<Value>, packs: usize) -> Value {
    let of = |severity: Severity| {
        diagnostics.iter().filter(|one| one.get("severity").and_then(Value::as_str) == Some(severity.name())).count()
    };
    let summary = json!({
        "packs": packs, "errors": of(Severity::Error), "warnings": of(Severity::Warning), "infos": of(Severity::Info),
    });
    json!({ "version": VERSION, "diagnostics": diagnostics, "summary": summary })
}

/// The report of `test`: every case and what came of it, and their sum.
pub fn tested(packs: &[TestedPack]) -> Value {
    let cases: Vec<Value> = packs.iter().flat_map(cases).collect();
    let broken: Vec<Value> = packs
        .iter()
        .flat_map(|pack| {
            let faults = pack.faults.iter().flat_map(|(sources, faults)| faults.iter().map(move |one| (sources, one)));
            let all = faults.chain(pack.broken.iter().map(|one| (&pack.sources, one)));
            all.map(|(sources, one)| diagnostic(&pack.pen, sources, one))
        })
        .collect();
    let sum = |verdict| packs.iter().map(|pack| pack.count(verdict)).sum::<usize>();
    let coverage: Vec<Value> = packs
        .iter()
        .filter_map(|pack| Some((pack, pack.coverage.as_ref()?)))
        .flat_map(|(pack, coverage)| {
            coverage.rows.iter().map(|row| {
                json!({ "pack": pack.name, "kind": row.kind, "name": row.name, "rule": row.rule, "hits": row.hits })
            })
        })
        .collect();
    let summary = json!({
        "packs": packs.len(), "cases": cases.len(), "passed": sum(CaseVerdict::Passed),
        "failed": sum(CaseVerdict::Failed), "todo": sum(CaseVerdict::Todo), "done": sum(CaseVerdict::Done),
    });
    json!({ "version": VERSION, "cases": cases, "diagnostics": broken, "coverage": coverage, "summary": summary })
}

fn cases(pack: &TestedPack) -> Vec<Value> {
    let pen = &pack.pen;
    pack.runs
        .iter()
        .map(|(case, run)| {
            let verdict = match run.verdict {
                CaseVerdict::Passed => "passed",
                CaseVerdict::Failed => "failed",
                CaseVerdict::Todo => "todo",
                CaseVerdict::Done => "done",
            };
            let failures: Vec<Value> = run
                .failures
                .iter()
                .map(|failure| {
                    let mut value = Map::new();
                    value.insert("path".into(), failure.path.clone().into());
                    value.extend(place(pen, &pack.sources, Some(failure.at)));
                    value.insert("expected".into(), failure.expected.clone());
                    value.insert("got".into(), failure.got.clone().into());
                    Value::Object(value)
                })
                .collect();
            let diagnostics: Vec<Value> =
                run.diagnostics.iter().map(|one| diagnostic(pen, &pack.sources, one)).collect();
            let file = pack.sources.get(case.source).map(|source| pen.shown(source.name()));
            json!({
                "pack": pack.name, "name": case.name, "file": file, "claim": case.header.claim.value,
                "verdict": verdict, "failures": failures, "diagnostics": diagnostics,
            })
        })
        .collect()
}

/// Where `at` starts and ends: lines and columns from 1, columns in characters.
fn place(pen: &Pen, sources: &Sources, at: Option<Location>) -> Map<String, Value> {
    let found = at.and_then(|at| Some((sources.get(at.source)?, at.span)));
    let start = found.map(|(source, span)| source.place(span.start));
    let end = found.map(|(source, span)| source.place(span.end));
    let mut members = Map::new();
    members.insert("file".into(), found.map(|(source, _)| pen.shown(source.name())).into());
    members.insert("line".into(), start.map(|place| place.line).into());
    members.insert("column".into(), start.map(|place| place.column).into());
    members.insert("end_line".into(), end.map(|place| place.line).into());
    members.insert("end_column".into(), end.map(|place| place.column).into());
    members
}
