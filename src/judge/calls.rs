//! Calls: may each of them run, and with which parameters?
//!
//! In: the call blocks that stand, and the mode and state that the response's prompt showed.
//! Out: [`Call`]s with their verdicts; unknown, malformed, invalid, forbidden and surplus ones answered.
//! Never: runs one, or lets a call change what its neighbours are judged by.

use super::places::{self, Places};
use super::typing::{self, Entry, Source, Undeclared};
use super::{Fate, Judgement, Subject, defect, head};
use crate::diagnostic::{Defect, Remark, Strategy};
use crate::document::payload::{self, Payload, Spelled, Unreadable};
use crate::document::{Block, Ended, Key, Written, trimmed};
use crate::expression::Template;
use crate::program::{self, Action, Dialect, Schema, Types};
use crate::surface::{self, Role};
use crate::text::{Location, Span, excerpt};
use crate::value::{Object, Value};
use serde_json::Value as Json;
use std::borrow::Cow;
use std::cell::Cell;
use std::fmt::Write as _;
use std::rc::Rc;

/// One use of an action.
#[derive(Debug)]
pub(crate) struct Call<'r> {
    pub(crate) block: usize,
    /// The action's name as the response has it.
    pub(crate) name: Cow<'r, str>,
    /// The action's number, if it exists.
    pub(crate) action: Option<usize>,
    /// An object.
    pub(crate) params: Value,
    pub(crate) accepted: bool,
    /// Which form its payload has: `attributes`, `tags`, `json`, `text` or `none`.
    pub(crate) form: &'static str,
    /// Whether a value was read, though with faults.
    readable: bool,
    /// Whether its parameters hold what its action does not declare.
    undeclared: bool,
}

impl<'r> Judgement<'r> {
    pub(super) fn judge_calls(&mut self) {
        for index in 0..self.document.blocks.len() {
            let Some((block, bound)) = self.block(index) else { continue };
            if bound.role != Role::Call || self.fate(index) == Fate::Inner {
                continue;
            }
            let accepted = self.stands(index);
            let name = self.called(block, &bound.called).unwrap_or_default();
            let action = self.program.actions.get_index_of(&*name);
            self.calls.push(Call {
                block: index,
                name,
                action,
                params: Object::new().into(),
                accepted,
                form: "none",
                readable: false,
                undeclared: false,
            });
            self.judge_call(self.calls.len() - 1, block, bound);
        }
        self.judge_surplus();
    }

    fn judge_call(&mut self, call: usize, block: &Block, bound: &program::Block) {
        let Some((name, action)) = self.calls.get(call).map(|call| (call.name.clone(), call.action)) else { return };
        let program = self.program;
        let action = action.and_then(|number| program.actions.get_index(number)).map(|(_, action)| action);
        if action.is_none() {
            let message = match &*name {
                "" => "the call names no action".to_owned(),
                name => format!("there is no action `{}`", excerpt(name, 60)),
            };
            let finding = defect(Defect::UnknownAction, head(block), message)
                .with_rule(Some(bound.at))
                .with_nearest(&name, program.actions.keys().map(String::as_str));
            self.answer(Defect::UnknownAction, &Subject::Call(call), finding);
        }
        // What was cut off and is dropped for it has no payload to find fault with.
        let cut = block.ended.is_cut() && self.calls.get(call).is_some_and(|call| !call.accepted);
        let valid = !cut && self.read_payload(call, block, bound, action);
        if let Some(action) = action {
            self.judge_permit(call, block, valid, action);
        }
    }

    /// Reads and types the payload; whether its parameters fit the schema.
    fn read_payload(&mut self, call: usize, block: &Block, bound: &program::Block, action: Option<&Action>) -> bool {
        let Some((_, dialect)) = self.dialect else { return false };
        let block_index = self.calls.get(call).map_or(0, |call| call.block);
        let limits = &self.program.limits;
        let values = Rc::clone(&self.values);
        let read = if block.ended == Ended::Bare {
            let expected = bound.payload.iter().map(|reader| reader.word()).collect::<Vec<_>>().join(" or ");
            let finding = defect(Defect::MalformedPayload, block.opener(), "no payload follows the opener")
                .with_rule(Some(bound.at))
                .with_help(format!("its payload is {expected}, right behind it"));
            self.answer(Defect::MalformedPayload, &Subject::Call(call), finding);
            return false;
        } else if let Some(value) = block.value() {
            payload::of_value(value, limits, &values)
        } else if let Some(rung) = self.in_opener(block, bound) {
            payload::Read { payload: Payload::Attributes, rung }
        } else {
            // A member that could not be read says so once more.
            let ladder = if block.written == Written::Value { &[surface::Payload::Json] } else { &*bound.payload };
            payload::read(
                self.text,
                block.body(),
                &self.document.masks,
                ladder,
                dialect,
                spelled(block, bound),
                limits,
                &values,
            )
        };
        let types = action.map_or(Types::unknown(), |action| action.schema.types());
        let source = self.source(block, bound, dialect, &values);
        let mut incomplete = false;
        let (form, mut params) = match read.payload {
            Payload::Empty => ("none", Object::new()),
            Payload::Attributes => ("attributes", self.opener_params(block, bound, source, types)),
            Payload::Fields(fields) => {
                if let Some(unclosed) = fields.unclosed.first() {
                    let name = excerpt(unclosed.of(self.text), 40).into_owned();
                    let finding =
                        defect(Defect::UnclosedBlock, *unclosed, format!("the field `{name}` is never closed"))
                            .with_rule(Some(bound.at));
                    self.answer(Defect::UnclosedBlock, &Subject::Call(call), finding);
                }
                for stray in fields.stray.iter().take(limits.fields) {
                    let message = format!("`{}` closes no field", excerpt(stray.of(self.text), 40));
                    self.answer(
                        Defect::StrayCloser,
                        &Subject::Place(Some(block_index)),
                        defect(Defect::StrayCloser, *stray, message),
                    );
                }
                if fields.too_many {
                    let message = format!("the payload has more than {} fields", limits.fields);
                    let finding = defect(Defect::MalformedPayload, block.opener(), message).with_rule(Some(bound.at));
                    self.answer(Defect::MalformedPayload, &Subject::Call(call), finding);
                }
                incomplete = !fields.unclosed.is_empty() || fields.too_many;
                let typed = source.members(&fields, types, limits.depth);
                if values.get() == 0 {
                    let why = format!("the payloads hold more than {} values", limits.values);
                    return self.malformed(call, bound, places::whole(block), &why);
                }
                for (name, span) in typed.repeated {
                    let message = format!("the field `{name}` stands several times; the last counts");
                    self.remark(Remark::RepeatedField, span, message, Some(bound.at));
                }
                for text in typed.between.iter().filter(|_| !fields.too_many).take(limits.fields) {
                    let said = excerpt(text.of(self.text), 40);
                    let message = format!("`{said}` stands between fields, and nothing reads it");
                    self.remark(Remark::FieldForm, *text, message, Some(bound.at));
                }
                ("tags", typed.params)
            }
            Payload::Json(json) => {
                for fault in &json.faults {
                    self.payload_fault(&fault.name, fault.span);
                }
                for key in &json.repeated {
                    let message = format!("the key `{}` stands several times; the last counts", excerpt(key, 40));
                    self.remark(Remark::DuplicateKey, places::whole(block), message, Some(bound.at));
                }
                let Value::Object(mut params) = json.value else {
                    let why = match bound.named_within() {
                        Some((_, true)) => "the payload is no list of calls",
                        _ => "the payload is no object",
                    };
                    return self.malformed(call, bound, places::whole(block), why);
                };
                if let (Some(([name, ..], _)), None) = (bound.named_within(), &bound.body) {
                    params.remove(name);
                }
                self.with_call(call, |call| call.readable = true);
                if let Some(why) = json.forgiven {
                    self.malformed(call, bound, places::whole(block), why);
                }
                ("json", params)
            }
            Payload::Text => {
                let text = block.body().of(self.text);
                let text = if bound.entities() { crate::document::decode_entities(text) } else { text.into() };
                ("text", Object::from_iter([(bound.text_param().unwrap_or("text"), text.into())]))
            }
            Payload::Unreadable(Unreadable { why, at }) => return self.malformed(call, bound, at, &why),
        };
        let mut rung = read.rung;
        let joins = bound.payload.iter().position(|reader| *reader == surface::Payload::Attributes);
        let told = if joins.is_some() { self.told(block, bound) } else { Vec::new() };
        if let Some(joins) = joins.filter(|_| form != "attributes") {
            let payload = std::mem::replace(&mut params, self.opener_params(block, bound, source, types));
            rung = if params.is_empty() { rung } else { rung.min(joins) };
            for (name, value) in &payload {
                if params.insert(name, value.clone()).is_some() {
                    let message = format!("the opener says `{name}`, too; the payload counts");
                    let entry = told.iter().find(|entry| dialect.names.same(entry.name, name));
                    let at = entry.map_or(block.opener(), |entry| entry.span);
                    self.remark(Remark::RepeatedField, at, message, Some(bound.at));
                }
            }
        }
        if rung > 0 {
            let declared = bound.payload.first().map_or("", |reader| reader.word());
            let message = format!("the payload is {form} where {declared} is declared");
            self.remark(Remark::FieldForm, block.opener(), message, Some(bound.at));
        }
        self.with_call(call, |call| call.form = form);
        let Some(action) = action else {
            self.with_call(call, |call| call.params = params.into());
            return false;
        };
        let mut params = Value::Object(params);
        let undeclared = typing::settle(&mut params, types, self.program.limits.diagnostics);
        self.with_call(call, |call| {
            call.params = params;
            call.undeclared = undeclared.count > 0;
        });
        if joins.is_none() {
            self.judge_unread(call, block, bound, types);
        }
        let places = Places::new(source, types, block, told);
        let at = |way: &[String]| places.at(form, way);
        self.judge_undeclared(call, &at, action, undeclared);
        // What is missing from a payload that was cut off is no second defect, unless the call runs all the same.
        if incomplete && self.calls.get(call).is_some_and(|call| !call.accepted) {
            return false;
        }
        self.validate(call, &at, action)
    }

    /// The rung on which the opener is the payload: where no body stands, and it says more than the action's name.
    fn in_opener(&self, block: &Block, bound: &program::Block) -> Option<usize> {
        let rung = bound.payload.iter().position(|reader| *reader == surface::Payload::Attributes)?;
        let says = || !self.told(block, bound).is_empty();
        (block.body().of(self.text).trim().is_empty() && says()).then_some(rung)
    }

    /// What the opener says beside the action's name; the first of a name counts.
    fn told(&self, block: &Block, bound: &program::Block) -> Vec<Entry<'r>> {
        let Some((_, dialect)) = self.dialect else { return Vec::new() };
        let mut entries: Vec<Entry<'r>> = Vec::new();
        for attribute in block.attributes.iter().take(self.program.limits.fields) {
            let Some(name) = self.key_of(block, attribute).filter(|name| !name.starts_with("fault_")) else { continue };
            let same = |other: &str| dialect.names.same(other, name);
            let names = matches!(&bound.called, program::Called::Attribute(called) if same(called));
            if !names && !entries.iter().any(|entry| same(entry.name)) {
                let body = trimmed(attribute.value.span(), self.text, &bound.trim);
                let start = match attribute.key {
                    Key::Typed(key) => key.start(),
                    Key::Rule(_) | Key::Payload => body.start,
                };
                entries.push(Entry { name, span: Span::new(start, body.end), body });
            }
        }
        entries
    }

    /// The parameters that the opener gives.
    fn opener_params(&self, block: &Block, bound: &program::Block, source: Source<'_>, types: &Types) -> Object {
        // Attributes as tags have them hold entities, whatever the block says of its body; what a rule of the pack's own
        // grammar captures says what it says.
        let quoted = block.attributes.iter().any(|attribute| matches!(attribute.key, Key::Typed(_)));
        let source = Source { entities: source.entities || quoted, ..source };
        source.typed(self.told(block, bound).into_iter(), types, self.program.limits.depth).params
    }

    /// Tells what stands beside a payload that it cannot join: a parameter is missed there, all else is another form.
    fn judge_unread(&mut self, call: usize, block: &Block, bound: &program::Block, types: &Types) {
        let Some((_, dialect)) = self.dialect else { return };
        // Where members have no body among them, they are the payload.
        if dialect.outline.is_some() && bound.body.is_none() {
            return;
        }
        let same = |name: &str, other: &str| dialect.names.same(name, other);
        let closes = |name: &str| {
            bound.close.iter().any(|closer| matches!(closer, program::Closer::Attribute(key) if same(key, name)))
        };
        // What a rule of the grammar captures has no name of its own, and the pack knows whether it asks for it.
        let written = |entry: &Entry<'_>| entry.span != entry.body && !closes(entry.name);
        for entry in self.told(block, bound).into_iter().filter(written) {
            let name = excerpt(entry.name, 40);
            if types.members().any(|(declared, _)| same(declared, entry.name)) {
                let message = format!("`{name}` stands beside the payload, where no parameter is read");
                let finding = defect(Defect::UnknownParam, entry.span, message)
                    .with_rule(Some(bound.at))
                    .with_help("write it into the payload");
                self.answer(Defect::UnknownParam, &Subject::Params(call), finding);
            } else {
                let message = format!("`{name}` stands beside the payload, and nothing reads it");
                self.remark(Remark::FieldForm, entry.span, message, Some(bound.at));
            }
        }
    }

    /// What typing needs to know of a block.
    fn source<'s>(
        &self,
        block: &Block,
        bound: &'s program::Block,
        dialect: &'s Dialect,
        values: &'s Cell<usize>,
    ) -> Source<'s>
    where
        'r: 's,
    {
        Source {
            text: self.text,
            masks: &self.document.masks,
            dialect,
            spelled: spelled(block, bound),
            entities: bound.entities(),
            limits: &self.program.limits,
            values,
        }
    }

    /// The places of what a call says.
    pub(super) fn places(&self, call: &Call<'_>) -> Option<Places<'_>> {
        let ((block, bound), (_, dialect)) = (self.block(call.block)?, self.dialect?);
        let types = self.action_of(call.block).map_or(Types::unknown(), |(_, action)| action.schema.types());
        let joins = bound.payload.contains(&surface::Payload::Attributes);
        let told = if joins { self.told(block, bound) } else { Vec::new() };
        Some(Places::new(self.source(block, bound, dialect, &self.values), types, block, told))
    }

    fn malformed(&mut self, call: usize, bound: &program::Block, at: Span, why: &str) -> bool {
        let finding = defect(Defect::MalformedPayload, at, why.to_owned()).with_rule(Some(bound.at));
        self.answer(Defect::MalformedPayload, &Subject::Call(call), finding);
        false
    }

    fn judge_undeclared(
        &mut self,
        call: usize,
        at: &dyn Fn(&[String]) -> Span,
        action: &Action,
        undeclared: Undeclared,
    ) {
        let declared = action.schema.json().get("properties").and_then(Json::as_object);
        self.left_out += undeclared.count - undeclared.paths.len();
        for path in undeclared.paths {
            let name = path.last().cloned().unwrap_or_default();
            let message = format!("the action does not declare `{}`", excerpt(&path.join("."), 60));
            let mut finding = defect(Defect::UnknownParam, at(&path), message).with_rule(Some(action.at));
            if let ([_], Some(declared)) = (path.as_slice(), declared) {
                finding = finding.with_nearest(&name, declared.keys().map(String::as_str));
            }
            self.answer(Defect::UnknownParam, &Subject::Params(call), finding);
        }
    }

    /// Whether the parameters fit the schema, maybe after a strategy changed them.
    fn validate(&mut self, call: usize, at: &dyn Fn(&[String]) -> Span, action: &Action) -> bool {
        let Some((way, faults)) = self.faults_of(call, action) else { return true };
        let mut message = String::from("the payload does not fit its schema: ");
        for (index, fault) in faults.iter().take(3).enumerate() {
            let _ = write!(message, "{}{fault}", if index == 0 { "" } else { "; " });
        }
        if faults.len() > 3 {
            message.push_str("; and more");
        }
        let finding = defect(Defect::InvalidPayload, at(&way), message).with_rule(Some(action.at));
        let chosen = self.answer(Defect::InvalidPayload, &Subject::Call(call), finding);
        matches!(chosen, Strategy::Coerce | Strategy::Default)
    }

    /// What the schema says against the parameters, and the way to what it says first.
    fn faults_of(&self, call: usize, action: &Action) -> Option<(Vec<String>, Vec<String>)> {
        let validator = match action.schema.validator() {
            Ok(validator) => validator,
            // Deny by default: nothing fits a schema that cannot be compiled.
            Err(error) => {
                let why = format!("the schema itself cannot be used: {}", excerpt(error, 120));
                return Some((Vec::new(), vec![why]));
            }
        };
        let params = &self.calls.get(call)?.params;
        if validator.is_valid(params) {
            return None;
        }
        let errors: Vec<_> = validator.iter_errors(params).take(10).collect();
        let way = errors.first().map(|error| error.instance_path().segments().map(|step| step.to_string()).collect());
        Some((way.unwrap_or_default(), errors.iter().map(|error| program::misfit_at("", error)).collect()))
    }

    /// Deny by default: what no permit allows is forbidden, and a condition that fails denies.
    fn judge_permit(&mut self, call: usize, block: &Block, valid: bool, action: &Action) {
        let Some((name, number)) = self.calls.get(call).map(|call| (call.name.clone(), call.action)) else { return };
        let permits = self.mode.zip(number).map(|(mode, number)| mode.permits_of(number)).unwrap_or_default();
        let mode = self.session.mode.as_str();
        let allowed = || format!("`{mode}` permits `{name}`");
        if let Some(permit) = permits.iter().find(|permit| permit.when.is_none()) {
            self.steps.tell("permit", permit.at, block.span(), allowed);
            return;
        }
        // A condition reads parameters: where those are not valid, the call is answered for that already.
        if let (Some(permit), false) = (permits.first(), valid) {
            let found = || format!("`{mode}` permits `{name}` on a condition, which only parameters that fit can meet");
            self.steps.tell("permit", permit.at, block.span(), found);
            return;
        }
        let mut why = None;
        let mut advice = None;
        for permit in permits {
            let Some(when) = &permit.when else { continue };
            self.prepare_reply(when.reads());
            let Some(params) = self.calls.get(call).map(|call| &call.params) else { continue };
            let mut scope = self.scope();
            scope.add("params", params);
            let weighed = self.steps.weigh(when, &scope);
            why = weighed.why_not(80);
            advice = permit.advice.as_ref().filter(|_| matches!(weighed.holds, Ok(false)));
            self.steps.tell_weighed(weighed, permit.at, block.span(), || format!("`{mode}` permits `{name}` when"));
            if why.is_none() {
                self.steps.tell("permit", permit.at, block.span(), allowed);
                return;
            }
        }
        let message = format!("the mode `{}` does not permit `{name}`", self.session.mode);
        let rule = permits.first().map(|permit| permit.at).or(self.mode.map(|mode| mode.at)).unwrap_or(action.at);
        self.steps.tell("permit", rule, block.span(), || format!("no permit of `{mode}` allows `{name}`"));
        let mut finding = defect(Defect::ForbiddenCall, head(block), message).with_rule(Some(rule));
        let advice = advice.and_then(|advice| self.advice(call, advice));
        finding.help = advice.or(why).or_else(|| self.permitted_elsewhere(number));
        self.answer(Defect::ForbiddenCall, &Subject::Call(call), finding);
    }

    /// What a permit says of a call that its condition refuses.
    fn advice(&mut self, call: usize, advice: &Template) -> Option<String> {
        self.prepare_reply(advice.reads());
        let params = &self.calls.get(call)?.params;
        let text = advice.text(&self.scope().with("params", params)).ok()?;
        Some(excerpt(&text, 300).into_owned())
    }

    fn permitted_elsewhere(&self, action: Option<usize>) -> Option<String> {
        let permits = |mode: &program::Mode| action.is_some_and(|action| !mode.permits_of(action).is_empty());
        let modes: Vec<String> = self
            .program
            .modes
            .iter()
            .filter(|(_, mode)| permits(mode))
            .take(5)
            .map(|(name, _)| format!("`{name}`"))
            .collect();
        match modes.as_slice() {
            [] => Some("no mode permits it".to_owned()),
            modes => Some(format!("permitted in {}", modes.join(", "))),
        }
    }

    /// Of the accepted calls only as many count as the reply may have.
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
            let block = judgement.calls.get(call).and_then(|call| judgement.document.blocks.get(call.block));
            block.map_or(Span::default(), |block| block.span())
        };
        let message = format!("a reply has {most} call{} at the most", if most == 1 { "" } else { "s" });
        let at_first = first.map_or(Span::default(), |call| span(self, call));
        let finding = defect(Defect::ExtraCall, at_first, message.clone()).with_rule(Some(at));
        let findings = self.findings.len();
        let chosen = self.answer_with(&strategies, &Subject::Calls(accepted, most), finding);
        // Each call that it took away is told at its own place.
        let gone: Vec<usize> = (0..self.calls.len())
            .filter(|index| {
                before.get(*index) == Some(&true) && self.calls.get(*index).is_some_and(|call| !call.accepted)
            })
            .collect();
        if let Some((first, rest)) = gone.split_first() {
            let place = Location::response(span(self, *first));
            if let Some(finding) = self.findings.get_mut(findings) {
                finding.at = Some(place);
            }
            for call in rest {
                let mut finding = defect(Defect::ExtraCall, span(self, *call), message.clone()).with_rule(Some(at));
                finding.strategy = Some(chosen);
                self.find(finding);
            }
        }
    }

    fn with_call(&mut self, call: usize, change: impl FnOnce(&mut Call<'_>)) {
        if let Some(call) = self.calls.get_mut(call) {
            change(call);
        }
    }

    /// Takes a call and its block out.
    pub(super) fn drop_call(&mut self, call: usize) {
        let Some(call) = self.calls.get_mut(call) else { return };
        call.accepted = false;
        let block = call.block;
        if self.fate(block) != Fate::Text {
            self.set_fate(block, Fate::Dropped);
        }
    }

    /// Whether a call's block has been taken out.
    pub(super) fn is_dropped(&self, call: usize) -> bool {
        self.calls.get(call).is_some_and(|call| self.fate(call.block) == Fate::Dropped)
    }

    /// Shows a call's raw block instead of running it.
    pub(super) fn show_call(&mut self, call: usize) {
        let Some(call) = self.calls.get_mut(call) else { return };
        call.accepted = false;
        let block = call.block;
        if self.fate(block) != Fate::Dropped {
            self.set_fate(block, Fate::Text);
        }
    }

    /// Takes the parameters out that the call's action does not declare: all of them, once.
    pub(super) fn drop_params(&mut self, call: usize) {
        let Some(action) = self.calls.get(call).and_then(|call| self.action_of(call.block)) else { return };
        self.with_call(call, |call| {
            if std::mem::take(&mut call.undeclared) {
                typing::remove_undeclared(&mut call.params, action.1.schema.types());
            }
        });
    }

    /// Whether a value was read, though with faults.
    pub(super) fn can_repair(&self, call: usize) -> bool {
        self.calls
            .get(call)
            .is_some_and(|call| call.readable || call.params.as_object().is_some_and(|params| !params.is_empty()))
    }

    pub(super) fn coerce(&mut self, call: usize) -> bool {
        self.change_params(call, |params, schema| typing::coerced(params, schema.types()))
    }

    pub(super) fn fill_defaults(&mut self, call: usize) -> bool {
        let Some(action) = self.calls.get(call).and_then(|call| self.action_of(call.block)) else { return false };
        let wrong: Vec<String> = match (action.1.schema.validator(), self.calls.get(call)) {
            (Ok(validator), Some(call)) => validator
                .iter_errors(&call.params)
                .filter_map(|error| error.instance_path().to_string().split('/').nth(1).map(str::to_owned))
                .collect(),
            _ => return false,
        };
        self.change_params(call, |params, schema| {
            let mut params = params.as_object().cloned().unwrap_or_default();
            let properties = schema.json().get("properties").and_then(Json::as_object);
            for (name, property) in properties.into_iter().flatten() {
                if let Some(default) = property.get("default")
                    && (wrong.contains(name) || !params.contains_key(name))
                {
                    params.insert(name.as_str(), default.into());
                }
            }
            Value::Object(params)
        })
    }

    /// Changes the parameters if they fit afterwards.
    fn change_params(&mut self, call: usize, change: impl FnOnce(&Value, &Schema) -> Value) -> bool {
        let Some((_, action)) = self.calls.get(call).and_then(|call| self.action_of(call.block)) else { return false };
        let Some(params) = self.calls.get(call).map(|call| &call.params) else { return false };
        let changed = change(params, &action.schema);
        let fits = action.schema.validator().is_ok_and(|validator| validator.is_valid(&changed));
        if fits {
            self.with_call(call, |call| call.params = changed);
        }
        fits
    }
}

/// How the fields of a call are written.
fn spelled<'p>(block: &Block, bound: &'p program::Block) -> Spelled<'p> {
    Spelled { family: block.family(), named: bound.field.as_ref(), trim: &bound.field_trim }
}
