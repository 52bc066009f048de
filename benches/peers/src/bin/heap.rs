//! Heap: how much memory does an answer take beyond its own bytes?
//!
//! In: `heap CORPUS REPOSITORY`.
//! Out: the peak heap while an answer is judged, as a multiple of its length, on average and at worst; and the heap of
//! a program.
//! Never: counts memory that was allocated before.

#![allow(clippy::disallowed_methods, reason = "a program of its own")]

use peak_alloc::PeakAlloc;
use rulebook_peers::engine::{ROWS, answers, folder, program, session};
use std::hint::black_box;
use std::path::Path;

#[global_allocator]
static HEAP: PeakAlloc = PeakAlloc;

fn main() {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let [corpus, repository] = arguments.as_slice() else { panic!("heap CORPUS REPOSITORY") };
    let (corpus, repository) = (Path::new(corpus), Path::new(repository));
    for row in &ROWS {
        let texts = answers(corpus, row.name);
        let folder = folder(repository, row.pack);
        let before = HEAP.current_usage();
        let program = program(&folder);
        println!("{}\tprogram, KB\t{}", row.name, (HEAP.current_usage() - before) / 1024);
        let session = session(&program, row.mode);
        // What is compiled at first use is memory of the program, not of an answer.
        texts.iter().for_each(|text| drop(black_box(program.run(&session, text))));
        let (mut sum, mut bytes, mut worst) = (0, 0, 0.0_f64);
        for text in &texts {
            let before = HEAP.current_usage();
            HEAP.reset_peak_usage();
            drop(black_box(program.run(&session, text)));
            let peak = HEAP.peak_usage() - before;
            sum += peak;
            bytes += text.len();
            worst = worst.max(peak as f64 / text.len() as f64);
        }
        println!("{}\tmean, × the answer\t{:.2}", row.name, sum as f64 / bytes as f64);
        println!("{}\tworst, × the answer\t{worst:.2}", row.name);
    }
}
