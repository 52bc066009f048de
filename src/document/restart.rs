//! Restart: does reasoning start again after a call?
//!
//! In: the blocks of the answer in order, and unmatched closers of reasoning.
//! Out: the reasoning between a call and such a closer, as a block.
//! Never: looks after anything but calls that directly follow reasoning: another call may be part of the reasoning.
//!
//! A model that has called a tool continues to reason, often with a closer but no opener. The call is certainly outside
//! of reasoning if only white space separates it from reasoning whose closer ends its line.

use super::mark::Mark;
use super::scanner::DialectScanner;
use super::{Block, BodyEncoding, Ended, ReadContext};
use crate::program::{BlockId, Closer};
use crate::surface::Role;
use crate::text::Span;

/// Where reasoning may start again.
#[derive(Debug, Default, Clone, Copy, PartialEq, Eq)]
pub(super) enum RestartPoint {
    #[default]
    Nowhere,
    /// Reasoning ended here. If a call follows, reasoning may start again after the call.
    AfterCall(usize),
    /// A call ended here, so reasoning may start here.
    Here(usize),
}

impl DialectScanner {
    /// Notes that reasoning at the start of the answer has ended at its closer.
    pub(super) fn note_end_of_reasoning(&mut self) {
        self.again = RestartPoint::AfterCall(self.at);
    }

    /// Notes that a block opens here.
    pub(super) fn note_block_start(&mut self, start: usize, context: &ReadContext<'_>) {
        let (end, called) = match self.again {
            RestartPoint::Nowhere => return,
            RestartPoint::AfterCall(end) => (end, false),
            RestartPoint::Here(end) => (end, true),
        };
        let gap = Span::new(end, start).of(context.text);
        // A closer in the middle of a line may only be mentioned, and prose continue after it.
        if !gap.trim().is_empty() || (!called && !gap.contains('\n')) {
            self.again = RestartPoint::Nowhere;
        }
    }

    /// Notes that a block has ended, the last one so far.
    pub(super) fn note_block_end(&mut self, id: BlockId, context: &ReadContext<'_>) {
        if self.again == RestartPoint::Nowhere {
            return;
        }
        let whole = self.blocks.get(self.blocks.len().wrapping_sub(1)).is_none_or(|block| !block.ended.is_cut());
        self.again = match context.block(id).map(|block| block.role) {
            Some(Role::Call) if whole => RestartPoint::Here(self.at),
            Some(Role::Thinking) if whole => RestartPoint::AfterCall(self.at),
            Some(Role::Wrapper) => match self.again {
                RestartPoint::Here(_) => RestartPoint::Here(self.at),
                _ => RestartPoint::AfterCall(self.at),
            },
            _ => RestartPoint::Nowhere,
        };
    }

    /// Whether an opener of reasoning that otherwise counts only at the start of an answer counts here, too.
    pub(super) fn opens_again(&self, mark: &Mark, id: BlockId, context: &ReadContext<'_>) -> bool {
        let RestartPoint::Here(end) = self.again else { return false };
        context.block(id).is_some_and(|block| block.starts && block.role == Role::Thinking)
            && Span::new(end, mark.start()).of(context.text).trim().is_empty()
    }

    /// Adds the reasoning that ends at this closer, if reasoning has started again.
    pub(super) fn add_restarted_reasoning(&mut self, mark: &Mark, family: u8, context: &ReadContext<'_>) -> bool {
        let RestartPoint::Here(start) = self.again else { return false };
        let inner = Span::new(start, mark.start());
        let name = mark.name().of(context.text);
        let names = &context.dialect.names;
        let mut bound =
            context.dialect.blocks_by_id().filter(|(_, block)| block.starts && block.role == Role::Thinking);
        let closes = bound.find(|(id, block)| {
            block.close.iter().any(|closer| match closer {
                Closer::Own => names.find(name, Some(usize::from(family))) == Some(*id),
                Closer::Word(word) => names.same(word, name),
                Closer::Attribute(_) | Closer::Pattern(_) => false,
            })
        });
        let Some((id, bound)) = closes else { return false };
        // A closer in the middle of a line may only be mentioned.
        let thinks = mark.starts_line() && !inner.of(context.text).trim().is_empty();
        if !thinks || self.blocks.len() >= self.limits.blocks {
            self.again = RestartPoint::Nowhere;
            return false;
        }
        let (body, tag) = self.trimmed(inner, usize::from(family), bound, context);
        let index = self.blocks.len();
        self.found.unread_from(start);
        self.note_enclosing_tag(tag, index);
        self.blocks.push(Block {
            id,
            family,
            name: Span::new(start, start).into(),
            span: Span::new(start, mark.span().end).into(),
            inner: inner.into(),
            body: body.into(),
            attributes: Default::default(),
            ended: Ended::Whole,
            parent: None,
            written: BodyEncoding::Bound,
            value: None,
        });
        self.at = mark.span().end;
        self.note_end_of_reasoning();
        true
    }

    /// Text from this offset on may turn out to be reasoning.
    pub(super) fn certain_before_reasoning(&self) -> usize {
        match self.again {
            RestartPoint::Here(end) if self.open.is_none() => end,
            _ => usize::MAX,
        }
    }
}
