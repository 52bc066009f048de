//! Document: what does a response hold, before anybody judges it?
//!
//! In: a response, whole or in pieces, and the dialects of a [`Program`](crate::program::Program).
//! Out: `Document`: blocks with their places, and what the reading found; payloads as far as a grammar can read them.
//! Never: knows actions, modes or strategies.

mod announce;
mod braces;
mod budget;
mod decode;
mod edges;
mod fences;
mod found;
mod ladder;
mod listed;
mod mark;
mod marks;
mod masks;
mod members;
mod open;
mod pairs;
pub(crate) mod payload;
mod pieces;
mod prelude;
mod quoted;
mod reader;
mod scanner;
mod side_by_side;
mod strings;

pub use announce::Announcement;
pub(crate) use decode::{Spelling, decode_entities, decode_string};
pub(crate) use edges::{is_cdata, trimmed, without_between, without_frame};
pub(crate) use found::{Found, LeftOut, What};
pub(crate) use masks::{Mask, Quotes, is_masked};
pub(crate) use pieces::Pieces;
pub(crate) use side_by_side::{Readers, Trial, Tried};

use crate::diagnostic::Defect;
use crate::grammar::RuleId;
use crate::program::{self, BlockId, Dialect, DialectId};
use crate::text::{Span, Stretch};
use crate::value::Value;
use smallvec::SmallVec;
use std::num::NonZeroU32;

/// What a reading is given each time: the response so far, the dialect that reads it among those of the program, and the
/// section that is shown as the message.
#[derive(Debug, Clone, Copy)]
struct Given<'g> {
    text: &'g str,
    dialect: &'g Dialect,
    dialects: &'g [Dialect],
    shows: Option<&'g str>,
}

impl<'g> Given<'g> {
    fn block(&self, id: BlockId) -> Option<&'g program::Block> {
        self.dialect.block(id)
    }
}

/// What was read from one response. The text itself stays with whoever has it.
#[derive(Debug, Default)]
pub(crate) struct Document {
    /// The dialect that read it, of those that were tried.
    pub(crate) dialect: Option<DialectId>,
    /// What came of each dialect that was tried, in their order.
    pub(crate) tried: SmallVec<[Tried; 1]>,
    /// How long the response is.
    pub(crate) bytes: usize,
    /// The opener and the closer of a fence around the whole answer.
    pub(crate) wrapper: Option<(Span, Span)>,
    /// Blocks in the order of their openers; a block inside another follows it.
    pub(crate) blocks: Pieces<Block>,
    pub(crate) found: Pieces<Found>,
    /// Findings like those that were not kept.
    pub(crate) left_out: LeftOut,
    /// What between blocks is markup and no text, in order.
    pub(crate) markup: Vec<Span>,
    /// Closed code fences and code spans, in order.
    pub(crate) masks: Vec<Mask>,
    /// Where the first fence starts that nothing closes.
    pub(crate) open_fence: Option<usize>,
    /// Where code spans start that only the end of the text leaves open.
    pub(crate) open_spans: Vec<usize>,
    /// Where reasoning opens, behind all that closes it, that may open at the start of the answer alone.
    pub(crate) open_reasoning: Option<usize>,
}

impl Document {
    /// Closers outside every block that close nothing, in order.
    pub(crate) fn stray_closers(&self) -> impl Iterator<Item = Span> {
        let is_stray = |found: &&Found| found.what == What::Defect(Defect::StrayCloser) && found.around().is_none();
        let kept = self.found.iter().filter(is_stray).map(Found::span);
        kept.chain(self.left_out.closers.iter().map(|closer| closer.span()))
    }
}

/// One recognised piece of a response. There may be very many.
#[derive(Debug)]
pub(crate) struct Block {
    pub(crate) id: BlockId,
    family: u8,
    pub(crate) ended: Ended,
    pub(crate) written: Written,
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

    /// The block that holds it.
    pub(crate) fn parent(&self) -> Option<usize> {
        self.parent.map(|parent| parent.get() as usize - 1)
    }

    pub(crate) fn name(&self) -> Span {
        self.name.span()
    }

    /// The whole block.
    pub(crate) fn span(&self) -> Span {
        self.span.span()
    }

    pub(crate) fn opener(&self) -> Span {
        Span::new(self.span.start(), self.inner.start())
    }

    /// What stands between opener and closer.
    pub(crate) fn inner(&self) -> Span {
        self.inner.span()
    }

    /// Whether a closer ends it.
    pub(crate) fn is_closed(&self) -> bool {
        self.inner.end() < self.span.end()
    }

    /// The body without what its trims take off, or the payload.
    pub(crate) fn body(&self) -> Span {
        self.body.span()
    }

    /// What the body says where it is no text, or its binding asks for it.
    pub(crate) fn value(&self) -> Option<&Value> {
        self.value.as_deref()
    }
}

/// How the body of a block is written.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Written {
    /// As its binding says.
    Bound,
    /// As a JSON string, without its quotes.
    String,
    /// The same, escaped twice.
    Twice,
    /// As any other JSON value.
    Value,
    /// The same, which had to be mended to be one.
    Mended,
}

/// A value that an opener gives, without quotes.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Attribute {
    pub(crate) key: Key,
    pub(crate) value: Stretch,
}

/// What an opener says beside its name: most often one thing.
pub(crate) type Attributes = SmallVec<[Attribute; 1]>;

/// What an attribute is called.
#[derive(Debug, Clone, Copy)]
pub(crate) enum Key {
    /// As the opener writes it.
    Typed(Stretch),
    /// As the grammar's rule for it.
    Rule(RuleId),
    /// What the payload calls the block.
    Payload,
}

/// How a block ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Ended {
    /// As its first rung says.
    Whole,
    /// The same, and that is where its surroundings end: whole, unless the answer was cut off there.
    Last,
    /// It has an opener, but no payload follows.
    Bare,
    /// On a later rung: it was cut off or never closed.
    Cut,
    /// On the rung `end`, a later one: nothing says that it is whole.
    Open,
}

impl Ended {
    /// Whether a later rung than the first ended it.
    pub(crate) fn is_cut(self) -> bool {
        matches!(self, Ended::Cut | Ended::Open)
    }
}

/// Whether what looks like a mark stands in data.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Quoted {
    No,
    /// What quotes it ends here.
    Until(usize),
    /// What follows says whether that ever ends.
    Unknown,
}
