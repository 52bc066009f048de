//! Trim: which lines at the ends of a text belong to the text around it?
//!
//! In: a part of a response, and the trims to apply.
//! Out: the remaining part; where the code fence around a block closes.
//! Never: changes the text between the ends.
//!
//! Models put blocks into code fences, put thematic breaks between them, and sometimes join both: a line may contain
//! the end of one fence and the start of the next.

use super::masks::CDATA;
use crate::surface::{Between, Trim};
use crate::text::{Present, Slice, Span};
use memchr::memmem;
use std::cell::LazyCell;
use std::sync::LazyLock;

/// The kind of a line.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum LineKind {
    Blank,
    /// A thematic break of Markdown.
    Rule,
    Fence(Fence),
    Text,
}

/// The fence characters of a line.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Fence {
    mark: char,
    length: usize,
    /// Whether nothing follows them except a thematic break, so that they may close a fence.
    bare: bool,
}

impl Fence {
    fn closes(self, open: Fence) -> bool {
        self.mark == open.mark && self.length >= open.length && (self.bare || self.closes_and_opens())
    }

    /// Whether the line closes one fence and opens another: the fence characters of both are joined.
    fn closes_and_opens(self) -> bool {
        !self.bare && self.length >= 6
    }

    /// The fence that is open after this line, if `open` was open before it.
    pub(super) fn after(place: Span, fence: Fence, open: Option<(Span, Fence)>) -> Option<(Span, Fence)> {
        match open {
            None => Some((place, fence)),
            Some((_, before)) if fence.closes(before) => {
                let opens = Fence { length: fence.length - before.length, ..fence };
                fence.closes_and_opens().then_some((place, opens))
            }
            Some(_) => open,
        }
    }
}

/// The shortest fences.
static MARKS: LazyLock<[memmem::Finder<'static>; 2]> = LazyLock::new(|| ["```", "~~~"].map(memmem::Finder::new));

/// Whether fences consist of this character.
fn is_mark(character: char) -> bool {
    matches!(character, '`' | '~')
}

/// Whether thematic breaks consist of this character.
fn is_rule_char(character: char) -> bool {
    matches!(character, '*' | '-' | '_')
}

/// Whether a line of this character may be between blocks.
pub(super) fn is_frame_char(character: char) -> bool {
    is_mark(character) || is_rule_char(character)
}

/// The offset of the first possible fence.
pub(super) fn first_marks(text: &[u8]) -> Option<usize> {
    MARKS.iter().filter_map(|marks| marks.find(text)).min()
}

fn read(line: &str) -> LineKind {
    let line = line.trim();
    let rest = line.trim_start_matches(|c: char| c == ' ' || is_rule_char(c));
    let is_rule = |marks: &str| {
        let mut marks = marks.chars().filter(|mark| *mark != ' ');
        let first = marks.next();
        marks.clone().count() >= 2 && marks.all(|mark| Some(mark) == first)
    };
    if line.is_empty() {
        return LineKind::Blank;
    }
    let ruled = line.len() > rest.len() && is_rule(line.strip_suffix(rest).present());
    if rest.is_empty() {
        return if ruled { LineKind::Rule } else { LineKind::Text };
    }
    let Some(mark) = rest.chars().next().filter(|mark| is_mark(*mark)) else { return LineKind::Text };
    let info = rest.trim_start_matches(mark);
    let length = rest.len() - info.len();
    let info = info.trim();
    // An info string may follow the fence characters (CommonMark 0.31, §4.5), but not a tag.
    let opens = !info.contains(['`', '<', '>']);
    let bare = info.is_empty() || is_rule(info);
    if length < 3 || !(bare || opens) || !(ruled || rest.len() == line.len()) {
        return LineKind::Text;
    }
    LineKind::Fence(Fence { mark, length, bare })
}

/// The lines of a span, with their places.
fn lines(span: Span, text: &str) -> impl Iterator<Item = (Span, LineKind)> {
    let mut at = span.start;
    span.of(text).split_inclusive('\n').map(move |line| {
        let place = Span::new(at, at + line.len());
        at = place.end;
        (place, read(line))
    })
}

/// The fence lines of a span, with their places. Only lines with fence characters are examined.
pub(super) fn fence_lines(span: Span, text: &str) -> impl Iterator<Item = (Span, Fence)> {
    let body = span.of(text);
    let bytes = body.as_bytes();
    let mut marks = MARKS.each_ref().map(|marks| marks.find_iter(bytes).peekable());
    let mut from = 0;
    std::iter::from_fn(move || {
        loop {
            let next = marks.iter_mut().filter_map(|marks| {
                while marks.next_if(|at| *at < from).is_some() {}
                marks.peek().copied()
            });
            let at = next.min()?;
            let before = memchr::memrchr(b'\n', bytes.get(from..at)?);
            let start = from + before.map_or(0, |offset| offset + 1);
            from = at + memchr::memchr(b'\n', bytes.get(at..)?).map_or(bytes.len() - at, |offset| offset + 1);
            if let LineKind::Fence(fence) = read(body.get(start..from)?) {
                return Some((Span::new(span.start + start, span.start + from), fence));
            }
        }
    })
}

/// The line of a fence that is still open at the end of a span, if there is one; fences for which `counts` is false are
/// text.
fn left_open(span: Span, text: &str, counts: impl Fn(Fence) -> bool) -> Option<Span> {
    let mut open: Option<(Span, Fence)> = None;
    for (place, fence) in fence_lines(span, text).filter(|(_, fence)| counts(*fence)) {
        open = Fence::after(place, fence, open);
    }
    open.map(|(place, _)| place)
}

/// The part of `span` that remains after applying the trims in order. A tag around the text remains.
pub(crate) fn trimmed(span: Span, text: &str, trims: &[Trim]) -> Span {
    trimmed_within(span, text, trims, &|_| None)
}

/// Like `trimmed`; `enclosed` returns the inside of the tag around all of a text.
pub(super) fn trimmed_within(span: Span, text: &str, trims: &[Trim], enclosed: &dyn Fn(Span) -> Option<Span>) -> Span {
    let mut span = span;
    for (index, trim) in trims.iter().enumerate() {
        span = match trim {
            Trim::WhiteSpace => span.trimmed(text),
            Trim::BlankLines => without_blank_lines(span, text),
            Trim::LineBreaks => without_line_breaks(span, text),
            // Inside the fence, the trims before this one are applied once more.
            Trim::WrappingFence => {
                inside_fence(span, text).map_or(span, |inside| trimmed(inside, text, trims.slice(..index)))
            }
            Trim::WrappingCdata => {
                inside_cdata(span, text).map_or(span, |inside| trimmed(inside, text, trims.slice(..index)))
            }
            Trim::EnclosingTag => enclosed(span).map_or(span, |inside| trimmed(inside, text, trims.slice(..index))),
            Trim::Between => without_between(span, text),
        };
    }
    span
}

/// The part of `span` without the white space around its text. If the text is one line, all white space is removed; if
/// it has several lines, or ends in a line break, only blank lines are, so that code retains its indentation.
pub(crate) fn by_lines(span: Span, text: &str) -> Span {
    let lines = without_blank_lines(span, text);
    let first = span.of(text).trim_start_matches([' ', '\t', '\r']);
    let alone = !lines.of(text).contains('\n') && (first.starts_with('\n') || !span.of(text).contains('\n'));
    if alone { span.trimmed(text) } else { lines }
}

/// The part of `span` for a text that is taken verbatim: without one line break at its start and one at its end.
pub(crate) fn verbatim(span: Span, text: &str) -> Span {
    without_line_breaks(span, text)
}

/// The part of `span` without blank lines at both ends.
fn without_blank_lines(span: Span, text: &str) -> Span {
    let body = span.of(text);
    let blank = body.len() - body.trim_start().len();
    let start = body.get(..blank).and_then(|blank| blank.rfind('\n')).map_or(0, |at| at + 1);
    let last = body.trim_end().len().max(start);
    let rest = body.slice(last..);
    let line = rest.split('\n').next().unwrap_or_default();
    let end = last + line.strip_suffix('\r').unwrap_or(line).len();
    Span::new(span.start + start, span.start + end)
}

/// The part of `span` without the line break at its start and the one at its end. A `\r` before the last line feed
/// remains if the first line break has none.
fn without_line_breaks(span: Span, text: &str) -> Span {
    let body = span.of(text);
    let unix = body.strip_prefix('\n');
    let rest = unix.or_else(|| body.strip_prefix("\r\n")).unwrap_or(body);
    let start = span.end - rest.len();
    let rest = rest.strip_suffix("\r\n").filter(|_| unix.is_none()).or_else(|| rest.strip_suffix('\n')).unwrap_or(rest);
    Span::new(start, start + rest.len())
}

/// The inside of a fence that opens on the first line and closes on the last; the fences between them must pair up.
fn inside_fence(span: Span, text: &str) -> Option<Span> {
    let core = span.trimmed(text);
    let body = core.of(text);
    if !body.trim_start_matches(|c: char| c == ' ' || is_rule_char(c)).starts_with(is_mark) {
        return None;
    }
    let first = core.start + body.find('\n')? + 1;
    let last = core.start + body.rfind('\n')? + 1;
    let LineKind::Fence(open) = read(Span::new(core.start, first).of(text)) else { return None };
    // The closing fence may follow the last line without a line break.
    let line = Span::new(last, core.end).of(text);
    let before_marks = line.trim_end_matches(open.mark);
    let marks = line.len() - before_marks.len();
    let inside = Span::new(first, last.max(first) + before_marks.trim_end().len());
    // Shorter fences are text, and so is one of the other character that is never closed.
    let counts = |fence: Fence| fence.length >= open.length;
    let between = Span::new(first, last);
    let pairs = left_open(between, text, counts).is_none()
        || left_open(between, text, |fence| counts(fence) && fence.mark == open.mark).is_none();
    if marks < open.length || before_marks.contains(open.mark) || !pairs {
        return None;
    }
    let body = inside.of(text);
    let body = if before_marks.trim().is_empty() { body.strip_suffix('\n').unwrap_or(body) } else { body };
    Some(Span::new(first, first + body.strip_suffix('\r').unwrap_or(body).len()))
}

/// The inside of the CDATA section that makes up all of `span`.
fn inside_cdata(span: Span, text: &str) -> Option<Span> {
    let core = span.trimmed(text);
    let inside = core.of(text).strip_prefix(CDATA.0)?.strip_suffix(CDATA.1)?;
    let start = core.start + CDATA.0.len();
    (!inside.contains(CDATA.1)).then(|| Span::new(start, start + inside.len()))
}

/// Whether a text with this start may turn out to be a CDATA section.
pub(super) fn may_be_cdata(text: &str) -> bool {
    let text = text.trim_start();
    text.starts_with(CDATA.0) || CDATA.0.starts_with(text)
}

/// Whether the trims removed a CDATA section around `span`: then nothing in it is decoded.
pub(crate) fn is_cdata(span: Span, text: &str, trims: &[Trim]) -> bool {
    let before = || text.slice(..span.start).trim_end().ends_with(CDATA.0);
    trims.contains(&Trim::WrappingCdata) && before()
}

/// The part of `span` without thematic breaks at both ends, and without a fence that opens on its last line.
pub(crate) fn without_between(span: Span, text: &str) -> Span {
    let mut rest = without_tail(span, text);
    while let Some((first, LineKind::Rule)) = lines(rest, text).next() {
        rest = Span::new(first.end, rest.end).trimmed(text);
    }
    rest
}

/// The part of `span` without the lines that belong to the next block: thematic breaks, and a fence that opens on the
/// last line.
pub(super) fn without_tail(span: Span, text: &str) -> Span {
    let mut rest = span.trimmed(text);
    let open = LazyCell::new(move || left_open(rest, text, |_| true));
    loop {
        let body = rest.of(text);
        let last = rest.start + body.rfind('\n').map_or(0, |at| at + 1);
        let cut = match read(Span::new(last, rest.end).of(text)) {
            LineKind::Rule => true,
            LineKind::Fence(_) => open.is_some_and(|open| open.start == last),
            _ => false,
        };
        if !cut {
            return rest;
        }
        rest = Span::new(rest.start, last).trimmed(text);
    }
}

/// The part of `span` without lines at both ends that may be between blocks.
pub(crate) fn without_frame(span: Span, text: &str, between: &[Between]) -> Span {
    let frames = |line: LineKind| match line {
        LineKind::Fence(_) => between.contains(&Between::Fence),
        LineKind::Rule => between.contains(&Between::Rule),
        LineKind::Blank | LineKind::Text => false,
    };
    let mut rest = span.trimmed(text);
    while let Some((first, line)) = lines(rest, text).next()
        && frames(line)
    {
        rest = Span::new(first.end, rest.end).trimmed(text);
    }
    loop {
        let last = rest.start + rest.of(text).rfind('\n').map_or(0, |at| at + 1);
        if !frames(read(Span::new(last, rest.end).of(text))) {
            return rest;
        }
        rest = Span::new(rest.start, last).trimmed(text);
    }
}

/// Where the code fence that is `around` the opener, or opens directly inside the block, closes: at the last line
/// before `end` that may close it; and whether no earlier line may have closed it. At `end` there may be the opener of
/// the next block, which may be in its own fence.
pub(super) fn fence_end(opener: Span, end: usize, text: &str, around: bool) -> Option<(usize, bool)> {
    let mut opened = around;
    // The fence that opens in the block: shorter fences are part of its text. The fence around the opener is not
    // searched for.
    let mut own: Option<Fence> = None;
    // The last line that may close the fence; of several with only thematic breaks between them, the first.
    let mut last: Option<(Span, Fence)> = None;
    let mut is_only = true;
    let mut inner = false;
    let mut text_since = true;
    for (place, line) in lines(Span::new(opener.end, end), text) {
        match line {
            LineKind::Blank | LineKind::Rule => {}
            LineKind::Text if !opened => return None,
            LineKind::Text => text_since = true,
            LineKind::Fence(fence) if !opened => (opened, own) = (true, Some(fence)),
            LineKind::Fence(fence) if own.is_some_and(|own| fence.mark != own.mark || fence.length < own.length) => {
                text_since = true;
            }
            LineKind::Fence(fence) if fence.bare && inner => (inner, text_since) = (false, true),
            LineKind::Fence(fence) if fence.bare || fence.closes_and_opens() => {
                if text_since {
                    is_only = last.is_none();
                    last = Some((place, fence));
                }
                text_since = false;
            }
            // A fence that opens inside the block closes inside it.
            LineKind::Fence(_) => inner = true,
        }
    }
    let (place, fence) = last?;
    let line = place.of(text);
    let indent = line.len() - line.trim_start_matches([' ', '\t']).len();
    let marks = if fence.closes_and_opens() { 3 } else { fence.length };
    Some((place.start + if around { 0 } else { indent + marks }, is_only))
}

/// Whether a closer that ends at `end`, on the line of its opener, ends the block: in the middle of a line it is only
/// mentioned. `None` while the text after it is not known.
pub(super) fn ends_line(end: usize, text: &str, complete: bool) -> Option<bool> {
    let after = text.slice(end..).trim_start_matches([' ', '\t']);
    match after.bytes().next() {
        Some(byte) => Some(matches!(byte, b'\n' | b'\r' | b'<')),
        None => complete.then_some(true),
    }
}

#[cfg(test)]
mod tests {
    use super::super::{ChunkedVec, fences::Fences};
    use super::*;

    #[track_caller]
    fn check(trims: &[Trim], text: &str, expected: &str) {
        assert_eq!(trimmed(Span::new(0, text.len()), text, trims).of(text), expected, "{text:?}");
    }

    #[test]
    fn a_fence_around_the_whole_body_is_trimmed() {
        let trims = [Trim::WhiteSpace, Trim::WrappingFence];
        check(&trims, "\n```ts\na\n```\n", "a");
        check(&trims, "```ts\r\na\r\n```", "a");
        check(&trims, "```ts\n\n```", "");
        check(&trims, "```ts\n```", "");
        check(&trims, "```ts\na\n}```", "a\n}");
        check(&trims, "```ts\na\n`b```", "```ts\na\n`b```");
        check(&trims, "# T\n```ts\na\n```", "# T\n```ts\na\n```");
        check(&trims, "```ts\na\n```\nb", "```ts\na\n```\nb");
        check(&trims, "```ts\na\n```\nb\n```ts\nc\n```", "```ts\na\n```\nb\n```ts\nc\n```");
        check(&trims, "```md\n# T\n```ts\na\n```\n```", "# T\n```ts\na\n```");
        check(&trims, "````md\n```\na\n````", "```\na");
        check(&trims, "```ts", "```ts");
        check(&trims, "```", "```");
    }

    #[test]
    fn each_end_loses_its_line_break_by_itself() {
        let trims = [Trim::LineBreaks];
        check(&trims, "\na\n", "a");
        check(&trims, "a\n", "a");
        check(&trims, "\r\na\n\n", "a\n");
        check(&trims, "\na\r\n", "a\r");
        check(&trims, "a\r\n", "a");
        check(&trims, "\n", "");
    }

    #[test]
    fn rules_and_the_opening_fence_of_the_next_block_are_trimmed() {
        let trims = [Trim::Between];
        check(&trims, "***\n\na\n\n***\n```xml\n", "a");
        check(&trims, "a\n```sh\nb\n```\n", "a\n```sh\nb\n```");
        check(&trims, "a\n***```", "a");
        check(&trims, "* a\n* b", "* a\n* b");
        check(&trims, "***", "");
    }

    #[test]
    fn fences_and_rules_between_blocks_are_recognised() {
        for line in ["```", "```***", "***```xml", "``````xml", "~~~", " ```"] {
            assert!(matches!(read(line), LineKind::Fence(_)), "{line}");
        }
        for line in ["***", "---", "* * *", "___"] {
            assert_eq!(read(line), LineKind::Rule, "{line}");
        }
        for line in ["**a**", "- a", "--", "```<a> b", "```<a>", "*", "**- *", "x```"] {
            assert_eq!(read(line), LineKind::Text, "{line}");
        }
    }

    #[track_caller]
    fn check_fence(text: &str, expected: Option<&str>) {
        let at = text.find("<a>").unwrap_or_default();
        let end = text.find("<b>").unwrap_or(text.len());
        let around = Fences::default().around(at, 0, text, &ChunkedVec::default());
        let found = fence_end(Span::new(at, at + 3), end, text, around);
        assert_eq!(found.and_then(|(end, _)| text.get(at + 3..end)), expected, "{text:?}");
    }

    #[test]
    fn the_fence_around_an_opener_ends_its_block() {
        check_fence("```xml\n<a>\n1\n```\n", Some("\n1\n"));
        check_fence("```xml\n<a>\n1\n```\n\n```xml\n<b>", Some("\n1\n"));
        check_fence("```\n<a>\n1\n```\n***\n```\n<b>", Some("\n1\n"));
        check_fence("```\n<a>\n1\n```\n<b>", Some("\n1\n"));
        check_fence("```\n<a>\n1\n``````xml\n<b>", Some("\n1\n"));
        check_fence("```\n<a>\n```\n1\n```\n2\n```\n<b>", Some("\n```\n1\n```\n2\n"));
        check_fence("<a>\n```ts\n1\n```\n\ntext\n<b>", Some("\n```ts\n1\n```"));
        check_fence("```\n<a>\n```sh\n1\n```\n```\n```\n", Some("\n```sh\n1\n```\n"));
        check_fence("```sh\nls\n```\n\n<a>\n```\n1\n```\n", Some("\n```\n1\n```"));
        check_fence("```\n0\n```\n\n<a>\n```\n1\n```\n", Some("\n```\n1\n```"));
        check_fence("0\n```xml\n<a>\n1\n```\n", Some("\n1\n"));
        check_fence("0\n```\n<a>\n1\n```\n", Some("\n1\n"));
        check_fence("<a>\n````md\n```\n1\n```\n````\n\ntext\n<b>", Some("\n````md\n```\n1\n```\n````"));
        check_fence("<a>\n````md\n1\n```\n", None);
        check_fence("<a>\n1\n```\n", None);
        check_fence("<a>\n```\n1\n", None);
    }
}
