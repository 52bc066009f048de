//! Flow: what changes because of a response?
//!
//! In: the accepted calls and contents of a judgement, in the order of the response.
//! Out: effects for the host, and the next session.
//! Never: carries an effect out, or judges.

mod effects;
mod state;

pub(crate) use effects::{Done, Flow, Kind};
