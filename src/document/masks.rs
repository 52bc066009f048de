//! Masks: where is text only quoted?
//!
//! In: the response as far as it has come, and whether more may come.
//! Out: the closed code fences and code spans of Markdown, in order, and the fence around a whole answer.
//! Never: looks at blocks: an opener in a mask is text, whatever stands around it.
//!
//! Fences and spans follow CommonMark 0.31 (§4.5, §6.1) with differences that models need: a fence that nothing closes is
//! no mask; a code span ends with its paragraph; and a fence may be glued to the tags around it, as in `` <a>```xml `` and
//! `` ```</a> ``. Every byte is looked at a bounded number of
//! times: before the end is known one search is under way at a time and goes on where it stopped; afterwards a
//! table of the last places of each length says whether a search can succeed before it is begun.

use crate::text::{Span, Stretch};

/// Which masks a dialect has.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub(crate) struct Kinds {
    pub(crate) fences: bool,
    pub(crate) spans: bool,
    /// Whether one fence around the whole answer is taken off.
    pub(crate) wrapper: bool,
}

/// One mask. There may be very many.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Mask {
    span: Stretch,
    /// A fence, not a span.
    pub(crate) fence: bool,
}

impl Mask {
    fn new(span: Span, fence: bool) -> Self {
        Self { span: span.into(), fence }
    }

    pub(crate) fn span(self) -> Span {
        self.span.span()
    }
}

/// The masks of a response, found from its start to its end.
#[derive(Debug, Clone)]
pub(crate) struct Masks {
    kinds: Kinds,
    found: Vec<Mask>,
    wrapper: Wrapper,
    /// Everything before this place is decided.
    decided: usize,
    /// Where the search for the end of the mask that may start at `decided` goes on.
    resume: usize,
    fences: [Last; 2],
    runs: Last,
    /// The end of the paragraph that `runs` describes.
    paragraph: usize,
    seen: Seen,
}

/// What is already known of text whose end has not come: each search goes on where it stopped.
#[derive(Debug, Clone, Default)]
struct Seen {
    /// The run of marks that may open a mask.
    opener: Search,
    /// The run of marks that may close it.
    closer: Search,
    /// The end of the line of either.
    opening_line: Search,
    closing_line: Search,
    /// The white space behind a line break.
    blanks: Search,
    /// The fence that opens at the place.
    fence: Option<(usize, FenceLine)>,
}

/// A search that starts at one place and has come to another.
#[derive(Debug, Clone, Copy, Default)]
struct Search {
    start: usize,
    at: usize,
}

impl Search {
    /// Goes on to the first byte that `stops`; the end of the text if there is none yet.
    fn go_on(&mut self, bytes: &[u8], start: usize, find: impl Fn(&[u8]) -> Option<usize>) -> Option<usize> {
        if self.start != start || self.at < start {
            *self = Search { start, at: start };
        }
        let found = find(bytes.get(self.at..).unwrap_or_default());
        self.at = found.map_or(bytes.len(), |found| self.at + found);
        found.map(|_| self.at)
    }

    /// The end of the run of marks that starts here.
    fn run(&mut self, bytes: &[u8], start: usize) -> usize {
        let mark = bytes.get(start).copied();
        self.go_on(bytes, start, |rest| rest.iter().position(|byte| Some(*byte) != mark)).unwrap_or(bytes.len())
    }

    /// The end of the line, if its break has come.
    fn line(&mut self, bytes: &[u8], start: usize) -> Option<usize> {
        self.go_on(bytes, start, |rest| memchr::memchr(b'\n', rest))
    }

    /// The first byte that is no blank.
    fn past_blanks(&mut self, bytes: &[u8], start: usize) -> Option<usize> {
        self.go_on(bytes, start, |rest| rest.iter().position(|byte| !matches!(byte, b' ' | b'\t' | b'\r')))
    }
}

/// What is known of a fence around the whole answer.
#[derive(Debug, Clone, PartialEq, Eq)]
enum Wrapper {
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

/// Lengths beyond this one are treated alike.
const LONGEST: usize = 255;
const NOWHERE: usize = usize::MAX;

/// For each length, the last place where a run that long starts; by then `from` or longer, if asked so.
#[derive(Debug, Clone)]
struct Last {
    known: bool,
    at: Vec<usize>,
}

impl Last {
    fn new() -> Self {
        Self { known: false, at: Vec::new() }
    }

    fn clear(&mut self) {
        self.known = true;
        self.at.clear();
        self.at.resize(LONGEST + 1, NOWHERE);
    }

    fn note(&mut self, length: usize, place: usize) {
        if let Some(slot) = self.at.get_mut(length.min(LONGEST)) {
            *slot = place;
        }
    }

    /// Turns "exactly this long" into "at least this long".
    fn accumulate(&mut self) {
        let mut last = NOWHERE;
        for slot in self.at.iter_mut().rev() {
            if *slot != NOWHERE && (last == NOWHERE || *slot > last) {
                last = *slot;
            }
            *slot = last;
        }
    }

    fn after(&self, length: usize, place: usize) -> bool {
        self.at.get(length.min(LONGEST)).is_some_and(|last| *last != NOWHERE && *last > place)
    }
}

/// A line that starts with a run of fence marks.
#[derive(Debug, Clone, Copy)]
struct FenceLine {
    length: usize,
    bare: bool,
    /// Whether it may close a fence: it is bare, or glued to a tag.
    closes: bool,
    /// The end of the marks.
    marks: usize,
    /// The end of the line, before its break.
    end: usize,
}

/// What became of the search for one mask.
enum Sought {
    Found(Mask),
    Absent,
    Pending,
}

impl Masks {
    pub(crate) fn new(kinds: Kinds) -> Self {
        Self {
            kinds,
            found: Vec::new(),
            wrapper: if kinds.wrapper { Wrapper::Unknown(0) } else { Wrapper::Absent },
            decided: 0,
            resume: 0,
            fences: [Last::new(), Last::new()],
            runs: Last::new(),
            paragraph: 0,
            seen: Seen::default(),
        }
    }

    /// Everything before this place is known to be masked or not.
    pub(crate) fn decided(&self) -> usize {
        self.decided
    }

    /// The opener and the closer of the fence around the whole answer; known only at its end.
    pub(crate) fn wrapper(&self) -> Option<(Span, Span)> {
        match &self.wrapper {
            Wrapper::Found { opener, closer } => Some((*opener, *closer)),
            _ => None,
        }
    }

    /// The mask around `at`. `cursor` remembers where the last look-up ended, for look-ups in order.
    pub(crate) fn covering(&self, at: usize, cursor: &mut usize) -> Option<Mask> {
        while self.found.get(*cursor).is_some_and(|mask| mask.span().end <= at) {
            *cursor += 1;
        }
        self.found.get(*cursor).copied().filter(|mask| mask.span().contains(at))
    }

    /// The masks so far, in order.
    pub(crate) fn found(&self) -> &[Mask] {
        &self.found
    }

    /// All masks but the `void` ones, both in order.
    pub(crate) fn into_found(mut self, void: &[Span]) -> Vec<Mask> {
        self.found.retain(|mask| void.binary_search(&mask.span()).is_err());
        self.found
    }

    /// Looks for masks up to `limit`, in a text of which it is settled whether a fence stands around it.
    pub(crate) fn advance(&mut self, text: &str, complete: bool, limit: usize) {
        let end = self.wrapper().map_or(text.len(), |(_, closer)| closer.start);
        let bytes = text.as_bytes().get(..end).unwrap_or_default();
        let limit = end.min(limit);
        while self.decided < limit {
            let rest = bytes.get(self.decided..limit).filter(|_| self.kinds.fences || self.kinds.spans);
            let Some(offset) = rest.and_then(|rest| memchr::memchr2(b'`', b'~', rest)) else {
                self.decided = limit;
                break;
            };
            let at = self.decided + offset;
            if at != self.decided {
                self.decided = at;
                self.resume = at;
            }
            match self.mask_at(bytes, at, complete) {
                Sought::Found(mask) => {
                    self.found.push(mask);
                    self.decided = mask.span().end;
                    self.resume = mask.span().end;
                }
                Sought::Absent => {
                    self.decided = run_end(bytes, at);
                    self.resume = self.decided;
                }
                Sought::Pending => return,
            }
        }
        if self.decided >= end {
            self.decided = text.len();
        }
    }

    /// Whether it is known if a fence stands around the whole answer.
    pub(crate) fn settle_wrapper(&mut self, text: &str, complete: bool) -> bool {
        let bytes = text.as_bytes();
        if let Wrapper::Unknown(seen) = self.wrapper {
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
            match start.and_then(|start| fence_line(bytes, start, complete)) {
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
                if let Some(fence) = fence_line(bytes, start, complete) {
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

    /// The mask that starts with the run of marks at `at`.
    fn mask_at(&mut self, bytes: &[u8], at: usize, complete: bool) -> Sought {
        let mark = bytes.get(at).copied().unwrap_or_default();
        let run = self.seen.opener.run(bytes, at);
        if run == bytes.len() && !complete {
            return Sought::Pending;
        }
        if run - at >= 3 && (self.kinds.fences || fence_start(bytes, at).is_some()) {
            if !complete && self.seen.opening_line.line(bytes, run).is_none() {
                return Sought::Pending;
            }
            let start = fence_start(bytes, at);
            let line = match self.seen.fence {
                Some((known, line)) if known == at => Some(line),
                _ => match start {
                    Some(start) => fence_line(bytes, start, complete),
                    None => glued_fence(bytes, at, run),
                },
            };
            self.seen.fence = line.map(|line| (at, line));
            match line {
                Some(line) if self.kinds.fences => match self.fence_end(bytes, at, mark, &line, complete) {
                    // It may still be a span.
                    Sought::Absent if start.is_none() => self.resume = at,
                    sought => return sought,
                },
                Some(_) => return Sought::Absent,
                None => {}
            }
        }
        if mark != b'`' || !self.kinds.spans {
            return Sought::Absent;
        }
        self.span_end(bytes, at, run, complete)
    }

    fn fence_end(&mut self, bytes: &[u8], at: usize, mark: u8, open: &FenceLine, complete: bool) -> Sought {
        let slot = usize::from(mark == b'~');
        let ends = |line: &FenceLine| line.closes && line.length >= open.length;
        if let Some(last) = self.fences.get(slot)
            && last.known
            && !last.after(open.length, open.marks)
        {
            return Sought::Absent;
        }
        let mut from = self.resume.max(open.end);
        while let Some(offset) = memchr::memchr(mark, bytes.get(from..).unwrap_or_default()) {
            let hit = from + offset;
            let run = self.seen.closer.run(bytes, hit);
            if run == bytes.len() && !complete {
                self.resume = hit;
                return Sought::Pending;
            }
            if run - hit >= 3
                && let Some(start) = fence_start(bytes, hit)
            {
                if !complete && self.seen.closing_line.line(bytes, run).is_none() {
                    self.resume = hit;
                    return Sought::Pending;
                }
                if let Some(line) = fence_line(bytes, start, complete).filter(ends) {
                    return Sought::Found(Mask::new(Span::new(at, line.marks), true));
                }
            }
            from = run;
        }
        self.resume = bytes.len();
        if !complete {
            return Sought::Pending;
        }
        if let Some(last) = self.fences.get_mut(slot) {
            last.clear();
            let mut from = open.end;
            while let Some(offset) = memchr::memchr(mark, bytes.get(from..).unwrap_or_default()) {
                let hit = from + offset;
                if let Some(start) = fence_start(bytes, hit)
                    && let Some(line) = fence_line(bytes, start, true)
                    && line.closes
                {
                    last.note(line.length, hit);
                }
                from = run_end(bytes, hit);
            }
            last.accumulate();
        }
        Sought::Absent
    }

    fn span_end(&mut self, bytes: &[u8], at: usize, run: usize, complete: bool) -> Sought {
        let length = run - at;
        if length > LONGEST || (self.runs.known && at < self.paragraph && !self.runs.after(length, at)) {
            return Sought::Absent;
        }
        let mut from = self.resume.max(run);
        loop {
            let rest = bytes.get(from..).unwrap_or_default();
            let Some(offset) = memchr::memchr2(b'`', b'\n', rest) else {
                self.resume = bytes.len();
                return if complete { self.end_paragraph(bytes, run, bytes.len()) } else { Sought::Pending };
            };
            let hit = from + offset;
            if bytes.get(hit) == Some(&b'\n') {
                match self.paragraph_goes_on(bytes, hit, complete) {
                    Some(true) => from = hit + 1,
                    Some(false) => return self.end_paragraph(bytes, run, hit),
                    None => {
                        self.resume = hit;
                        return Sought::Pending;
                    }
                }
                continue;
            }
            let end = self.seen.closer.run(bytes, hit);
            if end == bytes.len() && !complete {
                self.resume = hit;
                return Sought::Pending;
            }
            if end - hit == length {
                return Sought::Found(Mask::new(Span::new(at, end), false));
            }
            from = end;
        }
    }

    /// Whether the paragraph goes on after the line break at `at`; unknown if the next line has not come yet.
    fn paragraph_goes_on(&mut self, bytes: &[u8], at: usize, complete: bool) -> Option<bool> {
        let Some(first) = self.seen.blanks.past_blanks(bytes, at + 1) else { return complete.then_some(false) };
        match bytes.get(first) {
            Some(b'\n') => Some(false),
            Some(b'`' | b'~') if first - at <= 4 => {
                let run = self.seen.closer.run(bytes, first);
                if run == bytes.len() && !complete { None } else { Some(run - first < 3) }
            }
            _ => Some(true),
        }
    }

    /// Nothing closes the span before the paragraph's end: remembers what the rest of the paragraph holds.
    fn end_paragraph(&mut self, bytes: &[u8], from: usize, end: usize) -> Sought {
        self.runs.clear();
        self.paragraph = end;
        let mut from = from;
        while let Some(offset) = memchr::memchr(b'`', bytes.get(from..end).unwrap_or_default()) {
            let hit = from + offset;
            from = run_end(bytes, hit);
            self.runs.note(from - hit, hit);
        }
        Sought::Absent
    }
}

/// The fence line that starts at `start`, if it is one and has come whole.
fn fence_line(bytes: &[u8], start: usize, complete: bool) -> Option<FenceLine> {
    let rest = bytes.get(start..).unwrap_or_default();
    let indent = rest.iter().position(|byte| *byte != b' ')?;
    let mark = rest.get(indent).copied().filter(|byte| matches!(byte, b'`' | b'~'))?;
    let marks = run_end(bytes, start + indent);
    let length = marks - start - indent;
    let line = memchr::memchr(b'\n', bytes.get(marks..).unwrap_or_default()).map(|offset| marks + offset);
    let end = line.or_else(|| complete.then_some(bytes.len()))?;
    let info = bytes.get(marks..end).unwrap_or_default();
    if indent > 3 || length < 3 || (mark == b'`' && info.contains(&b'`')) {
        return None;
    }
    let bare = info.iter().all(u8::is_ascii_whitespace);
    let closes = bare || matches!(info.first(), Some(b'<' | b'['));
    Some(FenceLine { length, bare, closes, marks, end })
}

/// The fence that opens behind other text on its line: a word of what it holds is glued to it, or it to a tag before it.
fn glued_fence(bytes: &[u8], at: usize, marks: usize) -> Option<FenceLine> {
    let rest = bytes.get(marks..).unwrap_or_default();
    let info = rest.get(..memchr::memchr(b'\n', rest)?)?;
    let end = marks + info.len();
    let info = info.trim_ascii_end();
    let word = info.iter().all(|byte| !byte.is_ascii_whitespace() && !matches!(byte, b'`' | b'<' | b'>'));
    let after_tag =
        at.checked_sub(1).and_then(|before| bytes.get(before)).is_some_and(|byte| matches!(byte, b'>' | b']'));
    let fence = FenceLine { length: marks - at, bare: info.is_empty(), closes: false, marks, end };
    (bytes.get(at) == Some(&b'`') && word && (after_tag || !info.is_empty())).then_some(fence)
}

fn run_end(bytes: &[u8], at: usize) -> usize {
    let mark = bytes.get(at);
    at + bytes.get(at..).unwrap_or_default().iter().take_while(|byte| Some(*byte) == mark).count()
}

/// Where the line starts of which at most three spaces stand before `at`.
fn fence_start(bytes: &[u8], at: usize) -> Option<usize> {
    let before = bytes.get(at.saturating_sub(4)..at).unwrap_or_default();
    let spaces = before.iter().rev().take_while(|byte| **byte == b' ').count();
    let start = at - spaces;
    (spaces <= 3 && (start == 0 || bytes.get(start - 1) == Some(&b'\n'))).then_some(start)
}

fn line_break(bytes: &[u8], at: usize) -> usize {
    usize::from(bytes.get(at) == Some(&b'\n'))
}

#[cfg(test)]
mod tests {
    use super::*;

    const ALL: Kinds = Kinds { fences: true, spans: true, wrapper: true };

    fn whole(text: &str) -> Masks {
        let mut masks = Masks::new(ALL);
        assert!(masks.settle_wrapper(text, true));
        masks.advance(text, true, usize::MAX);
        assert_eq!(masks.decided(), text.len());
        masks
    }

    #[track_caller]
    fn check(text: &str, expected: &[&str]) {
        let masks = whole(text);
        let found: Vec<&str> = masks.found.iter().map(|mask| mask.span().of(text)).collect();
        assert_eq!(found, expected, "{text:?}");
        for size in [1, 2, 3, 7] {
            let mut pieces = Masks::new(ALL);
            for end in (0..text.len()).step_by(size).filter(|end| text.is_char_boundary(*end)) {
                let part = text.get(..end).unwrap_or_default();
                if pieces.settle_wrapper(part, false) {
                    pieces.advance(part, false, end / 2);
                    pieces.advance(part, false, end);
                }
            }
            assert!(pieces.settle_wrapper(text, true));
            pieces.advance(text, true, text.len() / 2);
            pieces.advance(text, true, usize::MAX);
            assert_eq!(pieces.found, masks.found, "{text:?} in pieces of {size}");
            assert_eq!(pieces.wrapper(), masks.wrapper());
        }
    }

    #[test]
    fn spans_close_with_the_same_length_in_the_same_paragraph() {
        check("a `b` c", &["`b`"]);
        check("a `` b ` c `` d", &["`` b ` c ``"]);
        check("a ` b\n\n c ` d", &[]);
        check("a ` b\nc ` d", &["` b\nc `"]);
        check("`", &[]);
        check("```` ``` `` ` ```", &["``` `` ` ```"]);
    }

    #[test]
    fn fences_close_with_a_bare_line_at_least_as_long() {
        check("x\n```py\na\n```\nb", &["```py\na\n```"]);
        check("x\n````\n```\na\n`````\nb", &["````\n```\na\n`````"]);
        check("x\n~~~\n```\n~~~", &["~~~\n```\n~~~"]);
        check("x\n```\nnever closed", &[]);
        check("x\n```a\n```b\n", &[]);
        check("x\n    ```\n    a\n    ```\n", &["```\n    a\n    ```"]);
    }

    #[test]
    fn fences_may_be_glued_to_tags() {
        check("<a>```xml\n1\n```\n</a>", &["```xml\n1\n```"]);
        check("<a>\n```xml\n1\n```</a>", &["```xml\n1\n```"]);
        check("<a>```\n1\n```</a><b>2</b>", &["```\n1\n```"]);
        check("so: ```xml\n1\n```\nok", &["```xml\n1\n```"]);
        check("<a>```xml\n1</a>", &[]);
        check("use ``` here\n```\n1\n```\n", &["```\n1\n```"]);
    }

    #[test]
    fn one_fence_around_everything_is_a_wrapper() {
        let text = "\n```xml\n<a>\n```py\n1\n```\n</a>\n```\n \n";
        let masks = whole(text);
        let (opener, closer) = masks.wrapper().unwrap_or_default();
        assert_eq!((opener.of(text), closer.of(text)), ("```xml\n", "```\n"));
        check(text, &["```py\n1\n```"]);
        check("```\na\n```\nb\n```\nc\n```", &["```\na\n```", "```\nc\n```"]);
    }

    #[test]
    fn hostile_marks_cost_linear_time() {
        let mut ladder = String::new();
        for length in (1..400).rev() {
            ladder.push_str(&"`".repeat(length));
            ladder.push(' ');
        }
        for text in [ladder, "```a\n".repeat(100_000), "` `` ".repeat(100_000), "\n```".repeat(50_001)] {
            whole(&text);
        }
    }
}
