//! How long does `run` take for an answer in tags, compared with counting its `<` and with a generated parser?
#![allow(clippy::print_stdout, clippy::indexing_slicing, missing_docs, reason = "a bench")]

mod corpus;

use criterion::{Criterion, Throughput};
use pest::Parser as _;
use rulebook::{Program, Session};
use std::hint::black_box;

#[derive(pest_derive::Parser)]
#[grammar = "../benches/run_tags.pest"]
struct Generated;

fn session(program: &Program, mode: &str) -> Session {
    let mut session = program.session();
    mode.clone_into(&mut session.mode);
    session
}

fn main() {
    let answers = corpus::mixed_tags();
    let bytes: usize = answers.iter().map(|answer| answer.text.len()).sum();
    let mut criterion = Criterion::default().configure_from_args();
    let mut group = criterion.benchmark_group("run tags");
    group.throughput(Throughput::Bytes(bytes as u64));
    group.bench_function("R1 counting", |bencher| {
        bencher.iter(|| {
            let count = |text: &String| memchr::memchr_iter(b'<', black_box(text).as_bytes()).count();
            answers.iter().map(|answer| count(&answer.text)).sum::<usize>()
        });
    });
    group.bench_function("R3 generated parser", |bencher| {
        bencher.iter(|| {
            for answer in &answers {
                let _ = black_box(Generated::parse(Rule::answer, black_box(&answer.text)));
            }
        });
    });
    for (name, guardrails) in [("run without guardrails", false), ("run", true)] {
        let program = corpus::writers_factory(guardrails);
        let sessions = [session(&program, "architect"), session(&program, "director")];
        let of = |mode: &str| &sessions[usize::from(mode == "director")];
        group.bench_function(name, |bencher| {
            bencher.iter(|| {
                for answer in &answers {
                    black_box(program.run(of(answer.mode), black_box(&answer.text)));
                }
            });
        });
        if !guardrails {
            group.bench_function("reading", |bencher| {
                bencher.iter(|| {
                    answers
                        .iter()
                        .map(|answer| program.read_only(of(answer.mode), black_box(&answer.text)))
                        .sum::<usize>()
                });
            });
        }
    }
    group.finish();
    criterion.final_summary();
    corpus::ratio("tags: run without guardrails / R1", "run tags/run without guardrails", "run tags/R1 counting", 30.0);
    corpus::ratio("tags: run / R1", "run tags/run", "run tags/R1 counting", 60.0);
    corpus::ratio("tags: reading / R1", "run tags/reading", "run tags/R1 counting", 12.0);
    corpus::ratio(
        "tags: run without guardrails / R3",
        "run tags/run without guardrails",
        "run tags/R3 generated parser",
        1.0,
    );
    corpus::ratio("tags: run / R3", "run tags/run", "run tags/R3 generated parser", 1.0);
}
