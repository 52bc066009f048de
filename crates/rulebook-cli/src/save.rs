//! Save: how are several files written, all of them or none?
//!
//! In: a folder and the files to write below it; or one output file, and the file of answers that it is made from.
//! Out: the files, each either old or new at any moment.
//! Never: writes only some of the files, or overwrites the answers.

use super::{Error, input};
use rulebook::outcome::{Effect, EffectRecord};
use rulebook_fs::{Applying, Root, apply, io_reason};
use same_file::Handle;
use std::fs::File;
use std::io;
use std::path::Path;

/// Writes the files, each a path below `folder` and a text.
pub(super) fn save(folder: &Path, files: Vec<(String, String)>) -> Result<(), Error> {
    let record = |(key, text)| EffectRecord::from(Effect::Write { key, text, new: false, executable: false });
    let effects: Vec<EffectRecord> = files.into_iter().map(record).collect();
    let applied = apply(&Root::open(folder)?, &effects, Applying::default());
    match applied.faults().next() {
        Some((_, fault)) => Err(Error::Failed(fault.message.to_string())),
        None => Ok(()),
    }
}

/// Opens a file for writing, unless it is the file of the `answers`, maybe by another path.
#[expect(clippy::disallowed_methods, reason = "the user names the file that is written")]
pub(super) fn create(path: &Path, answers: &Path) -> Result<File, Error> {
    if input::is_standard(path) {
        let reason = "standard output is for what the command says; name a file";
        return Err(Error::Failed(format!("cannot write `-`: {reason}")));
    }
    // Only for regular files: opening a pipe or a device a second time could block.
    let handle = |path: &Path| path.is_file().then(|| Handle::from_path(path).ok()).flatten();
    let read = if input::is_standard(answers) { Handle::stdin().ok() } else { handle(answers) };
    if read.is_some() && handle(path) == read {
        return Err(Error::Failed(format!("cannot write `{}`: it is the file of the answers", path.display())));
    }
    File::create(path).map_err(|error| cannot_write(path, &error))
}

pub(super) fn cannot_write(path: &Path, error: &io::Error) -> Error {
    Error::Failed(format!("cannot write `{}`: {}", path.display(), io_reason(error)))
}
