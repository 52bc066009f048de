//! Modes: may the session change to a mode, and which rules run when it does?
//!
//! In: a mode to change to, and the exits of the current one.
//! Out: the session in another mode, after the rules for leaving and entering; or `gate-closed`, answered by a
//! strategy.
//! Never: enters a mode twice on one occasion, so that rules cannot run forever.

use super::effect::Effect;
use super::turn::{Bindings, Flow, PendingTransition};
use crate::diagnostic::{Code, Defect, Diagnostic, Remark, Strategy, message};
use crate::program::{DeclarationContext, Exit, Mode, ModeId, ResolvedStrategy, RuleEvent};
use crate::text::{Location, excerpt};

impl<'f> Flow<'f> {
    /// Requests a change of mode. It happens after the event; the first permitted request counts.
    pub(super) fn go(&mut self, to: ModeId, insists: bool, at: Location) {
        let name = self.program.mode_name(to);
        if name == self.session.mode {
            return self.note_already(to, at);
        }
        let chosen = if self.of_answer { self.requested_transition } else { self.pending_transition };
        if chosen.is_some_and(|chosen| chosen.to == to) {
            return self.note(Remark::SecondGo, message!("the mode goes to `{}` already", &name), at);
        }
        // A rule for an utterance may already have left the mode in which the answer was written.
        let is_elsewhere = self.of_answer && !self.entered.is_empty();
        if chosen.is_some() || is_elsewhere || self.leaving || self.entered.contains(&to) {
            return self.second_go(to, at);
        }
        let exit = self.current().and_then(|mode| mode.exits.iter().find(|exit| exit.to == to));
        let Some(exit) = exit else {
            let message = message!("there is no exit from `{}` to `{}`", &self.session.mode, &name);
            self.shut(Diagnostic::new(Code::Defect(Defect::GateClosed), Location::response(self.span), message), at);
            return;
        };
        let Some(why) = self.why_shut(exit) else {
            self.wait(to, at);
            return;
        };
        // The message sees what the answer has changed: it may say that the next answer will find the gate open.
        let declared = exit
            .shut
            .and_then(|message| self.program.message(message))
            .map(|(id, message)| (id, self.scope(&Bindings::default(), |scope| message.text.text(scope))));
        // The pack's message about a shut gate explains more than its condition.
        let why = match &declared {
            Some((_, Ok(text))) => excerpt(text, 300).into_owned(),
            _ => why,
        };
        let message = message!("the gate from `{}` to `{}` is shut", &self.session.mode, &name);
        if insists {
            self.note(Remark::Note, message!("{}, and was passed all the same: {}", &message, &why), exit.at);
            self.wait(to, at);
            return;
        }
        let mut finding = Diagnostic::new(Code::Defect(Defect::GateClosed), Location::response(self.span), message);
        finding.help = Some(why.into());
        match self.shut(finding, exit.at) {
            Strategy::Keep => self.wait(to, at),
            Strategy::Drop => match declared {
                Some((id, Ok(text))) => self.explain(exit, id, text),
                Some((_, Err(failure))) => self.failed(exit.at, &failure),
                None => {}
            },
            _ => {}
        }
    }

    /// Sends the message about a shut gate to the user, once for all requests that it shuts out alike.
    fn explain(&mut self, exit: &Exit, id: &str, text: String) {
        if self.explained.insert((exit.to, text.clone())) {
            self.push_effect(Effect::Say { id: id.to_owned(), text }, exit.at);
        }
    }

    fn note_already(&mut self, to: ModeId, at: Location) {
        self.note(Remark::NoTarget, message!("the mode is `{}` already", self.program.mode_name(to)), at);
    }

    fn second_go(&mut self, to: ModeId, at: Location) {
        let name = self.program.mode_name(to);
        self.note(Remark::SecondGo, message!("the mode has been chosen: nothing goes to `{}`", &name), at);
    }

    fn wait(&mut self, to: ModeId, at: Location) {
        let going = PendingTransition { to, at, from: self.mode_id(), span: self.span };
        match self.of_answer {
            true => self.requested_transition = Some(going),
            false => self.pending_transition = Some(going),
        }
    }

    /// Answers a shut gate by the strategies of the nearest declaration.
    fn shut(&mut self, finding: Diagnostic, at: Location) -> Strategy {
        let strategy = self.answer(Defect::GateClosed, finding.with_rule(Some(at)));
        // Only the change of mode is dropped: the call that asked for it counts, with its other effects.
        if strategy == Strategy::Drop
            && let Some(finding) = self.findings.last_mut()
        {
            finding.message = message!("{}: the mode stays `{}`", &finding.message, &self.session.mode);
        }
        strategy
    }

    /// Answers a defect by the strategies of the nearest declaration.
    pub(super) fn answer(&mut self, defect: Defect, mut finding: Diagnostic) -> Strategy {
        let near = DeclarationContext { mode: self.current(), ..self.near };
        // If the model may not be asked again, the next strategy answers.
        let applies = |(strategy, _): &ResolvedStrategy| *strategy != Strategy::AskAgain || self.may_ask_again;
        let chosen = self.program.answers(defect, near).find(applies);
        let (strategy, declared) = chosen.unwrap_or((Strategy::Drop, None));
        self.ruling.decide(strategy, declared, &mut finding);
        self.findings.push(finding);
        strategy
    }

    /// Why the gate of an exit is shut; `None` if it is open. For calls, the state in the prompt decides; for rules,
    /// the current state. A condition that fails shuts the gate.
    fn why_shut(&mut self, exit: &Exit) -> Option<String> {
        let gate = exit.gate.as_ref()?;
        let condition = self.scope_of_prompt_state(&Bindings::default(), |scope| self.steps.evaluate(gate, scope));
        let why = condition.why_not(120);
        let to = self.program.mode_name(exit.to);
        self.steps.trace_condition(condition, exit.at, self.span, || format!("the gate to `{to}` opens when"));
        why
    }

    /// Ends the event that consists of all calls and contents of the answer.
    pub(crate) fn answered(&mut self) {
        let Some(transition) = self.requested_transition.take() else { return };
        // A rule for an utterance may have changed the mode in the meantime.
        if transition.from != self.mode_id() || self.entered.contains(&transition.to) {
            self.span = transition.span;
            return match Some(transition.to) == self.mode_id() {
                true => self.note_already(transition.to, transition.at),
                false => self.second_go(transition.to, transition.at),
            };
        }
        self.pending_transition = Some(transition);
        self.depart();
    }

    /// Ends the event: changes the mode if requested, and runs the rules for leaving and entering.
    pub(super) fn depart(&mut self) {
        while let Some(going) = self.pending_transition.take() {
            let Some(from) = self.mode_id() else { return };
            self.leaving = true;
            self.run_rules(RuleEvent::Leave(from), &[]);
            self.leaving = false;
            let name = self.program.mode_name(going.to);
            self.steps.trace_mode(&self.session.mode, name, going.at, self.span);
            name.clone_into(&mut self.session.mode);
            self.mode = name.into();
            self.entered.push(going.to);
            self.session.compute(self.program);
            self.run_rules(RuleEvent::Enter(going.to), &[]);
        }
    }

    pub(super) fn mode_id(&self) -> Option<ModeId> {
        self.program.mode_id(&self.session.mode)
    }

    fn current(&self) -> Option<&'f Mode> {
        self.program.modes.get(&self.session.mode)
    }
}
