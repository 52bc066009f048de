//! Guardrails: does a text contain what it should not?
//!
//! In: the texts as they will be displayed, those in values and parameters, and the whole reply.
//! Out: tripped guardrails, answered by strategies; all patterns for one target are searched in one pass.
//! Never: searches a text after replacements: all patterns see texts as they were written.

use super::outside::OutsideText;
use super::redacting::{Hit, PendingRedactions};
use super::{Composed, JudgedCall, Judgement, OutsideFate, StepKind, Subject, defect, head};
use crate::diagnostic::{Defect, Diagnostic, Message, Strategy, message, quote};
use crate::json;
use crate::program::{Guardrail, GuardrailTarget, ResolvedStrategy, TargetPatterns, Types, most_matches};
use crate::surface::Role;
use crate::text::{Present, Slice, Span};
use crate::value::{Record, Value};
use std::borrow::Cow;
use std::cell::OnceCell;
use std::ops::Range;

/// A text that guardrails check.
pub(super) struct CheckedText {
    pub(super) text: Composed,
    /// What a strategy acts on if a guardrail trips on the text.
    pub(super) subject: Subject,
    pub(super) place: TextPlace,
}

/// Where a checked text is.
#[derive(PartialEq)]
pub(super) enum TextPlace {
    /// It is the text of the subject as it is displayed, or of a call as it is written.
    Body,
    /// It is the key of a block.
    Key,
    /// It is in the value of a section, but not in its body as it is.
    SectionValue,
    /// It is in a parameter of a call, at this path. With `is_name`, it is the name of the member there, and not its
    /// value.
    Param { pointer: Vec<String>, is_name: bool },
}

impl<'r> Judgement<'r> {
    pub(super) fn judge_guardrails(&mut self) {
        let program = self.program;
        // Conditions of permits may have computed members of the reply before it was complete: compute them again.
        self.reply = Record::default();
        if program.guardrails.rules.is_empty() {
            return;
        }
        let (mut stale, mut pending) = (false, PendingRedactions::default());
        for set in &program.guardrails.sets {
            if !program.guardrails.of_set(set).any(|rule| self.applies(rule)) {
                continue;
            }
            self.renew(&mut stale);
            self.hide_in_dropped(set);
            for (checked, hits) in self.tripping(set) {
                for (pattern, rule) in program.guardrails.of_set(set).enumerate() {
                    let is_idle = hits.contains(&pattern) == rule.inverted || (rule.inverted && checked.is_name());
                    if is_idle || !self.applies(rule) || !self.is_judged(&checked, rule) {
                        continue;
                    }
                    let mut matches = matches(rule, &checked.text.text).peekable();
                    if matches.peek().is_none() && !rule.inverted {
                        self.steps.record(StepKind::Condition, rule.at, checked.text.span, || {
                            format!(
                                "the guardrail `{}` does not trip: each match overlaps one of its exception",
                                rule.id
                            )
                        });
                        continue;
                    }
                    self.trip(rule, Some(&checked), matches, &mut stale, &mut pending);
                }
            }
        }
        self.replace(pending, &mut stale);
        for rule in program.guardrails.conditions() {
            if self.applies(rule) {
                self.trip(rule, None, std::iter::empty(), &mut stale, &mut PendingRedactions::default());
            }
        }
        // Effects use the members of the reply that conditions have computed, unless a guardrail has removed
        // something since.
        self.renew(&mut stale);
    }

    /// Hides what guardrails would redact in dropped text outside every block, in blocks that do not count, and in
    /// accepted calls: a part of these may be dropped, such as a repeated field. Findings may quote it. The conditions
    /// of the guardrails are not evaluated, since they are about what counts.
    fn hide_in_dropped(&mut self, set: &TargetPatterns) {
        // Most guardrails do something else with whatever they find.
        if !set.may_redact {
            return;
        }
        if set.target == GuardrailTarget::Role(Role::Message) {
            self.hide_outside(set);
        }
        for index in 0..self.document.blocks.len() {
            let accepted = self.is_accepted(index);
            if accepted && !matches!(set.target, GuardrailTarget::Param(..)) {
                continue;
            }
            let is_meant = match &set.target {
                GuardrailTarget::Role(role) => self.has_role(index, *role),
                GuardrailTarget::Block(name) => self.is_called(index, name),
                GuardrailTarget::Param(action, _) if accepted => {
                    self.call_of(index).is_some_and(|call| call.name == *action)
                }
                // The parameters of a dropped call may not have been read.
                GuardrailTarget::Param(..) => self.has_role(index, Role::Call),
                GuardrailTarget::Reply | GuardrailTarget::Input | GuardrailTarget::Key(_) => false,
            };
            if !is_meant {
                continue;
            }
            let rules = self.redacting(set, &Subject::Block(index));
            if let [_, ..] = rules.as_slice() {
                let text = self.body_text(index);
                rules.iter().for_each(|rule| self.hide_matches(rule, &text));
                rules.iter().for_each(|rule| self.hide_in_call(rule, index));
            }
        }
    }

    /// Hides what guardrails of the message would redact in dropped text outside every block, which may be meant for
    /// the user.
    fn hide_outside(&mut self, set: &TargetPatterns) {
        for index in 0..self.texts.pieces.len() {
            let dropped = self.texts.pieces.get(index).filter(|piece| piece.fate == OutsideFate::Dropped);
            let Some(core) = dropped.map(OutsideText::core) else { continue };
            let written = core.of(self.text);
            for rule in self.redacting(set, &Subject::Outside(index)) {
                for found in matches(rule, written).take(most_matches(written)) {
                    let place = Span::new(core.start + found.start, core.start + found.end);
                    self.redactions.hide(place, written.slice(found));
                }
            }
        }
    }

    /// Hides all matches of a guardrail in a call as it is written, in its escapes, and in its parameters.
    fn hide_in_call(&mut self, rule: &Guardrail, index: usize) {
        let (Some(call), Some(block)) = (self.call_of(index), self.document.blocks.get(index)) else { return };
        let (span, raw) = (block.span(), block.span().of(self.text));
        let mut decoded: Vec<String> = Vec::new();
        let found = |text: &str| -> Vec<String> {
            matches(rule, text).take(most_matches(text)).map(|found| text.slice(found).to_owned()).collect()
        };
        if raw.contains('\\') {
            let text = json::decode_string(raw);
            let is_coded =
                |matched: &String| text.matches(matched.as_str()).count() > raw.matches(matched.as_str()).count();
            decoded.extend(found(&text).into_iter().filter(is_coded));
        }
        let mut add = |text: &str| {
            decoded.extend(found(text).into_iter().filter(|matched| !raw.contains(matched.as_str())));
        };
        add(&call.name);
        each_text(&call.params, &mut Vec::new(), &mut |_, text, _| add(text));
        // Escapes hide where a match is: the whole payload is hidden, or the opener of a call without one. An opener with
        // escapes of its own may contain it as well.
        let place = Some(block.body().trimmed(self.text)).filter(|body| !body.is_empty()).unwrap_or(span);
        let opener = Some(block.opener()).filter(|opener| opener.of(self.text).contains(['&', '\\']));
        let places = || std::iter::once(place).chain(opener);
        let coded = decoded.iter().flat_map(|matched| places().map(|place| (place, matched.as_str())));
        let written = matches(rule, raw).take(most_matches(raw));
        let place_of = |found: &Range<usize>| Span::new(span.start + found.start, span.start + found.end);
        let written = written.map(|found| (place_of(&found), raw.slice(found)));
        // A call that is not carried out may become text.
        let may_show = !call.accepted;
        for (place, matched) in coded.chain(written) {
            self.redactions.hide(place, matched);
            if may_show {
                self.redactions.replace(place, &rule.with);
            }
        }
    }

    /// The call of a block.
    fn call_of(&self, index: usize) -> Option<&JudgedCall<'_>> {
        let call = self.calls.binary_search_by_key(&index, |call| call.block).ok();
        call.and_then(|call| self.calls.get(call))
    }

    /// Whether a block counts, and is accepted if it is a call.
    fn is_accepted(&self, index: usize) -> bool {
        self.call_of(index).map_or(self.counts(index), |call| call.accepted)
    }

    /// The guardrails of a set that redact what they find in the subject.
    fn redacting(&self, set: &TargetPatterns, subject: &Subject) -> Vec<&'r Guardrail> {
        let redacts = |rule: &&Guardrail| rule.may_redact() && self.applies(rule) && self.redacts(rule, subject);
        self.program.guardrails.of_set(set).filter(redacts).collect()
    }

    /// Whether the strategy of a guardrail for a text may be `redact`.
    fn redacts(&self, rule: &Guardrail, subject: &Subject) -> bool {
        let mut strategies = self.strategies_of(rule, subject);
        let chosen = strategies.find(|(one, _)| *one != Strategy::AskAgain || self.may_ask_again);
        chosen.is_some_and(|(one, _)| one == Strategy::Redact)
    }

    /// The strategies of a guardrail: its own, then those of the degradation table. If it asks again and nothing says
    /// what follows when no attempt is left, the answer is refused: what must not remain does not.
    fn strategies_of(
        &self,
        rule: &Guardrail,
        subject: &Subject,
    ) -> impl Iterator<Item = ResolvedStrategy> + Clone + use<'r> {
        let own = rule.strategy.map(|strategy| (strategy, Some(rule.at)));
        let table = self.answers(Defect::Guardrail, subject);
        let is_open =
            rule.strategy == Some(Strategy::AskAgain) && table.clone().all(|(_, declared)| declared.is_none());
        let last = is_open.then_some((Strategy::Refuse, Some(rule.at)));
        own.into_iter().chain(last).chain(table)
    }

    /// Whether a guardrail checks a text. In the parameters of a dropped call, only guardrails that redact do.
    fn is_judged(&self, checked: &CheckedText, rule: &Guardrail) -> bool {
        let Subject::Call(call) = checked.subject else { return true };
        checked.place == TextPlace::Body
            || self.redacts(rule, &checked.subject)
            || self.calls.get(call).is_some_and(|call| call.accepted)
    }

    fn applies(&self, rule: &Guardrail) -> bool {
        rule.modes.include(self.mode_id)
    }

    /// Composes the message and the values for conditions again if a guardrail has removed something since.
    fn renew(&mut self, stale: &mut bool) {
        if std::mem::take(stale) {
            self.compose();
            self.reply = Record::default();
        }
    }

    /// Trips a guardrail whose pattern, if it has one, has matched, if its condition is true. Sets `stale` unless the
    /// strategy was `keep`.
    fn trip(
        &mut self,
        rule: &Guardrail,
        checked: Option<&CheckedText>,
        mut matches: impl Iterator<Item = Range<usize>>,
        stale: &mut bool,
        pending: &mut PendingRedactions,
    ) {
        if rule.when.is_some() {
            self.renew(stale);
        }
        let subject = checked.map_or(Subject::Reply, |checked| checked.subject.clone());
        let strategies = self.strategies_of(rule, &subject);
        let first = strategies.clone().find(|chosen| chosen.0 != Strategy::AskAgain || self.may_ask_again);
        if let (Some(chosen @ (Strategy::Redact, _)), Some(checked)) =
            (first, checked.filter(|one| one.can_be_redacted(rule)))
        {
            // Each match that trips is replaced. A condition that reads no captures is true for all matches or for
            // none.
            let (mut tried, mut replaced, mut is_first) = (0, 0, true);
            while let Some((Some(found), broken)) = match is_first || rule.reads_captures() {
                true => self.tripping_match(rule, Some(checked), &mut matches, &mut tried),
                false => Some((matches.next(), None)),
            } {
                // Too many matches to check each of them: everything from the last one on is redacted.
                replaced += 1;
                let is_last = replaced >= most_matches(&checked.text.text);
                let found = if is_last { found.start..checked.text.text.len() } else { found };
                self.redact(Hit { rule, checked, found, broken, is_first }, chosen, pending);
                is_first = false;
                if is_last {
                    break;
                }
            }
            return;
        }
        let Some((found, broken)) = self.tripping_match(rule, checked, &mut matches, &mut 0) else { return };
        let found = checked.zip(found).map(|(checked, found)| {
            let matched = checked.text.text.slice(found.clone()).trim();
            (checked.text.locate(self.text, found), matched)
        });
        let span = match (&found, checked) {
            (Some((span, _)), _) => *span,
            (None, Some(checked)) => checked.text.span,
            (None, None) => Span::new(0, self.document.bytes),
        };
        let message = match (found, &broken) {
            (_, Some(error)) => message!("the guardrail `{}` cannot be checked: {}", &rule.id, quote(error, 80)),
            (Some((_, matched)), None) if !matched.is_empty() => {
                message!("`{}` trips the guardrail `{}`", quote(matched, 60), &rule.id)
            }
            _ => message!("the guardrail `{}` is tripped", &rule.id),
        };
        let finding = guardrail_finding(rule, span, message);
        // Several texts of one call may have the same place: report the finding once.
        let same = |one: &Diagnostic| one.id == finding.id && one.at == finding.at && one.message == finding.message;
        if self.findings.list.iter().any(same) {
            return;
        }
        let chosen = self.answer_with(strategies, &subject, finding);
        *stale |= chosen != Strategy::Keep;
        if let Some(checked) = checked.filter(|_| chosen != Strategy::Keep) {
            self.hide_matches(rule, &checked.text);
        }
    }

    /// The next match that trips a guardrail, if it has a pattern, with the failure of its condition, if that fails;
    /// `None` if the guardrail does not trip. A condition that reads captures is evaluated for each match, any other
    /// once.
    fn tripping_match(
        &mut self,
        rule: &Guardrail,
        checked: Option<&CheckedText>,
        matches: &mut impl Iterator<Item = Range<usize>>,
        evaluated: &mut usize,
    ) -> Option<(Option<Range<usize>>, Option<String>)> {
        let Some(when) = &rule.when else { return Some((matches.next(), None)) };
        self.prepare_reply(when.reads());
        let each = rule.reads_captures();
        let (mut speaker, mut label, mut span) = (Value::Null, Value::Null, Span::new(0, self.document.bytes));
        let (mut key, mut value) = (Value::Null, Value::Null);
        if let Some(checked) = checked {
            span = checked.text.span;
            if let Subject::Block(block) = checked.subject
                && let Some(who) = self.speaker(block)
            {
                (speaker, label) = (who.name.into(), who.label.into());
            }
            if let Subject::Block(index) = checked.subject
                && let Some((block, _)) = self.block(index)
            {
                key = self.checked_key(index).map(Value::from).unwrap_or_default();
                value = block.value().cloned().unwrap_or_default();
            }
        }
        let tried = std::iter::once(matches.next()).chain(matches.map(Some));
        for found in tried.take(if each { usize::MAX } else { 1 }) {
            // Too many matches to evaluate the condition for each of them: the guardrail trips.
            if checked.is_some_and(|checked| *evaluated >= most_matches(&checked.text.text)) {
                return Some((found, None));
            }
            *evaluated += 1;
            let matched = checked.zip(found.as_ref()).zip(rule.pattern.as_ref()).filter(|_| each);
            let captures = matched.map(|((checked, found), pattern)| pattern.captured(&checked.text.text, found.start));
            let captures = captures.map_or(Value::Null, Value::Object);
            let scope = self.scope().with("captures", &captures).with("speaker", &speaker).with("label", &label);
            let scope = scope.with("key", &key).with("value", &value);
            let condition = self.steps.evaluate(when, &scope);
            let holds = condition.holds.clone();
            self.steps.trace_condition(condition, rule.at, span, || format!("the guardrail `{}` trips when", rule.id));
            match holds {
                Ok(true) => return Some((found, None)),
                Ok(false) => {}
                // A condition that fails trips the guardrail: a check that cannot be made has not been passed.
                Err(failure) => return Some((found, Some(failure.message))),
            }
        }
        None
    }

    /// The texts of a target on which some guardrail may trip, each with the indexes of the patterns that match it.
    fn tripping(&self, set: &TargetPatterns) -> Vec<(CheckedText, Vec<usize>)> {
        match &set.target {
            GuardrailTarget::Reply | GuardrailTarget::Input => Vec::new(),
            GuardrailTarget::Role(Role::Message) => self.tripping_message(set).into_iter().collect(),
            GuardrailTarget::Role(role) => {
                let blocks = self.tripping_blocks(set, |index| self.has_role(index, *role));
                let values = self.tripping_values(set, |index| self.has_role(index, *role));
                blocks.chain(self.tripping_section(set, |_| *role == Role::Section)).chain(values).collect()
            }
            GuardrailTarget::Block(name) => {
                let blocks = self.tripping_blocks(set, |index| self.is_called(index, name));
                let values = self.tripping_values(set, |index| self.is_called(index, name));
                blocks.chain(self.tripping_section(set, |section| name == section)).chain(values).collect()
            }
            GuardrailTarget::Param(action, param) => self.tripping_params(set, action, param),
            GuardrailTarget::Key(name) => self.tripping_keys(set, name).collect(),
        }
    }

    /// The indexes of the patterns that match a text; `None` if no guardrail of the set can trip on it.
    fn hits(&self, set: &TargetPatterns, text: &str) -> Option<Vec<usize>> {
        let hits = set.patterns.matches(text);
        let trips =
            |(pattern, rule): (usize, &Guardrail)| self.applies(rule) && hits.contains(&pattern) != rule.inverted;
        self.program.guardrails.of_set(set).enumerate().any(trips).then_some(hits)
    }

    fn counting_blocks(&self) -> impl Iterator<Item = usize> {
        (0..self.document.blocks.len()).filter(|index| self.counts(*index))
    }

    /// The whole message as one text, however many blocks it is made of.
    fn tripping_message(&self, set: &TargetPatterns) -> Option<(CheckedText, Vec<usize>)> {
        let first = self.counting_blocks().find(|index| self.is_message(*index));
        // An empty message block is checked as an empty text; without a message there is nothing to check.
        let empty = first.filter(|_| self.texts.message.text.is_empty()).map(|index| self.empty_text(index));
        let text = empty.as_ref().or(Some(&self.texts.message).filter(|text| !text.text.is_empty()))?;
        let hits = self.hits(set, &text.text)?;
        let holds = |index: usize| self.block(index).is_some_and(|(block, _)| block.span().covers(text.span));
        let outside = self.outside_piece(OutsideFate::Section).filter(|(_, piece)| piece.core() == text.span);
        let subject = match (first.filter(|index| holds(*index)), outside) {
            (Some(block), _) => Subject::Block(block),
            (None, Some((piece, _))) => Subject::Outside(piece),
            (None, None) => Subject::Message(first),
        };
        Some((CheckedText { text: text.clone(), subject, place: TextPlace::Body }, hits))
    }

    fn tripping_blocks(
        &self,
        set: &TargetPatterns,
        meant: impl Fn(usize) -> bool,
    ) -> impl Iterator<Item = (CheckedText, Vec<usize>)> {
        self.counting_blocks().filter(move |index| meant(*index)).filter_map(|index| {
            let hits = self.hits(set, &self.body(index))?;
            let call = self.calls.binary_search_by_key(&index, |call| call.block);
            let subject = call.map_or(Subject::Block(index), Subject::Call);
            let text = Some(self.body_text(index)).filter(|text| !text.text.is_empty());
            let text = text.unwrap_or_else(|| self.empty_text(index));
            Some((CheckedText { text, subject, place: TextPlace::Body }, hits))
        })
    }

    /// The texts in the values of sections that are not in their bodies as they are, because of escapes. The place of
    /// each is the whole body.
    fn tripping_values(
        &self,
        set: &TargetPatterns,
        meant: impl Fn(usize) -> bool,
    ) -> impl Iterator<Item = (CheckedText, Vec<usize>)> {
        let is_meant = move |index: &usize| self.has_role(*index, Role::Section) && meant(*index);
        self.counting_blocks().filter(is_meant).flat_map(|index| {
            let mut found = Vec::new();
            let body = self.body(index);
            let value = if body.contains('\\') { self.section_value(index) } else { None };
            each_text(value.as_ref().unwrap_or(&Value::Null), &mut Vec::new(), &mut |_, text, _| {
                let mut hits = if body.contains(text) { Vec::new() } else { set.patterns.matches(text) };
                if hits.is_empty() {
                    return;
                }
                // A pattern that has to occur has been searched for in the whole body.
                let others = self.program.guardrails.of_set(set).enumerate().filter(|(_, rule)| rule.inverted);
                hits.extend(others.map(|(pattern, _)| pattern));
                let text = Composed::of_value(text.to_owned(), self.body_text(index).span);
                let place = TextPlace::SectionValue;
                found.push((CheckedText { text, subject: Subject::Block(index), place }, hits));
            });
            found
        })
    }

    /// The text of an empty block, placed at its opener.
    fn empty_text(&self, index: usize) -> Composed {
        Composed::of_value(String::new(), self.document.blocks.get(index).map(head).present())
    }

    /// The section made of text outside every block.
    fn tripping_section(
        &self,
        set: &TargetPatterns,
        meant: impl Fn(&str) -> bool,
    ) -> Option<(CheckedText, Vec<usize>)> {
        let (_, text) = self.texts.section.as_ref().filter(|(name, _)| meant(name))?;
        let (piece, _) = self.outside_piece(OutsideFate::Section)?;
        let hits = self.hits(set, &text.text)?;
        let subject = Subject::Outside(piece);
        Some((CheckedText { text: text.clone(), subject, place: TextPlace::Body }, hits))
    }

    /// The texts in a parameter, and the names of members that the pack does not declare, at any depth.
    fn tripping_params(&self, set: &TargetPatterns, action: &str, param: &str) -> Vec<(CheckedText, Vec<usize>)> {
        let mut found = Vec::new();
        for (index, call) in self.calls.iter().enumerate() {
            // The outcome lists the parameters of dropped calls, too, so guardrails that redact check them.
            let mut rules = self.program.guardrails.of_set(set);
            let applies = call.accepted || rules.any(|rule| self.redacts(rule, &Subject::Call(index)));
            let value = call.params.get(param).filter(|_| applies && call.name == *action);
            let Some(value) = value else { continue };
            let places = OnceCell::new();
            let whole = self.span_of(call.block);
            let types = self.action_of(call).map_or(Types::unknown(), |action| action.schema.types());
            each_text(value, &mut vec![param.to_owned()], &mut |pointer, matched, is_name| {
                if is_name && (types.declares(pointer) || set.patterns.matches(matched).is_empty()) {
                    return;
                }
                let Some(hits) = self.hits(set, matched) else { return };
                // Beyond this limit no finding is reported, so no place has to be computed.
                let is_reported = found.len() < self.program.limits.diagnostics;
                let places = places.get_or_init(|| self.places(call).filter(|_| is_reported));
                let place = places.as_ref().map_or(whole, |places| places.at(call.payload_form, pointer));
                let text = Composed::of_value(matched.to_owned(), place);
                let place = TextPlace::Param { pointer: pointer.to_vec(), is_name };
                found.push((CheckedText { text, subject: Subject::Call(index), place }, hits));
            });
        }
        found
    }

    fn tripping_keys(&self, set: &TargetPatterns, name: &str) -> impl Iterator<Item = (CheckedText, Vec<usize>)> {
        self.counting_blocks().filter(|index| self.is_called(*index, name)).filter_map(|index| {
            let (block, _) = self.block(index)?;
            let key = self.checked_key(index)?;
            let hits = self.hits(set, &key)?;
            let text = Composed::of_value(key.into_owned(), block.opener());
            Some((CheckedText { text, subject: Subject::Block(index), place: TextPlace::Key }, hits))
        })
    }

    /// The key of a block, that of a file as effects and permits see it: `./a` is `a`.
    fn checked_key(&self, index: usize) -> Option<Cow<'_, str>> {
        let (block, bound) = self.block(index)?;
        let written = || bound.key.as_ref().and_then(|key| self.called(block, key));
        self.key(index).map(|(_, key)| key).filter(|key| !key.is_empty()).or_else(written)
    }

    pub(super) fn has_role(&self, index: usize, role: Role) -> bool {
        self.block(index).is_some_and(|(_, bound)| bound.role == role)
    }

    fn is_called(&self, index: usize, name: &str) -> bool {
        self.block(index).is_some_and(|(_, bound)| bound.name == name)
            || self.content_name(index).is_some_and(|called| called == name)
    }
}

impl CheckedText {
    /// Whether the text is the name of a member in a parameter.
    fn is_name(&self) -> bool {
        matches!(self.place, TextPlace::Param { is_name: true, .. })
    }

    /// Whether matches in the text can be replaced. They cannot in a key, which names what is stored, nor in the raw
    /// text of a call, whose parameters have been read already; and an inverted pattern has no match.
    fn can_be_redacted(&self, rule: &Guardrail) -> bool {
        let is_text = match self.place {
            TextPlace::Body => !matches!(self.subject, Subject::Call(_)),
            TextPlace::Key => false,
            TextPlace::SectionValue | TextPlace::Param { .. } => true,
        };
        rule.pattern.is_some() && !rule.inverted && is_text
    }
}

/// What a guardrail reports at a place.
pub(super) fn guardrail_finding(rule: &Guardrail, span: Span, message: Message) -> Diagnostic {
    let mut finding = defect(Defect::Guardrail, span, message).with_rule(Some(rule.at));
    finding.severity = rule.severity;
    finding.id = Some(rule.id.clone());
    finding.help = rule.advice.clone().map(Message::from);
    finding
}

/// Calls `then` for each text in a value, and for each name of a member, at any depth, with the path to it, and whether
/// it is a name.
fn each_text<'v>(value: &'v Value, pointer: &mut Vec<String>, then: &mut impl FnMut(&[String], &'v str, bool)) {
    match value {
        Value::String(text) => then(pointer, text, false),
        Value::Array(items) => {
            for (index, item) in items.iter().enumerate() {
                pointer.push(index.to_string());
                each_text(item, pointer, then);
                pointer.pop();
            }
        }
        Value::Object(members) => {
            for (name, member) in members.iter() {
                pointer.push(name.to_owned());
                then(pointer, name, true);
                each_text(member, pointer, then);
                pointer.pop();
            }
        }
        Value::Null | Value::Bool(_) | Value::Number(_) => {}
    }
}

/// The matches that could trip a guardrail in this text; none for an inverted pattern.
pub(super) fn matches<'l>(rule: &'l Guardrail, text: &'l str) -> impl Iterator<Item = Range<usize>> {
    rule.matches_from(text, 0)
}
