//! Texts: which texts are displayed?
//!
//! In: the blocks with their fates, and the text outside them.
//! Out: [`Composed`] texts: the message, and the bodies of blocks.
//! Never: changes a character, except for redactions, and for entities that a declaration has decoded.

use super::outside::{OutsideFate, OutsideText};
use super::redactions::{self, Redactions};
use super::remaining::{remaining_spans, trim_ends};
use super::{Fate, Judgement};
use crate::diagnostic::{Remark, message};
use crate::document::{BodyEncoding, ChunkedVec, TextEncoding};
use crate::program::TextRole;
use crate::surface::{Decoding, Role};
use crate::text::{Present, Slice, Span, excerpt};
use crate::value::Value;
use smallvec::SmallVec;
use std::borrow::Cow;
use std::ops::{Deref, Range};
use std::sync::Arc;

/// Texts composed of pieces, and the pieces outside every block.
#[derive(Debug, Default)]
pub(crate) struct ComposedTexts {
    pub(crate) message: Composed,
    /// Text outside every block that the dialect makes a section: its name and text.
    pub(crate) section: Option<(String, Composed)>,
    /// Whether a guardrail dropped the whole message.
    pub(crate) message_dropped: bool,
    /// The fate of all text outside every block that has no place in the dialect.
    pub(super) strays: OutsideFate,
    /// What strategies removed from the text outside every block, in order.
    pub(super) taken: Vec<Span>,
    /// The texts made from the values of blocks, by block.
    made: Vec<(usize, String)>,
    pub(super) pieces: ChunkedVec<OutsideText>,
}

/// A text made of pieces of the response.
#[derive(Debug, Default, Clone)]
pub(crate) struct Composed {
    pub(crate) text: String,
    parts: SmallVec<[TextPart; 1]>,
    /// The span in the response from the first piece to the last.
    pub(crate) span: Span,
}

#[derive(Debug, Clone, Copy)]
struct TextPart {
    /// The offset of the piece in the text.
    at: usize,
    raw: Span,
    spelling: TextEncoding,
    /// The block whose value the piece was made from.
    made: Option<usize>,
}

/// A part of the message: pieces of the response, or the text made from the value of a block.
enum MessagePart<'s> {
    Pieces(Spans, TextEncoding),
    Made(usize, &'s str),
}

/// Where a range of a text comes from.
pub(super) enum RangeOrigin {
    /// A place in the response.
    Response(Span),
    /// A range of the text made from the value of a block.
    Made(usize, Range<usize>),
    /// A range of a value that is one text, such as a parameter or a key.
    Value(Range<usize>),
}

/// The parts of the message, each with its place.
type Parts<'s> = SmallVec<[(usize, MessagePart<'s>); 2]>;

impl MessagePart<'_> {
    fn piece(span: Span) -> Self {
        MessagePart::Pieces(Spans::One(span), TextEncoding::Plain)
    }
}

/// Pieces of the response; usually just one.
pub(super) enum Spans {
    One(Span),
    Many(Vec<Span>),
}

impl Deref for Spans {
    type Target = [Span];

    fn deref(&self) -> &[Span] {
        match self {
            Spans::One(span) => std::slice::from_ref(span),
            Spans::Many(spans) => spans,
        }
    }
}

impl Composed {
    /// A text made from a value. Its place is that of the value, or of the block or field around it.
    pub(super) fn of_value(text: String, place: Span) -> Self {
        Self { text, parts: SmallVec::new(), span: place }
    }

    /// Appends a part; `separator` is added if neither it nor the text so far is empty.
    fn add(&mut self, response: &str, visible: MessagePart<'_>, separator: &str, redactions: &Redactions) {
        let empty = match &visible {
            MessagePart::Pieces(spans, _) => spans.iter().all(|span| span.is_empty()),
            MessagePart::Made(_, text) => text.is_empty(),
        };
        if !self.text.is_empty() && !empty {
            self.text.push_str(separator);
        }
        match visible {
            MessagePart::Made(block, text) => {
                let (at, raw) = (self.text.len(), Span::new(self.span.end, self.span.end));
                self.parts.push(TextPart { at, raw, spelling: TextEncoding::Plain, made: Some(block) });
                self.text.push_str(text);
            }
            MessagePart::Pieces(spans, spelling) => {
                if spans.len() > 1 {
                    self.text.reserve(spans.iter().map(|span| span.len()).sum());
                }
                for span in spans.iter() {
                    self.push(response, *span, spelling, redactions);
                }
            }
        }
    }

    fn push(&mut self, response: &str, raw: Span, spelling: TextEncoding, redactions: &Redactions) {
        for piece in redactions.pieces(raw) {
            match piece {
                redactions::RedactionPiece::Written(raw) => self.push_written(response, raw, spelling),
                redactions::RedactionPiece::Instead(raw, with) => {
                    self.parts.push(TextPart { at: self.text.len(), raw, spelling: TextEncoding::Plain, made: None });
                    self.text.push_str(with);
                    self.cover(raw);
                }
            }
        }
    }

    fn push_written(&mut self, response: &str, raw: Span, spelling: TextEncoding) {
        if raw.is_empty() {
            return;
        }
        self.parts.push(TextPart { at: self.text.len(), raw, spelling, made: None });
        match spelling.decode(raw.of(response)) {
            Cow::Borrowed(text) => self.text.push_str(text),
            Cow::Owned(text) if self.text.is_empty() => self.text = text,
            Cow::Owned(text) => self.text.push_str(&text),
        }
        self.cover(raw);
    }

    /// Extends the span to the end of the last part.
    fn cover(&mut self, raw: Span) {
        self.span = if self.parts.len() == 1 { raw } else { Span::new(self.span.start, raw.end) };
    }

    /// Where a range of the text comes from, piece by piece, because other blocks may be between two pieces.
    pub(super) fn origins(&self, response: &str, range: Range<usize>) -> Vec<RangeOrigin> {
        if self.parts.is_empty() {
            return vec![RangeOrigin::Value(range)];
        }
        let mut origins: Vec<RangeOrigin> = Vec::new();
        let first = self.parts.partition_point(|part| part.at <= range.start).saturating_sub(1);
        let parts = self.parts.slice(first..);
        for (index, part) in parts.iter().enumerate().take_while(|(_, part)| part.at < range.end) {
            let until = parts.get(index + 1).map_or(self.text.len(), |next| next.at);
            let own = range.start.max(part.at)..range.end.min(until);
            origins.push(match part.made {
                Some(block) => RangeOrigin::Made(block, own.start - part.at..own.end - part.at),
                None => RangeOrigin::Response(self.locate(response, own)),
            });
        }
        origins
    }

    /// The length of the text that comes from the response before `place`.
    pub(crate) fn before(&self, place: usize) -> usize {
        let index = self.parts.partition_point(|part| part.raw.start < place);
        self.parts.get(index).map_or(self.text.len(), |part| part.at)
    }

    /// The place in the response of a range of the text; the whole span, if the text is not made of pieces.
    pub(super) fn locate(&self, response: &str, range: Range<usize>) -> Span {
        if self.parts.is_empty() {
            return self.span;
        }
        let place = |offset: usize| {
            let index = self.parts.partition_point(|part| part.at <= offset).checked_sub(1)?;
            let part = self.parts.get(index)?;
            let inside = offset - part.at;
            let raw = part.spelling.raw_offset(part.raw.of(response), inside);
            Some((part.raw.start + raw).min(part.raw.end))
        };
        let start = place(range.start).unwrap_or(self.span.start);
        let end = if range.is_empty() { start } else { place(range.end - 1).map_or(start, |last| last + 1) };
        let mut end = end.min(response.len());
        while !response.is_char_boundary(end) {
            end += 1;
        }
        Span::new(start, end)
    }
}

/// A text with these ranges replaced; overlapping ranges are merged.
pub(super) fn replaced(text: &str, ranges: &mut [(Range<usize>, Arc<str>)]) -> String {
    ranges.sort_by_key(|(range, _)| (range.start, range.end));
    let (mut whole, mut at) = (String::with_capacity(text.len()), 0);
    for (range, with) in ranges.iter() {
        if range.start >= at {
            whole.push_str(text.slice(at..range.start));
            whole.push_str(with);
        }
        at = at.max(range.end);
    }
    whole.push_str(text.slice(at..));
    whole
}

impl Judgement<'_> {
    /// Composes the message, and the section from text outside.
    pub(super) fn compose(&mut self) {
        let mut parts = Parts::new();
        self.add_outside(&mut parts);
        self.add_blocks(&mut parts);
        parts.sort_by_key(|(start, ..)| *start);
        let mut message = Composed::default();
        let separator = self.mode.and_then(|mode| mode.reply.separator.as_deref()).unwrap_or("\n\n");
        for (_, visible) in parts {
            message.add(self.text, visible, separator, &self.redactions);
        }
        let section = self.outside_section().map(|(name, span)| {
            let mut section = Composed::default();
            section.push(self.text, span, TextEncoding::Plain, &self.redactions);
            (name.to_owned(), section)
        });
        self.texts.section = section;
        self.texts.message = message;
        self.renew_message();
    }

    /// Adds the text outside every block that is the message, or the section shown as message.
    fn add_outside(&self, parts: &mut Parts<'_>) {
        if self.is_prose() {
            for spans in self.prose() {
                let start = spans.first().map_or(0, |first| first.start);
                parts.push((start, MessagePart::Pieces(Spans::Many(spans), TextEncoding::Plain)));
            }
            return;
        }
        let shows = self.mode.and_then(|mode| mode.reply.shows.as_deref());
        let shows_section = shows.is_some() && self.outside_section().map(|(name, _)| name) == shows;
        for piece in self.texts.pieces.iter() {
            if piece.fate == OutsideFate::Message || (piece.fate == OutsideFate::Section && shows_section) {
                parts.push((piece.core().start, MessagePart::piece(piece.core())));
            }
        }
    }

    /// Adds the blocks that are the message, and those that are shown raw.
    fn add_blocks<'s>(&'s self, parts: &mut Parts<'s>) {
        let is_prose = self.is_prose();
        for (index, block) in self.document.blocks.iter().enumerate() {
            match self.fate(index) {
                // Inside a message, or where the text outside every block is the message, the raw block is part of
                // that text already.
                Fate::Text if block.parent().map_or(is_prose, |parent| self.shows(parent)) => {}
                Fate::Text => {
                    // The white space at the end of an unclosed block, before the next block, is not part of the
                    // text.
                    parts.push((block.span().start, MessagePart::piece(block.span().trimmed(self.text))));
                }
                Fate::Counts | Fate::Lifted if self.is_message(index) => {
                    let visible = match self.made(index) {
                        Some(text) => MessagePart::Made(index, text),
                        None => MessagePart::Pieces(self.body_spans(index), self.spelling(index)),
                    };
                    parts.push((block.body().start, visible));
                }
                _ => {}
            }
        }
    }

    /// Whether text outside every block is the message.
    fn is_prose(&self) -> bool {
        self.dialect.is_some_and(|dialect| dialect.text == TextRole::Message)
    }

    /// Whether the text of a block is the message, by its role or as the section shown as message.
    pub(super) fn is_message(&self, index: usize) -> bool {
        let shows = self.mode.and_then(|mode| mode.reply.shows.as_deref());
        self.block(index).is_some_and(|(_, bound)| match bound.role {
            Role::Message => true,
            Role::Section => shows.is_some() && self.content_name(index).as_deref() == shows,
            _ => false,
        })
    }

    /// The prose of a dialect that makes outside text the message: the text outside every block, and the blocks shown
    /// raw. A block that is itself a message ends one part and starts the next.
    pub(super) fn prose(&self) -> Vec<Vec<Span>> {
        let blocks = || self.document.blocks.iter().enumerate();
        let raw = blocks().filter(|(index, block)| block.parent().is_none() && self.fate(*index) == Fate::Text);
        let pieces = self.texts.pieces.iter().filter(|piece| piece.fate == OutsideFate::Message);
        let mut visible: SmallVec<[Span; 4]> =
            raw.map(|(_, block)| block.span()).chain(pieces.map(|piece| piece.gap())).collect();
        visible.sort_unstable_by_key(|span| span.start);
        let Span { start, end } = self.outer();
        let mut at = start;
        let holes = visible.into_iter().chain([Span::new(end, end)]).map(|span| {
            let hole = Span::new(at, span.start);
            at = span.end;
            hole
        });
        let holes: SmallVec<[Span; 4]> = holes.filter(|hole| !hole.is_empty()).collect();
        let messages = blocks().filter(|(index, _)| self.counts(*index) && self.is_message(*index));
        let mut messages = messages.map(|(_, block)| block.span().start).peekable();
        let mut parts = vec![Vec::new()];
        for span in remaining_spans(self.text, Span::new(start, end), &holes) {
            while messages.next_if(|start| *start <= span.start).is_some() {
                parts.push(Vec::new());
            }
            parts.last_mut().into_iter().for_each(|part| part.push(span));
        }
        parts.into_iter().map(|part| trim_ends(self.text, part)).filter(|part| !part.is_empty()).collect()
    }

    /// Whether a block is a message that counts.
    fn shows(&self, index: usize) -> bool {
        self.counts(index) && self.block(index).is_some_and(|(_, bound)| bound.role == Role::Message)
    }

    /// Whether a nested block is part of the text of the block around it.
    pub(super) fn stays_in(&self, child: usize, around: usize) -> bool {
        match self.fate(child) {
            Fate::Inner => true,
            Fate::Text => self.shows(around),
            Fate::Counts | Fate::Lifted | Fate::Dropped => false,
        }
    }

    /// The body of a block as it is displayed: without the blocks that are removed from it.
    pub(super) fn body_spans(&self, index: usize) -> Spans {
        let Some(block) = self.document.blocks.get(index) else { return Spans::Many(Vec::new()) };
        let holes: Vec<Span> = self
            .document
            .blocks
            .from(index + 1)
            .take_while(|(_, child)| child.span().start <= block.span().end)
            .filter(|(child, found)| {
                found.parent() == Some(index) && self.fate(*child) != Fate::Counts && !self.stays_in(*child, index)
            })
            .map(|(_, child)| child.span())
            .collect();
        if holes.is_empty() {
            return Spans::One(block.body());
        }
        Spans::Many(trim_ends(self.text, remaining_spans(self.text, block.body(), &holes)))
    }

    /// How the body of a block is encoded.
    fn spelling(&self, index: usize) -> TextEncoding {
        let Some((block, bound)) = self.block(index) else { return TextEncoding::Plain };
        match block.written {
            BodyEncoding::Bound => match (bound.decode, &self.dialect) {
                (Some(Decoding::Entities), _) if bound.role == Role::Content => TextEncoding::Plain,
                (Some(Decoding::Guarded), Some(dialect)) => dialect
                    .structure
                    .as_ref()
                    .map_or(TextEncoding::Plain, |structure| TextEncoding::Guarded(structure.guard)),
                _ => TextEncoding::of(bound),
            },
            _ => block.encoding_of_member(self.text),
        }
    }

    /// The text made from the value of a block.
    pub(super) fn made(&self, index: usize) -> Option<&str> {
        let made = &self.texts.made;
        let at = made.binary_search_by_key(&index, |(block, _)| *block).ok()?;
        made.get(at).map(|(_, text)| text.as_str())
    }

    /// Makes the texts of values that have a template.
    pub(super) fn make_texts(&mut self) {
        for (index, block) in self.document.blocks.iter().enumerate() {
            let Some(template) = self.bound(block).and_then(|bound| bound.text.as_ref()) else { continue };
            let value = block.value().unwrap_or(&Value::Null);
            match template.text(&self.scope().with("value", value)) {
                Ok(text) => self.texts.made.push((index, text.trim_end().to_owned())),
                Err(failure) => {
                    let name = excerpt(block.name().of(self.text), 40).into_owned();
                    let message =
                        message!("the text of `{}` cannot be made, so it stays as it is: {}", &name, &failure);
                    self.remark(Remark::Note, block.span(), message, Some(template.at()));
                }
            }
        }
    }

    /// The text of a block as it is displayed; borrowed if it is one piece of the response.
    pub(crate) fn body(&self, index: usize) -> Cow<'_, str> {
        if let Some(text) = self.made(index) {
            return Cow::Borrowed(text);
        }
        match &*self.body_spans(index) {
            [only] if !self.redactions.touch(*only) => self.spelling(index).decode(only.of(self.text)),
            _ => Cow::Owned(self.body_text(index).text),
        }
    }

    /// The text of a block and its place. If blocks were joined, the first of them that counts has the text of all of
    /// them, and the others have none.
    pub(crate) fn body_joined(&self, index: usize) -> Option<(Cow<'_, str>, Span)> {
        let span = |index: usize| self.document.blocks.get(index).map(|block| block.span()).present();
        let joined = self.joined.iter().find(|blocks| blocks.binary_search(&index).is_ok());
        let Some(joined) = joined else { return Some((self.body(index), span(index))) };
        let mut standing = joined.iter().copied().filter(|block| self.counts(*block));
        if standing.next() != Some(index) {
            return None;
        }
        let (mut text, mut whole) = (self.body(index), span(index));
        for block in standing {
            let body = self.body(block);
            if !text.is_empty() && !body.is_empty() {
                text.to_mut().push_str("\n\n");
            }
            text.to_mut().push_str(&body);
            whole.end = span(block).end;
        }
        Some((text, whole))
    }

    /// The text of a block as it is displayed, with the places of its pieces.
    pub(super) fn body_text(&self, index: usize) -> Composed {
        if let (Some(text), Some(block)) = (self.made(index), self.document.blocks.get(index)) {
            return Composed::of_value(text.to_owned(), block.body());
        }
        let spelling = self.spelling(index);
        let mut text = Composed::default();
        for span in self.body_spans(index).iter() {
            text.push(self.text, *span, spelling, &self.redactions);
        }
        text
    }

    /// Replaces ranges of a text that was made from the value of a block, in any order.
    pub(super) fn redact_made(&mut self, index: usize, ranges: &mut [(Range<usize>, Arc<str>)]) {
        let made = &mut self.texts.made;
        if let Ok(at) = made.binary_search_by_key(&index, |(block, _)| *block)
            && let Some((_, text)) = made.get_mut(at)
        {
            *text = replaced(text, ranges);
        }
    }
}
