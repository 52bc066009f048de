//! Masks: where is text only quoted?
//!
//! In: the response so far, and whether it is complete.
//! Out: the closed code fences, code spans and block quotes of Markdown, the closed comments and CDATA sections of XML,
//! and blocks in quotation marks, in order; and the fence around a whole answer.
//! Never: knows which block is around a mask: an opener in a mask is text. There are two exceptions. If a fence itself
//! opens a block, the text in it is quoted, and its own lines are not. And quotation marks quote only blocks.
//!
//! Fences, spans and quotes follow CommonMark 0.31 (§4.5, §6.1, §5.1), with differences that models need: a fence that is
//! never closed is not a mask; a code span ends with its paragraph; a fence in a list item may be indented by any white
//! space; a fence may be joined to the text before it, as in `` <a>```xml `` and `` So: ``` ``, and to a tag behind it, as
//! in `` ```</a> ``; and a line without `>` belongs to no block quote. Every byte is examined a limited number of times:
//! until the end is known there is one search at a time, which continues where it stopped; after that, a table of the
//! last places of each length determines in advance whether a search can succeed.

mod fence;
mod mention;
mod opener;
mod outer_fence;
mod quotation;
mod search;
mod section;
mod span;

use super::ready_if;
use crate::program::MaskKinds;
use crate::text::{Slice, Span, Stretch};
pub(super) use fence::opening_fence;
use fence::{BeforeFence, FenceLine, JoinedTo, fence_line, glued_fence, run_end};
use mention::MentionSearch;
pub(crate) use opener::Openers;
use opener::{Opening, Opens};
use outer_fence::OuterFence;
use quotation::{Quoting, may_start};
pub(crate) use quotation::{marks_around, open_mark};
use search::{Last, Search};
pub(crate) use section::CDATA;
use section::Sections;
use std::task::Poll;

/// Whether the `>` at `at` starts a line of a block quote.
fn starts_quote(bytes: &[u8], at: usize) -> bool {
    // Fast path: most `>` end a tag.
    let before = at.checked_sub(1).and_then(|before| bytes.get(before)).copied().unwrap_or(b'\n');
    let may_precede = before.is_ascii_whitespace() || before == b'>' || !before.is_ascii();
    may_precede && BeforeFence::of(bytes, at).is_some()
}

impl MaskKinds {
    /// Whether a mask other than a line of a block quote may start with this byte.
    fn may_start(self, byte: u8) -> bool {
        match byte {
            b'`' | b'~' => self.fences || self.spans,
            b'<' => self.comments || self.cdata,
            _ => false,
        }
    }

    /// The offset of the first byte with which such a mask may start.
    fn first_mark(self, bytes: &[u8]) -> Option<usize> {
        match (self.fences || self.spans, self.comments || self.cdata) {
            (true, false) => memchr::memchr2(b'`', b'~', bytes),
            (true, true) => memchr::memchr3(b'`', b'~', b'<', bytes),
            (false, true) => memchr::memchr(b'<', bytes),
            (false, false) => None,
        }
    }
}

/// The kind of quotation that a mask is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Quotes {
    Fence,
    /// A fence that opens a block: the mask is the text inside it, without its own lines.
    Opener,
    Span,
    /// One line of a block quote, from its `>`, which is not part of the mask.
    Line,
    /// A comment or a CDATA section.
    Section,
    /// A quotation mark and its partner, around a block.
    Marks,
}

/// One mask. There may be very many in a response.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Mask {
    span: Stretch,
    pub(crate) by: Quotes,
}

impl Mask {
    fn new(span: Span, by: Quotes) -> Self {
        Self { span: span.into(), by }
    }

    pub(crate) fn span(self) -> Span {
        self.span.span()
    }
}

/// Whether an offset is inside one of these masks, which are in order.
pub(crate) fn is_masked(masks: &[Mask], at: usize) -> bool {
    let next = masks.partition_point(|mask| mask.span().end <= at);
    masks.get(next).is_some_and(|mask| mask.span().contains(at))
}

/// The masks of a response, found from its start to its end.
#[derive(Debug)]
pub(crate) struct Masks {
    kinds: MaskKinds,
    found: Vec<Mask>,
    outer_fence: OuterFence,
    /// Everything before this offset is certain.
    decided: usize,
    /// Where the search continues for the end of the mask that may start at `decided`.
    resume: usize,
    /// The start of the line of a block quote that was found last, and how far the text was searched for such lines.
    quote_start: Option<usize>,
    quotes_searched: usize,
    /// The end of the line of a block quote that was read last.
    quote_end: usize,
    /// The last possible closers of both fence characters: at the margin, indented, and in a block quote.
    fences: [[Last; 3]; 2],
    /// The fences that are never closed, in order.
    open_fences: Vec<usize>,
    /// The first comment or CDATA section that is never closed.
    open_section: Option<usize>,
    /// The code spans and quotation marks that are not closed before the text ends, in order: of the former at most
    /// one of each length.
    cut_quotations: Vec<usize>,
    runs: Last,
    /// The end of the paragraph that `runs` describes.
    paragraph: usize,
    seen: Seen,
    mention: MentionSearch,
    sections: Sections,
    /// The fence at `decided` that may be an opener, if the dialect has such openers.
    opens: Option<Box<Opens>>,
    /// The quotation mark at `decided` that may quote a block, if the dialect asks for that.
    quoting: Option<Box<Quoting>>,
}

/// The state of searches in text whose end has not arrived: each continues where it stopped.
#[derive(Debug, Clone, Default)]
struct Seen {
    /// The run of characters that may open a mask.
    opener: Search,
    /// The run of characters that may close it.
    closer: Search,
    /// The ends of the lines of both.
    opening_line: Search,
    closing_line: Search,
    /// The end of the word after the run that may open a fence, and of the white space after the word.
    word: Search,
    behind_word: Search,
    /// The white space after a line break.
    blanks: Search,
    /// The fence at this offset, and the text before it.
    fence: Option<(usize, BeforeFence, FenceLine)>,
}

impl Seen {
    /// The end of the word that starts here, and of the white space after it on its line, if both have arrived.
    fn word_at(&mut self, bytes: &[u8], start: usize) -> Option<(usize, usize)> {
        let word = self.word.word(bytes, start)?;
        Some((word, self.behind_word.past_word(bytes, word)?))
    }

    /// The fence that the run from `at` to `run` makes, if any, and the text before it; pending until enough of the line
    /// has arrived.
    fn fence_at(
        &mut self,
        bytes: &[u8],
        at: usize,
        run: usize,
        complete: bool,
    ) -> Poll<Option<(BeforeFence, FenceLine)>> {
        if run - at < 3 {
            return Poll::Ready(None);
        }
        if let Some(before) = BeforeFence::of(bytes, at) {
            let has_come = complete || self.opening_line.line(bytes, run).is_some();
            if !has_come {
                return Poll::Pending;
            }
            return Poll::Ready(fence_line(bytes, at, complete).map(|line| (before, line)));
        }
        // The line may be long and contain many runs: search for the end of the word only up to the next run.
        match self.word_at(bytes, run) {
            Some((word, end)) => Poll::Ready(glued_fence(bytes, at, run, word, end)),
            None => ready_if(complete, None),
        }
    }
}

/// What may be before a fence that closes another, in the order of [`Masks::fences`].
const CLOSERS: [BeforeFence; 3] = [BeforeFence::Margin, BeforeFence::Indent, BeforeFence::Quote];

/// Whether the fence characters may also start a code span.
fn starts_span(before: BeforeFence, line: &FenceLine) -> bool {
    before != BeforeFence::Margin || line.joined != JoinedTo::Nothing
}

/// The result of the search for one mask.
enum MaskSearch {
    Found(Mask),
    /// The inside of a fence that opens a block, and the end of that fence.
    Inside(Mask, usize),
    Absent,
    Pending,
}

impl Masks {
    pub(crate) fn new(kinds: MaskKinds) -> Self {
        Self {
            kinds,
            found: Vec::new(),
            outer_fence: if kinds.around { OuterFence::Unknown(0) } else { OuterFence::Absent },
            decided: 0,
            quote_start: None,
            quotes_searched: 0,
            quote_end: 0,
            resume: 0,
            fences: std::array::from_fn(|_| std::array::from_fn(|_| Last::new())),
            open_fences: Vec::new(),
            open_section: None,
            cut_quotations: Vec::new(),
            runs: Last::new(),
            paragraph: 0,
            seen: Seen::default(),
            mention: MentionSearch::default(),
            sections: Sections::default(),
            opens: kinds.openers.then(Box::default),
            quoting: kinds.marks.then(Box::default),
        }
    }

    /// Before this offset, every byte is known to be masked or not.
    pub(crate) fn decided(&self) -> usize {
        self.decided
    }

    /// The mask around `at`. `cursor` stores the position of the last look-up; offsets must be asked for in ascending
    /// order.
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

    /// Takes all masks except the `void` ones, which are in order.
    pub(crate) fn take_found(&mut self, void: &[Span]) -> Vec<Mask> {
        self.found.retain(|mask| void.binary_search(&mask.span()).is_err());
        std::mem::take(&mut self.found)
    }

    /// Takes the starts of the fences that are never closed, except for one around the whole answer.
    pub(crate) fn take_open_fences(&mut self) -> Vec<usize> {
        std::mem::take(&mut self.open_fences)
    }

    /// The start of the first comment or CDATA section that is never closed.
    pub(crate) fn open_section(&self) -> Option<usize> {
        self.open_section
    }

    /// Takes the starts of code spans and quotation marks that could still be closed if the text were longer.
    pub(crate) fn take_cut_quotations(&mut self) -> Vec<usize> {
        std::mem::take(&mut self.cut_quotations)
    }

    /// Finds masks up to `limit`. It must already be known whether a fence is around the whole text.
    pub(crate) fn advance(&mut self, text: &str, complete: bool, limit: usize, mut openers: Option<&mut Openers<'_>>) {
        let end = self.outer_fence().map_or(text.len(), |(_, closer)| closer.start);
        let within = text.slice(..end);
        let bytes = within.as_bytes();
        let limit = end.min(limit);
        while self.decided < limit {
            let Some(at) = self.next_mark(bytes, limit, openers.as_deref()) else {
                self.decided = limit;
                break;
            };
            if at != self.decided {
                self.decided = at;
                self.resume = at;
            }
            match self.mask_at(within, at, complete, openers.as_deref_mut()) {
                MaskSearch::Inside(mask, end) => {
                    if !mask.span().is_empty() {
                        self.found.push(mask);
                    }
                    self.decided = end;
                    self.resume = end;
                }
                MaskSearch::Found(mask) => {
                    self.found.push(mask);
                    self.decided = mask.span().end;
                    self.resume = mask.span().end;
                    self.finish_quoted_line();
                }
                MaskSearch::Absent => {
                    self.decided = match bytes.get(at) {
                        Some(b'`' | b'~') => run_end(bytes, at),
                        _ => at + within.get(at..).and_then(|rest| rest.chars().next()).map_or(1, char::len_utf8),
                    };
                    self.resume = self.decided;
                    self.finish_quoted_line();
                }
                MaskSearch::Pending => return,
            }
        }
        if self.decided >= end {
            self.decided = text.len();
        }
    }

    /// The next offset before `limit` at which a mask may start.
    fn next_mark(&mut self, bytes: &[u8], limit: usize, openers: Option<&Openers<'_>>) -> Option<usize> {
        let quote = self.next_quote(bytes, limit);
        let before = quote.unwrap_or(limit);
        let mark = match openers.filter(|_| self.kinds.marks) {
            Some(openers) => self.next_mark_or_quotation(bytes, before, openers.dialect),
            None => {
                let offset = self.kinds.first_mark(bytes.get(self.decided..before)?);
                offset.map(|offset| self.decided + offset)
            }
        };
        mark.or(quote)
    }

    /// The next offset before `limit` at which a line of a block quote starts. No byte is searched twice: most `>` end a
    /// tag.
    fn next_quote(&mut self, bytes: &[u8], limit: usize) -> Option<usize> {
        if !self.kinds.block_quotes {
            return None;
        }
        if self.quote_start.is_none_or(|start| start < self.decided) {
            let from = self.quotes_searched.max(self.decided);
            let mut ends = memchr::memchr_iter(b'>', bytes.get(from..limit)?).map(|offset| from + offset);
            self.quote_start = ends.find(|at| starts_quote(bytes, *at));
            self.quotes_searched = self.quote_start.map_or(limit, |start| start + 1);
        }
        self.quote_start.filter(|start| *start < limit)
    }

    /// The mask that starts with the run at `at`.
    fn mask_at(&mut self, text: &str, at: usize, complete: bool, openers: Option<&mut Openers<'_>>) -> MaskSearch {
        let bytes = text.as_bytes();
        let mark = bytes.get(at).copied().unwrap_or_default();
        if self.kinds.marks && may_start(mark) && (mark != b'`' || self.is_lone(bytes, at)) {
            if mark == b'`' && at + 1 == bytes.len() && !complete {
                return MaskSearch::Pending;
            }
            return self.quotation_at(text, at, complete, openers);
        }
        if mark == b'<' {
            return self.section_at(bytes, at, complete);
        }
        if mark == b'>' {
            return self.quoted_line(bytes, at, complete);
        }
        let run = self.seen.opener.run(bytes, at);
        if run == bytes.len() && !complete {
            return MaskSearch::Pending;
        }
        let fence = match self.seen.fence.filter(|(known, ..)| *known == at) {
            Some((_, before, line)) => Poll::Ready(Some((before, line))),
            None => self.seen.fence_at(bytes, at, run, complete),
        };
        let Poll::Ready(fence) = fence else { return MaskSearch::Pending };
        let fence = fence.filter(|(_, line)| line.opens);
        self.seen.fence = fence.map(|(before, line)| (at, before, line));
        match fence {
            Some((before, line)) if self.kinds.fences => {
                let opening = Opening { bytes, at, before, line: &line, complete };
                if line.joined == JoinedTo::Text {
                    return self.mention_end(&opening);
                }
                if let Some(openers) =
                    openers.filter(|_| line.joined == JoinedTo::Nothing && before != BeforeFence::Quote)
                    && let Some(sought) = self.block_at(text, &opening, openers)
                {
                    return sought;
                }
                let sought = self.fence_end(&opening);
                let wraps =
                    || self.kinds.around && bytes.get(..at).is_some_and(|before| before.trim_ascii().is_empty());
                if matches!(sought, MaskSearch::Absent) && !wraps() {
                    self.open_fences.push(at);
                }
                match sought {
                    // The run may still start a code span.
                    MaskSearch::Absent if starts_span(before, &line) => self.resume = at,
                    sought => return sought,
                }
            }
            Some((before, line)) if !starts_span(before, &line) => return MaskSearch::Absent,
            _ => {}
        }
        if mark != b'`' || !self.kinds.spans {
            return MaskSearch::Absent;
        }
        self.span_end(bytes, at, run, complete)
    }

    /// The line of a block quote whose `>` is at `at`.
    fn quoted_line(&mut self, bytes: &[u8], at: usize, complete: bool) -> MaskSearch {
        if !starts_quote(bytes, at) {
            return MaskSearch::Absent;
        }
        let from = self.resume.max(at);
        let line_break = memchr::memchr(b'\n', bytes.slice(from..));
        if line_break.is_none() && !complete {
            self.resume = bytes.len();
            return MaskSearch::Pending;
        }
        self.quote_end = line_break.map_or(bytes.len(), |offset| from + offset);
        let line = Span::new(at + 1, self.quote_end);
        // A fence in it may end in a line that lacks the `>`.
        let fence = bytes.slice(line.start..line.end).windows(3).position(|marks| matches!(marks, b"```" | b"~~~"));
        let end = fence.filter(|_| self.kinds.fences).map_or(line.end, |offset| line.start + offset);
        MaskSearch::Inside(Mask::new(Span::new(line.start, end), Quotes::Line), end)
    }

    /// Masks what is left of a line of a block quote in which a fence was searched for.
    fn finish_quoted_line(&mut self) {
        if self.decided < self.quote_end {
            self.found.push(Mask::new(Span::new(self.decided, self.quote_end), Quotes::Line));
            self.decided = self.quote_end;
            self.resume = self.decided;
        }
    }

    /// Whether a backtick is a quotation mark: it starts neither a fence nor a code span.
    fn is_lone(&self, bytes: &[u8], at: usize) -> bool {
        !self.kinds.spans && bytes.get(at + 1) != Some(&b'`')
    }

    /// The mask of a fence up to its closing line.
    fn fence_end(&mut self, opening: &Opening<'_>) -> MaskSearch {
        let Opening { bytes, at, before, line: open, complete } = *opening;
        let mark = opening.mark();
        let slot = usize::from(mark == b'~');
        let is_closed_by =
            |place: usize| BeforeFence::of(bytes, place).is_some_and(|closer| before.is_closed_by(closer));
        let ends = |line: &FenceLine| line.closes && line.length >= open.length;
        if let Some(lasts) = self.fences.get(slot)
            && lasts.iter().all(|last| last.known)
        {
            let is_after = |(last, closer): (&Last, BeforeFence)| {
                before.is_closed_by(closer) && last.after(open.length, open.marks)
            };
            if !lasts.iter().zip(CLOSERS).any(is_after) {
                return MaskSearch::Absent;
            }
        }
        let mut from = self.resume.max(open.end);
        while let Some(offset) = memchr::memchr(mark, bytes.slice(from..)) {
            let hit = from + offset;
            let run = self.seen.closer.run(bytes, hit);
            if run == bytes.len() && !complete {
                self.resume = hit;
                return MaskSearch::Pending;
            }
            if run - hit >= 3 && is_closed_by(hit) {
                if !complete && self.seen.closing_line.line(bytes, run).is_none() {
                    self.resume = hit;
                    return MaskSearch::Pending;
                }
                if let Some(line) = fence_line(bytes, hit, complete).filter(ends) {
                    return MaskSearch::Found(Mask::new(Span::new(at, line.marks), Quotes::Fence));
                }
            }
            from = run;
        }
        self.resume = bytes.len();
        if !complete {
            return MaskSearch::Pending;
        }
        self.note_closers(bytes, open.end, mark, slot);
        MaskSearch::Absent
    }

    /// Notes the last closers of each length after `from`, so that a search that must fail is never started.
    fn note_closers(&mut self, bytes: &[u8], from: usize, mark: u8, slot: usize) {
        let Some(lasts) = self.fences.get_mut(slot) else { return };
        lasts.iter_mut().for_each(Last::clear);
        let mut from = from;
        while let Some(offset) = memchr::memchr(mark, bytes.slice(from..)) {
            let hit = from + offset;
            if let Some(line) = fence_line(bytes, hit, true).filter(|line| line.closes) {
                let before = BeforeFence::of(bytes, hit);
                let last = lasts.iter_mut().zip(CLOSERS).find(|(_, closer)| before == Some(*closer));
                if let Some((last, _)) = last {
                    last.note(line.length, hit);
                }
            }
            from = run_end(bytes, hit);
        }
        lasts.iter_mut().for_each(Last::accumulate);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const ALL: MaskKinds = MaskKinds {
        fences: true,
        spans: true,
        block_quotes: false,
        comments: true,
        cdata: true,
        marks: false,
        around: true,
        openers: false,
    };

    const QUOTES: MaskKinds = MaskKinds { block_quotes: true, ..ALL };

    fn whole(text: &str) -> Masks {
        whole_of(ALL, text)
    }

    fn whole_of(kinds: MaskKinds, text: &str) -> Masks {
        let mut masks = Masks::new(kinds);
        assert!(masks.find_outer_fence(text, true));
        masks.advance(text, true, usize::MAX, None);
        assert_eq!(masks.decided(), text.len());
        masks
    }

    #[track_caller]
    fn check(text: &str, expected: &[&str]) {
        check_of(ALL, text, expected);
    }

    #[track_caller]
    fn check_of(kinds: MaskKinds, text: &str, expected: &[&str]) {
        let masks = whole_of(kinds, text);
        let found: Vec<&str> = masks.found.iter().map(|mask| mask.span().of(text)).collect();
        assert_eq!(found, expected, "{text:?}");
        for size in [1, 2, 3, 7] {
            let mut pieces = Masks::new(kinds);
            for end in (0..text.len()).step_by(size).filter(|end| text.is_char_boundary(*end)) {
                let part = text.slice(..end);
                if pieces.find_outer_fence(part, false) {
                    pieces.advance(part, false, end / 2, None);
                    pieces.advance(part, false, end, None);
                }
            }
            assert!(pieces.find_outer_fence(text, true));
            pieces.advance(text, true, text.len() / 2, None);
            pieces.advance(text, true, usize::MAX, None);
            assert_eq!(pieces.found, masks.found, "{text:?} in pieces of {size}");
            assert_eq!(pieces.outer_fence(), masks.outer_fence());
        }
    }

    #[test]
    fn spans_close_with_the_same_length_in_the_same_paragraph() {
        check("a `b` c", &["`b`"]);
        check("a `` b ` c `` d", &["`` b ` c ``"]);
        check("a ` b\n\n c ` d", &[]);
        check("a ` b\nc ` d", &["` b\nc `"]);
        check("`", &[]);
        let [long, longer] = [300, 301].map(|length| "`".repeat(length));
        check(&format!("a {long} b {longer} c {long} d"), &[&format!("{long} b {longer} c {long}")]);
        check(&format!("a {longer} b {long} c {long} d"), &[&format!("{long} c {long}")]);
        check("```` ``` `` ` ```", &["``` `` ` ```"]);
    }

    #[test]
    fn a_span_stays_in_its_item_heading_or_quotation() {
        check("- a ` b\n- c `d` e", &["`d`"]);
        check("1. a ` b\n 2) c `d` e", &["`d`"]);
        check("# a ` b\nc `d` e", &["`d`"]);
        check("a ` b\n## c `d` e", &["`d`"]);
        check("a ` b\n---\nc `d` e", &["`d`"]);
        check("a ` b\n* * *\nc `d` e", &["`d`"]);
        check("a ` b\n===\nc `d` e", &["`d`"]);
        check("a ` b\n> c `d` e", &["`d`"]);
        check("> a ` b\n> c ` d", &["` b\n> c `"]);
        check("a ` b\n-c ` d", &["` b\n-c `"]);
        check("a ` b\n1.5 c ` d", &["` b\n1.5 c `"]);
        check("a ` b\n**c** ` d", &["` b\n**c** `"]);
        check("a ` b\n#c ` d", &["` b\n#c `"]);
    }

    #[test]
    fn a_quoted_line_begins_with_its_mark() {
        let check = |text: &str, expected: &[&str]| check_of(QUOTES, text, expected);
        check("> a\nb\n  > c\n", &[" a", " c"]);
        check("- > a\n1. > b", &[" a", " b"]);
        check("a > b\n>\nc >", &[]);
        check("> ```\n> a\n> ```\nb `c`", &[" ", "```\n> a\n> ```", "`c`"]);
        check("> ```\na\n```\n`b`", &[" ", "```\na\n```", "`b`"]);
        check("> a ```b``` c\n> ~~~ d", &[" a ", "```b```", " c", " ", " d"]);
        check("```\n> a\n```\n> `b", &["```\n> a\n```", " `b"]);
        let hostile = "> ~~~a\n".repeat(100_000);
        assert_eq!(whole_of(QUOTES, &hostile).found.len(), 200_000);
    }

    #[test]
    fn fences_close_with_a_bare_line_at_least_as_long() {
        check("x\n```py\na\n```\nb", &["```py\na\n```"]);
        check("x\n````\n```\na\n`````\nb", &["````\n```\na\n`````"]);
        check("x\n~~~\n```\n~~~", &["~~~\n```\n~~~"]);
        check("x\n```\nnever closed", &[]);
        let [long, longer] = [300, 301].map(|length| "~".repeat(length));
        check(&format!("x\n{longer}\n{long}\n~~~\na\n{long}"), &[&format!("{long}\n~~~\na\n{long}")]);
        check("x\n```a\n```b\n", &[]);
        check("x\n    ```\n    a\n\n    ```\n", &["```\n    a\n\n    ```"]);
        check("x\n    ```\n\n```\na\n```\n", &["```\na\n```"]);
    }

    #[test]
    fn fences_may_stand_in_lists() {
        check("- ```\n  a\n\n  ```\nb", &["```\n  a\n\n  ```"]);
        check("2. - ~~~\na\n~~~\nb", &["~~~\na\n~~~"]);
        check("- a\n  - b:\n\n    ```xml\n    a\n\n    ```\n", &["```xml\n    a\n\n    ```"]);
        check("- a\n\t```\n\n\ta\n\t```\n", &["```\n\n\ta\n\t```"]);
        check("- ```\n\n- ```\n", &[]);
        check("a - ```\nb\n\n```\n", &["```\nb\n\n```"]);
    }

    #[test]
    fn fences_may_be_glued_to_tags() {
        check("<a>```xml\n1\n```\n</a>", &["```xml\n1\n```"]);
        check("<a>\n```xml\n1\n```</a>", &["```xml\n1\n```"]);
        check("<a>```\n1\n```</a><b>2</b>", &["```\n1\n```"]);
        check("so: ```xml\n1\n```\nok", &["```xml\n1\n```"]);
        check("<a>```xml\n1</a>", &[]);
        check("<a>\n```\n1\n``` </a>", &["```\n1\n```"]);
        check("<a>\n```\n1\n```</a> `x`", &["```\n1\n```", "`x`"]);
        check("<a> ```\n1\n```\n</a>", &["```\n1\n```"]);
        check("```</a> `x`\n1\n```", &["`x`"]);
        check("use ``` here\n```\n1\n```\n", &["```\n1\n```"]);
    }

    #[test]
    fn fences_behind_other_text_open_if_later_fences_pair_up() {
        check("so: ```\n1\n```\nok", &["```\n1\n```"]);
        check("so: ~~~py\n1\n~~~\nok", &["~~~py\n1\n~~~"]);
        check("so: ```\n1\n```\nok\n```\n2\n```", &["```\n1\n```", "```\n2\n```"]);
        check("so: ```\n1\n```\nor: ```\n2\n```", &["```\n1\n```", "```\n2\n```"]);
        check("so: ```\n1\n```\n```py\n2\n```", &["```\n1\n```", "```py\n2\n```"]);
        check("in ```\nor\n```\n1\n```", &["```\n1\n```"]);
        check("in ```\nor\n```py\n1\n```", &["```py\n1\n```"]);
        check("in ```\nor `a`", &["`a`"]);
        check("so ```\n1 ```\n\n```\n2\n```", &["```\n1 ```", "```\n2\n```"]);
        check("- so: ````\n    1\n    ```\n    ````", &["````\n    1\n    ```\n    ````"]);
        check("> so: ```\n> 1\n> ```\n2", &["```\n> 1\n> ```"]);
        check("> ```py\n> 1\n> ```\n2", &["```py\n> 1\n> ```"]);
        check("\u{a0}```\n1\n```\n", &["```\n1\n```"]);
        check("•\u{a0}```\n1\n```\n", &["```\n1\n```"]);
    }

    #[test]
    fn comments_and_sections_close_at_the_first_closer() {
        check("a <!-- <b> --> c", &["<!-- <b> -->"]);
        check("<<!-- `a --> b`", &["<!-- `a -->"]);
        check("<!-- a", &[]);
        check("<!-- a <![CDATA[b]]>", &["<![CDATA[b]]>"]);
        check("<![CDATA[a]]]]><![CDATA[>b]]>", &["<![CDATA[a]]]]>", "<![CDATA[>b]]>"]);
        check("<![CDATA[ --> ]] > ]]>", &["<![CDATA[ --> ]] > ]]>"]);
        check("`<!--` a -->", &["`<!--`"]);
        check("<![cdata[a]]>", &[]);
        check("<![CDATA", &[]);
    }

    #[test]
    fn one_fence_around_everything_is_the_outer_fence() {
        let text = "\n```xml\n<a>\n```py\n1\n```\n</a>\n```\n \n";
        let masks = whole(text);
        let (opener, closer) = masks.outer_fence().unwrap_or_default();
        assert_eq!((opener.of(text), closer.of(text)), ("```xml\n", "```\n"));
        check(text, &["```py\n1\n```"]);
        check("```\na\n```\nb\n```\nc\n```", &["```\na\n```", "```\nc\n```"]);
        check("```xml\n<a>\n```py\n1\n```</a>\n```", &["```py\n1\n```"]);
        check("```xml\n<a>```py\n1\n```\n</a>\n```", &["```py\n1\n```"]);
        check("```xml\n- ```\n  1\n  ```\n2\n```", &["```\n  1\n  ```"]);
        check("```xml\n<a>\n```py\n1</a>\n```", &[]);
        check("```xml\na\n```\nb ```py\nc\n```", &["```xml\na\n```", "```py\nc\n```"]);
    }

    #[test]
    fn hostile_marks_cost_linear_time() {
        let mut ladder = String::new();
        for length in (1..400).rev() {
            ladder.push_str(&"`".repeat(length));
            ladder.push(' ');
        }
        // Each text has very many marks that could open a mask; the number is that of the masks in it.
        let texts = [
            (ladder, 0),
            ("```a\n".repeat(100_000), 0),
            ("` `` ".repeat(100_000), 66_666),
            ("\n```".repeat(50_001), 25_000),
            ("```)".repeat(100_000), 50_000),
            ("a ```\n".repeat(100_000), 50_000),
            ("a ~~~\n~~~\n".repeat(50_000), 50_000),
            ("a ~~~b".repeat(100_000), 0),
            ("a ``` ".repeat(100_001), 50_000),
            ("> ~~~a\n".repeat(100_000), 0),
            ("<!--".repeat(100_000), 0),
            ("<![CDATA[".repeat(50_000) + "]]>", 1),
            ("<!-->".repeat(100_000), 50_000),
        ];
        for (text, expected) in texts {
            assert_eq!(whole(&text).found.len(), expected, "{:?}", text.get(..12));
        }
    }
}
