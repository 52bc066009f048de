//! Found: what did the reading notice?
//!
//! In: defects, remarks and faults of a grammar, each with its place.
//! Out: [`Noticed`], in the order in which they were found.
//! Never: says what answers one, or in which words it is told.

use super::Pieces;
use crate::diagnostic::{Defect, Remark};
use crate::grammar::RuleId;
use crate::text::{Span, Stretch};

/// Something that the reading found.
#[derive(Debug, Clone)]
pub(crate) struct Found {
    pub(crate) what: What,
    span: Stretch,
    about: About,
}

/// What a finding is about.
#[derive(Debug, Clone, Copy)]
enum About {
    Nothing,
    Block(u32),
    /// What is no block itself, in this one.
    Inside(u32),
}

/// What was found.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum What {
    Defect(Defect),
    Remark(Remark),
    /// What a rule of the dialect's grammar names.
    Fault(RuleId),
    /// The same of the grammar of payloads.
    PayloadFault(RuleId),
}

impl From<Defect> for What {
    fn from(defect: Defect) -> Self {
        What::Defect(defect)
    }
}

impl From<Remark> for What {
    fn from(remark: Remark) -> Self {
        What::Remark(remark)
    }
}

impl Found {
    pub(super) fn new(what: impl Into<What>, span: Span) -> Self {
        Self { what: what.into(), span: span.into(), about: About::Nothing }
    }

    pub(super) fn of(what: impl Into<What>, span: Span, block: usize) -> Self {
        Self { what: what.into(), span: span.into(), about: About::Block(block as u32) }
    }

    pub(super) fn inside(what: impl Into<What>, span: Span, around: usize) -> Self {
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

    /// The block that it stands in, where it is none itself.
    pub(crate) fn around(&self) -> Option<usize> {
        match self.about {
            About::Inside(around) => Some(around as usize),
            About::Nothing | About::Block(_) => None,
        }
    }
}

/// What one reading has found so far.
#[derive(Debug, Default)]
pub(super) struct Noticed {
    list: Pieces<Found>,
    /// How often each kind was counted, and inside which block.
    counted: Vec<(What, Option<usize>, usize)>,
    left_out: LeftOut,
}

/// What was found beyond those that are kept.
#[derive(Debug, Default)]
pub(crate) struct LeftOut {
    pub(crate) count: usize,
    /// Those of them that are closers outside every block: what they close, and what is left without them, is asked later.
    pub(crate) closers: Pieces<Stretch>,
    /// Those that are broken openers: what is left without them is asked later, too.
    pub(crate) openers: Pieces<Stretch>,
}

impl Noticed {
    pub(super) fn push(&mut self, found: Found) {
        self.list.push(found);
    }

    /// Notes what is about no block of its own. What has been found `most` times at one level is answered alike, so that it
    /// is only counted from there on.
    pub(super) fn count(&mut self, found: Found, most: usize) {
        let kind = (found.what, found.around());
        match self.counted.iter_mut().find(|(what, around, _)| (*what, *around) == kind) {
            Some((.., count)) if *count >= most => {
                self.left_out.count += 1;
                match kind {
                    (What::Defect(Defect::StrayCloser), None) => self.left_out.closers.push(found.span),
                    (What::Defect(Defect::MalformedOpener), None) => self.left_out.openers.push(found.span),
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

    /// Leaves only what masks quote: the rest of what was found turned out to stand in a block that is never read.
    pub(super) fn unread(&mut self) {
        let quoted = |what: What| what == What::Remark(Remark::MaskedBlock);
        self.list = self.list.iter().filter(|found| quoted(found.what)).cloned().collect();
        self.counted.retain(|(what, ..)| quoted(*what));
        self.left_out = LeftOut::default();
    }

    pub(super) fn iter(&self) -> impl Iterator<Item = &Found> {
        self.list.iter()
    }

    /// Those that were kept, and those that were not; nothing of them is left.
    pub(super) fn take(&mut self) -> (Pieces<Found>, LeftOut) {
        (std::mem::take(&mut self.list), std::mem::take(&mut self.left_out))
    }
}
