//! The session of a command: from what state does it start?
//!
//! In: `--mode`, `--session` and `--now`; the clock, for commands that do something now.
//! Out: a session that fits the pack, or what to print where none does.
//! Never: writes a session.

use super::ending::found;
use super::{Error, Format, Status, declared, input};
use crate::diagnostic::{Code, Diagnostic};
use crate::program::Program;
use crate::report::{Pen, Row};
use crate::session::{Misfit, Session};
use crate::text::{JsonPlaces, Location, Source, SourceId, Sources, Span};
use crate::value::broken;
use serde_json::{Map, Value};
use std::path::PathBuf;
use std::time::SystemTime;

/// The most bytes of a session that are read.
const MOST: u64 = 1 << 30;

#[derive(Debug, Default, PartialEq, Eq, clap::Args)]
pub(super) struct SessionArguments {
    /// The mode, over the session's
    #[arg(long)]
    mode: Option<String>,
    /// A session, whole or in part, as JSON; `-` for standard input
    #[arg(long, value_name = "FILE")]
    pub(super) session: Option<PathBuf>,
    /// The time, for rules and templates that ask for it; without it `apply` and `play` look at the clock, whatever the
    /// session says
    #[arg(long, value_name = "TIME")]
    now: Option<String>,
}

/// When something is done: in UTC, such as `2026-02-20T14:30:00.000Z`.
#[expect(clippy::disallowed_methods, reason = "a command that does something now; the engine has no clock")]
pub(super) fn clock() -> String {
    humantime::format_rfc3339_millis(SystemTime::now()).to_string()
}

impl SessionArguments {
    /// The session, if it fits the pack. Where no argument tells the time, it is `now`: a session is told it anew for each
    /// turn, so that the one that was kept is long past.
    pub(super) fn open(&self, program: &Program, format: Format, now: Option<String>) -> Result<Session, Error> {
        self.read()?.fit(program, format, now)
    }

    /// What stands in the file, which is read once.
    pub(super) fn read(&self) -> Result<KeptSession<'_>, Error> {
        let mut sources = Sources::default();
        let file = self.session.as_deref().map(|path| input::text(path, MOST)).transpose()?;
        Ok(KeptSession { arguments: self, file: file.map(|file| sources.add(file)), sources })
    }
}

/// A session as it was kept, and what the arguments say over it.
pub(super) struct KeptSession<'a> {
    arguments: &'a SessionArguments,
    sources: Sources,
    file: Option<SourceId>,
}

impl KeptSession<'_> {
    fn text(&self) -> &str {
        self.file.and_then(|file| self.sources.get(file)).map_or("{}", Source::text)
    }

    /// Whether it has begun: it knows its mode, as each does that was kept whole. What a host brings to one that is to begin
    /// is the state alone.
    pub(super) fn has_begun(&self) -> bool {
        members(self.text()).is_ok_and(|members| members.get("mode").is_some_and(Value::is_string))
    }

    /// The session, if it fits the pack, as [`SessionArguments::open`] says.
    pub(super) fn fit(&self, program: &Program, format: Format, now: Option<String>) -> Result<Session, Error> {
        let SessionArguments { mode, now: told, .. } = self.arguments;
        declared("mode", mode.as_deref(), program.modes(), format)?;
        let refused = |faults: &[Diagnostic]| misfits(&self.sources, faults, format);
        let at = |span| self.file.map(|source| Location { source, span });
        let text = self.text();
        let mut partial = members(text).map_err(|(span, message)| {
            let help = "a session is `{\"mode\": \"…\", \"state\": {…}}`; whatever it leaves out takes the pack's initial value";
            refused(&[Diagnostic::new(Code::SESSION_MISFIT, at(span), message).with_help(help)])
        })?;
        let given = [("mode", mode.clone()), ("now", told.clone().or(now))];
        partial.extend(given.into_iter().filter_map(|(name, value)| Some((name.to_owned(), value?.into()))));
        let (session, faults) = program.resume_in_part(&Value::Object(partial));
        if faults.is_empty() {
            return Ok(session);
        }
        let mut places = JsonPlaces::new(text);
        let placed = |fault: Misfit| Diagnostic { at: at(fault.place(&mut places)), ..fault.diagnostic };
        Err(refused(&faults.into_iter().map(placed).collect::<Vec<_>>()))
    }
}

/// What is wrong with what the command was given. For programs it is the report of `check`.
pub(super) fn misfits(sources: &Sources, faults: &[Diagnostic], format: Format) -> Error {
    let pen = Pen::default();
    let drawn = || faults.iter().map(|one| pen.diagnostic(sources, one)).collect::<Vec<_>>().join("\n");
    let rows = || faults.iter().map(|one| Row::of_diagnostic(&pen, sources, one)).collect();
    found(format, drawn, rows, Status::Trouble)
}

/// The members of a session, or where and why it has none.
fn members(text: &str) -> Result<Map<String, Value>, (Span, String)> {
    match serde_json::from_str(text) {
        Ok(Value::Object(members)) => Ok(members),
        Ok(_) => Err((Span::new(0, 1), "a session is one JSON object".to_owned())),
        Err(error) => Err((broken::place(&error, text), format!("this is not JSON: {}", broken::why(&error)))),
    }
}
