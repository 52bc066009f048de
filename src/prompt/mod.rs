//! Prompts: what is a model told?
//!
//! In: a [`Program`](crate::program::Program).
//! Out: the form of a good answer and the actions of a mode, as the rules have them.
//! Never: says anything about a form that its own reader would refuse.

mod actions;
mod answer;
mod ask_again;
mod export;
mod form;
mod spelling;
mod strict;

pub use actions::{ActionForm, ParamForm};
pub use export::{Export, Exported};
pub use form::{BlockForm, Form};
