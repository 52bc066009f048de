//! Reports: how does a person, or a program, read what was found?
//!
//! In: diagnostics, outcomes, case runs and tables, all plain data.
//! Out: text for people ([`Pen`]) and JSON for programs ([`json`]).
//! Never: decides anything, or writes to a terminal; only this floor lays out text for people.

mod cases;
mod diff;
mod drawing;
mod explain;
pub mod json;
mod outcome;

pub use cases::TestedPack;
pub use drawing::Pen;

/// `1 error`, `2 errors`.
fn count(number: usize, what: &str) -> String {
    if number == 1 { format!("1 {what}") } else { format!("{number} {what}s") }
}
