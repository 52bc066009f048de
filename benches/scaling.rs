//! Does a byte of a long answer take as long as a byte of a short one?
#![allow(clippy::print_stdout, missing_docs, reason = "a bench")]

mod corpus;

use criterion::{Criterion, Throughput};
use std::hint::black_box;

const SHORT: usize = 16 << 10;
const LONG: usize = 1 << 20;

fn main() {
    let mut criterion = Criterion::default().configure_from_args();
    let mut group = criterion.benchmark_group("scaling");
    let mut lengths = Vec::new();
    for size in [SHORT, LONG] {
        let program = corpus::writers_factory(true);
        let answer = corpus::long_tags(&mut corpus::Dice::new(4), size);
        let session = rulebook::Session { mode: answer.mode.to_owned(), ..program.session() };
        group.throughput(Throughput::Bytes(answer.text.len() as u64));
        group.bench_function(format!("tags {size}"), |bencher| {
            bencher.iter(|| program.run(&session, black_box(&answer.text)))
        });
        lengths.push((format!("tags {size}"), answer.text.len()));
        let program = corpus::couple_ai();
        let text = corpus::long_brackets(&mut corpus::Dice::new(5), size);
        let session = program.session();
        group.throughput(Throughput::Bytes(text.len() as u64));
        group.bench_function(format!("brackets {size}"), |bencher| {
            bencher.iter(|| program.run(&session, black_box(&text)))
        });
        lengths.push((format!("brackets {size}"), text.len()));
    }
    group.finish();
    criterion.final_summary();
    let per_byte = |name: String| {
        let (_, length) = lengths.iter().find(|(known, _)| *known == name)?;
        Some(corpus::median(&format!("scaling/{name}"))? / *length as f64)
    };
    for name in ["tags", "brackets"] {
        if let (Some(short), Some(long)) = (per_byte(format!("{name} {SHORT}")), per_byte(format!("{name} {LONG}"))) {
            corpus::times(&format!("{name}: time per byte at 1 MB / at 16 KB"), long / short, 1.2);
        }
    }
}
