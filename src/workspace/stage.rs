//! Staging: is each file old or new, whenever the power goes?
//!
//! In: a [`Place`] and the bytes that shall stand there.
//! Out: [`Staged`]: the bytes, safe on disk beside the place, ready to take it in one step and to give it back.
//! Never: changes the file itself but by a rename; leaves anything of its own behind, unless it is killed: then the next
//! run does away with it.

use super::root::Place;
use cap_std::fs::{Dir, OpenOptions, Permissions};
use std::hash::{BuildHasher as _, DefaultHasher, Hash as _, Hasher as _};
use std::io::{self, ErrorKind, Write as _};

/// Which root a run writes below, and a number that no other of its runs has, for the names of temporary files.
#[derive(Debug, Clone, Copy)]
pub(super) struct Nonce {
    root: u64,
    run: u32,
}

/// How the name of a file with new bytes ends.
const NEW: &str = "tmp";
/// How that of a second name of a file ends that they replaced.
const OLD: &str = "old";

/// New bytes beside the file that they shall replace.
#[derive(Debug)]
pub(super) struct Staged {
    place: Place,
    /// The file with the new bytes, until they take the place.
    new: Option<String>,
    /// A second name of the file that was replaced.
    old: Option<String>,
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
    fn beside(self, name: &str, end: &str) -> String {
        let mut cut = name.len().min(180);
        while !name.is_char_boundary(cut) {
            cut -= 1;
        }
        let rest = name.get(cut..).filter(|rest| !rest.is_empty()).map(|rest| {
            let mut hasher = DefaultHasher::new();
            rest.hash(&mut hasher);
            format!("-{:x}", hasher.finish())
        });
        let (start, rest) = (name.get(..cut).unwrap_or_default(), rest.unwrap_or_default());
        format!(".{start}{rest}.{:016x}{:08x}.{end}", self.root, self.run)
    }
}

impl Staged {
    /// Writes the bytes beside their place, down to the disk.
    ///
    /// # Errors
    ///
    /// [`ErrorKind::AlreadyExists`] where the place was staged before, maybe under another name; else the system's.
    pub(super) fn new(place: Place, bytes: &[u8], permissions: Option<Permissions>, nonce: Nonce) -> io::Result<Self> {
        let name = nonce.beside(&place.name, NEW);
        let mut file = place.dir.open_with(&name, OpenOptions::new().write(true).create_new(true))?;
        // From here on, dropping it takes the file away.
        let staged = Self { place, new: Some(name), old: None };
        file.write_all(bytes)?;
        if let Some(permissions) = permissions {
            file.set_permissions(permissions)?;
        }
        file.sync_all()?;
        Ok(staged)
    }

    /// Whether just these bytes stand in the place.
    pub(super) fn would_replace(&self, bytes: &[u8]) -> bool {
        self.place.read(bytes.len() as u64).is_ok_and(|found| found == bytes)
    }

    /// Lets the new bytes take the place; what stood there is kept under a second name.
    pub(super) fn commit(&mut self, nonce: Nonce) -> io::Result<()> {
        let Place { dir, name } = &self.place;
        let old = nonce.beside(name, OLD);
        // A disk without second names gets a copy.
        let kept = dir.hard_link(name, dir, &old).or_else(|error| match error.kind() {
            ErrorKind::NotFound => Err(error),
            _ => dir.copy(name, dir, &old).map(drop),
        });
        match kept {
            Ok(()) => self.old = Some(old),
            Err(error) if error.kind() == ErrorKind::NotFound => {}
            Err(error) => return Err(error),
        }
        if let Some(new) = &self.new {
            dir.rename(new, dir, name)?;
        }
        self.new = None;
        Ok(())
    }

    /// Gives the place back to what stood there, if the new bytes have it.
    pub(super) fn restore(mut self) -> io::Result<()> {
        let Place { dir, name } = &self.place;
        match (&self.new, self.old.take()) {
            (Some(_), _) => Ok(()),
            (None, Some(old)) => dir.rename(old, dir, name),
            (None, None) => dir.remove_file(name),
        }
    }
}

impl Drop for Staged {
    fn drop(&mut self) {
        for name in [self.new.take(), self.old.take()].into_iter().flatten() {
            // There is nobody left to tell; the file is ours and hidden.
            _ = self.place.dir.remove_file(name);
        }
    }
}
