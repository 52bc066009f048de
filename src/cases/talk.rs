//! Talks: what are the results of the messages and answers of a conversation, one after the other?
//!
//! In: a program, the session in which a conversation starts, and its messages and answers in turn.
//! Out: a [`TurnResult`] for each; the session after it, and what the model reads next.
//! Never: compares results with anything, or stores them.

use crate::diagnostic::Faults;
use crate::outcome::{EffectRecord, Finding, Heard, Miss, Options, Outcome, Prompt, TraceStep};
use crate::program::Program;
use crate::prompt::{Request, Turn};
use crate::provider::Provider;
use crate::session::Session;
use crate::surface::Speaker;
use crate::value::{Value, to_value};

/// A conversation of a user and a model: each message or answer is judged in the session after the one before.
#[derive(Debug)]
pub struct Talk<'p> {
    program: &'p Program,
    session: Session,
    options: Options,
    history: Vec<Turn>,
    correction: Option<String>,
}

/// The result of one message, answer or decision.
#[derive(Debug, Clone)]
pub enum TurnResult {
    /// The result of a user message, or of the start of a session.
    Heard(Box<Heard>),
    /// The result of an answer of the model.
    Outcome(Box<Outcome>),
}

impl<'p> Talk<'p> {
    /// A conversation that starts in `session`.
    pub fn new(program: &'p Program, session: Session, options: Options) -> Self {
        Self { program, session, options, history: Vec::new(), correction: None }
    }

    /// The current session.
    pub fn session(&self) -> &Session {
        &self.session
    }

    /// The correction text that the model reads after its prompt, if its last answer was refused and it is asked again.
    pub fn correction(&self) -> Option<&str> {
        self.correction.as_deref()
    }

    /// Starts the session, before the first message.
    pub fn start(&mut self) -> TurnResult {
        let heard = self.program.start(&self.session, &self.options);
        self.go_on(TurnResult::Heard(Box::new(heard)))
    }

    /// The user sends a message.
    pub fn hear(&mut self, text: &str) -> TurnResult {
        let heard = self.program.hear(&self.session, text, &self.options);
        if !heard.refused {
            self.history.push(Turn::new(Speaker::User, heard.text.as_str()));
        }
        self.go_on(TurnResult::Heard(Box::new(heard)))
    }

    /// The model answers. After a correction, this is the next attempt at the same answer.
    pub fn answer(&mut self, response: &str) -> TurnResult {
        self.answer_to(response, |_| Vec::new())
    }

    /// Like [`Talk::answer`], for a host that executes the effects: if it reports that some could not be applied, the
    /// answer is rejected.
    pub fn answer_to(&mut self, response: &str, carry_out: impl FnOnce(&Outcome) -> Vec<Miss>) -> TurnResult {
        let outcome = self.program.run_with(&self.session, response.as_bytes(), &self.options);
        let outcome = self.carried_out(outcome, carry_out);
        if outcome.ask_again.is_none() {
            self.history.push(Turn::answer(&outcome));
        }
        self.go_on(TurnResult::Outcome(Box::new(outcome)))
    }

    /// The model answers through an API: a whole message, or a stream.
    ///
    /// # Errors
    ///
    /// If the text is not a message of this API.
    pub fn judge(&mut self, provider: Provider, reply: &str) -> Result<TurnResult, Faults> {
        let (_, outcome) = self.program.judge_recorded(&self.session, provider, reply, &self.options)?;
        if outcome.ask_again.is_none() {
            self.history.push(Turn::answer(&outcome));
        }
        Ok(self.go_on(TurnResult::Outcome(Box::new(outcome))))
    }

    /// A person confirms a pending call.
    pub fn confirm(&mut self, id: &str) -> TurnResult {
        self.confirm_to(id, |_| Vec::new())
    }

    /// Like [`Talk::confirm`], for a host that executes the effects. A call whose effects could not be applied is still
    /// pending.
    pub fn confirm_to(&mut self, id: &str, carry_out: impl FnOnce(&Outcome) -> Vec<Miss>) -> TurnResult {
        let outcome = self.program.resolve_pending(&self.session, id, true, &self.options);
        let outcome = self.carried_out(outcome, carry_out);
        self.go_on(TurnResult::Outcome(Box::new(outcome)))
    }

    /// A person declines a pending call.
    pub fn decline(&mut self, id: &str) -> TurnResult {
        let outcome = self.program.resolve_pending(&self.session, id, false, &self.options);
        self.go_on(TurnResult::Outcome(Box::new(outcome)))
    }

    /// The prompt that the model reads when the user sends `text`.
    pub fn prompt_for(&mut self, text: &str, prompt: Option<String>, model: Option<String>) -> Prompt {
        let (message, history) = (Some(text.to_owned()), self.history.clone());
        let request = Request { prompt, model, message, history, ..Request::default() };
        self.history.push(Turn::new(Speaker::User, text));
        self.program.prompt(&self.session, &request)
    }

    /// The prompt that the model reads next, with the user's last message if it has not been answered.
    pub fn prompt(&self, model: Option<String>) -> Prompt {
        let mut history = self.history.clone();
        let message = history.pop_if(|turn| turn.role == Speaker::User).map(|turn| turn.content);
        self.program.prompt(&self.session, &Request { model, message, history, ..Request::default() })
    }

    fn carried_out(&self, outcome: Outcome, carry_out: impl FnOnce(&Outcome) -> Vec<Miss>) -> Outcome {
        let misses = carry_out(&outcome);
        self.program.reject(&self.session, outcome, &misses, &self.options)
    }

    fn go_on(&mut self, result: TurnResult) -> TurnResult {
        self.correction = match &result {
            TurnResult::Heard(_) => None,
            TurnResult::Outcome(outcome) => outcome.ask_again.clone(),
        };
        self.options.attempts = if self.correction.is_some() { self.options.attempts + 1 } else { 0 };
        self.session = result.session().clone();
        result
    }
}

impl TurnResult {
    /// The findings.
    pub fn diagnostics(&self) -> &[Finding] {
        match self {
            TurnResult::Heard(heard) => &heard.diagnostics,
            TurnResult::Outcome(outcome) => &outcome.diagnostics,
        }
    }

    /// The effects for the host to execute.
    pub fn effects(&self) -> &[EffectRecord] {
        match self {
            TurnResult::Heard(heard) => &heard.effects,
            TurnResult::Outcome(outcome) => &outcome.effects,
        }
    }

    /// The trace; empty unless the options ask for it.
    pub fn trace(&self) -> &[TraceStep] {
        match self {
            TurnResult::Heard(heard) => heard.trace.as_deref().unwrap_or_default(),
            TurnResult::Outcome(outcome) => outcome.trace.as_deref().unwrap_or_default(),
        }
    }

    /// The session after this turn.
    pub fn session(&self) -> &Session {
        match self {
            TurnResult::Heard(heard) => &heard.session,
            TurnResult::Outcome(outcome) => &outcome.session,
        }
    }

    pub(super) fn json(&self) -> Option<Value> {
        match self {
            TurnResult::Heard(heard) => to_value(heard),
            TurnResult::Outcome(outcome) => to_value(outcome),
        }
    }
}
