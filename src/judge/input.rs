//! Input: which part of a user's message may be classified, stored and sent to a model?
//!
//! In: the message of the user, the session, and the guardrails `on = "input"`.
//! Out: [`Guarded`]: the message with redactions applied, the findings, and whether the message is refused.
//! Never: classifies the message, or passes on redacted text.

use super::Ruling;
use super::guardrails::{guardrail_finding, matches};
use super::texts::replaced;
use crate::diagnostic::{Defect, Diagnostic, Strategy, message};
use crate::expression::Scope;
use crate::program::{DeclarationContext, Guardrail, GuardrailTarget, Program, most_matches};
use crate::session::Session;
use crate::text::Span;
use crate::value::Value;
use std::borrow::Cow;
use std::ops::Range;
use std::sync::Arc;

/// A user's message after the guardrails have checked it.
pub(crate) struct Guarded<'t> {
    /// The message as it may be stored; empty if it is refused.
    pub(crate) text: Cow<'t, str>,
    pub(crate) findings: Vec<Diagnostic>,
    pub(crate) ruling: Ruling,
}

impl Program {
    /// Checks a user's message with the guardrails of the session's mode.
    pub(crate) fn guard_input<'t>(&self, session: &Session, text: &'t str) -> Guarded<'t> {
        let mut guarded = Guarded { text: Cow::Borrowed(text), findings: Vec::new(), ruling: Ruling::default() };
        let mut ranges: Vec<(Range<usize>, Arc<str>)> = Vec::new();
        let mode = self.mode_id(&session.mode);
        for set in self.guardrails.sets.iter().filter(|set| set.target == GuardrailTarget::Input) {
            let hits = set.patterns.matches(text);
            for (pattern, rule) in self.guardrails.of_set(set).enumerate() {
                if rule.modes.include(mode) && hits.contains(&pattern) != rule.inverted {
                    self.look_at(rule, session, text, &mut ranges, &mut guarded);
                }
            }
        }
        if guarded.ruling.is_refused() {
            guarded.text = Cow::Borrowed("");
        } else if !ranges.is_empty() {
            guarded.text = Cow::Owned(replaced(text, &mut ranges));
        }
        guarded
    }

    fn look_at(
        &self,
        rule: &Guardrail,
        session: &Session,
        text: &str,
        ranges: &mut Vec<(Range<usize>, Arc<str>)>,
        guarded: &mut Guarded<'_>,
    ) {
        let most = most_matches(text);
        let mut found: Vec<Range<usize>> = Vec::new();
        let mut all = matches(rule, text);
        for number in 0.. {
            let Some(range) = all.next() else { break };
            // Too many matches to check each of them: everything from this match on counts as one match.
            if number >= most {
                found.push(range.start..text.len());
                break;
            }
            if self.trips(rule, session, text, Some(&range)) {
                found.push(range);
            }
        }
        if found.is_empty() && !(rule.inverted && self.trips(rule, session, text, None)) {
            return;
        }
        let near = DeclarationContext { mode: self.modes.get(&session.mode), ..DeclarationContext::default() };
        let own = rule.strategy.map(|strategy| (strategy, Some(rule.at)));
        let mut strategies = own.into_iter().chain(self.answers(Defect::Guardrail, near));
        let answers = |strategy| match strategy {
            Strategy::Redact => !found.is_empty(),
            strategy => matches!(strategy, Strategy::Keep | Strategy::Refuse),
        };
        let (strategy, declared) =
            strategies.find(|(strategy, _)| answers(*strategy)).unwrap_or((Strategy::Keep, None));
        let places: Vec<Span> = match found.as_slice() {
            [] => vec![Span::new(0, text.len())],
            found => found.iter().map(|range| Span::new(range.start, range.end)).collect(),
        };
        let many = if strategy == Strategy::Redact { self.limits.diagnostics } else { 1 };
        for place in places.into_iter().take(many) {
            let message = match strategy {
                Strategy::Redact => message!("the guardrail `{}` redacts this", &rule.id),
                _ => message!("this trips the guardrail `{}`", &rule.id),
            };
            let mut finding = guardrail_finding(rule, place, message);
            guarded.ruling.decide(strategy, declared, &mut finding);
            guarded.findings.push(finding);
        }
        if strategy == Strategy::Redact {
            ranges.extend(found.into_iter().map(|range| (range, Arc::clone(&rule.with))));
        }
    }

    /// Whether the condition of a guardrail is true for a match. A condition that fails counts as true: a check that
    /// cannot be made has not been passed.
    pub(crate) fn trips(&self, rule: &Guardrail, session: &Session, text: &str, found: Option<&Range<usize>>) -> bool {
        let Some(when) = &rule.when else { return true };
        let captures = found.zip(rule.pattern.as_ref()).filter(|_| rule.reads_captures());
        let captures = captures.map(|(found, pattern)| Value::Object(pattern.captured(text, found.start)));
        let (captures, mode) = (captures.unwrap_or_default(), session.mode.as_str().into());
        let now = session.now.as_deref().into();
        let mut scope = Scope::new();
        scope.add_record("state", &session.state);
        scope.add("data", &self.data);
        scope.add("mode", &mode);
        scope.add("now", &now);
        scope.add("captures", &captures);
        when.holds(&scope).unwrap_or(true)
    }
}
