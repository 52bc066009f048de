//! Journal: what had a killed run already done?
//!
//! In: the files that a run is about to change, with their digests before and after.
//! Out: a hidden file in the root, which exists while the run writes. After a kill it tells the next run which files
//! are already new and where the old versions are, so that the same answer can be carried out again, and where
//! temporary files may be left.
//! Never: changes a file of the user; trusts a path that is not safe.

use super::contents::{Digest, HashWriter, read_all};
use super::nonce::{DONE, JOURNAL, NEW, Nonce, OLD, journal};
use super::root::{AnchoredPath, Root};
use rulebook::outcome::EffectRecord;
use rulebook::outcome::unsafe_because;
use serde::{Deserialize, Serialize};
use std::io::{self, ErrorKind, Write as _};

/// The largest journal that is read, in bytes.
const MAX_BYTES: u64 = 64 << 20;

/// The changes that a run is about to make.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub(super) struct Journal {
    /// The hash of the effects that are carried out.
    pub(super) effects: u64,
    pub(super) files: Vec<Entry>,
    /// The folders that the run makes, outer ones first.
    pub(super) folders: Vec<String>,
    /// Whether everything is written, so that only temporary files have to be removed.
    #[serde(skip)]
    done: bool,
}

/// One file that a run is about to change.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub(super) struct Entry {
    pub(super) key: String,
    /// The run whose number is in the names of the temporary files.
    pub(super) run: u32,
    /// The file before the run; `None` if there is none.
    pub(super) before: Option<Digest>,
    /// The file after the run; `None` if the run deletes it.
    pub(super) after: Option<Digest>,
}

impl Journal {
    pub(super) fn new(effects: u64) -> Self {
        Self { effects, files: Vec::new(), folders: Vec::new(), done: false }
    }

    /// The journal of a run below this root that is still writing, or was killed.
    pub(super) fn read(root: &Root) -> Option<Self> {
        let open = |end| root.dir().open(journal(root.id(), end)).ok();
        let (file, done) = open(JOURNAL).map(|file| (file, false)).or_else(|| Some((open(DONE)?, true)))?;
        let bytes = read_all(file, MAX_BYTES).ok()?;
        // The journal is complete before a run changes anything, so a truncated one belongs to a run that changed
        // nothing.
        let mut own: Self = serde_json::from_slice(&bytes).unwrap_or_else(|_| Self::new(0));
        own.files.retain(|entry| unsafe_because(&entry.key).is_none());
        own.folders.retain(|folder| unsafe_because(folder).is_none());
        own.done = done;
        Some(own)
    }

    /// The journal, if it is for these effects and the run was killed before it had written everything.
    pub(super) fn for_effects(self, effects: u64) -> Option<Self> {
        Some(self).filter(|own| own.effects == effects && !own.done)
    }

    /// Removes the temporary files of a run that was killed after it had written everything. The caller has locked the
    /// root.
    pub(super) fn clean(root: &Root) {
        if let Some(own) = Self::read(root).filter(|own| own.done) {
            own.sweep(root);
            Self::remove(root);
        }
    }

    /// Writes the journal, and replaces any other. It is not flushed to disk, which would take as long as all files of
    /// a small answer: the journal is for the case that the process is killed. After a power failure it may be missing.
    pub(super) fn write(&self, root: &Root) -> io::Result<()> {
        let (dir, name, new) = (root.dir(), journal(root.id(), JOURNAL), journal(root.id(), NEW));
        let written = dir.create(&new).and_then(|mut file| {
            file.write_all(&serde_json::to_vec(self)?)?;
            dir.rename(&new, dir, &name)
        });
        if written.is_err() {
            _ = dir.remove_file(&new);
        }
        written
    }

    /// Records on disk that everything is written.
    pub(super) fn finish(root: &Root) {
        let dir = root.dir();
        _ = dir.rename(journal(root.id(), JOURNAL), dir, journal(root.id(), DONE));
    }

    /// Removes the journal from disk.
    pub(super) fn remove(root: &Root) {
        for end in [NEW, JOURNAL, DONE] {
            _ = root.dir().remove_file(journal(root.id(), end));
        }
    }

    /// The entry of the file with this key, if the run has already changed the file and nothing else has since.
    pub(super) fn changed(&self, key: &str, now: Option<Digest>) -> Option<&Entry> {
        let entry = self.files.iter().find(|entry| entry.key == key)?;
        (entry.after == now && entry.before != now).then_some(entry)
    }

    /// Removes the temporary files in the journal, and the folders of the run that are empty.
    pub(super) fn sweep(&self, root: &Root) {
        self.forget(root, |_| true);
        for folder in self.folders.iter().rev() {
            _ = root.dir().remove_dir(folder);
        }
    }

    /// Removes new versions that were not moved to their places, and the old versions of the files for which `anew` is
    /// true.
    pub(super) fn forget(&self, root: &Root, anew: impl Fn(&str) -> bool) {
        for entry in &self.files {
            let Ok(Some(place)) = root.place(&entry.key) else { continue };
            let nonce = Nonce::of(root.id(), entry.run);
            _ = place.dir.remove_file(nonce.beside(&place.name, NEW));
            if anew(&entry.key) {
                _ = place.dir.remove_file(nonce.beside(&place.name, OLD));
            }
        }
    }
}

/// The place of the old version of a file that a run has replaced.
pub(super) fn old(root: &Root, key: &str, run: u32) -> io::Result<AnchoredPath> {
    let place = root.place(key)?.ok_or(ErrorKind::NotFound)?;
    let name = Nonce::of(root.id(), run).beside(&place.name, OLD);
    Ok(place.beside(name))
}

/// The hash of the effects that change files.
pub(super) fn identity(effects: &[EffectRecord]) -> u64 {
    let mut hash = HashWriter::default();
    for record in effects.iter().filter(|record| record.effect.keys().next().is_some()) {
        // An effect that cannot be written as JSON does not change a file.
        _ = serde_json::to_writer(&mut hash, &record.effect);
    }
    hash.finish()
}
