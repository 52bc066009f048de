//! Rows: how long does it take to read 4 KB of an answer, to judge it, and to judge it and write the outcome as JSON?
//!
//! In: the corpus, and the names of its rows to measure.
//! Out: µs per 4 KB for the engine and its peers in Rust; or whether they read the same calls.
//! Never: measures a single answer: a pass reads all answers of a row.

use crate::engine::{ROWS, Row, answers, folder, program, session, unguarded};
use crate::peers::{Call, Gateway, Generated, Rule, Symphony};
use crate::timing::{engine, take_turns};
use pest::Parser as _;
use std::collections::BTreeMap;
use std::path::Path;
use std::time::Duration;

/// Measures the rows of these names.
pub fn measure(corpus: &Path, repository: &Path, time: Duration, names: &[&str]) {
    for row in ROWS.iter().filter(|row| names.contains(&row.name)) {
        measure_row(row, corpus, repository, time);
    }
}

fn measure_row(row: &Row, corpus: &Path, repository: &Path, time: Duration) {
    let folder = folder(repository, row.pack);
    let program = program(&folder);
    let session = session(&program, row.mode);
    let unguarded = unguarded(&folder);
    let mut engines = vec![
        engine("counting", |text| memchr::memchr_iter(row.opener, text.as_bytes()).count()),
        engine("read", |text| program.read_only(&session, text)),
        engine("run", |text| program.run(&session, text)),
        engine("run+json", |text| serde_json::to_string(&program.run(&session, text))),
    ];
    if let Some(unguarded) = &unguarded {
        engines.push(engine("run, no guardrails", |text| unguarded.run(&session, text)));
    }
    if row.name.starts_with("tags") {
        engines.push(engine("pest_derive", |text| Generated::parse(Rule::answer, text).is_ok()));
    }
    if row.name == "json-valid" {
        engines.push(engine("serde_json", |text| serde_json::from_str::<serde_json::Value>(text)));
    }
    if row.calls {
        let (symphony, gateway) = (Symphony::new(row.name, corpus), Gateway::new(row.name, corpus));
        engines.push(engine("symphony", move |text| symphony.read(text)));
        engines.push(engine("tool-parser", move |text| gateway.read(text)));
    }
    take_turns(row.name, &answers(corpus, row.name), time, engines);
}

/// Prints how many calls the engine and its peers read, and in how many answers they read the same ones.
pub fn agree(corpus: &Path, repository: &Path) {
    for row in &ROWS {
        let texts = answers(corpus, row.name);
        let program = program(&folder(repository, row.pack));
        let session = session(&program, row.mode);
        let outcomes: Vec<_> = texts.iter().map(|text| program.run(&session, text)).collect();
        let clean = outcomes.iter().filter(|outcome| outcome.diagnostics.is_empty()).count();
        let effects: usize = outcomes.iter().map(|outcome| outcome.effects.len()).sum();
        let ours: Vec<Vec<Call>> = outcomes
            .iter()
            .map(|outcome| {
                outcome
                    .calls
                    .iter()
                    .map(|call| (call.action.clone(), serde_json::to_value(&call.params).unwrap_or_default()))
                    .collect()
            })
            .collect();
        let calls: usize = ours.iter().map(Vec::len).sum();
        println!("{}\tanswers\t{}", row.name, texts.len());
        println!("{}\twithout a finding\t{clean}", row.name);
        println!("{}\tcalls\t{calls}", row.name);
        println!("{}\teffects\t{effects}", row.name);
        let mut codes: BTreeMap<&str, usize> = BTreeMap::new();
        for finding in outcomes.iter().flat_map(|outcome| &outcome.diagnostics) {
            *codes.entry(finding.code.as_str()).or_default() += 1;
        }
        for (code, count) in codes {
            println!("{}\t{code}\t{count}", row.name);
        }
        if row.calls {
            let (symphony, gateway) = (Symphony::new(row.name, corpus), Gateway::new(row.name, corpus));
            let same = |theirs: &dyn Fn(&str) -> Vec<Call>| {
                texts.iter().zip(&ours).filter(|(text, ours)| theirs(text) == **ours).count()
            };
            println!("{}\tsame calls as symphony\t{}", row.name, same(&|text| symphony.calls(text)));
            println!("{}\tsame calls as tool-parser\t{}", row.name, same(&|text| gateway.calls(text)));
        }
    }
}
