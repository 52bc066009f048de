//! Redacting: what replaces the text that a guardrail matches?
//!
//! In: the matches of guardrails that redact, each in the text where it was found.
//! Out: a finding for each; once all texts have been searched, the texts and values with their replacements.
//! Never: decides whether a guardrail trips.

use super::guardrails::{CheckedText, TextPlace, guardrail_finding, matches};
use super::texts::{RangeOrigin, replaced};
use super::{Composed, Judgement, Occasion, Subject};
use crate::diagnostic::{message, quote};
use crate::program::{Guardrail, ResolvedStrategy, most_matches};
use crate::surface::Role;
use crate::text::{Slice, Span};
use crate::value::{Object, Record, SchemaFault, Validator, Value};
use std::cell::Cell;
use std::collections::{BTreeMap, BTreeSet};
use std::ops::Range;
use std::sync::Arc;

/// The replacements to make once all texts have been searched.
#[derive(Default)]
pub(super) struct PendingRedactions {
    /// In texts that were made from values, by block.
    made: BTreeMap<usize, Ranges>,
    /// In parameters, by call and path.
    params: BTreeMap<(usize, Vec<String>), Ranges>,
    /// In names of members in parameters, by call and path.
    names: BTreeMap<(usize, Vec<String>), Ranges>,
    /// Sections whose values have texts to replace, each with the guardrails, and whether their matches have places.
    values: BTreeMap<usize, (BTreeSet<usize>, bool)>,
}

/// Ranges of a text, each with its replacement.
type Ranges = Vec<(Range<usize>, Arc<str>)>;

/// A match that is replaced.
pub(super) struct Hit<'h> {
    pub(super) rule: &'h Guardrail,
    pub(super) checked: &'h CheckedText,
    /// The range of the match in the text of `checked`.
    pub(super) found: Range<usize>,
    /// Why the condition of the guardrail could not be evaluated, if it could not.
    pub(super) broken: Option<String>,
    /// Whether it is the first match of its guardrail in this text.
    pub(super) is_first: bool,
}

impl Judgement<'_> {
    /// Records the replacement of a match, and reports it.
    pub(super) fn redact(&mut self, hit: Hit<'_>, chosen: ResolvedStrategy, pending: &mut PendingRedactions) {
        let Hit { rule, checked, found, broken, is_first } = hit;
        let text = &checked.text;
        let matched = text.text.slice(found.clone());
        if matched.is_empty() || self.is_replacement(rule, &text.text, &found) {
            return;
        }
        let mut place = None;
        if let (TextPlace::SectionValue, Subject::Block(block)) = (&checked.place, &checked.subject) {
            // The escapes of the body hide where the text is: all of it is replaced.
            match self.made(*block).map(str::len) {
                Some(length) => pending.made.entry(*block).or_default().push((0..length, Arc::clone(&rule.with))),
                None => self.redactions.replace(text.span, &rule.with),
            }
            self.redactions.hide(text.span, matched);
            place = Some(text.span);
        }
        let origins = if place.is_none() { text.origins(self.text, found.clone()) } else { Vec::new() };
        for origin in origins {
            // A match that continues in another piece is replaced in the first one, and removed from the others.
            let with = if place.is_none() { Arc::clone(&rule.with) } else { Arc::from("") };
            let span = match (origin, &checked.subject, &checked.place) {
                (RangeOrigin::Response(span), ..) => {
                    self.redactions.replace(span, &with);
                    self.redactions.hide(span, matched);
                    place.get_or_insert(span);
                    continue;
                }
                (RangeOrigin::Made(block, range), ..) => {
                    pending.made.entry(block).or_default().push((range, with));
                    self.span_of(block)
                }
                (RangeOrigin::Value(range), Subject::Call(call), TextPlace::Param { pointer, is_name }) => {
                    let pending = if *is_name { &mut pending.names } else { &mut pending.params };
                    pending.entry((*call, pointer.clone())).or_default().push((range, with));
                    text.span
                }
                (RangeOrigin::Value(range), Subject::Block(block), _) => {
                    pending.made.entry(*block).or_default().push((range, with));
                    text.span
                }
                (RangeOrigin::Value(_), ..) => text.span,
            };
            // A text that was decoded, or made from a value, may also occur literally in the response. If it is there
            // less often than in the decoded text, some occurrence is written in another way.
            let written = span.of(self.text).match_indices(matched);
            let mut exact: Vec<Span> = written
                .map(|(at, _)| Span::new(span.start + at, span.start + at + matched.len()))
                .take(most_matches(&text.text))
                .collect();
            if exact.len() < text.text.matches(matched).count().max(1) {
                exact = vec![span];
            }
            for one in &exact {
                self.redactions.hide(*one, matched);
                // A call that is not carried out may become text.
                if matches!(checked.subject, Subject::Call(_)) {
                    self.redactions.replace(*one, &rule.with);
                }
            }
            place.get_or_insert(exact.first().copied().unwrap_or(span));
        }
        let span = place.unwrap_or(text.span);
        let message = match &broken {
            Some(error) => message!("the guardrail `{}` cannot be checked: {}", &rule.id, quote(error, 80)),
            None => message!("the guardrail `{}` redacts this", &rule.id),
        };
        let mut finding = guardrail_finding(rule, span, message);
        if !is_first {
            finding.help = None;
        }
        self.record(chosen, &checked.subject, finding);
        if let Subject::Block(block) = checked.subject
            && self.has_role(block, Role::Section)
        {
            let (rules, has_places) = pending.values.entry(block).or_default();
            rules.extend(self.program.guardrails.rules.iter().position(|one| one.id == rule.id));
            *has_places |= checked.place != TextPlace::SectionValue;
        }
    }

    /// Whether a match in a call that a person has confirmed is what has replaced another match before: the person has
    /// said yes to it as it is.
    fn is_replacement(&self, rule: &Guardrail, text: &str, found: &Range<usize>) -> bool {
        let overlaps = |(at, with): (usize, &str)| at < found.end && found.start < at + with.len();
        let is_confirmed = matches!(self.occasion, Occasion::Confirmed(_)) && !rule.with.is_empty();
        is_confirmed && text.match_indices(&*rule.with).any(overlaps)
    }

    /// Whether a person has confirmed these parameters, and nothing in them is invalid but what has replaced a match: it
    /// was valid before that.
    pub(super) fn is_redacted(&self, params: &Value, validator: &Validator) -> bool {
        let rules = &self.program.guardrails.rules;
        let holds = |text: &str| rules.iter().any(|rule| !rule.with.is_empty() && text.contains(&*rule.with));
        let is_replaced = |fault: SchemaFault<'_>| {
            let part = fault.pointer.iter().try_fold(params, |part, step| part.part(step));
            fault.missing().is_none() && part.and_then(Value::as_str).is_some_and(holds)
        };
        matches!(self.occasion, Occasion::Confirmed(_)) && validator.faults(params).all(is_replaced)
    }

    /// Replaces everything that was found, in the texts and values that conditions, effects and hosts will see.
    pub(super) fn replace(&mut self, pending: PendingRedactions, stale: &mut bool) {
        self.redactions.merge_hidden();
        if self.redactions.is_empty() {
            return;
        }
        for (block, mut ranges) in pending.made {
            self.redact_made(block, &mut ranges);
        }
        for ((call, pointer), mut ranges) in pending.params {
            self.with_call(call, |call| {
                if let Some(part @ Value::String(_)) = part_mut(&mut call.params, &pointer) {
                    *part = replaced(part.as_str().unwrap_or_default(), &mut ranges).into();
                }
            });
        }
        let mut names: BTreeMap<(usize, Vec<String>), BTreeMap<String, Ranges>> = BTreeMap::new();
        for ((call, mut pointer), ranges) in pending.names {
            let Some(name) = pointer.pop() else { continue };
            names.entry((call, pointer)).or_default().insert(name, ranges);
        }
        // The path to an object has the names around it, so the inner ones are replaced first.
        for ((call, pointer), mut ranges) in names.into_iter().rev() {
            self.with_call(call, |call| {
                if let Some(Value::Object(members)) = part_mut(&mut call.params, &pointer) {
                    let mut renamed = |name: &str| ranges.get_mut(name).map(|ranges| replaced(name, ranges));
                    *members = with_names(members, &mut renamed);
                }
            });
        }
        for (block, (rules, has_places)) in pending.values {
            let rules: Vec<&Guardrail> =
                rules.iter().filter_map(|rule| self.program.guardrails.rules.get(*rule)).collect();
            if let Some(mut value) = self.section_value(block) {
                self.replace_in_section(block, &mut value, &rules, has_places);
                self.computed.section_values.borrow_mut().insert(block, Some(value));
            }
        }
        // A call that is not accepted is still reported, and its text may be in the message or in what was dropped.
        if let Some(quote_filter) = self.redactions.quote_filter() {
            for call in self.calls.iter_mut().filter(|call| !call.accepted) {
                each_text_mut(&mut call.params, &mut |text| quote_filter.instead_of(text));
                // The name of an unknown action is what the model has written.
                if let (None, Some(hidden)) = (call.action, quote_filter.instead_of(&call.name)) {
                    call.name = hidden.into();
                }
            }
        }
        self.computed.content_texts.borrow_mut().clear();
        self.reply = Record::default();
        self.renew_questions();
        *stale = true;
    }

    /// Replaces what guardrails match in the value of a section: in texts and names the matches, other values as a
    /// whole. If the matches have places in the response, a text is replaced as a whole if one of them reaches its
    /// first or last byte, or touches it and is not found in the decoded text.
    fn replace_in_section(&self, index: usize, value: &mut Value, rules: &[&Guardrail], has_places: bool) {
        let Some((block, bound)) = self.block(index) else { return };
        let values = Cell::new(self.program.limits.values);
        let source = self.dialect.map(|dialect| self.source(block, bound, dialect, &values));
        let body = block.body().trimmed(self.text);
        let tape = source.filter(|_| has_places).and_then(|source| source.tape(body));
        let touches = |start: usize, end: usize| has_places && self.redactions.touch(Span::new(start, end));
        let with: Arc<str> = rules.first().map(|rule| Arc::clone(&rule.with)).unwrap_or_default();
        each_scalar_mut(value, &mut Vec::new(), &mut |pointer, scalar| {
            let place = tape.as_ref().map_or(body, |tape| tape.value_place(pointer, self.text).unwrap_or(body));
            let covers = touches(place.start, place.start + 1) || touches(place.end.saturating_sub(1), place.end);
            let changed = match &*scalar {
                Value::String(text) if !covers => redacted(text, rules),
                Value::String(_) => None,
                other => redacted(&other.to_string(), rules).map(|_| with.to_string()),
            };
            match changed {
                Some(changed) => *scalar = changed.into(),
                None if touches(place.start, place.end) => *scalar = (*with).into(),
                None => {}
            }
        });
        each_name_mut(value, &mut |name| redacted(name, rules));
    }

    /// Hides all matches of a guardrail that removed a text: nothing that is printed may quote them.
    pub(super) fn hide_matches(&mut self, rule: &Guardrail, text: &Composed) {
        for found in matches(rule, &text.text).take(most_matches(&text.text)) {
            let matched = text.text.slice(found.clone());
            self.redactions.hide(text.locate(self.text, found), matched);
        }
    }
}

/// The part at the end of a path.
fn part_mut<'v>(value: &'v mut Value, pointer: &[String]) -> Option<&'v mut Value> {
    pointer.iter().try_fold(value, |value, step| match value {
        Value::Object(members) => members.get_mut(step),
        Value::Array(items) => Arc::make_mut(items).get_mut(step.parse::<usize>().ok()?),
        _ => None,
    })
}

/// The same members with other names. Of two that get one name, the second also gets the number of its place, so that
/// both values stay.
fn with_names(members: &Object, change: &mut impl FnMut(&str) -> Option<String>) -> Object {
    let mut named = Object::new();
    for (name, value) in members.iter() {
        let own = change(name).unwrap_or_else(|| name.to_owned());
        let (mut free, mut number) = (own.clone(), named.len());
        while named.get(&free).is_some() {
            number += 1;
            free = format!("{own} {number}");
        }
        named.insert(free.as_str(), value.clone());
    }
    named
}

/// A text with a replacement for everything that guardrails match in it; `None` if they match nothing.
fn redacted(text: &str, rules: &[&Guardrail]) -> Option<String> {
    let found =
        |rule: &&Guardrail| -> Ranges { matches(rule, text).map(|found| (found, Arc::clone(&rule.with))).collect() };
    let mut ranges: Ranges = rules.iter().flat_map(found).collect();
    (!ranges.is_empty()).then(|| replaced(text, &mut ranges))
}

/// Replaces everything that a guardrail matches in the texts of a value, and in the names of its members.
pub(super) fn replace_in(value: &mut Value, rule: &Guardrail) {
    each_text_mut(value, &mut |text| redacted(text, &[rule]));
}

/// Changes each text in a value, and each name of a member.
fn each_text_mut(value: &mut Value, change: &mut impl FnMut(&str) -> Option<String>) {
    each_scalar_mut(value, &mut Vec::new(), &mut |_, scalar| {
        if let Some(changed) = scalar.as_str().and_then(&mut *change) {
            *scalar = changed.into();
        }
    });
    each_name_mut(value, change);
}

/// Calls `then` for each part of a value that has no parts itself, with the path to it.
fn each_scalar_mut(value: &mut Value, pointer: &mut Vec<String>, then: &mut impl FnMut(&[String], &mut Value)) {
    match value {
        Value::Array(items) => {
            for (index, item) in Arc::make_mut(items).iter_mut().enumerate() {
                pointer.push(index.to_string());
                each_scalar_mut(item, pointer, then);
                pointer.pop();
            }
        }
        Value::Object(members) => {
            for (name, member) in members.iter_mut() {
                pointer.push(name.to_owned());
                each_scalar_mut(member, pointer, then);
                pointer.pop();
            }
        }
        scalar => then(pointer, scalar),
    }
}

/// Changes the names of members, the inner ones first.
fn each_name_mut(value: &mut Value, change: &mut impl FnMut(&str) -> Option<String>) {
    match value {
        Value::Array(items) => Arc::make_mut(items).iter_mut().for_each(|item| each_name_mut(item, change)),
        Value::Object(members) => {
            members.iter_mut().for_each(|(_, member)| each_name_mut(member, change));
            if members.iter().any(|(name, _)| change(name).is_some()) {
                *members = with_names(members, change);
            }
        }
        _ => {}
    }
}
