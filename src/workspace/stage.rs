//! Staging: is each file old or new, whenever the power goes?
//!
//! In: a [`HeldPath`] and the bytes that shall stand there.
//! Out: [`Staged`]: the bytes, safe on disk beside the place, ready to take it in one step and to give it back.
//! Never: changes the file itself but by a rename; leaves anything of its own behind, unless it is killed: then the next
//! run does away with it.

use super::nonce::{NEW, Nonce, OLD};
use super::root::HeldPath;
use cap_std::fs::{OpenOptions, Permissions};
use std::io::{self, ErrorKind, Write as _};

/// New bytes beside the file that they shall replace.
#[derive(Debug)]
pub(super) struct Staged {
    place: HeldPath,
    /// The file with the new bytes, until they take the place.
    new: Option<String>,
    /// A second name of the file that was replaced.
    old: Option<String>,
}

impl Staged {
    /// Writes the bytes beside their place, down to the disk.
    ///
    /// # Errors
    ///
    /// [`ErrorKind::AlreadyExists`] where the place was staged before, maybe under another name; else the system's.
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

    /// Whether just these bytes stand in the place.
    pub(super) fn would_replace(&self, bytes: &[u8]) -> bool {
        self.place.read(bytes.len() as u64).is_ok_and(|found| found == bytes)
    }

    /// Lets the new bytes take the place; what stood there is kept under a second name.
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

    /// Gives the place back to what stood there, if the new bytes have it.
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
