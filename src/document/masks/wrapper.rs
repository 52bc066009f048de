//! Wrapper: does one fence stand around the whole answer?
//!
//! In: the response as far as it has come, and whether more may come.
//! Out: [`Wrapper`], found only once nothing but white space follows its closer to the end.
//! Never: takes a fence for it that closes before the answer ends.

use super::Masks;
use super::fence::{fence_line, fence_start, line_break, run_end};
use crate::text::Span;

/// What is known of a fence around the whole answer.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum Wrapper {
    /// Only white space has come up to this place.
    Unknown(usize),
    /// It opened; the fences that are open, and where the search for the next goes on.
    Open {
        stack: Vec<(u8, usize)>,
        opener: Span,
        from: usize,
    },
    /// It closed here; only white space has followed up to `seen`.
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

impl Masks {
    /// The opener and the closer of the fence around the whole answer; known only at its end.
    pub(crate) fn wrapper(&self) -> Option<(Span, Span)> {
        match &self.wrapper {
            Wrapper::Found { opener, closer } => Some((*opener, *closer)),
            _ => None,
        }
    }

    /// Whether it is known if a fence stands around the whole answer.
    pub(crate) fn settle_wrapper(&mut self, text: &str, complete: bool) -> bool {
        let bytes = text.as_bytes();
        if let Wrapper::Unknown(seen) = self.wrapper {
            // A byte order mark is no text.
            let seen = if seen == 0 && text.starts_with('\u{feff}') { '\u{feff}'.len_utf8() } else { seen };
            let rest = bytes.get(seen..).unwrap_or_default();
            let Some(first) = rest.iter().position(|byte| !byte.is_ascii_whitespace()).map(|first| seen + first) else {
                self.wrapper = if complete { Wrapper::Absent } else { Wrapper::Unknown(bytes.len()) };
                return complete;
            };
            self.wrapper = Wrapper::Unknown(first);
            if !complete && matches!(bytes.get(first), Some(b'`' | b'~')) {
                // What has come so far of the first line may still become a fence.
                let run = self.seen.opener.run(bytes, first);
                if run == bytes.len() || (run - first >= 3 && self.seen.opening_line.line(bytes, run).is_none()) {
                    return false;
                }
            }
            let start = fence_start(bytes, first);
            match start.and_then(|_| fence_line(bytes, first, complete)) {
                None => self.wrapper = Wrapper::Absent,
                Some(line) => {
                    let mark = bytes.get(first).copied().unwrap_or_default();
                    let next = (line.end + line_break(bytes, line.end)).min(bytes.len());
                    let opener = Span::new(start.unwrap_or(first), next);
                    self.wrapper = Wrapper::Open { stack: vec![(mark, line.length)], opener, from: next };
                }
            }
        }
        if let Wrapper::Open { .. } = self.wrapper {
            let Wrapper::Open { mut stack, opener, mut from } = std::mem::replace(&mut self.wrapper, Wrapper::Absent)
            else {
                return true;
            };
            loop {
                let Some(offset) = memchr::memchr2(b'`', b'~', bytes.get(from..).unwrap_or_default()) else {
                    if !complete {
                        self.wrapper = Wrapper::Open { stack, opener, from: bytes.len() };
                    }
                    return complete;
                };
                let at = from + offset;
                let Some(start) = fence_start(bytes, at) else {
                    from = run_end(bytes, at);
                    continue;
                };
                let line_end = self.seen.closing_line.line(bytes, at);
                if line_end.is_none() && !complete {
                    self.wrapper = Wrapper::Open { stack, opener, from: at };
                    return false;
                }
                let next = line_end.map_or(bytes.len(), |end| end + 1);
                if let Some(fence) = fence_line(bytes, at, complete) {
                    let mark = bytes.get(at).copied().unwrap_or_default();
                    match stack.last().copied() {
                        Some((open, length)) if fence.bare && open == mark && fence.length >= length => {
                            stack.pop();
                        }
                        Some(_) if !fence.bare && stack.len() < 64 => stack.push((mark, fence.length)),
                        _ => {}
                    }
                    if stack.is_empty() {
                        self.wrapper = Wrapper::Closed { opener, closer: Span::new(start, next), seen: next };
                        break;
                    }
                }
                from = next;
            }
        }
        if let Wrapper::Closed { opener, closer, seen } = self.wrapper {
            let rest = bytes.get(seen..).unwrap_or_default();
            if rest.iter().any(|byte| !byte.is_ascii_whitespace()) {
                self.wrapper = Wrapper::Absent;
            } else if complete {
                self.wrapper = Wrapper::Found { opener, closer };
                self.decided = opener.end;
                self.resume = opener.end;
            } else {
                self.wrapper = Wrapper::Closed { opener, closer, seen: bytes.len() };
                return false;
            }
        }
        true
    }
}
