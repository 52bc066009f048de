//! How long does `run` take for an answer that is one object, compared with `serde_json` to a value?
//!
//! The answers are the real ones of the corpus, valid and broken ones apart. For the comparison, the content of a
//! broken answer is written as valid JSON, so that both sides read as much.
#![allow(clippy::print_stdout, missing_docs, reason = "a bench")]

mod corpus;

use criterion::{Criterion, Throughput};
use serde_json::{Value, json};
use std::hint::black_box;

const VALID: [(&str, &str); 7] = [
    ("069", include_str!("../tests/corpus/dce/069.txt")),
    ("071", include_str!("../tests/corpus/dce/071.txt")),
    ("073", include_str!("../tests/corpus/dce/073.txt")),
    ("075", include_str!("../tests/corpus/dce/075.txt")),
    ("077", include_str!("../tests/corpus/dce/077.txt")),
    ("085", include_str!("../tests/corpus/dce/085.txt")),
    ("089", include_str!("../tests/corpus/dce/089.txt")),
];
const BROKEN: [(&str, &str); 4] = [
    ("079", include_str!("../tests/corpus/dce/079.txt")),
    ("081", include_str!("../tests/corpus/dce/081.txt")),
    ("083", include_str!("../tests/corpus/dce/083.txt")),
    ("087", include_str!("../tests/corpus/dce/087.txt")),
];

fn main() {
    let program = corpus::dce_object();
    let session = program.session();
    let valid: Vec<&str> = VALID.iter().map(|(_, text)| *text).collect();
    let broken: Vec<&str> = BROKEN.iter().map(|(_, text)| *text).collect();
    // Without fences, which `serde_json` does not accept.
    let bare = |text: &&str| text.trim().trim_start_matches("```json").trim_end_matches("```").to_owned();
    let message = |text: &&str| {
        let outcome = program.run(&session, text);
        let sections = outcome.sections.iter().map(|section| (section.name.clone(), json!(section.text)));
        let files = outcome.contents.iter().map(|file| json!({ "path": file.key, "content": file.text }));
        let mut members: serde_json::Map<String, Value> = sections.collect();
        members.insert("files".to_owned(), files.collect());
        Value::Object(members).to_string()
    };
    let sets = [
        ("valid", &valid, valid.iter().map(bare).collect::<Vec<_>>()),
        ("broken", &broken, broken.iter().map(message).collect()),
    ];
    let mut criterion = Criterion::default().configure_from_args();
    let mut group = criterion.benchmark_group("run json");
    let mut lengths = Vec::new();
    for (name, answers, strict) in &sets {
        let length: usize = answers.iter().map(|text| text.len()).sum();
        let strict_length: usize = strict.iter().map(String::len).sum();
        lengths.push((*name, strict_length as f64 / length as f64));
        group.throughput(Throughput::Bytes(strict_length as u64));
        group.bench_function(format!("serde_json {name}"), |bencher| {
            bencher.iter(|| {
                for text in strict {
                    black_box(serde_json::from_str::<Value>(black_box(text)).ok());
                }
            });
        });
        group.throughput(Throughput::Bytes(length as u64));
        group.bench_function(format!("read {name}"), |bencher| {
            bencher.iter(|| {
                for text in *answers {
                    black_box(program.read_only(&session, black_box(text)));
                }
            });
        });
        group.bench_function(format!("run {name}"), |bencher| {
            bencher.iter(|| {
                for text in *answers {
                    black_box(program.run(&session, black_box(text)));
                }
            });
        });
    }
    group.finish();
    criterion.final_summary();
    for (name, scale) in lengths {
        for (what, target) in
            [("read", if name == "valid" { 2.5 } else { 12.0 }), ("run", if name == "valid" { 2.5 } else { 12.0 })]
        {
            let median = |bench: &str| corpus::median(&format!("run json/{bench} {name}"));
            if let (Some(ours), Some(theirs)) = (median(what), median("serde_json")) {
                corpus::times(&format!("{what} {name} / serde_json"), ours * scale / theirs, target);
            }
        }
    }
}
