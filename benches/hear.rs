//! How long does a turn of the user or of the model take, with its rules?
#![allow(clippy::unwrap_used, clippy::print_stdout, missing_docs, reason = "a bench")]

mod corpus;

use corpus::scenarios::{OPEN, REPLY};
use criterion::Criterion;
use rulebook::Options;
use std::hint::black_box;

fn main() {
    let program = corpus::roundtable();
    let session =
        program.resume(serde_json::json!({ "mode": "discussion", "now": "2026-02-20T14:30:00.000Z" })).unwrap();
    let mut criterion = Criterion::default().configure_from_args();
    criterion.bench_function("hear, a turn with its rules", |bencher| {
        bencher.iter(|| program.hear(black_box(&session), black_box(OPEN), &Options::default()));
    });
    criterion.bench_function("run, three turns with their rules", |bencher| {
        bencher.iter(|| program.run(black_box(&session), black_box(REPLY)));
    });
    criterion.final_summary();
}
