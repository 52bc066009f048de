//! Reader findings: what did the reader find?
//!
//! In: defects, remarks and faults of a grammar, each with its place.
//! Out: [`ReaderFindings`], in the order in which they were found.
//! Never: chooses a strategy, or words a message.

use super::ChunkedVec;
use crate::diagnostic::{Defect, Remark};
use crate::grammar::RuleId;
use crate::json::FaultId;
use crate::text::{Span, Stretch};

/// Something that the reader found.
#[derive(Debug, Clone)]
pub(crate) struct ReaderFinding {
    pub(crate) what: FindingKind,
    span: Stretch,
    about: About,
}

/// The subject of a finding.
#[derive(Debug, Clone, Copy)]
enum About {
    Nothing,
    Block(u32),
    /// Something inside this block that is not itself a block.
    Inside(u32),
}

/// The kind of a finding.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum FindingKind {
    Defect(Defect),
    Remark(Remark),
    /// A `fault_…` rule of the dialect's grammar.
    Fault(RuleId),
    /// A fault of a JSON payload.
    PayloadFault(FaultId),
}

impl From<Defect> for FindingKind {
    fn from(defect: Defect) -> Self {
        FindingKind::Defect(defect)
    }
}

impl From<Remark> for FindingKind {
    fn from(remark: Remark) -> Self {
        FindingKind::Remark(remark)
    }
}

impl ReaderFinding {
    pub(super) fn new(what: impl Into<FindingKind>, span: Span) -> Self {
        Self { what: what.into(), span: span.into(), about: About::Nothing }
    }

    pub(super) fn of(what: impl Into<FindingKind>, span: Span, block: usize) -> Self {
        Self { what: what.into(), span: span.into(), about: About::Block(block as u32) }
    }

    pub(super) fn inside(what: impl Into<FindingKind>, span: Span, around: usize) -> Self {
        Self { what: what.into(), span: span.into(), about: About::Inside(around as u32) }
    }

    pub(crate) fn span(&self) -> Span {
        self.span.span()
    }

    /// The block that it is about.
    pub(crate) fn block(&self) -> Option<usize> {
        match self.about {
            About::Block(block) => Some(block as usize),
            About::Nothing | About::Inside(_) => None,
        }
    }

    /// The block around the finding, if the finding is not about a block itself.
    pub(crate) fn around(&self) -> Option<usize> {
        match self.about {
            About::Inside(around) => Some(around as usize),
            About::Nothing | About::Block(_) => None,
        }
    }
}

/// The findings so far.
#[derive(Debug, Default)]
pub(super) struct ReaderFindings {
    list: ChunkedVec<ReaderFinding>,
    /// How often each kind was counted, and in which block.
    counted: Vec<(FindingKind, Option<usize>, usize)>,
    left_out: LeftOut,
}

/// Findings beyond those that are stored.
#[derive(Debug, Default)]
pub(crate) struct LeftOut {
    pub(crate) count: usize,
    /// The closers outside every block among them. What they would close, and which text remains without them, is
    /// determined later.
    pub(crate) closers: ChunkedVec<Stretch>,
    /// The broken openers among them. Which text remains without them is determined later, too.
    pub(crate) openers: ChunkedVec<Stretch>,
}

impl ChunkedVec<Stretch> {
    /// Removes the last span if it starts at or after `start`.
    fn pop_from(&mut self, start: usize) -> bool {
        let last = self.pop();
        match last {
            Some(span) if span.start() < start => {
                self.push(span);
                false
            }
            last => last.is_some(),
        }
    }
}

impl ReaderFindings {
    pub(super) fn push(&mut self, found: ReaderFinding) {
        self.list.push(found);
    }

    /// Notes a finding that is not about a block. After `most` of one kind at one level, further ones are only counted,
    /// because the same strategy handles them.
    pub(super) fn count(&mut self, found: ReaderFinding, most: usize) {
        let kind = (found.what, found.around());
        match self.counted.iter_mut().find(|(what, around, _)| (*what, *around) == kind) {
            Some((.., count)) if *count >= most => {
                self.left_out.count += 1;
                match kind {
                    (FindingKind::Defect(Defect::StrayCloser), None) => self.left_out.closers.push(found.span),
                    (FindingKind::Defect(Defect::MalformedOpener), None) => self.left_out.openers.push(found.span),
                    _ => {}
                }
                return;
            }
            Some((.., count)) => *count += 1,
            None => {
                // The reader never returns to a block that it has left, so counts inside blocks can be dropped.
                if self.counted.len() >= 16 {
                    self.counted.retain(|(_, around, _)| around.is_none());
                }
                self.counted.push((kind.0, kind.1, 1));
            }
        }
        self.list.push(found);
    }

    /// Retains only the findings about quoted blocks: all others turned out to be inside a block that is never read.
    pub(super) fn unread(&mut self) {
        let quoted = |what: FindingKind| what == FindingKind::Remark(Remark::QuotedBlock);
        self.list = self.list.iter().filter(|found| quoted(found.what)).cloned().collect();
        self.counted.retain(|(what, ..)| quoted(*what));
        self.left_out = LeftOut::default();
    }

    /// Drops the findings from this offset on, which turned out to be inside reasoning, except for those about quoted
    /// blocks.
    pub(super) fn unread_from(&mut self, start: usize) {
        let mut quoted = Vec::new();
        while let Some(found) = self.list.pop() {
            if found.span.start() < start {
                self.list.push(found);
                break;
            }
            if found.what == FindingKind::Remark(Remark::QuotedBlock) {
                quoted.push(found);
            }
        }
        quoted.into_iter().rev().for_each(|found| self.list.push(found));
        while self.left_out.closers.pop_from(start) || self.left_out.openers.pop_from(start) {
            self.left_out.count -= 1;
        }
    }

    pub(super) fn iter(&self) -> impl Iterator<Item = &ReaderFinding> {
        self.list.iter()
    }

    /// Takes the findings that were stored, and those that were only counted.
    pub(super) fn take(&mut self) -> (ChunkedVec<ReaderFinding>, LeftOut) {
        (std::mem::take(&mut self.list), std::mem::take(&mut self.left_out))
    }
}
