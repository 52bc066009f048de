//! Permits: may this call run, or this content be stored, in the current mode?
//!
//! In: the calls and contents that count, and the mode and state that the prompt of the response showed.
//! Out: each of them permitted, answered as forbidden, or, if a permit says so, pending until a person confirms it.
//! Never: lets a call or content have effects if no permit allows it, or if a denial cannot be evaluated.

use super::redacting::replace_in;
use super::{JudgedCall, Judgement, Occasion, StepKind, Subject, defect, head};
use crate::diagnostic::{Argument, Defect, Message, Remark, Strategy, message, quote};
use crate::expression::Template;
use crate::program::{Guardrail, GuardrailTarget, MatchingEntries, ModePermits, Permit};
use crate::surface::Role;
use crate::text::{Location, Span, excerpt, legible};
use crate::value::{Object, Record, Value};
use std::borrow::Cow;
use std::collections::{BTreeMap, BTreeSet};
use std::sync::LazyLock;

/// The maximum number of permits whose conditions and advice a finding lists.
const MAX_LISTED: usize = 3;

/// No permits, for a session whose mode the pack does not have.
static NONE: LazyLock<ModePermits> = LazyLock::new(ModePermits::default);

/// A call or a content whose permits are checked.
struct PermitRequest<'r> {
    subject: Subject,
    /// The name of the action, or of the content.
    name: Cow<'r, str>,
    /// The span that a finding points at.
    head: Span,
    span: Span,
    /// The variables that conditions see in addition to those of the scope.
    values: Vec<(&'static str, Value)>,
}

/// What the permits decide.
enum PermitVerdict<'r> {
    Permitted,
    /// A person has to confirm this question first.
    Asks(String, &'r Template),
    Forbidden(Box<Forbidden>),
}

/// Why something is forbidden.
#[derive(Default)]
struct Forbidden {
    /// The conditions that are not true, or the denial.
    why: Vec<Message>,
    /// The names of the arguments that these conditions read.
    read: BTreeSet<String>,
    advice: Vec<String>,
    about: Vec<String>,
    rule: Option<Location>,
    /// Whether the reason is a denial.
    denied: bool,
    /// Whether a permit might allow it under another condition.
    conditional: bool,
}

impl<'r> Judgement<'r> {
    /// Checks the permits of some calls, in order.
    pub(super) fn judge_permits(&mut self, is_judged: impl Fn(&JudgedCall<'_>) -> bool) {
        for call in 0..self.calls.len() {
            if self.calls.get(call).is_some_and(&is_judged) {
                self.judge_permit(call);
            }
            self.with_call(call, |call| call.permitted = call.accepted);
        }
        (self.turn.session, self.turn.applied) = (None, 0);
    }

    /// Applies the effects of the accepted calls before this one to the state that its permits see, if the pack sets
    /// `calls = "in-turn"`.
    fn take_turns_before(&mut self, call: usize) {
        let Some(after_call) = &self.turn.after_call else { return };
        for number in self.turn.applied..call {
            if let Some(JudgedCall {
                name, action: Some(action), accepted: true, confirm: None, params, block, ..
            }) = self.calls.get(number)
            {
                let before = self.turn.session.as_ref().unwrap_or(self.session);
                self.turn.session = Some(after_call(before, (*action, name), params, self.span_of(*block)));
            }
        }
        self.turn.applied = self.turn.applied.max(call);
    }

    /// Checks the permits again if a call has been dropped whose effects later permits have seen (`calls =
    /// "in-turn"`).
    pub(super) fn judge_permits_again(&mut self) {
        if self.turn.after_call.is_some() && self.calls.iter().any(|call| call.permitted && !call.accepted) {
            self.judge_permits(|call| call.accepted);
            self.reply = Record::default();
        }
    }

    /// Composes the questions of all calls that wait for a person again, because a guardrail has replaced something.
    pub(super) fn renew_questions(&mut self) {
        for call in 0..self.calls.len() {
            if self.calls.get(call).is_some_and(|call| call.confirm.is_some()) {
                self.take_turns_before(call);
            }
            let Some(JudgedCall { block, name, params, confirm: Some(_), asks: Some(asks), .. }) = self.calls.get(call)
            else {
                continue;
            };
            let (asks, name) = (*asks, name.clone());
            let values = vec![("action", Value::from(&*name)), ("params", params.clone())];
            let Some((block, _)) = self.block(*block) else { continue };
            let subject = Subject::Call(call);
            let request = PermitRequest { subject, name, head: head(block), span: block.span(), values };
            match self.text_of(asks, &request) {
                Ok(question) => self.with_call(call, |call| call.confirm = Some(legible(&question).into_owned())),
                Err(failure) => {
                    let message = message!("what to confirm fails: {}", &failure);
                    let mut finding = defect(Defect::ForbiddenCall, request.head, message);
                    self.drop_call(call);
                    self.ruling.decide(Strategy::Drop, None, &mut finding);
                    self.find(finding);
                }
            }
        }
        (self.turn.session, self.turn.applied) = (None, 0);
    }

    /// Checks the permits of a call.
    fn judge_permit(&mut self, call: usize) {
        let Some(JudgedCall { block, name, action: Some(action), params_valid: params_fit, accepted, params, .. }) =
            self.calls.get(call)
        else {
            return;
        };
        let Some((block, _)) = self.block(*block) else { return };
        let permits = self.mode.map_or(&*NONE, |mode| &mode.actions);
        let possible = permits.permits.of(name);
        let mode = self.session.mode.as_str();
        // Fast path: most calls are permitted without a condition, in a mode that denies nothing.
        let free = possible.iter().find(|permit| permit.is_free()).filter(|_| permits.denies.is_empty());
        if let (Some(permit), false) = (free, self.occasion == Occasion::Declined) {
            return self
                .steps
                .record(StepKind::Permit, permit.at, block.span(), || format!("`{mode}` permits `{name}`"));
        }
        // Conditions read parameters: a call that was dropped for invalid parameters gets no second finding for a
        // condition on them.
        if let (Some(permit), false, false, None) = (possible.first(), *params_fit, *accepted, free) {
            let found =
                || format!("`{mode}` permits `{name}` on a condition, which is not evaluated for invalid parameters");
            return self.steps.record(StepKind::Permit, permit.at, block.span(), found);
        }
        let (name, action) = (name.clone(), *action);
        let values = vec![("action", Value::from(&*name)), ("params", params.clone())];
        let request =
            PermitRequest { subject: Subject::Call(call), name, head: head(block), span: block.span(), values };
        self.take_turns_before(call);
        self.with_call(call, |call| call.confirm = None);
        if self.occasion == Occasion::Declined {
            let message = message!("a person has declined `{}`", &request.name);
            let rule = possible.first().map(|permit| permit.at);
            let mut finding = defect(Defect::ForbiddenCall, request.head, message).with_rule(rule);
            self.drop_call(call);
            self.ruling.decide(Strategy::Drop, None, &mut finding);
            return self.find(finding);
        }
        match self.verdict(permits, &request) {
            PermitVerdict::Permitted => {}
            PermitVerdict::Asks(question, asks) if self.is_confirmed(&question, asks, &request) => {}
            PermitVerdict::Asks(question, asks) => {
                if self.occasion != Occasion::Answer {
                    let message = message!("`{}` waits again: its question is another one by now", &request.name);
                    self.remark(Remark::Note, request.head, message, possible.first().map(|permit| permit.at));
                }
                if let Some(call) = self.calls.get_mut(call) {
                    (call.confirm, call.asks) = (Some(question), Some(asks));
                }
            }
            PermitVerdict::Forbidden(why) => {
                let elsewhere = !why.conditional && !why.denied;
                let help = if elsewhere { self.permitted_elsewhere(&request.name) } else { None };
                let rule = why.rule.or_else(|| self.program.action(action).map(|(_, action)| action.at));
                self.forbid(Defect::ForbiddenCall, &request, Forbidden { rule, ..*why }, help);
            }
        }
    }

    /// Whether a person has said yes to this question, which may contain the time when it was asked.
    fn is_confirmed(&mut self, question: &str, asks: &'r Template, request: &PermitRequest<'_>) -> bool {
        let Occasion::Confirmed(Some(waited)) = self.occasion else { return false };
        let now = std::mem::replace(&mut self.now, waited.now.as_deref().into());
        let then = self.text_of(asks, request);
        self.now = now;
        question == waited.question || then.is_ok_and(|then| legible(&then) == waited.question)
    }

    /// Checks the permits of the contents that count, if the pack has any for their names.
    pub(super) fn judge_content_permits(&mut self) {
        if self.program.modes.values().all(|mode| mode.contents.permits.is_empty() && mode.contents.denies.is_empty()) {
            return;
        }
        for index in 0..self.document.blocks.len() {
            let Some((block, bound)) = self.block(index) else { continue };
            if bound.role != Role::Content || !self.counts(index) {
                continue;
            }
            let Some((name, key, text)) = self.content(index) else { continue };
            let is_named = |list: &crate::program::PermitList| !list.of(&name).is_empty();
            let permits = self.mode.map_or(&*NONE, |mode| &mode.contents);
            // A content needs a permit only if some mode has one for its name.
            let needs_permit = self.program.needs_permit(&name);
            if !needs_permit && !is_named(&permits.denies) {
                continue;
            }
            let values = vec![
                ("key", Value::from(&*key)),
                ("text", Value::String(text)),
                ("name", Value::from(&*name)),
                ("attributes", self.attributes(index)),
            ];
            let subject = Subject::Block(index);
            let request = PermitRequest { subject, name, head: block.opener(), span: block.span(), values };
            let verdict = match needs_permit {
                true => self.verdict(permits, &request),
                false => self.denial(permits, &request).map_or(PermitVerdict::Permitted, PermitVerdict::Forbidden),
            };
            if let PermitVerdict::Forbidden(why) = verdict {
                self.forbid(Defect::ForbiddenContent, &request, *why, None);
            }
        }
    }

    /// What permits and denials decide. Deny by default: what no permit allows is forbidden, and a condition that
    /// fails denies. A permit that needs no confirmation takes precedence over one that does.
    fn verdict(&mut self, permits: &'r ModePermits, request: &PermitRequest<'r>) -> PermitVerdict<'r> {
        if let Some(denied) = self.denial(permits, request) {
            return PermitVerdict::Forbidden(denied);
        }
        let possible = permits.permits.of(&request.name);
        let mode = self.session.mode.as_str();
        let name = &request.name;
        let allowed = || format!("`{mode}` permits `{name}`");
        if let Some(permit) = possible.iter().find(|permit| permit.is_free()) {
            self.steps.record(StepKind::Permit, permit.at, request.span, allowed);
            return PermitVerdict::Permitted;
        }
        let mut forbidden = Forbidden { conditional: !possible.is_empty(), ..Forbidden::default() };
        let mut asks: Option<(&Permit, &'r Template)> = None;
        for permit in &possible {
            let unmet = self.unmet(permit, request, "permits", &mut forbidden);
            match (unmet, &permit.confirm) {
                (None, None) => {
                    self.steps.record(StepKind::Permit, permit.at, request.span, allowed);
                    return PermitVerdict::Permitted;
                }
                (None, Some(confirm)) => asks = asks.or(Some((permit, confirm))),
                (Some(why), _) => forbidden.why.push(why),
            }
        }
        if let Some((permit, confirm)) = asks {
            match self.text_of(confirm, request) {
                Ok(question) => {
                    let found = || format!("`{mode}` permits `{name}` once a person has confirmed it");
                    self.steps.record(StepKind::Permit, permit.at, request.span, found);
                    // Never cut: a person has to see all of what they confirm.
                    return PermitVerdict::Asks(legible(&question).into_owned(), confirm);
                }
                Err(failure) => forbidden.why.push(message!("what to confirm fails: {}", &failure)),
            }
        }
        forbidden.rule = possible.first().map(|permit| permit.at).or(self.mode.map(|mode| mode.at));
        if let Some(rule) = forbidden.rule {
            let found = || format!("no permit of `{mode}` allows `{name}`");
            self.steps.record(StepKind::Permit, rule, request.span, found);
        }
        forbidden.about = abouts(&possible);
        PermitVerdict::Forbidden(Box::new(forbidden))
    }

    /// The denial that forbids a call or content, if there is one. A denial whose condition fails applies.
    fn denial(&mut self, permits: &'r ModePermits, request: &PermitRequest<'r>) -> Option<Box<Forbidden>> {
        for denial in permits.denies.of(&request.name) {
            let mut read = Forbidden::default();
            if denial.when.is_some() && self.unmet(denial, request, "denies", &mut read).is_some() {
                continue;
            }
            let (mode, name) = (self.session.mode.as_str(), &request.name);
            self.steps.record(StepKind::Permit, denial.at, request.span, || format!("`{mode}` denies `{name}`"));
            let why = match &denial.when {
                Some(when) => message!("`{}`", &excerpt(when.source(), 120)),
                None => message!("unconditionally"),
            };
            let advice = denial.advice.as_ref().and_then(|advice| self.advice_of(advice, request).ok());
            return Some(Box::new(Forbidden {
                why: vec![why],
                advice: advice.into_iter().collect(),
                about: denial.about.iter().cloned().collect(),
                rule: Some(denial.at),
                denied: true,
                ..read
            }));
        }
        None
    }

    /// Why the condition of a permit or denial is not true; `None` if it is. A condition that fails counts as false
    /// for a permit, and as true for a denial. Notes what the condition reads, and the advice of a permit whose
    /// condition is not true.
    fn unmet(
        &mut self,
        permit: &'r Permit,
        request: &PermitRequest<'r>,
        verb: &str,
        noted: &mut Forbidden,
    ) -> Option<Message> {
        let when = permit.when.as_ref()?;
        self.prepare_reply(when.reads());
        let scope = self.scope_of(request);
        let condition = self.steps.evaluate(when, &scope);
        let (holds, unmet) = (condition.holds.clone(), condition.unmet());
        let (mode, name) = (self.session.mode.as_str(), &request.name);
        self.steps.trace_condition(condition, permit.at, request.span, || format!("`{mode}` {verb} `{name}` when"));
        noted.note(when.reads(), request);
        if verb == "denies" {
            return unmet.filter(|_| holds.is_ok());
        }
        if holds != Ok(true)
            && let Some(advice) = &permit.advice
            && noted.advice.len() < MAX_LISTED
        {
            let advice = self.advice_of(advice, request).ok();
            noted.advice.extend(advice.filter(|advice| !noted.advice.contains(advice)));
        }
        let mut why = unmet?;
        let read = arguments(when.reads(), &self.quotable_values(when.reads(), request));
        for (index, (argument, value)) in read.iter().enumerate() {
            why.push(if index == 0 { " (" } else { ", " }, []);
            why.push("{} = {}", [Argument::whole(argument.clone()), quote(value.clone(), 60)]);
        }
        why.push(if read.is_empty() { "" } else { ")" }, []);
        Some(why)
    }

    /// The advice of a permit or denial, in at most 300 characters. It is made before guardrails remove anything, so it
    /// sees no text that one of them may remove.
    fn advice_of(&mut self, advice: &Template, request: &PermitRequest<'_>) -> Result<String, String> {
        let reads = advice.reads();
        self.prepare_reply(reads);
        let values = self.quotable_values(reads, request);
        let state = self.turn.session.as_ref().map_or(&self.session.state, |session| &session.state);
        let [state, reply] = [("state", state), ("reply", &self.reply)].map(|(head, record)| {
            let is_read = |name: &str| {
                let mut paths = reads.iter().filter(|path| path.first().is_some_and(|first| first == head));
                paths.any(|path| path.get(1).is_none_or(|member| member == name))
            };
            let read = record.iter().filter(|(name, _)| is_read(name));
            read.map(|(name, value)| (name, self.quotable(value, request))).collect::<Record>()
        });
        let mut scope = self.scope_of(request);
        scope.add_record("state", &state);
        scope.add_record("reply", &reply);
        values.iter().for_each(|(name, value)| scope.add(name, value));
        let text = advice.text(&scope).map_err(|failure| failure.message.to_string())?;
        Ok(excerpt(&text, 300).into_owned())
    }

    /// The values of a call or content that are read, without the texts that a guardrail may remove from an answer.
    fn quotable_values(&self, reads: &[Vec<String>], request: &PermitRequest<'_>) -> Vec<(&'static str, Value)> {
        let is_read = |name: &str| reads.iter().any(|path| path.first().is_some_and(|head| head == name));
        let quotable = |value: &Value| match value {
            // The names of parameters and attributes are the pack's.
            Value::Object(members) => {
                members.iter().map(|(name, member)| (name, self.quotable(member, request))).collect::<Object>().into()
            }
            value => self.quotable(value, request),
        };
        let read = request.values.iter().filter(|(name, _)| is_read(name));
        read.map(|(name, value)| (*name, quotable(value))).collect()
    }

    /// A value without the texts that a guardrail may remove from an answer.
    fn quotable(&self, value: &Value, request: &PermitRequest<'_>) -> Value {
        let mut value = value.clone();
        let rules = self.program.guardrails.rules.iter().filter(|rule| self.may_remove(rule, request));
        rules.for_each(|rule| replace_in(&mut value, rule));
        value
    }

    /// Whether a guardrail may remove what its pattern matches from what a call or content has. One with a condition
    /// counts only for the action that it is about: its condition is not evaluated here.
    fn may_remove(&self, rule: &Guardrail, request: &PermitRequest<'_>) -> bool {
        let is_about = |target: &GuardrailTarget| match target {
            GuardrailTarget::Input => false,
            GuardrailTarget::Param(action, _) => rule.when.is_none() || *action == request.name,
            _ => rule.when.is_none(),
        };
        let strategies = || self.answers(Defect::Guardrail, &Subject::Reply);
        let removes = || strategies().any(|(strategy, _)| strategy != Strategy::Keep);
        rule.modes.include(self.mode_id)
            && rule.targets.iter().any(is_about)
            && rule.strategy.map_or_else(removes, |strategy| strategy != Strategy::Keep)
    }

    fn text_of(&mut self, words: &Template, request: &PermitRequest<'_>) -> Result<String, String> {
        self.prepare_reply(words.reads());
        words.text(&self.scope_of(request)).map_err(|failure| failure.message.to_string())
    }

    /// The variables that the conditions of permits see.
    fn scope_of<'s>(&'s self, request: &'s PermitRequest<'_>) -> crate::expression::Scope<'s> {
        let mut scope = self.scope();
        if let Some(session) = &self.turn.session {
            scope.add_record("state", &session.state);
        }
        scope.add("title", self.mode.map_or(&self.mode_name, |mode| &mode.title));
        for (name, value) in &request.values {
            scope.add(name, value);
        }
        scope
    }

    /// Answers a forbidden call or content.
    fn forbid(
        &mut self,
        defect_of: Defect,
        request: &PermitRequest<'_>,
        forbidden: Forbidden,
        elsewhere: Option<Message>,
    ) {
        let Forbidden { why, read, advice, about, rule, denied, conditional } = forbidden;
        let name = &request.name;
        let message = match (why.is_empty(), denied) {
            (true, _) => message!("the mode `{}` does not permit `{}`", &self.session.mode, name),
            (false, true) => message!("the mode `{}` denies `{}`: ", &self.session.mode, name).listed(why),
            (false, false) => {
                message!("`{}` is not permitted with these arguments: ", name).listed(why.into_iter().take(MAX_LISTED))
            }
        };
        let mut finding = defect(defect_of, request.head, message).with_rule(rule);
        // Conditions are written for people: a model gets the pack's advice instead, or the names of the arguments
        // that the conditions read.
        let read: Vec<String> = read.into_iter().collect();
        finding.to_model = (conditional || denied).then(|| match read.as_slice() {
            [] => Box::new(message!("`{}` is not permitted now", name)),
            read => Box::new(message!("`{}` is not permitted with this `{}`", name, &read.join("`, `"))),
        });
        finding.help = match (advice.is_empty(), about.is_empty()) {
            (false, _) => Some(message!("{}", quote(advice.join("; "), 900))),
            (true, false) => Some(about.join("; ").into()),
            (true, true) => elsewhere,
        };
        self.answer(defect_of, &request.subject, finding);
    }

    /// A help text that lists the modes that permit an action.
    fn permitted_elsewhere(&self, action: &str) -> Option<Message> {
        let modes = self.program.modes.iter().filter(|(_, mode)| !mode.actions.possible(action).is_empty());
        let modes: Vec<String> = modes.take(5).map(|(name, _)| format!("`{name}`")).collect();
        match modes.as_slice() {
            [] => Some("no mode permits it".into()),
            modes => Some(message!("permitted in {}", &modes.join(", "))),
        }
    }
}

impl Forbidden {
    /// Notes which arguments a condition reads.
    fn note(&mut self, reads: &[Vec<String>], request: &PermitRequest<'_>) {
        self.read.extend(arguments(reads, &request.values).into_iter().map(|(name, _)| name));
    }
}

/// The arguments of a call that a condition reads, or the values of a content other than its text, each with its value
/// as JSON.
fn arguments(reads: &[Vec<String>], values: &[(&str, Value)]) -> Vec<(String, String)> {
    let value = |name: &str| values.iter().find(|(known, _)| *known == name).map(|(_, value)| value);
    let mut read: BTreeMap<&str, Option<&Value>> = BTreeMap::new();
    for path in reads {
        let (head, inside) = (path.first().map(String::as_str), path.get(1).map(String::as_str));
        match (head, inside) {
            (Some(head @ ("params" | "attributes")), Some(name)) => {
                read.insert(name, value(head).and_then(|values| values.get(name)));
            }
            (Some(head @ "key"), _) if value(head).is_some() => drop(read.insert(head, value(head))),
            _ => {}
        }
    }
    let word = |value: Option<&Value>| value.map_or_else(|| "absent".to_owned(), Value::to_string);
    read.into_iter().map(|(name, value)| (name.to_owned(), word(value))).collect()
}

/// The descriptions that permits give of their conditions (`about`).
fn abouts(permits: &MatchingEntries<'_>) -> Vec<String> {
    let mut abouts: Vec<String> = permits.iter().filter_map(|permit| permit.about.clone()).collect();
    let mut known = BTreeSet::new();
    abouts.retain(|about| known.insert(about.clone()));
    abouts
}
