//! Spans: where does a code span close?
//!
//! In: a run of backticks, and the response from there on.
//! Out: the span up to a run of the same length in the same paragraph, or that there is none.
//! Never: searches the rest of a paragraph twice: the runs in it are noted.

use super::fence::run_end;
use super::{Mask, MaskSearch, Masks, Quotes};
use crate::text::{Slice, Span};

impl Masks {
    pub(super) fn span_end(&mut self, bytes: &[u8], at: usize, run: usize, complete: bool) -> MaskSearch {
        let length = run - at;
        if self.runs.known && at < self.paragraph && !self.runs.after(length, at) {
            if complete && self.paragraph == bytes.len() {
                self.cut_quotations.push(at);
            }
            return MaskSearch::Absent;
        }
        let mut from = self.resume.max(run);
        loop {
            let rest = bytes.slice(from..);
            let Some(offset) = memchr::memchr2(b'`', b'\n', rest) else {
                self.resume = bytes.len();
                if !complete {
                    return MaskSearch::Pending;
                }
                self.cut_quotations.push(at);
                return self.end_paragraph(bytes, run, bytes.len());
            };
            let hit = from + offset;
            if bytes.get(hit) == Some(&b'\n') {
                match self.paragraph_goes_on(bytes, hit, complete) {
                    Some(true) => from = hit + 1,
                    Some(false) => return self.end_paragraph(bytes, run, hit),
                    None => {
                        self.resume = hit;
                        return MaskSearch::Pending;
                    }
                }
                continue;
            }
            let end = self.seen.closer.run(bytes, hit);
            if end == bytes.len() && !complete {
                self.resume = hit;
                return MaskSearch::Pending;
            }
            if end - hit == length {
                return MaskSearch::Found(Mask::new(Span::new(at, end), Quotes::Span));
            }
            from = end;
        }
    }

    /// Whether the paragraph continues after the line break at `at`; `None` if too little of the next line has arrived.
    fn paragraph_goes_on(&mut self, bytes: &[u8], at: usize, complete: bool) -> Option<bool> {
        let Some(first) = self.seen.blanks.past_blanks(bytes, at + 1) else { return complete.then_some(false) };
        match bytes.get(first) {
            Some(b'\n') => Some(false),
            Some(b'`' | b'~') if first - at <= 4 => {
                let run = self.seen.closer.run(bytes, first);
                if run == bytes.len() && !complete { None } else { Some(run - first < 3) }
            }
            // A block quote continues from line to line.
            Some(b'>') => Some(line_before(bytes, at).starts_with(b">")),
            Some(b'#' | b'-' | b'+' | b'*' | b'_' | b'=' | b'0'..=b'9') => {
                let has_come = complete || self.seen.closing_line.line(bytes, first).is_some();
                has_come.then(|| !starts_block(bytes, first) && !is_heading(line_before(bytes, at)))
            }
            _ => Some(!is_heading(line_before(bytes, at))),
        }
    }

    /// The span is not closed before the end of its paragraph: notes the runs in the rest of the paragraph.
    fn end_paragraph(&mut self, bytes: &[u8], from: usize, end: usize) -> MaskSearch {
        self.runs.clear();
        self.paragraph = end;
        let mut from = from;
        while let Some(offset) = memchr::memchr(b'`', bytes.slice(from..end)) {
            let hit = from + offset;
            from = run_end(bytes, hit);
            self.runs.note(from - hit, hit);
        }
        MaskSearch::Absent
    }
}

/// The line that ends at `end`, without leading white space.
fn line_before(bytes: &[u8], end: usize) -> &[u8] {
    let before = bytes.slice(..end);
    let start = memchr::memrchr(b'\n', before).map_or(0, |at| at + 1);
    before.slice(start..).trim_ascii_start()
}

/// Whether a line is a heading (CommonMark 0.31, §4.2).
fn is_heading(line: &[u8]) -> bool {
    let level = if line.first() == Some(&b'#') { run_end(line, 0) } else { 0 };
    (1..=6).contains(&level) && matches!(line.get(level), None | Some(b' ' | b'\t' | b'\r'))
}

/// Whether a line whose first character is at `first` ends the paragraph before it: a list item, a heading or its
/// underline, a thematic break (CommonMark 0.31, §4.1, §4.3, §5.2).
fn starts_block(bytes: &[u8], first: usize) -> bool {
    let rest = bytes.slice(first..);
    let line = memchr::memchr(b'\n', rest).and_then(|end| rest.get(..end)).unwrap_or(rest).trim_ascii_end();
    let blank_at = |at: usize| matches!(line.get(at), Some(b' ' | b'\t'));
    let only = |mark: &u8| line.iter().all(|byte| byte == mark || matches!(byte, b' ' | b'\t'));
    match line.first() {
        Some(b'#') => is_heading(line),
        Some(b'=' | b'-') if run_end(line, 0) == line.len() => true,
        Some(mark @ (b'*' | b'_' | b'-')) if only(mark) => line.iter().filter(|byte| *byte == mark).count() >= 3,
        Some(b'-' | b'+' | b'*') => blank_at(1),
        Some(b'0'..=b'9') => {
            let digits = line.iter().take_while(|byte| byte.is_ascii_digit()).count();
            digits <= 9 && matches!(line.get(digits), Some(b'.' | b')')) && blank_at(digits + 1)
        }
        _ => false,
    }
}
