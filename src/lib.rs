//! Rulebook decides what a language model's words may do.

pub mod diagnostic;
mod document;
pub mod expression;
pub mod outcome;
pub mod session;
pub mod surface;
pub mod text;
