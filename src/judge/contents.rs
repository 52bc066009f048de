//! Contents: may this text be stored under that key?
//!
//! In: the content blocks that count.
//! Out: unsafe keys, answered by strategies; of several texts under one key, the one that counts.
//! Never: writes anything.

use super::{Fate, Judgement, Subject, defect};
use crate::diagnostic::{Code, Defect, Remark, message};
use crate::document::{Block, Ended};
use crate::grammar::Machine;
use crate::program::{Dialect, Family, NameSource};
use crate::surface::Role;
use crate::text::{Span, excerpt, unsafe_because};
use std::borrow::Cow;
use std::collections::{BTreeMap, HashMap};

impl<'r> Judgement<'r> {
    pub(super) fn judge_contents(&mut self) {
        let mut contents = 0;
        for index in 0..self.document.blocks.len() {
            let Some((block, bound)) = self.block(index) else { continue };
            if bound.role != Role::Content || !self.counts(index) {
                continue;
            }
            contents += 1;
            self.judge_in_reasoning(index, &Subject::Block(index));
            self.judge_in_unclosed(index, &Subject::Block(index));
            self.judge_closed_again(index, &Subject::Block(index));
            let Some(name) = self.content_name(index).filter(|_| self.counts(index)) else { continue };
            let key = bound.key.as_ref().and_then(|key| self.called(block, key)).unwrap_or_default();
            let path = self.program.contents.get(&*name).is_some_and(|content| content.path);
            if key.is_empty() && !path {
                let message = message!("the opener of `{}` lacks its key", &name);
                let mut finding = defect(Defect::MalformedOpener, block.opener(), message).with_rule(Some(bound.at));
                if let Some(NameSource::Attribute(key)) = &bound.key {
                    let withheld = ", so it has no effect unless the pack itself says `malformed-opener = \"keep\"`";
                    let effect = if self.has_effect(index) { "" } else { withheld };
                    finding = finding.with_help(message!("its key is the attribute `{}`{}", &key, &effect));
                }
                self.answer(Defect::MalformedOpener, &Subject::Block(index), finding);
            }
            if !path {
                continue;
            }
            // A key is trimmed, but a path that ends in white space is unsafe: check the path as it is written.
            let whole = match &bound.key {
                Some(NameSource::Attribute(name)) => self.whole_attribute(block, name),
                _ => None,
            };
            let whole = self.program.below_root(whole.as_deref().unwrap_or(&key).trim_start());
            if let Some(why) = unsafe_because(&whole) {
                let message = match key.trim() {
                    "" => format!("this `{name}` names no path"),
                    key => format!("`{}` is not a safe path: {why}", excerpt(key, 60)),
                };
                let finding = defect(Defect::UnsafePath, block.opener(), message).with_rule(Some(bound.at));
                self.answer(Defect::UnsafePath, &Subject::Block(index), finding);
            } else if !key.ends_with(&*whole) || key.starts_with('/') {
                let message = message!("`{}` is read as `{}`", &excerpt(&key, 60), &excerpt(&whole, 60));
                self.remark(Remark::FieldForm, block.opener(), message, Some(bound.at));
            }
        }
        // A single content cannot repeat a key.
        if contents > 1 {
            self.judge_repeated();
        }
    }

    /// Checks contents with the same key, if their keys are `unique`: the last complete one counts, and is reported
    /// at the position of the first.
    fn judge_repeated(&mut self) {
        let mut known: HashMap<(Cow<'_, str>, Cow<'_, str>), Vec<usize>> = HashMap::new();
        let mut repeated = Vec::new();
        for index in 0..self.document.blocks.len() {
            let Some((name, key)) = self.key(index) else { continue };
            if !self.program.contents.get(&*name).is_some_and(|content| content.unique) {
                continue;
            }
            let blocks = known.entry((name.clone(), key.clone())).or_default();
            blocks.push(index);
            if blocks.len() == 2 {
                repeated.push((name, key));
            }
        }
        for name_and_key in repeated {
            let Some(blocks) = known.remove(&name_and_key) else { continue };
            let (name, key) = name_and_key;
            let whole = blocks.iter().copied().rfind(|index| self.has_effect(*index));
            let Some(last) = whole.or(blocks.last().copied()) else { continue };
            let times = blocks.len();
            for (position, index) in blocks.into_iter().enumerate() {
                let Some((block, bound)) = self.block(index) else { continue };
                if position == 1 {
                    let key = excerpt(&key, 60);
                    let message =
                        message!("the `{}` `{}` occurs {} times; the last whole one is used", &name, &key, &times);
                    self.remark(Remark::DuplicateKey, block.opener(), message, Some(bound.at));
                }
                if position == 0 && index != last {
                    self.replaced_contents.insert(index, Some(last));
                    self.replaced_contents.insert(last, None);
                }
                if index != last {
                    self.causes.insert(index, Code::Remark(Remark::DuplicateKey));
                    self.set_fate(index, Fate::Dropped);
                }
            }
        }
    }

    /// The block whose content is reported at the position of this block: a later block if it replaces this one;
    /// `None` if this block is itself reported at an earlier position.
    pub(crate) fn reported_at(&self, index: usize) -> Option<usize> {
        self.replaced_contents.get(&index).copied().unwrap_or(Some(index))
    }

    /// The name and key of a content that counts.
    pub(crate) fn key(&self, index: usize) -> Option<(Cow<'r, str>, Cow<'r, str>)> {
        let (block, bound) = self.block(index).filter(|_| self.counts(index))?;
        if bound.role != Role::Content {
            return None;
        }
        let key = bound.key.as_ref().and_then(|key| self.called(block, key)).unwrap_or_default();
        let name = self.content_name(index)?;
        let key = match (key, self.program.contents.get(&*name).is_some_and(|content| content.path)) {
            (Cow::Borrowed(key), true) => self.program.below_root(key),
            (Cow::Owned(key), true) => Cow::Owned(self.program.below_root(&key).into_owned()),
            (key, false) => key,
        };
        Some((name, key))
    }

    /// Whether a content that counts has effects. It has none if the end of the answer cuts it off, if it may be inside
    /// something that is never closed, or if its closer comes again. Without a strategy from the pack, it also has none
    /// if only the end of its surroundings ended it, if any of several fences may have ended it, if the block that ended
    /// it may be part of its text, if it may be part of reasoning, or if its opener lacks the key.
    pub(crate) fn has_effect(&self, index: usize) -> bool {
        let Some(block) = self.document.blocks.get(index) else { return false };
        let is_answered = |defect| self.answers(defect, &Subject::Block(index)).any(|(_, declared)| declared.is_some());
        if self.may_be_reasoning(block) && !is_answered(Defect::StrayCloser) {
            return false;
        }
        if self.may_be_unclosed(block) || self.uncounted.closed_again.contains_key(&index) {
            return false;
        }
        if self.lacks_key(index) && !is_answered(Defect::MalformedOpener) {
            return false;
        }
        if self.is_cut(index) {
            return false;
        }
        let cut =
            matches!(block.ended, Ended::Open | Ended::Unsure) || self.is_torn(block) || self.may_show_next(index);
        !cut || is_answered(Defect::UnclosedBlock)
    }

    /// Whether the end of the answer cuts a content off. It is unknown what is missing, so no strategy stores such a
    /// content.
    pub(super) fn is_cut(&self, index: usize) -> bool {
        let is_last = |block: &Block| self.text.get(block.span().end..).is_some_and(|rest| rest.trim().is_empty());
        let is_open = |block: &Block| block.ended == Ended::Open && is_last(block);
        self.document.blocks.get(index).is_some_and(is_open) || self.uncounted.unfinished.contains(&index)
    }

    /// Whether the block of the same kind that ended a content may be part of its text: the pack does not declare
    /// that the content may end there, or a later closer that matches its name closes nothing.
    fn may_show_next(&self, index: usize) -> bool {
        let Some((block, bound)) = self.block(index).filter(|(block, _)| block.ended == Ended::Alike) else {
            return false;
        };
        let Some(dialect) = self.dialect else { return false };
        let last = || self.computed.strays.get_or_init(|| self.last_stray_closers(dialect));
        let name = dialect.names.fold(block.name().of(self.text));
        bound.ends.is_empty() || last().get(&*name).is_some_and(|start| *start >= block.span().end)
    }

    /// For each name, the position of the last closer of that name that closes nothing.
    fn last_stray_closers(&self, dialect: &Dialect) -> BTreeMap<String, usize> {
        let name = |closer: Span| {
            let mut families = dialect.families.iter().filter(|family| self.reads_closer(family, closer));
            families.find_map(|family| self.name_at(family, family.close?, closer))
        };
        // A closer that only repeats the one before it does not indicate an unclosed block.
        let blocks = &self.document.blocks;
        let is_doubled = |closer: &Span| {
            let next = blocks.partition_point(0, |block| block.span().start < closer.start);
            let last = next.checked_sub(1).and_then(|last| blocks.get(last)).filter(|last| last.is_closed());
            last.is_some_and(|last| Span::new(last.span().end, closer.start).of(self.text).trim().is_empty())
        };
        let strays = self.document.stray_closers().filter(|closer| !is_doubled(closer));
        strays.filter_map(|closer| Some((dialect.names.fold(name(closer)?).into_owned(), closer.start))).collect()
    }

    /// Whether a grammar reads all of a closer, and not only a part such as `</src` of `</src/a.ts>`.
    fn reads_closer(&self, family: &Family, closer: Span) -> bool {
        let mut steps = self.program.limits.steps(closer.len());
        let text = self.text.get(..closer.end).unwrap_or_default();
        let read = |close| Machine::new().match_at(&family.grammar, close, text, closer.start, &mut steps);
        family.close.and_then(read) == Some(closer.end)
    }

    /// Whether a content that should have a key lacks it.
    fn lacks_key(&self, index: usize) -> bool {
        let key = self.block(index).and_then(|(block, bound)| Some((block, bound.key.as_ref()?)));
        key.is_some_and(|(block, key)| self.called(block, key).is_none_or(|key| key.is_empty()))
    }

    /// The name of a content in the outcome: the name that its opener gives, or else the declared name of its block.
    pub(crate) fn content_name(&self, index: usize) -> Option<Cow<'r, str>> {
        let (block, bound) = self.block(index)?;
        bound.sources().find_map(|source| match source {
            NameSource::Own => Some(bound.name.as_str().into()),
            source => self.called(block, source),
        })
    }
}
