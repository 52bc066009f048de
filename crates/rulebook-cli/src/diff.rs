//! `rulebook diff`: what does a change to a pack mean?
//!
//! In: two folders of packs, and optionally a file of recorded answers.
//! Out: what widened, narrowed, changed, appeared or disappeared; tokens before and after; which outcomes differ.
//! Never: fails because of a change that `--deny` does not name.

use super::answers::{Judge, rows};
use super::output::written;
use super::{CommandOutput, Error, Format, OpenedPack, Status};
use clap::ValueEnum;
use rulebook::compare::{Comparison, Direction, Version};
use rulebook_report::{Replayed, compared_plain, compared_sum, json, plain, unpainted};
use std::path::PathBuf;

#[derive(Debug, clap::Args)]
#[command(after_help = "Example:\n  rulebook diff rules/dce changed --deny widening")]
pub(crate) struct Arguments {
    /// The folder of the pack before the change
    old: PathBuf,
    /// The folder of the pack after the change
    new: PathBuf,
    /// Also judge the answers in this file with both packs, and show whose outcomes differ; a file as for `replay`
    #[arg(long, value_name = "FILE")]
    replay: Option<PathBuf>,
    /// The tools that the host has: a list as JSON, as for OpenAI, Anthropic, Gemini or MCP; given twice, those before
    /// and those after the change
    #[arg(long, value_name = "FILE")]
    tools: Vec<PathBuf>,
    /// Exit with 1 if there is such a change
    #[arg(long, value_enum, value_name = "WHAT")]
    deny: Option<Denied>,
    /// The format of the report
    #[arg(long, value_enum, default_value_t)]
    format: DiffFormat,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
enum Denied {
    /// More is allowed than before
    Widening,
    /// Anything has changed, or an outcome differs
    Change,
}

/// The formats for changes. None of them annotates files, because a change has no place in a file.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, ValueEnum)]
enum DiffFormat {
    /// For people
    #[default]
    Human,
    /// One line for each change
    Plain,
    /// For programs
    Json,
}

pub(super) fn diff(arguments: &Arguments) -> Result<CommandOutput, Error> {
    let format = match arguments.format {
        DiffFormat::Human => Format::Human,
        DiffFormat::Plain => Format::Plain,
        DiffFormat::Json => Format::Json,
    };
    let (tools_before, tools_after) = match arguments.tools.as_slice() {
        [] => (None, None),
        [both] => (Some(both.as_path()), Some(both.as_path())),
        [before, after] => (Some(before.as_path()), Some(after.as_path())),
        more => {
            let message = format!("--tools is given {} times: once for both packs, or once for each", more.len());
            return Err(Error::Failed(message));
        }
    };
    let old = OpenedPack::open_with(&arguments.old, tools_before, format)?;
    let new = OpenedPack::open_with(&arguments.new, tools_after, format)?;
    let (before, after) = (old.program(format)?, new.program(format)?);
    let version = Version { folder: &old.files.folder, program: before };
    let comparison = Comparison::of(version, Version { folder: &new.files.folder, program: after });
    let judging = Judge { program: after, against: Some(before), writes_outcomes: false };
    let mut broken_rows = Vec::new();
    let mut replayed = None;
    if let Some(file) = &arguments.replay {
        let (judged, broken) = judging.judge_all(file, None, None)?;
        broken_rows = rows(file, &broken);
        replayed = Some(judged);
    }
    let sum = compared_sum(&comparison, replayed.as_ref());
    let out = match arguments.format {
        DiffFormat::Human => new.pen.compared(&old.pen, &comparison, replayed.as_ref()) + &plain(&broken_rows) + &sum,
        DiffFormat::Plain => {
            compared_plain(&new.pen, &old.pen, &comparison, replayed.as_ref()) + &plain(&broken_rows) + &unpainted(&sum)
        }
        DiffFormat::Json => {
            let replay = replayed.as_ref().map(|replayed| json::Replay::new(replayed, broken_rows));
            written(&json::Compared::new(&comparison, replay))?
        }
    };
    Ok(CommandOutput::new(out, status(arguments.deny, &comparison, replayed.as_ref())))
}

fn status(denied: Option<Denied>, comparison: &Comparison, replayed: Option<&Replayed>) -> Status {
    let broken = replayed.is_some_and(|replayed| replayed.broken > 0);
    Status::of(match denied {
        _ if broken => true,
        None => false,
        Some(Denied::Widening) => comparison.count(Direction::Widened) > 0,
        Some(Denied::Change) => {
            let otherwise = replayed.is_some_and(|replayed| replayed.differing > 0);
            !comparison.changes.is_empty() || !comparison.prompts.is_empty() || otherwise
        }
    })
}
