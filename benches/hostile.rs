//! Does the time per byte stay the same for long hostile answers?
#![allow(clippy::print_stdout, missing_docs, reason = "a bench")]

#[path = "../tests/it/hostile_inputs.rs"]
mod hostile_inputs;

mod corpus;

use criterion::{Criterion, Throughput};
use hostile_inputs::INPUTS;
use rulebook::Program;
use std::hint::black_box;
use std::time::Duration;

const SHORT: usize = 10_000;
const LONG: usize = 1_000_000;
/// The largest ratio of the time per byte of the long answer to that of the short one.
const MAX_RATIO: f64 = 2.0;

fn main() {
    let mut criterion = Criterion::default()
        .sample_size(10)
        .warm_up_time(Duration::from_millis(50))
        .measurement_time(Duration::from_millis(200))
        .configure_from_args();
    let packs: [(&str, Program); 4] = [
        ("brackets", corpus::couple_ai()),
        ("tags", corpus::writers_factory(true)),
        ("object", corpus::one_object()),
        ("files", corpus::dce()),
    ];
    let mut group = criterion.benchmark_group("hostile");
    let mut asked = Vec::new();
    for (name, input) in INPUTS {
        for (dialect, program) in &packs {
            let session = program.session();
            let mut per_byte = Vec::new();
            for size in [SHORT, LONG] {
                let text = input(size);
                let id = format!("{name} {dialect} {size}");
                group.throughput(Throughput::Bytes(text.len() as u64));
                group.bench_function(&id, |bencher| bencher.iter(|| program.run(&session, black_box(&text))));
                per_byte.push((id, text.len() as f64));
            }
            asked.push((format!("{name}, read as {dialect}"), per_byte));
        }
    }
    group.finish();
    criterion.final_summary();
    for (what, per_byte) in asked {
        let times: Vec<f64> = per_byte
            .iter()
            .filter_map(|(id, length)| Some(corpus::median(&format!("hostile/{id}"))? / length))
            .collect();
        if let [short, long] = times[..] {
            corpus::times(&what, long / short, MAX_RATIO);
        }
    }
}
