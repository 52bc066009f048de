//! How long does a pack of a hundred actions take to load, and how long do a thousand tools of a host take?
#![allow(clippy::print_stdout, missing_docs, reason = "a bench")]

mod corpus;

use criterion::Criterion;
use rulebook::{Folder, Program, Tools};
use std::hint::black_box;

fn main() {
    let folder = Folder::new("hundred", [("pack.toml", corpus::hundred_actions())]);
    let loaded = Program::load(&folder);
    if loaded.value.is_none() {
        println!("the generated pack is broken: {:#?}", loaded.diagnostics);
    }
    let mut criterion = Criterion::default().configure_from_args();
    criterion.bench_function("load/hundred actions", |bencher| bencher.iter(|| Program::load(black_box(&folder))));
    let gate = corpus::hundred_actions() + "[actions.\"srv__*\"]\n";
    if let Some(program) = Program::load(&Folder::new("gate", [("pack.toml", gate)])).value {
        let tools = corpus::thousand_tools();
        criterion.bench_function("load/thousand tools", |bencher| {
            bencher.iter(|| Tools::read(black_box(&tools)).value.map(|tools| program.with_tools(&tools)));
        });
    }
    criterion.final_summary();
    if let Some(median) = corpus::median("load_hundred actions").or_else(|| corpus::median("load/hundred actions")) {
        corpus::times("loading a pack of 100 actions, in ms", median / 1e6, 10.0);
    }
    if let Some(median) = corpus::median("load_thousand tools").or_else(|| corpus::median("load/thousand tools")) {
        corpus::times("reading and adding 1,000 tools, in ms", median / 1e6, 20.0);
    }
}
