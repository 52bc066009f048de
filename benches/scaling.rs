//! Is the time per byte of a long answer the same as that of a short one?
//!
//! One answer of a megabyte is compared with a megabyte of short answers, all different. If one answer is read
//! repeatedly, the processor learns to predict all its branches, and a long answer cannot be as fast as that. The time
//! of a single short answer that is read repeatedly is printed beside it.
#![allow(clippy::print_stdout, missing_docs, reason = "a bench")]

mod corpus;

use criterion::{Criterion, Throughput};
use rulebook::{Program, Session};
use std::hint::black_box;

const SHORT: usize = 16 << 10;
const LONG: usize = 1 << 20;

/// Answers of one dialect, each with its session.
struct Answers {
    name: String,
    texts: Vec<(String, Session)>,
}

impl Answers {
    fn new(name: &str, size: usize, count: usize, mut make: impl FnMut(usize) -> (String, Session)) -> Self {
        Self { name: format!("{name} {count} x {size}"), texts: (0..count).map(&mut make).collect() }
    }

    fn bytes(&self) -> usize {
        self.texts.iter().map(|(text, _)| text.len()).sum()
    }

    fn per_byte(&self) -> Option<f64> {
        Some(corpus::median(&format!("scaling/{}", self.name))? / self.bytes() as f64)
    }
}

fn main() {
    let mut criterion = Criterion::default().configure_from_args();
    let mut group = criterion.benchmark_group("scaling");
    let (tags, brackets) = (corpus::writers_factory(true), corpus::couple_ai());
    let tagged = |size: usize, number: usize| {
        let answer = corpus::long_tags(&mut corpus::Dice::new(4 + number as u64), size);
        {
            let mut session = tags.session();
            answer.mode.clone_into(&mut session.mode);
            (answer.text, session)
        }
    };
    let bracketed = |size: usize, number: usize| {
        (corpus::long_brackets(&mut corpus::Dice::new(5 + number as u64), size), brackets.session())
    };
    let sizes = [(LONG, 1), (SHORT, LONG / SHORT), (SHORT, 1)];
    let dialects: [(&str, &Program, [Answers; 3]); 2] = [
        ("tags", &tags, sizes.map(|(size, count)| Answers::new("tags", size, count, |number| tagged(size, number)))),
        (
            "brackets",
            &brackets,
            sizes.map(|(size, count)| Answers::new("brackets", size, count, |number| bracketed(size, number))),
        ),
    ];
    for (_, program, sizes) in &dialects {
        for answers in sizes {
            group.throughput(Throughput::Bytes(answers.bytes() as u64));
            group.bench_function(&answers.name, |bencher| {
                bencher.iter(|| {
                    for (text, session) in &answers.texts {
                        black_box(program.run(session, black_box(text)));
                    }
                })
            });
        }
    }
    group.finish();
    criterion.final_summary();
    for (name, _, sizes) in &dialects {
        let [Some(long), Some(short), Some(again)] = sizes.each_ref().map(Answers::per_byte) else { continue };
        corpus::times(&format!("{name}: time per byte at 1 MB / at 16 KB"), long / short, 1.2);
        println!("{name}: the same, of one answer of 16 KB over and over: {:.2}", long / again);
    }
}
