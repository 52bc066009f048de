//! Scanner: how far has a dialect read a response, and what did it find?
//!
//! In: a dialect, and the limits of the program.
//! Out: [`DialectScanner`], which the reader, its ladders and the search for quotations advance.
//! Never: advances by itself.

use super::announce::Announced;
use super::balance::Balance;
use super::budget::{Arrived, MachineAtPlace, StepBudget};
use super::fences::Fences;
use super::leading_reasoning::LeadingReasoning;
use super::mark::most_captures;
use super::marks::MarkScanner;
use super::masks::Masks;
use super::open_block::OpenBlock;
use super::pairs::{Pairs, Tagged};
use super::reader_findings::ReaderFindings;
use super::restart::RestartPoint;
use super::{Block, ChunkedVec, Wrapping};
use crate::grammar::Machine;
use crate::program::{BlockId, Dialect, DialectId, Limits};
use crate::text::Span;
use smallvec::{SmallVec, smallvec};

/// The state of one dialect reading one response.
#[derive(Debug)]
pub(super) struct DialectScanner {
    pub(super) limits: Limits,
    pub(super) masks: Masks,
    pub(super) marker: MarkScanner,
    /// Paired tags, as far as they were needed.
    pub(super) pairs: Pairs,
    /// The tags outside every block, as far as they were needed.
    pub(super) tags: Tagged,
    /// The search for the block that opens at the start of the answer, until it is over.
    pub(super) leading_reasoning: Option<Box<LeadingReasoning>>,
    pub(super) machine: Machine,
    /// Reads a closer of the open block at a mark that another rule has made.
    pub(super) closer: MachineAtPlace,
    pub(super) arrived: Arrived,
    /// The steps that payloads, the search for quotations, and masks may take.
    pub(super) payloads: StepBudget,
    pub(super) quotes: StepBudget,
    pub(super) mask_steps: StepBudget,
    /// How many bytes of too deeply nested payloads have been counted.
    pub(super) counted: usize,
    /// The first mark that has not been handled.
    pub(super) next: usize,
    /// Everything before this offset is known to be inside or outside a block.
    pub(super) at: usize,
    pub(super) fences: Fences,
    /// How far the search for blocks quoted by fences in contents has failed.
    pub(super) unfenced: usize,
    /// In a box, because each chunk of a response takes it out and puts it back: unboxed, a stream takes 2 % more
    /// instructions.
    pub(super) open: Option<Box<OpenBlock>>,
    /// Which closers balance the openers of a kind, as far as that was needed.
    pub(super) balances: Vec<Balance>,
    /// The last block of each kind that is never closed.
    pub(super) closerless: Vec<Closerless>,
    /// The dialects that share the reading, each with the start of the first block that claims the answer for it.
    pub(super) claims: SmallVec<[(DialectId, Option<usize>); 1]>,
    pub(super) blocks: ChunkedVec<Block>,
    pub(super) found: ReaderFindings,
    /// Spans between the calls of one payload, which are not text outside blocks.
    pub(super) markup: Vec<Span>,
    pub(super) calls: usize,
    /// The wrappers that are open at the current position.
    pub(super) wrapping: Wrapping<()>,
    /// Where reasoning may start again without an opener.
    pub(super) again: RestartPoint,
    /// Whether a limit was reached, so that the rest is text.
    pub(super) stopped: bool,
    pub(super) announced: Announced,
}

/// A block that is never closed.
#[derive(Debug)]
pub(super) struct Closerless {
    pub(super) id: BlockId,
    pub(super) name: Span,
    /// The first mark after its opener, and where the region around it ends.
    pub(super) first: usize,
    pub(super) region: usize,
}

impl DialectScanner {
    pub(super) fn new(dialect: &Dialect, limits: Limits, left_open: Option<bool>) -> Self {
        Self {
            limits,
            masks: Masks::new(dialect.masks),
            marker: MarkScanner::new(most_captures(dialect, &limits), &limits),
            pairs: Pairs::default(),
            tags: Tagged::default(),
            leading_reasoning: LeadingReasoning::new(dialect, &limits, left_open),
            // A few stack frames for each level of nesting.
            machine: Machine::with_depth(4 * limits.depth).capturing(most_captures(dialect, &limits)),
            closer: MachineAtPlace::new(Machine::new().capturing(most_captures(dialect, &limits)), &limits),
            arrived: Arrived::default(),
            payloads: StepBudget::new(&limits),
            quotes: StepBudget::new(&limits),
            mask_steps: StepBudget::new(&limits),
            counted: 0,
            next: 0,
            at: 0,
            fences: Fences::default(),
            unfenced: 0,
            open: None,
            balances: Vec::new(),
            closerless: Vec::new(),
            claims: smallvec![(dialect.id, None)],
            blocks: ChunkedVec::default(),
            found: ReaderFindings::default(),
            markup: Vec::new(),
            calls: 0,
            wrapping: Wrapping::default(),
            again: RestartPoint::default(),
            stopped: false,
            announced: Announced::default(),
        }
    }
}
