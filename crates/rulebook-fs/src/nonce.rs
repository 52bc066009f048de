//! Nonce: what is a temporary file called, and which run has left it?
//!
//! In: the root below which a run writes.
//! Out: [`Nonce`], which names temporary files such that no two runs use the same name.
//! Never: removes a file of a run that is still writing.

use super::cut::start;
use cap_std::fs::Dir;
use std::hash::{BuildHasher as _, DefaultHasher, Hash as _, Hasher as _};

/// The extension of a temporary file with new bytes.
pub(super) const NEW: &str = "tmp";
/// The extension of the second name of a file that was replaced.
pub(super) const OLD: &str = "old";
/// The extension of a journal.
pub(super) const JOURNAL: &str = "journal";
/// The extension of the journal of a run that has written everything and is cleaning up.
pub(super) const DONE: &str = "done";

/// Names temporary files with the number of the root below which a run writes, and a random number of that run.
#[derive(Debug, Clone, Copy)]
pub(super) struct Nonce {
    root: u64,
    run: u32,
}

impl Nonce {
    pub(super) fn new(root: u64) -> Self {
        Self::of(root, std::collections::hash_map::RandomState::new().hash_one(std::process::id()) as u32)
    }

    /// The names of the run with this number.
    pub(super) fn of(root: u64, run: u32) -> Self {
        Self { root, run }
    }

    /// The number of the run.
    pub(super) fn run(self) -> u32 {
        self.run
    }

    /// Removes the files that killed runs below the same root have left in a folder. The caller has the lock of that
    /// root, so none of these runs is still writing. Files of runs below other roots have other names.
    pub(super) fn sweep(self, dir: &Dir) {
        for entry in dir.entries().into_iter().flatten().flatten() {
            let is_file = entry.file_type().is_ok_and(|kind| kind.is_file());
            if is_file && entry.file_name().to_str().is_some_and(|name| self.is_left_behind(name)) {
                _ = dir.remove_file(entry.file_name());
            }
        }
    }

    /// Whether the name is that of a temporary file of another run below the same root.
    fn is_left_behind(self, name: &str) -> bool {
        numbers(name).is_some_and(|(root, run)| root == self.root && run != self.run)
    }

    /// The name of a temporary file for `name`. Names that the file system treats as equal get temporary names that it
    /// treats as equal.
    pub(super) fn beside(self, name: &str, end: &str) -> String {
        let start = start(name, 180);
        let rest = name.get(start.len()..).filter(|rest| !rest.is_empty()).map(|rest| {
            let mut hasher = DefaultHasher::new();
            rest.hash(&mut hasher);
            format!("-{:x}", hasher.finish())
        });
        let rest = rest.unwrap_or_default();
        format!(".{start}{rest}.{:016x}{:08x}.{end}", self.root, self.run)
    }
}

/// The numbers of the root and the run in the name of a temporary file.
fn numbers(name: &str) -> Option<(u64, u32)> {
    let rest = [NEW, OLD].iter().find_map(|end| name.strip_prefix('.')?.strip_suffix(*end)?.strip_suffix('.'))?;
    let (_, word) = rest.rsplit_once('.')?;
    let (root, run) = word.split_at_checked(16)?;
    let run = Some(run).filter(|run| run.len() == 8)?;
    Some((u64::from_str_radix(root, 16).ok()?, u32::from_str_radix(run, 16).ok()?))
}

/// The name of the journal of the root with this number. It ends in [`JOURNAL`] while a run writes files, in [`DONE`]
/// once everything is written, and in [`NEW`] while the journal itself is written.
pub(super) fn journal(root: u64, end: &str) -> String {
    format!(".rulebook.{root:016x}.{end}")
}

/// Whether the name has the form of a temporary file or journal of any root. No answer may change such a file.
pub(super) fn is_own(name: &str) -> bool {
    // Some file systems ignore the case.
    let name = name.to_ascii_lowercase();
    let journal = [JOURNAL, DONE, NEW].iter().find_map(|end| name.strip_prefix(".rulebook.")?.strip_suffix(*end));
    journal.is_some() || numbers(&name).is_some()
}
