//! Outer fence: is one fence around the whole answer?
//!
//! In: the response so far, and whether it is complete.
//! Out: [`OuterFence`], which is certain only if just white space follows its closer up to the end.
//! Never: accepts a fence that closes before the answer ends.
//!
//! Fences inside it pair up like masks. If one of them is unpaired, it was never closed, and the very last line closes
//! the outer fence.

use super::Masks;
use super::fence::{BeforeFence, FenceLine, JoinedTo, fence_line, fence_start, line_break};
use crate::text::{Slice, Span, beginning};
use std::task::Poll;

/// The state of the search for a fence around the whole answer.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum OuterFence {
    /// So far there is only white space up to this offset.
    Unknown(usize),
    /// The outer fence is open: the open fences, the last line so far that could close it, and where the search continues.
    Open {
        stack: Vec<OpenFence>,
        opener: Span,
        last: Option<Span>,
        from: usize,
    },
    /// The outer fence is closed here; only white space follows up to `seen`.
    Closed {
        opener: Span,
        closer: Span,
        seen: usize,
    },
    Absent,
    Found {
        opener: Span,
        closer: Span,
    },
}

/// An open fence: its character, its length, and the text before it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct OpenFence {
    mark: u8,
    length: usize,
    before: BeforeFence,
}

impl OpenFence {
    fn new(mark: u8, line: &FenceLine, before: BeforeFence) -> Self {
        Self { mark, length: line.length, before }
    }

    /// Whether this line may close the fence.
    fn ends_with(self, closer: Self) -> bool {
        self.mark == closer.mark && closer.length >= self.length && self.before.is_closed_by(closer.before)
    }
}

impl Masks {
    /// The opener and closer of the fence around the whole answer, which is known only at the end.
    pub(crate) fn outer_fence(&self) -> Option<(Span, Span)> {
        match &self.outer_fence {
            OuterFence::Found { opener, closer } => Some((*opener, *closer)),
            _ => None,
        }
    }

    /// Treats the fence around the whole answer as text, before anything in it has been searched for.
    pub(crate) fn treat_outer_fence_as_text(&mut self) {
        self.outer_fence = OuterFence::Absent;
        self.decided = 0;
        self.resume = 0;
    }

    /// Whether it is known if a fence is around the whole answer.
    pub(crate) fn find_outer_fence(&mut self, text: &str, complete: bool) -> bool {
        let bytes = text.as_bytes();
        if let OuterFence::Unknown(seen) = self.outer_fence {
            let seen = seen.max(beginning(text));
            let rest = bytes.slice(seen..);
            let Some(first) = rest.iter().position(|byte| !byte.is_ascii_whitespace()).map(|first| seen + first) else {
                self.outer_fence = if complete { OuterFence::Absent } else { OuterFence::Unknown(bytes.len()) };
                return complete;
            };
            self.outer_fence = OuterFence::Unknown(first);
            if !complete && matches!(bytes.get(first), Some(b'`' | b'~')) {
                // The part of the first line that has arrived may still become a fence.
                let run = self.seen.opener.run(bytes, first);
                if run == bytes.len() || (run - first >= 3 && self.seen.opening_line.line(bytes, run).is_none()) {
                    return false;
                }
            }
            let start = fence_start(bytes, first);
            match start.and_then(|_| fence_line(bytes, first, complete)).filter(|line| line.opens) {
                None => self.outer_fence = OuterFence::Absent,
                Some(line) => {
                    let mark = bytes.get(first).copied().unwrap_or_default();
                    let next = (line.end + line_break(bytes, line.end)).min(bytes.len());
                    let opener = Span::new(start.unwrap_or(first), next);
                    let stack = vec![OpenFence::new(mark, &line, BeforeFence::Margin)];
                    self.outer_fence = OuterFence::Open { stack, opener, last: None, from: next };
                }
            }
        }
        if let OuterFence::Open { .. } = self.outer_fence
            && !self.close_outer_fence(bytes, complete)
        {
            return false;
        }
        if let OuterFence::Closed { opener, closer, seen } = self.outer_fence {
            let rest = bytes.slice(seen..);
            if rest.iter().any(|byte| !byte.is_ascii_whitespace()) {
                self.outer_fence = OuterFence::Absent;
            } else if complete {
                self.outer_fence = OuterFence::Found { opener, closer };
                self.decided = opener.end;
                self.resume = opener.end;
            } else {
                self.outer_fence = OuterFence::Closed { opener, closer, seen: bytes.len() };
                return false;
            }
        }
        true
    }

    /// Searches for the line that closes the outer fence; false while it may still arrive.
    fn close_outer_fence(&mut self, bytes: &[u8], complete: bool) -> bool {
        let OuterFence::Open { mut stack, opener, mut last, mut from } =
            std::mem::replace(&mut self.outer_fence, OuterFence::Absent)
        else {
            return true;
        };
        while let Some(offset) = memchr::memchr2(b'`', b'~', bytes.slice(from..)) {
            let at = from + offset;
            let run = self.seen.opener.run(bytes, at);
            let line = if run == bytes.len() && !complete {
                Poll::Pending
            } else {
                self.seen.fence_at(bytes, at, run, complete)
            };
            let Poll::Ready(line) = line else {
                self.outer_fence = OuterFence::Open { stack, opener, last, from: at };
                return false;
            };
            let Some((before, line)) = line.filter(|(_, line)| line.joined != JoinedTo::Text) else {
                from = run;
                continue;
            };
            let next = line.end + line_break(bytes, line.end);
            let mark = bytes.get(at).copied().unwrap_or_default();
            let fence = OpenFence::new(mark, &line, before);
            let closes = if stack.len() > 1 { line.closes } else { line.bare && line.closes };
            let start = fence_start(bytes, at).filter(|_| line.bare);
            if start.is_some() && stack.first().is_some_and(|open| open.ends_with(fence)) {
                last = start.map(|start| Span::new(start, next));
            }
            if closes && stack.last().is_some_and(|open| open.ends_with(fence)) {
                stack.pop();
            } else if line.opens && !(line.bare && line.closes && before != BeforeFence::Item) && stack.len() < 64 {
                stack.push(fence);
            }
            if let (true, Some(closer)) = (stack.is_empty(), last) {
                self.outer_fence = OuterFence::Closed { opener, closer, seen: closer.end };
                return true;
            }
            from = next;
        }
        if !complete {
            self.outer_fence = OuterFence::Open { stack, opener, last, from: bytes.len() };
        } else if let Some(closer) = last {
            self.outer_fence = OuterFence::Closed { opener, closer, seen: closer.end };
        }
        complete
    }
}
