//! Calls: may each of them run, and with which parameters?
//!
//! In: the calls that count, and the mode and state that the prompt of the response showed.
//! Out: [`JudgedCall`]s with their verdicts; unknown, malformed, invalid, forbidden and surplus ones answered by
//! strategies.
//! Never: runs a call, or lets one call change how others are judged, unless the pack sets `calls = "in-turn"`.

use super::invalid_values::ValuePath;
use super::{Fate, Judgement, Occasion, Subject, defect, head, typing};
use crate::diagnostic::{Defect, message, quote};
use crate::document::{AttributeKey, Block};
use crate::expression::Template;
use crate::program::{self, ActionId};
use crate::surface::Role;
use crate::text::{Location, Span};
use crate::value::{Object, Value};
use std::borrow::Cow;

/// One use of an action.
#[derive(Debug)]
pub(crate) struct JudgedCall<'r> {
    pub(crate) block: usize,
    /// The name of the action, as the response writes it.
    pub(crate) name: Cow<'r, str>,
    /// The action; `None` if the pack has no action of this name.
    pub(crate) action: Option<ActionId>,
    /// The parameters, an object.
    pub(crate) params: Value,
    pub(crate) accepted: bool,
    /// Whether the call is rejected because it is only quoted, as in a code fence; nothing else about it is judged
    /// then.
    quoted: bool,
    /// How the payload was read: `attributes`, `tags`, `json`, `text` or `none`.
    pub(crate) payload_form: &'static str,
    /// Whether the payload could be read, even with faults.
    pub(super) readable: bool,
    /// Whether a part of the payload was dropped or guessed when it was read.
    pub(super) lossy: bool,
    /// The paths to the fields that the end of the response cuts off.
    pub(super) cut: Vec<ValuePath>,
    /// The paths to values that are left out of the parameters, because a part of them was dropped or guessed.
    pub(super) omitted: Vec<ValuePath>,
    /// Whether the call was still accepted after the check of its permits.
    pub(super) permitted: bool,
    /// The question that a person has to confirm first; until then, an accepted call is pending.
    pub(crate) confirm: Option<String>,
    /// The template of that question.
    pub(super) asks: Option<&'r Template>,
    /// Whether the parameters are valid against the action's schema.
    pub(super) params_valid: bool,
    /// Whether there are parameters that the action does not declare.
    pub(super) undeclared: bool,
}

impl JudgedCall<'_> {
    /// Whether the effects of the call follow: it is accepted, and waits for no confirmation.
    pub(crate) fn is_carried_out(&self) -> bool {
        self.accepted && self.confirm.is_none()
    }
}

impl<'r> Judgement<'r> {
    pub(super) fn judge_calls(&mut self) {
        let is_call = |block: &&Block| self.bound(block).is_some_and(|bound| bound.role == Role::Call);
        self.calls = Vec::with_capacity(self.document.blocks.iter().filter(is_call).count());
        for index in 0..self.document.blocks.len() {
            let Some((block, bound)) = self.block(index) else { continue };
            if bound.role != Role::Call || self.fate(index) == Fate::Inner {
                continue;
            }
            let accepted = self.counts(index);
            let name = self.name_of(block, bound).unwrap_or_default();
            let action = self.action_called(&name);
            let name = match action.and_then(|id| self.program.action(id)) {
                Some((declared, action)) if !action.is_pattern => Cow::Borrowed(declared.as_str()),
                _ => name,
            };
            self.calls.push(JudgedCall {
                block: index,
                name,
                action,
                params: Object::new().into(),
                accepted,
                quoted: false,
                payload_form: "none",
                readable: false,
                lossy: false,
                cut: Vec::new(),
                omitted: Vec::new(),
                permitted: false,
                confirm: None,
                asks: None,
                params_valid: false,
                undeclared: false,
            });
            let call = self.calls.len() - 1;
            if self.uncounted.quoted.contains(&index) {
                self.with_call(call, |call| call.quoted = true);
                continue;
            }
            self.judge_spelled(call, block, bound);
            self.judge_in_reasoning(index, &Subject::Call(call));
            self.judge_in_unclosed(index, &Subject::Call(call));
            self.judge_closed_again(index, &Subject::Call(call));
            self.judge_payload(call, block, bound);
        }
        // Permits are checked after all calls have been read, because a condition on the reply sees all of them.
        self.judge_permits(|call| !call.quoted);
        if self.occasion == Occasion::Answer {
            self.judge_surplus();
            self.judge_lack();
        }
    }

    /// The action of this name or spelling, as the dialect compares names.
    pub(super) fn action_called(&self, name: &str) -> Option<ActionId> {
        let spelled = || {
            let names = &self.dialect.filter(|_| !name.is_empty())?.names;
            self.program.action_spelled(name, |one, other| names.same(one, other))
        };
        self.program
            .action_id(name)
            .or_else(spelled)
            .or_else(|| self.program.pattern_of(name).filter(|_| !self.program.knows_tools))
    }

    fn judge_payload(&mut self, call: usize, block: &Block, bound: &program::BlockBinding) {
        let Some((name, action)) = self.calls.get(call).map(|call| (call.name.clone(), call.action)) else { return };
        let program = self.program;
        let action = action.and_then(|id| program.action(id)).map(|(_, action)| action);
        // If the payload names the action, an unknown action is reported only after the payload has been read.
        let named_within = bound.named_within().is_some() || self.reads_members();
        let waits = name.is_empty() && named_within;
        // A call that was dropped because it is cut off gets no second finding for its payload or its incomplete
        // name.
        let dropped = |judgement: &Self| judgement.calls.get(call).is_some_and(|call| !call.accepted && !call.readable);
        let cut = block.ended.is_cut() && dropped(self);
        self.judge_beside(call, bound, action.filter(|_| !cut));
        if action.is_none() && !waits && !(cut && self.is_name_cut(block, bound)) {
            self.judge_unknown(&name, call, block, bound);
        }
        let params_fit = !cut && self.read_payload(call, block, bound, action);
        self.with_call(call, |call| call.params_valid = params_fit);
        if action.is_none() && waits && !dropped(self) {
            self.judge_unknown(&name, call, block, bound);
        }
    }

    /// Whether a member that names an action was cut off: a string without its closing quote.
    fn is_name_cut(&self, block: &Block, bound: &program::BlockBinding) -> bool {
        let named = bound.sources().find_map(|source| match source {
            program::NameSource::Attribute(name) if self.reads_members() => self.opener_view(block)?.attribute(name),
            program::NameSource::Payload { .. } => {
                block.attributes.iter().find(|attribute| matches!(attribute.key, AttributeKey::Payload))
            }
            _ => None,
        });
        let written = named.map(|attribute| attribute.value.span().of(self.text));
        let cut = |written: &str| written.strip_prefix(['"', '\'']).is_some_and(|rest| !rest.ends_with(['"', '\'']));
        written.is_some_and(cut)
    }

    fn judge_unknown(&mut self, name: &str, call: usize, block: &Block, bound: &program::BlockBinding) {
        let message = match name {
            "" => "the call names no action".into(),
            name => message!("there is no action `{}`", quote(name, 60)),
        };
        let mut finding = defect(Defect::UnknownAction, head(block), message).with_rule(Some(bound.at));
        // Suggest only actions that the mode permits.
        if let Some(names) = self.mode_id.and_then(|mode| self.program.permitted_names(mode)) {
            finding = finding.with_nearest_of(name, names);
        }
        if let ("", Some(place)) = (name, self.names_its_action(bound)) {
            let known = finding.help.map(|help| format!(": {help}")).unwrap_or_default();
            finding.help = Some(message!("{} says which action it is{}", &place, &known));
        }
        self.answer(Defect::UnknownAction, &Subject::Call(call), finding);
    }

    /// Describes, for a message, the part of a call that names its action.
    fn names_its_action(&self, bound: &program::BlockBinding) -> Option<String> {
        match &bound.called {
            program::NameSource::Attribute(name) if self.reads_members() => Some(format!("its member `{name}`")),
            program::NameSource::Attribute(name) => Some(format!("the attribute `{name}` of its opener")),
            program::NameSource::Own | program::NameSource::Word(_) | program::NameSource::Around(..) => None,
            program::NameSource::Payload { .. } => {
                bound.named_within().map(|(pointer, _)| format!("`{}` of its payload", pointer.join(".")))
            }
        }
    }

    /// Checks whether the reply has more accepted calls than it may have.
    fn judge_surplus(&mut self) {
        let Some((most, at)) = self.mode.and_then(|mode| mode.reply.calls) else { return };
        let accepted: Vec<usize> =
            self.calls.iter().enumerate().filter(|(_, call)| call.accepted).map(|(index, _)| index).collect();
        if accepted.len() <= most {
            return;
        }
        let before: Vec<bool> = self.calls.iter().map(|call| call.accepted).collect();
        let strategies = self.answers(Defect::ExtraCall, &Subject::Calls(accepted.clone(), most));
        let first = accepted.get(most).copied();
        let span = |judgement: &Self, call: usize| {
            judgement.calls.get(call).map_or(Span::default(), |call| judgement.span_of(call.block))
        };
        let message = message!("a reply may have at most {} call{}", &most, &(if most == 1 { "" } else { "s" }));
        let at_first = first.map_or(Span::default(), |call| span(self, call));
        let finding = defect(Defect::ExtraCall, at_first, message.clone()).with_rule(Some(at));
        let findings = self.findings.list.len();
        let chosen = self.answer_with(strategies, &Subject::Calls(accepted, most), finding);
        // Every call that the strategy removed gets a finding at its own place.
        let gone: Vec<usize> = (0..self.calls.len())
            .filter(|index| {
                before.get(*index) == Some(&true) && self.calls.get(*index).is_some_and(|call| !call.accepted)
            })
            .collect();
        if let Some((first, rest)) = gone.split_first() {
            let place = Location::response(span(self, *first));
            if let Some(finding) = self.findings.list.get_mut(findings) {
                finding.at = Some(place);
            }
            for call in rest {
                let mut finding = defect(Defect::ExtraCall, span(self, *call), message.clone()).with_rule(Some(at));
                finding.strategy = Some(chosen);
                self.find(finding);
            }
        }
    }

    /// Checks whether the reply has as many accepted calls as it must have.
    fn judge_lack(&mut self) {
        let Some((least, at)) = self.mode.and_then(|mode| mode.reply.least_calls) else { return };
        let accepted = self.calls.iter().filter(|call| call.accepted).count();
        // Without a dialect there are no blocks, which has been reported already.
        if accepted >= least || self.dialect.is_none() {
            return;
        }
        let end = Span::new(self.document.bytes, self.document.bytes);
        let calls = if least == 1 { "call" } else { "calls" };
        let message = message!("a reply has at least {} {} that may run, and this has {}", &least, &calls, &accepted);
        let finding = defect(Defect::MissingBlock, end, message).with_rule(Some(at));
        self.answer(Defect::MissingBlock, &Subject::Reply, finding);
    }

    pub(super) fn with_call(&mut self, call: usize, change: impl FnOnce(&mut JudgedCall<'_>)) {
        if let Some(call) = self.calls.get_mut(call) {
            change(call);
        }
    }

    /// Drops a call and its block.
    pub(super) fn drop_call(&mut self, call: usize) {
        let Some(call) = self.calls.get_mut(call) else { return };
        call.accepted = false;
        // `drop` wins over `keep-as-text` if two defects of a block are answered differently.
        let block = call.block;
        self.set_fate(block, Fate::Dropped);
    }

    /// Whether the block of a call has been dropped.
    pub(super) fn is_dropped(&self, call: usize) -> bool {
        self.calls.get(call).is_some_and(|call| self.fate(call.block) == Fate::Dropped)
    }

    /// Shows the raw block of a call instead of running it.
    pub(super) fn show_call(&mut self, call: usize) {
        let Some(call) = self.calls.get_mut(call) else { return };
        call.accepted = false;
        let block = call.block;
        if self.fate(block) != Fate::Dropped {
            self.show_block(block);
        }
    }

    /// Drops all parameters of a call that its action does not declare.
    pub(super) fn drop_params(&mut self, call: usize) {
        let Some(action) = self.calls.get(call).and_then(|call| self.action_of(call)) else { return };
        self.with_call(call, |call| {
            if std::mem::take(&mut call.undeclared) {
                typing::remove_undeclared(&mut call.params, action.schema.types());
            }
        });
    }

    /// Whether `repair` can accept the parameters: they were read, and nothing was dropped or guessed.
    pub(super) fn can_repair(&self, call: usize) -> bool {
        self.calls.get(call).is_some_and(|call| call.readable && !call.lossy)
    }

    pub(super) fn can_salvage(&self, call: usize) -> bool {
        self.calls.get(call).is_some_and(|call| call.readable)
    }

    /// Leaves out the values of which a part was dropped or guessed. Returns false if there are none, if they are the
    /// whole payload, or if the payload could not be read.
    pub(super) fn omit_losses(&mut self, call: usize) -> bool {
        let Some(one) = self.calls.get(call) else { return false };
        let omit = match one.cut.as_slice() {
            [] if one.lossy => self.losses(one.block),
            [] => None,
            cut => Some(cut.to_vec()),
        };
        let Some(omit) = omit.filter(|_| self.calls.get(call).is_some_and(|call| call.readable)) else { return false };
        self.with_call(call, |call| call.omitted.extend(omit));
        true
    }

    /// The paths to the values in a JSON payload of which a part was dropped or guessed; `None` if that is the whole
    /// payload.
    fn losses(&self, block: usize) -> Option<Vec<ValuePath>> {
        let (block, bound) = self.block(block)?;
        let source = self.source(block, bound, self.dialect_of(block)?, &self.payloads.values);
        source.tape(block.body().trimmed(self.text))?.losses(self.text)
    }
}
