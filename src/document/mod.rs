//! Document: what is in a response, before anybody judges it?
//!
//! In: a response, whole or in pieces, and the dialects of a [`Program`](crate::program::Program).
//! Out: `Document`: blocks with their places, and findings; payloads as far as a grammar can read them.
//! Never: knows actions, modes or strategies.

mod again;
mod announce;
mod balance;
mod braces;
mod budget;
mod call_list;
mod chunked_vec;
mod closing;
mod decode;
mod delimiter;
mod delimiters;
mod dialect_selector;
mod dormant;
mod enclosing;
mod fallback;
mod fences;
mod ladder;
mod leading_reasoning;
mod masks;
mod members;
mod native;
mod open_block;
mod opener_view;
mod pairs;
pub(crate) mod payload;
mod quoted;
mod reader;
mod reader_findings;
mod scanner;
mod strings;
mod trim;
mod wrapping;

pub(crate) use announce::EventDraft;
pub use announce::StreamEvent;
pub(crate) use chunked_vec::ChunkedVec;
pub(crate) use decode::{TextEncoding, decode_entities, unquoted};
pub(crate) use dialect_selector::{Trial, Tried};
pub(crate) use enclosing::Enclosing;
pub(crate) use fallback::Readers;
pub(crate) use masks::{Mask, Quotes, is_masked};
pub(crate) use native::Natives;
pub(crate) use opener_view::OpenerView;
pub(crate) use reader_findings::{FindingKind, LeftOut, ReaderFinding};
pub(crate) use trim::{by_lines, is_cdata, trimmed, verbatim, without_between, without_frame};
pub(crate) use wrapping::Wrapping;

use crate::diagnostic::Defect;
use crate::grammar::RuleId;
use crate::program::{self, BlockId, Dialect, DialectId};
use crate::text::{Span, Stretch};
use crate::value::Value;
use smallvec::SmallVec;
use std::num::NonZeroU32;

/// What a reading is given on each call: the response so far, the dialect that reads it and all others of the program,
/// and the name of the section that is shown as the message.
#[derive(Debug, Clone, Copy)]
struct ReadContext<'g> {
    text: &'g str,
    dialect: &'g Dialect,
    dialects: &'g [Dialect],
    shows: Option<&'g str>,
}

impl<'g> ReadContext<'g> {
    fn block(&self, id: BlockId) -> Option<&'g program::BlockBinding> {
        self.dialect.block(id)
    }
}

/// What was read from one response. The text itself is kept elsewhere.
#[derive(Debug, Default)]
pub(crate) struct Document {
    /// The dialect that read it, if one did.
    pub(crate) dialect: Option<DialectId>,
    /// The result of each dialect that was tried, in order.
    pub(crate) tried: SmallVec<[Tried; 1]>,
    /// The length of the response in bytes; of a structured reply, that of its text.
    pub(crate) bytes: usize,
    /// The opener and closer of a fence around the whole answer.
    pub(crate) wrapper: Option<(Span, Span)>,
    /// Blocks in the order of their openers; blocks inside another one follow it.
    pub(crate) blocks: ChunkedVec<Block>,
    pub(crate) found: ChunkedVec<ReaderFinding>,
    /// Findings that were only counted.
    pub(crate) left_out: LeftOut,
    /// Markup between blocks, in order.
    pub(crate) markup: Vec<Span>,
    /// Closed code fences and code spans, in order.
    pub(crate) masks: Vec<Mask>,
    /// The starts of the fences that are never closed, in order.
    pub(crate) open_fences: Vec<usize>,
    /// The starts of code spans that are left open only because the text ends.
    pub(crate) open_spans: Vec<usize>,
    /// If a fallback read it: what the dialect that it is like quotes and the fallback does not, in order.
    pub(crate) fenced: Vec<Mask>,
    /// The opener of reasoning that is not closed, after all that are, in a dialect whose reasoning only opens at the
    /// start of the answer.
    pub(crate) open_reasoning: Option<usize>,
    /// If it is a structured reply: its parts. The text is the first of them.
    pub(crate) natives: Option<Box<Natives>>,
}

impl Document {
    /// Closers outside every block that close nothing, in order.
    pub(crate) fn stray_closers(&self) -> impl Iterator<Item = Span> {
        let is_stray =
            |found: &&ReaderFinding| found.what == FindingKind::Defect(Defect::StrayCloser) && found.around().is_none();
        let strays = self.found.iter().filter(is_stray).map(ReaderFinding::span);
        strays.chain(self.left_out.closers.iter().map(|closer| closer.span()))
    }
}

/// One recognised piece of a response. There may be very many.
#[derive(Debug)]
pub(crate) struct Block {
    pub(crate) id: BlockId,
    family: u8,
    pub(crate) ended: Ended,
    pub(crate) written: BodyEncoding,
    parent: Option<NonZeroU32>,
    name: Stretch,
    span: Stretch,
    inner: Stretch,
    body: Stretch,
    pub(crate) attributes: Attributes,
    value: Option<Box<Value>>,
}

impl Block {
    pub(crate) fn family(&self) -> usize {
        usize::from(self.family)
    }

    /// The block around it, if there is one.
    pub(crate) fn parent(&self) -> Option<usize> {
        self.parent.map(|parent| parent.get() as usize - 1)
    }

    pub(crate) fn name(&self) -> Span {
        self.name.span()
    }

    /// The span of the whole block.
    pub(crate) fn span(&self) -> Span {
        self.span.span()
    }

    pub(crate) fn opener(&self) -> Span {
        Span::new(self.span.start(), self.inner.start())
    }

    /// The span between opener and closer.
    pub(crate) fn inner(&self) -> Span {
        self.inner.span()
    }

    /// Whether a closer ends it.
    pub(crate) fn is_closed(&self) -> bool {
        self.inner.end() < self.span.end()
    }

    /// The body after trimming, or the payload.
    pub(crate) fn body(&self) -> Span {
        self.body.span()
    }

    /// How the body of a member is written.
    pub(crate) fn spelling_of_member(&self, text: &str) -> TextEncoding {
        match self.written {
            // In single quotes, these are escaped.
            BodyEncoding::String if text.get(..self.body().start).is_some_and(|before| before.ends_with('\'')) => {
                TextEncoding::Escapes
            }
            BodyEncoding::String => TextEncoding::Json,
            BodyEncoding::Twice => TextEncoding::EscapesTwice,
            BodyEncoding::Bound | BodyEncoding::Value | BodyEncoding::Mended | BodyEncoding::Salvaged => {
                TextEncoding::Plain
            }
        }
    }

    /// The value of the body, if the body is no text, or if its declaration asks for a value.
    pub(crate) fn value(&self) -> Option<&Value> {
        self.value.as_deref()
    }
}

/// How the body of a block is encoded.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum BodyEncoding {
    /// As the block's declaration says.
    Bound,
    /// As a JSON string, without its quotes.
    String,
    /// As a JSON string, escaped twice.
    Twice,
    /// As any other JSON value.
    Value,
    /// As any other JSON value, after faults that change nothing.
    Mended,
    /// As any other JSON value, of which something was lost or guessed.
    Salvaged,
}

/// A value from an opener, without quotes.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Attribute {
    pub(crate) key: AttributeKey,
    pub(crate) value: Stretch,
}

/// What an opener has besides its name: usually one thing.
pub(crate) type Attributes = SmallVec<[Attribute; 1]>;

/// The key of an attribute.
#[derive(Debug, Clone, Copy)]
pub(crate) enum AttributeKey {
    /// A key in the opener.
    Typed(Stretch),
    /// A rule of the grammar.
    Rule(RuleId),
    /// The block's name in the payload.
    Payload,
}

/// How a block ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Ended {
    /// At its first rung.
    Whole,
    /// At its first rung, which is also the end of its surroundings: complete, unless the answer was cut off there.
    Last,
    /// After its opener, because no payload follows; for a wrapper, because it is its closer, or a token by itself.
    Bare,
    /// At a later rung: it was cut off or never closed.
    Cut,
    /// Like that, where the next block of its own kind opens: it may only show that block.
    Alike,
    /// Where another block opens, in the midst of a value: that block, and what follows, may be part of the value.
    Torn,
    /// At the rung `end`, as a later one: nothing shows that it is complete.
    Open,
}

impl Ended {
    /// Whether a later rung than the first ended it.
    pub(crate) fn is_cut(self) -> bool {
        matches!(self, Ended::Cut | Ended::Alike | Ended::Torn | Ended::Open)
    }
}

/// Whether what looks like a mark is inside data.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Quoted {
    No,
    /// Inside data that ends here.
    Until(usize),
    /// Unknown: it depends on whether the data ever ends.
    Unknown,
}
