//! Rulebook decides what a language model's words may do.

pub mod diagnostic;
mod document;
pub mod expression;
pub mod grammar;
pub mod outcome;
pub mod pack;
pub mod program;
pub mod session;
pub mod surface;
pub mod text;

pub use program::Program;
pub use surface::Folder;
