//! Texts: what is there to show?
//!
//! In: the blocks with their fates, and the text between them.
//! Out: [`Composed`] texts, stray text answered, and an account of every byte.
//! Never: changes a character: texts are pieces of the response, with entities decoded where the binding says so.
//!
//! A block that is taken out of a text takes the lines that it fills with it (seed 001, §Output format: the text surrounds
//! the action): the blanks on its lines, and the line break behind it.

use super::{Fate, Judgement, Subject, defect};
use crate::diagnostic::{Defect, Remark};
use crate::document::{Pieces, Spelling, What, Written, without, without_between, without_frame};
use crate::program::Outside;
use crate::surface::{Between, Decoding, Role};
use crate::text::{Span, Stretch, excerpt};
use crate::value::Value;
use std::borrow::Cow;
use std::ops::Deref;

/// What is composed of pieces, and the account of every byte.
#[derive(Debug, Default)]
pub(crate) struct Texts {
    pub(crate) message: Composed,
    /// Text outside every block that the dialect calls a section.
    pub(crate) section: Option<(String, Composed)>,
    /// What a guardrail took away as a whole.
    pub(crate) message_dropped: bool,
    pub(super) takes_stray: bool,
    /// The texts that were made of the values of blocks, in their order.
    made: Vec<(usize, String)>,
    pieces: Pieces<Piece>,
}

/// A text made of pieces of the response.
#[derive(Debug, Default, Clone)]
pub(crate) struct Composed {
    pub(crate) text: String,
    parts: Vec<Part>,
    /// The whole blocks it was made of.
    pub(crate) span: Span,
}

#[derive(Debug, Clone, Copy)]
struct Part {
    /// Where it starts in the text.
    at: usize,
    raw: Span,
    spelling: Spelling,
}

/// A part of the message: pieces of the response, or what was made of a value.
enum Shown<'s> {
    Pieces(Spans, Spelling),
    Made(&'s str),
}

impl Shown<'_> {
    fn piece(span: Span) -> Self {
        Shown::Pieces(Spans::One(span), Spelling::Plain)
    }
}

/// Pieces of the response, which most often are one.
enum Spans {
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

/// Text outside every block.
#[derive(Debug)]
struct Piece {
    gap: Stretch,
    core: Stretch,
    fate: Place,
}

impl Piece {
    fn new(gap: Span, core: Span, fate: Place) -> Self {
        Self { gap: gap.into(), core: core.into(), fate }
    }

    /// The gap between two blocks, white space included.
    fn gap(&self) -> Span {
        self.gap.span()
    }

    /// What of it is left without white space and what may stand between blocks, at both ends.
    fn core(&self) -> Span {
        self.core.span()
    }
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Place {
    Stray,
    Section,
    Message,
    Dropped,
}

/// Under which name of the ledger a byte counts.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Leaf {
    Message,
    Thinking,
    Calls,
    Contents,
    Sections,
    Utterances,
    Markup,
    Stray,
    Dropped,
    Blank,
}

impl Leaf {
    /// Its word in the ledger.
    pub(crate) fn word(self) -> &'static str {
        match self {
            Leaf::Message => "message",
            Leaf::Thinking => "thinking",
            Leaf::Calls => "calls",
            Leaf::Contents => "contents",
            Leaf::Sections => "sections",
            Leaf::Utterances => "utterances",
            Leaf::Markup => "markup",
            Leaf::Stray => "stray",
            Leaf::Dropped => "dropped",
            Leaf::Blank => "blank",
        }
    }
}

impl Composed {
    /// The value of an attribute, which is located as the opener that it stands in.
    pub(super) fn of_attribute(text: String, opener: Span) -> Self {
        Self { text, parts: Vec::new(), span: opener }
    }

    /// What was made of a value, which is located as that value.
    fn made(text: String, value: Span) -> Self {
        Self { text, parts: Vec::new(), span: value }
    }

    fn push(&mut self, response: &str, raw: Span, spelling: Spelling) {
        if raw.is_empty() {
            return;
        }
        self.parts.push(Part { at: self.text.len(), raw, spelling });
        match spelling.decode(raw.of(response)) {
            Cow::Borrowed(text) => self.text.push_str(text),
            Cow::Owned(text) => self.text.push_str(&text),
        }
        self.span = if self.parts.len() == 1 { raw } else { Span::new(self.span.start, raw.end) };
    }

    /// Where a range of the text stands in the response.
    pub(crate) fn locate(&self, response: &str, range: std::ops::Range<usize>) -> Span {
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

impl Judgement<'_> {
    /// Finds the text outside every block, and answers what has no place.
    pub(super) fn judge_outside(&mut self) {
        let whole = Span::new(0, self.text.len());
        let inner = self.document.wrapper.map_or(whole, |(opener, closer)| Span::new(opener.end, closer.start));
        let outermost = self.document.blocks.iter().filter(|block| block.parent().is_none());
        let end = Span::new(inner.end, inner.end);
        let mut at = inner.start;
        let gaps = outermost.map(|block| block.span()).chain([end]).map(|block| {
            let gap = Span::new(at, block.start);
            at = block.end;
            gap
        });
        // What stands between members is no text.
        let gaps = gaps.flat_map(|gap| without(gap, &self.document.markup));
        let outside = self.dialect.map_or(&Outside::Stray, |(_, dialect)| &dialect.text);
        let takes = self.texts.takes_stray || *outside == Outside::Message;
        let section = self.outside_section().map(|(_, span)| span);
        let closers = self.stray_closers();
        let pieces = gaps.filter(|gap| !gap.is_empty()).map(|gap| match section {
            Some(core) if gap.contains(core.start) => Piece::new(gap, core, Place::Section),
            _ if *outside == Outside::Message => {
                Piece::new(gap, without_mark(gap, self.text).trimmed(self.text), Place::Message)
            }
            _ => {
                Piece::new(gap, self.without_between(gap, &closers), if takes { Place::Message } else { Place::Stray })
            }
        });
        self.texts.pieces = pieces.collect();
        for index in 0..self.texts.pieces.len() {
            let piece = self.texts.pieces.get(index).filter(|piece| piece.fate == Place::Stray);
            let Some(core) = piece.map(|piece| piece.core()).filter(|core| !core.is_empty()) else { continue };
            let message = format!("`{}` stands outside every block", excerpt(core.of(self.text), 40));
            let rule = self.dialect.map(|(_, dialect)| dialect.at);
            self.answer(
                Defect::StrayText,
                &Subject::Outside(index),
                defect(Defect::StrayText, core, message).with_rule(rule),
            );
        }
    }

    /// The text before the first block, where the dialect calls that a section and no block is called so.
    pub(crate) fn outside_section(&self) -> Option<(&str, Span)> {
        let (_, dialect) = self.dialect?;
        let Outside::Section(name) = &dialect.text else { return None };
        let is_called = |index: usize| {
            let is_section = self.block(index).is_some_and(|(_, bound)| bound.role == Role::Section);
            is_section && self.stands(index) && self.content_name(index).as_deref() == Some(name)
        };
        if (0..self.document.blocks.len()).any(is_called) {
            return None;
        }
        let (mut at, end) = self.outer();
        let core = |gap: Span| Some(without_between(gap, self.text)).filter(|core| !core.is_empty());
        for block in self.document.blocks.iter().filter(|block| block.parent().is_none()) {
            if let Some(core) = core(Span::new(at, block.span().start)) {
                return Some((name, core));
            }
            at = block.span().end;
            // Reasoning and wrappers stand before an answer, not in it.
            let passes = |role: Role| matches!(role, Role::Thinking | Role::Wrapper);
            if !self.bound(block).is_some_and(|bound| passes(bound.role)) {
                return None;
            }
        }
        core(Span::new(at, end)).map(|core| (name.as_str(), core))
    }

    /// Closers that close nothing, where the dialect lets them stand between blocks.
    fn stray_closers(&self) -> Vec<Span> {
        let lets = self.dialect.is_some_and(|(_, dialect)| dialect.between.contains(&Between::Closer));
        let found = self.document.found.iter().filter(|_| lets);
        found.filter(|found| found.what == What::Defect(Defect::StrayCloser)).map(|found| found.span()).collect()
    }

    /// What is left of a gap between blocks without what may stand there.
    fn without_between(&self, gap: Span, closers: &[Span]) -> Span {
        let between = self.dialect.map(|(_, dialect)| dialect.between.as_slice()).unwrap_or_default();
        let mut core = without_mark(gap, self.text).trimmed(self.text);
        if between.is_empty() {
            return core;
        }
        let mut first = closers.partition_point(|closer| closer.start < core.start);
        let mut last = closers.partition_point(|closer| closer.end <= core.end);
        loop {
            core = without_frame(core, self.text, between);
            let next = closers.get(first).filter(|closer| first < last && closer.start == core.start);
            let before = last.checked_sub(1).filter(|before| *before >= first).and_then(|before| closers.get(before));
            if let Some(closer) = next {
                core = Span::new(closer.end, core.end).trimmed(self.text);
                first += 1;
            } else if let Some(closer) = before.filter(|closer| closer.end == core.end) {
                core = Span::new(core.start, closer.start).trimmed(self.text);
                last -= 1;
            } else {
                return core;
            }
        }
    }

    pub(super) fn drop_outside(&mut self, piece: usize) {
        if let Some(piece) = self.texts.pieces.get_mut(piece) {
            piece.fate = Place::Dropped;
        }
    }

    pub(super) fn show_outside(&mut self, piece: usize) {
        if let Some(piece) = self.texts.pieces.get_mut(piece) {
            piece.fate = Place::Message;
        }
    }

    /// Composes the message, and what outside text is otherwise.
    pub(super) fn compose(&mut self) {
        let mut message = Composed::default();
        let outside = self.dialect.map_or(&Outside::Stray, |(_, dialect)| &dialect.text);
        if *outside == Outside::Message {
            let (start, end) = self.outer();
            let prose = self.prose(Span::new(start, end));
            message.text.reserve(prose.iter().map(|span| span.len()).sum());
            for span in prose {
                message.push(self.text, span, Spelling::Plain);
            }
        } else {
            let mut parts: Vec<(usize, Shown<'_>)> = Vec::new();
            let shows = self.mode.and_then(|mode| mode.reply.shows.as_deref());
            let shown_outside = shows.is_some() && self.outside_section().map(|(name, _)| name) == shows;
            for piece in self.texts.pieces.iter() {
                if piece.fate == Place::Message || (piece.fate == Place::Section && shown_outside) {
                    parts.push((piece.core().start, Shown::piece(piece.core())));
                }
            }
            for index in 0..self.document.blocks.len() {
                let Some((block, bound)) = self.block(index) else { continue };
                match self.fate(index) {
                    // Inside a message it is shown already.
                    Fate::Text if block.parent().is_some_and(|parent| self.shows(parent)) => {}
                    Fate::Text => {
                        parts.push((block.span().start, Shown::piece(block.span())));
                    }
                    Fate::Stands | Fate::Lifted if self.is_message(index, bound.role, shows) => {
                        let shown = match self.made(index) {
                            Some(text) => Shown::Made(text),
                            None => Shown::Pieces(self.body_spans(index), self.spelling(index)),
                        };
                        parts.push((block.body().start, shown));
                    }
                    _ => {}
                }
            }
            parts.sort_by_key(|(start, ..)| *start);
            for (_, shown) in parts {
                let empty = match &shown {
                    Shown::Pieces(spans, _) => spans.iter().all(|span| span.is_empty()),
                    Shown::Made(text) => text.is_empty(),
                };
                if !message.text.is_empty() && !empty {
                    message.text.push_str("\n\n");
                }
                match shown {
                    Shown::Made(text) => message.text.push_str(text),
                    Shown::Pieces(spans, spelling) => {
                        message.text.reserve(spans.iter().map(|span| span.len()).sum());
                        for span in spans.iter() {
                            message.push(self.text, *span, spelling);
                        }
                    }
                }
            }
        }
        if let Some((name, span)) = self.outside_section().map(|(name, span)| (name.to_owned(), span)) {
            let mut section = Composed::default();
            section.push(self.text, span, Spelling::Plain);
            self.texts.section = Some((name, section));
        }
        self.texts.message = message;
    }

    /// Whether a block's text is the message: by its role, or as the section that the mode shows.
    fn is_message(&self, index: usize, role: Role, shows: Option<&str>) -> bool {
        role == Role::Message
            || (role == Role::Section && shows.is_some() && self.content_name(index).as_deref() == shows)
    }

    fn outer(&self) -> (usize, usize) {
        let inner = self.document.wrapper.map_or((0, self.text.len()), |(opener, closer)| (opener.end, closer.start));
        let (start, end) = inner;
        (without_mark(Span::new(start, end), self.text).start, end)
    }

    /// The prose of a dialect whose outside text is the message: everything but the blocks that are taken out.
    fn prose(&self, region: Span) -> Vec<Span> {
        let blocks = self.document.blocks.iter().enumerate();
        let holes: Vec<Span> = blocks
            .filter(|(index, block)| block.parent().is_none() && self.fate(*index) != Fate::Text)
            .map(|(_, block)| block.span())
            .collect();
        let mut kept = kept(self.text, region, &holes);
        for piece in self.texts.pieces.iter() {
            // A strategy may have taken a piece of the prose away.
            if piece.fate == Place::Dropped {
                kept.retain(|span| span.end <= piece.gap().start || span.start >= piece.gap().end);
            }
        }
        trim_ends(self.text, kept)
    }

    /// Whether a block is a message that is shown.
    fn shows(&self, index: usize) -> bool {
        self.stands(index) && self.block(index).is_some_and(|(_, bound)| bound.role == Role::Message)
    }

    /// The body of a block as it is shown: without the blocks that are taken out of it.
    fn body_spans(&self, index: usize) -> Spans {
        let Some(block) = self.document.blocks.get(index) else { return Spans::Many(Vec::new()) };
        let holes: Vec<Span> = self
            .document
            .blocks
            .from(index + 1)
            .take_while(|(_, child)| child.parent().is_some())
            .filter(|(child, found)| {
                found.parent() == Some(index)
                    && match self.fate(*child) {
                        Fate::Lifted | Fate::Dropped => true,
                        Fate::Text => !self.shows(index),
                        Fate::Stands | Fate::Inner => false,
                    }
            })
            .map(|(_, child)| child.span())
            .collect();
        if holes.is_empty() {
            return Spans::One(block.body());
        }
        Spans::Many(trim_ends(self.text, kept(self.text, block.body(), &holes)))
    }

    /// How the body of a block is written.
    fn spelling(&self, index: usize) -> Spelling {
        let Some((block, bound)) = self.block(index) else { return Spelling::Plain };
        match block.written {
            Written::String => Spelling::Escapes,
            Written::Twice => Spelling::EscapesTwice,
            Written::Bound => match (bound.decode, &self.dialect) {
                (Some(Decoding::Entities), _) if bound.role != Role::Content => Spelling::Entities,
                (Some(Decoding::Guarded), Some((_, dialect))) => {
                    dialect.structure.as_ref().map_or(Spelling::Plain, |structure| Spelling::Guarded(structure.guard))
                }
                _ => Spelling::Plain,
            },
            Written::Value => Spelling::Plain,
        }
    }

    /// The text that was made of a block's value.
    fn made(&self, index: usize) -> Option<&str> {
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
                    let message = format!("the text of `{name}` cannot be made, so it stays as it is: {failure}");
                    self.remark(Remark::Note, block.span(), message, Some(template.at()));
                }
            }
        }
    }

    /// The text of a block as it is shown, borrowed where it is one piece of the response.
    pub(crate) fn body(&self, index: usize) -> Cow<'_, str> {
        if let Some(text) = self.made(index) {
            return Cow::Borrowed(text);
        }
        match &*self.body_spans(index) {
            [only] => self.spelling(index).decode(only.of(self.text)),
            _ => Cow::Owned(self.body_text(index).text),
        }
    }

    /// The text of a block as it is shown, with the places of its pieces.
    pub(super) fn body_text(&self, index: usize) -> Composed {
        if let (Some(text), Some(block)) = (self.made(index), self.document.blocks.get(index)) {
            return Composed::made(text.to_owned(), block.body());
        }
        let spelling = self.spelling(index);
        let mut text = Composed::default();
        for span in self.body_spans(index).iter() {
            text.push(self.text, *span, spelling);
        }
        text
    }

    /// Every byte of the response once, from the first to the last.
    pub(crate) fn leaves(&self, mut leaf: impl FnMut(Span, Leaf)) {
        if let Some((opener, closer)) = self.document.wrapper {
            self.markup(Span::new(0, opener.end), &mut leaf);
            self.inner_leaves(&mut leaf);
            self.markup(Span::new(closer.start, self.text.len()), &mut leaf);
        } else {
            self.inner_leaves(&mut leaf);
        }
    }

    /// What was taken off, such as a fence, and the white space around it.
    fn markup(&self, span: Span, leaf: &mut impl FnMut(Span, Leaf)) {
        let core = span.trimmed(self.text);
        let core = if core.is_empty() { Span::new(span.end, span.end) } else { core };
        leaf(Span::new(span.start, core.start), Leaf::Blank);
        leaf(core, Leaf::Markup);
        leaf(Span::new(core.end, span.end), Leaf::Blank);
    }

    fn inner_leaves(&self, leaf: &mut impl FnMut(Span, Leaf)) {
        let (prose_start, prose_end) = self.outer();
        let outside = self.dialect.map_or(&Outside::Stray, |(_, dialect)| &dialect.text);
        let prose = match outside {
            Outside::Message => self.prose(Span::new(prose_start, prose_end)),
            _ => Vec::new(),
        };
        let mut pieces = self.texts.pieces.iter().peekable();
        let mut at = self.document.wrapper.map_or(0, |(opener, _)| opener.end);
        let end = self.document.wrapper.map_or(self.text.len(), |(_, closer)| closer.start);
        for index in 0..=self.document.blocks.len() {
            let block = self.document.blocks.get(index);
            if block.is_some_and(|block| block.parent().is_some()) {
                continue;
            }
            let next = block.map_or(end, |block| block.span().start);
            while let Some(piece) = pieces.next_if(|piece| piece.gap().start < next) {
                leaf(Span::new(at, piece.gap().start), Leaf::Markup);
                self.outside_leaves(piece, outside, &prose, leaf);
                at = piece.gap().end;
            }
            leaf(Span::new(at, next), Leaf::Markup);
            if let Some(block) = block {
                self.block_leaves(index, leaf);
                at = block.span().end;
            }
        }
    }

    fn outside_leaves(&self, piece: &Piece, outside: &Outside, prose: &[Span], leaf: &mut impl FnMut(Span, Leaf)) {
        let kind = match (piece.fate, outside) {
            (Place::Dropped, _) => Leaf::Dropped,
            (Place::Message, Outside::Message) => {
                // What of the gap is shown is the message, the rest of it went with the blocks.
                let first = prose.partition_point(|span| span.end <= piece.gap().start);
                let mut at = piece.gap().start;
                for span in prose.iter().skip(first).take_while(|span| span.start < piece.gap().end) {
                    let start = span.start.max(piece.gap().start);
                    let end = span.end.min(piece.gap().end);
                    leaf(Span::new(at, start), Leaf::Blank);
                    leaf(Span::new(start, end), if self.texts.message_dropped { Leaf::Dropped } else { Leaf::Message });
                    at = end;
                }
                leaf(Span::new(at, piece.gap().end), Leaf::Blank);
                return;
            }
            (Place::Message, _) if self.texts.message_dropped => Leaf::Dropped,
            (Place::Message, _) => Leaf::Message,
            (Place::Section, _) => Leaf::Sections,
            (Place::Stray, _) => Leaf::Stray,
        };
        self.markup(Span::new(piece.gap().start, piece.core().start), leaf);
        leaf(piece.core(), kind);
        self.markup(Span::new(piece.core().end, piece.gap().end), leaf);
    }

    fn block_leaves(&self, index: usize, leaf: &mut impl FnMut(Span, Leaf)) {
        let Some((block, bound)) = self.block(index) else { return };
        let kind = match bound.role {
            Role::Message if self.texts.message_dropped => Leaf::Dropped,
            Role::Message => Leaf::Message,
            Role::Thinking => Leaf::Thinking,
            Role::Call => Leaf::Calls,
            Role::Content => Leaf::Contents,
            Role::Section => Leaf::Sections,
            Role::Utterance => Leaf::Utterances,
            Role::Wrapper => Leaf::Markup,
        };
        match self.fate(index) {
            Fate::Dropped => {
                leaf(block.span(), Leaf::Dropped);
                return;
            }
            Fate::Text => {
                leaf(block.span(), if self.texts.message_dropped { Leaf::Dropped } else { Leaf::Message });
                return;
            }
            Fate::Stands | Fate::Lifted | Fate::Inner => {}
        }
        leaf(Span::new(block.span().start, block.inner().start), Leaf::Markup);
        if bound.role == Role::Call {
            leaf(Span::new(block.inner().start, block.inner().end), kind);
        } else {
            let mut at = block.inner().start;
            let shown = self.body_spans(index);
            let mut shown = shown.iter().copied().peekable();
            // Body and inner blocks take turns; what neither has is white space.
            let mut child = index + 1;
            while at < block.inner().end {
                while self.document.blocks.get(child).is_some_and(|found| {
                    found.parent().is_some() && (found.parent() != Some(index) || self.fate(child) == Fate::Inner)
                }) {
                    child += 1;
                }
                let inside = self.document.blocks.get(child).filter(|found| found.parent() == Some(index));
                while shown.peek().is_some_and(|span| span.end <= at) {
                    shown.next();
                }
                let text = shown.peek().copied();
                let next_text = text.map_or(block.inner().end, |span| span.start.max(at));
                let next_child = inside.map_or(block.inner().end, |found| found.span().start);
                let next = next_text.min(next_child);
                self.markup(Span::new(at, next), leaf);
                at = next;
                if let Some(found) = inside.filter(|found| found.span().start == at) {
                    self.block_leaves(child, leaf);
                    at = found.span().end;
                    child += 1;
                } else if let Some(span) = text.filter(|span| span.start <= at) {
                    let end = span.end.min(next_child);
                    leaf(Span::new(at, end), kind);
                    at = end;
                }
            }
        }
        leaf(Span::new(block.inner().end, block.span().end), Leaf::Markup);
    }
}

/// A byte order mark is no text.
fn without_mark(span: Span, text: &str) -> Span {
    let mark = span.start == 0 && span.of(text).starts_with('\u{feff}');
    Span::new(span.start + if mark { '\u{feff}'.len_utf8() } else { 0 }, span.end)
}

/// What is left of a region without its holes. A hole that fills its lines takes their blanks and its line break.
fn kept(text: &str, region: Span, holes: &[Span]) -> Vec<Span> {
    let bytes = text.as_bytes();
    let blank = |from: usize, to: usize| {
        bytes.get(from..to).unwrap_or_default().iter().all(|byte| matches!(byte, b' ' | b'\t' | b'\r'))
    };
    let mut spans = Vec::with_capacity(holes.len() + 1);
    let mut at = region.start;
    let mut holes = holes.iter().peekable();
    while let Some(first) = holes.next() {
        let start = first.start;
        let mut end = first.end;
        // Holes on one line with nothing but blanks between them fill it together.
        while let Some(next) = holes.next_if(|next| blank(end, next.start)) {
            end = next.end;
        }
        let before = bytes.get(at..start).unwrap_or_default();
        let indent = before.iter().rev().take_while(|byte| matches!(byte, b' ' | b'\t')).count();
        let line = start - indent;
        let opens = line == region.start || bytes.get(line.wrapping_sub(1)) == Some(&b'\n');
        let after = bytes.get(end..region.end).unwrap_or_default();
        let spaces = after.iter().take_while(|byte| matches!(byte, b' ' | b'\t')).count();
        let line_end = match after.get(spaces..) {
            Some([] | [b'\r']) => Some(end + spaces),
            Some([b'\n', ..]) => Some(end + spaces + 1),
            Some([b'\r', b'\n', ..]) => Some(end + spaces + 2),
            _ => None,
        };
        match line_end.filter(|_| opens) {
            Some(line_end) => {
                spans.push(Span::new(at, line.max(at)));
                at = line_end;
            }
            None => {
                spans.push(Span::new(at, start));
                at = end;
            }
        }
    }
    spans.push(Span::new(at, region.end));
    spans.retain(|span| !span.is_empty());
    spans
}

/// Takes white space off the first and the last of the spans.
fn trim_ends(text: &str, mut spans: Vec<Span>) -> Vec<Span> {
    while let Some(first) = spans.first_mut() {
        let body = first.of(text);
        first.start += body.len() - body.trim_start().len();
        if !first.is_empty() {
            break;
        }
        spans.remove(0);
    }
    while let Some(last) = spans.last_mut() {
        last.end = last.start + last.of(text).trim_end().len();
        if !last.is_empty() {
            break;
        }
        spans.pop();
    }
    spans
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check(text: &str, expected: &str) {
        let holes: Vec<Span> = text.match_indices("[X]").map(|(at, hole)| Span::new(at, at + hole.len())).collect();
        let spans = trim_ends(text, kept(text, Span::new(0, text.len()), &holes));
        assert_eq!(spans.iter().map(|span| span.of(text)).collect::<String>(), expected, "{text:?}");
    }

    #[test]
    fn a_hole_takes_the_lines_that_it_fills() {
        check("Hi!\n[X]\nDone!", "Hi!\nDone!");
        check("Hi!\r\n [X]\t\r\nDone!", "Hi!\r\nDone!");
        check("Hi!\n\n[X]\n\nDone!", "Hi!\n\n\nDone!");
        check("Hi [X] there", "Hi  there");
        check("[X] [X]\nDone", "Done");
        check("Hi\n[X]", "Hi");
        check("[X]", "");
    }
}
