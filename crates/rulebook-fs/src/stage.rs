//! Stage: how is a file always either old or new, even if the power fails?
//!
//! In: an [`AnchoredPath`], and its new bytes, the file to move there, or nothing for a file to delete.
//! Out: [`Staged`]: the bytes, flushed to disk in the folder of the file, which can be moved to the place in one step
//! and be rolled back.
//! Never: changes the file itself except by a rename; leaves temporary files behind, unless the process is killed: the
//! next run then removes them.

use super::contents::Digest;
use super::nonce::{NEW, Nonce, OLD};
use super::root::AnchoredPath;
use cap_std::fs::{OpenOptions, Permissions};
use std::fmt;
use std::io::{self, ErrorKind, Write as _};

/// The source of the new content of a place.
#[derive(Debug)]
pub(super) enum Source<'s> {
    Bytes(&'s [u8]),
    /// Another file, unchanged: it gets a second name by a hard link.
    File(AnchoredPath),
}

/// The permissions of the new file.
#[derive(Debug, Clone)]
pub(super) enum Mode {
    /// Those of any new file.
    New,
    /// Those of any new program.
    Executable,
    /// Those of the file that is replaced.
    Same(Permissions),
}

/// The content that a place must have before it is changed.
#[derive(Debug, Clone, Copy)]
pub(super) enum Expected {
    Any,
    Nothing,
    File(Digest),
}

/// What [`Staged::commit`] has done so far.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Step {
    Waiting,
    /// The place had no file.
    Created,
    Replaced,
    Removed,
}

/// New bytes on disk, in the folder of the file that they will replace; or a file that will be deleted.
#[derive(Debug)]
pub(super) struct Staged {
    place: AnchoredPath,
    /// Whether the file will be deleted.
    goes: bool,
    /// The temporary name of the new bytes, until they are moved to the place.
    new: Option<String>,
    /// The second name of the file that was replaced or deleted.
    old: Option<String>,
    step: Step,
}

impl Staged {
    /// Writes the content to disk, in the folder of its place.
    ///
    /// # Errors
    ///
    /// [`ErrorKind::AlreadyExists`] if the place is staged already, maybe by another spelling; any error of the system.
    pub(super) fn new(place: AnchoredPath, source: Source<'_>, mode: Mode, nonce: Nonce) -> io::Result<Self> {
        let name = nonce.beside(&place.name, NEW);
        let bytes = match source {
            Source::Bytes(bytes) => bytes,
            Source::File(from) => {
                match from.dir.hard_link(&from.name, &place.dir, &name) {
                    Err(error) if error.kind() == ErrorKind::AlreadyExists => return Err(error),
                    // A file system without hard links gets a copy, which has the same mode.
                    Err(_) => drop(from.dir.copy(&from.name, &place.dir, &name)?),
                    Ok(()) => {}
                }
                return Ok(Self { place, goes: false, new: Some(name), old: None, step: Step::Waiting });
            }
        };
        let mut file = place.dir.open_with(&name, &options(&mode))?;
        // From here on, dropping `staged` removes the temporary file.
        let staged = Self { place, goes: false, new: Some(name), old: None, step: Step::Waiting };
        file.write_all(bytes)?;
        if let Mode::Same(permissions) = mode {
            file.set_permissions(permissions)?;
        }
        file.sync_all()?;
        Ok(staged)
    }

    /// Stages the deletion of a file.
    pub(super) fn removal(place: AnchoredPath) -> Self {
        Self { place, goes: true, new: None, old: None, step: Step::Waiting }
    }

    /// Moves the new bytes to their place, or deletes the file. The old file keeps a second name, from which it can be
    /// restored.
    ///
    /// # Errors
    ///
    /// [`changed`] if the place does not have the `expected` content, which then stays; any error of the system.
    pub(super) fn commit(&mut self, expected: Expected, nonce: Nonce) -> io::Result<()> {
        let old = nonce.beside(&self.place.name, OLD);
        if self.goes {
            return self.take_away(expected, old);
        }
        let AnchoredPath { dir, name } = &self.place;
        let Some(new) = self.new.clone() else { return Ok(()) };
        if let Expected::Nothing = expected {
            match dir.hard_link(&new, dir, name) {
                Err(error) if error.kind() == ErrorKind::AlreadyExists => return Err(changed()),
                // Without hard links, another program could create the file between this check and the rename. That is
                // accepted.
                Err(_) if dir.symlink_metadata(name).is_ok() => return Err(changed()),
                Err(_) => {
                    dir.rename(&new, dir, name)?;
                    self.new = None;
                }
                Ok(()) => {}
            }
            self.step = Step::Created;
            return Ok(());
        }
        // A file system without hard links gets a copy.
        let linked = dir.hard_link(name, dir, &old).or_else(|error| match error.kind() {
            ErrorKind::NotFound => Err(error),
            _ => dir.copy(name, dir, &old).map(drop),
        });
        let step = match linked {
            Ok(()) => Step::Replaced,
            Err(error) if error.kind() == ErrorKind::NotFound => Step::Created,
            Err(error) => return Err(error),
        };
        self.old = (step == Step::Replaced).then(|| old.clone());
        if let Expected::File(digest) = expected
            && (step == Step::Created || self.place.beside(old).digest()? != digest)
        {
            return Err(changed());
        }
        dir.rename(&new, dir, name)?;
        (self.new, self.step) = (None, step);
        Ok(())
    }

    fn take_away(&mut self, expected: Expected, old: String) -> io::Result<()> {
        let AnchoredPath { dir, name } = &self.place;
        match dir.rename(name, dir, &old) {
            Err(error) if error.kind() == ErrorKind::NotFound => return Err(changed()),
            other => other?,
        }
        (self.old, self.step) = (Some(old.clone()), Step::Removed);
        let found = self.place.beside(old).digest();
        match (found, expected) {
            (Ok(found), Expected::File(digest)) if found != digest => {
                self.put_back()?;
                Err(changed())
            }
            (found, _) => found.map(drop),
        }
    }

    /// Restores the old content of the place, if this run has changed it.
    pub(super) fn restore(mut self) -> io::Result<()> {
        self.put_back()
    }

    fn put_back(&mut self) -> io::Result<()> {
        let AnchoredPath { dir, name } = &self.place;
        let done = std::mem::replace(&mut self.step, Step::Waiting);
        match (done, &self.old) {
            (Step::Created, _) => return dir.remove_file(name),
            (Step::Replaced, Some(old)) => dir.rename(old, dir, name)?,
            // A file that another program has created in the meantime stays.
            (Step::Removed, Some(old)) => match dir.hard_link(old, dir, name) {
                Ok(()) => return Ok(()),
                Err(_) if dir.symlink_metadata(name).is_ok() => return Ok(()),
                Err(_) => dir.rename(old, dir, name)?,
            },
            _ => return Ok(()),
        }
        self.old = None;
        Ok(())
    }
}

impl Drop for Staged {
    fn drop(&mut self) {
        for name in [self.new.take(), self.old.take()].into_iter().flatten() {
            // No caller can report an error here. The file is hidden, and no other program uses it.
            _ = self.place.dir.remove_file(name);
        }
    }
}

fn options(mode: &Mode) -> OpenOptions {
    let mut options = OpenOptions::new();
    options.write(true).create_new(true);
    #[cfg(not(unix))]
    let _ = mode;
    #[cfg(unix)]
    if matches!(mode, Mode::Executable) {
        use cap_std::fs::OpenOptionsExt as _;
        // The `umask` of the user still removes permissions from this mode.
        options.mode(0o777);
    }
    options
}

/// The error for a place that does not have the expected content.
#[derive(Debug)]
struct Changed;

impl fmt::Display for Changed {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("it was changed by another program")
    }
}

impl std::error::Error for Changed {}

/// The error for a place that another program has changed.
pub(super) fn changed() -> io::Error {
    io::Error::other(Changed)
}

/// Whether the error is [`changed`].
pub(super) fn is_changed(error: &io::Error) -> bool {
    error.get_ref().is_some_and(|inner| inner.is::<Changed>())
}
