//! How long does `run` take for answers with files, compared with `memchr` over them?
#![allow(clippy::print_stdout, clippy::disallowed_methods, missing_docs, reason = "a bench reads the corpus")]

mod corpus;

use criterion::{Criterion, Throughput};
use std::hint::black_box;

fn main() {
    let index = std::fs::read_to_string("tests/corpus/dce/index.tsv").unwrap_or_default();
    let rows = index.lines().skip(1).map(|row| row.split('\t').collect::<Vec<_>>());
    let files =
        rows.filter(|row| matches!(row.get(6), Some(&"xml" | &"header"))).filter_map(|row| row.first().copied());
    let answers: Vec<String> =
        files.filter_map(|file| std::fs::read_to_string(format!("tests/corpus/dce/{file}")).ok()).collect();
    let bytes: usize = answers.iter().map(String::len).sum();
    let program = corpus::dce();
    let session = program.session();
    let mut criterion = Criterion::default().configure_from_args();
    let mut group = criterion.benchmark_group("run dce");
    group.throughput(Throughput::Bytes(bytes as u64));
    group.bench_function("memchr", |bencher| {
        bencher.iter(|| {
            let count = |text: &String| memchr::memchr_iter(b'<', black_box(text).as_bytes()).count();
            answers.iter().map(count).sum::<usize>()
        });
    });
    group.bench_function("reading", |bencher| {
        bencher.iter(|| answers.iter().map(|answer| program.read_only(&session, black_box(answer))).sum::<usize>());
    });
    group.bench_function("run", |bencher| {
        bencher.iter(|| {
            for answer in &answers {
                black_box(program.run(&session, black_box(answer)));
            }
        });
    });
    group.finish();
    criterion.final_summary();
    corpus::ratio("xml and header answers: reading / memchr", "run dce/reading", "run dce/memchr", 40.0);
    corpus::ratio("xml and header answers: run / memchr", "run dce/run", "run dce/memchr", 40.0);
}
