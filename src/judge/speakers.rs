//! Speakers: may a speaker speak, with this label, and first?
//!
//! In: the utterances that count, and the pack's `[speakers]` with the order from the session.
//! Out: utterances that may be reasoning, unknown speakers, wrong labels and a wrong first speaker, answered by
//! strategies.
//! Never: counts turns: the rules of the pack do, and this file answers an utterance beyond the limit.

use super::{Judgement, Subject, defect};
use crate::diagnostic::{Defect, KnownNames, message, quote};
use crate::document::Block;
use crate::program::{self, Speakers};
use crate::surface::Role;
use crate::text::{Present, Span};
use crate::value::Value;
use std::cell::OnceCell;
use std::sync::Arc;

/// The grammar rule that matches where the opener of an utterance does not name its speaker as it should.
pub(super) const MISLABELLED: &str = "fault_label";

/// The speaker of an utterance.
#[derive(Debug, Clone)]
pub(crate) struct Speaker {
    pub(crate) name: Arc<str>,
    pub(crate) label: Arc<str>,
}

/// The declared speakers.
struct DeclaredSpeakers {
    values: Arc<Vec<Value>>,
    /// The names of the speakers; computed for the first speaker who is not among them.
    names: OnceCell<KnownNames>,
}

impl DeclaredSpeakers {
    fn names(&self) -> &KnownNames {
        let name = |one: &Value| Some(one.get("name")?.as_str()?.into());
        self.names.get_or_init(|| Arc::new(self.values.iter().filter_map(name).collect()))
    }
}

impl Judgement<'_> {
    pub(super) fn judge_speakers(&mut self) {
        for index in 0..self.document.blocks.len() {
            let speaks = self.block(index).is_some_and(|(_, bound)| bound.role == Role::Utterance);
            if speaks && self.counts(index) {
                self.judge_in_reasoning(index, &Subject::Block(index));
            }
        }
        let Some(speakers) = &self.program.flows.speakers else { return };
        let Some(values) = self.known_speakers().map(Arc::clone) else { return };
        let known = DeclaredSpeakers { values, names: OnceCell::new() };
        let mut first = true;
        for index in 0..self.document.blocks.len() {
            let Some(speaker) = self.speaker(index) else { continue };
            self.judge_speaker(index, &speaker, &known, speakers);
            if self.counts(index) && std::mem::take(&mut first) {
                self.judge_opening(index, &speaker, speakers);
            }
        }
    }

    fn judge_speaker(&mut self, index: usize, speaker: &Speaker, known: &DeclaredSpeakers, speakers: &Speakers) {
        let span = self.name_span(index);
        let Some(declared) = self.declared_speaker(&known.values, &speaker.name) else {
            let message = message!("no participant is called `{}`", quote(&speaker.name, 60));
            let finding = defect(Defect::UnknownSpeaker, span, message)
                .with_rule(Some(speakers.at))
                .with_nearest_of(&speaker.name, known.names());
            self.answer(Defect::UnknownSpeaker, &Subject::Block(index), finding);
            return;
        };
        let label = declared.get("label").and_then(Value::as_str).unwrap_or_default();
        // A speaker without a label cannot have the wrong one.
        let other = !label.is_empty() && !speaker.label.is_empty() && !self.same(label, &speaker.label);
        let message = match self.is_mislabelled(index) {
            _ if other => message!("`{}` is no `{}`", &speaker.name, quote(&speaker.label, 60)),
            true if speaker.label.is_empty() && !label.is_empty() => {
                message!("`{}` speaks without a label", &speaker.name)
            }
            true => message!("the name of `{}` is not written as it should be", &speaker.name),
            false => return,
        };
        let form = match label {
            "" => message!("write `{}`", &speaker.name),
            label => message!("write `{} ({})`", &speaker.name, &label),
        };
        let finding = defect(Defect::WrongLabel, span, message).with_rule(Some(speakers.at)).with_help(form);
        self.answer(Defect::WrongLabel, &Subject::Block(index), finding);
    }

    /// Whether the grammar reports that the opener of an utterance does not name its speaker as it should.
    fn is_mislabelled(&self, index: usize) -> bool {
        self.block(index).is_some_and(|(block, _)| self.attribute(block, MISLABELLED).is_some())
    }

    /// Checks whether the reply starts with the speaker who should come first.
    fn judge_opening(&mut self, index: usize, speaker: &Speaker, speakers: &Speakers) {
        let order = speakers.order.as_ref().and_then(|order| order.value(&self.scope()).ok());
        let first = order.as_ref().and_then(|order| order.as_array()?.first()?.as_str());
        let Some(first) = first.filter(|first| !self.same(first, &speaker.name)) else { return };
        let message = message!("`{}` opens the reply, and `{}` should", quote(&speaker.name, 60), &first);
        let finding = defect(Defect::OutOfOrder, self.name_span(index), message).with_rule(Some(speakers.at));
        self.answer(Defect::OutOfOrder, &Subject::Block(index), finding);
    }

    /// Whether two names or labels are equal, as the dialect compares names.
    fn same(&self, one: &str, other: &str) -> bool {
        self.dialect.is_some_and(|dialect| dialect.names.same(one, other))
    }

    /// Answers an utterance beyond the turn limit.
    pub(crate) fn judge_beyond_limit(&mut self, index: usize) {
        let rule = self.program.flows.speakers.as_ref().map(|speakers| speakers.at);
        let message = "the discussion has reached its limit before this";
        let finding = defect(Defect::TurnLimit, self.name_span(index), message).with_rule(rule);
        self.answer(Defect::TurnLimit, &Subject::Block(index), finding);
    }

    /// The speaker of an utterance that counts.
    pub(crate) fn speaker(&self, index: usize) -> Option<Speaker> {
        let (block, bound) = self.block(index).filter(|_| self.counts(index))?;
        if bound.role != Role::Utterance {
            return None;
        }
        // Read once: the judge, the rules and the outcome all need it.
        let mut speakers = self.computed.speakers.borrow_mut();
        Some(speakers.entry(index).or_insert_with(|| self.read_speaker(block, bound)).clone())
    }

    fn read_speaker(&self, block: &Block, bound: &program::BlockBinding) -> Speaker {
        let name = self.name_of(block, bound).unwrap_or_default();
        let label = self.attribute(block, "label").unwrap_or_default();
        // A declared speaker gets the name that the pack spells: conditions compare names byte by byte.
        let declared = self.known_speakers().and_then(|known| self.declared_speaker(known, &name));
        let declared = |key: &str| declared.and_then(|declared| declared.get(key)?.as_str());
        let name = declared("name").unwrap_or(&name).into();
        let label = declared("label").filter(|own| self.same(own, &label)).unwrap_or(&label).into();
        Speaker { name, label }
    }

    /// The declared speakers.
    fn known_speakers(&self) -> Option<&Arc<Vec<Value>>> {
        let known = self.computed.known_speakers.get_or_init(|| {
            // The expression may give a table of speakers instead of a list.
            match self.program.flows.speakers.as_ref()?.from.as_ref()?.value(&self.scope()).ok()? {
                Value::Array(items) => Some(items),
                Value::Object(members) => Some(Arc::new(members.values().cloned().collect())),
                _ => None,
            }
        });
        known.as_ref()
    }

    /// The declaration of the speaker with this name. A name takes precedence over an alternative spelling (`names`).
    fn declared_speaker<'k>(&self, known: &'k [Value], name: &str) -> Option<&'k Value> {
        let is_name = |own: &Value| own.as_str().is_some_and(|own| self.same(own, name));
        let by_name = known.iter().find(|one| one.get("name").is_some_and(is_name));
        let spelled =
            |one: &&Value| one.get("names").and_then(Value::as_array).is_some_and(|all| all.iter().any(is_name));
        by_name.or_else(|| known.iter().find(spelled))
    }

    fn name_span(&self, index: usize) -> Span {
        self.document.blocks.get(index).map(|block| block.opener()).present()
    }
}
