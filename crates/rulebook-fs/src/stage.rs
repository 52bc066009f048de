//! Staging: is each file either old or new, even if the power fails?
//!
//! In: a [`AnchoredPath`], and the bytes to put there, the file to move there, or nothing for a file that goes.
//! Out: [`Staged`]: the bytes, safe on disk beside the place, ready to be moved there in one step, and to be taken
//! back.
//! Never: changes the file itself except by a rename; leaves temporary files behind, unless it is killed: then the next
//! run removes them.

use super::contents::Digest;
use super::nonce::{NEW, Nonce, OLD};
use super::root::AnchoredPath;
use cap_std::fs::{OpenOptions, Permissions};
use std::fmt;
use std::io::{self, ErrorKind, Write as _};

/// Where the new content of a place comes from.
#[derive(Debug)]
pub(super) enum Source<'s> {
    Bytes(&'s [u8]),
    /// Another file, as it is: it gets a second name.
    File(AnchoredPath),
}

/// Who may do what with a file.
#[derive(Debug, Clone)]
pub(super) enum Mode {
    /// As for any new file.
    New,
    /// As for any new program.
    Executable,
    /// As for the file that was there.
    Same(Permissions),
}

/// What must be in the place, so that the new content may take it.
#[derive(Debug, Clone, Copy)]
pub(super) enum Expected {
    Any,
    Nothing,
    File(Digest),
}

/// How far it has come.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Step {
    Waiting,
    /// The place was free.
    Created,
    Replaced,
    Removed,
}

/// New bytes on disk, beside the file that they are to replace; or a file that is to go.
#[derive(Debug)]
pub(super) struct Staged {
    place: AnchoredPath,
    /// Whether the file is to go.
    goes: bool,
    /// The name of the file with the new bytes, as long as it has it.
    new: Option<String>,
    /// A second name of the file that was replaced.
    old: Option<String>,
    step: Step,
}

impl Staged {
    /// Writes the content to disk beside its place.
    ///
    /// # Errors
    ///
    /// [`ErrorKind::AlreadyExists`] if the place was staged before, maybe under another name; any error of the system.
    pub(super) fn new(place: AnchoredPath, source: Source<'_>, mode: Mode, nonce: Nonce) -> io::Result<Self> {
        let name = nonce.beside(&place.name, NEW);
        let bytes = match source {
            Source::Bytes(bytes) => bytes,
            Source::File(from) => {
                match from.dir.hard_link(&from.name, &place.dir, &name) {
                    Err(error) if error.kind() == ErrorKind::AlreadyExists => return Err(error),
                    // A disk without second names gets a copy, which has the same mode.
                    Err(_) => drop(from.dir.copy(&from.name, &place.dir, &name)?),
                    Ok(()) => {}
                }
                return Ok(Self { place, goes: false, new: Some(name), old: None, step: Step::Waiting });
            }
        };
        let mut file = place.dir.open_with(&name, &options(&mode))?;
        // From here on, dropping it takes the file away.
        let staged = Self { place, goes: false, new: Some(name), old: None, step: Step::Waiting };
        file.write_all(bytes)?;
        if let Mode::Same(permissions) = mode {
            file.set_permissions(permissions)?;
        }
        file.sync_all()?;
        Ok(staged)
    }

    /// A file that is to go.
    pub(super) fn removal(place: AnchoredPath) -> Self {
        Self { place, goes: true, new: None, old: None, step: Step::Waiting }
    }

    /// Moves the new bytes to their place, or takes the file away, and keeps what was there under a second name.
    ///
    /// # Errors
    ///
    /// [`changed`] if in the place is not what is `expected`: then it stays; any error of the system.
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
                // A disk without second names: no other writer is expected between these two steps.
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
        // A disk without second names gets a copy.
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

    /// Puts back what was in the place, if something has been done there.
    pub(super) fn restore(mut self) -> io::Result<()> {
        self.put_back()
    }

    fn put_back(&mut self) -> io::Result<()> {
        let AnchoredPath { dir, name } = &self.place;
        let done = std::mem::replace(&mut self.step, Step::Waiting);
        match (done, &self.old) {
            (Step::Created, _) => return dir.remove_file(name),
            (Step::Replaced, Some(old)) => dir.rename(old, dir, name)?,
            // What somebody else has put there meanwhile stays.
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
            // Nothing can report it any more; the file is ours and hidden.
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
        // What the user forbids for all new files stays forbidden.
        options.mode(0o777);
    }
    options
}

/// Why a place was not changed: in it is not what was expected.
#[derive(Debug)]
struct Changed;

impl fmt::Display for Changed {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("it was changed by somebody else")
    }
}

impl std::error::Error for Changed {}

/// The error for a place that somebody else has changed.
pub(super) fn changed() -> io::Error {
    io::Error::other(Changed)
}

/// Whether the error is [`changed`].
pub(super) fn is_changed(error: &io::Error) -> bool {
    error.get_ref().is_some_and(|inner| inner.is::<Changed>())
}
