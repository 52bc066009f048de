//! Staging: is each file either old or new, even if the power fails?
//!
//! In: a [`HeldPath`] and the bytes to put there.
//! Out: [`Staged`]: the bytes, safe on disk beside the place, ready to be moved there in one step, and to be taken
//! back.
//! Never: changes the file itself except by a rename; leaves temporary files behind, unless it is killed: then the next
//! run removes them.

use super::nonce::{NEW, Nonce, OLD};
use super::root::HeldPath;
use cap_std::fs::{OpenOptions, Permissions};
use std::io::{self, ErrorKind, Write as _};

/// New bytes on disk, beside the file that they are to replace.
#[derive(Debug)]
pub(super) struct Staged {
    place: HeldPath,
    /// The name of the file with the new bytes, until it is renamed.
    new: Option<String>,
    /// A second name of the file that was replaced.
    old: Option<String>,
}

impl Staged {
    /// Writes the bytes to disk beside their place.
    ///
    /// # Errors
    ///
    /// [`ErrorKind::AlreadyExists`] if the place was staged before, maybe under another name; any error of the system.
    pub(super) fn new(
        place: HeldPath,
        bytes: &[u8],
        permissions: Option<Permissions>,
        nonce: Nonce,
    ) -> io::Result<Self> {
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

    /// Whether the file in the place holds exactly these bytes.
    pub(super) fn would_replace(&self, bytes: &[u8]) -> bool {
        self.place.read(bytes.len() as u64).is_ok_and(|found| found == bytes)
    }

    /// Moves the new bytes to their place, and keeps what was there under a second name.
    pub(super) fn commit(&mut self, nonce: Nonce) -> io::Result<()> {
        let HeldPath { dir, name } = &self.place;
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

    /// Puts back what was in the place, if the new bytes have been moved there.
    pub(super) fn restore(mut self) -> io::Result<()> {
        let HeldPath { dir, name } = &self.place;
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
