//! Nonces: what is a temporary file called, and who left one behind?
//!
//! In: the root that a run writes below.
//! Out: [`Nonce`], which names temporary files so that no two runs take the same name.
//! Never: takes away a file of a run that lives.

use crate::text::boundary;
use cap_std::fs::Dir;
use std::hash::{BuildHasher as _, DefaultHasher, Hash as _, Hasher as _};

/// How the name of a file with new bytes ends.
pub(super) const NEW: &str = "tmp";
/// How that of a second name of a file ends that they replaced.
pub(super) const OLD: &str = "old";

/// Which root a run writes below, and a number that no other of its runs has, for the names of temporary files.
#[derive(Debug, Clone, Copy)]
pub(super) struct Nonce {
    root: u64,
    run: u32,
}

impl Nonce {
    pub(super) fn new(root: u64) -> Self {
        Self { root, run: std::collections::hash_map::RandomState::new().hash_one(std::process::id()) as u32 }
    }

    /// Takes away what runs below the same root left in a folder when they were killed. Whoever calls it holds the lock
    /// of that root, so that none of them lives; what runs below other roots have there bears another name.
    pub(super) fn sweep(self, dir: &Dir) {
        for entry in dir.entries().into_iter().flatten().flatten() {
            let is_file = entry.file_type().is_ok_and(|kind| kind.is_file());
            if is_file && entry.file_name().to_str().is_some_and(|name| self.is_left_behind(name)) {
                _ = dir.remove_file(entry.file_name());
            }
        }
    }

    /// Whether a name is that of a temporary file of another run below the same root.
    fn is_left_behind(self, name: &str) -> bool {
        let end = [NEW, OLD].iter().find_map(|end| name.strip_prefix('.')?.strip_suffix(*end)?.strip_suffix('.'));
        let Some((_, word)) = end.and_then(|rest| rest.rsplit_once('.')) else { return false };
        let run = word.strip_prefix(&format!("{:016x}", self.root));
        run.is_some_and(|run| run.len() == 8 && u32::from_str_radix(run, 16).is_ok_and(|run| run != self.run))
    }

    /// The name of a temporary file for `name`. Where the file system takes two names for one, it takes these as well.
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
