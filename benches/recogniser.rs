//! How fast is the recogniser compared with the parsers that `pest_derive` generates from the same files?

use criterion::{Criterion, Throughput, criterion_group, criterion_main};
use pest::Parser;
use rulebook::grammar::{Grammar, Machine, shipped};
use rulebook::text::SourceId;
use std::hint::black_box;

macro_rules! generated {
    ($module:ident, $file:literal) => {
        mod $module {
            #[derive(pest_derive::Parser)]
            #[grammar = $file]
            pub(super) struct Generated;
        }
    };
}

generated!(tags, "../grammar/tags.pest");
generated!(brackets, "../grammar/brackets.pest");
generated!(json, "../grammar/json.pest");

fn compare(criterion: &mut Criterion, name: &str, rule: &str, text: &str, generated: fn(&str)) {
    let grammar = shipped(name).and_then(|text| Grammar::parse(SourceId::RESPONSE, text).value);
    let Some((grammar, rule)) = grammar.and_then(|grammar| grammar.rule(rule).map(|rule| (grammar, rule))) else {
        return;
    };
    let mut group = criterion.benchmark_group(format!("{name} {} bytes", text.len()));
    group.throughput(Throughput::Bytes(text.len() as u64));
    let mut machine = Machine::new();
    group.bench_function("recogniser", |bencher| {
        bencher.iter(|| {
            machine.start(&grammar, rule, 0);
            let progress = machine.run(&grammar, black_box(text), true, &mut 1_000_000);
            (progress, machine.captures().len())
        });
    });
    group.bench_function("pest_derive", |bencher| bencher.iter(|| generated(black_box(text))));
    group.finish();
}

fn recogniser(criterion: &mut Criterion) {
    compare(criterion, "tags", "open", "<action type=\"save_decision\">", |text| {
        let _ = black_box(tags::Generated::parse(tags::Rule::open, text));
    });
    compare(criterion, "tags", "open", "<action or what you call it in prose", |text| {
        let _ = black_box(tags::Generated::parse(tags::Rule::open, text));
    });
    let call = r#"{"path": "src/app/main.ts", "reason": "the user asked for {it}", "lines": [1, 2]}"#;
    compare(criterion, "brackets", "payload", call, |text| {
        let _ = black_box(brackets::Generated::parse(brackets::Rule::payload, text));
    });
    let member = r#"{"step": 12, "description": "Create and populate the list in src/list.md.", "done": false, "tags": ["a", "b"]}"#;
    let answer = format!("[{}]", vec![member; 4096 / member.len()].join(", "));
    compare(criterion, "json", "payload", &answer, |text| {
        let _ = black_box(json::Generated::parse(json::Rule::payload, text));
    });
    criterion.bench_function("the json grammar, compiled", |bencher| {
        bencher.iter(|| shipped("json").map(|text| Grammar::parse(SourceId::RESPONSE, text)));
    });
}

criterion_group!(benches, recogniser);
criterion_main!(benches);
