//! `rulebook hear`: what do these words of a user mean, and what follows from them?
//!
//! In: a pack, the words, maybe a session; without words, the start of a session.
//! Out: what was heard.
//! Never: carries an effect out.

use super::run::session;
use super::{Error, Format, Opened, Printed, Status};
use crate::report::heard_status;
use crate::text::Source;
use std::path::PathBuf;

#[derive(Debug, clap::Args)]
pub(crate) struct Arguments {
    /// The folder of the pack
    pack: PathBuf,
    /// What the user says; without it, the session starts
    #[arg(last = true)]
    text: Vec<String>,
    /// The mode in which it is heard, over the session's
    #[arg(long)]
    mode: Option<String>,
    /// A session, whole or in part, as JSON
    #[arg(long, value_name = "FILE")]
    session: Option<PathBuf>,
    /// The time, for rules that ask for it
    #[arg(long, value_name = "TIME")]
    now: Option<String>,
    /// How it is written
    #[arg(long, value_enum, default_value_t)]
    format: Format,
    /// Tell which declaration caused what
    #[arg(long)]
    trace: bool,
}

pub(super) fn hear(arguments: &Arguments) -> Result<Printed, Error> {
    let opened = Opened::open(&arguments.pack)?;
    let program = match opened.program(arguments.format) {
        Ok(program) => program,
        Err(printed) => return Ok(printed),
    };
    let (kept, mode, now) = (arguments.session.as_deref(), arguments.mode.as_deref(), arguments.now.as_deref());
    let session = match session(program, kept, mode, now)? {
        Ok(session) => session,
        Err(printed) => return Ok(printed),
    };
    let text = arguments.text.join(" ");
    let heard = match arguments.text.as_slice() {
        [] => program.start(&session, arguments.trace),
        _ => program.hear_with(&session, &text, arguments.trace),
    };
    let source = Source::new("what was said", text);
    let rows = || opened.pen.heard_rows(&heard, &source);
    let drawn = || opened.pen.heard(&heard, &source);
    let out = arguments.format.write(rows, drawn, &heard_status(&heard), |_| serde_json::to_string_pretty(&heard))?;
    Ok(Printed::new(out, if heard.has_errors() { Status::Findings } else { Status::Clean }))
}
