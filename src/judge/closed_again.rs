//! Closed again: which calls and contents may go on behind their closers?
//!
//! In: the closed calls and contents, and the text behind each, up to the next of them.
//! Out: those whose closer comes again, as `unclosed-block`; none of them is carried out.
//! Never: moves the end of a block.
//!
//! A text about answers may contain the very closers that end it: `</content></write_file>` in the file that a call
//! writes. The call then ends too early, with half of the file, and the rest of the file looks like text behind the
//! call, with closers at its end that close nothing.

use super::unclosed::accepts;
use super::{Judgement, Subject, defect};
use crate::diagnostic::{Defect, Strategy, message, quote};
use crate::document::{Block, is_masked};
use crate::program::BlockBinding;
use crate::surface::{Payload, Role};
use crate::text::Span;
use std::collections::BTreeMap;

/// How many characters before two closers have to be alike, so that the second one may end the same value.
const MIN_ALIKE: usize = 2;

impl Judgement<'_> {
    /// The calls and contents whose closer comes again, and where it does.
    pub(super) fn closed_again(&self) -> BTreeMap<usize, Span> {
        let again = |(index, block): (usize, &Block)| {
            let bound = self.bound(block).filter(|bound| matches!(bound.role, Role::Call | Role::Content))?;
            let is_outside = block.parent().is_none() && !block.is_native() && block.is_closed();
            let mut gaps = is_outside.then(|| self.gaps_behind(index))?;
            Some((index, gaps.find_map(|gap| self.closer_again(block, bound, gap))?))
        };
        let mut found: BTreeMap<usize, Span> = self.document.blocks.from(0).filter_map(again).collect();
        if !found.is_empty() {
            self.add_earlier(&mut found);
        }
        found
    }

    /// Adds the calls and contents of which the text may hold a whole one that is closed again, and the words before
    /// it: the closer that comes again may be theirs as well. Words between both say so: without them, one follows the
    /// other.
    fn add_earlier(&self, found: &mut BTreeMap<usize, Span>) {
        let closer_of = |block: &Block| Span::new(block.inner().end, block.span().end).of(self.text).trim();
        let outside = self.document.blocks.from(0).filter(|(_, block)| block.parent().is_none() && !block.is_native());
        let is_kind =
            |block: &Block| self.bound(block).is_some_and(|bound| matches!(bound.role, Role::Call | Role::Content));
        let outside: Vec<(usize, &Block)> = outside.filter(|(_, block)| is_kind(block)).collect();
        for pair in outside.windows(2).rev() {
            let [(index, block), (next, later)] = pair else { continue };
            let Some(closer) = found.get(next).copied() else { continue };
            let has_words = self.gaps_behind(*index).any(|gap| !gap.of(self.text).trim().is_empty());
            if block.is_closed() && closer_of(block) == closer_of(later) && has_words {
                found.entry(*index).or_insert(closer);
            }
        }
    }

    /// The text behind a block, up to the next call or content, without the blocks in it.
    pub(super) fn gaps_behind(&self, index: usize) -> impl Iterator<Item = Span> {
        let is_last = |block: &Block| {
            block.is_native() || self.bound(block).is_none_or(|bound| matches!(bound.role, Role::Call | Role::Content))
        };
        let mut blocks = self.document.blocks.from(index + 1).filter(|(_, next)| next.parent().is_none());
        let mut at = Some(self.span_of(index).end);
        std::iter::from_fn(move || {
            let from = at?;
            // The calls of a list are inside one span.
            let next = blocks.find(|(_, next)| next.span().start >= from).map(|(_, next)| next);
            at = next.filter(|next| !is_last(next)).map(|next| next.span().end);
            Some(Span::new(from, next.map_or(self.document.bytes.max(from), |next| next.span().start)))
        })
    }

    /// The closer of a block in the text behind it, if what is before that closer may end the block as well.
    fn closer_again(&self, block: &Block, bound: &BlockBinding, gap: Span) -> Option<Span> {
        // Fast path: most blocks are apart by a line break or two.
        if gap.of(self.text).bytes().all(|byte| byte.is_ascii_whitespace()) {
            return None;
        }
        let closer = Span::new(block.inner().end, block.span().end).of(self.text).trim();
        // A mark without a name, such as a fence, may open as well as close.
        if gap.len() <= closer.len() || block.ended.is_cut() || !closer.contains(char::is_alphanumeric) {
            return None;
        }
        let is_text = bound.role == Role::Content || bound.payload.contains(&Payload::Text);
        let places = gap.of(self.text).match_indices(closer).map(|(at, _)| gap.start + at);
        let mut places = places.map(|at| Span::new(at, at + closer.len()));
        places.find(|place| {
            let between = Span::new(block.span().end, place.start).of(self.text);
            let ends = ends_alike(block.inner().of(self.text), between) || (is_text && self.edges_line(*place));
            // A closer that is only written twice ends nothing else.
            !is_masked(&self.document.masks, place.start) && ends && !between.trim().is_empty()
        })
    }

    /// Answers a call or a content that may go on behind its closer.
    pub(super) fn judge_closed_again(&mut self, index: usize, subject: &Subject) {
        let Some((block, bound)) = self.block(index).filter(|_| self.counts(index)) else { return };
        let Some(closer) = self.uncounted.closed_again.get(&index).copied() else { return };
        let name = quote(block.name().of(self.text), 40);
        let message = message!("`{}` is closed here again, so it may go on up to here", &name);
        let finding = defect(Defect::UnclosedBlock, closer, message)
            .with_rule(Some(bound.at))
            .with_help("it is not carried out: its text may contain its own closer");
        // A stream has emitted the content, which has no effect either way.
        let moves = |one: Strategy| matches!(one, Strategy::Drop | Strategy::KeepAsText);
        let excluded = move |one: Strategy| match bound.role {
            Role::Content => moves(one),
            _ => accepts(one) || one == Strategy::Omit,
        };
        self.answer_unless(excluded, subject, finding);
    }
}

/// Whether two texts end with the same characters besides white space.
pub(super) fn ends_alike(one: &str, other: &str) -> bool {
    let visible = |text: &'_ str| text.chars().rev().filter(|c| !c.is_whitespace()).take(MIN_ALIKE).collect::<Vec<_>>();
    let end = visible(one);
    end.len() == MIN_ALIKE && end == visible(other)
}
