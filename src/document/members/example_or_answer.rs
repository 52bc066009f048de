//! Example or answer: is an object the answer, or only an example?
//!
//! In: the text around an object, and between it and the objects before.
//! Out: whether it is in a code span or quotation marks on a line with other words, or in a code fence while another
//! object is the answer.
//! Never: looks into an object, or examines the text between two objects more than once.
//!
//! A model that explains writes examples. An object in a fence or span around the whole answer is not one. But if an
//! object is outside all fences, it is the answer, and objects in fences next to it are examples.

use crate::document::masks::{marks_around, open_mark};
use crate::document::trim::{Fence, fence_lines};
use crate::text::{Slice, Span};

/// The state of the text around the objects of a response, as far as it has been read.
#[derive(Debug, Default)]
pub(super) struct ObjectSurroundings {
    /// The offset at which the answer starts.
    origin: usize,
    /// Everything before this offset belongs to objects, or has been examined.
    pub(super) at: usize,
    fence: Option<(Span, Fence)>,
    /// For runs of one and two backticks: no such run follows before this offset.
    unclosed: [usize; 2],
    /// The starts of the code spans and quotation marks before objects that only the end of the text leaves open.
    pub(super) cut_quotations: Vec<usize>,
    /// Whether an object was read in a fence that comes after other text.
    has_example: bool,
    /// Whether an object that may be the answer was read outside all fences.
    has_answer: bool,
}

/// The text around an object.
#[derive(Debug, Clone, Copy)]
pub(super) struct Surroundings {
    /// Whether it is in a fence that comes after other text.
    pub(super) has_example: bool,
    fenced: bool,
    /// Whether only white space is before it on its line.
    is_first: bool,
}

impl ObjectSurroundings {
    pub(super) fn new(origin: usize) -> Self {
        Self { origin, at: origin, ..Self::default() }
    }

    /// Whether the answer starts here.
    pub(super) fn begins(&self, at: usize) -> bool {
        at == self.origin
    }

    /// Moves to the object whose brace is at `brace`; the text from `start` to `brace` is the line of a fence.
    pub(super) fn pass(&mut self, text: &str, start: usize, brace: usize) -> Surroundings {
        let before = Span::new(self.at.min(start), start);
        // The text from `start` on may begin in the middle of a line, so it is examined separately.
        for part in [before, Span::new(start, brace)] {
            for (line, fence) in fence_lines(part, text) {
                self.fence = Fence::after(line, fence, self.fence);
            }
        }
        let fenced = self.fence.is_some();
        let is_first = self.is_first(before, text);
        Surroundings { has_example: fenced && start > self.origin, fenced, is_first }
    }

    /// Whether only white space is between the line break before the object, or the start of the answer, and the
    /// object.
    fn is_first(&self, before: Span, text: &str) -> bool {
        let before_on_line = before.of(text).rsplit('\n').next().unwrap_or_default();
        let has_break = before_on_line.len() < before.len();
        before_on_line.trim().is_empty() && (has_break || before.start == self.origin)
    }

    /// Notes that an object with a name that the dialect declares was read.
    pub(super) fn note(&mut self, around: Surroundings) {
        self.has_example |= around.has_example;
        self.has_answer |= !around.fenced && (around.is_first || !self.has_example);
    }

    /// Whether there are examples next to the answer.
    pub(super) fn has_examples(&self) -> bool {
        self.has_example && self.has_answer
    }

    /// The end of the code span that opens directly before `brace`, if it closes after `end` and other words are on its
    /// lines: a span around the whole answer is no example.
    pub(super) fn span_end(&mut self, text: &str, brace: usize, end: usize) -> Option<usize> {
        let before = Span::new(self.at, brace);
        let length = before.of(text).bytes().rev().take(3).take_while(|byte| *byte == b'`').count();
        let closer = self.closer(text.as_bytes(), end, length)?;
        self.has_words(Span::new(brace - length, closer), text).then_some(closer)
    }

    /// The end of the closing quotation mark directly after an object whose opening mark is directly before it, if
    /// other words are on the lines of the quotation.
    pub(super) fn marks_end(&self, text: &str, object: Span) -> Option<usize> {
        let (mark, behind) = marks_around(text, object)?;
        (mark >= self.at && self.has_words(Span::new(mark, behind), text)).then_some(behind)
    }

    /// Notes the quotation that opens directly before an object, if only the end of the text leaves it open and other
    /// words are before it on its line.
    pub(super) fn note_cut_quotation(&mut self, text: &str, object: Span, marks: bool) {
        let before = Span::new(self.at, object.start);
        let length = before.of(text).bytes().rev().take_while(|byte| *byte == b'`').count();
        let unclosed = length.checked_sub(1).and_then(|at| self.unclosed.get(at));
        let open = if unclosed == Some(&text.len()) {
            Some(object.start - length)
        } else {
            open_mark(text, object).filter(|at| marks && *at >= self.at)
        };
        self.cut_quotations.extend(open.filter(|at| !self.is_first(Span::new(self.at, *at), text)));
    }

    /// Whether there are other words on the lines of a quotation.
    fn has_words(&self, quotation: Span, text: &str) -> bool {
        let mut behind = text.slice(quotation.end..).chars().take_while(|one| *one != '\n');
        !self.is_first(Span::new(self.at, quotation.start), text) || behind.any(char::is_alphanumeric)
    }

    /// The end of the next run of `length` backticks in this paragraph.
    fn closer(&mut self, bytes: &[u8], from: usize, length: usize) -> Option<usize> {
        let unclosed = self.unclosed.get_mut(length.checked_sub(1)?)?;
        let mut at = from;
        // Before this offset, the paragraph is known to contain no closing backticks.
        while at >= *unclosed {
            let rest = bytes.get(at..)?;
            let Some(offset) = memchr::memchr2(b'`', b'\n', rest) else {
                *unclosed = bytes.len();
                return None;
            };
            at += offset;
            if bytes.get(at) == Some(&b'\n') {
                at += 1;
                let line = bytes.get(at..)?.iter().find(|byte| !matches!(byte, b' ' | b'\t' | b'\r'));
                if matches!(line, None | Some(b'\n')) {
                    *unclosed = at;
                    return None;
                }
                continue;
            }
            let run = bytes.get(at..)?.iter().take_while(|byte| **byte == b'`').count();
            at += run;
            if run == length {
                return Some(at);
            }
        }
        None
    }
}
