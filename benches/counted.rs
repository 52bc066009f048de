//! How many instructions does a scenario take? `benches/instructions` runs this under valgrind.
//!
//! A run repeats one scenario a number of times after its set-up. The difference of two runs that differ only in that
//! number is the instructions of the repetitions alone.
#![allow(clippy::print_stdout, clippy::print_stderr, clippy::disallowed_methods, missing_docs, reason = "a bench")]

mod corpus;

use std::process::ExitCode;

fn main() -> ExitCode {
    let scenarios = corpus::scenarios::all();
    // `cargo bench` adds the argument `--bench`.
    let arguments: Vec<String> = std::env::args().skip(1).filter(|argument| argument != "--bench").collect();
    match arguments.iter().map(String::as_str).collect::<Vec<_>>()[..] {
        [] => println!("benches/instructions counts the instructions of these scenarios; `--list` prints their names"),
        ["--list"] => scenarios.iter().for_each(|scenario| println!("{}", scenario.name)),
        [name, count] => {
            let Some(scenario) = scenarios.iter().find(|scenario| scenario.name == name) else {
                eprintln!("there is no scenario `{name}`");
                return ExitCode::FAILURE;
            };
            let Ok(count) = count.parse::<u32>() else {
                eprintln!("`{count}` is not a number of repetitions");
                return ExitCode::FAILURE;
            };
            let mut work = (scenario.prepare)();
            // The first run also includes what is compiled at first use.
            work();
            (0..count).for_each(|_| work());
        }
        _ => {
            eprintln!("usage: counted [--list | NAME COUNT]");
            return ExitCode::FAILURE;
        }
    }
    ExitCode::SUCCESS
}
