//! Cases: does the pack still do what its authors wrote down?
//!
//! In: the text of `.case` files, and a program; or a conversation.
//! Out: [`Case`] with the place of every line, [`CaseRun`] with every failed expectation, `Coverage`; the text of a
//! case for a conversation, and of a case with updated expectations.
//! Never: reads or writes a file, or formats a difference for users.
//!
//! A case file is a TOML header, then parts. Each part starts with a line of its own, `=== word ===`:
//!
//! ```text
//! claim = "a call its mode forbids is dropped; the message survives"
//! mode  = "reading"
//! === response ===
//! <message>Done.</message><action type="erase"/>
//! === expect ===
//! message = "Done."
//! calls   = [{ verdict = "dropped" }]
//! codes   = ["response/forbidden-call"]
//! ```
//!
//! The result of an API is a part with the name of the API (`openai`, `anthropic`, `gemini`, `mcp`): a message, or the
//! chunks of a stream. The line break before a marker is not part of the text. Parts (`start`, `user`, `response`) may
//! repeat, each followed by its expectation. Each part continues the session of the one before, so a whole conversation
//! is one script.

mod coverage;
mod expectation;
mod fill;
mod header;
mod matching;
pub(crate) mod overlooked;
mod parse;
mod prompts;
mod runner;
mod script;
mod talk;
mod update;

pub use matching::CaseFailure;
pub use parse::{Case, parse};
pub use runner::{CaseOptions, CaseRun, CaseVerdict, run};

/// What `rulebook test` and `rulebook play` need in addition.
#[cfg(feature = "unstable")]
mod tools {
    pub use super::coverage::{Coverage, Covered, Reason};
    pub use super::expectation::{Expectation, PartKind};
    pub use super::fill::filled;
    pub use super::header::{CaseHeader, Todo};
    pub use super::overlooked::overlooked_cases;
    pub use super::parse::CaseStep;
    pub use super::runner::faults;
    pub use super::script::{Exchange, script};
    pub use super::talk::{Talk, TurnResult};
    pub use super::update::updated;
}
#[cfg(feature = "unstable")]
pub use tools::*;
