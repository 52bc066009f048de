//! Time: how long does the fastest of some passes take?
//!
//! In: work that is the same each time.
//! Out: seconds, and lines for the script.
//! Never: decides how often a cycle is repeated.

use cpu_time::ProcessTime;
use std::hint::black_box;
use std::time::{Duration, Instant};

/// An engine: its name in the tables, and how it reads an answer.
pub type Engine<'a> = (&'static str, Box<dyn FnMut(&str) + 'a>);

/// An engine of this name. What it returns is dropped while the clock runs, as a host has to.
pub fn engine<'a, R>(name: &'static str, mut read: impl FnMut(&str) -> R + 'a) -> Engine<'a> {
    (name, Box::new(move |text| drop(black_box(read(black_box(text))))))
}

/// How long a part of a pass should take.
const PART: f64 = 2e-3;

/// Rounds in which all engines take turns, until each has had `time` on average; one before the clock starts. An engine's pass
/// over all answers is measured in parts of some milliseconds. The fastest time of each part counts, so that what else the
/// machine does meanwhile is not charged to the engine: seldom is a longer time undisturbed.
pub fn take_turns(row: &str, texts: &[String], time: Duration, mut engines: Vec<Engine>) {
    let bytes: usize = texts.iter().map(String::len).sum();
    let mut best: Vec<Vec<f64>> = Vec::new();
    let mut lengths = Vec::new();
    for (_, read) in &mut engines {
        texts.iter().for_each(|text| read(text));
        let pass = seconds(|| texts.iter().for_each(|text| read(text)));
        let parts = ((pass / PART).round() as usize).clamp(1, texts.len());
        lengths.push(texts.len().div_ceil(parts));
        best.push(vec![f64::INFINITY; parts]);
    }
    let begin = Instant::now();
    for round in 0.. {
        if round > 0 && begin.elapsed() > time * engines.len() as u32 {
            break;
        }
        for (((_, read), best), length) in engines.iter_mut().zip(&mut best).zip(&lengths) {
            for (part, best) in texts.chunks(*length).zip(best) {
                *best = best.min(seconds(|| part.iter().for_each(|text| read(text))));
            }
        }
    }
    for ((name, _), best) in engines.iter().zip(best) {
        let pass: f64 = best.iter().filter(|seconds| seconds.is_finite()).sum();
        println!("{row}\t{name}\t{:.4}", pass * 1e6 * 4096.0 / bytes as f64);
    }
}

/// The seconds of the fastest pass within this time, of at least two.
pub fn fastest(within: Duration, mut pass: impl FnMut()) -> f64 {
    let begin = Instant::now();
    let mut best = f64::INFINITY;
    let mut passes = 0;
    while passes < 2 || begin.elapsed() < within {
        best = best.min(seconds(&mut pass));
        passes += 1;
    }
    best
}

/// The smaller of the time that passed and the time that the process had a processor: the first is too long where others use
/// the machine, the second where a runtime has threads of its own.
fn seconds(mut pass: impl FnMut()) -> f64 {
    let (wall, processor) = (Instant::now(), ProcessTime::now());
    pass();
    processor.elapsed().min(wall.elapsed()).as_secs_f64()
}
