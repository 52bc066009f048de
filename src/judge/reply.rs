//! Reply: what do conditions and effects see of the whole answer?
//!
//! In: the blocks that count, the message and the calls.
//! Out: `reply` with `dialect`, `message`, `thinking`, `calls`, `sections`, `contents` and `utterances`, each
//! computed when an expression reads it.
//! Never: computes a member that is not read: each is a copy of a part of the response.

use super::outside::OutsideFate;
use super::{JudgedCall, Judgement};
use crate::program::{REPLY_MEMBERS, TextRole};
use crate::surface::Role;
use crate::text::Span;
use crate::value::Record;
use crate::value::{Object, Table, Value};
use std::borrow::Cow;
use std::sync::{Arc, LazyLock};

impl Judgement<'_> {
    /// Computes the members of `reply` that an expression with these reads needs.
    pub(crate) fn prepare_reply(&mut self, reads: &[Vec<String>]) {
        for path in reads.iter().filter(|path| path.first().is_some_and(|name| name == "reply")) {
            match path.get(1) {
                Some(member) if self.reply.get(member).is_none() => {
                    let value = self.member_of_reply(member);
                    *self.reply.entry(member) = value;
                }
                Some(_) => {}
                None => {
                    let member = |name| {
                        let known = self.reply.get(name).cloned();
                        (name, known.unwrap_or_else(|| self.member_of_reply(name)))
                    };
                    let whole: Record = REPLY_MEMBERS.into_iter().map(member).collect();
                    self.reply = whole;
                }
            }
        }
    }

    /// Computes the message again if it was read before the fate of the text outside every block was known.
    pub(super) fn renew_message(&mut self) {
        if self.reply.get("message").is_some() {
            let message = self.reply_message();
            *self.reply.entry("message") = message;
        }
    }

    fn member_of_reply(&self, name: &str) -> Value {
        match name {
            "dialect" => self
                .dialect
                .filter(|dialect| !dialect.is_native())
                .map(|dialect| dialect.name.as_str().into())
                .unwrap_or_default(),
            "message" => self.reply_message(),
            "thinking" => {
                let reported = self.with_role(Role::Thinking).filter_map(|index| self.body_joined(index));
                reported.map(|(text, _)| Value::String(text.into())).collect()
            }
            "calls" => {
                let call = |call: &JudgedCall| {
                    let (action, params) = ((&*call.name).into(), call.params.clone());
                    object(&CALL, [action, params, call.payload_form.into(), call.is_carried_out().into()])
                };
                self.calls.iter().map(call).collect()
            }
            "sections" => self.reply_sections(),
            "contents" => {
                let content = |index| {
                    let (name, key, text) = self.content(index)?;
                    Some(object(&CONTENT, [name.into(), key.into(), self.attributes(index), text.into()]))
                };
                let reported = (0..self.document.blocks.len()).filter_map(|index| self.reported_at(index));
                reported.filter_map(content).collect()
            }
            "utterances" => {
                let utterance = |index| {
                    let speaker = self.speaker(index)?;
                    Some(object(&UTTERANCE, [speaker.name.into(), speaker.label.into(), self.body(index).into()]))
                };
                self.with_role(Role::Utterance).filter_map(utterance).collect()
            }
            _ => Value::Null,
        }
    }

    /// The sections by name. A list that the reply does not contain has the keys that it should list.
    fn reply_sections(&self) -> Value {
        let section = |text, value| object(&SECTION, [text, value]);
        let mut written: Table<Cow<'_, str>, (Vec<Cow<'_, str>>, Value)> = Table::default();
        for index in self.with_role(Role::Section) {
            // Several sections may have one name: their texts are joined.
            let (texts, value) = written.entry(self.content_name(index).unwrap_or_default()).or_default();
            texts.push(self.body(index));
            *value = self.section_value(index).unwrap_or_default();
        }
        let written = written.into_iter();
        let mut sections: Object =
            written.map(|(name, (texts, value))| (name, section(joined(texts), value))).collect();
        let outside = self.outside_section();
        let outside = outside
            .map(|(name, span)| (name.to_owned(), section(self.redactions.text(span, self.text).into(), Value::Null)));
        let derived = self.derived_lists().into_iter();
        let derived = derived.map(|(name, value)| (name, section(Value::Null, value)));
        sections.extend(outside.into_iter().chain(derived));
        sections.into()
    }

    fn reply_message(&self) -> Value {
        let shows = self.mode.is_some_and(|mode| mode.reply.shows.is_some());
        let outside = shows || self.dialect.is_some_and(|dialect| dialect.text == TextRole::Message);
        let outside = Some(self.texts.message.text.as_str()).filter(|text| outside && !text.is_empty());
        match outside {
            _ if self.texts.message_dropped => Value::Null,
            Some(text) => text.into(),
            None => {
                let place = |index: usize| self.document.blocks.get(index).map_or(0, |block| block.span().start);
                let blocks = self.with_role(Role::Message).map(|index| (place(index), self.body(index)));
                let mut parts: Vec<(usize, Cow<'_, str>)> = blocks.collect();
                parts.extend(self.text_in_message().map(|core| (core.start, self.redactions.text(core, self.text))));
                parts.sort_by_key(|(start, _)| *start);
                joined(parts.into_iter().map(|(_, text)| text).collect())
            }
        }
    }

    /// Stray text that a strategy made part of the message. Text that replaces a missing message does not count.
    fn text_in_message(&self) -> impl Iterator<Item = Span> {
        let pieces = self.texts.pieces.iter().filter(|_| self.texts.strays == OutsideFate::Stray);
        let in_message = pieces.filter(|piece| piece.fate == OutsideFate::Message);
        in_message.map(|piece| piece.core()).filter(|core| !core.is_empty())
    }

    /// The blocks that count and have this role.
    fn with_role(&self, role: Role) -> impl Iterator<Item = usize> {
        (0..self.document.blocks.len()).filter(move |index| self.counts(*index) && self.has_role(*index, role))
    }
}

/// The texts joined into one, with a blank line between them.
fn joined(mut texts: Vec<Cow<'_, str>>) -> Value {
    match texts.len() {
        0 => Value::Null,
        1 => texts.swap_remove(0).into(),
        _ => texts.join("\n\n").into(),
    }
}

/// The names of members, shared by all objects of a kind.
type MemberNames<const N: usize> = LazyLock<[Arc<str>; N]>;

static CALL: MemberNames<4> = LazyLock::new(|| ["action", "params", "form", "accepted"].map(Arc::from));
static CONTENT: MemberNames<4> = LazyLock::new(|| ["name", "key", "attributes", "text"].map(Arc::from));
static UTTERANCE: MemberNames<3> = LazyLock::new(|| ["speaker", "label", "text"].map(Arc::from));
static SECTION: MemberNames<2> = LazyLock::new(|| ["text", "value"].map(Arc::from));

fn object<const N: usize>(names: &MemberNames<N>, values: [Value; N]) -> Value {
    Value::Object(names.iter().cloned().zip(values).collect())
}
