//! Talks: what comes of what is said, one thing after the other?
//!
//! In: a program, the session in which a talk begins, and what is said in turn.
//! Out: [`TurnResult`], what came of each; the session after it, and what the model reads next.
//! Never: compares what came with anything, or keeps it.

use crate::outcome::{EffectRecord, Finding, Heard, Options, Outcome, Prompt, TraceStep};
use crate::program::Program;
use crate::prompt::{Request, Turn};
use crate::session::Session;
use crate::surface::Speaker;
use serde_json::Value;

/// A talk among a user, a model and the rules: each thing is said in the session that the one before left.
#[derive(Debug)]
pub struct Talk<'p> {
    program: &'p Program,
    session: Session,
    options: Options,
    history: Vec<Turn>,
    correction: Option<String>,
}

/// What came of one thing that was said.
#[derive(Debug, Clone)]
#[non_exhaustive]
pub enum TurnResult {
    /// Of the words of a user, or of the start of a session.
    Heard(Heard),
    /// Of the answer of a model.
    Outcome(Box<Outcome>),
}

impl<'p> Talk<'p> {
    /// A talk that begins in `session`.
    pub fn new(program: &'p Program, session: Session, options: Options) -> Self {
        Self { program, session, options, history: Vec::new(), correction: None }
    }

    /// The session as it stands.
    pub fn session(&self) -> &Session {
        &self.session
    }

    /// What the model reads behind its prompt: its last answer was refused, and it is asked for another in its place.
    pub fn correction(&self) -> Option<&str> {
        self.correction.as_deref()
    }

    /// The session starts, before anybody has said anything.
    pub fn start(&mut self) -> TurnResult {
        let heard = self.program.start_with(&self.session, self.options.trace);
        self.go_on(TurnResult::Heard(heard))
    }

    /// The user says something.
    pub fn hear(&mut self, text: &str) -> TurnResult {
        let heard = self.program.hear_with(&self.session, text, self.options.trace);
        self.history.push(Turn { role: Speaker::User, content: text.to_owned() });
        self.go_on(TurnResult::Heard(heard))
    }

    /// The model answers. What follows a correction is the next attempt at the same answer.
    pub fn answer(&mut self, response: &str) -> TurnResult {
        let outcome = self.program.run_with(&self.session, response.as_bytes(), &self.options);
        if outcome.ask_again.is_none() {
            self.history.push(Turn { role: Speaker::Assistant, content: response.to_owned() });
        }
        self.go_on(TurnResult::Outcome(Box::new(outcome)))
    }

    /// What the model reads of one of the pack's prompts when the user says `text`.
    pub fn prompt_for(&mut self, text: &str, prompt: Option<String>, model: Option<String>) -> Prompt {
        let (message, history) = (Some(text.to_owned()), self.history.clone());
        let request = Request { prompt, model, message, history, ..Request::default() };
        self.history.push(Turn { role: Speaker::User, content: text.to_owned() });
        self.program.prompt(&self.session, &request)
    }

    /// What the model reads next, with the last words of the user if nothing has answered them.
    pub fn prompt(&self, model: Option<String>) -> Prompt {
        let mut history = self.history.clone();
        let message = history.pop_if(|turn| turn.role == Speaker::User).map(|turn| turn.content);
        self.program.prompt(&self.session, &Request { model, message, history, ..Request::default() })
    }

    fn go_on(&mut self, told: TurnResult) -> TurnResult {
        self.correction = match &told {
            TurnResult::Heard(_) => None,
            TurnResult::Outcome(outcome) => outcome.ask_again.clone(),
        };
        self.options.attempts = if self.correction.is_some() { self.options.attempts + 1 } else { 0 };
        self.session = told.session().clone();
        told
    }
}

impl TurnResult {
    /// What was found.
    pub fn diagnostics(&self) -> &[Finding] {
        match self {
            TurnResult::Heard(heard) => &heard.diagnostics,
            TurnResult::Outcome(outcome) => &outcome.diagnostics,
        }
    }

    /// What the host should carry out.
    pub fn effects(&self) -> &[EffectRecord] {
        match self {
            TurnResult::Heard(heard) => &heard.effects,
            TurnResult::Outcome(outcome) => &outcome.effects,
        }
    }

    /// The story, where it was asked for.
    pub fn trace(&self) -> &[TraceStep] {
        match self {
            TurnResult::Heard(heard) => heard.trace.as_deref().unwrap_or_default(),
            TurnResult::Outcome(outcome) => outcome.trace.as_deref().unwrap_or_default(),
        }
    }

    /// The session after it.
    pub fn session(&self) -> &Session {
        match self {
            TurnResult::Heard(heard) => &heard.session,
            TurnResult::Outcome(outcome) => &outcome.session,
        }
    }

    pub(super) fn json(&self) -> serde_json::Result<Value> {
        match self {
            TurnResult::Heard(heard) => serde_json::to_value(heard),
            TurnResult::Outcome(outcome) => serde_json::to_value(outcome),
        }
    }
}
