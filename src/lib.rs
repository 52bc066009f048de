//! Rulebook decides what a language model's words may do.

pub mod cases;
#[cfg(feature = "cli")]
pub mod cli;
pub mod diagnostic;
mod document;
pub mod expression;
mod flow;
pub mod grammar;
mod judge;
pub mod outcome;
pub mod pack;
pub mod program;
#[cfg(feature = "cli")]
pub mod report;
pub mod session;
pub mod surface;
pub mod text;
pub mod workspace;

pub use document::Announcement;
pub use outcome::{Options, Outcome, Reader};
pub use program::{Limits, Loaded, Program};
pub use session::Session;
pub use surface::Folder;
