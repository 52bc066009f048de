//! Timing: how long does the fastest of several passes take?
//!
//! In: work that is the same in each pass.
//! Out: seconds, and lines for the script `run`.
//! Never: decides how often a measurement is repeated.

use cpu_time::ProcessTime;
use std::hint::black_box;
use std::time::{Duration, Instant};

/// An engine: its name in the tables, and a function that reads an answer.
pub type Engine<'a> = (&'static str, Box<dyn FnMut(&str) + 'a>);

/// An engine of this name. The clock includes the time to drop the result, because a host has to do that, too.
pub fn engine<'a, R>(name: &'static str, mut read: impl FnMut(&str) -> R + 'a) -> Engine<'a> {
    (name, Box::new(move |text| drop(black_box(read(black_box(text))))))
}

/// The target duration of a part of a pass, in seconds.
const PART: f64 = 2e-3;

/// Lets all engines take turns until each has had `time` on average, after two passes that are not counted. A pass over
/// all answers is measured in parts of some milliseconds, and the fastest time of each part counts, so that other work
/// of the machine is not attributed to an engine: a longer interval is rarely undisturbed.
pub fn take_turns(row: &str, texts: &[String], time: Duration, mut engines: Vec<Engine>) {
    let mut parts: Vec<Vec<(&[String], f64)>> = Vec::new();
    for (_, read) in &mut engines {
        let mut pass = || seconds(|| texts.iter().for_each(|text| read(text)));
        pass();
        let count = ((pass() / PART) as usize).clamp(1, texts.len());
        parts.push(texts.chunks(texts.len().div_ceil(count)).map(|part| (part, f64::INFINITY)).collect());
    }
    let (begin, time) = (Instant::now(), time * engines.len() as u32);
    let mut first = true;
    while first || begin.elapsed() < time {
        first = false;
        for ((_, read), parts) in engines.iter_mut().zip(&mut parts) {
            for (part, best) in parts {
                *best = best.min(seconds(|| part.iter().for_each(|text| read(text))));
            }
        }
    }
    let bytes: usize = texts.iter().map(String::len).sum();
    for ((name, _), parts) in engines.iter().zip(parts) {
        let pass: f64 = parts.iter().map(|(_, best)| best).sum();
        println!("{row}\t{name}\t{:.4}", pass * 1e6 * 4096.0 / bytes as f64);
    }
}

/// The seconds of the fastest pass within this time. There is at least one pass.
pub fn fastest(within: Duration, mut pass: impl FnMut()) -> f64 {
    let begin = Instant::now();
    let mut best = f64::INFINITY;
    let mut passes = 0;
    while passes == 0 || begin.elapsed() < within {
        best = best.min(seconds(&mut pass));
        passes += 1;
    }
    best
}

/// The smaller one of wall time and processor time. Wall time is too long if other processes use the machine, and
/// processor time if a runtime has threads of its own.
fn seconds(mut pass: impl FnMut()) -> f64 {
    let (wall, processor) = (Instant::now(), ProcessTime::now());
    pass();
    processor.elapsed().min(wall.elapsed()).as_secs_f64()
}
