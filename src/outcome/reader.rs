//! Reader: what becomes of a response that arrives in pieces?
//!
//! In: a program, a session, pieces of a response: bytes of a text, or chunks of an API.
//! Out: [`StreamEvent`]s as soon as they are certain, and at the end the [`Outcome`], which does not depend on the
//! pieces.
//! Never: judges: the whole response is judged once it is complete.

use super::contract::{Outcome, Status};
use super::fields::{Arguments, fields_of};
use super::release::{Release, ReleaseContext};
use super::run::Options;
use crate::diagnostic::Faults;
use crate::document::{EventDraft, Readers, StreamEvent};
use crate::program::Program;
use crate::provider::{Chunks, Delta, PartKey, Provider};
use crate::session::Session;
use crate::surface::Role;
use crate::text::{Present, Slice};
use std::borrow::Borrow;
use std::collections::{BTreeMap, BTreeSet};

/// A response that arrives in pieces.
///
/// ```
/// # use rulebook::{Folder, Program};
/// # let pack = "[pack]\nname = \"x\"\n[dialects.d]\ngrammar = \"tags\"\nblocks.message = { role = \"message\" }";
/// # let program = Program::load(&Folder::new("x", [("pack.toml", pack)])).value.unwrap();
/// let mut reader = program.reader(&program.session(), &Default::default());
/// assert!(reader.push(b"<mess").is_empty());
/// assert_eq!(reader.push(b"age>Hel").len(), 2); // opened, and its first text
/// reader.push(b"lo!</message>");
/// assert_eq!(reader.finish().0.message, "Hello!");
/// ```
///
/// `P` is the program: a reference, as above, or an `Arc`. With an `Arc`, program and reader can be in one struct,
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
///     conversation.reader.finish().0
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
    /// The reply, if it comes in chunks of an API.
    chunks: Option<Box<Chunked>>,
}

/// Replacement characters for bytes that are not UTF-8: where the first ones are, and how many there are.
#[derive(Debug, Default)]
pub(super) struct Broken {
    pub(super) first: Vec<usize>,
    pub(super) count: usize,
}

impl Broken {
    /// How many places are stored at most, whatever the limit on findings.
    const MAX_PLACES: usize = 1000;
}

/// A reply that arrives in chunks.
#[derive(Debug)]
struct Chunked {
    chunks: Chunks,
    /// Whether all its text is the message, because no dialect reads it.
    emits_text: bool,
    /// Whether no dialect finds reasoning in the text, so that all reasoning comes from the API.
    emits_thinking: bool,
    /// The calls whose fields are emitted while they arrive, each with its number among the calls of the outcome;
    /// `None` for a call whose number is not certain.
    fields: BTreeMap<PartKey, Option<(usize, Arguments)>>,
}

impl Chunked {
    fn new(program: &Program, session: &Session, options: &Options) -> Self {
        let dialects = program.dialects_read(session, options);
        let thinks = dialects.iter().any(|one| one.blocks.iter().any(|block| block.role == Role::Thinking));
        Self {
            chunks: Chunks::default(),
            emits_text: dialects.is_empty(),
            emits_thinking: !thinks,
            fields: BTreeMap::new(),
        }
    }
}

impl Chunked {
    /// Emits the fields that have arrived in the arguments of a call.
    fn emit_fields(&mut self, provider: Provider, key: PartKey, more: &str, events: &mut Vec<StreamEvent>) {
        let chunks = &self.chunks;
        let begin = || chunks.number_of(provider, key).map(|number| (number, Arguments::default()));
        if let Some((call, arguments)) = self.fields.entry(key).or_insert_with(begin) {
            let call = *call;
            arguments.push(more, &mut |path, text| events.push(StreamEvent::Field { call, path, text }));
        }
    }

    /// The calls whose fields were emitted.
    fn emitted_calls(&self) -> BTreeSet<usize> {
        self.fields.values().flatten().map(|(call, _)| *call).collect()
    }
}

impl<P: Borrow<Program>> Reader<P> {
    /// Starts to read a response that arrives in pieces.
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
            chunks: None,
        }
    }

    /// Takes the next piece, which may be cut anywhere, and returns what has become certain. If the pack or the host
    /// holds the response back (`[reply] hold`), nothing is emitted before it has been judged.
    pub fn push(&mut self, piece: &[u8]) -> Vec<StreamEvent> {
        if let Some(chunked) = &mut self.chunks {
            chunked.chunks.note_other("bytes beside chunks");
            return Vec::new();
        }
        self.decode(piece, false);
        self.announce(false)
    }

    /// Takes the next chunk of an API that streams: the JSON of one chunk or event, without the `data:` before it.
    /// `[DONE]` is accepted, too. Returns what has become certain, as [`Reader::push`] does: the text of the reply is
    /// emitted as far as the pack permits, and under `hold = "none"` the fields of calls while they arrive.
    ///
    /// The outcome is that of [`Program::judge`] for the whole reply. A stream without an end was cut off.
    ///
    /// ```
    /// # use rulebook::{Folder, Program, Provider};
    /// # let pack = "[pack]\nname = \"x\"\n[modes.chat]\npermits = [\"look\"]\n[actions.look]\n";
    /// # let program = Program::load(&Folder::new("x", [("pack.toml", pack)])).into_result()?;
    /// let mut reader = program.reader(&program.session(), &Default::default());
    /// for chunk in [
    ///     r#"{"choices": [{"index": 0, "delta": {"role": "assistant", "content": "Let me look."}}]}"#,
    ///     r#"{"choices": [{"index": 0, "delta": {"tool_calls": [{"index": 0, "id": "c1", "function": {"name": "look", "arguments": ""}}]}}]}"#,
    ///     r#"{"choices": [{"index": 0, "delta": {"tool_calls": [{"index": 0, "function": {"arguments": "{}"}}]}}]}"#,
    ///     r#"{"choices": [{"index": 0, "delta": {}, "finish_reason": "tool_calls"}]}"#,
    ///     "[DONE]",
    /// ] {
    ///     for event in reader.push_chunk(Provider::Openai, chunk)? {
    ///         // show it
    ///     }
    /// }
    /// let (outcome, _) = reader.finish();
    /// assert_eq!((outcome.message.as_str(), outcome.calls[0].action.as_str()), ("Let me look.", "look"));
    /// # Ok::<(), rulebook::Faults>(())
    /// ```
    ///
    /// # Errors
    ///
    /// A text that is no chunk of this provider, an error that the API returned, and a chunk after bytes of a text.
    /// What arrived before remains, and the reader can continue, or finish.
    pub fn push_chunk(&mut self, provider: Provider, chunk: &str) -> Result<Vec<StreamEvent>, Faults> {
        if self.chunks.is_none() && !(self.text.is_empty() && self.rest.is_empty()) {
            return Err(Faults::mixed());
        }
        let program = self.program.borrow();
        let chunked = self.chunks.get_or_insert_with(|| Box::new(Chunked::new(program, &self.session, &self.options)));
        let deltas = chunked.chunks.push(provider, chunk)?;
        let (emits_text, emits_thinking) = (chunked.emits_text, chunked.emits_thinking);
        let (mut events, mut drafts) = (Vec::new(), Vec::new());
        for delta in deltas {
            let program = self.program.borrow();
            let (session, text, dialect) = (&self.session, self.text.as_str(), Some(&program.native));
            let context = ReleaseContext { program, session, dialect, text, doubtful: None };
            match delta {
                Delta::Text(more) => {
                    self.text.push_str(&more);
                    drafts.extend(emits_text.then(|| EventDraft::text(None, None, Some(Role::Message), 0, more)));
                }
                Delta::Thinking(key, more) if emits_thinking => self.release.think(context, key, &more, &mut events),
                Delta::Arguments(key, more) if self.release.is_draft() => {
                    // If dialects read the text, a call in it would change the numbers of native calls.
                    if let Some(chunked) = self.chunks.as_deref_mut().filter(|chunked| chunked.emits_text) {
                        chunked.emit_fields(provider, key, &more, &mut events);
                    }
                }
                Delta::Thinking(..) | Delta::Arguments(..) => {}
            }
        }
        match emits_text {
            true => events.extend(self.emit_native(drafts)),
            false => events.extend(self.announce(false)),
        }
        Ok(events)
    }

    /// Emits the text of a reply that no dialect reads.
    fn emit_native(&mut self, drafts: Vec<EventDraft>) -> Vec<StreamEvent> {
        if drafts.is_empty() || self.release.is_whole() {
            return Vec::new();
        }
        let program = self.program.borrow();
        let (session, text, dialect) = (&self.session, self.text.as_str(), Some(&program.native));
        self.release.emit(ReleaseContext { program, session, dialect, text, doubtful: None }, drafts, false)
    }

    /// Continues to read, and returns what has become certain.
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
        let context = ReleaseContext {
            program,
            session: &self.session,
            dialect: self.readers.chosen(&program.dialects),
            text: &self.text,
            doubtful: self.readers.doubtful(),
        };
        self.release.emit(context, drafts, complete)
    }

    /// The response so far, as spans count it: bytes that are not UTF-8 are replaced, and an incomplete character is
    /// left out.
    pub fn text(&self) -> &str {
        &self.text
    }

    /// Whether the response is longer than [`Limits::input`](crate::Limits::input). Such a response is not read,
    /// whatever was already emitted of it. A host should stop the model and call [`finish`](Self::finish); all bytes
    /// pushed are stored and counted.
    pub fn is_too_large(&self) -> bool {
        self.text.len() > self.program.borrow().limits.input
    }

    /// The outcome of the whole response, and the events that only its end made certain. The outcome does not depend
    /// on how the response was cut.
    #[must_use]
    pub fn finish(mut self) -> (Outcome, Vec<StreamEvent>) {
        self.decode(&[], true);
        // A buffer that has doubled may be half empty, and the outcome still has to be built.
        self.text.shrink_to_fit();
        let mut events = self.announce(true);
        let program = self.program.borrow();
        let emitted_fields = self.chunks.as_ref().map(|chunked| chunked.emitted_calls()).unwrap_or_default();
        let outcome = match self.chunks {
            Some(chunked) => {
                let reply = chunked.chunks.into_reply();
                let layout = reply.layout();
                // INVARIANT: a text that arrived too late for its place was moved after the texts that had been
                // passed on.
                debug_assert!(layout.text().starts_with(&self.text));
                let document = self.readers.finish(&program.dialects, layout.text());
                program.outcome_of(&self.session, &reply, &layout, document, &self.options)
            }
            None => {
                let document = self.readers.finish(&program.dialects, &self.text);
                program.outcome(&self.session, &self.text, &document, &self.options, &self.broken)
            }
        };
        let refused = outcome.status == Status::Refused;
        match (self.release.is_whole(), refused) {
            (true, true) => events = vec![StreamEvent::Refused { emitted: 0 }],
            (false, true) => events.push(StreamEvent::Refused { emitted: self.release.emitted_bytes() }),
            (_, false) => {
                events.extend(self.release.rest(program, &outcome));
                events.extend(fields_of(&outcome, |call| emitted_fields.contains(&call)));
            }
        }
        (outcome, events)
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
                    self.text.push_str(std::str::from_utf8(valid).present());
                    let skip = match error.error_len() {
                        Some(length) => length,
                        None if !complete => {
                            self.rest = after.to_vec();
                            return;
                        }
                        None => after.len(),
                    };
                    if self.broken.first.len() < Broken::MAX_PLACES {
                        self.broken.first.push(self.text.len());
                    }
                    self.broken.count += 1;
                    self.text.push(char::REPLACEMENT_CHARACTER);
                    bytes = after.slice(skip..);
                }
            }
        }
    }
}
