//! Session: with which session does a command start?
//!
//! In: `--mode`, `--session` and `--now`; the clock, for commands that act at the current time.
//! Out: a session that matches the pack, or the diagnostics for one that does not.
//! Never: writes a session.

use super::unique::Unique;
use super::{Error, Format, declared, input};
use rulebook::session::Misfit;
use rulebook::text::{JsonPlaces, Location, Source, SourceId, Span};
use rulebook::value::broken;
use rulebook::{Code, Diagnostic, Object, Program, Session, Sources, Value};
use serde::de::IgnoredAny;
use std::path::PathBuf;
use std::time::SystemTime;

/// The largest session that is read, in bytes.
const MAX_SESSION: u64 = 1 << 30;

#[derive(Debug, Default, Clone, PartialEq, Eq, clap::Args)]
pub(super) struct SessionArguments {
    /// The mode, instead of the session's
    #[arg(long)]
    mode: Option<String>,
    /// A session as JSON, complete or partial; `-` for standard input
    #[arg(long, value_name = "FILE")]
    pub(super) session: Option<PathBuf>,
    /// The time, any text, for rules and templates that use it; by default `apply`, `play`, `hook` and `mcp` use the clock, and
    /// other commands the session's time
    #[arg(long, value_name = "TIME")]
    now: Option<String>,
}

/// The current time in UTC, such as `2026-02-20T14:30:00.000Z`.
#[expect(clippy::disallowed_methods, reason = "commands act at the current time; the engine has no clock")]
pub(super) fn clock() -> String {
    humantime::format_rfc3339_millis(SystemTime::now()).to_string()
}

impl SessionArguments {
    /// Whether an argument names the mode.
    pub(super) fn names_mode(&self) -> bool {
        self.mode.is_some()
    }

    /// These arguments with another file, or none.
    pub(super) fn with_file(&self, file: Option<PathBuf>) -> Self {
        Self { session: file, ..self.clone() }
    }

    /// The session, if it matches the pack. If no argument gives the time, it is `now`, because the time in a saved
    /// session is that of an earlier turn.
    pub(super) fn open(&self, program: &Program, format: Format, now: Option<String>) -> Result<Session, Error> {
        self.read()?.fit(program, format, now)
    }

    /// Reads the file of the session. A command does so only once, since it may be standard input.
    pub(super) fn read(&self) -> Result<StoredSession<'_>, Error> {
        let mut sources = Sources::default();
        let file = self.session.as_deref().map(|path| input::text(path, MAX_SESSION)).transpose()?;
        Ok(StoredSession { arguments: self, file: file.map(|file| sources.add(file)), sources })
    }
}

/// A session as it was saved, and the arguments that override it.
pub(super) struct StoredSession<'a> {
    arguments: &'a SessionArguments,
    sources: Sources,
    file: Option<SourceId>,
}

impl StoredSession<'_> {
    fn text(&self) -> &str {
        self.file.and_then(|file| self.sources.get(file)).map_or("{}", Source::text)
    }

    /// Whether the session has started: it has a mode, as every complete session does. For a session that has not, a
    /// host may give only the state.
    pub(super) fn has_begun(&self) -> bool {
        members(self.text()).is_ok_and(|members| members.get("mode").is_some_and(Value::is_string))
    }

    /// The session, if it matches the pack; see [`SessionArguments::open`].
    pub(super) fn fit(&self, program: &Program, format: Format, now: Option<String>) -> Result<Session, Error> {
        let SessionArguments { mode, now: given_now, .. } = self.arguments;
        declared("mode", mode.as_deref(), program.modes(), format)?;
        let refused = |faults: &[Diagnostic]| Error::findings(&self.sources, faults, format);
        let at = |span| self.file.map(|source| Location { source, span });
        let text = self.text();
        let mut partial = members(text).map_err(|(span, message)| {
            let help = "a session is `{\"mode\": \"…\", \"state\": {…}}`; whatever it leaves out takes the pack's initial value";
            refused(&[Diagnostic::new(Code::SESSION_MISFIT, at(span), message).with_help(help)])
        })?;
        let given = [("mode", mode.clone()), ("now", given_now.clone().or(now))];
        partial.extend(given.into_iter().filter_map(|(name, value)| Some((name.to_owned(), value?.into()))));
        let (session, faults) = program.resume_in_part(&Value::Object(partial));
        if faults.is_empty() {
            return Ok(session);
        }
        let mut places = JsonPlaces::new(text);
        let placed = |fault: Misfit| {
            let at = at(fault.place(&mut places));
            fault.diagnostic.placed(at)
        };
        Err(refused(&faults.into_iter().map(placed).collect::<Vec<_>>()))
    }
}

/// The members of a session; or the place and the reason if the text is not a JSON object, or has a key twice: it is
/// unknown which of its values was meant.
fn members(text: &str) -> Result<Object, (Span, String)> {
    if let (Ok(_), Err(error)) = (serde_json::from_str::<IgnoredAny>(text), serde_json::from_str::<Unique>(text)) {
        return Err((broken::place(&error, text), format!("this is no session: {}", broken::why(&error))));
    }
    match serde_json::from_str(text) {
        Ok(Value::Object(members)) => Ok(members),
        Ok(_) => Err((Span::new(0, 1), "a session is one JSON object".to_owned())),
        Err(error) => Err((broken::place(&error, text), format!("this is not JSON: {}", broken::why(&error)))),
    }
}
