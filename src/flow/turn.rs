//! Turn: what is known while effects change a session?
//!
//! In: a session, the reply of an answer or the message of a user, and the names that a list of effects binds.
//! Out: [`Flow`], which effects, rules and changes of mode advance; the names that they can see; and the result as
//! [`Flowed`].
//! Never: performs an effect, runs a rule or changes the mode by itself.

use super::effect::Effect;
use super::files::FileEffects;
use super::ids;
use crate::diagnostic::{Code, Defect, Diagnostic, Message, Remark, Severity, message, quote};
use crate::expression::{Expression, Failure, FailureKind, Scope};
use crate::judge::{JudgeStep, Ruling, Steps};
use crate::program::{DeclarationContext, MessageId, ModeId, Program};
use crate::session::Session;
use crate::text::{Location, Span};
use crate::value::{ByteBudget, MAX_VALUE_DEPTH, Object, Record, Value, weight};
use std::collections::BTreeSet;
use std::rc::Rc;
use std::sync::{Arc, LazyLock};

/// An effect that was performed.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Performed {
    pub(crate) effect: Effect,
    pub(crate) cause: Location,
    /// The place of the call or content that caused it.
    pub(crate) span: Span,
}

/// The result of one occasion.
pub(crate) struct Flowed {
    pub(crate) session: Session,
    pub(crate) done: Vec<Performed>,
    pub(crate) findings: Vec<Diagnostic>,
    pub(crate) steps: Vec<JudgeStep>,
    /// What was decided about the occasion as a whole.
    pub(crate) ruling: Ruling,
}

/// The session while effects change it.
pub(crate) struct Flow<'f> {
    pub(super) program: &'f Program,
    pub(super) session: Session,
    /// The state before the occasion, as in the prompt: no call opens a gate for another call of the answer.
    pub(super) prompt_state: Record,
    pub(super) known_ids: ids::KnownIds,
    pub(super) done: Vec<Performed>,
    /// What the calls and contents have changed in files so far.
    pub(super) files: FileEffects,
    pub(super) findings: Vec<Diagnostic>,
    pub(super) steps: Steps,
    pub(super) ruling: Ruling,
    /// Whether the model may be asked again.
    pub(super) may_ask_again: bool,
    pub(super) mode: Value,
    now: Value,
    reply: Record,
    pub(super) span: Span,
    /// The declarations of the call or content that acts; empty for a rule.
    pub(super) near: DeclarationContext<'f>,
    /// Whether a call or content acts, and not a rule.
    pub(super) of_answer: bool,
    /// The change of mode to make after the current event.
    pub(super) pending_transition: Option<PendingTransition>,
    /// The change of mode to make after the last call and content of the answer.
    pub(super) requested_transition: Option<PendingTransition>,
    pub(super) leaving: bool,
    /// The modes entered on this occasion.
    pub(super) entered: Vec<ModeId>,
    /// What the user was told about gates that are shut, by the mode that each of them leads to.
    pub(super) explained: BTreeSet<(ModeId, String)>,
    /// How many bytes everything that is made on this occasion may take in total.
    budget: Arc<ByteBudget>,
}

/// The names that one list of effects sees: the values of the event, call or content, and the names that the list
/// binds. Nested lists see them, too; names bound by a nested list are removed at its end.
#[derive(Default)]
pub(super) struct Bindings<'e> {
    names: &'e [(&'e str, &'e Value)],
    pub(super) lets: Vec<(&'e str, Value)>,
    pub(super) ids: Option<Rc<Value>>,
    pub(super) item: Option<Value>,
}

impl<'e> Bindings<'e> {
    /// The values of the event, call or content; nothing is bound yet.
    pub(super) fn of(names: &'e [(&'e str, &'e Value)]) -> Self {
        Self { names, ..Self::default() }
    }

    /// The value of a name of the event, call or content, or of one that is bound; not of the state or the reply.
    pub(super) fn value(&self, name: &str) -> Option<&Value> {
        let lets = self.lets.iter().rev().find(|(known, _)| *known == name).map(|(_, value)| value);
        let names = || self.names.iter().find(|(known, _)| *known == name).map(|(_, value)| *value);
        lets.or_else(|| self.item.as_ref().filter(|_| name == "item")).or_else(names)
    }

    /// Runs `then`, and removes the names that it bound.
    pub(super) fn inside(&mut self, then: impl FnOnce(&mut Self)) {
        let (lets, ids, item) = (self.lets.len(), self.ids.clone(), self.item.clone());
        then(self);
        self.lets.truncate(lets);
        (self.ids, self.item) = (ids, item);
    }
}

/// A change of mode that waits for the end of its event.
#[derive(Debug, Clone, Copy)]
pub(super) struct PendingTransition {
    pub(super) to: ModeId,
    pub(super) at: Location,
    /// The mode to leave; `span` is the place in the response of what requested the change.
    pub(super) from: Option<ModeId>,
    pub(super) span: Span,
}

/// Most occasions have at most this many effects.
const FEW_EFFECTS: usize = 8;

/// The value of `ids` and `item` if nothing is bound.
pub(super) static NO_IDS: LazyLock<Value> = LazyLock::new(|| Value::Object(Object::new()));
static NO_ITEM: Value = Value::Null;

impl<'f> Flow<'f> {
    /// The flow of an occasion with this budget.
    pub(crate) fn new(
        program: &'f Program,
        session: &Session,
        reply: Record,
        steps: Steps,
        budget: &Arc<ByteBudget>,
    ) -> Self {
        Self {
            program,
            session: session.clone(),
            prompt_state: session.state.clone(),
            known_ids: ids::KnownIds::default(),
            done: Vec::new(),
            files: FileEffects::default(),
            findings: Vec::new(),
            steps,
            ruling: Ruling::default(),
            may_ask_again: false,
            mode: session.mode.as_str().into(),
            now: session.now.as_deref().into(),
            reply,
            span: Span::default(),
            near: DeclarationContext::default(),
            of_answer: false,
            pending_transition: None,
            requested_transition: None,
            leaving: false,
            entered: Vec::new(),
            explained: BTreeSet::new(),
            budget: Arc::clone(budget),
        }
    }

    /// Sets whether the model may be asked again after this answer.
    pub(crate) fn asking(self, may_ask_again: bool) -> Self {
        Self { may_ask_again, ..self }
    }

    /// Replaces the reply, because something in it no longer counts.
    pub(crate) fn see(&mut self, reply: Record) {
        self.reply = reply;
    }

    /// The result of the occasion.
    pub(crate) fn finish(mut self) -> Flowed {
        self.session.state.end_occasion();
        if self.session.state.is_too_costly() {
            self.budget.exceed();
        }
        self.too_costly(None);
        let Self { session, done, findings, steps, ruling, .. } = self;
        Flowed { session, done, findings, steps: steps.into_list(), ruling }
    }

    /// The session as the effects so far left it, with nothing else of the occasion.
    pub(crate) fn into_session(self) -> Session {
        self.session
    }

    /// Sends a message of the pack to the user.
    pub(super) fn say(&mut self, message: MessageId, given: &[(&str, &Value)], at: Location) -> Result<(), Failure> {
        let Some((id, message)) = self.program.message(message) else { return Ok(()) };
        let text = self.scope(&Bindings::of(given), |scope| message.text.text(scope))?;
        self.push_effect(Effect::Say { id: id.clone(), text }, at);
        Ok(())
    }

    /// Charges the budget for a value as it is serialized: an outcome writes out the parts that values share in
    /// memory.
    pub(super) fn charge(&self, value: &Value) -> Result<(), Failure> {
        self.budget.take_value(value).map_err(Failure::exceeded)
    }

    /// Charges the budget twice for a value.
    pub(super) fn charge_twice(&self, value: &Value) -> Result<(), Failure> {
        let bytes = weight(value, MAX_VALUE_DEPTH);
        self.budget.take(bytes).and_then(|()| self.budget.take(bytes)).map_err(Failure::exceeded)
    }

    /// Charges the budget for texts that are written once more than in the response.
    pub(super) fn charge_texts(&self, texts: &[&str]) -> Result<(), Failure> {
        self.budget.take(texts.iter().map(|text| text.len()).sum()).map_err(Failure::exceeded)
    }

    pub(super) fn push_effect(&mut self, effect: Effect, cause: Location) {
        if self.done.is_empty() {
            self.done.reserve(FEW_EFFECTS);
        }
        self.done.push(Performed { effect, cause, span: self.span });
    }

    pub(super) fn scope<T>(&self, bound: &Bindings<'_>, then: impl FnOnce(&Scope<'_>) -> T) -> T {
        self.scope_over(&self.session.state, bound, then)
    }

    /// Whether a condition is true; `whose` describes what it decides.
    pub(super) fn holds(
        &mut self,
        when: &Expression,
        bound: &Bindings<'_>,
        at: Location,
        whose: impl FnOnce() -> String,
    ) -> Result<bool, Failure> {
        let condition = self.scope(bound, |scope| self.steps.evaluate(when, scope));
        let holds = condition.holds.clone();
        self.steps.trace_condition(condition, at, self.span, whose);
        holds
    }

    /// Like [`Flow::scope`], but a call or content sees the state that was in the prompt.
    pub(super) fn scope_of_prompt_state<T>(&self, bound: &Bindings<'_>, then: impl FnOnce(&Scope<'_>) -> T) -> T {
        let state = if self.of_answer { &self.prompt_state } else { &self.session.state };
        self.scope_over(state, bound, then)
    }

    fn scope_over<T>(&self, state: &Record, bound: &Bindings<'_>, then: impl FnOnce(&Scope<'_>) -> T) -> T {
        let mut scope = Scope::new();
        scope.limit(&self.budget);
        // Lookup searches backwards, so the names that are read most are added last.
        scope.add("now", &self.now);
        scope.add("mode", &self.mode);
        scope.add("ids", bound.ids.as_deref().unwrap_or(&NO_IDS));
        scope.add("item", bound.item.as_ref().unwrap_or(&NO_ITEM));
        scope.add_record("reply", &self.reply);
        scope.add("data", &self.program.data);
        scope.add_record("state", state);
        for (name, value) in bound.names {
            scope.add(name, value);
        }
        for (name, value) in &bound.lets {
            scope.add(name, value);
        }
        then(&scope)
    }

    pub(super) fn note(&mut self, remark: Remark, text: impl Into<Message>, rule: Location) {
        let at = Location::response(self.span);
        self.findings.push(Diagnostic::new(Code::Remark(remark), at, text).with_rule(Some(rule)));
    }

    /// Reports something that was left out because it is not valid against its schema. This is more than a remark:
    /// data is dropped.
    pub(super) fn note_data_loss(&mut self, message: impl Into<Message>, at: Location) {
        let span = Location::response(self.span);
        let finding = Diagnostic::new(Code::Remark(Remark::Note), span, message).with_rule(Some(at));
        self.findings.push(Diagnostic { severity: Severity::Warning, ..finding });
    }

    /// Reports, once, that something was left out because the budget was exceeded.
    fn too_costly(&mut self, at: Option<Location>) {
        if !self.budget.report() {
            return;
        }
        let message = format!("something is left out: {}", ByteBudget::EXCEEDED);
        let finding = Diagnostic::new(Code::Defect(Defect::TooCostly), Location::response(self.span), message);
        let help = "write only what is new in an effect, and no value twice in another one";
        self.answer(Defect::TooCostly, finding.with_rule(at).with_help(help));
    }

    /// Reports an effect that could not be performed and was left out.
    pub(super) fn failed(&mut self, at: Location, failure: &Failure) {
        self.left_out("an effect", at, failure);
    }

    /// Reports that `what` failed and was left out.
    pub(super) fn left_out(&mut self, what: &str, at: Location, failure: &Failure) {
        if failure.kind == FailureKind::Budget {
            return self.too_costly(Some(at));
        }
        let message = message!("{} was left out: {}", &what, quote(&failure.message, 160));
        let span = Location::response(self.span);
        self.findings.push(Diagnostic::new(Code::Remark(Remark::Note), span, message).with_rule(Some(at)));
    }
}
