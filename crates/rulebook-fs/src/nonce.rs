//! Nonces: what is a temporary file called, and who left one behind?
//!
//! In: the root that a run writes below.
//! Out: [`Nonce`], which names temporary files so that no two runs take the same name.
//! Never: removes a file of a run that is still alive.

use cap_std::fs::Dir;
use rulebook::text::boundary;
use std::hash::{BuildHasher as _, DefaultHasher, Hash as _, Hasher as _};

/// The ending of a temporary file with new bytes.
pub(super) const NEW: &str = "tmp";
/// The ending of the second name of a file that new bytes replaced.
pub(super) const OLD: &str = "old";
/// The ending of a journal.
pub(super) const JOURNAL: &str = "journal";
/// The ending of the journal of a run that has written everything, and has to clean up.
pub(super) const DONE: &str = "done";

/// Names temporary files: a mark of the root that a run writes below, and a random number of that run.
#[derive(Debug, Clone, Copy)]
pub(super) struct Nonce {
    root: u64,
    run: u32,
}

impl Nonce {
    pub(super) fn new(root: u64) -> Self {
        Self::of(root, std::collections::hash_map::RandomState::new().hash_one(std::process::id()) as u32)
    }

    /// The names of another run.
    pub(super) fn of(root: u64, run: u32) -> Self {
        Self { root, run }
    }

    /// The number of the run.
    pub(super) fn run(self) -> u32 {
        self.run
    }

    /// Removes the files that killed runs below the same root left in a folder. The caller holds the lock of that root,
    /// so that none of these runs is alive; files of runs below other roots have other names.
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

    /// The name of a temporary file for `name`. Two names that are one to the file system get one temporary name, too.
    pub(super) fn beside(self, name: &str, end: &str) -> String {
        let cut = boundary(name, 180);
        let rest = name.get(cut..).filter(|rest| !rest.is_empty()).map(|rest| {
            let mut hasher = DefaultHasher::new();
            rest.hash(&mut hasher);
            format!("-{:x}", hasher.finish())
        });
        let (start, rest) = (name.get(..cut).unwrap_or_default(), rest.unwrap_or_default());
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

/// The name of the journal of the root with this number: ending in [`JOURNAL`] while a run writes, in [`DONE`] once it has
/// written everything, and in [`NEW`] while it is written itself.
pub(super) fn journal(root: u64, end: &str) -> String {
    format!(".rulebook.{root:016x}.{end}")
}

/// Whether the name is one that temporary files or journals have, below whatever root: no answer may change such a file.
pub(super) fn is_own(name: &str) -> bool {
    // Some systems ignore the case.
    let name = name.to_ascii_lowercase();
    let journal = [JOURNAL, DONE, NEW].iter().find_map(|end| name.strip_prefix(".rulebook.")?.strip_suffix(*end));
    journal.is_some() || numbers(&name).is_some()
}
