//! Speakers: may this one speak, under this label, and first?
//!
//! In: the utterances that stand, and the pack's `[speakers]` with the order that the session asks for.
//! Out: unknown speakers, wrong labels and a reply that another opens, answered.
//! Never: counts turns; it only answers for an utterance beyond them when it is told of one.

use super::{Judgement, Subject, defect};
use crate::diagnostic::Defect;
use crate::program::Speakers;
use crate::surface::Role;
use crate::text::{Span, excerpt};
use crate::value::Value;
use std::sync::Arc;

/// Who speaks.
pub(crate) struct Speaker {
    pub(crate) name: String,
    pub(crate) label: String,
}

impl Judgement<'_> {
    pub(super) fn judge_speakers(&mut self) {
        let Some(speakers) = &self.program.flows.speakers else { return };
        let known = speakers.from.as_ref().and_then(|from| from.value(&self.scope()).ok());
        // A table of speakers is as good as a list of them.
        let known: Arc<Vec<Value>> = match known {
            Some(Value::Array(items)) => items,
            Some(Value::Object(members)) => Arc::new(members.values().cloned().collect()),
            _ => return,
        };
        let mut first = true;
        for index in 0..self.document.blocks.len() {
            let Some(speaker) = self.speaker(index) else { continue };
            self.judge_speaker(index, &speaker, &known, speakers);
            if self.stands(index) && std::mem::take(&mut first) {
                self.judge_opening(index, &speaker, speakers);
            }
        }
    }

    fn judge_speaker(&mut self, index: usize, speaker: &Speaker, known: &[Value], speakers: &Speakers) {
        let span = self.name_span(index);
        let names = || known.iter().filter_map(|one| one.get("name")?.as_str());
        let is_it =
            |one: &&Value| one.get("name").and_then(Value::as_str).is_some_and(|name| self.same(name, &speaker.name));
        let Some(declared) = known.iter().find(is_it) else {
            let message = format!("nobody called `{}` takes part", excerpt(&speaker.name, 60));
            let finding = defect(Defect::UnknownSpeaker, span, message)
                .with_rule(Some(speakers.at))
                .with_nearest(&speaker.name, names());
            self.answer(Defect::UnknownSpeaker, &Subject::Block(index), finding);
            return;
        };
        let label = declared.get("label").and_then(Value::as_str);
        // What says no label says no wrong one.
        if let Some(label) = label.filter(|label| !speaker.label.is_empty() && !self.same(label, &speaker.label)) {
            let message = format!("`{}` is no `{}`", speaker.name, excerpt(&speaker.label, 60));
            let finding = defect(Defect::WrongLabel, span, message)
                .with_rule(Some(speakers.at))
                .with_help(format!("write `{} ({label})`", speaker.name));
            self.answer(Defect::WrongLabel, &Subject::Block(index), finding);
        }
    }

    /// Whoever the session wants to hear first opens the reply.
    fn judge_opening(&mut self, index: usize, speaker: &Speaker, speakers: &Speakers) {
        let order = speakers.order.as_ref().and_then(|order| order.value(&self.scope()).ok());
        let first = order.as_ref().and_then(|order| order.as_array()?.first()?.as_str());
        let Some(first) = first.filter(|first| !self.same(first, &speaker.name)) else { return };
        let message = format!("`{}` opens the reply, and `{first}` should", excerpt(&speaker.name, 60));
        let finding = defect(Defect::OutOfOrder, self.name_span(index), message).with_rule(Some(speakers.at));
        self.answer(Defect::OutOfOrder, &Subject::Block(index), finding);
    }

    /// Whether two names or labels are the same, as the dialect compares names.
    fn same(&self, one: &str, other: &str) -> bool {
        self.dialect.is_some_and(|dialect| dialect.names.same(one, other))
    }

    /// Answers for an utterance that comes when the discussion is over.
    pub(crate) fn judge_beyond_limit(&mut self, index: usize) {
        let rule = self.program.flows.speakers.as_ref().map(|speakers| speakers.at);
        let message = "the discussion has reached its limit before this";
        let finding = defect(Defect::TurnLimit, self.name_span(index), message).with_rule(rule);
        self.answer(Defect::TurnLimit, &Subject::Block(index), finding);
    }

    /// Who speaks an utterance that stands.
    pub(crate) fn speaker(&self, index: usize) -> Option<Speaker> {
        let (block, bound) = self.block(index).filter(|_| self.stands(index))?;
        if bound.role != Role::Utterance {
            return None;
        }
        let name = self.called(block, &bound.called).unwrap_or_default().into_owned();
        let label = self.attribute(block, "label").unwrap_or_default().into_owned();
        Some(Speaker { name, label })
    }

    fn name_span(&self, index: usize) -> Span {
        self.document.blocks.get(index).map(|block| block.opener()).unwrap_or_default()
    }
}
