//! Host: does the engine come to the same outcomes in a build whose features of shared crates differ?
//!
//! In: a suite, and the outcomes of a plain build.
//! Out: exit code 0 if the outcomes of this build are the same, byte for byte; otherwise the first line that differs.
//! Never: decides which outcomes are right.

mod outcomes;

use std::process::ExitCode;

fn main() -> Result<ExitCode, Box<dyn std::error::Error>> {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let [suite, expected] = arguments.as_slice() else { return Err("usage: rulebook-host SUITE EXPECTED".into()) };
    let (suite, expected) = (std::fs::read_to_string(suite)?, std::fs::read_to_string(expected)?);
    let outcomes = outcomes::of_suite(&suite)?;
    if outcomes == expected {
        println!("{} lines of outcomes are as in a plain build", outcomes.lines().count());
        return Ok(ExitCode::SUCCESS);
    }
    let differs = outcomes.lines().zip(expected.lines()).find(|(here, there)| here != there);
    println!("the outcomes are not as in a plain build: {differs:#?}");
    Ok(ExitCode::FAILURE)
}
