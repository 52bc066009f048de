//! Applied answers: which files were changed, or would be?
//!
//! In: the files of an answer, each with what was done to it.
//! Out: a line for each file, and its diff if one was asked for.
//! Never: reads or writes a file.

use super::count;
use super::drawing::{BAD, FAINT, GOOD, Pen, STRONG, WARN, paint};
use super::outcome::visible;
use rulebook::outcome::EffectRecord;
use serde::{Deserialize, Serialize};
use std::collections::BTreeSet;
use std::fmt::Write as _;

/// One file of an answer.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct AppliedFile {
    /// Its path below the root.
    pub key: String,
    /// The path from which it was moved; absent unless it was.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub from: Option<String>,
    /// `created`, `replaced`, `moved`, `deleted`, `unchanged`, or `left` as it was, because it or another file of the
    /// answer cannot be written.
    pub change: String,
    /// The length of what it holds, in bytes.
    pub bytes: usize,
    /// With `--dry-run`: how it would change, in the unified format.
    pub diff: Option<String>,
    /// What the pack says about its edits.
    pub notes: Vec<String>,
}

impl Pen {
    /// The report of `apply` for people: the `faults`, then the diffs, notes and files. The caller prints the
    /// diagnostics of the answer before it.
    pub fn applied(&self, files: &[AppliedFile], faults: &[String]) -> String {
        let mut text = String::new();
        for part in faults {
            text += part;
            text.push('\n');
        }
        for diff in files.iter().filter_map(|file| file.diff.as_ref()) {
            text += &coloured(diff);
            text.push('\n');
        }
        for note in files.iter().flat_map(|file| &file.notes) {
            _ = writeln!(text, "{}", visible(note));
        }
        for file in files {
            let style = match file.change.as_str() {
                "created" | "replaced" | "moved" => GOOD,
                "deleted" => WARN,
                "left" => BAD,
                _ => FAINT,
            };
            let word = paint(style, &format!("{:<9}", file.change));
            let size = paint(FAINT, &format!(" ({})", count(file.bytes, "byte")));
            let from = file.from.as_ref().map(|from| format!("{} to ", visible(from))).unwrap_or_default();
            let size = if file.change == "deleted" { "" } else { size.as_str() };
            _ = writeln!(text, "{word} {from}{}{size}", visible(&file.key));
        }
        text
    }
}

/// The last line of `apply`: how many files there are, and how many of them were created, replaced and so on.
pub fn applied_sum(files: &[AppliedFile], dry_run: bool) -> String {
    let mut words: Vec<(&str, usize)> = Vec::new();
    for file in files {
        match words.iter_mut().find(|(word, _)| *word == file.change) {
            Some((_, number)) => *number += 1,
            None => words.push((&file.change, 1)),
        }
    }
    let words: Vec<String> = words.iter().map(|(word, number)| format!("{number} {word}")).collect();
    let dry = if dry_run { paint(WARN, " (dry run: nothing was written)") } else { String::new() };
    match words.as_slice() {
        [] => format!("no file to write{dry}\n"),
        words => format!("{}: {}{dry}\n", count(files.len(), "file"), words.join(", ")),
    }
}

/// The line that counts the files which the effects would change, for a command without `--root`; empty if they change
/// no file.
pub fn unwritten(effects: &[EffectRecord]) -> String {
    let keys = effects.iter().flat_map(|record| record.effect.keys());
    match keys.collect::<BTreeSet<_>>().len() {
        0 => String::new(),
        files => format!("{} not written: no --root is given\n", count(files, "file")),
    }
}

fn coloured(diff: &str) -> String {
    let mut text = String::new();
    for line in diff.lines() {
        let style = match line.as_bytes().first() {
            _ if line.starts_with("--- ") || line.starts_with("+++ ") => STRONG,
            Some(b'+') => GOOD,
            Some(b'-') => BAD,
            Some(b'@' | b'\\') => FAINT,
            _ => {
                _ = writeln!(text, "{}", visible(line));
                continue;
            }
        };
        _ = writeln!(text, "{}", paint(style, &visible(line)));
    }
    text
}
