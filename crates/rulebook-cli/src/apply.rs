//! `rulebook apply`: which files does this answer write?
//!
//! In: a pack, a response, the folder below which it may write.
//! Out: the files written, or with `--dry-run` how they would change, and a diagnostic for each that cannot be written.
//! Never: carries out an effect that is not about files.

use super::run::{AnswerArguments, Judged};
use super::session::clock;
use super::{Error, Format, Printed, Status};
use rulebook::diagnostic::{Code, Diagnostic};
use rulebook::outcome::{ContentBlock, EffectRecord, Options, Outcome};
use rulebook::text::{Location, Source, SourceId, Sources};
use rulebook_fs::{Applied, Applying, Change, FileChange, Root};
use rulebook_report::{AppliedFile, Pen, applied_sum, json, unified};
use std::path::PathBuf;

#[derive(Debug, clap::Args)]
#[command(after_help = "Example:\n  rulebook apply rules/dce answer.txt --root out --dry-run")]
pub(crate) struct Arguments {
    #[command(flatten)]
    answer: AnswerArguments,
    /// The folder below which files are written
    #[arg(long, value_name = "DIR")]
    root: PathBuf,
    /// Write nothing; show how the files would change
    #[arg(long)]
    dry_run: bool,
    /// Write what can be written, even if other files of the answer cannot
    #[arg(long)]
    partial: bool,
    /// The format of the report
    #[arg(long, value_enum, default_value_t)]
    format: Format,
}

pub(super) fn apply(arguments: &Arguments) -> Result<Printed, Error> {
    let opened = arguments.answer.open(arguments.format)?;
    let program = opened.program(arguments.format)?;
    let judged = arguments.answer.judge(program, Options::default(), arguments.format, Some(clock()))?;
    let how = Applying { dry_run: arguments.dry_run, partial: arguments.partial };
    let applied = rulebook_fs::apply(&Root::open(&arguments.root)?, &judged.outcome.effects, how);
    let status = status(&judged.outcome, &applied);
    let out = report(&opened.pen, judged, &applied, arguments)?;
    Ok(Printed::new(out, status))
}

/// Writes the files of one turn of a conversation, and says what became of each. The second is whether all that the turn
/// writes was written.
pub(super) fn write_turn(
    pen: &Pen,
    root: &Root,
    (effects, contents): (&[EffectRecord], &[ContentBlock]),
    words: &Source,
) -> (String, bool) {
    let applied = rulebook_fs::apply(root, effects, Applying::default());
    let mut sources = Sources::default();
    let source = sources.add(words.clone());
    let drawn = |(file, fault)| pen.diagnostic(&sources, &placed(pen, file, fault, contents, source));
    let faults: Vec<String> = applied.faults().map(drawn).collect();
    let files: Vec<AppliedFile> = applied.files.iter().map(|file| described(file, false)).collect();
    (pen.applied(&files, &faults), !applied.faults().any(|(_, fault)| fault.is_error()))
}

fn status(outcome: &Outcome, applied: &Applied) -> Status {
    let of_disk = |fault: &Diagnostic| fault.code == Code::WORKSPACE_CANNOT_WRITE;
    if applied.faults().any(|(_, fault)| of_disk(fault)) {
        Status::Trouble
    } else {
        Status::of(outcome.has_errors() || applied.faults().any(|(_, fault)| fault.is_error()))
    }
}

fn report(pen: &Pen, judged: Judged, applied: &Applied, arguments: &Arguments) -> Result<String, Error> {
    let drawn = if arguments.format == Format::Human { judged.drawn().clone() } else { judged.outcome };
    let (response, outcome) = (judged.response, drawn);
    let mut sources = Sources::default();
    let source = sources.add(response.clone());
    let faults: Vec<Diagnostic> =
        applied.faults().map(|(file, fault)| placed(pen, file, fault, &outcome.contents, source)).collect();
    let files: Vec<AppliedFile> = applied.files.iter().map(|file| described(file, arguments.dry_run)).collect();
    let rows = || {
        let of_disk = faults.iter().map(|fault| pen.row(&sources, fault));
        pen.rows(&outcome, &response).into_iter().chain(of_disk).collect()
    };
    let drawn = || {
        let faults: Vec<String> = faults.iter().map(|fault| pen.diagnostic(&sources, fault)).collect();
        pen.findings(&outcome, &response) + &pen.applied(&files, &faults)
    };
    let sum = applied_sum(&files, arguments.dry_run);
    let json = |rows| json::Applied::new(arguments.dry_run, &files, rows, &outcome);
    arguments.format.write(rows, drawn, &sum, json)
}

fn described(file: &FileChange, dry_run: bool) -> AppliedFile {
    let before = file.before.as_ref().map(|before| String::from_utf8_lossy(before));
    let diff = match file.change {
        Change::Created if dry_run => Some(unified(&file.key, None, file.text())),
        Change::Replaced if dry_run => before.map(|before| unified(&file.key, Some(&before), file.text())),
        _ => None,
    };
    AppliedFile {
        key: file.key.clone(),
        change: file.change.name().to_owned(),
        bytes: file.text().len(),
        diff,
        said: file.said.clone(),
    }
}

/// The fault, at the block that the file comes from, with the declaration of the effect that writes it.
fn placed(pen: &Pen, file: &FileChange, fault: &Diagnostic, contents: &[ContentBlock], source: SourceId) -> Diagnostic {
    let content = contents.iter().rev().find(|content| content.key == file.key);
    let mut fault = fault.clone();
    let cause = file.cause.as_ref().map(|cause| format!("written by {}", pen.shown(cause))).unwrap_or_default();
    match content {
        Some(content) => {
            fault.at = Some(Location { source, span: content.span.into() });
            fault.label = Some(cause);
        }
        None => fault.help = Some(fault.help.map_or(cause.clone(), |help| format!("{help}; it is {cause}")).into()),
    }
    fault
}
