//! Wrapping: which wrappers are open at a place?
//!
//! In: the openers and closers of wrappers, in order, each a block of its own.
//! Out: the wrappers that are open, outermost first, each with its item.
//! Never: requires a wrapper to close: one that opens again ends the previous one of its kind.

use super::{Block, Ended};
use crate::program::BlockId;

/// The open wrappers.
#[derive(Debug)]
pub(crate) struct Wrapping<T> {
    open: Vec<(BlockId, T)>,
}

impl<T> Default for Wrapping<T> {
    fn default() -> Self {
        Self { open: Vec::new() }
    }
}

impl<T> Wrapping<T> {
    /// Ends the wrapper of this kind, if one is open, and those inside it. Returns its item.
    pub(crate) fn leave(&mut self, id: BlockId) -> Option<T> {
        let at = self.open.iter().position(|(open, _)| *open == id)?;
        self.open.drain(at..).next().map(|(_, item)| item)
    }

    /// Handles a block of a wrapper: an opener ends the wrapper of its kind and starts another; a closer ends it.
    /// Returns the item of the wrapper that it ends.
    pub(crate) fn pass(&mut self, wrapper: &Block, item: T) -> Option<T> {
        let ended = self.leave(wrapper.id);
        if wrapper.wraps() {
            self.open.push((wrapper.id, item));
        }
        ended
    }

    /// The item of the innermost open wrapper.
    pub(crate) fn innermost(&self) -> Option<&T> {
        self.open.last().map(|(_, item)| item)
    }

    /// Whether a wrapper of this kind is open.
    pub(crate) fn contains(&self, id: BlockId) -> bool {
        self.open.iter().any(|(open, _)| *open == id)
    }

    pub(crate) fn is_empty(&self) -> bool {
        self.open.is_empty()
    }
}

impl Block {
    /// Whether a block of a wrapper starts it: a closer does not, and neither does a token, whose opener is `empty`.
    pub(crate) fn wraps(&self) -> bool {
        self.ended != Ended::Bare
    }
}
