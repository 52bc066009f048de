//! Document: what is in a response, before it is judged?
//!
//! In: a response, whole or in chunks, and the dialects of a [`Program`](crate::program::Program).
//! Out: `Document`: blocks with their places, and findings; payloads as far as a grammar can read them.
//! Never: knows actions, modes or strategies.

mod announce;
mod balance;
mod braces;
mod budget;
mod call_list;
mod chunked_vec;
mod closing;
mod decode;
mod dialect_selector;
mod dormant;
mod enclosing;
mod fallback;
mod fences;
mod ladder;
mod leading_reasoning;
mod mark;
mod marks;
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
mod restart;
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
pub(crate) use fences::Paired;
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
use std::task::Poll;

/// The inputs of a reader on each call: the response so far, the dialect that reads it and all dialects of the program,
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

/// The result of reading one response. The text itself is stored by the caller.
#[derive(Debug, Default)]
pub(crate) struct Document {
    /// The dialect that read the response, if one did.
    pub(crate) dialect: Option<DialectId>,
    /// If no dialect read the response: the one whose reasoning it has; it has no other blocks then.
    pub(crate) reasoning_of: Option<DialectId>,
    /// The result of each dialect that was tried, in order.
    pub(crate) tried: SmallVec<[Tried; 1]>,
    /// The length of the response in bytes; of a structured reply, that of its text.
    pub(crate) bytes: usize,
    /// The opener and closer of a fence around the whole answer.
    pub(crate) outer_fence: Option<(Span, Span)>,
    /// Blocks in the order of their openers; blocks inside another one follow it.
    pub(crate) blocks: ChunkedVec<Block>,
    pub(crate) found: ChunkedVec<ReaderFinding>,
    /// The findings that were only counted.
    pub(crate) left_out: LeftOut,
    /// Markup between blocks, in order.
    pub(crate) markup: Vec<Span>,
    /// Closed code fences and code spans, in order.
    pub(crate) masks: Vec<Mask>,
    /// The starts of the fences that are never closed, in order.
    pub(crate) open_fences: Vec<usize>,
    /// The start of the first comment or CDATA section that is never closed.
    pub(crate) open_section: Option<usize>,
    /// The starts of code spans and quotation marks that are left open only because the text ends, in order.
    pub(crate) cut_quotations: Vec<usize>,
    /// If a fallback read the response: what its main dialect quotes and the fallback does not, in order.
    pub(crate) fenced: Vec<Mask>,
    /// The opener of reasoning before an object, if it is not closed.
    pub(crate) open_reasoning: Option<usize>,
    /// If the response is a structured reply: its parts. The text is the first of them.
    pub(crate) natives: Option<Box<Natives>>,
}

impl Document {
    /// Closers outside every block that are unmatched, in order.
    pub(crate) fn stray_closers(&self) -> impl Iterator<Item = Span> {
        let is_stray =
            |found: &&ReaderFinding| found.what == FindingKind::Defect(Defect::StrayCloser) && found.around().is_none();
        let strays = self.found.iter().filter(is_stray).map(ReaderFinding::span);
        strays.chain(self.left_out.closers.iter().map(|closer| closer.span()))
    }
}

/// One block of a response. There may be very many.
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

    /// The index of the block around it, if there is one.
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

    /// Whether the block ends with a closer.
    pub(crate) fn is_closed(&self) -> bool {
        self.inner.end() < self.span.end()
    }

    /// The body after trimming, or the payload.
    pub(crate) fn body(&self) -> Span {
        self.body.span()
    }

    /// The encoding of the body of a member.
    pub(crate) fn encoding_of_member(&self, text: &str) -> TextEncoding {
        match self.written {
            // In single quotes, single quotes are escaped.
            BodyEncoding::String if text.get(..self.body().start).is_some_and(|before| before.ends_with('\'')) => {
                TextEncoding::Escapes
            }
            BodyEncoding::String => TextEncoding::Json,
            BodyEncoding::Twice => TextEncoding::EscapesTwice,
            BodyEncoding::Bound | BodyEncoding::Value | BodyEncoding::Repaired | BodyEncoding::Salvaged => {
                TextEncoding::Plain
            }
        }
    }

    /// The value of the body, if the body is not text, or if its declaration requires a value.
    pub(crate) fn value(&self) -> Option<&Value> {
        self.value.as_deref()
    }
}

/// How the body of a block is encoded.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum BodyEncoding {
    /// In the encoding that the block's declaration gives.
    Bound,
    /// As a JSON string, without its quotes.
    String,
    /// As a JSON string, escaped twice.
    Twice,
    /// As any other JSON value.
    Value,
    /// As any other JSON value, after certain faults.
    Repaired,
    /// As any other JSON value, after lossy faults.
    Salvaged,
}

/// A value from an opener, without quotes.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Attribute {
    pub(crate) key: AttributeKey,
    pub(crate) value: Stretch,
}

/// The parts of an opener besides its name: usually one.
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
    /// At its first rung, which is also the end of the region around it: complete, unless the answer was cut off there.
    Last,
    /// At its first rung, at a closer that may belong to a block that opens inside: complete, unless the answer was cut
    /// off before its own closer.
    Inner,
    /// After its opener, because no payload follows; a closer of a wrapper, or a token that is only an opener, also
    /// ends like this.
    Bare,
    /// At a later rung: it was cut off or never closed.
    Cut,
    /// Like `Cut`, at the opener of the next block of its own kind, which may only be an example in it.
    Alike,
    /// At the opener of another block, in the middle of a value: that block, and the text after it, may be part of the
    /// value.
    Torn,
    /// At the last of several lines that may close its fence: text after the first of these may not belong to it.
    Unsure,
    /// At the rung `end`, as a later one: it is not known whether the block is complete.
    Open,
}

impl Ended {
    /// Whether the block ended at a later rung than the first, or may have ended before.
    pub(crate) fn is_cut(self) -> bool {
        matches!(self, Ended::Cut | Ended::Alike | Ended::Torn | Ended::Unsure | Ended::Open)
    }
}

/// Whether a possible mark is inside data.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Quoted {
    No,
    /// Inside data that ends here.
    Until(usize),
    /// Not known yet: it depends on whether the data ends.
    Unknown,
}

/// A result that the text so far may not determine yet: pending until `is_ready`.
fn ready_if<T>(is_ready: bool, result: T) -> Poll<T> {
    if is_ready { Poll::Ready(result) } else { Poll::Pending }
}
