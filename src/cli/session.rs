//! The session of a command: from what state does it start?
//!
//! In: `--mode`, `--session` and `--now`; the clock, for commands that do something now.
//! Out: a session that fits the pack, or what to print where none does.
//! Never: writes a session.

use super::{Error, Printed, Status, declared};
use crate::diagnostic::{Code, Diagnostic};
use crate::program::Program;
use crate::report::Pen;
use crate::session::Session;
use crate::text::{Location, Source, Sources, Span};
use crate::value::broken;
use crate::workspace::read_text;
use serde_json::{Map, Value};
use std::path::{Path, PathBuf};
use std::time::SystemTime;

/// The most bytes of a session that are read.
const MOST: u64 = 1 << 30;

#[derive(Debug, Default, PartialEq, Eq, clap::Args)]
pub(super) struct SessionArguments {
    /// The mode, over the session's
    #[arg(long)]
    mode: Option<String>,
    /// A session, whole or in part, as JSON
    #[arg(long, value_name = "FILE")]
    pub(super) session: Option<PathBuf>,
    /// The time, for rules and templates that ask for it; `apply` and `play` look at the clock without it
    #[arg(long, value_name = "TIME")]
    now: Option<String>,
}

/// When something is done: in UTC, such as `2026-02-20T14:30:00.000Z`.
#[expect(clippy::disallowed_methods, reason = "a command that does something now; the engine has no clock")]
pub(super) fn clock() -> String {
    humantime::format_rfc3339_millis(SystemTime::now()).to_string()
}

impl SessionArguments {
    /// The session, if it fits the pack.
    pub(super) fn open(&self, program: &Program) -> Result<Session, Error> {
        self.open_at(program, None)
    }

    /// As [`SessionArguments::open`]; where neither the session nor an argument tells the time, it is `now`.
    pub(super) fn open_at(&self, program: &Program, now: Option<String>) -> Result<Session, Error> {
        declared("mode", self.mode.as_deref(), program.modes())?;
        let mut partial = match &self.session {
            Some(path) => read_session(path)?,
            None => Map::new(),
        };
        let given = [("mode", &self.mode), ("now", &self.now)];
        partial.extend(given.into_iter().filter_map(|(name, value)| Some((name.to_owned(), value.clone()?.into()))));
        if let Some(now) = now.filter(|_| partial.get("now").is_none_or(Value::is_null)) {
            partial.insert("now".to_owned(), now.into());
        }
        program.resume(&Value::Object(partial)).map_err(|faults| misfits(&Sources::default(), &faults.diagnostics))
    }
}

/// What is wrong with a file that the command was given.
pub(super) fn misfits(sources: &Sources, faults: &[Diagnostic]) -> Error {
    let pen = Pen::default();
    let drawn: Vec<String> = faults.iter().map(|one| pen.diagnostic(sources, one)).collect();
    Error::Found(Printed::refused(drawn.join("\n"), Status::Trouble))
}

/// The members of a session.
fn read_session(path: &Path) -> Result<Map<String, Value>, Error> {
    let text = read_text(path, MOST)?;
    let (span, message) = match serde_json::from_str(&text) {
        Ok(Value::Object(members)) => return Ok(members),
        Ok(_) => (Span::new(0, 1), "a session is one JSON object".to_owned()),
        Err(error) => (broken::place(&error, &text), format!("this is not JSON: {}", broken::why(&error))),
    };
    let mut sources = Sources::default();
    let source = sources.add(Source::new(path.display().to_string(), text));
    let at = Location { source, span };
    let fault = Diagnostic::new(Code::SESSION_MISFIT, at, message).with_help(
        "a session is `{\"mode\": \"…\", \"state\": {…}}`; whatever it leaves out takes the pack's initial value",
    );
    Err(misfits(&sources, &[fault]))
}
