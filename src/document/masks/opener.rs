//! Openers: which fences open blocks, and where does such a fence close?
//!
//! In: a fence, and a dialect whose openers may be fences.
//! Out: the inside of the fence, once it is known that it opens a block, and the end of the fence.
//! Never: examines fences for a dialect without such openers.
//!
//! A block in a fence is often a text with fences of its own, which would end it by CommonMark. So a fence in it with a
//! word after its fence characters opens and closes inside it. Only if these do not pair up, the first line that may
//! close the block closes it.

use super::fence::{BeforeFence, FenceLine, fence_line};
use super::search::Search;
use super::{Mask, MaskSearch, Masks, Quotes};
use crate::document::budget::{Arrived, StepBudget};
use crate::grammar::{Machine, Progress};
use crate::program::{Dialect, Family};
use crate::surface::Role;
use crate::text::{Slice, Span};
use std::task::Poll;

/// The dialect that decides which fences open blocks, and the budget for that.
pub(crate) struct Openers<'l> {
    pub(crate) dialect: &'l Dialect,
    pub(in crate::document) budget: &'l mut StepBudget,
    pub(in crate::document) arrived: Arrived,
}

/// The state of the search at the fence that may open a block.
#[derive(Debug, Default)]
pub(super) struct Opens {
    machine: Machine,
    /// The offset of the fence, and the grammar that is being tried there, if any.
    at: usize,
    family: usize,
    /// The number that [`starts`] gives the offset from which that grammar is tried.
    place: usize,
    runs: bool,
    /// The result of [`end_of_opener`](Self::end_of_opener).
    known: FenceOpener,
    /// How far the fence has been searched, and whether another fence inside it is open there.
    seen: usize,
    inner: bool,
    run: Search,
    line: Search,
    /// Fences of this character, length and position that are not closed in the rest of the text.
    unpaired: Vec<(u8, usize, BeforeFence)>,
}

/// Whether an opener of a block contains a fence, or starts with it.
#[derive(Debug, Default, Clone, Copy)]
enum FenceOpener {
    /// More text is needed.
    #[default]
    Unknown,
    Absent,
    /// It ends here, and opens a wrapper or another block.
    Found {
        end: usize,
        wraps: bool,
    },
}

/// Longer fences close only as in CommonMark: they are rare, and each length would need its own search.
const MAX_FENCE_LENGTH: usize = 8;

/// The most captures of an opener at a fence: those of about three hundred attributes.
const MAX_OPENER_CAPTURES: usize = 1024;

/// A fence that may open a block, in the text so far.
pub(super) struct Opening<'t> {
    pub(super) bytes: &'t [u8],
    pub(super) at: usize,
    pub(super) before: BeforeFence,
    pub(super) line: &'t FenceLine,
    pub(super) complete: bool,
}

impl Opening<'_> {
    pub(super) fn mark(&self) -> u8 {
        self.bytes.get(self.at).copied().unwrap_or_default()
    }
}

impl Masks {
    /// The text that the fence at `at` quotes if it opens a block; `None` if it opens none, `Absent` if it is never
    /// closed.
    pub(super) fn block_at(
        &mut self,
        text: &str,
        opening: &Opening<'_>,
        openers: &mut Openers<'_>,
    ) -> Option<MaskSearch> {
        let Opening { at, before, line, complete, .. } = *opening;
        if before == BeforeFence::Item {
            return None;
        }
        let mut opens = self.opens.take()?;
        if opens.at != at || matches!(opens.known, FenceOpener::Unknown) && !opens.runs {
            let (machine, unpaired) = (std::mem::take(&mut opens.machine), std::mem::take(&mut opens.unpaired));
            *opens = Opens { machine, unpaired, at, seen: line.end, ..Opens::default() };
        }
        let sought = match opens.end_of_opener(text, complete, openers) {
            FenceOpener::Unknown => Some(MaskSearch::Pending),
            FenceOpener::Absent => None,
            FenceOpener::Found { end, wraps } => Some(self.close_block(opening, (end, wraps), &mut opens)),
        };
        self.opens = Some(opens);
        sought
    }

    /// The text that such a block quotes, from the end of its `opener` to the fence characters that close it. A wrapper
    /// quotes nothing.
    fn close_block(&mut self, opening: &Opening<'_>, (opener, wraps): (usize, bool), opens: &mut Opens) -> MaskSearch {
        let bytes = opening.bytes;
        let Poll::Ready(found) = opens.closer(opening) else { return MaskSearch::Pending };
        let (start, end) = match found {
            Some(found) => found,
            None => match self.fence_end(opening) {
                MaskSearch::Found(mask) => {
                    let end = mask.span().end;
                    let marks = bytes.slice(..end);
                    (marks.iter().rposition(|byte| *byte != opening.mark()).map_or(0, |last| last + 1), end)
                }
                MaskSearch::Pending => return MaskSearch::Pending,
                MaskSearch::Absent | MaskSearch::Inside(..) => return MaskSearch::Absent,
            },
        };
        let quoted = if wraps { Span::new(start, start) } else { Span::new(opener.min(start), start) };
        MaskSearch::Inside(Mask::new(quoted, Quotes::Opener), end)
    }
}

/// How many lines before the line of a fence an opener may start that contains the fence.
const MAX_LINES_BEFORE: usize = 2;

/// An offset at which an opener of the family that contains the fence at `at` may start: number 0 is the fence itself
/// if openers start with one, or else the start of its line; the next numbers are the starts of the lines before.
fn starts(family: &Family, bytes: &[u8], at: usize, number: usize) -> Option<usize> {
    if family.opens_fences() {
        return (number == 0).then_some(at);
    }
    if !family.holds_fences || number > MAX_LINES_BEFORE {
        return None;
    }
    let line = |end: usize| memchr::memrchr(b'\n', bytes.slice(..end)).map_or(0, |place| place + 1);
    (0..number).try_fold(line(at), |start, _| start.checked_sub(1).map(line))
}

impl Opens {
    /// Determines whether there is an opener here.
    fn end_of_opener(&mut self, text: &str, complete: bool, openers: &mut Openers<'_>) -> FenceOpener {
        if !matches!(self.known, FenceOpener::Unknown) {
            return self.known;
        }
        while let Some(family) = openers.dialect.families.get(self.family) {
            let Some(start) = starts(family, text.as_bytes(), self.at, self.place) else {
                self.place = 0;
                self.family += 1;
                continue;
            };
            if !self.runs {
                self.machine = std::mem::take(&mut self.machine).capturing(MAX_OPENER_CAPTURES);
                self.machine.start(&family.grammar, family.open, start);
                self.runs = true;
            }
            match openers.budget.run(&mut self.machine, family, (text, complete), openers.arrived) {
                Progress::Matched(end) if end > self.at => {
                    let name = self.machine.captures().iter().find(|capture| capture.rule() == family.name);
                    let name = name.map(|name| name.span().of(text)).unwrap_or_default();
                    if let Some(id) = openers.dialect.names.find(name, Some(self.family)) {
                        let wraps = openers.dialect.block(id).is_some_and(|block| block.role == Role::Wrapper);
                        self.known = FenceOpener::Found { end, wraps };
                        return self.known;
                    }
                }
                Progress::Pending => return FenceOpener::Unknown,
                Progress::Matched(_) | Progress::Failed | Progress::TooDeep | Progress::Spent => {}
            }
            self.runs = false;
            self.place += 1;
        }
        self.known = FenceOpener::Absent;
        self.known
    }

    /// The fence characters that close the fence, if the fences in it pair up; pending while more text is needed.
    fn closer(&mut self, opening: &Opening<'_>) -> Poll<Option<(usize, usize)>> {
        let Opening { bytes, before, line: open, complete, .. } = *opening;
        let mark = opening.mark();
        let kind = (mark, open.length, before);
        if open.length > MAX_FENCE_LENGTH || self.unpaired.contains(&kind) {
            return Poll::Ready(None);
        }
        while let Some(offset) = memchr::memchr(mark, bytes.slice(self.seen..)) {
            let hit = self.seen + offset;
            let run = self.run.run(bytes, hit);
            if run - hit < open.length && run < bytes.len() {
                self.seen = run;
                continue;
            }
            let Some(at_line) = BeforeFence::of(bytes, hit) else {
                self.seen = run;
                continue;
            };
            if !complete && self.line.line(bytes, run).is_none() {
                self.seen = hit;
                return Poll::Pending;
            }
            self.seen = run;
            let Some(line) = fence_line(bytes, hit, complete).filter(|line| line.length >= open.length) else {
                continue;
            };
            match (line.closes, self.inner) {
                (true, false) if before.is_closed_by(at_line) => return Poll::Ready(Some((hit, line.marks))),
                (true, true) => self.inner = false,
                (false, false) if line.opens => self.inner = true,
                _ => {}
            }
        }
        if !complete {
            self.seen = bytes.len();
            return Poll::Pending;
        }
        self.unpaired.push(kind);
        Poll::Ready(None)
    }
}
