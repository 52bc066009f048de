//! The contract of `prompt`: what does a host send to the model?
//!
//! In: a program, a session, and a [`Request`].
//! Out: [`Prompt`], version 1, with its JSON (`schemas/prompt.schema.json`).
//! Never: writes a word of a prompt.

use super::contract::{Finding, VERSION};
use crate::diagnostic::Diagnostic;
use crate::program::{Mode, Program};
use crate::prompt::{Message, Request, TokenLedger, assemble};
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
    pub messages: Vec<Message>,
    /// The account of every token.
    pub ledger: TokenLedger,
    /// Everything worth saying about the prompt.
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
    /// Assembles what a model reads next. If that cannot be sent, there are no messages, and an error says why.
    #[must_use]
    pub fn prompt(&self, session: &Session, request: &Request) -> Prompt {
        let assembled = assemble(self, session, request, &|answer| self.seen(session, answer));
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

    /// What the user saw of an answer: its message, with the utterances in their places. Without a message these and
    /// the sections, and if no block is bound, the whole answer.
    fn seen(&self, session: &Session, answer: &str) -> String {
        let session = &self.session_of(session, answer);
        let (outcome, message) = self.run_placed(session, answer);
        // The model must see who said it. In its original form it would read as an utterance of the prompt itself.
        let utterances = outcome.utterances.into_iter().map(|one| match one.label.as_str() {
            "" => (one.span, format!("({}) {}", one.speaker, one.text)),
            label => (one.span, format!("({}, {label}) {}", one.speaker, one.text)),
        });
        if outcome.message.is_empty() {
            let sections = outcome.sections.into_iter().map(|section| section.text);
            let said: Vec<String> = sections.chain(utterances.map(|(_, text)| text)).collect();
            // A host may have kept only the message, without its tags, whatever the pack does with stray text.
            return match said.is_empty() && self.read_only(session, answer) == 0 {
                true => answer.to_owned(),
                false => said.join("\n\n"),
            };
        }
        let mut left = outcome.message.as_str();
        let mut said: Vec<String> = Vec::new();
        for (span, utterance) in utterances {
            let shown = outcome.message.len() - left.len();
            let before = message.before(span.start).saturating_sub(shown);
            let (prose, rest) = left.split_at_checked(before).unwrap_or((left, ""));
            said.extend(Some(prose.trim()).filter(|prose| !prose.is_empty()).map(str::to_owned));
            said.push(utterance);
            left = rest;
        }
        if said.is_empty() {
            return outcome.message;
        }
        said.extend(Some(left.trim()).filter(|prose| !prose.is_empty()).map(str::to_owned));
        said.join("\n\n")
    }

    /// The session to read an answer in that was given earlier: in the mode of `session`, or else in the first mode with
    /// other dialects that find a block in it. Read by the wrong dialect, reasoning and calls would be text.
    fn session_of(&self, session: &Session, answer: &str) -> Session {
        let own = self.modes.get(&session.mode).map(|mode| mode.dialects.as_slice()).unwrap_or_default();
        let reads_more = |mode: &Mode| mode.dialects.iter().any(|dialect| !own.contains(dialect));
        let mut others = self.modes.iter().filter(|(_, mode)| reads_more(mode)).peekable();
        if others.peek().is_none() || self.read_only(session, answer) > 0 {
            return session.clone();
        }
        let mut others = others.map(|(name, _)| Session { mode: name.clone(), ..session.clone() });
        others.find(|other| self.read_only(other, answer) > 0).unwrap_or_else(|| session.clone())
    }
}
