//! Driver: how long do the engine and its peers in Rust take for the answers of a row?
//!
//! In: the name of a measurement and its arguments, as `run` passes them.
//! Out: lines of `row TAB engine TAB figure`, as every driver of this folder prints them.
//! Never: compares figures; the script `run` does.

#![allow(clippy::disallowed_methods, reason = "a program of its own")]

use rulebook_peers::{load, prompt, rows, stream};
use std::path::Path;
use std::time::Duration;

const USAGE: &str = "\
rows CORPUS REPOSITORY MILLISECONDS ROW...
agree CORPUS REPOSITORY
stream CORPUS REPOSITORY MILLISECONDS
load REPOSITORY
prompt REPOSITORY DUMP";

fn main() {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let words: Vec<&str> = arguments.iter().map(String::as_str).collect();
    match words.as_slice() {
        ["rows", corpus, repository, time, names @ ..] => {
            let time = Duration::from_millis(time.parse().expect("milliseconds"));
            rows::measure(Path::new(corpus), Path::new(repository), time, names);
        }
        ["agree", corpus, repository] => rows::agree(Path::new(corpus), Path::new(repository)),
        ["load", repository] => load::measure(Path::new(repository)),
        ["prompt", repository, dump] => prompt::measure(Path::new(repository), Path::new(dump)),
        ["stream", corpus, repository, time] => {
            let time = Duration::from_millis(time.parse().expect("milliseconds"));
            stream::measure(Path::new(corpus), Path::new(repository), time);
        }
        _ => {
            eprintln!("{USAGE}");
            std::process::exit(2);
        }
    }
}
