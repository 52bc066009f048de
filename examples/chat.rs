//! A chat host: how does a product use Rulebook, from the prompt to the effects?
//!
//! In: what a user types, line by line, and the answers of a model, which are here read from a file.
//! Out: the messages, what was carried out, and a session that the next conversation continues.
//! Never: does anything that an answer asks for, unless an effect of the outcome says so.
//!
//! ```sh
//! cargo run --example chat                    # type a line, then another; end with Ctrl-D
//! cargo run --example chat -- session.json    # the same, and continue where the last conversation ended
//! ```
#![allow(clippy::disallowed_methods, reason = "a host has arguments, files and a terminal")]

use rulebook::outcome::{Effect, EffectRecord, Status};
use rulebook::prompt::{Request, Speaker, Turn};
use rulebook::{Folder, Options, Outcome, Program, Reader, Role, Session, StreamEvent, Value};
use serde_json::json;
use std::error::Error;
use std::io::{self, BufRead, Write};
use std::sync::Arc;
use std::{env, fs};

/// The pack is a part of the program. A host that reads it from disk calls `rulebook_fs::read_pack`.
pub(crate) fn load() -> Result<Arc<Program>, rulebook::Faults> {
    let files = [
        ("pack.toml", include_str!("notes/pack.toml")),
        ("prompt/identity.md", include_str!("notes/prompt/identity.md")),
    ];
    Program::load(&Folder::new("notes", files)).into_result().map(Arc::new)
}

/// A model that answers from a script, a few bytes at a time, as a network would deliver them. Yours reads `messages`.
struct Model<'s> {
    answers: std::str::Split<'s, &'static str>,
}

impl<'s> Model<'s> {
    fn ask(&mut self, messages: &[Turn]) -> impl Iterator<Item = &'s [u8]> + use<'s> {
        debug_assert!(messages.last().is_some_and(|last| last.role == Speaker::User));
        self.answers.next().unwrap_or("<message>I have nothing to add.</message>").as_bytes().chunks(9)
    }
}

/// One conversation.
struct Chat<'s, W> {
    program: Arc<Program>,
    session: Session,
    /// What the user typed, and what they saw of the answers.
    turns: Vec<Turn>,
    model: Model<'s>,
    screen: W,
}

impl<W: Write> Chat<'_, W> {
    /// One turn: the user's words, the model's answer, and what follows from it.
    fn turn(&mut self, words: &str) -> io::Result<()> {
        let request = Request { history: self.turns.clone(), message: Some(words.to_owned()), ..Request::default() };
        let prompt = self.program.prompt(&self.session, &request);
        if prompt.has_errors() {
            return prompt.diagnostics.iter().try_for_each(|finding| writeln!(self.screen, "{finding}"));
        }
        let mut messages: Vec<Turn> = prompt.messages.into_iter().map(Turn::from).collect();
        let prompted = messages.len();
        let mut options = Options::default();
        let outcome = loop {
            let outcome = self.answer(&messages, &options)?;
            // A pack may ask the model again. Its text replaces the correction before it, so the prompt does not grow.
            let Some(correction) = &outcome.ask_again else { break outcome };
            options.attempts += 1;
            messages.truncate(prompted);
            messages.push(Turn::new(Speaker::User, correction));
        };
        for finding in &outcome.diagnostics {
            writeln!(self.screen, "  ! {finding}")?;
        }
        for effect in &outcome.effects {
            self.carry_out(effect)?;
        }
        self.turns.extend([Turn::new(Speaker::User, words), Turn::answer(&outcome)]);
        self.session = outcome.session;
        Ok(())
    }

    /// Shows the message while it comes, and returns the outcome.
    fn answer(&mut self, messages: &[Turn], options: &Options) -> io::Result<Outcome> {
        let mut reader = Reader::new(Arc::clone(&self.program), &self.session, options);
        for piece in self.model.ask(messages) {
            for event in reader.push(piece) {
                self.show(&event)?;
            }
        }
        let (outcome, rest) = reader.finish();
        rest.iter().try_for_each(|event| self.show(event))?;
        // What the pack says in place of an answer that it refuses.
        if outcome.status == Status::Refused {
            write!(self.screen, "{}", outcome.message)?;
        }
        writeln!(self.screen)?;
        Ok(outcome)
    }

    /// Texts of the message, joined, are the message: nothing that was shown is taken back.
    fn show(&mut self, event: &StreamEvent) -> io::Result<()> {
        if let StreamEvent::Text { role: Some(Role::Message), text, .. } = event {
            write!(self.screen, "{text}")?;
            self.screen.flush()?;
        }
        Ok(())
    }

    /// The engine carries nothing out. The session of the outcome already holds what is set and appended.
    fn carry_out(&mut self, record: &EffectRecord) -> io::Result<()> {
        match &record.effect {
            Effect::Emit { event, value } => writeln!(self.screen, "  > {event} {value}"),
            Effect::Say { text, .. } => writeln!(self.screen, "{text}"),
            _ => Ok(()),
        }
    }
}

/// Talks until `input` ends; returns the session after the last turn.
pub(crate) fn talk(
    program: Arc<Program>,
    session: Session,
    answers: &str,
    input: impl BufRead,
    screen: impl Write,
) -> io::Result<Session> {
    let model = Model { answers: answers.split("---\n") };
    let mut chat = Chat { program, session, turns: Vec::new(), model, screen };
    for line in input.lines() {
        chat.turn(&line?)?;
    }
    Ok(chat.session)
}

fn main() -> Result<(), Box<dyn Error>> {
    let program = load()?;
    let file = env::args().nth(1);
    let mut session = match file.as_deref().map(fs::read_to_string) {
        Some(Ok(kept)) => program.resume(serde_json::from_str::<Value>(&kept)?)?,
        Some(Err(error)) if error.kind() != io::ErrorKind::NotFound => return Err(error.into()),
        // Without a file, and before there is one, a conversation starts from the beginning.
        Some(Err(_)) | None => program.session(),
    };
    // What only the host knows. No answer can change it, because the pack declares it as `from = "host"`.
    session.state.put("contacts", json!(["ada@example.org"]));
    let answers = include_str!("notes/answers.txt");
    let session = talk(program, session, answers, io::stdin().lock(), io::stdout().lock())?;
    if let Some(file) = file {
        fs::write(file, serde_json::to_string_pretty(&session)?)?;
    }
    Ok(())
}
