//! How long does `run` take for an answer in brackets, compared with parsing and validating its payloads alone?
#![allow(clippy::print_stdout, missing_docs, reason = "a bench")]

mod corpus;

use criterion::{Criterion, Throughput};
use serde_json::{Value, json};
use std::hint::black_box;

/// The schemas of the pack's actions, as one would write them by hand.
fn validator(action: &str) -> Option<jsonschema::Validator> {
    let text = json!({ "type": "string", "minLength": 1 });
    let url = json!({ "type": "string", "pattern": r"^[hH][tT][tT][pP][sS]?://[^\s/?#]\S*$" });
    let number = json!({ "type": "integer", "minimum": 0 });
    let schema = match action {
        "ACTION_INGEST_DOC" => json!({
            "type": "object",
            "properties": {
                "docId": text, "title": text, "summary": text, "totalChapters": number, "writingStyle": text,
                "authorHabits": { "type": "array", "items": { "type": "string" }, "contains": text },
                "lastAnalyzedChapter": number, "sourceUrl": url,
                "sections": { "type": "array", "items": {
                    "type": "object",
                    "properties": { "id": text, "title": text, "summary": { "type": "string" } },
                    "required": ["id", "title"],
                } },
            },
            "required": ["docId", "title", "summary", "totalChapters", "writingStyle", "authorHabits", "lastAnalyzedChapter"],
        }),
        "ACTION_CREATE_CRITIQUE_PAGE" => json!({
            "type": "object",
            "properties": {
                "profileId": { "type": "string" },
                "page": { "type": "object", "properties": { "title": text, "content": text }, "required": ["title", "content"] },
            },
            "required": ["page"],
        }),
        "ACTION_PREPARE_PUBLICATION" => json!({
            "type": "object",
            "properties": {
                "platform": text, "storyUrl": url, "chapterTitle": text, "contentSourcePageId": text,
                "profileId": { "type": "string" },
            },
            "required": ["platform", "storyUrl", "chapterTitle", "contentSourcePageId"],
        }),
        _ => return None,
    };
    let options = jsonschema::options().with_pattern_options(jsonschema::PatternOptions::regex());
    Some(options.build(&schema).unwrap_or_else(|error| unreachable!("{error}")))
}

fn main() {
    let answers = corpus::mixed_brackets();
    let bytes: usize = answers.iter().map(|(text, _)| text.len()).sum();
    let payloads: Vec<_> = answers
        .iter()
        .flat_map(|(_, payloads)| payloads)
        .map(|payload| (payload.json.as_str(), validator(payload.action)))
        .collect();
    let mut criterion = Criterion::default().configure_from_args();
    let mut group = criterion.benchmark_group("run brackets");
    group.throughput(Throughput::Bytes(bytes as u64));
    group.bench_function("R2 payloads", |bencher| {
        bencher.iter(|| {
            for (json, validator) in &payloads {
                let value: Option<Value> = serde_json::from_str(black_box(json)).ok();
                if let (Some(value), Some(validator)) = (&value, validator) {
                    black_box(validator.is_valid(value));
                }
                black_box(&value);
            }
        });
    });
    let program = corpus::couple_ai();
    let session = program.session();
    group.bench_function("run", |bencher| {
        bencher.iter(|| {
            for (text, _) in &answers {
                black_box(program.run(&session, black_box(text)));
            }
        });
    });
    group.bench_function("reading", |bencher| {
        bencher.iter(|| answers.iter().map(|(text, _)| program.read_only(&session, black_box(text))).sum::<usize>());
    });
    group.finish();
    criterion.final_summary();
    corpus::ratio("brackets: run / R2", "run brackets/run", "run brackets/R2 payloads", 2.0);
}
