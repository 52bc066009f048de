//! How long does `run` take for text without any marker, compared with one search through that text?
#![allow(clippy::print_stdout, missing_docs, reason = "a bench")]

mod corpus;

use criterion::{Criterion, Throughput};
use std::hint::black_box;

fn main() {
    let mut criterion = Criterion::default().configure_from_args();
    let mut group = criterion.benchmark_group("plain text");
    let sizes = [4096, 16 << 10, 1 << 20];
    for size in sizes {
        let text = corpus::plain(&mut corpus::Dice::new(3), size);
        group.throughput(Throughput::Bytes(text.len() as u64));
        group.bench_function(format!("memchr3 {size}"), |bencher| {
            bencher.iter(|| memchr::memchr3(b'<', b'`', b'~', black_box(&text).as_bytes()));
        });
        for (name, program) in [("tags", corpus::writers_factory(false)), ("brackets", corpus::couple_ai())] {
            let session = program.session();
            group.bench_function(format!("{name} {size}"), |bencher| {
                bencher.iter(|| program.run(&session, black_box(&text)));
            });
        }
    }
    group.finish();
    criterion.final_summary();
    for size in sizes {
        for name in ["tags", "brackets"] {
            let (run, peer) = (format!("plain text/{name} {size}"), format!("plain text/memchr3 {size}"));
            corpus::ratio(&format!("plain text, {name}, {size} bytes: run / memchr3"), &run, &peer, 2.0);
        }
    }
}
