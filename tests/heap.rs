//! How much memory does an answer take?
//!
//! A binary of its own, with one test: the peak of the heap is the process's.
#![allow(
    missing_docs,
    dead_code,
    clippy::disallowed_methods,
    clippy::expect_used,
    clippy::indexing_slicing,
    clippy::panic,
    clippy::print_stdout,
    clippy::string_slice,
    clippy::unwrap_used,
    reason = "a test that panics has failed, and says where; and tests read files"
)]

#[path = "../benches/corpus/mod.rs"]
mod corpus;
#[path = "it/hostile_inputs.rs"]
mod hostile_inputs;
#[path = "it/hostile_packs.rs"]
mod hostile_packs;

use hostile_inputs::INPUTS;
use hostile_packs::PACKS;
use peak_alloc::PeakAlloc;
use rulebook::prompt::Request;
use rulebook::{Folder, Options, Program};

#[global_allocator]
static HEAP: PeakAlloc = PeakAlloc;

/// The bounds, as times the length of the answer and bytes beside. A stream keeps the response, whose buffer doubles. That of
/// hostile answers is for each dialect that reads them: several do until one of them finds a block.
const HOSTILE: (usize, usize) = (4, 1 << 20);
const MIXED: (usize, usize) = (2, 1 << 16);
const STREAMED: (usize, usize) = (4, 1 << 16);

/// For packs whose values grow without end; the input is the pack, the answer and the session.
const GREEDY: (usize, usize) = (4, 16 << 20);

/// The lengths of hostile answers.
const SIZES: [usize; 3] = [10_000, 40_000, 160_000];

/// The heap that a run takes at its peak, beside what stood there before.
fn peak<T>(run: impl FnOnce() -> T) -> usize {
    HEAP.reset_peak_usage();
    let before = HEAP.current_usage();
    let kept = run();
    let peak = HEAP.peak_usage();
    drop(kept);
    peak.saturating_sub(before)
}

#[test]
fn memory_is_bounded_by_the_length_of_the_answer() {
    let packs: [(&str, Program); 2] = [("brackets", corpus::couple_ai()), ("tags", corpus::writers_factory(true))];
    let mut faults = Vec::new();
    let mut ask = |what: String, length: usize, peak: usize, (times, beside): (usize, usize)| {
        println!("{:>6.2} × {length} bytes: {what}", peak as f64 / length as f64);
        if peak > times * length + beside {
            faults.push(format!("{what}: {peak} bytes of heap for {length}"));
        }
    };
    for (name, pack, answer) in PACKS {
        let (pack, answer) = (pack(), answer(1_000_000));
        let mut checked = None;
        let check = peak(|| checked = Some(rulebook::check::faults(&Folder::new("p", [("pack.toml", pack.as_str())]))));
        ask(format!("{name}, checked"), pack.len(), check, GREEDY);
        let program = Program::load(&Folder::new("p", [("pack.toml", pack.as_str())])).into_result().unwrap();
        let session = program.session();
        let mut outcome = None;
        let run = peak(|| outcome = Some(program.run(&session, &answer)));
        ask((*name).to_owned(), pack.len() + answer.len(), run, GREEDY);
        let written = peak(|| serde_json::to_string(&outcome).unwrap());
        ask(format!("{name}, written"), pack.len() + answer.len(), written, GREEDY);
        let outcome = outcome.unwrap();
        match checked.unwrap().diagnostics.first() {
            // Values that are too large in every session are found when the pack is checked.
            Some(fault) => assert!(fault.message.to_string().contains("take more memory"), "{name}: {fault:?}"),
            None => assert!(outcome.diagnostics.iter().any(|one| one.to_string().contains("too-costly")), "{name}"),
        }
    }
    let files = hostile_packs::layers();
    let length = files.iter().map(|(_, text)| text.len()).sum();
    let folder = Folder::new("p", files.iter().map(|(name, text)| (*name, text.as_str())));
    let program = Program::load(&folder).into_result().unwrap();
    let mut prompt = None;
    let assembled = peak(|| prompt = Some(program.prompt(&program.session(), &Request::default())));
    ask("a prompt of long layers".to_owned(), length, assembled, GREEDY);
    assert!(prompt.unwrap().diagnostics.iter().any(|one| one.to_string().contains("take more memory")));
    for (dialect, program) in &packs {
        let session = program.session();
        // What compiles on first use is the program's.
        for text in [
            corpus::long_tags(&mut corpus::Dice::new(4), 1 << 16).text,
            corpus::long_brackets(&mut corpus::Dice::new(5), 1 << 16),
        ] {
            let _ = program.run(&session, &text);
        }
        for (name, input) in INPUTS {
            let _ = program.run(&session, &input(SIZES[0]));
            // How a list grows shows at one length more than at another.
            for text in SIZES.map(input) {
                let what = format!("{name}, read as {dialect}");
                let readings = if *dialect == "tags" { 3 } else { 1 };
                let bound = (readings * HOSTILE.0, readings * HOSTILE.1);
                ask(what, text.len(), peak(|| program.run(&session, &text)), bound);
            }
        }
    }
    for size in [1 << 14, 1 << 20] {
        for (dialect, program) in &packs {
            let (text, mode) = match *dialect {
                "tags" => {
                    let answer = corpus::long_tags(&mut corpus::Dice::new(4), size);
                    (answer.text, answer.mode.to_owned())
                }
                _ => (corpus::long_brackets(&mut corpus::Dice::new(5), size), "chat".to_owned()),
            };
            let mut session = program.session();
            session.mode = mode;
            let _ = program.run(&session, &text);
            ask(format!("mixed {dialect}"), text.len(), peak(|| program.run(&session, &text)), MIXED);
            let stream = Options { chunk: Some(64), ..Options::default() };
            // A stream compiles what it needs to know whether a guardrail hides a name.
            let _ = program.run_with(&session, text.as_bytes(), &stream);
            let streamed = peak(|| program.run_with(&session, text.as_bytes(), &stream));
            ask(format!("mixed {dialect}, streamed"), text.len(), streamed, STREAMED);
        }
    }
    assert!(faults.is_empty(), "{}", faults.join("\n"));
}
