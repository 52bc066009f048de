//! Output: what does a command print, in which format, and with which exit status?
//!
//! In: findings, or the reason why a command could not run.
//! Out: [`CommandOutput`], for standard output and standard error; the same [`Status`] in every format.
//! Never: prints anything.

use clap::ValueEnum;
use rulebook::{Diagnostic, Severity, Sources};
use rulebook_fs::ReadError;
use rulebook_report::{Pen, Row, json};
use serde::Serialize;

/// The format of a report of findings.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, ValueEnum)]
pub(super) enum Format {
    /// For people
    #[default]
    Human,
    /// One line for each finding, for grep and screen readers
    Plain,
    /// For programs
    Json,
    /// For code scanners: SARIF 2.1.0
    Sarif,
    /// Annotations of a GitHub workflow
    Github,
}

impl Format {
    /// The findings `rows` in this format. For people, this is the text `drawn` and the line `sum`; for programs, the
    /// report `json`.
    pub(super) fn write<T: Serialize>(
        self,
        rows: impl FnOnce() -> Vec<Row>,
        drawn: impl FnOnce() -> String,
        sum: &str,
        json: impl FnOnce(Vec<Row>) -> T,
    ) -> Result<String, Error> {
        Ok(match self {
            Format::Human => drawn() + sum,
            Format::Plain => rulebook_report::plain(&rows()) + &rulebook_report::unpainted(sum),
            Format::Json => written(&json(rows()))?,
            Format::Sarif => written(&rulebook_report::sarif(&rows()))?,
            // Without the last line, a log without findings would not say whether anything ran.
            Format::Github => rulebook_report::github(&rows()) + &rulebook_report::unpainted(sum),
        })
    }
}

/// A report as JSON.
pub(super) fn written(report: &impl Serialize) -> Result<String, Error> {
    let text = serde_json::to_string_pretty(report);
    text.map(|text| text + "\n").map_err(|error| Error::Failed(format!("cannot write the report: {error}")))
}

/// The exit status of a command; the same in every format.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Status {
    /// Nothing was found.
    Clean = 0,
    /// An error was found, or a case failed.
    Findings = 1,
    /// The arguments are wrong, or a file cannot be read or written.
    Trouble = 2,
    /// There was nothing to check or test.
    Nothing = 3,
}

impl Status {
    /// The status of a command that has found something, or nothing.
    pub(super) fn of(found: bool) -> Self {
        if found { Status::Findings } else { Status::Clean }
    }

    /// The status for findings with these severities: `Findings` if one is an error, or with `strict` a warning.
    pub(super) fn of_findings(severities: impl IntoIterator<Item = Severity>, strict: bool) -> Self {
        let least = if strict { Severity::Warning } else { Severity::Error };
        Self::of(severities.into_iter().any(|severity| severity >= least))
    }
}

/// The output of a command.
#[derive(Debug)]
pub(super) struct CommandOutput {
    /// The text on standard output.
    pub(super) out: String,
    /// The text on standard error.
    pub(super) err: String,
    pub(super) status: Status,
}

impl CommandOutput {
    pub(super) fn new(out: String, status: Status) -> Self {
        Self { out, err: String::new(), status }
    }

    /// An output on standard error only.
    pub(super) fn refused(err: String, status: Status) -> Self {
        Self { out: String::new(), err, status }
    }

    /// This output, with an error for each file or folder that could not be read.
    pub(super) fn without(mut self, unread: &[ReadError]) -> Self {
        if !unread.is_empty() {
            self.status = Status::Trouble;
            self.err.extend(unread.iter().map(|error| Pen::default().trouble(&error.to_string())));
        }
        self
    }
}

/// Why a command could not finish.
#[derive(Debug)]
pub(super) enum Error {
    /// A file or folder cannot be read.
    Read(ReadError),
    /// Anything else, such as arguments that do not go together. One line.
    Failed(String),
    /// Findings that prevent the command from running, such as the faults of a pack. They are in the output.
    Found(CommandOutput),
}

impl Error {
    /// Findings about what the arguments name, such as a session that does not match the pack.
    pub(super) fn findings(sources: &Sources, findings: &[Diagnostic], format: Format) -> Self {
        Self::findings_in(&Pen::default(), sources, findings, format, Status::Trouble)
    }

    /// Findings that prevent a command from running: for people on standard error, for programs as the report of
    /// `check`.
    pub(super) fn findings_in(
        pen: &Pen,
        sources: &Sources,
        findings: &[Diagnostic],
        format: Format,
        status: Status,
    ) -> Self {
        if format == Format::Human {
            return Error::Found(CommandOutput::refused(pen.diagnostics(sources, findings), status));
        }
        let rows = || findings.iter().map(|finding| pen.row(sources, finding)).collect();
        match format.write(rows, String::new, "", |rows| json::Checked::new(rows, 1)) {
            Ok(out) => Error::Found(CommandOutput::new(out, status)),
            Err(error) => error,
        }
    }
}

impl From<ReadError> for Error {
    fn from(error: ReadError) -> Self {
        Error::Read(error)
    }
}

impl From<Error> for CommandOutput {
    fn from(error: Error) -> Self {
        let message = match error {
            Error::Read(error) => error.to_string(),
            Error::Failed(message) => message,
            Error::Found(printed) => return printed,
        };
        Self::refused(Pen::default().trouble(&message), Status::Trouble)
    }
}
