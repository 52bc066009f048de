//! Document: what does a response hold, before anybody judges it?
//!
//! In: a response, whole or in pieces, and the dialects of a [`Program`](crate::program::Program).
//! Out: `Document`: blocks with their places, and what the reading found; payloads as far as a grammar can read them.
//! Never: knows actions, modes or strategies.

mod announce;
mod decode;
mod edges;
mod ladder;
mod marks;
mod masks;
mod members;
pub(crate) mod payload;
mod prelude;
mod quoted;
mod reader;
mod side_by_side;

pub use announce::Announcement;
pub(crate) use decode::{Spelling, decode_entities, decode_string};
pub(crate) use edges::{without_between, without_frame};
pub(crate) use masks::Mask;
pub(crate) use members::without;
pub(crate) use side_by_side::{Readers, Trial, Tried};

use crate::diagnostic::{Defect, Remark};
use crate::grammar::RuleId;
use crate::program::BlockId;
use crate::text::Span;
use crate::value::Value;

/// What was read from one response. The text itself stays with whoever has it.
#[derive(Debug, Default)]
pub(crate) struct Document {
    /// The number of the dialect that read it, among those that were tried.
    pub(crate) dialect: Option<usize>,
    /// What came of each dialect that was tried, in their order.
    pub(crate) tried: Vec<Tried>,
    /// How long the response is.
    pub(crate) bytes: usize,
    /// The opener and the closer of a fence around the whole answer.
    pub(crate) wrapper: Option<(Span, Span)>,
    /// Blocks in the order of their openers; a block inside another follows it.
    pub(crate) blocks: Vec<Block>,
    pub(crate) found: Vec<Found>,
    /// How many findings like those were not kept.
    pub(crate) left_out: usize,
    /// What between blocks is markup and no text, in order.
    pub(crate) markup: Vec<Span>,
    /// Closed code fences and code spans, in order.
    pub(crate) masks: Vec<Mask>,
}

/// One recognised piece of a response.
#[derive(Debug)]
pub(crate) struct Block {
    pub(crate) id: BlockId,
    pub(crate) family: usize,
    pub(crate) name: Span,
    /// The whole block.
    pub(crate) span: Span,
    pub(crate) opener: Span,
    /// What stands between opener and closer.
    pub(crate) inner: Span,
    /// The body without what its trims take off, or the payload.
    pub(crate) body: Span,
    pub(crate) attributes: Vec<Attribute>,
    pub(crate) ended: Ended,
    /// The block that holds it.
    pub(crate) parent: Option<usize>,
    pub(crate) written: Written,
    /// What the body says where it is no text, or its binding asks for it.
    pub(crate) value: Option<Value>,
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
}

/// A value that an opener gives, without quotes.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Attribute {
    pub(crate) key: Key,
    pub(crate) value: Span,
}

/// What an attribute is called.
#[derive(Debug, Clone, Copy)]
pub(crate) enum Key {
    /// As the opener writes it.
    Typed(Span),
    /// As the grammar's rule for it.
    Rule(RuleId),
}

/// How a block ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Ended {
    /// As its first rung says.
    Whole,
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

/// Something that the reading found.
#[derive(Debug, Clone)]
pub(crate) struct Found {
    pub(crate) what: What,
    pub(crate) span: Span,
    /// The block that it is about.
    pub(crate) block: Option<usize>,
    /// The block that it stands in, where it is none itself.
    pub(crate) around: Option<usize>,
}

/// What was found.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum What {
    Defect(Defect),
    Remark(Remark),
    /// What a rule of the dialect's grammar names.
    Fault(RuleId),
}

impl Found {
    fn new(what: What, span: Span) -> Self {
        Self { what, span, block: None, around: None }
    }

    fn of(what: What, span: Span, block: usize) -> Self {
        Self { what, span, block: Some(block), around: None }
    }

    fn inside(what: What, span: Span, around: usize) -> Self {
        Self { what, span, block: None, around: Some(around) }
    }
}
