//! Fences: which code fence is open outside every block?
//!
//! In: the text before an opener, and the blocks in it.
//! Out: whether the opener stands right behind the line that opens a fence.
//! Never: looks for where that closes, or at a line twice.

use super::edges::{Fence, fence_lines};
use super::{Block, Pieces};
use crate::text::Span;

/// The fences outside every block, as far as they were asked for.
#[derive(Debug, Default)]
pub(super) struct Fences {
    /// Everything before this place was looked at.
    at: usize,
    /// The blocks before this one were.
    block: usize,
    open: Option<(Span, Fence)>,
    /// The blocks that end where a fence closes, in order: those in them are theirs.
    ended: Vec<usize>,
}

impl Fences {
    /// Notes that a block ends where a fence closes.
    pub(super) fn end(&mut self, block: usize) {
        self.ended.push(block);
    }

    /// Whether the opener at this place stands right behind the line of a fence that is open there. What a block holds up
    /// to its closer, or to where a fence closes, is its own; one that the next block ends may hold the fence around that.
    pub(super) fn around(&mut self, opener: usize, start: usize, text: &str, blocks: &Pieces<Block>) -> bool {
        self.at = self.at.max(start);
        for (number, block) in blocks.from(self.block) {
            let span = block.span();
            if span.end > opener {
                break;
            }
            self.block = number + 1;
            if block.is_closed() || self.ended.binary_search(&number).is_ok() {
                self.pass(span.start, text);
                self.at = self.at.max(span.end);
            }
        }
        self.pass(opener, text);
        // From the end: what stands before the last opener ends the search.
        let behind = |(line, _): (Span, Fence)| Span::new(line.end, opener).of(text).trim_end().is_empty();
        self.open.is_some_and(behind)
    }

    /// Pairs the fences up to a place.
    fn pass(&mut self, end: usize, text: &str) {
        if end <= self.at {
            return;
        }
        for (line, fence) in fence_lines(Span::new(self.at, end), text) {
            self.open = Fence::after(line, fence, self.open);
        }
        self.at = end;
    }
}
