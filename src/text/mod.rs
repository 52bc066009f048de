//! Text with places: which bytes of which source does this come from?
//!
//! In: the text of a pack file, a case or a response.
//! Out: [`Source`], [`Sources`], [`Span`], [`Location`], [`Spanned`], and lines and columns for people.
//! Never: knows what a text means, or reads a file.

mod entity;
mod glob;
mod guard;
mod json;
mod path;

pub(crate) use entity::entity;
pub(crate) use glob::glob;
pub(crate) use guard::{Guard, is_margin};
pub(crate) use json::JsonCursor;
#[cfg(feature = "cli")]
pub(crate) use json::JsonPlaces;
pub(crate) use path::unsafe_because;

use std::borrow::Cow;
use std::cell::Cell;
use std::fmt;
use std::str::Utf8Error;
use std::sync::OnceLock;

/// A range of bytes, `start..end`, on character boundaries of its source.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Default)]
pub struct Span {
    /// The first byte.
    pub start: usize,
    /// The byte after the last.
    pub end: usize,
}

impl Span {
    /// The range `start..end`; an `end` before `start` is taken as empty.
    pub fn new(start: usize, end: usize) -> Self {
        Self { start, end: end.max(start) }
    }

    /// How many bytes it covers.
    pub fn len(self) -> usize {
        self.end - self.start
    }

    /// Whether it covers no byte.
    pub fn is_empty(self) -> bool {
        self.start == self.end
    }

    /// Whether `offset` lies within it.
    pub fn contains(self, offset: usize) -> bool {
        self.start <= offset && offset < self.end
    }

    /// Whether the whole of `inner` lies within it.
    pub fn covers(self, inner: Span) -> bool {
        self.start <= inner.start && inner.end <= self.end
    }

    /// The parts of it that no span of the ordered list covers.
    pub(crate) fn without(self, covered: &[Span]) -> impl Iterator<Item = Span> + '_ {
        let first = covered.partition_point(|cover| cover.end <= self.start);
        let covers = covered.get(first..).unwrap_or_default().iter();
        let mut at = self.start;
        covers
            .take_while(move |cover| cover.start < self.end)
            .copied()
            .chain([Span::new(self.end, self.end)])
            .filter_map(move |cover| {
                let gap = Span::new(at.min(cover.start), cover.start.min(self.end));
                at = at.max(cover.end);
                (!gap.is_empty()).then_some(gap)
            })
    }

    /// From its start to the end of a later one.
    pub fn to(self, last: Span) -> Span {
        Span::new(self.start, last.end)
    }

    /// The text it covers; empty where the span does not fit `text`.
    pub fn of(self, text: &str) -> &str {
        text.get(self.start..self.end).unwrap_or_default()
    }

    /// The part of it without white space at either end of the text it covers.
    pub fn trimmed(self, text: &str) -> Span {
        let body = self.of(text);
        // Most texts have none.
        if let (Some(first), Some(last)) = (body.as_bytes().first(), body.as_bytes().last())
            && first.is_ascii_graphic()
            && last.is_ascii_graphic()
        {
            return self;
        }
        let rest = body.trim_start();
        let start = self.start + (body.len() - rest.len());
        Span::new(start, start + rest.trim_end().len())
    }
}

impl From<std::ops::Range<usize>> for Span {
    fn from(range: std::ops::Range<usize>) -> Self {
        Span::new(range.start, range.end)
    }
}

/// A [`Span`] of a response in half the room: there may be very many of them, and 32 bits are enough for the longest
/// response that is read ([`Limits::LONGEST`](crate::program::Limits::LONGEST)).
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub(crate) struct Stretch {
    start: u32,
    end: u32,
}

impl Stretch {
    /// The first byte.
    pub(crate) fn start(self) -> usize {
        self.start as usize
    }

    /// The byte after the last.
    pub(crate) fn end(self) -> usize {
        self.end as usize
    }

    pub(crate) fn span(self) -> Span {
        Span::new(self.start(), self.end())
    }
}

impl From<Span> for Stretch {
    fn from(span: Span) -> Self {
        Self { start: span.start as u32, end: span.end as u32 }
    }
}

/// Which source of a [`Sources`] a place lies in.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct SourceId(u32);

impl SourceId {
    /// The response being read: it stands in no [`Sources`], for it is not the pack's.
    pub const RESPONSE: SourceId = SourceId(u32::MAX);
}

/// A range of bytes in a source.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Location {
    /// The source.
    pub source: SourceId,
    /// The bytes.
    pub span: Span,
}

impl Location {
    /// A place in the response.
    pub fn response(span: Span) -> Self {
        Self { source: SourceId::RESPONSE, span }
    }
}

/// A value and the place where it was typed.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Spanned<T> {
    /// The value.
    pub value: T,
    /// Where it stands.
    pub at: Location,
}

impl<T> Spanned<T> {
    /// `value`, typed at `at`.
    pub fn new(value: T, at: Location) -> Self {
        Self { value, at }
    }

    /// The same place with another value.
    pub fn map<U>(self, change: impl FnOnce(T) -> U) -> Spanned<U> {
        Spanned { value: change(self.value), at: self.at }
    }

    /// A borrow of the value at the same place.
    pub fn as_ref(&self) -> Spanned<&T> {
        Spanned { value: &self.value, at: self.at }
    }
}

impl Spanned<String> {
    /// Where a part of the text stands, if the literal can be mapped byte by byte; else the whole literal.
    ///
    /// The literal itself is not at hand, only its length. Quotes around a string without escapes add two bytes, and an
    /// escape is longer than what it stands for, so a difference of two means that there is none. A difference of nothing is
    /// a text without quotes. Longer ones (`'''` and its line break) could as well be escapes.
    pub(crate) fn place_of(&self, part: Span) -> Location {
        let shift = match self.at.span.len().checked_sub(self.value.len()) {
            Some(0) => self.at.span.start,
            Some(2) => self.at.span.start + 1,
            _ => return self.at,
        };
        Location { span: Span::new(shift + part.start, shift + part.end), ..self.at }
    }
}

/// A line and a column, both counted from 1; a column counts characters.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub struct Place {
    /// The line, from 1.
    pub line: usize,
    /// The column in characters, from 1.
    pub column: usize,
}

impl Place {
    const FIRST: Self = Self { line: 1, column: 1 };

    /// The place behind a text that starts here.
    fn behind(self, text: &str) -> Self {
        let breaks = memchr::memchr_iter(b'\n', text.as_bytes()).count();
        let last = memchr::memrchr(b'\n', text.as_bytes()).filter(|_| breaks > 0);
        let line = last.map_or(text, |last| text.get(last + 1..).unwrap_or_default());
        let column = if breaks > 0 { 1 } else { self.column };
        Self { line: self.line + breaks, column: column + line.chars().count() }
    }
}

impl fmt::Display for Place {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}:{}", self.line, self.column)
    }
}

/// A named text.
#[derive(Debug, Clone)]
pub struct Source {
    name: String,
    text: String,
    lines: OnceLock<Vec<usize>>,
}

impl Source {
    /// A source called `name` in messages, usually a path relative to what the user named.
    pub fn new(name: impl Into<String>, text: impl Into<String>) -> Self {
        Self { name: name.into(), text: text.into(), lines: OnceLock::new() }
    }

    /// What messages call it.
    pub fn name(&self) -> &str {
        &self.name
    }

    /// Its text.
    pub fn text(&self) -> &str {
        &self.text
    }

    /// The line and column of the byte `offset`. The lines are counted once, on first use.
    pub fn place(&self, offset: usize) -> Place {
        place_in(&self.text, self.starts(), offset)
    }

    /// The text of a line, counted from 1, with its line break; empty where there is none.
    pub fn line(&self, number: usize) -> &str {
        let start = |line: usize| self.starts().get(line).copied().unwrap_or(self.text.len());
        match number.checked_sub(1) {
            Some(line) => self.text.get(start(line)..start(number)).unwrap_or_default(),
            None => "",
        }
    }

    fn starts(&self) -> &[usize] {
        self.lines.get_or_init(|| line_starts(&self.text))
    }
}

/// The sources of a pack, by [`SourceId`].
#[derive(Debug, Clone, Default)]
pub struct Sources(Vec<Source>);

impl Sources {
    /// Adds a source and returns what to call it.
    pub fn add(&mut self, source: Source) -> SourceId {
        self.0.push(source);
        SourceId((self.0.len() - 1) as u32)
    }

    /// Adds a file that is not UTF-8, as it can be shown, and returns where it ceases to be.
    pub(crate) fn add_broken(&mut self, name: &str, bytes: &[u8], error: Utf8Error) -> Location {
        let source = self.add(Source::new(name, String::from_utf8_lossy(bytes)));
        let start = error.valid_up_to();
        Location { source, span: Span::new(start, start + char::REPLACEMENT_CHARACTER.len_utf8()) }
    }

    /// The source, unless the id is another set's or the response's.
    pub fn get(&self, id: SourceId) -> Option<&Source> {
        self.0.get(id.0 as usize)
    }

    /// `name:line:column` of where `at` starts.
    pub fn place_name(&self, at: Location) -> Option<String> {
        let source = self.get(at.source)?;
        Some(format!("{}:{}", source.name(), source.place(at.span.start)))
    }

    /// The source that messages call so.
    pub(crate) fn find(&self, name: &str) -> Option<(SourceId, &Source)> {
        self.iter().find(|(_, source)| source.name() == name)
    }

    /// All sources in the order in which they were added.
    pub fn iter(&self) -> impl Iterator<Item = (SourceId, &Source)> {
        self.0.iter().enumerate().map(|(index, source)| (SourceId(index as u32), source))
    }
}

/// Lines and columns of a text that is only borrowed, counted on the way: quickest for places in their order.
#[derive(Debug)]
pub struct Lines<'t> {
    text: &'t str,
    /// A byte and its place, from which the next one is counted.
    known: Cell<(usize, Place)>,
}

impl<'t> Lines<'t> {
    /// The lines of `text`.
    pub fn new(text: &'t str) -> Self {
        Self { text, known: Cell::new((0, Place::FIRST)) }
    }

    /// The text itself.
    pub(crate) fn text(&self) -> &'t str {
        self.text
    }

    /// The line and column of the byte `offset`.
    pub fn place(&self, offset: usize) -> Place {
        let offset = offset.min(self.text.len());
        let (start, from) = Some(self.known.get()).filter(|(start, _)| *start <= offset).unwrap_or((0, Place::FIRST));
        let place = from.behind(self.text.get(start..offset).unwrap_or_default());
        self.known.set((offset, place));
        place
    }
}

/// The last place up to the byte `at` where a character of `text` starts, or its end.
pub(crate) fn boundary(text: &str, at: usize) -> usize {
    let mut at = at.min(text.len());
    while !text.is_char_boundary(at) {
        at -= 1;
    }
    at
}

/// Whether two names are the same. Most are a few bytes, for which a comparison of slices would be a call.
#[inline]
pub(crate) fn same(one: &str, other: &str) -> bool {
    let (one, other) = (one.as_bytes(), other.as_bytes());
    one.len() == other.len()
        && match one.len() {
            0..4 => one.iter().zip(other).all(|(one, other)| one == other),
            4..=8 => one.first_chunk::<4>() == other.first_chunk() && one.last_chunk::<4>() == other.last_chunk(),
            9..=16 => one.first_chunk::<8>() == other.first_chunk() && one.last_chunk::<8>() == other.last_chunk(),
            _ => one == other,
        }
}

/// `text` cut to at most `most` characters, with an ellipsis where something was left out; line breaks become spaces, and
/// what would turn it around is escaped.
pub fn excerpt(text: &str, most: usize) -> Cow<'_, str> {
    let flat = |text: &str| {
        let mut out = String::with_capacity(text.len());
        for c in text.chars() {
            match c {
                c if c.is_control() => out.push(' '),
                c if turns(c) => out.extend(c.escape_unicode()),
                c => out.push(c),
            }
        }
        out
    };
    match text.char_indices().nth(most) {
        Some((cut, _)) => Cow::Owned(flat(text.get(..cut).unwrap_or_default()) + "…"),
        None if text.chars().any(|c| c.is_control() || turns(c)) => Cow::Owned(flat(text)),
        None => Cow::Borrowed(text),
    }
}

/// The text without what would end its line or steer a terminal.
pub(crate) fn one_line(text: &str) -> Cow<'_, str> {
    if !text.chars().any(|c| c.is_control() || turns(c)) {
        return Cow::Borrowed(text);
    }
    let mut line = String::with_capacity(text.len());
    for c in text.chars() {
        match c {
            '\n' => line.push_str("\\n"),
            '\r' => line.push_str("\\r"),
            '\t' => line.push_str("\\t"),
            c if c.is_control() || turns(c) => line.extend(c.escape_unicode()),
            c => line.push(c),
        }
    }
    Cow::Owned(line)
}

/// Whether a character makes what follows look as if it stood before.
pub(crate) fn turns(c: char) -> bool {
    matches!(c, '\u{202a}'..='\u{202e}' | '\u{2066}'..='\u{2069}')
}

/// What stands in a file that somebody wrote, however it was saved: without a byte order mark, and where all of its lines
/// end as those of Windows do, with a line feed for each line break. So a file means the same on every machine, and one
/// that has both on purpose still says what it says.
pub(crate) fn authored(saved: &str) -> Cow<'_, str> {
    let text = saved.strip_prefix(BYTE_ORDER_MARK).unwrap_or(saved);
    if has_wide_breaks(text) { Cow::Owned(text.replace("\r\n", "\n")) } else { Cow::Borrowed(text) }
}

/// `text` as the file was `saved` in whose place it comes: with its byte order mark, and its kind of line breaks.
#[cfg(feature = "cli")]
pub(crate) fn saved_like(saved: &str, text: &str) -> String {
    let body = saved.strip_prefix(BYTE_ORDER_MARK);
    let text = if has_wide_breaks(saved) { text.replace("\r\n", "\n").replace('\n', "\r\n") } else { text.to_owned() };
    if body.is_some() { format!("{BYTE_ORDER_MARK}{text}") } else { text }
}

/// Where a text begins: behind a byte order mark, which is none of it.
pub(crate) fn beginning(text: &str) -> usize {
    text.len() - text.strip_prefix(BYTE_ORDER_MARK).unwrap_or(text).len()
}

const BYTE_ORDER_MARK: char = '\u{feff}';

fn has_wide_breaks(text: &str) -> bool {
    text.contains('\n') && text.split_inclusive('\n').all(|line| !line.ends_with('\n') || line.ends_with("\r\n"))
}

fn line_starts(text: &str) -> Vec<usize> {
    std::iter::once(0).chain(memchr::memchr_iter(b'\n', text.as_bytes()).map(|at| at + 1)).collect()
}

fn place_in(text: &str, starts: &[usize], offset: usize) -> Place {
    let line = starts.partition_point(|start| *start <= offset).max(1);
    let start = starts.get(line - 1).copied().unwrap_or_default();
    let before = text.get(start..offset.min(text.len())).unwrap_or_default();
    Place { line, column: before.chars().count() + 1 }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check(text: &str, offset: usize, line: usize, column: usize) {
        assert_eq!(Source::new("t", text).place(offset), Place { line, column });
        let lines = Lines::new(text);
        assert_eq!(lines.place(offset), Place { line, column });
        lines.place(text.len());
        assert_eq!(lines.place(offset), Place { line, column });
    }

    #[test]
    fn places_count_lines_and_characters_from_one() {
        check("", 0, 1, 1);
        check("ab\ncd", 3, 2, 1);
        check("äb\ncd", 2, 1, 2);
        check("a\n", 2, 2, 1);
    }

    #[test]
    fn a_file_means_the_same_however_it_was_saved() {
        for saved in ["a\nb\n", "\u{feff}a\nb\n", "a\r\nb\r\n", "\u{feff}a\r\nb\r\n"] {
            assert_eq!(authored(saved), "a\nb\n");
            #[cfg(feature = "cli")]
            assert_eq!(saved_like(saved, "a\nb\n"), saved);
        }
        for mixed in ["a\nb\r\n", "a\r\nb\n", "a"] {
            assert_eq!(authored(mixed), mixed);
        }
    }

    #[test]
    fn an_excerpt_is_one_line_and_short() {
        assert_eq!(excerpt("a\nb", 9), "a b");
        assert_eq!(excerpt("abcdef", 3), "abc…");
        assert_eq!(excerpt("a\u{202e}b", 9), "a\\u{202e}b");
    }
}
