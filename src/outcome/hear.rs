//! Hearing: what follows from a user's message, or from the start of a session?
//!
//! In: a program, a session, and the message of a user.
//! Out: [`Heard`].
//! Never: classifies or performs anything itself: it calls the floors above in their order.

use super::contract::{TraceStep, VERSION};
use super::heard::Heard;
use super::run::Options;
use super::trace::flowed_steps;
use crate::diagnostic::{Code, Diagnostic, Findings, Remark};
use crate::expression::Scope;
use crate::flow::{ClassifiedMessage, Effect, Flow, Flowed, classify, shadowed};
use crate::judge::{Guarded, StepKind, Steps};
use crate::program::{Program, RuleEvent};
use crate::session::Session;
use crate::text::{Extent, Location, Span};
use crate::value::Record;
use crate::value::{Object, Value};

impl Program {
    /// Implements [`Program::hear`].
    pub(crate) fn hear_message(&self, session: &Session, text: &str, options: &Options) -> Heard {
        let trace = options.trace;
        let (current, budget) = self.occasion(self.up_to_date(session), text.len());
        let session = &*current;
        let span = Span::new(0, text.len());
        let guarded = self.guard_input(session, text);
        let mut flow = Flow::new(self, session, Record::default(), Steps::new(trace), &budget);
        let message = &*guarded.text;
        let classified = classify(self, &session.mode, message).filter(|_| !guarded.ruling.is_refused());
        let Some(classified) = classified else {
            return self.heard(session, text, None, flow.finish(), trace).guarded(self, session, text, guarded);
        };
        if let Some(input) = self.flows.inputs.get(classified.input) {
            flow.ask(input, span);
        }
        let (captures, message) = (Value::Object(classified.captures.clone()), Value::from(message));
        flow.handle_event(RuleEvent::Input(classified.class), &[("captures", &captures), ("text", &message)], span);
        self.heard(session, text, Some(classified), flow.finish(), trace).guarded(self, session, text, guarded)
    }

    /// Implements [`Program::start`].
    pub(crate) fn start_session(&self, session: &Session, options: &Options) -> Heard {
        let trace = options.trace;
        let (current, budget) = self.occasion(self.up_to_date(session), 0);
        let session = &*current;
        let mut flow = Flow::new(self, session, Record::default(), Steps::new(trace), &budget);
        flow.handle_event(RuleEvent::Start, &[], Span::default());
        self.heard(session, "", None, flow.finish(), trace)
    }

    fn heard(
        &self,
        session: &Session,
        text: &str,
        classified: Option<ClassifiedMessage>,
        flowed: Flowed,
        trace: bool,
    ) -> Heard {
        let input = classified.as_ref().and_then(|classified| self.flows.inputs.get(classified.input));
        let class = classified.as_ref().map(|classified| self.flows.class_name(classified.class).to_owned());
        let trace = trace.then(|| {
            let found = |class: &String| format!("`{class}` in {}", session.mode);
            let at = input.and_then(|input| self.place(input.at));
            let heard = class.iter().map(|class| TraceStep {
                step: StepKind::Input,
                span: Extent::new(0, text.len()),
                found: found(class),
                rule: at.clone(),
                parts: Vec::new(),
            });
            let later = classified
                .iter()
                .flat_map(|classified| shadowed(self, &session.mode, text, classified.input))
                .map(|input| TraceStep {
                    step: StepKind::Shadowed,
                    span: Extent::new(0, text.len()),
                    found: class.iter().map(found).collect(),
                    rule: self.place(input.at),
                    parts: Vec::new(),
                });
            heard.chain(later).chain(flowed_steps(self, &flowed)).collect()
        });
        let Flowed { session: next, done, findings: found, ruling, .. } = flowed;
        let mut findings = Findings::new(self.limits.diagnostics, 0);
        found.into_iter().for_each(|finding| findings.add(finding));
        if !self.modes.contains_key(&session.mode) {
            let Diagnostic { message, help, .. } = self.no_mode(&session.mode);
            let at = Location::response(Span::default());
            findings.add(Diagnostic { help, ..Diagnostic::new(Code::Remark(Remark::Note), at, message) });
        }
        let done = if ruling.is_refused() { Vec::new() } else { done };
        let say = done.iter().filter_map(|done| match &done.effect {
            Effect::Say { text, .. } => Some(text.clone()),
            _ => None,
        });
        Heard {
            version: VERSION,
            text: text.to_owned(),
            refused: false,
            class,
            captures: classified.map_or_else(Object::new, |classified| classified.captures),
            say: say.collect(),
            effects: done.iter().cloned().map(|done| self.record(done)).collect(),
            diagnostics: self.findings(findings, text),
            session: if ruling.is_refused() { unchanged(session) } else { next },
            trace,
        }
    }
}

impl Heard {
    /// Adds what the guardrails found in the user's message.
    fn guarded(mut self, program: &Program, session: &Session, text: &str, guarded: Guarded<'_>) -> Self {
        let mut findings = Findings::new(program.limits.diagnostics, 0);
        guarded.findings.into_iter().for_each(|finding| findings.add(finding));
        self.diagnostics.splice(0..0, program.findings(findings, text));
        self.refused = guarded.ruling.is_refused();
        self.text = guarded.text.into_owned();
        let words = program.modes.get(&session.mode).and_then(|mode| mode.reply.refused.as_ref());
        if let Some(words) = words.filter(|_| self.refused) {
            let mode = Value::from(session.mode.as_str());
            let now = Value::from(session.now.as_deref());
            let mut scope = Scope::new().with("data", &program.data).with("mode", &mode).with("now", &now);
            scope.add_record("state", &session.state);
            self.say.extend(words.text(&scope).ok());
        }
        self
    }
}

/// The session from before the occasion, with its computed values no longer charged to the occasion's budget.
fn unchanged(session: &Session) -> Session {
    let mut session = session.clone();
    session.state.end_occasion();
    session
}
