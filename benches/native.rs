//! How long does it take to read and judge an API's message with three calls, compared with `serde_json` to a value and
//! the judging of the calls?
//!
//! The difference is the cost of reading compared with a parser that does not know of calls: the outcome is the same.
#![allow(clippy::print_stdout, clippy::unwrap_used, missing_docs, reason = "a bench")]

mod corpus;

use criterion::{Criterion, Throughput};
use rulebook::{Options, Reply};
use serde_json::Value;
use std::hint::black_box;

fn main() {
    let program = corpus::tool_calls();
    let (session, options) = (program.session(), Options::default());
    let messages = corpus::native();
    let mut criterion = Criterion::default().configure_from_args();
    let mut group = criterion.benchmark_group("native");
    for (provider, message) in &messages {
        let reply = Reply::read(*provider, message).into_result().unwrap();
        assert_eq!(program.judge(&session, &reply, &options).effects.len(), 3, "{provider}");
        group.throughput(Throughput::Bytes(message.len() as u64));
        group.bench_function(format!("serde_json and judge {provider}"), |bencher| {
            bencher.iter(|| {
                black_box(serde_json::from_str::<Value>(black_box(message)).ok());
                black_box(program.judge(&session, black_box(&reply), &options))
            });
        });
        group.bench_function(format!("read and judge {provider}"), |bencher| {
            bencher.iter(|| {
                let reply = Reply::read(*provider, black_box(message)).into_result().unwrap();
                black_box(program.judge(&session, &reply, &options))
            });
        });
    }
    group.finish();
    criterion.final_summary();
    for (provider, _) in &messages {
        let median = |bench: &str| corpus::median(&format!("native/{bench} {provider}"));
        if let (Some(ours), Some(theirs)) = (median("read and judge"), median("serde_json and judge")) {
            corpus::times(&format!("{provider}: read and judge / serde_json and judge"), ours / theirs, 1.2);
        }
    }
}
