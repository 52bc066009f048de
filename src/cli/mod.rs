//! The command line: what did the user ask for, and how did it end?
//!
//! In: arguments, files, standard input.
//! Out: text on standard output and standard error, and an exit status.
//! Never: decides anything about a pack or a response, or lays text out; the floors above do.

mod apply;
mod batches;
mod check;
mod completions;
mod diff;
mod explain;
mod export;
mod hear;
mod input;
mod kept;
mod new;
mod parallel;
mod play;
mod prompt;
mod replay;
mod run;
mod save;
mod schema;
mod session;
mod test;
mod watch;

use crate::diagnostic::{Code, Diagnostic, alternatives};
use crate::lint;
use crate::program::{Loaded, Program};
use crate::report::{self, Pen, Row, json};
use crate::surface::Folder;
use crate::text::{Sources, excerpt};
use crate::workspace::{PackFiles, ReadError, folder_of, read_pack, search_packs};
use clap::builder::{PossibleValuesParser, TypedValueParser};
use clap::{Parser, Subcommand, ValueEnum};
use std::io::Write;
use std::path::{Path, PathBuf};
use std::process::ExitCode;

/// Decides what a language model's words may do.
#[derive(Debug, Parser)]
#[command(name = "rulebook", version, about, max_term_width = 100, disable_help_subcommand = true)]
pub(crate) struct Arguments {
    #[command(subcommand)]
    command: Command,
}

#[derive(Debug, Subcommand)]
enum Command {
    /// Read one answer and print its outcome
    Run(run::Arguments),
    /// Write the files that one answer may write, below a folder
    Apply(apply::Arguments),
    /// Say everything that can be known about packs without a model
    Check(check::Arguments),
    /// Run the cases of packs
    Test(test::Arguments),
    /// Write what a model reads: the layers of a pack's prompt
    Prompt(prompt::Arguments),
    /// Say what the words of a user mean, and what follows from them
    Hear(hear::Arguments),
    /// Talk line by line: as the user, and as the model or with one
    Play(play::Arguments),
    /// Judge a file of answers and say how often what came of them
    Replay(replay::Arguments),
    /// Say what the change of a pack means: what it allows, what its prompts cost, which outcomes differ
    Diff(diff::Arguments),
    /// Explain a code, a pack's tables, or what became of one answer
    Explain(explain::Arguments),
    /// Print what a model's server takes for a pack and a mode: tools, or the schema of an answer
    Export(export::Arguments),
    /// Print the JSON Schema of a file or a contract
    Schema(schema::Arguments),
    /// Start a pack, or add an action, mode, dialect or guardrail to one, with a case that passes
    New(new::Arguments),
    /// Print the completions for a shell
    Completions(completions::Arguments),
}

/// How a report of findings is written: test results alone have one format more.
fn report_format() -> impl TypedValueParser<Value = Format> {
    let all = Format::value_variants().iter().filter(|format| **format != Format::Junit);
    PossibleValuesParser::new(all.filter_map(Format::to_possible_value))
        .map(|name| Format::from_str(&name, false).unwrap_or_default())
}

/// How a report is written.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, ValueEnum)]
enum Format {
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
    /// Test results for CI services
    Junit,
}

impl Format {
    /// The findings `rows` in this format: `drawn` for people, with the line `sum` after it; `json` is the report of the
    /// command.
    fn write(
        self,
        rows: impl FnOnce() -> Vec<Row>,
        drawn: impl FnOnce() -> String,
        sum: &str,
        json: impl FnOnce(Vec<Row>) -> serde_json::Result<String>,
    ) -> Result<String, Error> {
        let fault = |error| Error::Usage(format!("cannot write the report: {error}"));
        Ok(match self {
            Format::Human => drawn() + sum,
            Format::Plain => report::plain(&rows()) + &report::unpainted(sum),
            Format::Json => json(rows()).map_err(fault)? + "\n",
            Format::Sarif => serde_json::to_string_pretty(&report::sarif(&rows())).map_err(fault)? + "\n",
            Format::Github => report::github(&rows()),
            Format::Junit => {
                return Err(Error::Usage(
                    "`junit` is the format of test results: `rulebook test` writes it".to_owned(),
                ));
            }
        })
    }
}

/// How a command ended; the same in every format.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
enum Status {
    /// Nothing was found.
    Clean = 0,
    /// An error was found, or a case failed.
    Findings = 1,
    /// The arguments make no sense, or a file cannot be read or written.
    Trouble = 2,
    /// There was nothing to check or test.
    Nothing = 3,
}

impl Status {
    /// How a command ends that found something wrong, or nothing.
    fn of(found: bool) -> Self {
        if found { Status::Findings } else { Status::Clean }
    }
}

/// What a command has to say.
#[derive(Debug)]
struct Printed {
    /// For standard output.
    out: String,
    /// For standard error.
    err: String,
    status: Status,
}

impl Printed {
    fn new(out: String, status: Status) -> Self {
        Self { out, err: String::new(), status }
    }

    /// What is printed on standard error alone.
    fn refused(err: String, status: Status) -> Self {
        Self { out: String::new(), err, status }
    }

    /// The same, where more was to be read than could be.
    fn without(mut self, unread: &[ReadError]) -> Self {
        if !unread.is_empty() {
            self.status = Status::Trouble;
            self.err.extend(unread.iter().map(|error| Pen::default().trouble(&error.to_string())));
        }
        self
    }
}

/// Why a command could not do its work.
#[derive(Debug)]
enum Error {
    /// A file or folder cannot be read.
    Read(ReadError),
    /// The arguments make no sense, or something else went wrong: one line.
    Usage(String),
    /// What was found stands in the way, such as the faults of a pack: it is laid out already.
    Found(Printed),
}

impl From<ReadError> for Error {
    fn from(error: ReadError) -> Self {
        Error::Read(error)
    }
}

impl From<Error> for Printed {
    fn from(error: Error) -> Self {
        let message = match error {
            Error::Read(error) => error.to_string(),
            Error::Usage(message) => message,
            Error::Found(printed) => return printed,
        };
        Self::refused(Pen::default().trouble(&message), Status::Trouble)
    }
}

/// Does what the arguments of this process say.
pub fn main() -> ExitCode {
    let printed = match Arguments::try_parse() {
        Ok(arguments) => execute(arguments).unwrap_or_else(Printed::from),
        Err(error) => usage(&error),
    };
    // Whoever closed the pipe has seen enough: the status stays what it is.
    let status = match tell(&printed) {
        Err(error) if error.kind() != std::io::ErrorKind::BrokenPipe => {
            _ = anstream::stderr().write_all(Pen::default().trouble(&format!("cannot write: {error}")).as_bytes());
            Status::Trouble
        }
        _ => printed.status,
    };
    ExitCode::from(status as u8)
}

/// Writes what a command has to say; an error is one of standard output.
fn tell(printed: &Printed) -> std::io::Result<()> {
    let written = write_out(&printed.out);
    _ = anstream::stderr().write_all(printed.err.as_bytes());
    written
}

/// Writes to standard output, with colours only where it takes them. What has none is data, and written byte for byte: whoever
/// takes colours away takes away other controls as well.
fn write_out(text: &str) -> std::io::Result<()> {
    let mut out = anstream::stdout();
    if text.contains('\u{1b}') {
        out.write_all(text.as_bytes())?;
    } else {
        out.as_inner().lock().write_all(text.as_bytes())?;
    }
    out.flush()
}

fn execute(arguments: Arguments) -> Result<Printed, Error> {
    match arguments.command {
        Command::Run(arguments) => run::run(&arguments),
        Command::Apply(arguments) => apply::apply(&arguments),
        Command::Check(arguments) => check::check(&arguments),
        Command::Test(arguments) => test::test(&arguments),
        Command::Prompt(arguments) => prompt::prompt(&arguments),
        Command::Hear(arguments) => hear::hear(&arguments),
        Command::Play(arguments) => play::play(&arguments),
        Command::Replay(arguments) => replay::replay(&arguments),
        Command::Diff(arguments) => diff::diff(&arguments),
        Command::Explain(arguments) => explain::explain(&arguments),
        Command::Export(arguments) => export::export(&arguments),
        Command::Schema(arguments) => Ok(schema::schema(&arguments)),
        Command::New(arguments) => new::new(&arguments),
        Command::Completions(arguments) => Ok(completions::completions(&arguments)),
    }
}

/// What clap has to say: help and version on standard output, the rest on standard error.
fn usage(error: &clap::Error) -> Printed {
    let text = error.render().ansi().to_string();
    if error.use_stderr() { Printed::refused(text, Status::Trouble) } else { Printed::new(text, Status::Clean) }
}

/// A pack from disk, ready to run or with every reason why not.
struct Opened {
    files: PackFiles,
    loaded: Loaded,
    pen: Pen,
}

impl Opened {
    fn open(path: &Path) -> Result<Self, Error> {
        Ok(Self::load(read_pack(path)?, Program::check).or_below(path))
    }

    /// As [`Opened::open`], with what a reviewer would say.
    fn review(path: &Path) -> Result<Self, Error> {
        Ok(Self::load(read_pack(path)?, lint::check).or_below(path))
    }

    /// Where the folder is no pack, names those below it.
    fn or_below(mut self, path: &Path) -> Self {
        let mut found = self.loaded.diagnostics.iter_mut();
        if let Some(missing) = found.find(|one| one.code == Code::PACK_MISSING && one.at.is_none()) {
            let (mut below, _) = search_packs(path);
            // It may have a `pack.toml` that says nothing of a pack.
            below.retain(|below| *below != folder_of(path));
            let below: Vec<String> = below.iter().map(|one| one.display().to_string()).collect();
            missing.help = alternatives("", below.iter().map(String::as_str)).or(missing.help.take());
        }
        self
    }

    fn load(files: PackFiles, check: impl FnOnce(&Folder) -> Loaded) -> Self {
        let loaded = check(&files.folder);
        let pen = Pen::new(files.paths.clone());
        Self { files, loaded, pen }
    }

    /// The program. Where there is none the faults of the pack are printed: for programs, as the report of `check`.
    fn program(&self, format: Format) -> Result<&Program, Error> {
        if let Some(program) = &self.loaded.program {
            return Ok(program);
        }
        let Loaded { sources, diagnostics, .. } = &self.loaded;
        let drawn = || self.pen.diagnostics(sources, diagnostics);
        let rows = || diagnostics.iter().map(|one| Row::of_diagnostic(&self.pen, sources, one)).collect();
        Err(found(format, drawn, rows, Status::Findings))
    }
}

/// What stands in the way of a command: for people `drawn` on standard error, for programs as the report of `check`.
fn found(format: Format, drawn: impl FnOnce() -> String, rows: impl FnOnce() -> Vec<Row>, status: Status) -> Error {
    let report = |rows| serde_json::to_string_pretty(&json::Checked::new(rows, 1));
    match format {
        Format::Human => Error::Found(Printed::refused(drawn(), status)),
        other => match other.write(rows, String::new, "", report) {
            Ok(out) => Error::Found(Printed::new(out, status)),
            Err(error) => error,
        },
    }
}

/// The files of the packs at or below each of `paths`, each once, and what cannot be read there.
fn packs(paths: &[PathBuf]) -> (Vec<PackFiles>, Vec<ReadError>) {
    let (mut packs, mut unread) = (Vec::new(), Vec::new());
    for path in paths {
        let (found, folders) = search_packs(path);
        unread.extend(folders);
        for pack in found {
            if !packs.contains(&pack) {
                packs.push(pack);
            }
        }
    }
    let mut files = Vec::new();
    for read in parallel::each("packs", &packs, |pack| read_pack(pack)) {
        match read {
            Ok(pack) => files.push(pack),
            Err(error) => unread.push(error),
        }
    }
    (files, unread)
}

/// What to print where no pack was found, or none of those that could be read; `empty` is the report for programs.
fn nothing(what: &str, paths: &[PathBuf], unread: &[ReadError], empty: String) -> Printed {
    if !unread.is_empty() {
        return Printed::new(empty, Status::Trouble).without(unread);
    }
    let shown: Vec<String> = paths.iter().map(|path| format!("`{}`", path.display())).collect();
    let shown = shown.join(", ");
    let err = Pen::default().trouble(&format!("nothing to {what} in {shown}: a pack is a folder with a `pack.toml`"));
    Printed { out: empty, err, status: Status::Nothing }
}

/// An error unless `name` is absent, declared, or nothing is.
fn declared<'n>(
    what: &str,
    name: Option<&str>,
    names: impl Iterator<Item = &'n str>,
    format: Format,
) -> Result<(), Error> {
    let names: Vec<&str> = names.collect();
    match name {
        Some(name) if !names.is_empty() && !names.contains(&name) => {
            let code = if what == "prompt" { Code::UNKNOWN_PROMPT } else { Code::SESSION_MISFIT };
            let message = format!("the pack has no {what} `{}`", excerpt(name, 60));
            let fault = Diagnostic::new(code, None, message).with_nearest(name, names);
            Err(session::misfits(&Sources::default(), &[fault], format))
        }
        _ => Ok(()),
    }
}
