//! Stream events: what can be emitted before the response has ended?
//!
//! In: the parts of a response that have become certain, after each chunk.
//! Out: [`StreamEvent`]s: facts about the document that no continuation can change, each once, in order.
//! Never: emits a verdict: those come with the outcome.

use super::enclosing::Enclosing;
use super::open_block::OpenBlock;
use super::trim::{first_marks, is_cdata, is_frame_char, may_be_cdata, trimmed};
use super::{Block, ChunkedVec, OpenerView, ReadContext, TextEncoding, Wrapping};
use crate::program::{BlockId, NameSource, TextRole};
use crate::surface::{Ending, Role, Trim};
use crate::text::{Extent, Present, Slice, Span, boundary};
use serde::{Deserialize, Serialize};

/// A fact about a response that no continuation of it can change.
///
/// Events come in the order of the response. The text of a block, and the blocks inside it, come between its opening
/// and its closing. Every block that opened is closed, unless the response turns out to be too large.
///
/// The texts of a role, joined, are at any time the start of what the [`Outcome`](crate::Outcome) has of that role, and
/// in the end all of it; only if the pack says `hold = "none"` are they a draft of it. Where an answer may be refused,
/// nothing is emitted before it has been judged.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(tag = "event", rename_all = "lowercase")]
#[non_exhaustive]
pub enum StreamEvent {
    /// A block opened.
    Opened {
        /// Its number. Blocks are numbered from 0 in the order of their openers.
        block: usize,
        /// Its name in the pack.
        name: String,
        /// Its role.
        role: Role,
        /// What its opener calls it: the speaker of an utterance, the key of a content, the action of a call; for other
        /// blocks their name as written. None if that is not in the opener, since a payload may name a call, and a
        /// wrapper its contents; or if a guardrail may keep it from the outcome.
        called: Option<String>,
        /// The offset of its opener, in bytes of [`Reader::text`](crate::Reader::text).
        start: usize,
    },
    /// Text as the outcome has it: decoded, trimmed and redacted. Parts of a message are separated as the pack says.
    /// What had to wait for the end of the answer (`[reply] hold`) comes last, without the number of its block.
    Text {
        /// The number of the block; none outside every block, and for what had to wait.
        block: Option<usize>,
        /// The role of the text. [`Role::Message`] may be shown to a user already; this includes the text of a section
        /// that is shown as the message (`[reply]` `shows`). None only under `hold = "none"`, for text that is no part
        /// of the outcome unless a strategy makes it one.
        role: Option<Role>,
        /// The text.
        text: String,
    },
    /// More of a parameter of a call: the pieces of one path, joined, are the text of the value there. Numbers, `true`,
    /// `false` and `null` are emitted as JSON; objects and lists by what is in them. What the outcome has of the calls
    /// that count is emitted once the answer has been judged. Only under `hold = "none"` the arguments of native calls
    /// are emitted while they come, as far as they are strict JSON, whether the call counts or not.
    Field {
        /// The index of the call in the `calls` of the outcome.
        call: usize,
        /// The path to the value in the parameters: keys, and the indexes of list items.
        path: Vec<String>,
        /// The text that follows what was announced of it before, decoded.
        text: String,
    },
    /// A block is complete.
    Closed {
        /// Its number.
        block: usize,
        /// The span of the whole block.
        span: Extent,
    },
    /// The answer was refused: the host clears what it has shown of it. It is the last event.
    Refused {
        /// How many bytes of text were announced before.
        emitted: usize,
    },
}

/// An event, and the block or text that it is about.
#[derive(Debug)]
pub(crate) struct EventDraft {
    pub(crate) event: StreamEvent,
    /// The declaration of the block; `None` for text outside every block.
    pub(crate) id: Option<BlockId>,
    /// The offset in the response at which the block, or the text, starts.
    pub(crate) start: usize,
    /// For a closed block: whether its own closer ended it.
    pub(crate) whole: bool,
    /// For a closed block: whether it was cut off, or may be.
    pub(crate) cut: bool,
}

impl EventDraft {
    /// An event with text of a block, or outside every block.
    pub(crate) fn text(
        block: Option<usize>,
        id: Option<BlockId>,
        role: Option<Role>,
        start: usize,
        text: String,
    ) -> Self {
        Self { event: StreamEvent::Text { block, role, text }, id, start, whole: false, cut: false }
    }

    /// Whether the event is an empty text.
    pub(super) fn is_empty(&self) -> bool {
        matches!(&self.event, StreamEvent::Text { text, .. } if text.is_empty())
    }

    /// The event that a block is complete.
    pub(super) fn closed(number: usize, block: &Block) -> Self {
        let span = block.span();
        let cut = block.ended.is_cut();
        let whole = !cut && block.is_closed();
        let event = StreamEvent::Closed { block: number, span: span.into() };
        Self { event, id: Some(block.id), start: span.start, whole, cut }
    }
}

/// How much has been announced so far.
#[derive(Debug, Default)]
pub(super) struct Announced {
    /// The number of blocks whose closing has been announced.
    blocks: usize,
    opened: bool,
    /// Whether a block that is part of an answer has opened.
    answers: bool,
    /// The wrappers that have opened: text inside a wrapper may not be part of the message.
    wrappers: Wrapping<()>,
    at: usize,
    /// The end of white space that may still be trimmed off.
    blank: usize,
}

/// The part of a response that more text cannot change.
pub(super) struct ReadSoFar<'s> {
    pub(super) context: ReadContext<'s>,
    pub(super) blocks: &'s ChunkedVec<Block>,
    /// The block after `blocks` whose end is not known yet.
    pub(super) open: Option<&'s OpenBlock>,
    /// Markup between blocks, which is not emitted as text.
    pub(super) markup: &'s [Span],
    /// No further block opens or closes before this offset.
    pub(super) until: usize,
    pub(super) complete: bool,
}

impl<'g> ReadContext<'g> {
    /// The event that a block opened.
    pub(super) fn opened(&self, number: usize, block: &Block) -> Option<EventDraft> {
        self.announced(number, block.id, block.span().start, &OpenerView::of(self.text, self.dialect, block))
    }

    /// Like `opened`, for a member whose key is `name`.
    pub(super) fn opened_as(&self, number: usize, id: BlockId, start: usize, name: Span) -> Option<EventDraft> {
        let view = OpenerView { text: self.text, dialect: self.dialect, family: 0, name, attributes: &[] };
        self.announced(number, id, start, &view)
    }

    /// Like `opened`, for a block whose end is not known yet.
    fn opening(&self, number: usize, open: &OpenBlock) -> Option<EventDraft> {
        let OpenBlock { family, name, ref attributes, .. } = *open;
        let view = OpenerView { text: self.text, dialect: self.dialect, family, name, attributes };
        self.announced(number, open.id, open.opener.start, &view)
    }

    fn announced(&self, number: usize, id: BlockId, start: usize, view: &OpenerView<'g, '_>) -> Option<EventDraft> {
        let block = self.block(id)?;
        let (name, called) = (block.name.clone(), view.title(block));
        let event = StreamEvent::Opened { block: number, name, role: block.role, called, start };
        Some(EventDraft { event, id: Some(id), start, whole: false, cut: false })
    }

    /// The role to announce for the text of a block.
    pub(super) fn role_of(&self, id: BlockId) -> Option<Role> {
        let block = self.block(id)?;
        let name = match &block.called {
            NameSource::Own => Some(&block.name),
            NameSource::Word(word) => Some(word),
            NameSource::Attribute(_) | NameSource::Around(..) | NameSource::Payload { .. } => None,
        };
        Some(match block.role {
            Role::Section => self.section(name.map(String::as_str)),
            role => role,
        })
    }

    /// The role to announce for text outside every block: before the first block of an answer or, if `behind`, after
    /// it.
    pub(super) fn role_outside(&self, behind: bool) -> Option<Role> {
        match &self.dialect.text {
            TextRole::Message => Some(Role::Message),
            TextRole::Section(name) if !behind => Some(self.section(Some(name))),
            TextRole::Section(_) | TextRole::Stray => None,
        }
    }

    /// How a stream decodes the text of a block. The text of a content is emitted as it is.
    fn encoding_of(&self, id: BlockId) -> TextEncoding {
        let block = self.block(id).filter(|block| !matches!(block.role, Role::Content | Role::Call));
        block.map_or(TextEncoding::Plain, TextEncoding::of)
    }

    /// The role of a section: the section that the pack shows as the message has the role of a message.
    fn section(&self, name: Option<&str>) -> Role {
        if self.shows.is_some() && self.shows == name { Role::Message } else { Role::Section }
    }
}

impl Announced {
    /// Adds the events that have become certain since the last call.
    pub(super) fn emit_more(&mut self, read: &ReadSoFar<'_>, out: &mut Vec<EventDraft>) {
        while let Some(block) = read.blocks.get(self.blocks) {
            if block.parent().is_none() {
                self.emit_whole(read, self.blocks, block, out);
                self.note_wrapper(read, block);
                self.opened = false;
            }
            self.blocks += 1;
        }
        match read.open {
            Some(open) if !read.complete => self.emit_so_far(read, open, out),
            _ => self.emit(read, None, read.until.max(self.at), out),
        }
    }

    /// Announces a block that has ended, and the blocks inside it.
    fn emit_whole(&mut self, read: &ReadSoFar<'_>, number: usize, block: &Block, out: &mut Vec<EventDraft>) {
        if !self.opened {
            self.emit(read, None, block.span().start, out);
            self.emit_opened(read.context.opened(number, block), out);
        }
        let family = read.blocks.from(number).take_while(|(child, block)| *child == number || block.parent().is_some());
        let mut stack: Vec<(usize, &Block)> = Vec::new();
        for (child, block) in family {
            let start = block.span().start;
            while let Some((parent, outer)) = stack.pop_if(|(_, outer)| outer.span().end <= start) {
                self.emit_closed(read, parent, outer, out);
            }
            if child != number {
                self.emit(read, stack.last().map(|(parent, _)| *parent), start, out);
                self.emit_opened(read.context.opened(child, block), out);
            }
            self.at = self.at.max(block.body().start);
            stack.push((child, block));
        }
        while let Some((parent, outer)) = stack.pop() {
            self.emit_closed(read, parent, outer, out);
        }
    }

    /// Announces the part of the open block that will be its text wherever the block ends.
    fn emit_so_far(&mut self, read: &ReadSoFar<'_>, open: &OpenBlock, out: &mut Vec<EventDraft>) {
        let Some(block) = read.context.block(open.id) else { return };
        let number = read.blocks.len();
        if !self.opened {
            self.emit(read, None, open.opener.start, out);
        }
        // The number of calls in a list, each of which becomes a block, is known only at its end.
        if block.lists_calls() {
            return;
        }
        if !self.opened {
            self.emit_opened(read.context.opening(number, open), out);
            self.opened = true;
            self.at = open.opener.end;
        }
        if block.role == Role::Call {
            return;
        }
        // A fence may turn out to end the block, or to surround the next one. In both cases it is not part of the text.
        let framed = block.trim.iter().any(|trim| matches!(trim, Trim::WrappingFence | Trim::Between))
            || block.ends.iter().flatten().any(|end| *end == Ending::Fence);
        let from = self.at.max(self.blank.saturating_sub(2));
        let rest = read.context.text.as_bytes().get(from..read.until).filter(|_| framed);
        let certain = rest.and_then(first_marks).map_or(read.until, |fence| from + fence);
        // A tag or a CDATA section around the whole text may turn out not to be part of the text.
        let inside = Span::new(open.opener.end, read.until.max(open.opener.end)).of(read.context.text);
        let may_be_enclosed =
            Enclosing::counts(block) && Enclosing::may_begin(inside, read.context.dialect, open.family);
        if may_be_enclosed || (block.trim.contains(&Trim::WrappingCdata) && may_be_cdata(inside)) {
            return;
        }
        let text = read.context.text;
        let from = self.at.max(self.blank);
        let Some(fresh) = text.get(from..certain) else { return };
        self.blank = certain;
        let emitted = fresh.trim_end_matches(|c: char| c.is_whitespace() || (framed && is_frame_char(c))).len();
        if emitted == 0 {
            return;
        }
        // The text starts after the part that is trimmed off. That offset is final once some of the text can be
        // emitted.
        if self.at <= open.opener.end {
            self.at = trimmed(Span::new(open.opener.end, certain), text, &block.trim).start;
        }
        let unsent = text.slice(self.at..from + emitted);
        let whole = read.context.encoding_of(open.id).whole(unsent);
        if whole > 0 {
            self.emit(read, Some(number), self.at + whole, out);
        }
    }

    fn emit(&mut self, read: &ReadSoFar<'_>, block: Option<usize>, end: usize, out: &mut Vec<EventDraft>) {
        let text = read.context.text;
        let end = boundary(text, end);
        if block.is_none() && !read.markup.is_empty() && self.at < end {
            let gaps = Span::new(self.at, end).without(read.markup);
            let role = self.role_outside(read);
            out.extend(gaps.map(|gap| EventDraft::text(None, None, role, gap.start, gap.of(text).to_owned())));
            self.at = end;
            return;
        }
        if let Some(piece) = text.get(self.at..end).filter(|piece| !piece.is_empty()) {
            let open = || read.open.map(|open| open.id);
            let id = block.and_then(|number| read.blocks.get(number).map(|block| block.id).or_else(open));
            let role = match block {
                Some(_) => id.and_then(|id| read.context.role_of(id)),
                None => self.role_outside(read),
            };
            let closed = block.and_then(|number| read.blocks.get(number));
            let is_cdata = |block: &Block| {
                let trims = read.context.block(block.id).map(|bound| bound.trim.as_slice()).present();
                is_cdata(block.body(), text, trims)
            };
            let spelling = id.filter(|_| !closed.is_some_and(is_cdata));
            let spelling = spelling.map_or(TextEncoding::Plain, |id| read.context.encoding_of(id));
            out.push(EventDraft::text(block, id, role, self.at, spelling.decode(piece).into_owned()));
            self.at = end;
        }
    }

    /// The role of text outside every block. That of stray text in a wrapper is known only at the end.
    fn role_outside(&self, read: &ReadSoFar<'_>) -> Option<Role> {
        let role = read.context.role_outside(self.answers);
        role.filter(|_| self.wrappers.is_empty() || read.context.dialect.text != TextRole::Message)
    }

    /// Notes the opener or closer of a wrapper; each of them is a block.
    fn note_wrapper(&mut self, read: &ReadSoFar<'_>, block: &Block) {
        if read.context.block(block.id).is_some_and(|bound| bound.role == Role::Wrapper) {
            self.wrappers.pass(block, ());
        }
    }

    fn emit_opened(&mut self, opened: Option<EventDraft>, out: &mut Vec<EventDraft>) {
        if let Some(EventDraft { event: StreamEvent::Opened { role, .. }, .. }) = &opened {
            self.answers |= role.is_answer();
        }
        out.extend(opened);
    }

    fn emit_closed(&mut self, read: &ReadSoFar<'_>, number: usize, block: &Block, out: &mut Vec<EventDraft>) {
        self.emit(read, Some(number), block.body().end, out);
        self.at = self.at.max(block.span().end);
        out.push(EventDraft::closed(number, block));
    }
}
