//! Outcome: what became of one response?
//!
//! In: a [`Program`](crate::program::Program), a session, a response.
//! Out: [`Outcome`], the public contract.
//! Never: reads or judges by itself; it calls the floors above.

mod contract;
mod difference;
mod fields;
mod hear;
mod heard;
mod past;
mod pending;
mod prompt;
mod reader;
mod reject;
mod release;
mod replies;
mod run;
mod trace;

pub use crate::flow::{Amendment, Edit, Effect, FileLines, Miss, MissKind};
pub use crate::judge::{Leaf, StepKind};
pub use crate::surface::Matching;
pub use crate::text::unsafe_because;
pub use contract::{
    Call, ContentBlock, EffectRecord, Finding, Ledger, Origin, Outcome, Part, Section, Status, TraceStep, Utterance,
    VERSION, Verdict, Withheld,
};
#[cfg(feature = "unstable")]
pub use difference::differences;
pub use heard::Heard;
pub use prompt::Prompt;
pub use reader::Reader;
pub use run::Options;
