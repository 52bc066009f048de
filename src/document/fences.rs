//! Fences: which code fence is open at an offset?
//!
//! In: the text before an opener, and the blocks in it.
//! Out: the opening line of the fence around the opener; whether the opener comes directly after that line, outside
//! every block.
//! Never: searches for the end of a fence, or examines a line twice.

use super::trim::{Fence, fence_lines};
use super::{Block, ChunkedVec};
use crate::text::Span;

/// The fences from some offset on, paired.
#[derive(Debug, Clone, Copy, Default)]
pub(crate) struct Paired {
    /// Everything before this offset has been examined.
    at: usize,
    open: Option<(Span, Fence)>,
}

impl Paired {
    pub(crate) fn from(start: usize) -> Self {
        Self { at: start, open: None }
    }

    /// The opening line of the fence that is open at an offset. Offsets must be asked for in ascending order.
    pub(crate) fn open_at(&mut self, place: usize, text: &str) -> Option<Span> {
        if place > self.at {
            for (line, fence) in fence_lines(Span::new(self.at, place), text) {
                self.open = Fence::after(line, fence, self.open);
            }
            self.at = place;
        }
        self.open.map(|(line, _)| line)
    }

    fn skip(&mut self, place: usize) {
        self.at = self.at.max(place);
    }
}

/// The fences outside every block, as far as they were needed.
#[derive(Debug, Default)]
pub(super) struct Fences {
    outside: Paired,
    /// The blocks before this one have been examined.
    block: usize,
    /// The blocks that end at a closing fence, in order: fences inside them belong to them.
    ended: Vec<usize>,
}

impl Fences {
    /// Notes that a block ends at a closing fence.
    pub(super) fn end(&mut self, block: usize) {
        self.ended.push(block);
    }

    /// Whether the opener at this offset comes directly after the line of an open fence. Fences inside a block that
    /// ends at its closer, or at a fence, belong to that block; a block that ends at the next block may contain the
    /// opening line of the fence around the next.
    pub(super) fn around(&mut self, opener: usize, start: usize, text: &str, blocks: &ChunkedVec<Block>) -> bool {
        self.outside.skip(start);
        for (number, block) in blocks.from(self.block) {
            let span = block.span();
            if span.end > opener {
                break;
            }
            self.block = number + 1;
            if block.is_closed() || self.ended.binary_search(&number).is_ok() {
                self.outside.open_at(span.start, text);
                self.outside.skip(span.end);
            }
        }
        // `trim_end` reads back only to the nearest text; `trim` would read the same white space for each opener.
        let behind = |line: Span| Span::new(line.end, opener).of(text).trim_end().is_empty();
        self.outside.open_at(opener, text).is_some_and(behind)
    }
}
