//! Payloads: which parameters does a call have?
//!
//! In: the block of a call, and its action.
//! Out: the call's parameters, typed and checked against the action's schema; a finding for everything in the payload
//! that does not count.
//! Never: checks whether the call is permitted.

use super::invalid_values::{self, JudgedValue, part_at};
use super::params::means_none;
use super::places::{self, PayloadPlaces};
use super::typing::{self, FieldEntry, Undeclared};
use super::{JudgedCall, Judgement, Subject, defect};
use crate::diagnostic::{Defect, Message, Remark, is_fault, is_misspelt, message, quote};
use crate::document::payload::{self, Built, Field, FieldSyntax, Payload, PayloadSource, ValueForm, ends_response};
use crate::document::{
    AttributeKey, Block, BodyEncoding, Ended, OpenerView, TextEncoding, by_lines, is_cdata, trimmed, unquoted, verbatim,
};
use crate::json::{self, Unreadable, decode_string};
use crate::program::{self, Action, Dialect, Types};
use crate::surface;
use crate::text::{Present, Slice, Span, excerpt};
use crate::value::{Object, Validator, Value};
use std::cell::Cell;
use std::rc::Rc;
use std::sync::Arc;

/// The parameters that were read from a payload.
struct GivenPayload {
    form: &'static str,
    params: Object,
    /// Whether the parameters need no [`conform`](super::typing::conform).
    conforms: bool,
    /// The index of the reader that read the payload, in the declared order.
    rung: usize,
    /// Whether a part of the payload could not be read.
    incomplete: bool,
}

/// A call whose payload is read: its index, its block, and the declaration of such blocks.
#[derive(Clone, Copy)]
pub(super) struct PayloadRequest<'a> {
    pub(super) call: usize,
    pub(super) block: &'a Block,
    pub(super) bound: &'a program::BlockBinding,
}

impl<'r> Judgement<'r> {
    /// Reads and types the payload; returns whether its parameters are valid against the schema.
    pub(super) fn read_payload(
        &mut self,
        call: usize,
        block: &Block,
        bound: &program::BlockBinding,
        action: Option<&Action>,
    ) -> bool {
        let request = PayloadRequest { call, block, bound };
        let Some(dialect) = self.dialect_of(block) else { return false };
        let values = Rc::clone(&self.payloads.values);
        let types = action.map_or(Types::unknown(), |action| action.schema.types());
        let source = PayloadSource { declared: types, ..self.source(block, bound, dialect, &values) };
        let Some(mut payload) = self.typed_payload(request, source, types) else { return false };
        // The faults themselves were reported when the whole answer was read; here, the call is answered.
        if let BodyEncoding::Repaired | BodyEncoding::Salvaged = block.written {
            self.with_call(call, |call| call.readable = true);
            self.with_call(call, |call| call.lossy |= block.written == BodyEncoding::Salvaged);
            let lossy = self.calls.get(call).is_some_and(|call| call.lossy);
            self.malformed(call, bound, places::whole(block), if lossy { json::LOSSY } else { json::FORGIVEN });
        }
        let joins = bound.payload.contains(&surface::Payload::Attributes);
        let outer = if joins { self.outer_entries(block, bound) } else { Vec::new() };
        if joins && payload.form != "attributes" {
            let of_opener = self.opener_params(request, &outer, source, types);
            self.join_opener(request, &mut payload.params, of_opener, &outer, types);
        }
        let GivenPayload { form, params, conforms, rung, incomplete } = payload;
        // If the call was rejected because its payload lost something, nothing more is reported about it.
        let refused = self.calls.get(call).is_some_and(|call| call.lossy && !call.accepted);
        // Attributes that are added to another payload do not count as a form of their own.
        let mut readers = bound.payload.iter().map(|reader| reader.word());
        let declared = readers.find(|word| form == "attributes" || *word != "attributes").unwrap_or_default();
        // If the payload names the call and has its parameters in a member, `form` is that of the parameters alone.
        let apart = bound.named_within().is_some() && bound.body.is_some();
        if rung > 0 && declared != form && !apart {
            let message = message!("the payload is {} where {} is declared", &form, &declared);
            self.remark(Remark::FieldForm, block.opener(), message, Some(bound.at));
        }
        self.with_call(call, |call| call.payload_form = form);
        let Some(action) = action else {
            self.with_call(call, |call| call.params = params.into());
            return false;
        };
        let mut params = Value::Object(params);
        if types.respells() {
            // The names are the declared ones by now, but some texts may be other spellings of a value.
            params = typing::respelled(params, types, &dialect.names, &mut Vec::new());
        }
        let omitted = self.calls.get_mut(call).map(|call| std::mem::take(&mut call.omitted)).present();
        if !omitted.is_empty() {
            let Some(rest) = invalid_values::without(&params, &omitted, types, &dialect.names) else {
                self.drop_call(call);
                return false;
            };
            params = rest;
        }
        let undeclared = match conforms && !joins {
            true => Undeclared::default(),
            false => typing::conform(&mut params, types, self.program.limits.diagnostics),
        };
        self.with_call(call, |call| {
            call.params = params;
            call.undeclared = undeclared.count > 0;
        });
        if refused {
            return false;
        }
        if !joins {
            self.judge_unread(call, block, bound, types);
        }
        let places = PayloadPlaces::new(source, types, block, outer);
        let at = |pointer: &[String]| places.at(form, pointer);
        // If the payload was cut off and the call was dropped, missing parameters and members beside the parameters
        // are not reported as further defects.
        let dropped = incomplete && self.calls.get(call).is_some_and(|call| !call.accepted);
        let is_left_out = (dropped && apart) || self.judge_undeclared(call, &at, action, undeclared);
        if dropped || !is_left_out {
            return false;
        }
        self.validate(call, &at, action)
    }

    /// The parameters in the payload, if it can be read.
    fn typed_payload(
        &mut self,
        request: PayloadRequest<'_>,
        source: PayloadSource<'_>,
        types: &Types,
    ) -> Option<GivenPayload> {
        let PayloadRequest { call, block, bound } = request;
        let read = self.payload(request, source)?;
        let (mut conforms, mut incomplete) = (false, false);
        let (form, params) = match read.payload {
            Payload::Empty => ("none", Object::new()),
            Payload::Attributes => {
                let mut params = self.opener_params(request, &self.outer_entries(block, bound), source, types);
                // If the payload may be a text, an empty body is an empty text.
                if let Some(name) = bound.text_param()
                    && block.is_closed()
                    && types.member(name).is_some()
                    && params.get(name).is_none()
                {
                    params.insert(name, block.body().of(self.text).into());
                }
                ("attributes", params)
            }
            Payload::Fields(mut fields) => {
                if bound.body.is_none() {
                    let same = |field: &Field, name: &str| source.dialect.names.same(field.name.of(self.text), name);
                    let mut names = bound.name_pointers().filter_map(|(pointer, _)| pointer.first());
                    if let Some(name) = names.find(|name| fields.list.iter().any(|field| same(field, name))) {
                        fields.list.retain(|field| !same(field, name));
                    }
                }
                let typed = self.params_of_fields(request, &fields, source, types)?;
                incomplete = !fields.unclosed.is_empty() || !typed.unclosed.is_empty() || fields.too_many;
                conforms = typed.plain;
                ("tags", typed.params.into())
            }
            Payload::Json(mut json) => {
                json.faults.extend(self.goes_on_behind(request));
                if json.is_lossy() {
                    json.forgiven = Some(json::LOSSY);
                }
                ("json", self.params_of_json(request, json, types)?)
            }
            Payload::Text => {
                let name = bound.text_param().unwrap_or("text");
                let is_verbatim = types.member(name).is_some_and(|(_, types)| types.verbatim);
                let span = match () {
                    () if is_verbatim => verbatim(block.inner(), self.text),
                    () if bound.trims_lines => by_lines(block.inner(), self.text),
                    () => trimmed(block.body(), self.text, &bound.trim),
                };
                let text = span.of(self.text);
                let as_written = is_verbatim || is_cdata(span, self.text, &bound.trim);
                let text = if as_written { text.into() } else { source.spelling.decode(text) };
                let params = Object::from_iter([(name, text.into())]);
                if is_cut_off(block) {
                    let message = message!("`{}` is cut off by the end of the answer", &name);
                    let finding = defect(Defect::UnclosedBlock, block.opener(), message).with_rule(Some(bound.at));
                    self.answer_unclosed(&Subject::Call(call), finding);
                }
                ("text", params)
            }
            Payload::Unreadable(Unreadable { why, at, .. }) => {
                self.malformed(call, bound, at, &*why);
                return None;
            }
        };
        Some(GivenPayload { form, params, conforms, rung: read.rung, incomplete })
    }

    /// The payload from the first reader that can read it.
    fn payload(
        &mut self,
        PayloadRequest { call, block, bound }: PayloadRequest<'_>,
        source: PayloadSource<'_>,
    ) -> Option<payload::ReadPayload> {
        if block.ended == Ended::Bare {
            let expected = bound.payload.iter().map(|reader| reader.word()).collect::<Vec<_>>().join(" or ");
            let finding = defect(Defect::MalformedPayload, block.opener(), "no payload follows the opener")
                .with_rule(Some(bound.at))
                .with_help(message!("its payload is {}, right after it", &expected));
            self.answer(Defect::MalformedPayload, &Subject::Call(call), finding);
            return None;
        }
        if let Some(value) = block.value() {
            if means_none(value) {
                return Some(payload::ReadPayload { payload: Payload::Empty, rung: 0 });
            }
            return Some(payload::of_value(value, source.limits, source.values));
        }
        if let Some(rung) = self.in_opener(block, bound) {
            return Some(payload::ReadPayload { payload: Payload::Attributes, rung });
        }
        // Read the member again, to learn why it could not be read.
        let member = matches!(block.written, BodyEncoding::Value | BodyEncoding::Repaired | BodyEncoding::Salvaged);
        let ladder = if member { &[surface::Payload::Json] } else { &*bound.payload };
        Some(payload::read(&source, block.body(), ladder))
    }

    /// Adds the attributes of the opener; if both have the same parameter, that of the payload counts.
    fn join_opener(
        &mut self,
        PayloadRequest { block, bound, .. }: PayloadRequest<'_>,
        params: &mut Object,
        of_opener: Object,
        outer: &[FieldEntry<'_>],
        types: &Types,
    ) {
        let payload = std::mem::replace(params, of_opener);
        for (name, value) in &payload {
            if params.insert(name, value.clone()).is_some() {
                let message = message!("`{}` is in the opener, too; the value in the payload is used", &name);
                let names = self.dialect.map(|dialect| &*dialect.names);
                let is_it =
                    |entry: &&FieldEntry<'_>| names.is_some_and(|all| places::spells(types, name, entry.name, all));
                let at = outer.iter().find(is_it).map_or(block.opener(), |entry| entry.span);
                self.remark(Remark::RepeatedField, at, message, Some(bound.at));
            }
        }
    }

    /// The index of the reader `attributes`, if the payload is the opener: there is no body, and the opener has more
    /// than the action's name.
    fn in_opener(&self, block: &Block, bound: &program::BlockBinding) -> Option<usize> {
        let rung = bound.payload.iter().position(|reader| *reader == surface::Payload::Attributes)?;
        let says = || !self.outer_entries(block, bound).is_empty();
        (block.body().of(self.text).trim().is_empty() && says()).then_some(rung)
    }

    /// The attributes of the opener besides the action's name; if one is repeated, the first counts.
    fn outer_entries(&self, block: &Block, bound: &program::BlockBinding) -> Vec<FieldEntry<'r>> {
        let Some(dialect) = self.dialect_of(block) else { return Vec::new() };
        let view = OpenerView::of(self.text, dialect, block);
        let mut entries: Vec<FieldEntry<'r>> = Vec::new();
        let called = bound.naming().find(|name| view.attribute(name).is_some());
        for attribute in block.attributes.iter().take(self.program.limits.fields) {
            let Some(name) = view.key_of(attribute).filter(|name| !is_fault(name)) else { continue };
            let same = |other: &str| dialect.names.same(other, name);
            let names = called.is_some_and(same);
            if !names && !entries.iter().any(|entry| same(entry.name)) {
                let body = trimmed(attribute.value.span(), self.text, &bound.trim);
                let start = match attribute.key {
                    AttributeKey::Typed(key) => key.start(),
                    AttributeKey::Rule(_) | AttributeKey::Payload => body.start,
                };
                let form = ValueForm::Typed;
                entries.push(FieldEntry { name, span: Span::new(start, body.end), body, form });
            }
        }
        entries
    }

    /// The parameters in the opener of a call.
    fn opener_params(
        &mut self,
        PayloadRequest { call, block, bound }: PayloadRequest<'_>,
        outer: &[FieldEntry<'_>],
        source: PayloadSource<'_>,
        types: &Types,
    ) -> Object {
        // Attributes of tags may contain entities, unless the block declares another encoding; what a rule of the
        // pack's own grammar captures is used as it is.
        let quoted = block.attributes.iter().any(|attribute| matches!(attribute.key, AttributeKey::Typed(_)));
        let spelling =
            if quoted && source.spelling == TextEncoding::Plain { TextEncoding::Entities } else { source.spelling };
        let typed = PayloadSource { spelling, ..source };
        // A value that rules of the grammar build already has a type, as a JSON value does.
        let mut built = source.built_by_opener(block.opener());
        let text = self.text;
        let declared =
            |entry: &FieldEntry<'_>| types.called(entry.name, &source.dialect.names).map(|(name, _)| Arc::clone(name));
        let mut known: Vec<Arc<str>> = Vec::new();
        let (outer, again): (Vec<FieldEntry<'_>>, Vec<FieldEntry<'_>>) = outer.iter().copied().partition(|entry| {
            let name = declared(entry);
            let is_first = name.as_ref().is_none_or(|name| !known.contains(name));
            known.extend(name);
            is_first
        });
        for entry in again {
            let message = message!(
                "`{}` is in the opener in another spelling, too; the first one is used",
                quote(entry.name, 40)
            );
            self.remark(Remark::RepeatedField, entry.span, message, Some(bound.at));
        }
        let is_built = |entry: &FieldEntry<'_>, one: &(Span, Built)| one.0.trimmed(text) == entry.body.trimmed(text);
        let texts = outer.iter().filter(|entry| !built.iter().any(|one| is_built(entry, one)));
        let texts: Vec<FieldEntry<'_>> = texts.copied().collect();
        let mut params: Object = typed.typed(texts.into_iter(), types, self.program.limits.depth).params.into();
        for entry in &outer {
            let Some(at) = built.iter().position(|one| is_built(entry, one)) else { continue };
            let (span, Built { value, repeated, faults }) = built.swap_remove(at);
            for key in repeated {
                self.repeated_key(&key, span, bound);
            }
            if faults.iter().any(|(name, _)| name == json::SURROGATE) {
                let message =
                    message!("`{}` contains half of a surrogate pair, which is no character", quote(entry.name, 40));
                self.malformed(call, bound, span, message);
            }
            params.insert(
                declared(entry).unwrap_or_else(|| source.dialect.names.fold(entry.name).as_ref().into()),
                value,
            );
        }
        params
    }

    /// Reports attributes beside a payload, where they cannot be part of it. If one has the name of a parameter, that
    /// parameter is missing; otherwise it is only a fault of form.
    fn judge_unread(&mut self, call: usize, block: &Block, bound: &program::BlockBinding, types: &Types) {
        let Some(dialect) = self.dialect_of(block) else { return };
        // If no member is declared as the body, all members are the payload.
        if dialect.outline.is_some() && bound.body.is_none() {
            return;
        }
        let same = |name: &str, other: &str| dialect.names.same(name, other);
        let closes = |name: &str| {
            bound.close.iter().any(|closer| matches!(closer, program::Closer::Attribute(key) if same(key, name)))
        };
        // Only attributes that the model wrote with a name: what a rule of the grammar captures is up to the pack.
        let written = |entry: &FieldEntry<'_>| entry.span != entry.body && !closes(entry.name);
        for entry in self.outer_entries(block, bound).into_iter().filter(written) {
            let declared = types.called(entry.name, &dialect.names).is_some();
            self.unread(call, bound, (entry.name, entry.span), declared);
        }
    }

    /// Reports members beside the name and the parameters, as `judge_unread` does, if the payload names its call.
    pub(super) fn judge_beside(&mut self, call: usize, bound: &program::BlockBinding, action: Option<&Action>) {
        let block = self.calls.get(call).map(|call| call.block);
        let types = action.map_or(Types::unknown(), |action| action.schema.types());
        for member in block.and_then(|block| self.payloads.beside.remove(&block)).unwrap_or_default() {
            let name = match self.field_called(block, bound, member) {
                Some(name) => name.into(),
                None => decode_string(unquoted(key_of(member.of(self.text)))),
            };
            let declared = self.dialect.and_then(|dialect| types.called(&name, &dialect.names)).is_some();
            self.unread(call, bound, (&name, member), declared);
        }
    }

    /// The name of the field at `member`, beside the parameters of a call; `None` if it is not a field.
    fn field_called(&self, block: Option<usize>, bound: &program::BlockBinding, member: Span) -> Option<&'r str> {
        if !bound.payload.contains(&surface::Payload::Tags) {
            return None;
        }
        let (block, dialect) = (self.document.blocks.get(block?)?, self.dialect?);
        let fields = self.source(block, bound, dialect, &self.payloads.values).fields_in(member);
        fields.list.first().filter(|field| field.span == member).map(|field| field.name.of(self.text))
    }

    /// Reports something that no reader reads; `missed` if it has the name of a parameter.
    fn unread(&mut self, call: usize, bound: &program::BlockBinding, (name, at): (&str, Span), missed: bool) {
        let name = excerpt(name, 40);
        if missed {
            let message = message!("`{}` is beside the payload, where parameters are not read", &name);
            let finding = defect(Defect::UnknownParam, at, message)
                .with_rule(Some(bound.at))
                .with_help("write it into the payload");
            self.answer(Defect::UnknownParam, &Subject::Params(call), finding);
        } else {
            let message = message!("`{}` is beside the payload and is ignored", &name);
            self.remark(Remark::FieldForm, at, message, Some(bound.at));
        }
    }

    /// What the readers of payloads need to know about the block.
    pub(super) fn source<'s>(
        &self,
        block: &Block,
        bound: &'s program::BlockBinding,
        dialect: &'s Dialect,
        values: &'s Cell<usize>,
    ) -> PayloadSource<'s>
    where
        'r: 's,
    {
        // A native part ends where its block does: the text after it belongs to another part.
        let is_native = block.is_native();
        let text = if is_native { self.text.slice(..block.span().end) } else { self.text };
        PayloadSource {
            text,
            masks: &self.document.masks,
            dialect,
            spelled: FieldSyntax::of(block.family(), bound),
            spelling: TextEncoding::of(bound),
            within: block.inner(),
            declared: Types::unknown(),
            limits: &self.program.limits,
            values,
            bound,
            cut: block.ended.is_cut() || (!is_native && ends_response(self.text, block.body().end)),
            bounded: !is_native || block.body().end < block.span().end,
        }
    }

    /// The places in the payload of a call.
    pub(super) fn places(&self, call: &JudgedCall<'_>) -> Option<PayloadPlaces<'_>> {
        let (block, bound) = self.block(call.block)?;
        let dialect = self.dialect_of(block)?;
        let types = self.action_of(call).map_or(Types::unknown(), |action| action.schema.types());
        let joins = bound.payload.contains(&surface::Payload::Attributes);
        let outer = if joins { self.outer_entries(block, bound) } else { Vec::new() };
        let source = PayloadSource { declared: types, ..self.source(block, bound, dialect, &self.payloads.values) };
        Some(PayloadPlaces::new(source, types, block, outer))
    }

    pub(super) fn malformed(&mut self, call: usize, bound: &program::BlockBinding, at: Span, why: impl Into<Message>) {
        let mut finding = defect(Defect::MalformedPayload, at, why).with_rule(Some(bound.at));
        let fenced = |rest: &str| rest.starts_with("```") || rest.starts_with("~~~");
        if self.text.get(at.start..).is_some_and(fenced) {
            finding.help = Some("write it without a code fence around it".into());
        }
        self.answer(Defect::MalformedPayload, &Subject::Call(call), finding);
    }

    /// Answers parameters that the action does not declare; returns whether all of them can be left out. A name that
    /// is probably a misspelt parameter cannot: without it, the call would mean something else.
    fn judge_undeclared(
        &mut self,
        call: usize,
        at: &dyn Fn(&[String]) -> Span,
        action: &Action,
        undeclared: Undeclared,
    ) -> bool {
        self.findings.left_out += undeclared.count - undeclared.paths.len();
        let mut is_left_out = true;
        for path in undeclared.paths {
            let Some((name, outer)) = path.split_last() else { continue };
            let params = self.calls.get(call).map(|call| call.params.clone()).present();
            let (object, types) = part_at(&params, action.schema.types(), outer);
            let is_absent = |name: &str| object.is_none_or(|object| object.part(name).is_none());
            let declared = types.members().map(|(name, _)| (name, name));
            let mut known = declared.chain(types.spellings());
            let misspelt = known.find(|(spelling, _)| is_misspelt(name, spelling));
            let message = message!("the action does not declare `{}`", quote(path.join("."), 60));
            if let Some((meant, _)) = misspelt.filter(|(_, declared)| is_absent(declared)) {
                let finding = defect(Defect::InvalidPayload, at(&path), message)
                    .with_rule(Some(action.at))
                    .with_help(message!("did you mean `{}`?", &**meant));
                self.answer(Defect::InvalidPayload, &Subject::Call(call), finding);
                is_left_out = false;
                continue;
            }
            let mut finding = defect(Defect::UnknownParam, at(&path), message).with_rule(Some(action.at));
            if outer.is_empty() {
                finding = finding.with_nearest_of(name, action.schema.names());
            }
            self.answer(Defect::UnknownParam, &Subject::Params(call), finding);
        }
        is_left_out
    }

    /// Whether the parameters are valid against the schema, possibly after a strategy changed them.
    fn validate(&mut self, call: usize, at: &dyn Fn(&[String]) -> Span, action: &Action) -> bool {
        self.read_paths(call, at, action);
        let Some(params) = self.calls.get(call).map(|call| &call.params) else { return false };
        let is_valid = |validator: &Validator| validator.is_valid(params) || self.is_redacted(params, validator);
        if action.schema.validator().is_ok_and(is_valid) {
            return true;
        }
        let value = params.clone();
        let message = message!("the payload does not match its schema");
        let (subject, schema, rule) = (Subject::Call(call), &action.schema, action.at);
        self.judge_fit(JudgedValue { subject, value, schema, message, at, rule })
    }
}

/// Whether only the end of the answer ended a block: the last value in it may be incomplete.
pub(super) fn is_cut_off(block: &Block) -> bool {
    block.ended == Ended::Open && !block.is_closed()
}

/// The key of an object's member, with its quotes.
fn key_of(member: &str) -> &str {
    let quote = member.chars().next().filter(|first| matches!(first, '"' | '\''));
    let mut escaped = false;
    let ends = |(at, c): (usize, char)| {
        let is_end = !escaped && if quote.is_some() { at > 0 && Some(c) == quote } else { matches!(c, ':' | '=') };
        escaped = c == '\\' && !escaped;
        is_end.then_some(at + quote.map_or(0, char::len_utf8))
    };
    let end = member.char_indices().find_map(ends);
    member.slice(..end.unwrap_or(member.len())).trim_end()
}
