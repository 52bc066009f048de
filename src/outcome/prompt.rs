//! The contract of `prompt`: what does a host send to the model?
//!
//! In: a program, a session, and a [`Request`].
//! Out: [`Prompt`], version 1, with its JSON (`schemas/prompt.schema.json`).
//! Never: writes the text of a prompt itself.

use super::contract::{Finding, VERSION};
use crate::diagnostic::Diagnostic;
use crate::program::Program;
use crate::prompt::{PromptMessage, Request, TokenLedger, assemble};
use crate::session::Session;
use serde::{Deserialize, Serialize};

/// The messages for a model, and where every token in them comes from.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[non_exhaustive]
pub struct Prompt {
    /// The version of this contract: 1.
    pub version: u32,
    /// The messages in order; empty if there is an error.
    pub messages: Vec<PromptMessage>,
    /// The account of every token.
    pub ledger: TokenLedger,
    /// Everything worth reporting about the prompt.
    pub diagnostics: Vec<Finding>,
    /// The same prompt as one text, with the pack's separator between the layers.
    #[serde(skip)]
    pub text: String,
    /// The text of each layer, in the order of the ledger.
    #[serde(skip)]
    pub texts: Vec<String>,
    /// The diagnostics with their places in the pack's sources.
    #[serde(skip)]
    pub found: Vec<Diagnostic>,
}

impl Prompt {
    /// Whether there is an error, and therefore no prompt.
    pub fn has_errors(&self) -> bool {
        self.diagnostics.iter().any(Finding::is_error)
    }
}

impl Program {
    /// Implements [`Program::prompt`].
    pub(crate) fn assemble_prompt(&self, session: &Session, request: &Request) -> Prompt {
        let assembled = assemble(self, session, request, &|session, text| self.read_back(session, text));
        let findings = assembled
            .diagnostics
            .iter()
            .cloned()
            .map(|found| Finding { rule: found.at.or(found.rule).and_then(|at| self.place(at)), ..Finding::of(found) });
        Prompt {
            version: VERSION,
            messages: assembled.messages,
            ledger: assembled.ledger,
            diagnostics: findings.collect(),
            text: assembled.text,
            texts: assembled.texts,
            found: assembled.diagnostics,
        }
    }
}
