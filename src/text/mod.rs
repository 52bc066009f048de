//! Text with places: which bytes of which source does a part come from?
//!
//! In: the text of a pack file, a case or a response.
//! Out: [`Source`], [`Sources`], [`Span`], [`Location`], [`Spanned`], and lines and columns for people.
//! Never: interprets a text, or reads a file.

mod case;
pub(crate) mod eights;
mod entity;
mod extent;
mod fence;
mod file_place;
mod glob;
mod guard;
mod json;
mod lazy_regex;
mod legible;
mod path;
mod places;
mod present;
mod quoted;
mod regex_size;
mod saved;
mod search_state;
mod source;

pub(crate) use case::{capitalized, titled};
pub(crate) use entity::entities;
pub use entity::entity;
pub use extent::Extent;
pub(crate) use fence::starts_fence;
pub use file_place::FilePlace;
pub(crate) use glob::glob;
pub(crate) use guard::{Guard, is_margin};
pub(crate) use json::JsonCursor;
pub(crate) use lazy_regex::LazyRegex;
pub use legible::excerpt;
pub use legible::{is_bidi_control, one_line};
pub(crate) use legible::{is_unseen, legible};
pub use path::unsafe_because;
pub(crate) use path::{below, portable};
pub use places::JsonPlaces;
pub(crate) use places::pointer_steps;
pub(crate) use present::{Present, Slice};
#[doc(hidden)]
pub use quoted::quoted_length;
pub(crate) use quoted::{pattern, quoted, unescaped};
pub use saved::saved_like;
pub use saved::{authored, beginning};

pub(crate) use search_state::SearchState;
pub use source::{Lines, Place, Source, Sources};

/// A range of bytes, `start..end`, on character boundaries of its source.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Default)]
pub struct Span {
    /// The first byte.
    pub start: usize,
    /// The byte after the last.
    pub end: usize,
}

impl Span {
    /// The range `start..end`; empty if `end` is less than `start`.
    pub fn new(start: usize, end: usize) -> Self {
        Self { start, end: end.max(start) }
    }

    /// The number of bytes.
    pub fn len(self) -> usize {
        self.end - self.start
    }

    /// Whether the span has no bytes.
    pub fn is_empty(self) -> bool {
        self.start == self.end
    }

    /// Whether `offset` is within the span.
    pub fn contains(self, offset: usize) -> bool {
        self.start <= offset && offset < self.end
    }

    /// Whether the whole of `inner` is within the span.
    pub fn covers(self, inner: Span) -> bool {
        self.start <= inner.start && inner.end <= self.end
    }

    /// The parts of the span outside the spans in `covered`, which are ordered.
    pub(crate) fn without(self, covered: &[Span]) -> impl Iterator<Item = Span> + '_ {
        let first = covered.partition_point(|cover| cover.end <= self.start);
        let covers = covered.slice(first..).iter();
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

    /// The span from the start of this one to the end of `last`, which is later.
    pub fn to(self, last: Span) -> Span {
        Span::new(self.start, last.end)
    }

    /// The part of `text` in the span, which must be a part of this text; otherwise it is empty.
    #[cfg_attr(debug_assertions, track_caller)]
    pub fn of(self, text: &str) -> &str {
        text.slice(self.start..self.end)
    }

    /// The span without the white space at both ends of its text.
    pub fn trimmed(self, text: &str) -> Span {
        let body = self.of(text);
        // Fast path: nearly all white space is ASCII, where one byte is one character.
        let mut rest = body.trim_ascii_start();
        let mut core = rest.trim_ascii_end();
        let is_sure = |end: Option<&u8>| end.is_none_or(u8::is_ascii_graphic);
        if !(is_sure(core.as_bytes().first()) && is_sure(core.as_bytes().last())) {
            rest = body.trim_start();
            core = rest.trim_end();
        }
        let start = self.start + (body.len() - rest.len());
        Span::new(start, start + core.len())
    }
}

impl From<std::ops::Range<usize>> for Span {
    fn from(range: std::ops::Range<usize>) -> Self {
        Span::new(range.start, range.end)
    }
}

/// A [`Span`] of a response in half the size, because there may be very many. 32 bits are enough for the longest
/// response that is read ([`Limits::MAX_INPUT`](crate::program::Limits::MAX_INPUT)).
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

/// Identifies a source in [`Sources`].
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct SourceId(u32);

impl SourceId {
    /// The response being read. It is in no [`Sources`], because it is not part of the pack.
    pub const RESPONSE: SourceId = SourceId(u32::MAX);

    /// The index of the source in [`Sources`].
    pub(crate) fn number(self) -> usize {
        self.0 as usize
    }
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
    /// A range of bytes in the response.
    pub fn response(span: Span) -> Self {
        Self { source: SourceId::RESPONSE, span }
    }
}

/// A value and where it was written.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Spanned<T> {
    /// The value.
    pub value: T,
    /// Where it was written.
    pub at: Location,
}

impl<T> Spanned<T> {
    /// `value`, written at `at`.
    pub fn new(value: T, at: Location) -> Self {
        Self { value, at }
    }

    /// The changed value at the same place.
    pub fn map<U>(self, change: impl FnOnce(T) -> U) -> Spanned<U> {
        Spanned { value: change(self.value), at: self.at }
    }

    /// The value, borrowed, at the same place.
    pub fn as_ref(&self) -> Spanned<&T> {
        Spanned { value: &self.value, at: self.at }
    }
}

impl Spanned<String> {
    /// The place of a part of the text if the literal has no escapes; otherwise the place of the whole literal.
    ///
    /// Only the length of the literal is known here, not its text. Quotes add two bytes, and an escape is longer than
    /// its character: a literal two bytes longer than the text is quoted and has no escapes, and one of the same length
    /// has no quotes. Anything longer (`'''` and its line break) could also be due to escapes.
    pub(crate) fn place_of(&self, part: Span) -> Location {
        let shift = match self.at.span.len().checked_sub(self.value.len()) {
            Some(0) => self.at.span.start,
            Some(2) => self.at.span.start + 1,
            _ => return self.at,
        };
        Location { span: Span::new(shift + part.start, shift + part.end), ..self.at }
    }
}

/// The last character boundary of `text` at or before the byte `at`.
pub fn boundary(text: &str, at: usize) -> usize {
    let mut at = at.min(text.len());
    while !text.is_char_boundary(at) {
        at -= 1;
    }
    at
}

/// Whether two names are equal. Most names are so short that a call to `memcmp` costs more than the loop.
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
