//! Saving: are these files written, all of them or none?
//!
//! In: a folder and the files to write below it; or one file, and the file of answers that it is about.
//! Out: the files, each old or new at any moment.
//! Never: leaves one written if another could not be, or overwrites the answers.

use super::{Error, input};
use rulebook::outcome::{Effect, EffectRecord};
use rulebook_fs::{Applying, Root, apply, io_reason};
use same_file::Handle;
use std::fs::File;
use std::io;
use std::path::Path;

/// Writes the files, each given by a path below `folder` and its text.
pub(super) fn save(folder: &Path, files: Vec<(String, String)>) -> Result<(), Error> {
    let record = |(key, text)| EffectRecord::from(Effect::Write { key, text, new: false, executable: false });
    let effects: Vec<EffectRecord> = files.into_iter().map(record).collect();
    let applied = apply(&Root::open(folder)?, &effects, Applying::default());
    match applied.faults().next() {
        Some((_, fault)) => Err(Error::Usage(fault.message.to_string())),
        None => Ok(()),
    }
}

/// Opens a file for writing, unless it is that of the `answers`, by whatever name.
#[expect(clippy::disallowed_methods, reason = "a command that writes what it is told to")]
pub(super) fn create(path: &Path, answers: &Path) -> Result<File, Error> {
    if input::is_standard(path) {
        let reason = "standard output is for what the command says; name a file";
        return Err(Error::Usage(format!("cannot write `-`: {reason}")));
    }
    // A pipe or a device is not opened twice.
    let handle = |path: &Path| path.is_file().then(|| Handle::from_path(path).ok()).flatten();
    let read = if input::is_standard(answers) { Handle::stdin().ok() } else { handle(answers) };
    if read.is_some() && handle(path) == read {
        return Err(Error::Usage(format!("cannot write `{}`: it holds the answers", path.display())));
    }
    File::create(path).map_err(|error| cannot_write(path, &error))
}

pub(super) fn cannot_write(path: &Path, error: &io::Error) -> Error {
    Error::Usage(format!("cannot write `{}`: {}", path.display(), io_reason(error)))
}
