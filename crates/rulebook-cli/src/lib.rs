//! The command line: which command was called, and how did it end?
//!
//! In: arguments, files, standard input.
//! Out: text on standard output and standard error, and an exit status.
//! Never: decides anything about a pack or an answer, or formats text: the engine and `rulebook-report` do.

mod answers;
mod apply;
mod batches;
mod cache;
mod check;
mod completions;
mod decision;
mod diff;
mod explain;
mod export;
mod hear;
mod hook;
mod input;
mod json_text;
mod judging;
mod mcp;
mod new;
mod output;
mod packs;
mod parallel;
mod play;
mod prompt;
mod replay;
mod run;
mod save;
mod saved;
mod schema;
mod session;
mod test;
mod unique;
mod watch;

use clap::{Parser, Subcommand};
use output::{CommandOutput, Error, Format, Status};
use packs::{OpenedPack, declared, nothing, nothing_of, packs};
use rulebook_report::Pen;
use std::ffi::OsString;
use std::io::Write;
use std::process::ExitCode;

const EXIT_STATUS: &str = "\
Exit status: 0 clean, 1 findings, 2 bad arguments or files, 3 nothing to check or test

Example:
  rulebook help run";

/// Parses the answer of a language model and enforces which tool calls and content it may contain.
#[derive(Debug, Parser)]
#[command(name = "rulebook", version, about, max_term_width = 100, after_help = EXIT_STATUS)]
pub(crate) struct Arguments {
    #[command(subcommand)]
    command: Command,
}

#[derive(Debug, Subcommand)]
enum Command {
    /// Judge one answer and print its outcome
    Run(run::Arguments),
    /// Write the files that one answer may write, below a folder
    Apply(apply::Arguments),
    /// Check packs statically, without a model
    Check(check::Arguments),
    /// Run the cases of packs
    Test(test::Arguments),
    /// Print what a model reads: the layers of a pack's prompt
    Prompt(prompt::Arguments),
    /// Classify a user's message, and show what follows from it
    Hear(hear::Arguments),
    /// Try out a conversation, line by line, as the user and as the model (or with a command as the model)
    Play(play::Arguments),
    /// Judge a file of answers, and count the results
    Replay(replay::Arguments),
    /// Show what a change to a pack means: what it allows, what its prompts cost, which outcomes differ
    Diff(diff::Arguments),
    /// Explain a code, a pack's tables, or what became of one answer
    Explain(explain::Arguments),
    /// Print tool definitions or a response schema for the API of a model
    Export(export::Arguments),
    /// Say whether a coding assistant may run a tool: allow, deny or ask
    Hook(hook::Arguments),
    /// Run as a proxy for the Model Context Protocol, which lists and passes on only what the pack permits
    Mcp(mcp::Arguments),
    /// Print the JSON Schema of a file or a contract
    Schema(schema::Arguments),
    /// Create a pack, or add an action, mode, dialect or guardrail to one, with a case that passes
    New(new::Arguments),
    /// Print a completion script for a shell
    Completions(completions::Arguments),
}

/// Runs the command line with the arguments of this process.
#[expect(clippy::disallowed_methods, reason = "the command has arguments; the engine has none")]
pub fn main() -> ExitCode {
    ExitCode::from(run_with(std::env::args_os()))
}

/// Runs the command line with these arguments, of which the first is the name of the command, and returns the exit
/// status. For hosts that include the command and whose process has arguments of its own, such as the package for
/// Python.
pub fn run_with(arguments: impl IntoIterator<Item = OsString>) -> u8 {
    let printed = match Arguments::try_parse_from(arguments) {
        Ok(arguments) => execute(arguments).unwrap_or_else(CommandOutput::from),
        Err(error) => usage(&error),
    };
    // If the reader has closed the pipe, it needs no more output. The status does not change.
    let status = match print(&printed) {
        Err(error) if error.kind() != std::io::ErrorKind::BrokenPipe => {
            _ = anstream::stderr().write_all(Pen::default().trouble(&format!("cannot write: {error}")).as_bytes());
            Status::Trouble
        }
        _ => printed.status,
    };
    status as u8
}

/// Prints the output of a command. Returns an error if standard output does; errors of standard error are ignored.
fn print(printed: &CommandOutput) -> std::io::Result<()> {
    let written = write_out(&printed.out);
    _ = anstream::stderr().write_all(printed.err.as_bytes());
    written
}

/// Writes to standard output, with colours only if it supports them. Text without colours is data and is written byte
/// for byte, because stripping colours would also remove other control characters.
fn write_out(text: &str) -> std::io::Result<()> {
    let mut out = anstream::stdout();
    if text.contains('\u{1b}') {
        out.write_all(text.as_bytes())?;
    } else {
        out.as_inner().lock().write_all(text.as_bytes())?;
    }
    out.flush()
}

fn execute(arguments: Arguments) -> Result<CommandOutput, Error> {
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
        Command::Hook(arguments) => Ok(hook::hook(&arguments)),
        Command::Mcp(arguments) => mcp::mcp(&arguments),
        Command::Schema(arguments) => Ok(schema::schema(&arguments)),
        Command::New(arguments) => new::new(&arguments),
        Command::Completions(arguments) => Ok(completions::completions(&arguments)),
    }
}

/// The output of clap: help and version on standard output, errors on standard error.
fn usage(error: &clap::Error) -> CommandOutput {
    let text = error.render().ansi().to_string();
    if error.use_stderr() {
        CommandOutput::refused(text, Status::Trouble)
    } else {
        CommandOutput::new(text, Status::Clean)
    }
}
