//! Shape: does the reply have the blocks that it should have?
//!
//! In: the blocks that count, and the mode's `[reply]`.
//! Out: forbidden, surplus, missing and misplaced blocks, answered by strategies.
//! Never: looks inside a block.

use super::{Fate, Judgement, Subject, defect};
use crate::diagnostic::{Defect, Remark, message, quote};
use crate::document::Natives;
use crate::program::{BlockId, Count, Dialect, DialectId, TextRole};
use crate::surface::Role;
use crate::text::{Span, excerpt, glob};
use smallvec::SmallVec;

impl Judgement<'_> {
    pub(super) fn judge_shape(&mut self) {
        let Some(mode) = self.mode else { return };
        for count in &mode.reply.counts {
            self.judge_keys(count);
            let blocks = self.counting(&count.blocks);
            match count.most {
                Some(0) => {
                    for block in blocks {
                        let Some((found, _)) = self.block(block) else { continue };
                        let message =
                            message!("a reply in the mode `{}` may have no `{}`", &self.session.mode, &count.name);
                        let finding = defect(Defect::ForbiddenBlock, found.span(), message).with_rule(Some(count.at));
                        self.answer(Defect::ForbiddenBlock, &Subject::Block(block), finding);
                    }
                    continue;
                }
                Some(most) if blocks.len() > most => {
                    let second = blocks.get(most).and_then(|block| self.block(*block)).map(|(block, _)| block.span());
                    let message =
                        message!("`{}` occurs {} times, and at most {} may", &count.name, &blocks.len(), &most);
                    let finding =
                        defect(Defect::DuplicateBlock, second.unwrap_or_default(), message).with_rule(Some(count.at));
                    self.answer(Defect::DuplicateBlock, &Subject::Blocks(blocks.to_vec(), most), finding);
                }
                _ => {}
            }
            if count.required && blocks.is_empty() && !self.outside_counts_as(count) {
                let end = Span::new(self.document.bytes, self.document.bytes);
                let what = if count.message { Defect::MissingMessage } else { Defect::MissingBlock };
                // Without a dialect there are no blocks, which has been reported already. If only native parts were
                // read, no block but the message is required, and beside native calls not even that.
                let says = |natives: &Natives| !count.message || natives.has_calls();
                let is_native = self.dialect.is_some_and(Dialect::is_native);
                if self.dialect.is_none() || (is_native && self.document.natives.as_deref().is_some_and(says)) {
                    continue;
                }
                let finding =
                    defect(what, end, message!("the reply has no `{}`", &count.name)).with_rule(Some(count.at));
                self.answer(what, &Subject::Reply, finding);
            }
        }
        self.judge_order();
        self.judge_last();
        self.judge_spelling();
    }

    /// Whether text outside every block counts as the required block.
    fn outside_counts_as(&self, count: &Count) -> bool {
        let is_message = self.dialect.is_some_and(|dialect| dialect.text == TextRole::Message);
        let says = || {
            let raw = (0..self.document.blocks.len()).any(|block| self.fate(block) == Fate::Text);
            raw || self.gaps().any(|gap| !gap.of(self.text).trim().is_empty())
        };
        (count.message && is_message && says()) || self.outside_section().is_some_and(|(name, _)| name == count.name)
    }

    /// Answers contents whose keys the mode does not allow.
    fn judge_keys(&mut self, count: &Count) {
        if count.keys.is_empty() {
            return;
        }
        for block in self.counting(&count.blocks) {
            let Some((_, key)) = self.key(block) else { continue };
            if count.keys.iter().any(|pattern| glob(pattern, &key)) {
                continue;
            }
            let Some((found, _)) = self.block(block) else { continue };
            let key = excerpt(&key, 60);
            let message = match &*key {
                "" => format!("this `{}` has no key", count.name),
                key => format!("`{key}` is not a key of a `{}` in the mode `{}`", count.name, self.session.mode),
            };
            let finding = defect(Defect::ForbiddenBlock, found.opener(), message).with_rule(Some(count.at));
            self.answer(Defect::ForbiddenBlock, &Subject::Block(block), finding);
        }
    }

    /// Answers blocks after the last call, if the mode requires calls to come last. Text there is answered with other
    /// text outside blocks.
    fn judge_last(&mut self) {
        let Some(at) = self.mode.and_then(|mode| mode.reply.calls_last).filter(|_| !self.reads_members()) else {
            return;
        };
        let is_call = |index: &usize| self.block(*index).is_some_and(|(_, bound)| bound.role == Role::Call);
        let mut blocks = 0..self.document.blocks.len();
        let Some(last) = blocks.rfind(|index| is_call(index) && self.counts(*index)) else { return };
        // If the call is inside other blocks, the end of the outermost one counts.
        let parent = |index: &usize| self.document.blocks.get(*index)?.parent();
        let end =
            std::iter::successors(Some(last), parent).map(|index| self.span_of(index).end).max().unwrap_or_default();
        self.uncounted.after = Some(end);
        for index in last..self.document.blocks.len() {
            let Some((block, bound)) = self.block(index).filter(|_| self.counts(index)) else { continue };
            if block.span().start < end || block.parent().is_some() || !bound.role.is_answer() {
                continue;
            }
            let name = self.content_name(index).unwrap_or_else(|| bound.name.as_str().into());
            let message = message!("`{}` follows the last call, which must be last", &name);
            let finding = defect(Defect::OutOfOrder, block.span(), message).with_rule(Some(at));
            self.answer(Defect::OutOfOrder, &Subject::Block(index), finding);
        }
    }

    /// Whether a section counts in place of an earlier one with the same declaration.
    pub(super) fn replaces(&self, index: usize) -> bool {
        let Some((block, bound)) = self.block(index).filter(|_| self.counts(index)) else { return false };
        if bound.role != Role::Section {
            return false;
        }
        let mut before = self.document.blocks.iter().take(index).enumerate();
        before.any(|(earlier, other)| other.id == block.id && self.fate(earlier) == Fate::Dropped)
    }

    /// Reports openers that are not written as the pack declares.
    fn judge_spelling(&mut self) {
        for index in 0..self.document.blocks.len() {
            let Some((block, bound)) = self.block(index).filter(|_| self.counts(index)) else { continue };
            // The calls of a list have empty openers: only the list itself has one.
            let Some(spelled) = bound.spelled.as_ref().filter(|_| !block.opener().is_empty()) else { continue };
            let written = block.opener().of(self.text).trim();
            let spelled = spelled.replace("@name", block.name().of(self.text));
            let spelled = spelled.trim();
            // Line breaks of both kinds are equal here.
            let plain = |text: &str| text.replace("\r\n", "\n");
            if written != spelled && plain(written) != plain(spelled) {
                let message = message!("`{}` is understood as `{}`", quote(written, 60), &spelled);
                self.remark(Remark::FieldForm, block.opener(), message, Some(bound.at));
            }
        }
    }

    /// The blocks that count and have one of these declarations.
    pub(super) fn counting(&self, bound: &[(DialectId, BlockId)]) -> SmallVec<[usize; 2]> {
        let Some(dialect) = self.dialect else { return SmallVec::new() };
        let is_bound = |id: BlockId| bound.contains(&(dialect.id, id));
        let blocks = self.document.blocks.iter().enumerate();
        blocks.filter(|(index, block)| is_bound(block.id) && self.counts(*index)).map(|(index, _)| index).collect()
    }

    /// Answers blocks out of order: those after a block that should come later. Members of an object have no order (RFC
    /// 8259, §4).
    fn judge_order(&mut self) {
        let (Some(mode), Some(dialect)) = (self.mode, self.dialect) else { return };
        if mode.reply.order.is_empty() || self.reads_members() {
            return;
        }
        let mut furthest = 0;
        for index in 0..self.document.blocks.len() {
            let Some((block, bound)) = self.block(index).filter(|_| self.counts(index)) else { continue };
            let Some(rank) = mode.reply.rank(dialect.id, block.id) else { continue };
            // If a section is repeated, the last one counts, and the order starts again there.
            if rank < furthest && self.replaces(index) {
                furthest = rank;
            }
            if rank < furthest {
                let name = self.content_name(index).unwrap_or_else(|| bound.name.as_str().into());
                let message = message!("`{}` should come earlier in the reply", &name);
                let finding = defect(Defect::OutOfOrder, block.span(), message).with_rule(mode.reply.order_at);
                self.answer(Defect::OutOfOrder, &Subject::Block(index), finding);
            }
            furthest = furthest.max(rank);
        }
    }
}
