//! `rulebook replay`: what are the results for all these answers?
//!
//! In: a pack, a file with one answer on each line, and optionally a second pack.
//! Out: totals, the outcomes line by line, and the answers for which the second pack differs.
//! Never: judges an answer itself: `answers` does.

use super::answers::{Broken, Judge, Out, rows};
use super::packs::ToolsArgument;
use super::{CommandOutput, Error, Format, OpenedPack, Status, input};
use rulebook::diagnostic::nearest;
use rulebook::text::excerpt;
use rulebook::{Code, Diagnostic, Sources};
use rulebook_report::{Differing, Pen, Replayed, json, row_of_line};
use std::path::{Path, PathBuf};

/// The members of a line that are read.
const MEMBERS: [&str; 4] = ["response", "id", "mode", "session"];
/// How many ignored members are reported.
const MAX_UNREAD_MEMBERS: usize = 5;

#[derive(Debug, clap::Args)]
#[command(after_help = "Example:\n  rulebook replay rules/couple-ai answers.jsonl --out outcomes.jsonl")]
pub(crate) struct Arguments {
    /// The folder of the pack
    pack: PathBuf,
    /// The answers, one JSON object on each line: `response`, and optionally `id`, `mode` and `session`; `-` for
    /// standard input
    file: PathBuf,
    /// How many answers are judged at the same time; by default one for each core
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u16).range(1..=1024))]
    jobs: Option<u16>,
    /// Write the outcomes to this file, one on each line, in the order of the answers
    #[arg(long, value_name = "FILE")]
    out: Option<PathBuf>,
    #[command(flatten)]
    tools: ToolsArgument,
    /// Show which outcomes differ from those of this pack, and how
    #[arg(long, value_name = "PACK")]
    against: Option<PathBuf>,
    /// The format of the summary
    #[arg(long, value_enum, default_value_t)]
    format: Format,
}

pub(super) fn replay(arguments: &Arguments) -> Result<CommandOutput, Error> {
    let opened = OpenedPack::open_with(&arguments.pack, arguments.tools.path(), arguments.format)?;
    let program = opened.program(arguments.format)?;
    let other =
        arguments.against.as_deref().map(|pack| OpenedPack::open_with(pack, arguments.tools.path(), arguments.format));
    let other = other.transpose()?;
    let against = other.as_ref().map(|other| other.program(arguments.format)).transpose()?;
    let judging = Judge { program, against, writes_outcomes: arguments.out.is_some() };
    let out = arguments.out.as_deref().map(|out| Out::create(out, &arguments.file)).transpose()?;
    let (replayed, broken) = judging.judge_all(&arguments.file, arguments.jobs, out)?;
    let printed = report(arguments, &replayed, &broken)?;
    Ok(CommandOutput { err: printed.err + &unread(&arguments.file, &replayed), ..printed })
}

/// A note for each ignored member of lines, which may be misspelt.
fn unread(file: &Path, replayed: &Replayed) -> String {
    let listed = replayed.unread.iter().take(MAX_UNREAD_MEMBERS).map(|(name, (first, times))| {
        let times = if *times == 1 { String::new() } else { format!(" and {} more", times - 1) };
        let near = nearest(name, MEMBERS).map(|near| format!("; did you mean `{near}`?")).unwrap_or_default();
        format!("note: `{}` in {}:{first}{times} is ignored{near}\n", excerpt(name, 40), input::name_of(file))
    });
    listed.collect()
}

fn report(arguments: &Arguments, replayed: &Replayed, broken: &[Broken]) -> Result<CommandOutput, Error> {
    let status = match (replayed.lines, replayed.broken + replayed.differing) {
        (0, _) => Status::Nothing,
        (_, found) => Status::of(found > 0),
    };
    let pen = Pen::default();
    let rows = || {
        let mut rows = rows(&arguments.file, broken);
        let file = input::name_of(&arguments.file);
        rows.extend(replayed.named.iter().map(|one| row_of_line(file.clone(), one.line, &differs(one))));
        rows.sort_by_key(|row| row.line);
        rows
    };
    let drawn = || {
        // Standard input has no path that a terminal could open.
        let place = |line: &usize| match input::is_standard(&arguments.file) {
            true => String::new(),
            false => format!("  ┌─ {}:{line}\n", arguments.file.display()),
        };
        let faults = broken.iter().map(|(line, fault)| {
            let listed = pen.diagnostic(&Sources::default(), fault);
            let (what, more) = listed.split_once('\n').unwrap_or((&listed, ""));
            format!("{what}\n{}{more}\n", place(line))
        });
        faults.collect::<String>() + &pen.replayed(replayed)
    };
    let json = |rows| json::Replay::new(replayed, rows);
    let out = arguments.format.write(rows, drawn, &replayed.sum(), json)?;
    Ok(CommandOutput::new(out, status))
}

fn differs(answer: &Differing) -> Diagnostic {
    let message = format!("what becomes of `{}` differs: {}", answer.id, answer.how.join("; "));
    Diagnostic::new(Code::WORKSPACE_DIFFERS, None, message)
}
