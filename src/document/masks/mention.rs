//! Mention: does a fence behind other text open, or is it only mentioned?
//!
//! In: a fence that ends its line, but does not start it.
//! Out: the text up to the line that closes it, if it opens, or else the code span that it starts, if it does.
//! Never: takes a text out of a fence that CommonMark finds.
//!
//! For CommonMark, such a fence is text, but a model means an example (`` **Example:** ``` ``). Fences without a word
//! alternate: if it opens, the next one closes it, and the one after that opens. So the next fence that can only open,
//! or the end of the text, decides: there, all fences before it must be closed.

use super::opener::Opening;
use super::{Mask, MaskSearch, Masks, Quotes, Seen};
use crate::document::ready_if;
use crate::text::{Slice, Span};
use std::task::{Poll, ready};

/// The state of the search from the fence at `at`.
#[derive(Debug, Clone, Default)]
pub(super) struct MentionSearch {
    at: usize,
    /// Whether the fence starts no code span.
    is_no_span: bool,
    /// How far the text has been searched.
    searched: usize,
    seen: Seen,
    /// The end of the first fence that would close this one.
    closer: Option<usize>,
    /// Whether no fence is open there, if this one opens.
    is_closed: bool,
}

impl Masks {
    /// The mask that starts with such a fence.
    pub(super) fn mention_end(&mut self, opening: &Opening<'_>) -> MaskSearch {
        let Opening { bytes, at, line, complete, .. } = *opening;
        if self.mention.at != at {
            self.mention = MentionSearch { at, searched: line.end, ..MentionSearch::default() };
        }
        if self.kinds.spans && opening.mark() == b'`' && !self.mention.is_no_span {
            match self.span_end(bytes, at, line.marks, complete) {
                MaskSearch::Absent => self.mention.is_no_span = true,
                sought => return sought,
            }
        }
        match self.mention.end(opening) {
            Poll::Pending => MaskSearch::Pending,
            Poll::Ready(Some(end)) => MaskSearch::Found(Mask::new(Span::new(at, end), Quotes::Fence)),
            Poll::Ready(None) => {
                // If only the end of the text decided, the line that closes the fence may have been cut off.
                if self.mention.searched == bytes.len() {
                    self.cut_quotations.push(at);
                }
                MaskSearch::Absent
            }
        }
    }
}

impl MentionSearch {
    /// The end of the fence, if it opens; pending while more text is needed.
    fn end(&mut self, opening: &Opening<'_>) -> Poll<Option<usize>> {
        let Opening { bytes, before: own, line: open, complete, .. } = *opening;
        while let Some(offset) = memchr::memchr(opening.mark(), bytes.slice(self.searched..)) {
            let hit = self.searched + offset;
            self.searched = hit;
            let run = self.seen.closer.run(bytes, hit);
            if run == bytes.len() && !complete {
                return Poll::Pending;
            }
            let fence = ready!(self.seen.fence_at(bytes, hit, run, complete));
            self.searched = run;
            let Some((before, line)) = fence else { continue };
            if line.closes && own.is_closed_by(before) {
                if line.length >= open.length {
                    self.is_closed = !self.is_closed;
                    self.closer.get_or_insert(line.marks);
                }
            } else if line.opens {
                return Poll::Ready(self.closer.filter(|_| self.is_closed));
            }
        }
        self.searched = bytes.len();
        ready_if(complete, self.closer.filter(|_| self.is_closed))
    }
}
