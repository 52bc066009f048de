//! Flow: what changes because of a response, or of a user's message?
//!
//! In: the accepted calls and contents of a judgement in the order of the response, and the events that trigger
//! rules.
//! Out: effects for the host, and the next session.
//! Never: carries an effect out, or judges a response.
//!
//! An occasion is a finite list of events. For each event, its rules run in the order of the pack. A `go` takes
//! effect after the last of them, and triggers the events of leaving and entering a mode. Each mode is entered at
//! most once on an occasion, so every occasion ends.

mod changes;
mod effect;
mod effects;
mod files;
mod ids;
mod inputs;
mod modes;
mod patch;
mod rules;
mod state;
mod turn;

pub use effect::{Amendment, Edit, Effect, FileLines, Miss, MissKind};
pub(crate) use inputs::{ClassifiedMessage, classify, shadowed};
pub(crate) use turn::{Flow, Flowed, Performed};
