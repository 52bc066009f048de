//! Streaming: what is known of an answer before it has ended?
//!
//! In: an answer on standard input, read as it comes.
//! Out: a line for each event of the stream, then the outcome.
//! Never: waits for the end to show what is already certain.
//!
//! ```sh
//! printf '<message>Noted.</message><action type="keep_note"><text>Tea</text></action>' | cargo run --example streaming
//! ```

use rulebook::{Folder, Options, Outcome, Program, StreamEvent};
use std::error::Error;
use std::io::{self, Read, Write};

/// How many bytes are read at a time. The outcome is the same for every number.
const PIECE: usize = 16;

/// Reads an answer in pieces, writes what becomes certain, and returns the outcome.
pub(crate) fn stream(program: &Program, mut answer: impl Read, mut screen: impl Write) -> io::Result<Outcome> {
    let mut reader = program.reader(&program.session(), &Options::default());
    let mut piece = [0; PIECE];
    loop {
        let read = answer.read(&mut piece)?;
        let Some(bytes) = piece.get(..read).filter(|bytes| !bytes.is_empty()) else { break };
        for event in reader.push(bytes) {
            write_event(&event, &mut screen)?;
        }
        // Nothing more of such an answer will be read: stop the model.
        if reader.is_too_large() {
            break;
        }
    }
    // Some events are certain only when nothing more can come.
    let (outcome, last) = reader.finish();
    last.iter().try_for_each(|event| write_event(event, &mut screen))?;
    writeln!(screen, "outcome  {:?}, {} effects, {:?}", outcome.status, outcome.effects.len(), outcome.message)?;
    outcome.diagnostics.iter().try_for_each(|finding| writeln!(screen, "finding  {finding}"))?;
    Ok(outcome)
}

fn write_event(event: &StreamEvent, screen: &mut impl Write) -> io::Result<()> {
    match event {
        StreamEvent::Opened { block, role, called, .. } => {
            writeln!(screen, "opened   {block} {role} {}", called.as_deref().unwrap_or_default())
        }
        StreamEvent::Text { block: Some(block), text, .. } => writeln!(screen, "text     {block} {text:?}"),
        StreamEvent::Text { text, .. } => writeln!(screen, "outside  {text:?}"),
        StreamEvent::Closed { block, span } => writeln!(screen, "closed   {block} at byte {}", span.end),
        // Events may be added.
        _ => Ok(()),
    }
}

fn main() -> Result<(), Box<dyn Error>> {
    let pack = include_str!("notes/pack.toml");
    let identity = include_str!("notes/prompt/identity.md");
    let folder = Folder::new("notes", [("pack.toml", pack), ("prompt/identity.md", identity)]);
    let program = Program::load(&folder).into_result()?;
    stream(&program, io::stdin().lock(), io::stdout().lock())?;
    Ok(())
}
