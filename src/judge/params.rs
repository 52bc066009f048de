//! Parameters: which parameters does a payload that was read give a call?
//!
//! In: the fields or the JSON value of a payload, and the types that the action declares.
//! Out: the parameters; a finding for each fault, repeated name and rounded number.
//! Never: reads a payload, or checks the parameters against the schema.

use super::closed_again::ends_alike;
use super::invalid_values::ValuePath;
use super::payloads::{PayloadRequest, is_cut_off};
use super::typing::{self, TypedParams};
use super::{Judgement, Subject, defect, places};
use crate::diagnostic::{Code, Defect, Diagnostic, Remark, fault_words, message, quote};
use crate::document::BodyEncoding;
use crate::document::payload::{Field, Fields, PayloadSource};
use crate::json::{self, Grade, Json, JsonFault};
use crate::program::{self, Types};
use crate::text::{Location, Span, excerpt};
use crate::value::{Object, Value};

/// Why a number cannot be stored.
const TOO_LONG: &str = "a number cannot be stored exactly as it is written";
const OUT_OF_RANGE: &str = "it cannot be read as JSON: number out of range";

/// Appends the names of the faults to a reason: a model that is asked again needs to know what to correct.
fn named_faults(why: &str, faults: &[JsonFault]) -> String {
    let mut words: Vec<String> = faults.iter().map(|fault| fault_words(fault.name)).collect();
    words.sort_unstable();
    words.dedup();
    if words.is_empty() { why.to_owned() } else { format!("{why}: {}", words.join(", ")) }
}

/// Whether a text closes a bracket that it has not opened: behind a quotation mark, or where a payload ends in the same
/// way, this may be the end of a string, and of the object around it.
fn ends_string(payload: &str, text: &str) -> bool {
    // Fast path: most text behind a call is prose (run of brackets: 12 % fewer instructions).
    if memchr::memchr3(b'}', b']', b')', text.as_bytes()).is_none() {
        return false;
    }
    let payload = payload.get(..=payload.rfind(['}', ']', ')']).unwrap_or_default()).unwrap_or_default();
    let (mut depth, mut quoted) = (0_usize, false);
    text.char_indices().any(|(at, c)| {
        match c {
            '{' | '[' | '(' => depth += 1,
            '}' | ']' | ')' if depth == 0 => {
                let alike = text.get(..=at).is_some_and(|text| ends_alike(payload, text));
                // In prose, a parenthesis may be part of a number or a face.
                return if c == ')' { quoted && alike } else { quoted || alike };
            }
            '}' | ']' | ')' => depth -= 1,
            '"' | '\'' | '`' | '”' | '’' => quoted = true,
            _ => {}
        }
        false
    })
}

impl Judgement<'_> {
    /// The last brace of a payload that ends its block, if the payload continues after it: the brace is one too many, or
    /// it is in a string that the grammar did not take for one.
    pub(super) fn goes_on_behind(
        &self,
        PayloadRequest { call, block, bound }: PayloadRequest<'_>,
    ) -> Option<JsonFault> {
        if self.reads_members() || block.is_native() || block.is_closed() {
            return None;
        }
        let end = block.span().end;
        let gaps = || Some(self.gaps_behind(self.calls.get(call)?.block));
        let rest = gaps()?.next()?.of(self.text);
        // An item of a list is followed by other items.
        let ends_block = !bound.lists_calls() && end == block.body().end;
        let is_more = ends_block && {
            let behind = rest.trim_start();
            let goes_on = |rest: &str| rest.trim_start().starts_with(['"', '{', '[']);
            rest.starts_with('{') || behind.starts_with(['}', ']']) || behind.strip_prefix(',').is_some_and(goes_on)
        };
        let span = Span::new(end.checked_sub(1)?, end);
        let behind: String = gaps()?.map(|gap| gap.of(self.text)).collect();
        (is_more || ends_string(block.body().of(self.text), &behind)).then_some(JsonFault {
            name: json::EXTRA_BRACE,
            span,
            grade: Grade::Lossy,
        })
    }

    pub(super) fn params_of_fields(
        &mut self,
        request: PayloadRequest<'_>,
        fields: &Fields,
        source: PayloadSource<'_>,
        types: &Types,
    ) -> Option<TypedParams> {
        let PayloadRequest { call, block, bound } = request;
        let limits = &self.program.limits;
        if !fields.unclosed.is_empty() {
            // Each unclosed field is in both lists.
            let readable = fields.list.len() > fields.unclosed.len();
            self.with_call(call, |call| call.readable = readable);
        }
        let cut = fields.open_ended && is_cut_off(block);
        if cut {
            let paths = self.cut_fields(fields, &fields.unclosed, types);
            self.with_call(call, |call| call.cut = paths);
        }
        self.judge_unpaired(request, &fields.unclosed, &fields.stray, cut);
        for (name, at) in fields.faults.iter().filter(|_| !fields.too_many).take(limits.fields) {
            let message = message!("the opener of a field has a fault: {}", &fault_words(name));
            let diagnostic = Diagnostic::new(Code::fault(name), Location::response(*at), message);
            self.find(diagnostic.with_rule(Some(bound.at)));
        }
        for closer in fields.quoting.iter().filter(|_| !fields.too_many).take(limits.fields) {
            let message =
                message!("`{}` is inside its own field, which a later closer closes", quote(closer.of(self.text), 40));
            self.remark(Remark::FieldForm, *closer, message, Some(bound.at));
        }
        if fields.too_many {
            let message = message!("the payload has more than {} fields", &limits.fields);
            self.malformed(call, bound, block.opener(), message);
        }
        let typed = source.members(fields, types, limits.depth);
        if source.values.get() == 0 {
            let why = format!("the payloads contain more than {} values", limits.values);
            self.malformed(call, bound, places::whole(block), why);
            return None;
        }
        // If an outer field is never closed, unclosed fields inside others may be a consequence: only the outer one
        // is reported.
        let inner: &[Span] = if fields.unclosed.is_empty() { &typed.unclosed } else { &[] };
        if is_cut_off(block) && !inner.is_empty() {
            let paths = self.cut_fields(fields, inner, types);
            self.with_call(call, |call| (call.readable, call.cut) = (true, paths));
        }
        self.judge_unpaired(request, inner, &typed.stray, true);
        for (name, span) in &typed.repeated {
            let message = message!("the field `{}` occurs several times; the last one is used", &name);
            self.remark(Remark::RepeatedField, *span, message, Some(bound.at));
        }
        for (key, field) in &typed.keys {
            self.repeated_key(key, *field, bound);
        }
        self.findings.left_out += typed.left_out;
        for span in &typed.rounded {
            self.rounded(*span, bound);
        }
        self.payload_faults(&typed.faults, bound.at);
        if let Some(first) = typed.faults.first() {
            self.with_call(call, |call| call.readable = true);
            self.malformed(call, bound, first.span, named_faults(json::FORGIVEN, &typed.faults));
        }
        for text in typed.between.iter().filter(|_| !fields.too_many).take(limits.fields) {
            let quoted = excerpt(text.of(self.text), 40);
            let message = message!("`{}` is between fields and is ignored", &quoted);
            self.remark(Remark::FieldForm, *text, message, Some(bound.at));
        }
        for tag in typed.verbose.iter().filter(|_| !fields.too_many).take(limits.fields) {
            let message =
                message!("`{}` has more than the name of its field; the rest is ignored", quote(tag.of(self.text), 60));
            self.remark(Remark::FieldForm, *tag, message, Some(bound.at));
            let is_empty = |field: &&Field| field.span.start == tag.start && field.body.is_empty();
            if fields.list.iter().any(|field| is_empty(&field)) {
                self.with_call(call, |call| (call.readable, call.lossy) = (true, true));
                let why = message!("`{}` is empty, and its value may be in its opener", quote(tag.of(self.text), 60));
                self.malformed(call, bound, *tag, why);
            }
        }
        Some(typed)
    }

    /// The paths to the outermost fields around unclosed openers.
    fn cut_fields(&self, fields: &Fields, unclosed: &[Span], types: &Types) -> Vec<ValuePath> {
        let Some(dialect) = self.dialect else { return Vec::new() };
        let around = |opener: &Span| fields.list.iter().find(|field| field.span.covers(*opener));
        let named = unclosed.iter().filter_map(around).map(|field| field.name.of(self.text));
        named.map(|name| vec![types.called(name, &dialect.names).map_or(name, |(known, _)| known).to_owned()]).collect()
    }

    /// Answers fields that are never closed, and closers that close no field: something may be missing there. With
    /// `lossy`, a value is missing or incomplete, so no strategy accepts the call as it is.
    fn judge_unpaired(&mut self, request: PayloadRequest<'_>, unclosed: &[Span], stray: &[Span], lossy: bool) {
        let PayloadRequest { call, bound, .. } = request;
        if let Some(unclosed) = unclosed.first() {
            let message = message!("the field `{}` is never closed", quote(unclosed.of(self.text), 40));
            let finding = defect(Defect::UnclosedBlock, *unclosed, message).with_rule(Some(bound.at));
            match lossy {
                true => self.answer_cut(&Subject::Call(call), finding),
                false => self.answer(Defect::UnclosedBlock, &Subject::Call(call), finding),
            };
        }
        for stray in stray.iter().take(self.program.limits.fields) {
            let message = message!("`{}` closes no field", quote(stray.of(self.text), 40));
            let finding = defect(Defect::StrayCloser, *stray, message).with_rule(Some(bound.at));
            self.answer(Defect::StrayCloser, &Subject::Call(call), finding);
        }
    }

    pub(super) fn params_of_json(
        &mut self,
        PayloadRequest { call, block, bound }: PayloadRequest<'_>,
        mut json: Json,
        types: &Types,
    ) -> Option<Object> {
        let names = &*self.dialect_of(block)?.names;
        let whole = places::whole(block);
        let mut twice = Vec::new();
        json.value = typing::respelled(json.value, types, names, &mut twice);
        // If the object has faults, choosing one of two members with the same meaning is a guess, as with a repeated
        // key.
        if !twice.is_empty() && !json.faults.is_empty() {
            json.faults.push(JsonFault { name: json::REPEATED_KEY, span: whole, grade: Grade::Lossy });
            json.forgiven = Some(json::LOSSY);
        }
        json.repeated.extend(twice);
        self.payload_faults(&json.faults, bound.at);
        for (name, at) in json.own_faults.iter().take(self.program.limits.fields) {
            self.payload_fault(name, *at, 1, Some(bound.at));
        }
        for key in &json.repeated {
            self.repeated_key(key, whole, bound);
        }
        self.findings.left_out += json.left_out;
        let inexact = json.rounded.iter().find(|one| typing::loses_digits(one, self.text, types, names));
        let inexact = inexact.map(|one| (one.span, one.is_near));
        for one in json.rounded.iter().filter(|one| Some(one.span) != inexact.map(|(span, _)| span)) {
            self.rounded(one.span, bound);
        }
        let apart = bound.named_within().is_some() && bound.body.is_some();
        let none = json.value.is_null() || (apart && means_none(&json.value));
        let value = if none { Object::new().into() } else { json.value };
        let Value::Object(mut params) = value else {
            let (why, help) = match bound.named_within() {
                Some((_, true)) => {
                    ("the payload is not a list of calls", "write a JSON list with an object for each call")
                }
                _ => {
                    ("the payload is not an object", "write the parameters by name, as the members of one JSON object")
                }
            };
            let finding = defect(Defect::MalformedPayload, whole, why).with_rule(Some(bound.at)).with_help(help);
            self.answer(Defect::MalformedPayload, &Subject::Call(call), finding);
            return None;
        };
        if bound.body.is_none() {
            let mut names = bound.name_pointers().filter_map(|(pointer, _)| pointer.first());
            if let Some(name) = names.find(|name| params.contains_key(name)) {
                params.remove(name);
            }
        }
        self.with_call(call, |call| call.readable = true);
        self.with_call(call, |call| call.lossy |= json.faults.iter().any(|fault| fault.grade == Grade::Lossy));
        if let Some((span, is_near)) = inexact {
            self.with_call(call, |call| call.lossy = true);
            self.malformed(call, bound, span, if is_near { TOO_LONG } else { OUT_OF_RANGE });
        }
        let is_reported = matches!(block.written, BodyEncoding::Repaired | BodyEncoding::Salvaged);
        let is_forgiven = |fault: &JsonFault| fault.grade == Grade::Certain && bound.forgives.contains(&fault.name);
        let forgiven = !json.faults.is_empty() && json.faults.iter().all(is_forgiven);
        if let Some(why) = json.forgiven.filter(|_| !is_reported && !forgiven) {
            self.malformed(call, bound, whole, named_faults(why, &json.faults));
        }
        Some(params)
    }

    /// Reports a number with more digits than a double can store.
    fn rounded(&mut self, at: Span, bound: &program::BlockBinding) {
        let message = message!("`{}` is rounded to the nearest double", quote(at.of(self.text), 40));
        self.remark(Remark::FieldForm, at, message, Some(bound.at));
    }

    pub(super) fn repeated_key(&mut self, key: &str, at: Span, bound: &program::BlockBinding) {
        let message = message!("the key `{}` occurs several times; the last one is used", quote(key, 40));
        self.remark(Remark::DuplicateKey, at, message, Some(bound.at));
    }
}

/// Whether a value given instead of parameters means that there are none: `null`, or an empty text.
pub(super) fn means_none(value: &Value) -> bool {
    value.is_null() || value.as_str().is_some_and(|text| text.trim().is_empty())
}
