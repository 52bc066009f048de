//! Flow: what changes because of a response, or of what a user said?
//!
//! In: the accepted calls and contents of a judgement in the order of the response, and the events on which rules
//! follow.
//! Out: effects for the host, and the next session.
//! Never: carries an effect out, or judges a response.
//!
//! One occasion is a finite list of events. For each, the rules follow in the order of the pack. A `go` acts after the
//! last of them, and causes the events of leaving and entering. A mode is entered at most once on an occasion, so it
//! always ends.

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
pub(crate) use inputs::{Words, classify, shadowed};
pub(crate) use turn::{Flow, Flowed, Performed};
