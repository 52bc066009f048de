//! The contract of `hear`: what does a host get back for what its user said?
//!
//! In: nothing; these are plain types.
//! Out: [`Heard`], version 1, with its JSON (`schemas/heard.schema.json`).
//! Never: decides anything.

use super::contract::{EffectRecord, Finding, TraceStep};
use crate::session::{Session, contract};
use crate::value::Object;

contract! {
    /// What the user's words mean, and what follows from them.
    pub struct Heard {
        /// The version of this contract: 1.
        version: u32,
        /// The class of the input; none where no input of the mode matches.
        class: Option<String>,
        /// What its pattern captured.
        captures: Object,
        /// What to say to the user, in order: the texts of what says something among the effects, which a host shows once.
        say: Vec<String>,
        /// What the host should carry out, in order.
        effects: Vec<EffectRecord>,
        /// What was worth saying.
        diagnostics: Vec<Finding>,
        /// The session after the words.
        session: Session,
        /// Which declaration caused what, step by step; only on request.
        #[serde(skip_serializing_if = "Option::is_none")]
        trace: Option<Vec<TraceStep>>,
    }
}

impl Heard {
    /// Whether a finding is an error: what the exit status of `hear` says.
    pub fn has_errors(&self) -> bool {
        self.diagnostics.iter().any(Finding::is_error)
    }
}
