//! The contract of `hear`: what does a host get back for what its user said?
//!
//! In: nothing; these are plain types.
//! Out: [`Heard`], version 1, with its JSON (`schemas/heard.schema.json`).
//! Never: decides anything.

use super::contract::{EffectRecord, Finding, TraceStep};
use crate::session::Session;
use crate::value::Object;
use serde::Serialize;

/// What the user's words mean, and what follows from them.
#[derive(Debug, Clone, PartialEq, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[cfg_attr(feature = "schema", schemars(deny_unknown_fields))]
#[non_exhaustive]
pub struct Heard {
    /// The version of this contract: 1.
    pub version: u32,
    /// The class of the input; none where no input of the mode matches.
    pub class: Option<String>,
    /// What its pattern captured.
    pub captures: Object,
    /// What to say to the user, in order: the texts of what says something among the effects, which a host shows once.
    pub say: Vec<String>,
    /// What the host should carry out, in order.
    pub effects: Vec<EffectRecord>,
    /// What was worth saying.
    pub diagnostics: Vec<Finding>,
    /// The session after the words.
    pub session: Session,
    /// Which declaration caused what, step by step; only on request.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub trace: Option<Vec<TraceStep>>,
}

impl Heard {
    /// Whether a finding is an error: what the exit status of `hear` says.
    pub fn has_errors(&self) -> bool {
        self.diagnostics.iter().any(Finding::is_error)
    }
}
