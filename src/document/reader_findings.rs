//! Found: what did the reader notice?
//!
//! In: defects, remarks and faults of a grammar, each with its place.
//! Out: [`Noticed`], in the order in which they were found.
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

/// What a finding is about.
#[derive(Debug, Clone, Copy)]
enum About {
    Nothing,
    Block(u32),
    /// Something inside this block that is not itself a block.
    Inside(u32),
}

/// What was found.
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

    /// The block around it, if it is not about a block itself.
    pub(crate) fn around(&self) -> Option<usize> {
        match self.about {
            About::Inside(around) => Some(around as usize),
            About::Nothing | About::Block(_) => None,
        }
    }
}

/// What has been found so far.
#[derive(Debug, Default)]
pub(super) struct ReaderFindings {
    list: ChunkedVec<ReaderFinding>,
    /// How often each kind was counted, and in which block.
    counted: Vec<(FindingKind, Option<usize>, usize)>,
    left_out: LeftOut,
}

/// Findings beyond those that are kept.
#[derive(Debug, Default)]
pub(crate) struct LeftOut {
    pub(crate) count: usize,
    /// Closers outside every block among them. What they would close, and which text is left without them, is
    /// determined later.
    pub(crate) closers: ChunkedVec<Stretch>,
    /// Broken openers among them. Which text is left without them is determined later, too.
    pub(crate) openers: ChunkedVec<Stretch>,
}

impl ChunkedVec<Stretch> {
    /// Takes the last span away if it starts here or later.
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
    /// because the same strategy answers them.
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
                // The reading never returns to a block that it has left: forget the counts inside blocks.
                if self.counted.len() >= 16 {
                    self.counted.retain(|(_, around, _)| around.is_none());
                }
                self.counted.push((kind.0, kind.1, 1));
            }
        }
        self.list.push(found);
    }

    /// Keeps only what masks quote: everything else turned out to be inside a block that is never read.
    pub(super) fn unread(&mut self) {
        let quoted = |what: FindingKind| what == FindingKind::Remark(Remark::QuotedBlock);
        self.list = self.list.iter().filter(|found| quoted(found.what)).cloned().collect();
        self.counted.retain(|(what, ..)| quoted(*what));
        self.left_out = LeftOut::default();
    }

    /// Forgets what was found from this place on, which turned out to be inside reasoning, but for what masks quote.
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

    /// Takes the findings that were kept, and those that were not.
    pub(super) fn take(&mut self) -> (ChunkedVec<ReaderFinding>, LeftOut) {
        (std::mem::take(&mut self.list), std::mem::take(&mut self.left_out))
    }
}
