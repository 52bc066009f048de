//! The contract of `hear`: what does a host get back for the words of its user?
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
        /// The words of the user as they may be kept and shown to a model: guardrails on the input have replaced what they
        /// redact. Empty if the words are refused.
        text: String,
        /// Whether a guardrail refuses the words. Nothing follows from them, and a host keeps them nowhere.
        refused: bool,
        /// The class of the input that matched; none if no input of the mode matched.
        class: Option<String>,
        /// What the pattern of the input captured.
        captures: Object,
        /// What to say to the user, in order. These are the texts of the effects that say something: show each once.
        say: Vec<String>,
        /// What the host should carry out, in order.
        effects: Vec<EffectRecord>,
        /// Everything worth saying.
        diagnostics: Vec<Finding>,
        /// The session afterwards: pass it with the next words or response.
        session: Session,
        /// Which declaration caused what, step by step; absent unless a trace was asked for.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        trace: Option<Vec<TraceStep>>,
    }
}

impl Heard {
    /// Whether any finding is an error. If so, `hear` exits with 1.
    pub fn has_errors(&self) -> bool {
        self.diagnostics.iter().any(Finding::is_error)
    }
}
