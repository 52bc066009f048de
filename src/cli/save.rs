//! Saving: do these files stand, all of them or none?
//!
//! In: a folder, and the files to write below it.
//! Out: the files, each old or new at any moment.
//! Never: leaves one written where another could not be.

use super::Error;
use crate::outcome::{Effect, EffectRecord};
use crate::workspace::{Applying, Root, apply};
use std::path::Path;

/// Writes the files, each a path below `folder` with its text.
pub(super) fn save(folder: &Path, files: Vec<(String, String)>) -> Result<(), Error> {
    let record = |(key, text)| EffectRecord { effect: Effect::Write { key, text }, cause: "the user".into() };
    let effects: Vec<EffectRecord> = files.into_iter().map(record).collect();
    let applied = apply(&Root::open(folder)?, &effects, Applying::default());
    match applied.faults().next() {
        Some((_, fault)) => Err(Error::Usage(fault.message.clone())),
        None => Ok(()),
    }
}
