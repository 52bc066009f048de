//! Dialect selector: which of several dialects reads this response?
//!
//! In: the response in chunks, and the dialects of a mode in order.
//! Out: the document of the dialect that claims it.
//! Never: mixes the blocks of two dialects, or knows which of them are fallbacks.
//!
//! The first block among the `needs` of a dialect claims the response; if two open at the same place, the earlier
//! dialect gets it. An object after words is an example if a block outside of it claims the response, too. A response
//! that no dialect claims is read by the first dialect that found any block, or else by the only one that needs none.
//! Dialects that differ only in their `needs` share one reading.

use super::announce::EventDraft;
use super::members::Objects;
use super::scanner::DialectScanner;
use super::{Block, ChunkedVec, Document, FindingKind, ReadContext, ReaderFinding};
use crate::diagnostic::{Defect, Remark};
use crate::program::{BlockId, Dialect, DialectId, Limits};
use crate::surface::Role;
use crate::text::Span;
use smallvec::SmallVec;

/// The length of the first window of a response that all dialects read.
pub(super) const FIRST_WINDOW_BYTES: usize = 4096;

/// The result of one dialect.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Tried {
    pub(crate) dialect: DialectId,
    pub(crate) trial: Trial,
    /// Before the response was claimed: the name of its first block, and the finding that comes nearest to a block.
    pub(crate) seen: Option<Span>,
    pub(crate) near: Option<(FindingKind, Span)>,
}

/// Whether a dialect reads the response, and why.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Trial {
    /// It is the only dialect.
    Sole,
    /// Its block at this place claims the response.
    Claims(usize),
    /// It would claim the response at the same place, but comes after another one.
    Tied,
    /// No dialect claims the response; this is the first that found a block.
    First,
    /// No dialect found a block; this is the only one without `needs`.
    Rest,
    /// It is a fallback, and no other dialect found a block.
    Fallback,
    /// It is a fallback, and the response begins with a quotation in which the block at this place opens.
    Begins(usize),
    /// It is a fallback, and another dialect found a block.
    Spared,
    /// It has no claim, because another dialect claimed the response first, or the response ended.
    Passed,
}

/// How a dialect reads: marks for its openers and closers, or one object with members.
#[derive(Debug)]
#[expect(clippy::large_enum_variant, reason = "there are as few as dialects, and most modes have one")]
enum DialectReading {
    Marks(DialectScanner),
    Object(Box<Objects>),
}

impl DialectReading {
    /// The reading of a dialect. It is built in place, because it is large.
    fn of(dialect: &Dialect, limits: Limits, left_open: Option<bool>) -> (DialectId, Self) {
        match dialect.outline {
            Some(_) => (dialect.id, DialectReading::Object(Box::new(Objects::new(left_open)))),
            None => (dialect.id, DialectReading::Marks(DialectScanner::new(dialect, limits, left_open))),
        }
    }

    /// Makes a dialect share this reading, which then also searches for the first block among its `needs`.
    fn share(&mut self, dialect: DialectId) {
        if let DialectReading::Marks(scanner) = self {
            scanner.claims.push((dialect, None));
        }
    }

    fn advance(&mut self, context: &ReadContext<'_>, limits: &Limits, complete: bool) {
        match (self, &context.dialect.outline) {
            (DialectReading::Marks(scanner), _) => scanner.advance(context, complete),
            (DialectReading::Object(objects), Some(outline)) => objects.advance(context, outline, limits, complete),
            (DialectReading::Object(_), None) => {}
        }
    }

    fn announce(&mut self, context: &ReadContext<'_>, complete: bool, out: &mut Vec<EventDraft>) {
        match self {
            DialectReading::Marks(scanner) => scanner.announce(context, complete, out),
            DialectReading::Object(objects) => objects.announce(context, complete, out),
        }
    }

    /// Where the dialect that is number `sharer` of this reading claims the response.
    fn claim(&self, dialect: &Dialect, sharer: usize) -> Option<usize> {
        match self {
            DialectReading::Marks(scanner) => scanner.claims.get(sharer).and_then(|(_, place)| *place),
            DialectReading::Object(objects) => objects.claim(dialect),
        }
    }

    /// What the dialect found before `place`: the name of a block, and the finding that comes nearest to one. Both are
    /// known where the reading is certain.
    fn seen(&self, place: usize) -> (Option<Span>, Option<(FindingKind, Span)>) {
        let before = |span: Span| span.start < place;
        let is_near = |found: &&ReaderFinding| {
            let near = matches!(
                found.what,
                FindingKind::Remark(Remark::QuotedBlock) | FindingKind::Defect(Defect::MalformedOpener)
            );
            near && before(found.span())
        };
        let (blocks, near) = match self {
            DialectReading::Marks(scanner) => (&scanner.blocks, scanner.found.iter().find(is_near)),
            DialectReading::Object(objects) => (&objects.read.blocks, objects.read.found.iter().find(is_near)),
        };
        let block = blocks.iter().find(|block| before(block.span())).map(|block| block.name());
        (block, near.map(|found| (found.what, found.span())))
    }

    fn certain_until(&self) -> usize {
        match self {
            DialectReading::Marks(scanner) => scanner.certain_until(),
            DialectReading::Object(objects) => objects.certain_until(),
        }
    }

    /// The start and the declaration of the first block, which may still be open.
    fn first_block(&self) -> Option<(usize, BlockId)> {
        match self {
            DialectReading::Marks(scanner) => scanner.first_block(),
            DialectReading::Object(objects) => objects.read.blocks.get(0).map(|block| (block.span().start, block.id)),
        }
    }

    /// Whether the dialect found a block that may be an answer.
    fn found_answer(&self, dialect: &Dialect) -> bool {
        match self {
            DialectReading::Marks(scanner) => scanner.found_answer(dialect),
            DialectReading::Object(objects) => {
                let mut blocks = objects.read.blocks.iter();
                blocks.any(|block| dialect.block(block.id).is_some_and(|block| !block.starts))
            }
        }
    }

    /// How many bytes of the response the dialect found to be reasoning.
    fn bytes_of_reasoning(&self, dialect: &Dialect) -> usize {
        let blocks = match self {
            DialectReading::Marks(scanner) => &scanner.blocks,
            DialectReading::Object(objects) => &objects.read.blocks,
        };
        let reasoning = blocks.iter().filter(|block| block.parent().is_none() && is_reasoning(block, dialect));
        reasoning.map(|block| block.span().end - block.span().start).sum()
    }

    fn found_nothing(&self) -> bool {
        match self {
            DialectReading::Marks(scanner) => scanner.blocks.is_empty() && scanner.found.iter().next().is_none(),
            DialectReading::Object(objects) => objects.read.blocks.is_empty() && objects.read.found.is_empty(),
        }
    }

    fn take_document(&mut self, dialect: Option<DialectId>, bytes: usize) -> Document {
        match self {
            DialectReading::Marks(scanner) => scanner.take_document(dialect, bytes),
            DialectReading::Object(objects) => Document { dialect, bytes, ..std::mem::take(&mut objects.read) },
        }
    }
}

fn is_reasoning(block: &Block, dialect: &Dialect) -> bool {
    dialect.block(block.id).is_some_and(|bound| bound.role == Role::Thinking)
}

/// A dialect: its id, the id of the dialect whose reading it shares, and its indexes in `readings` and among the
/// dialects that share it.
#[derive(Debug, Clone, Copy)]
struct Candidate {
    dialect: DialectId,
    like: DialectId,
    reading: usize,
    sharer: usize,
}

/// The dialects that are still reading. They store no reference to the program, which is passed to each call.
#[derive(Debug)]
pub(super) struct DialectSelector {
    /// In the order of the mode; only one, once it is known which dialect reads the response.
    candidates: SmallVec<[Candidate; 1]>,
    /// The readings, each with its dialect; dialects that read alike share one.
    readings: SmallVec<[(DialectId, DialectReading); 1]>,
    claimed: bool,
    /// Whether a block may claim the response before its end.
    may_claim: bool,
    /// The result of each dialect, once it is known.
    tried: SmallVec<[Tried; 1]>,
    /// How much of the response the dialects have read.
    read: usize,
    limits: Limits,
}

impl DialectSelector {
    /// Starts to read. If `may_claim`, a block may claim the response before its end. `left_open`: whether the prompt
    /// ended inside reasoning, if the host knows.
    pub(super) fn new<'p>(
        dialects: impl IntoIterator<Item = &'p Dialect>,
        limits: Limits,
        may_claim: bool,
        left_open: Option<bool>,
    ) -> Self {
        // A reading is large: build it in place instead of moving it.
        let mut all = Self {
            candidates: SmallVec::new(),
            readings: SmallVec::new(),
            claimed: false,
            may_claim,
            tried: SmallVec::new(),
            read: 0,
            limits,
        };
        for dialect in dialects {
            let like = dialect.like.unwrap_or(dialect.id);
            let mut alike = all.candidates.iter().filter(|one| one.like == like);
            let (reading, sharer) =
                alike.next().map_or((all.readings.len(), 0), |one| (one.reading, 1 + alike.count()));
            match all.readings.get_mut(reading) {
                Some((_, reading)) => reading.share(dialect.id),
                None => all.readings.push(DialectReading::of(dialect, limits, left_open)),
            }
            all.candidates.push(Candidate { dialect: dialect.id, like, reading, sharer });
        }
        if let [sole] = all.candidates.as_slice() {
            all.tried.push(Tried { dialect: sole.dialect, trial: Trial::Sole, seen: None, near: None });
            all.claimed = true;
        }
        all
    }

    /// Continues reading; `dialects` are those of the program, and `text` is the whole response so far.
    pub(super) fn advance(&mut self, dialects: &[Dialect], text: &str, complete: bool) {
        if text.len() > self.limits.input {
            return;
        }
        // Until a dialect claims the response, all of them read windows of it, and no window counts as complete.
        let mut window = FIRST_WINDOW_BYTES;
        while !self.claimed && self.read < text.len() {
            let end = (self.read + window..text.len()).find(|end| text.is_char_boundary(*end)).unwrap_or(text.len());
            self.read_to(dialects, text.get(..end).unwrap_or(text), false);
            window *= 2;
        }
        self.read_to(dialects, text, complete);
        if complete && !self.claimed {
            self.choose_at_end(dialects);
        }
    }

    fn read_to(&mut self, dialects: &[Dialect], text: &str, complete: bool) {
        for (dialect, reading) in &mut self.readings {
            if let Some(dialect) = dialect.of(dialects) {
                reading.advance(&ReadContext { text, dialect, dialects, shows: None }, &self.limits, complete);
            }
        }
        self.read = text.len();
        if !self.claimed && self.may_claim {
            self.claim(dialects, text, complete);
        }
    }

    /// Whether the dialect that reads the response is known, and has found a block that may be an answer.
    pub(super) fn found_answer(&self, dialects: &[Dialect]) -> bool {
        let reads = self.candidates.first().filter(|_| self.claimed);
        reads.is_some_and(|reads| self.finds(reads, dialects))
    }

    /// Whether no dialect that is still reading has found a block, or a defect.
    pub(super) fn found_nothing(&self) -> bool {
        self.readings.iter().all(|(_, reading)| reading.found_nothing())
    }

    /// Whether the dialect that reads the response is known, and has found a block among its `needs`; if it has none, a
    /// block that may be an answer.
    pub(super) fn found_needed(&self, dialects: &[Dialect]) -> bool {
        let reads = self.candidates.first().filter(|_| self.claimed);
        reads.is_some_and(|reads| self.finds_needed(reads, dialects))
    }

    fn finds_needed(&self, candidate: &Candidate, dialects: &[Dialect]) -> bool {
        match candidate.dialect.of(dialects) {
            Some(dialect) if !dialect.needs.is_empty() => self.claim_of(candidate, dialects).is_some(),
            _ => self.finds(candidate, dialects),
        }
    }

    fn finds(&self, candidate: &Candidate, dialects: &[Dialect]) -> bool {
        match (self.readings.get(candidate.reading), candidate.dialect.of(dialects)) {
            (Some((_, reading)), Some(dialect)) => reading.found_answer(dialect),
            _ => false,
        }
    }

    /// Whether the first block that a dialect finds is at `place`, and among its `needs`; `None` while that is not
    /// known.
    pub(super) fn opens_at(&self, dialect: DialectId, dialects: &[Dialect], place: usize) -> Option<bool> {
        let candidate = self.candidates.iter().find(|one| one.dialect == dialect)?;
        let (_, reading) = self.readings.get(candidate.reading)?;
        let dialect = dialect.of(dialects)?;
        let is_answer = |id| dialect.block(id).is_some_and(|block| block.role.is_answer());
        match reading.first_block() {
            Some((start, _)) if start != place => Some(false),
            Some((_, id)) if dialect.needs.is_empty() => Some(is_answer(id)),
            Some(_) => Some(self.claim_of(candidate, dialects) == Some(place)),
            None => (reading.certain_until() > place).then_some(false),
        }
    }

    /// Makes this dialect the one that reads the response.
    pub(super) fn take(&mut self, dialect: DialectId) {
        if let Some(index) = self.candidates.iter().position(|one| one.dialect == dialect) {
            self.choose(index);
        }
    }

    /// The result of each dialect if none of them reads the response: what it found before `place`.
    pub(super) fn passed(&self, dialects: &[Dialect], place: usize) -> SmallVec<[Tried; 1]> {
        let mut all = self.try_all(dialects, usize::MAX, Trial::Passed, place);
        // Some dialects are no longer candidates.
        for gone in &self.tried {
            if !all.iter().any(|one| one.dialect == gone.dialect) {
                let seen = gone.seen.filter(|seen| seen.start < place);
                let near = gone.near.filter(|(_, near)| near.start < place);
                all.push(Tried { dialect: gone.dialect, trial: Trial::Passed, seen, near });
            }
        }
        all
    }

    /// The dialect that reads the response, once that is known.
    pub(super) fn chosen(&self) -> Option<DialectId> {
        self.candidates.first().map(|reader| reader.dialect).filter(|_| self.claimed)
    }

    /// Adds the events that have become certain since the last call; none until the response is claimed, or has ended.
    /// `shows` is the name of the section that is the message.
    pub(super) fn announce(
        &mut self,
        dialects: &[Dialect],
        text: &str,
        shows: Option<&str>,
        complete: bool,
        out: &mut Vec<EventDraft>,
    ) {
        if let (true, [(dialect, reading)]) = (self.claimed, self.readings.as_mut_slice())
            && let Some(dialect) = dialect.of(dialects)
        {
            reading.announce(&ReadContext { text, dialect, dialects, shows }, complete, out);
        }
    }

    /// The offset of the first mark outside every block that a strategy may remove from the text around it.
    pub(super) fn doubtful(&self) -> Option<usize> {
        let [(_, DialectReading::Marks(scanner))] = self.readings.as_slice() else { return None };
        let is_mark = |found: &&ReaderFinding| {
            let is_mark = matches!(
                found.what,
                FindingKind::Defect(Defect::StrayCloser | Defect::MalformedOpener | Defect::NestedBlock)
            );
            is_mark && found.block().is_none() && found.around().is_none()
        };
        scanner.found.iter().find(is_mark).map(|found| found.span().start)
    }

    fn claim_of(&self, candidate: &Candidate, dialects: &[Dialect]) -> Option<usize> {
        let (_, reading) = self.readings.get(candidate.reading)?;
        reading.claim(candidate.dialect.of(dialects)?, candidate.sharer)
    }

    /// Decides on a claim once no other dialect can claim an earlier place.
    fn claim(&mut self, dialects: &[Dialect], text: &str, complete: bool) {
        let claims = self.candidates.iter().zip(0..);
        let claims = claims.filter_map(|(one, index)| Some((self.claim_of(one, dialects)?, index)));
        let best = claims.filter(|(place, index)| !self.is_example(*index, *place, dialects, text)).min();
        let Some((place, index)) = best else { return };
        let is_certain = |(_, reading): &(DialectId, DialectReading)| complete || reading.certain_until() > place;
        if self.readings.iter().all(is_certain) {
            self.tried = self.try_all(dialects, index, Trial::Claims(place), place);
            self.choose(index);
        }
    }

    /// Whether the object of this candidate is only an example: there are words before it, and another dialect has a
    /// claim outside of it. An object at the start of the answer is the answer.
    fn is_example(&self, index: usize, place: usize, dialects: &[Dialect], text: &str) -> bool {
        let Some(one) = self.candidates.get(index) else { return false };
        let Some((_, DialectReading::Object(objects))) = self.readings.get(one.reading) else { return false };
        let is_marked =
            |other: &Candidate| matches!(self.readings.get(other.reading), Some((_, DialectReading::Marks(_))));
        let mut others = self.candidates.iter().filter(|other| is_marked(other));
        objects.follows_words(place, text)
            && others.any(|other| self.claim_of(other, dialects).is_some_and(|claim| objects.is_outside(claim, text)))
    }

    /// At the end, selects the first dialect that found a block for a response that none claims.
    fn choose_at_end(&mut self, dialects: &[Dialect]) {
        let finds = |one: &Candidate| match self.may_claim {
            true => self.finds(one, dialects),
            false => self.finds_needed(one, dialects),
        };
        let first = self.candidates.iter().position(finds).map(|first| (first, Trial::First));
        let first = first.or_else(|| Some((self.rest(dialects)?, Trial::Rest)));
        let (index, trial) = first.unwrap_or((usize::MAX, Trial::First));
        self.tried = self.try_all(dialects, index, trial, usize::MAX);
        if first.is_some() {
            self.choose(index);
        }
    }

    /// The only dialect without `needs`, if all others have some: it gets a response that no dialect claims.
    fn rest(&self, dialects: &[Dialect]) -> Option<usize> {
        let needless = |one: &Candidate| one.dialect.of(dialects).is_some_and(|dialect| dialect.needs.is_empty());
        let mut needless = (0..).zip(&self.candidates).filter(|(_, one)| needless(one)).map(|(index, _)| index);
        let only = needless.next().filter(|_| self.may_claim)?;
        needless.next().is_none().then_some(only)
    }

    /// Retains only the candidate with this index.
    fn choose(&mut self, index: usize) {
        self.claimed = true;
        self.candidates = self.candidates.drain(..).skip(index).take(1).collect();
        let winner = self.candidates.first().map_or(0, |winner| winner.reading);
        self.readings = self.readings.drain(..).skip(winner).take(1).collect();
    }

    /// The result of each dialect: `trial` for the one at `index`, and for the others what they found before `place`.
    fn try_all(&self, dialects: &[Dialect], index: usize, trial: Trial, place: usize) -> SmallVec<[Tried; 1]> {
        let all = self.candidates.iter().enumerate();
        let tried = all.map(|(number, candidate)| {
            let reading = self.readings.get(candidate.reading);
            let (seen, near) = reading.map(|(_, reading)| reading.seen(place)).unwrap_or_default();
            let trial = match trial {
                trial if number == index => trial,
                Trial::Claims(place) if self.claim_of(candidate, dialects) == Some(place) => Trial::Tied,
                _ => Trial::Passed,
            };
            Tried { dialect: candidate.dialect, trial, seen, near }
        });
        tried.collect()
    }

    /// The document of the whole response. Frees the state of reading.
    pub(super) fn finish(&mut self, dialects: &[Dialect], text: &str) -> Document {
        let mut document = self.read_whole(dialects, text);
        document.tried = std::mem::take(&mut self.tried);
        self.readings.clear();
        document
    }

    fn read_whole(&mut self, dialects: &[Dialect], text: &str) -> Document {
        if text.len() > self.limits.input {
            let found = ReaderFinding::new(Defect::TooLarge, Span::new(self.limits.input, text.len()));
            return Document { bytes: text.len(), found: ChunkedVec::from_iter([found]), ..Document::default() };
        }
        self.advance(dialects, text, true);
        let dialect = self.chosen();
        // Of several dialects that find reasoning in a response that none reads, the one that finds the most.
        let bytes = |(dialect, reading): &(DialectId, DialectReading)| {
            dialect.of(dialects).map_or(0, |dialect| reading.bytes_of_reasoning(dialect))
        };
        let readings = self.readings.iter().enumerate().rev().filter(|_| dialect.is_none());
        let index = readings.max_by_key(|(_, reading)| bytes(reading)).map(|(index, _)| index).unwrap_or_default();
        let Some((reader, reading)) = self.readings.get_mut(index) else {
            return Document { bytes: text.len(), ..Document::default() };
        };
        let mut document = reading.take_document(dialect, text.len());
        // A single candidate reads the response even if it found no block.
        if dialect.is_some() {
            return document;
        }
        // A response that no dialect claimed has no blocks, except for reasoning, which is hidden in any case; of the
        // findings, only exceeded limits are still reported.
        let bound = reader.of(dialects);
        let is_reasoning =
            |block: &Block| block.parent().is_none() && bound.is_some_and(|bound| is_reasoning(block, bound));
        let mut reasoning: Vec<Block> = std::iter::from_fn(|| document.blocks.pop()).filter(is_reasoning).collect();
        reasoning.reverse();
        document.blocks = reasoning.into_iter().collect();
        document.reasoning_of = (!document.blocks.is_empty()).then_some(*reader);
        let limit = |what| matches!(what, FindingKind::Defect(Defect::TooLarge | Defect::TooCostly));
        let limits = document.found.iter().filter(|found| limit(found.what)).cloned();
        let none = ReaderFinding::new(Defect::NoDialect, Span::new(0, text.len()));
        document.found = limits.chain([none]).collect();
        document
    }
}
