//! The session of a command: from what state does it start?
//!
//! In: `--mode`, `--session` and `--now`; the clock, for commands that do something now.
//! Out: a session that fits the pack, or what to print where none does.
//! Never: writes a session.

use super::run::declared;
use super::{Error, Printed, Status};
use crate::program::Program;
use crate::report::Pen;
use crate::session::Session;
use crate::text::Sources;
use crate::workspace::read_file;
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
    /// The session, or what to print where it does not fit the pack.
    pub(super) fn open(&self, program: &Program) -> Result<Result<Session, Printed>, Error> {
        self.open_at(program, None)
    }

    /// As [`SessionArguments::open`]; where neither the session nor an argument tells the time, it is `now`.
    pub(super) fn open_at(&self, program: &Program, now: Option<String>) -> Result<Result<Session, Printed>, Error> {
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
        Ok(program.resume(&Value::Object(partial)).map_err(|diagnostics| {
            let pen = Pen::default();
            let drawn: Vec<String> = diagnostics.iter().map(|one| pen.diagnostic(&Sources::default(), one)).collect();
            Printed { out: String::new(), err: drawn.join("\n"), status: Status::Trouble }
        }))
    }
}

fn read_session(path: &Path) -> Result<Map<String, Value>, Error> {
    let bytes = read_file(path, MOST)?;
    match serde_json::from_slice(&bytes) {
        Ok(Value::Object(members)) => Ok(members),
        Ok(_) => Err(Error::Usage(format!("cannot read `{}`: a session is a JSON object", path.display()))),
        Err(error) => Err(Error::Usage(format!("cannot read `{}`: {error}", path.display()))),
    }
}
