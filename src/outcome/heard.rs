//! The contract of `hear`: what does a host get back for a message of its user?
//!
//! In: nothing; these are plain types.
//! Out: [`Heard`], version 1, with its JSON (`schemas/heard.schema.json`).
//! Never: decides anything.

use super::contract::{EffectRecord, Finding, TraceStep};
use crate::session::{Session, contract};
use crate::value::Object;

contract! {
    /// The class of a user's message, and what follows from it.
    pub struct Heard {
        /// The version of this contract: 1.
        version: u32,
        /// The user's message as it may be stored and sent to a model: guardrails on the input have replaced what
        /// they redact. Empty if the message is refused.
        text: String,
        /// Whether a guardrail refuses the message. Nothing follows from it, and a host must not store it.
        refused: bool,
        /// The class of the input that matched; none if no input of the mode matched.
        class: Option<String>,
        /// What the pattern of the input captured.
        captures: Object,
        /// The texts to show to the user, in order. They are the texts of the `say` effects: show each once.
        say: Vec<String>,
        /// What the host should carry out, in order.
        effects: Vec<EffectRecord>,
        /// Everything worth reporting.
        diagnostics: Vec<Finding>,
        /// The session afterwards: pass it with the next message or response.
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
