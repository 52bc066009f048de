//! How long does a turn with its rules take, of the user or of the model?
#![allow(clippy::unwrap_used, clippy::print_stdout, missing_docs, reason = "a bench")]

use criterion::Criterion;
use rulebook::Program;
use rulebook_fs::read_pack;
use std::hint::black_box;
use std::path::Path;

/// Words that no input but the last has a class for: all are tried.
const OPEN: &str = "I wonder whether the cache should be shared between the two services, and what happens offline.";
/// Three contributions: each is a turn, with its rules.
const REPLY: &str = "Maya Chen (Business Analyst): Who benefits from this?\n\nAlex Rivera (Solutions Architect): Building on \
Maya's point about users, I see two approaches.\n\nJordan Park (System Designer): syncLocalChanges(state) -> SyncResult.\n";

fn main() {
    let files = read_pack(&Path::new(env!("CARGO_MANIFEST_DIR")).join("rules/roundtable")).unwrap();
    let program = Program::load(&files.folder).value.unwrap();
    let session =
        program.resume(&serde_json::json!({ "mode": "discussion", "now": "2026-02-20T14:30:00.000Z" })).unwrap();
    let mut criterion = Criterion::default().configure_from_args();
    criterion.bench_function("hear, a turn with its rules", |bencher| {
        bencher.iter(|| program.hear(black_box(&session), black_box(OPEN)));
    });
    criterion.bench_function("run, three turns with their rules", |bencher| {
        bencher.iter(|| program.run(black_box(&session), black_box(REPLY)));
    });
    criterion.final_summary();
}
