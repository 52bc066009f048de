//! Redacting: what replaces the text that a guardrail matches?
//!
//! In: the matches of guardrails that redact, each in the text where it was found.
//! Out: a finding for each; once all texts have been searched, the texts and values with their replacements.
//! Never: decides whether a guardrail trips.

use super::guardrails::{CheckedText, matches};
use super::texts::{RangeOrigin, replaced};
use super::{Judgement, Subject, defect};
use crate::diagnostic::{Defect, Message, message, quote};
use crate::program::{Guardrail, ResolvedStrategy, most_matches};
use crate::surface::Role;
use crate::text::{Slice, Span};
use crate::value::{Object, Record, Value};
use std::collections::BTreeMap;
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
    /// Sections whose values have texts to replace, with the patterns.
    values: Vec<(usize, usize)>,
}

/// Ranges of a text, each with its replacement.
type Ranges = Vec<(Range<usize>, Arc<str>)>;

/// A match that is replaced.
pub(super) struct Hit<'h> {
    pub(super) rule: &'h Guardrail,
    pub(super) checked: &'h CheckedText,
    /// The range of the match in the text of `looked`.
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
        if matched.is_empty() {
            return;
        }
        let mut place = None;
        if let (true, Subject::Block(block)) = (checked.is_in_value(), &checked.subject) {
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
            let span = match (origin, &checked.subject) {
                (RangeOrigin::Response(span), _) => {
                    self.redactions.replace(span, &with);
                    self.redactions.hide(span, matched);
                    place.get_or_insert(span);
                    continue;
                }
                (RangeOrigin::Made(block, range), _) => {
                    pending.made.entry(block).or_default().push((range, with));
                    self.span_of(block)
                }
                (RangeOrigin::Value(range), Subject::Call(call)) => {
                    let pending = if checked.is_name { &mut pending.names } else { &mut pending.params };
                    pending.entry((*call, checked.pointer.clone())).or_default().push((range, with));
                    text.span
                }
                (RangeOrigin::Value(range), Subject::Block(block)) => {
                    pending.made.entry(*block).or_default().push((range, with));
                    text.span
                }
                (RangeOrigin::Value(_), _) => text.span,
            };
            // A text that was decoded, or made from a value, may also occur literally in the response.
            let exact =
                span.of(self.text).find(matched).map(|at| Span::new(span.start + at, span.start + at + matched.len()));
            self.redactions.hide(exact.unwrap_or(span), matched);
            place.get_or_insert(exact.unwrap_or(span));
        }
        let span = place.unwrap_or(text.span);
        let message = match &broken {
            Some(error) => message!("the guardrail `{}` cannot be checked: {}", &rule.id, quote(error, 80)),
            None => message!("the guardrail `{}` redacts this", &rule.id),
        };
        let mut finding = defect(Defect::Guardrail, span, message).with_rule(Some(rule.at));
        finding.severity = rule.severity;
        finding.id = Some(rule.id.clone());
        finding.help = rule.advice.clone().filter(|_| is_first).map(Message::from);
        self.record(chosen, &checked.subject, finding);
        if let Subject::Block(block) = checked.subject
            && self.has_role(block, Role::Section)
        {
            pending
                .values
                .extend(self.program.guardrails.rules.iter().position(|one| one.id == rule.id).map(|at| (block, at)));
        }
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
        for (block, rule) in pending.values {
            let Some(rule) = self.program.guardrails.rules.get(rule) else { continue };
            if let Some(mut value) = self.section_value(block) {
                replace_in(&mut value, rule);
                self.computed.section_values.borrow_mut().insert(block, Some(value));
            }
        }
        // A call that is not accepted is still reported, and its text may be in the message or in what was dropped.
        if let Some(quote_filter) = self.redactions.quote_filter() {
            for call in self.calls.iter_mut().filter(|call| !call.accepted) {
                each_text_mut(&mut call.params, &mut |text| quote_filter.instead_of(text));
            }
        }
        self.computed.content_texts.borrow_mut().clear();
        self.reply = Record::default();
        self.renew_questions();
        *stale = true;
    }

    /// Hides all matches of a guardrail that removed a text: nothing that is printed may quote them.
    pub(super) fn hide_matches(&mut self, rule: &Guardrail, checked: &CheckedText) {
        let text = &checked.text;
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

/// Replaces everything that a guardrail matches in the texts of a value, and in the names of its members.
pub(super) fn replace_in(value: &mut Value, rule: &Guardrail) {
    each_text_mut(value, &mut |text| {
        let mut ranges: Ranges = matches(rule, text).map(|found| (found, Arc::clone(&rule.with))).collect();
        (!ranges.is_empty()).then(|| replaced(text, &mut ranges))
    });
}

/// Changes each text in a value.
fn each_text_mut(value: &mut Value, change: &mut impl FnMut(&str) -> Option<String>) {
    match value {
        Value::String(text) => {
            if let Some(changed) = change(text) {
                *value = changed.into();
            }
        }
        Value::Array(items) => Arc::make_mut(items).iter_mut().for_each(|item| each_text_mut(item, change)),
        Value::Object(members) => {
            members.iter_mut().for_each(|(_, member)| each_text_mut(member, change));
            if members.iter().any(|(name, _)| change(name).is_some()) {
                *members = with_names(members, change);
            }
        }
        Value::Null | Value::Bool(_) | Value::Number(_) => {}
    }
}
