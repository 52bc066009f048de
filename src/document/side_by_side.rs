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
use crate::diagnostic::Defect;
use crate::program::{Dialect, Limits};
use crate::text::Span;

/// So much of a response is read at first by dialects that read side by side.
const WINDOW: usize = 4096;

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
    /// How much of the response they have seen.
    read: usize,
    limits: &'p Limits,
}

impl<'p> Readers<'p> {
    pub(crate) fn new(dialects: impl IntoIterator<Item = (usize, &'p Dialect)>, limits: &'p Limits) -> Self {
        let scanners: Vec<_> =
            dialects.into_iter().map(|(number, dialect)| (number, Reading::new(dialect, limits))).collect();
        let claimed = scanners.len() == 1;
        Self { scanners, claimed, read: 0, limits }
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
            let winner = self.scanners.swap_remove(index);
            self.scanners = vec![winner];
            self.claimed = true;
        }
    }

    /// The document of the whole response.
    pub(crate) fn finish(mut self, text: &str) -> Document {
        if text.len() > self.limits.input {
            let found = Found::new(What::Defect(Defect::TooLarge), Span::new(self.limits.input, text.len()));
            return Document { bytes: text.len(), found: vec![found], ..Document::default() };
        }
        self.advance(text, true);
        if let Some(index) = self.scanners.iter().position(|(_, scanner)| scanner.found_answer())
            && let Some((number, scanner)) = self.scanners.drain(..).nth(index)
        {
            return scanner.into_document(Some(number), text.len());
        }
        let nobody = self.scanners.len() > 1;
        match self.scanners.into_iter().next() {
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
