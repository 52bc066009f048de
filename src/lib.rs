//! Rulebook decides what a language model's words may do.

pub mod cases;
#[cfg(feature = "cli")]
pub mod cli;
pub mod diagnostic;
pub mod outcome;
pub mod program;
#[cfg(feature = "cli")]
pub mod report;
pub mod session;
pub mod surface;
pub mod text;
pub mod workspace;
