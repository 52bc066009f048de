//! Lists: does a list in the reply agree with the contents of the reply, and what are the values of sections?
//!
//! In: the sections that count, with their values, and the keys of the contents.
//! Out: a `list-mismatch` for each key that is only in one of them; a `malformed-payload` for each section without its
//! value.
//! Never: changes a list or a content.

use super::invalid_values::JudgedValue;
use super::{Judgement, Subject, defect, places, typing};
use crate::diagnostic::{Defect, Remark, message, quote};
use crate::document::payload::{self, Payload};
use crate::document::{Block, BodyEncoding};
use crate::program::{self, Count};
use crate::surface::Role;
use crate::text::excerpt;
use crate::value::Value;
use foldhash::fast::RandomState;
use std::borrow::Cow;
use std::collections::HashSet;

impl<'r> Judgement<'r> {
    pub(super) fn judge_lists(&mut self) {
        let Some(mode) = self.mode else { return };
        for count in &mode.reply.counts {
            if let Some(contents) = &count.lists {
                self.judge_list(count, contents);
            }
        }
    }

    /// Answers each section whose text does not have the form that its block declares, or cannot be read without a
    /// loss. A section runs nothing, so tolerated faults are only remarks.
    pub(super) fn judge_values(&mut self) {
        for index in 0..self.document.blocks.len() {
            let Some((block, bound)) = self.block(index).filter(|_| self.counts(index)) else { continue };
            let had_value = bound.role == Role::Section && self.section_value(index).is_some();
            self.judge_schema(index, block, bound);
            let taken = had_value && self.section_value(index).is_none();
            if bound.role == Role::Section && self.reads_members() && !block.ended.is_cut() {
                self.judge_member(index, block, bound);
            }
            // A value that its schema has taken away has been reported.
            let declares =
                bound.role == Role::Section && !bound.payload.is_empty() && block.value().is_none() && !taken;
            if !declares || bound.payload.iter().any(|reader| reader.accepts_any_text()) {
                continue;
            }
            let value = self.section_value(index);
            let forgiven = self.payloads.pending_faults.borrow_mut().remove(&index);
            let mut lossy = false;
            if let Some(json) = forgiven {
                lossy = json.is_lossy();
                self.payload_faults(&json.faults, bound.at);
                json.repeated.iter().for_each(|key| self.repeated_key(key, block.body(), bound));
                self.findings.left_out += json.left_out;
            }
            let declared = bound.payload.iter().map(|reader| reader.word()).collect::<Vec<_>>().join(" or ");
            let name = excerpt(block.name().of(self.text), 40);
            let message = match value.is_none() {
                true => message!("`{}` is not {} as declared, so it has no value", &name, &declared),
                false if lossy => message!("`{}` cannot be read as {} without a loss", &name, &declared),
                false => continue,
            };
            self.payloads.readable.insert(index, value.is_some());
            let finding = defect(Defect::MalformedPayload, block.opener(), message).with_rule(Some(bound.at));
            self.answer(Defect::MalformedPayload, &Subject::Block(index), finding);
        }
    }

    /// Answers a section that is a member of an object and has no value, or one with a loss.
    fn judge_member(&mut self, index: usize, block: &Block, bound: &program::BlockBinding) {
        let name = excerpt(block.name().of(self.text), 40);
        let has_none = matches!(block.written, BodyEncoding::Value | BodyEncoding::Repaired)
            && block.value().is_none()
            && !block.body().is_empty();
        let message = match block.written {
            // A text is read to its end: the lossy fault is around it, and nothing in it was dropped.
            BodyEncoding::Salvaged if !block.value().is_some_and(Value::is_string) => {
                message!("`{}` cannot be read as json without a loss", &name)
            }
            _ if has_none => message!("`{}` cannot be read as json, so it has no value", &name),
            _ => return,
        };
        self.payloads.readable.insert(index, !has_none);
        let finding = defect(Defect::MalformedPayload, places::whole(block), message).with_rule(Some(bound.at));
        self.answer(Defect::MalformedPayload, &Subject::Block(index), finding);
    }

    /// Answers a block whose value or text is not valid against its schema. The value of a section is first converted
    /// to the types of the schema.
    fn judge_schema(&mut self, index: usize, block: &Block, bound: &program::BlockBinding) {
        // A template makes a text from any value, so a block with a template is not checked against its schema.
        let Some(schema) = bound.schema.as_ref().filter(|_| bound.text.is_none()) else { return };
        // The value of a member that is a string is its text.
        let is_string = matches!(block.written, BodyEncoding::String | BodyEncoding::Twice);
        let text = || is_string.then(|| self.body(index).into_owned().into());
        let value = match bound.role {
            Role::Section => self.section_value(index).or_else(text),
            // The text may be one member of an object that the schema describes: a schema that accepts every text is
            // skipped.
            Role::Message | Role::Content | Role::Utterance => match block.value().filter(|value| !value.is_string()) {
                Some(value) if bound.role != Role::Content => Some(value.clone()),
                _ if schema.takes_every_text() => None,
                _ => Some(self.body(index).into()),
            },
            Role::Call | Role::Thinking | Role::Wrapper => None,
        };
        let Some(mut value) = value else { return };
        if let Some(dialect) = self.dialect.filter(|_| schema.types().respells()) {
            let mut repeated = Vec::new();
            value = typing::respelled(value, schema.types(), &dialect.names, &mut repeated);
            repeated.iter().for_each(|key| self.repeated_key(key, places::whole(block), bound));
        }
        typing::conform(&mut value, schema.types(), 0);
        if bound.role == Role::Section {
            self.computed.section_values.borrow_mut().insert(index, Some(value.clone()));
        }
        let name = excerpt(block.name().of(self.text), 40);
        let what = if bound.role == Role::Section { "value" } else { "text" };
        let message = match &*name {
            "" => message!("the {} does not match its schema", &what),
            name => message!("the {} of `{}` does not match its schema", &what, &name),
        };
        let (subject, at, rule) = (Subject::Block(index), |_: &[String]| block.opener(), bound.at);
        self.judge_fit(JudgedValue { subject, value, schema, message, at: &at, rule });
    }

    /// For a block that could not be read without a loss, whether it has a value; `None` for any other block.
    pub(super) fn was_read(&self, block: usize) -> Option<bool> {
        self.payloads.readable.get(&block).copied()
    }

    fn judge_list(&mut self, count: &Count, contents: &str) {
        let last = self.counting(&count.blocks).last().copied();
        let Some((index, Value::Array(items))) = last.and_then(|index| Some((index, self.section_value(index)?)))
        else {
            return;
        };
        let Some((section, _)) = self.block(index) else { return };
        let listed: Vec<&str> = items.iter().filter_map(Value::as_str).collect();
        let keys = self.keys_of(contents);
        let known = Ends::of(keys.iter().map(|(_, key)| &**key));
        for item in listed.iter().filter(|item| !known.hold(item)) {
            let message = message!("`{}` lists `{}`, but the reply has none", &count.name, quote(item, 60));
            self.remark(Remark::ListMismatch, section.opener(), message, Some(count.at));
        }
        let known = Ends::of(listed.iter().copied());
        for (block, key) in keys.iter().filter(|(_, key)| !known.hold(key)) {
            let Some((block, _)) = self.block(*block) else { continue };
            let message = message!("`{}` is not listed in `{}`", quote(key, 60), &count.name);
            self.remark(Remark::ListMismatch, block.opener(), message, Some(count.at));
        }
    }

    /// The contents of this name that count, with their keys, in order.
    fn keys_of(&self, name: &str) -> Vec<(usize, Cow<'r, str>)> {
        let reported = (0..self.document.blocks.len()).filter_map(|index| self.reported_at(index));
        let keys = reported.filter_map(|index| Some((index, self.key(index)?)));
        keys.filter(|(_, (known, _))| known == name).map(|(index, (_, key))| (index, key)).collect()
    }

    /// The value of a section's payload, if it can be read.
    pub(crate) fn section_value(&self, index: usize) -> Option<Value> {
        let (block, bound) = self.block(index).filter(|_| self.counts(index))?;
        // Reading a section counts its values against the limit, so each section is read only once.
        if let Some(read) = self.computed.section_values.borrow().get(&index) {
            return read.clone();
        }
        if let Some(value) = block.value() {
            return Some(value.clone());
        }
        if bound.role != Role::Section || bound.payload.is_empty() {
            return None;
        }
        let value = self.read_section(index, block, bound);
        self.computed.section_values.borrow_mut().insert(index, value.clone());
        value
    }

    fn read_section(&self, index: usize, block: &Block, bound: &program::BlockBinding) -> Option<Value> {
        let source = self.source(block, bound, self.dialect?, &self.payloads.values);
        let read = payload::read(&source, block.body(), &bound.payload);
        match read.payload {
            Payload::Json(mut json) => {
                let value = std::mem::replace(&mut json.value, Value::Null);
                if !json.faults.is_empty() || !json.repeated.is_empty() {
                    self.payloads.pending_faults.borrow_mut().insert(index, json);
                }
                Some(value)
            }
            Payload::Text => Some(block.body().of(self.text).into()),
            Payload::Empty => Some(Vec::new().into()),
            Payload::Attributes | Payload::Fields(_) | Payload::Unreadable(_) => None,
        }
    }

    /// For each list that the reply should have but does not contain, its name and the keys that it would list.
    pub(super) fn derived_lists(&self) -> Vec<(String, Value)> {
        let counts = self.mode.map(|mode| mode.reply.counts.as_slice()).unwrap_or_default();
        let lists = counts.iter().filter_map(|count| Some((count, count.lists.as_ref()?)));
        let absent = lists.filter(|(count, _)| self.counting(&count.blocks).is_empty());
        absent
            .map(|(count, contents)| {
                let keys = self.keys_of(contents).into_iter().map(|(_, key)| Value::from(key));
                (count.name.clone(), keys.collect())
            })
            .collect()
    }
}

/// Keys and their endings: a list may leave out the leading folders of a key, or add some.
struct Ends<'k> {
    whole: HashSet<&'k str, RandomState>,
    ends: HashSet<&'k str, RandomState>,
}

impl<'k> Ends<'k> {
    fn of(keys: impl Iterator<Item = &'k str>) -> Self {
        let whole: HashSet<&str, RandomState> = keys.collect();
        let ends = whole.iter().copied().flat_map(ends).collect();
        Self { whole, ends }
    }

    fn hold(&self, key: &str) -> bool {
        self.ends.contains(key) || ends(key).any(|end| self.whole.contains(end))
    }
}

/// A key, then the rest of it after each `/`: at most `MAX_ENDS` strings.
fn ends(key: &str) -> impl Iterator<Item = &str> {
    const MAX_ENDS: usize = 64;
    let starts = key.match_indices('/').map(|(at, _)| at + 1);
    std::iter::once(0).chain(starts).take(MAX_ENDS).filter_map(|start| key.get(start..)).filter(|end| !end.is_empty())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_list_may_leave_out_folders() {
        let keys = Ends::of(["src/a/b.ts", "c.md"].into_iter());
        for key in ["src/a/b.ts", "a/b.ts", "b.ts", "c.md", "docs/c.md"] {
            assert!(keys.hold(key), "{key}");
        }
        for key in ["b", "x/b.tsx", "", "src/c", "src/a/"] {
            assert!(!keys.hold(key), "{key}");
        }
    }
}
