//! Side by side: which of several dialects reads this response?
//!
//! In: the response in pieces, and the dialects of a mode in the order of the pack.
//! Out: the document of the dialect that claims it.
//! Never: mixes two dialects' blocks.
//!
//! The first block of a dialect's `needs` claims the response; where two open at the same place, the earlier dialect has
//! it. What nobody claims is read by the first dialect that found a block at all.

use super::announce::Announcement;
use super::members::ObjectReader;
use super::reader::Scanner;
use super::{Document, Found, What};
use crate::diagnostic::{Defect, Remark};
use crate::program::{Dialect, Limits};
use crate::text::Span;

/// So much of a response is read at first by dialects that read side by side.
const WINDOW: usize = 4096;

/// What came of one dialect.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Tried {
    pub(crate) dialect: usize,
    pub(crate) trial: Trial,
    /// The name of its first block, and what came nearest to one, up to where the response was claimed.
    pub(crate) seen: Option<Span>,
    pub(crate) near: Option<(What, Span)>,
}

/// Whether a dialect reads the response.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Trial {
    /// There is no other.
    Sole,
    /// Its block at this place claims the response.
    Claims(usize),
    /// It would claim it at the same place, but stands behind another.
    Tied,
    /// Nobody claims the response; it is the first that found a block.
    First,
    /// It has no claim up to where another claims the response, or to the end.
    Passed,
}

/// A dialect reading: by its openers and closers, or one object and its members.
#[derive(Debug)]
enum Reading<'p> {
    Marks(Box<Scanner<'p>>),
    Object(Box<ObjectReader<'p>>),
}

impl<'p> Reading<'p> {
    fn new(dialect: &'p Dialect, limits: &'p Limits) -> Self {
        match &dialect.outline {
            Some(outline) => Reading::Object(Box::new(ObjectReader::new(dialect, outline, limits))),
            None => Reading::Marks(Box::new(Scanner::new(dialect, limits))),
        }
    }

    fn advance(&mut self, text: &str, complete: bool) {
        match self {
            Reading::Marks(scanner) => scanner.advance(text, complete),
            Reading::Object(reader) => reader.advance(text, complete),
        }
    }

    fn announce(&mut self, text: &str, complete: bool, out: &mut Vec<Announcement>) {
        match self {
            Reading::Marks(scanner) => scanner.announce(text, complete, out),
            Reading::Object(reader) => reader.announce(text, complete, out),
        }
    }

    fn claim(&self) -> Option<usize> {
        match self {
            Reading::Marks(scanner) => scanner.claim,
            Reading::Object(reader) => reader.claim(),
        }
    }

    /// What it found before `place`: the name of a block, and what came nearest to one. Both are known where the reading
    /// is settled.
    fn seen(&self, place: usize) -> (Option<Span>, Option<(What, Span)>) {
        let (blocks, found) = match self {
            Reading::Marks(scanner) => (&scanner.blocks, scanner.found.as_slice()),
            Reading::Object(reader) => (&reader.blocks, [].as_slice()),
        };
        let before = |span: &Span| span.start < place;
        let block = blocks.iter().find(|block| before(&block.span)).map(|block| block.name);
        let is_near = |what| matches!(what, What::Remark(Remark::MaskedBlock) | What::Defect(Defect::MalformedOpener));
        let near = found.iter().find(|found| is_near(found.what) && before(&found.span));
        (block, near.map(|found| (found.what, found.span)))
    }

    fn settled_until(&self) -> usize {
        match self {
            Reading::Marks(scanner) => scanner.settled_until(),
            Reading::Object(reader) => reader.settled_until(),
        }
    }

    /// Whether it found a block that may be an answer.
    fn found_answer(&self) -> bool {
        match self {
            Reading::Marks(scanner) => scanner.found_answer(),
            Reading::Object(reader) => !reader.blocks.is_empty(),
        }
    }

    fn into_document(self, dialect: Option<usize>, bytes: usize) -> Document {
        match self {
            Reading::Marks(scanner) => scanner.into_document(dialect, bytes),
            Reading::Object(reader) => reader.into_document(dialect, bytes),
        }
    }
}

/// The dialects that still read.
#[derive(Debug)]
pub(crate) struct Readers<'p> {
    /// With their numbers; one alone once the response is claimed.
    scanners: Vec<(usize, Reading<'p>)>,
    claimed: bool,
    /// What came of each dialect, once that is known.
    tried: Vec<Tried>,
    /// How much of the response they have seen.
    read: usize,
    limits: &'p Limits,
}

impl<'p> Readers<'p> {
    pub(crate) fn new(dialects: impl IntoIterator<Item = (usize, &'p Dialect)>, limits: &'p Limits) -> Self {
        let scanners: Vec<_> =
            dialects.into_iter().map(|(number, dialect)| (number, Reading::new(dialect, limits))).collect();
        let claimed = scanners.len() == 1;
        let sole =
            |(number, _): &(usize, Reading<'_>)| Tried { dialect: *number, trial: Trial::Sole, seen: None, near: None };
        let tried = if claimed { scanners.iter().map(sole).collect() } else { Vec::new() };
        Self { scanners, claimed, tried, read: 0, limits }
    }

    /// Reads on; `text` is the whole response so far.
    pub(crate) fn advance(&mut self, text: &str, complete: bool) {
        if text.len() > self.limits.input {
            return;
        }
        // Several read only as far as it takes until one of them claims the response.
        let mut window = WINDOW;
        while !self.claimed && self.read + window < text.len() {
            let end = (self.read + window..text.len()).find(|end| text.is_char_boundary(*end)).unwrap_or(text.len());
            self.read_to(text.get(..end).unwrap_or(text), false);
            window *= 2;
        }
        self.read_to(text, complete);
    }

    fn read_to(&mut self, text: &str, complete: bool) {
        for (_, scanner) in &mut self.scanners {
            scanner.advance(text, complete);
        }
        self.read = text.len();
        if !self.claimed {
            self.claim(complete);
        }
    }

    /// Adds what became certain since the last call; nothing before the response is claimed.
    pub(crate) fn announce(&mut self, text: &str, complete: bool, out: &mut Vec<Announcement>) {
        if let (true, [(_, scanner)]) = (self.claimed, self.scanners.as_mut_slice()) {
            scanner.announce(text, complete, out);
        }
    }

    /// A claim stands once no other dialect can claim an earlier place.
    fn claim(&mut self, complete: bool) {
        let best =
            self.scanners.iter().enumerate().filter_map(|(index, (_, scanner))| Some((scanner.claim()?, index))).min();
        let Some((place, index)) = best else { return };
        let settled = |scanner: &Reading<'_>| complete || scanner.settled_until() > place;
        if self.scanners.iter().all(|(_, scanner)| settled(scanner)) {
            self.tried = self.try_all(index, Trial::Claims(place), place);
            let winner = self.scanners.swap_remove(index);
            self.scanners = vec![winner];
            self.claimed = true;
        }
    }

    /// What came of each dialect: `trial` of the one at `index`, and of the others what they found before `place`.
    fn try_all(&self, index: usize, trial: Trial, place: usize) -> Vec<Tried> {
        let all = self.scanners.iter().enumerate();
        let tried = all.map(|(number, (dialect, reading))| {
            let (seen, near) = reading.seen(place);
            let trial = match trial {
                trial if number == index => trial,
                Trial::Claims(place) if reading.claim() == Some(place) => Trial::Tied,
                _ => Trial::Passed,
            };
            Tried { dialect: *dialect, trial, seen, near }
        });
        tried.collect()
    }

    /// The document of the whole response.
    pub(crate) fn finish(mut self, text: &str) -> Document {
        let mut document = self.read_whole(text);
        document.tried = self.tried;
        document
    }

    fn read_whole(&mut self, text: &str) -> Document {
        if text.len() > self.limits.input {
            let found = Found::new(What::Defect(Defect::TooLarge), Span::new(self.limits.input, text.len()));
            return Document { bytes: text.len(), found: vec![found], ..Document::default() };
        }
        self.advance(text, true);
        let answers = self.scanners.iter().position(|(_, scanner)| scanner.found_answer());
        if !self.claimed {
            self.tried = self.try_all(answers.unwrap_or(usize::MAX), Trial::First, usize::MAX);
        }
        if let Some(index) = answers
            && let Some((number, scanner)) = self.scanners.drain(..).nth(index)
        {
            return scanner.into_document(Some(number), text.len());
        }
        let nobody = self.scanners.len() > 1;
        match self.scanners.drain(..).next() {
            // A sole dialect reads what holds none of its blocks, too.
            Some((number, scanner)) => {
                let mut document = scanner.into_document(if nobody { None } else { Some(number) }, text.len());
                if nobody {
                    // What nobody reads has no blocks and no closers; only what a limit left out is still worth a word.
                    document.blocks.clear();
                    let limit = |what| matches!(what, What::Defect(Defect::TooLarge | Defect::TooCostly));
                    document.found.retain(|found| limit(found.what));
                    document.found.push(Found::new(What::Defect(Defect::NoDialect), Span::new(0, text.len())));
                }
                document
            }
            None => Document { bytes: text.len(), ..Document::default() },
        }
    }
}
