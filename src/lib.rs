//! Rulebook decides what a language model's words may do.

pub mod diagnostic;
pub mod grammar;
pub mod text;
