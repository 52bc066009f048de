//! Reader: what becomes of a response that comes in pieces?
//!
//! In: a program, a session, pieces of a response: bytes of a text, or chunks of an API.
//! Out: [`StreamEvent`]s as soon as they are certain, and at the end the [`Outcome`], which does not depend on the pieces.
//! Never: judges: the whole response is judged once it is complete.

use super::contract::{Outcome, Status};
use super::release::{Context, Release};
use super::run::Options;
use crate::document::{Readers, StreamEvent};
use crate::program::Program;
use crate::session::Session;
use std::borrow::Borrow;

/// A response that comes in pieces.
///
/// ```
/// # use rulebook::{Folder, Program};
/// # let pack = "[pack]\nname = \"x\"\n[dialects.d]\ngrammar = \"tags\"\nblocks.message = { role = \"message\" }";
/// # let program = Program::load(&Folder::new("x", [("pack.toml", pack)])).value.unwrap();
/// let mut reader = program.reader(&program.session(), &Default::default());
/// assert!(reader.push(b"<mess").is_empty());
/// assert_eq!(reader.push(b"age>Hel").len(), 2); // opened, and its first text
/// reader.push(b"lo!</message>");
/// assert_eq!(reader.finish().message, "Hello!");
/// ```
///
/// `P` holds the program: a reference, as above, or an `Arc`. With an `Arc`, program and reader can live in one struct,
/// move to another thread, and outlive the function that made them.
///
/// ```
/// # use rulebook::{StreamEvent, Folder, Program, Reader};
/// use std::sync::Arc;
///
/// struct Conversation {
///     program: Arc<Program>,
///     reader: Reader<Arc<Program>>,
/// }
///
/// impl Conversation {
///     fn begin(program: &Arc<Program>) -> Self {
///         let reader = Reader::new(program.clone(), &program.session(), &Default::default());
///         Self { program: program.clone(), reader }
///     }
/// }
///
/// # let pack = "[pack]\nname = \"x\"\n[dialects.d]\ngrammar = \"tags\"\nblocks.message = { role = \"message\" }";
/// # let program = Program::load(&Folder::new("x", [("pack.toml", pack)])).value.unwrap();
/// let mut conversation = Conversation::begin(&Arc::new(program));
/// let outcome = std::thread::spawn(move || {
///     conversation.reader.push(b"<message>Hello!</message>");
///     conversation.reader.finish()
/// });
/// assert_eq!(outcome.join().unwrap().message, "Hello!");
/// ```
#[derive(Debug)]
pub struct Reader<P: Borrow<Program>> {
    program: P,
    session: Session,
    options: Options,
    readers: Readers,
    release: Release,
    text: String,
    /// The bytes of a character whose end has not arrived yet.
    rest: Vec<u8>,
    broken: Broken,
}

/// Replacement characters in the place of bytes that are not UTF-8: where the first ones are, and how many there are.
#[derive(Debug, Default)]
pub(super) struct Broken {
    pub(super) first: Vec<usize>,
    pub(super) count: usize,
}

impl Broken {
    /// How many places are kept at most, whatever the limit on findings.
    const KEPT: usize = 1000;
}

impl<P: Borrow<Program>> Reader<P> {
    /// Starts to read a response that comes in pieces.
    pub fn new(program: P, session: &Session, options: &Options) -> Self {
        let rules = program.borrow();
        Self {
            readers: rules.readers(session, options),
            release: Release::new(rules, session, options.hold),
            program,
            session: session.clone(),
            options: options.clone(),
            text: String::new(),
            rest: Vec::new(),
            broken: Broken::default(),
        }
    }

    /// Takes the next piece, which may be cut anywhere, and returns what has become certain. If the pack or the host holds
    /// the response (`[reply] hold`), nothing is told before it has been judged.
    pub fn push(&mut self, piece: &[u8]) -> Vec<StreamEvent> {
        self.decode(piece, false);
        self.announce(false)
    }

    /// Reads on, and returns what has become certain.
    fn announce(&mut self, complete: bool) -> Vec<StreamEvent> {
        let program = self.program.borrow();
        let mut drafts = Vec::new();
        let shows = self.release.mode(program).and_then(|mode| mode.reply.shows.as_deref());
        self.readers.advance(&program.dialects, &self.text, complete);
        if complete || !self.release.is_whole() {
            self.readers.announce(&program.dialects, &self.text, shows, complete, &mut drafts);
        }
        if drafts.is_empty() {
            return Vec::new();
        }
        let context = Context {
            program,
            session: &self.session,
            dialect: self.readers.chosen(&program.dialects),
            text: &self.text,
            doubtful: self.readers.doubtful(),
        };
        self.release.tell(context, drafts, complete)
    }

    /// The response so far, as spans count it: bytes that are not UTF-8 are replaced, and an incomplete character is
    /// left out.
    pub fn text(&self) -> &str {
        &self.text
    }

    /// Whether the response is longer than [`Limits::input`](crate::Limits::input). Such a response is not read,
    /// whatever was already announced of it. A host should stop the model and call [`finish`](Self::finish); all bytes
    /// pushed are kept and counted.
    pub fn is_too_large(&self) -> bool {
        self.text.len() > self.program.borrow().limits.input
    }

    /// The outcome of the whole response. It does not depend on how the response was cut.
    #[must_use]
    pub fn finish(self) -> Outcome {
        self.finish_with_events().0
    }

    /// The same as [`Reader::finish`], together with the announcements that only the end made certain.
    #[must_use]
    pub fn finish_with_events(mut self) -> (Outcome, Vec<StreamEvent>) {
        self.decode(&[], true);
        // A buffer that has doubled may be half empty, and the outcome is still to be made.
        self.text.shrink_to_fit();
        let mut told = self.announce(true);
        let program = self.program.borrow();
        let document = self.readers.finish(&program.dialects, &self.text);
        let outcome = program.outcome(&self.session, &self.text, &document, &self.options, &self.broken);
        let refused = outcome.status == Status::Refused;
        match (self.release.is_whole(), refused) {
            (true, true) => told = vec![StreamEvent::Refused { shown: 0 }],
            (false, true) => told.push(StreamEvent::Refused { shown: self.release.shown() }),
            (_, false) => told.extend(self.release.rest(program, &outcome)),
        }
        (outcome, told)
    }

    /// Adds bytes to the text. Bytes that are not UTF-8 become replacement characters.
    fn decode(&mut self, piece: &[u8], complete: bool) {
        let joined;
        let mut bytes = if self.rest.is_empty() {
            piece
        } else {
            self.rest.extend_from_slice(piece);
            joined = std::mem::take(&mut self.rest);
            joined.as_slice()
        };
        loop {
            match std::str::from_utf8(bytes) {
                Ok(text) => {
                    self.text.push_str(text);
                    return;
                }
                Err(error) => {
                    let (valid, after) = bytes.split_at(error.valid_up_to());
                    self.text.push_str(std::str::from_utf8(valid).unwrap_or_default());
                    let skip = match error.error_len() {
                        Some(length) => length,
                        None if !complete => {
                            self.rest = after.to_vec();
                            return;
                        }
                        None => after.len(),
                    };
                    if self.broken.first.len() < Broken::KEPT {
                        self.broken.first.push(self.text.len());
                    }
                    self.broken.count += 1;
                    self.text.push(char::REPLACEMENT_CHARACTER);
                    bytes = after.get(skip..).unwrap_or_default();
                }
            }
        }
    }
}
