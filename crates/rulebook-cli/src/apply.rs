//! `rulebook apply`: which files does an answer change?
//!
//! In: a pack, an answer, and the folder below which it may write.
//! Out: the files written, edited, moved and deleted, or with `--dry-run` their diffs; a diagnostic for each file that
//! cannot be written; what the pack declares for effects that do not apply to the files.
//! Never: carries out an effect that does not change files.

use super::judging::{AnswerArguments, Judged};
use super::session::clock;
use super::{CommandOutput, Error, Format, Status};
use rulebook::cases::TurnResult;
use rulebook::outcome::{ContentBlock, EffectRecord, Miss};
use rulebook::text::{Location, Source, SourceId};
use rulebook::{Code, Diagnostic, Options, Outcome, Severity, Sources};
use rulebook_fs::{Applied, Applying, Change, FileChange, Root};
use rulebook_report::{AppliedFile, Pen, applied_sum, json, unified_paths};
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

pub(super) fn apply(arguments: &Arguments) -> Result<CommandOutput, Error> {
    let opened = arguments.answer.open(arguments.format)?;
    let program = opened.program(arguments.format)?;
    let mut judged = arguments.answer.judge(program, Options::default(), arguments.format, Some(clock()))?;
    if writes(&judged.outcome)
        && let Some(error) = judged.not_utf8
    {
        // What the model wrote in place of the invalid bytes is unknown, so nothing is written.
        return Err(error.into());
    }
    let how = Applying { dry_run: arguments.dry_run, partial: arguments.partial };
    let applied = rulebook_fs::apply(&Root::open(&arguments.root)?, &judged.outcome.effects, how);
    judged.reject(program, &applied.misses);
    let status = status(&judged.outcome, &applied);
    let out = report(&opened.pen, judged, &applied, arguments)?;
    Ok(CommandOutput::new(out, status))
}

/// The report on the files of one turn of a conversation. The second value is whether every file was written, or the
/// answer was rejected.
pub(super) fn turn_report(pen: &Pen, applied: &Applied, turn_result: &TurnResult, words: &Source) -> (String, bool) {
    let contents = match turn_result {
        TurnResult::Outcome(outcome) => outcome.contents.as_slice(),
        TurnResult::Heard(_) => &[],
    };
    let mut changes = FileChanges::new(pen, applied, contents, words, false);
    if matches!(turn_result, TurnResult::Heard(_)) {
        // The words of a user cannot be rejected as an answer can, so an effect that does not apply is an error of the
        // pack.
        changes.faults.extend(applied.misses.iter().map(|miss| misfit(turn_result.effects(), miss)));
    }
    (changes.drawn(pen), !changes.faults.iter().any(Diagnostic::is_error))
}

/// The files of an answer and what is wrong with them, ready to be printed.
struct FileChanges {
    files: Vec<AppliedFile>,
    faults: Vec<Diagnostic>,
    /// The answer, in which the faults have their places.
    sources: Sources,
}

impl FileChanges {
    fn new(pen: &Pen, applied: &Applied, contents: &[ContentBlock], answer: &Source, dry_run: bool) -> Self {
        let mut sources = Sources::default();
        let source = sources.add(answer.clone());
        let faults = applied.faults().map(|(file, fault)| placed(pen, file, fault, contents, source)).collect();
        let files = applied.files.iter().map(|file| described(file, dry_run)).collect();
        Self { files, faults, sources }
    }

    fn drawn(&self, pen: &Pen) -> String {
        let faults: Vec<String> = self.faults.iter().map(|fault| pen.diagnostic(&self.sources, fault)).collect();
        pen.applied(&self.files, &faults)
    }
}

/// The diagnostic for an effect that does not apply to its file, if there is no answer that could be rejected for it.
fn misfit(effects: &[EffectRecord], miss: &Miss) -> Diagnostic {
    let (defect, message) = miss.explain(effects.get(miss.effect).map(|record| &record.effect));
    let mut fault = Diagnostic::new(Code::Defect(defect), None, message);
    fault.severity = Severity::Error;
    fault
}

/// Whether the answer changes files.
fn writes(outcome: &Outcome) -> bool {
    outcome.effects.iter().any(|record| record.effect.keys().next().is_some())
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
    let changes = FileChanges::new(pen, applied, &outcome.contents, &response, arguments.dry_run);
    let rows = || {
        let of_disk = changes.faults.iter().map(|fault| pen.row(&changes.sources, fault));
        pen.rows(&outcome, &response).into_iter().chain(of_disk).collect()
    };
    let drawn = || pen.findings(&outcome, &response) + &changes.drawn(pen);
    let sum = applied_sum(&changes.files, arguments.dry_run);
    let json = |rows| json::Applied::new(arguments.dry_run, &changes.files, rows, &outcome);
    arguments.format.write(rows, drawn, &sum, json)
}

fn described(file: &FileChange, dry_run: bool) -> AppliedFile {
    AppliedFile {
        key: file.key.clone(),
        from: file.from.clone(),
        change: file.change.name().to_owned(),
        bytes: usize::try_from(file.size).unwrap_or(usize::MAX),
        diff: dry_run.then(|| difference(file)).flatten(),
        notes: file.notes.clone(),
    }
}

/// The diff of a file.
fn difference(file: &FileChange) -> Option<String> {
    let (key, from) = (Some(file.key.as_str()), file.from.as_deref());
    // A file that is not UTF-8, or too large, has no lines to compare.
    let before = file.before.as_ref().and_then(|before| std::str::from_utf8(before).ok());
    Some(match file.change {
        Change::Created => unified_paths(None, key, Some(""), file.text()),
        Change::Replaced => unified_paths(key, key, before, file.text()),
        Change::Moved => unified_paths(from, key, before, file.text().or(before)),
        Change::Deleted => unified_paths(key, None, before, Some("")),
        _ => return None,
    })
}

/// The diagnostic, placed at the block of the answer that has the file's text, with the declaration of the effect.
fn placed(pen: &Pen, file: &FileChange, fault: &Diagnostic, contents: &[ContentBlock], source: SourceId) -> Diagnostic {
    let content = contents.iter().rev().find(|content| content.key == file.key);
    let mut fault = fault.clone();
    let cause = file.cause.as_ref().map(|cause| format!("written by {}", pen.display_name(cause))).unwrap_or_default();
    match content {
        Some(content) => {
            fault.at = Some(Location { source, span: content.span.into() });
            fault.label = Some(cause);
        }
        None => fault.help = Some(fault.help.map_or(cause.clone(), |help| format!("{help}; it is {cause}")).into()),
    }
    fault
}
