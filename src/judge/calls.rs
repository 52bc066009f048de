//! Calls: may each of them run, and with which parameters?
//!
//! In: the calls that stand, and the mode and state that the prompt of the response showed.
//! Out: [`Call`]s with their verdicts; unknown, malformed, invalid, forbidden and surplus ones answered by strategies.
//! Never: runs a call, or lets one call change how its neighbours are judged, unless the pack says `calls = "in-turn"`.

use super::mending::Way;
use super::{Fate, Judgement, StepKind, Subject, defect, head, typing};
use crate::diagnostic::{Argument, Defect, Message, message, quote};
use crate::document::{Block, Key};
use crate::expression::Template;
use crate::program::{self, ActionId};
use crate::surface::Role;
use crate::text::{Location, Span, excerpt};
use crate::value::{Object, Value};
use std::borrow::Cow;
use std::collections::BTreeSet;

/// One use of an action.
#[derive(Debug)]
pub(crate) struct Call<'r> {
    pub(crate) block: usize,
    /// The name of the action, as the response writes it.
    pub(crate) name: Cow<'r, str>,
    /// The action; none if the pack has no such action.
    pub(crate) action: Option<ActionId>,
    /// The parameters, an object.
    pub(crate) params: Value,
    pub(crate) accepted: bool,
    /// Whether it is not accepted because it is only quoted: then nothing else of it is judged.
    quoted: bool,
    /// How its payload was read: `attributes`, `tags`, `json`, `text` or `none`.
    pub(crate) form: &'static str,
    /// Whether a value could be read, even with faults.
    pub(super) readable: bool,
    /// Whether something of the value was lost or guessed.
    pub(super) lossy: bool,
    /// The paths to values that the end of the response cut off, in fields.
    pub(super) cut: Vec<Way>,
    /// The paths to values that are left out, since something of them was lost or guessed.
    pub(super) omitted: Vec<Way>,
    /// Whether it was still accepted when its permits had been checked.
    permitted: bool,
    /// Whether its parameters fit the action's schema.
    fits: bool,
    /// Whether it has parameters that its action does not declare.
    pub(super) undeclared: bool,
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
            let accepted = self.stands(index);
            let name = self.name_of(block, bound).unwrap_or_default();
            let action = self.action_called(&name);
            let name = match action.and_then(|id| self.program.action(id)) {
                Some((declared, _)) => Cow::Borrowed(declared.as_str()),
                None => name,
            };
            self.calls.push(Call {
                block: index,
                name,
                action,
                params: Object::new().into(),
                accepted,
                quoted: false,
                form: "none",
                readable: false,
                lossy: false,
                cut: Vec::new(),
                omitted: Vec::new(),
                permitted: false,
                fits: false,
                undeclared: false,
            });
            let call = self.calls.len() - 1;
            if self.quoted_calls.contains(&index) {
                self.with_call(call, |call| call.quoted = true);
                continue;
            }
            self.judge_spelled(call, block, bound);
            self.judge_in_reasoning(index, &Subject::Call(call));
            self.judge_in_unclosed(index, &Subject::Call(call));
            self.judge_payload(call, block, bound);
        }
        // Only now, since a condition on the reply sees all calls.
        self.judge_permits(|call| !call.quoted);
        self.judge_surplus();
        self.judge_lack();
    }

    /// The action of this name or spelling, as the dialect compares names.
    pub(super) fn action_called(&self, name: &str) -> Option<ActionId> {
        self.program.action_id(name).or_else(|| {
            let names = &self.dialect.filter(|_| !name.is_empty())?.names;
            let mut actions = self.program.actions_by_id();
            let named = actions.clone().find(|(_, declared, _)| names.same(declared, name));
            let spelled = || actions.find(|(.., action)| action.names.iter().any(|other| names.same(other, name)));
            named.or_else(spelled).map(|(id, ..)| id)
        })
    }

    fn judge_payload(&mut self, call: usize, block: &Block, bound: &program::Block) {
        let Some((name, action)) = self.calls.get(call).map(|call| (call.name.clone(), call.action)) else { return };
        let program = self.program;
        let action = action.and_then(|id| program.action(id)).map(|(_, action)| action);
        // A call whose payload names its action is told as unknown once the payload has been read.
        let named_within = bound.named_within().is_some() || self.reads_members();
        let waits = name.is_empty() && named_within;
        // A call that was dropped because it was cut off is not told a second time for its payload or its half name.
        let dropped = |judgement: &Self| judgement.calls.get(call).is_some_and(|call| !call.accepted && !call.readable);
        let cut = block.ended.is_cut() && dropped(self);
        self.judge_beside(call, bound, action.filter(|_| !cut));
        if action.is_none() && !waits && !(cut && self.is_name_cut(block, bound)) {
            self.judge_unknown(&name, call, block, bound);
        }
        let fits = !cut && self.read_payload(call, block, bound, action);
        self.with_call(call, |call| call.fits = fits);
        if action.is_none() && waits && !dropped(self) {
            self.judge_unknown(&name, call, block, bound);
        }
    }

    /// Whether a member that names an action was cut off: a string without its closing quote.
    fn is_name_cut(&self, block: &Block, bound: &program::Block) -> bool {
        let named = bound.sources().find_map(|source| match source {
            program::Called::Attribute(name) if self.reads_members() => self.said(block)?.attribute(name),
            program::Called::Payload { .. } => {
                block.attributes.iter().find(|attribute| matches!(attribute.key, Key::Payload))
            }
            _ => None,
        });
        let said = named.map(|attribute| attribute.value.span().of(self.text));
        let cut = |said: &str| said.strip_prefix(['"', '\'']).is_some_and(|rest| !rest.ends_with(['"', '\'']));
        said.is_some_and(cut)
    }

    fn judge_unknown(&mut self, name: &str, call: usize, block: &Block, bound: &program::Block) {
        let message = match name {
            "" => "the call names no action".into(),
            name => message!("there is no action `{}`", quote(name, 60)),
        };
        let mut finding = defect(Defect::UnknownAction, head(block), message).with_rule(Some(bound.at));
        // Suggest only what the mode permits.
        if let Some(mode) = self.mode {
            finding = finding.with_nearest_of(name, self.program.permitted_names(mode));
        }
        if let ("", Some(place)) = (name, self.names_its_action(bound)) {
            let known = finding.help.map(|help| format!(": {help}")).unwrap_or_default();
            finding.help = Some(message!("{} says which action it is{}", &place, &known));
        }
        self.answer(Defect::UnknownAction, &Subject::Call(call), finding);
    }

    /// The part of a call that names its action, in words.
    fn names_its_action(&self, bound: &program::Block) -> Option<String> {
        match &bound.called {
            program::Called::Attribute(name) if self.reads_members() => Some(format!("its member `{name}`")),
            program::Called::Attribute(name) => Some(format!("the attribute `{name}` of its opener")),
            program::Called::Own | program::Called::Word(_) | program::Called::Around(..) => None,
            program::Called::Payload { .. } => {
                bound.named_within().map(|(way, _)| format!("`{}` of its payload", way.join(".")))
            }
        }
    }

    /// Checks the permits of some calls, in order.
    fn judge_permits(&mut self, is_judged: impl Fn(&Call<'_>) -> bool) {
        for call in 0..self.calls.len() {
            if self.calls.get(call).is_some_and(&is_judged) {
                self.judge_permit(call);
            }
            self.with_call(call, |call| call.permitted = call.accepted);
        }
        (self.in_turn, self.turns) = (None, 0);
    }

    /// Lets a call see what those before it do, if it may and they are accepted. Most calls ask for nothing that others do.
    fn take_turns_before(&mut self, call: usize) {
        let Some(after_call) = &self.after_call else { return };
        for number in self.turns..call {
            if let Some(Call { action: Some(action), accepted: true, params, block, .. }) = self.calls.get(number) {
                let before = self.in_turn.as_ref().unwrap_or(self.session);
                self.in_turn = Some(after_call(before, *action, params, self.span_of(*block)));
            }
        }
        self.turns = self.turns.max(call);
    }

    /// Checks the permits again where they see what other calls do, if one of those is no longer accepted.
    pub(super) fn judge_permits_again(&mut self) {
        if self.after_call.is_some() && self.calls.iter().any(|call| call.permitted && !call.accepted) {
            self.judge_permits(|call| call.accepted);
        }
    }

    /// Checks the permits of a call. Deny by default: what no permit allows is forbidden, and a condition that fails
    /// denies.
    fn judge_permit(&mut self, call: usize) {
        let Some(Call { block, name, action: Some(action), fits, .. }) = self.calls.get(call) else { return };
        let (name, action, fits) = (name.clone(), *action, *fits);
        let Some((block, _)) = self.block(*block) else { return };
        let permits = self.mode.map(|mode| mode.permits_of(action)).unwrap_or_default();
        let mode = self.session.mode.as_str();
        let allowed = || format!("`{mode}` permits `{name}`");
        if let Some(permit) = permits.iter().find(|permit| permit.when.is_none()) {
            self.steps.tell(StepKind::Permit, permit.at, block.span(), allowed);
            return;
        }
        // Conditions read parameters: a call whose parameters do not fit has been answered for that already.
        if let (Some(permit), false) = (permits.first(), fits) {
            let found = || format!("`{mode}` permits `{name}` on a condition, which only parameters that fit can meet");
            self.steps.tell(StepKind::Permit, permit.at, block.span(), found);
            return;
        }
        self.take_turns_before(call);
        let (mut why, mut advice): (Vec<Message>, Vec<&Template>) = (Vec::new(), Vec::new());
        let mut named: BTreeSet<&str> = BTreeSet::new();
        for permit in permits {
            let Some(when) = &permit.when else { continue };
            self.prepare_reply(when.reads());
            let Some(params) = self.calls.get(call).map(|call| &call.params) else { continue };
            let mut scope = self.scope();
            if let Some(session) = &self.in_turn {
                scope.add_record("state", &session.state);
            }
            scope.add("params", params);
            let weighed = self.steps.weigh(when, &scope);
            let why_not = weighed.unmet();
            advice.extend(permit.advice.as_ref().filter(|_| matches!(weighed.holds, Ok(false))));
            self.steps.tell_weighed(weighed, permit.at, block.span(), || format!("`{mode}` permits `{name}` when"));
            let Some(mut why_not) = why_not else {
                self.steps.tell(StepKind::Permit, permit.at, block.span(), allowed);
                return;
            };
            let read = when.reads().iter().filter(|path| path.first().is_some_and(|name| name == "params"));
            let read: BTreeSet<&str> = read.filter_map(|path| path.get(1)).map(String::as_str).collect();
            for (index, argument) in read.iter().enumerate() {
                let value = params.get(argument).map_or_else(|| "absent".to_owned(), Value::to_string);
                why_not.push(if index == 0 { " (" } else { ", " }, []);
                why_not.push("{} = {}", [Argument::whole(*argument), quote(value, 60)]);
            }
            why_not.push(if read.is_empty() { "" } else { ")" }, []);
            named.extend(read);
            why.push(why_not);
        }
        let rule = permits.first().map(|permit| permit.at).or(self.mode.map(|mode| mode.at));
        let rule = rule.or_else(|| self.program.action(action).map(|(_, action)| action.at));
        if let Some(rule) = rule {
            self.steps.tell(StepKind::Permit, rule, block.span(), || format!("no permit of `{mode}` allows `{name}`"));
        }
        // The advice of each permit that might have allowed the call is shown.
        const MOST: usize = 3;
        let advice: Vec<String> = advice.into_iter().take(MOST).filter_map(|one| self.advice(call, one)).collect();
        let about: Vec<&str> = permits.iter().filter_map(|permit| permit.about.as_deref()).collect();
        let message = match why.is_empty() {
            true => message!("the mode `{}` does not permit `{}`", &self.session.mode, &name),
            false => message!("`{}` is not permitted with these arguments: ", &name).listed(why.into_iter().take(MOST)),
        };
        let mut finding = defect(Defect::ForbiddenCall, head(block), message).with_rule(rule);
        // Conditions are written for people: a model reads what the pack says of them, or which arguments they are about.
        let is_conditional = !permits.is_empty();
        let named: Vec<&str> = named.into_iter().collect();
        finding.to_model = is_conditional.then(|| match named.as_slice() {
            [] => Box::new(message!("`{}` is not permitted now", &name)),
            named => Box::new(message!("`{}` is not permitted with this `{}`", &name, &named.join("`, `"))),
        });
        finding.help = match (advice.is_empty(), about.is_empty()) {
            (false, _) => Some(message!("{}", quote(advice.join("; "), 900))),
            (true, false) => Some(about.join("; ").into()),
            (true, true) if is_conditional => None,
            (true, true) => self.permitted_elsewhere(action),
        };
        self.answer(Defect::ForbiddenCall, &Subject::Call(call), finding);
    }

    /// The advice of a permit for a call that its condition refuses.
    fn advice(&mut self, call: usize, advice: &Template) -> Option<String> {
        self.prepare_reply(advice.reads());
        let params = &self.calls.get(call)?.params;
        let mut scope = self.scope();
        if let Some(session) = &self.in_turn {
            scope.add_record("state", &session.state);
        }
        let text = advice.text(&scope.with("params", params)).ok()?;
        Some(excerpt(&text, 300).into_owned())
    }

    fn permitted_elsewhere(&self, action: ActionId) -> Option<Message> {
        let permits = |mode: &program::Mode| !mode.permits_of(action).is_empty();
        let modes: Vec<String> = self
            .program
            .modes
            .iter()
            .filter(|(_, mode)| permits(mode))
            .take(5)
            .map(|(name, _)| format!("`{name}`"))
            .collect();
        match modes.as_slice() {
            [] => Some("no mode permits it".into()),
            modes => Some(message!("permitted in {}", &modes.join(", "))),
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
        // Without a dialect there is no block at all, which has been reported.
        if accepted >= least || self.dialect.is_none() {
            return;
        }
        let end = Span::new(self.document.bytes, self.document.bytes);
        let calls = if least == 1 { "call" } else { "calls" };
        let message = message!("a reply has at least {} {} that may run, and this has {}", &least, &calls, &accepted);
        let finding = defect(Defect::MissingBlock, end, message).with_rule(Some(at));
        self.answer(Defect::MissingBlock, &Subject::Reply, finding);
    }

    pub(super) fn with_call(&mut self, call: usize, change: impl FnOnce(&mut Call<'_>)) {
        if let Some(call) = self.calls.get_mut(call) {
            change(call);
        }
    }

    /// Drops a call and its block.
    pub(super) fn drop_call(&mut self, call: usize) {
        let Some(call) = self.calls.get_mut(call) else { return };
        call.accepted = false;
        // Where one defect would show the block and another removes it, it is removed.
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

    /// Drops the parameters of a call that its action does not declare: all of them at once.
    pub(super) fn drop_params(&mut self, call: usize) {
        let Some(action) = self.calls.get(call).and_then(|call| self.action_of(call.block)) else { return };
        self.with_call(call, |call| {
            if std::mem::take(&mut call.undeclared) {
                typing::remove_undeclared(&mut call.params, action.schema.types());
            }
        });
    }

    /// Whether a value could be read, even with faults.
    pub(super) fn can_repair(&self, call: usize) -> bool {
        self.calls.get(call).is_some_and(|call| call.readable && !call.lossy)
    }

    pub(super) fn can_salvage(&self, call: usize) -> bool {
        self.calls.get(call).is_some_and(|call| call.readable)
    }

    /// Leaves out the values of which something was lost or guessed, if the rest was read.
    pub(super) fn omit_losses(&mut self, call: usize) -> bool {
        let Some(one) = self.calls.get(call) else { return false };
        let ways = match one.cut.as_slice() {
            [] if one.lossy => self.losses(one.block),
            [] => None,
            cut => Some(cut.to_vec()),
        };
        let Some(ways) = ways.filter(|_| self.calls.get(call).is_some_and(|call| call.readable)) else { return false };
        self.with_call(call, |call| call.omitted.extend(ways));
        true
    }

    /// The paths to the values in a JSON payload of which something was lost or guessed; none if it is the whole payload.
    fn losses(&self, block: usize) -> Option<Vec<Way>> {
        let (block, bound) = self.block(block)?;
        let source = self.source(block, bound, self.dialect_of(block)?, &self.values);
        source.tape(block.body().trimmed(self.text))?.losses(self.text)
    }
}
