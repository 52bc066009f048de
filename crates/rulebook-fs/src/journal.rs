//! The journal: what had a run that was killed already done?
//!
//! In: the files that a run is about to change, as they are and as they will be.
//! Out: a hidden file in the root, as long as the run writes. After a kill it says which files are new already and where
//! the old ones are, so that the same answer can be carried out again, and where temporary files may be left.
//! Never: changes a file of the user; believes a path in it that is not safe.

use super::contents::{Digest, HashWriter, read_all};
use super::nonce::{DONE, JOURNAL, NEW, Nonce, OLD, journal};
use super::root::{AnchoredPath, Root};
use rulebook::outcome::EffectRecord;
use rulebook::text::unsafe_because;
use serde::{Deserialize, Serialize};
use std::io::{self, ErrorKind, Write as _};

/// The most bytes of a journal that are read.
const MOST: u64 = 64 << 20;

/// What a run is about to do.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub(super) struct Journal {
    /// Identifies the effects that are carried out.
    pub(super) effects: u64,
    pub(super) files: Vec<Entry>,
    /// The folders that are made, outer ones first.
    pub(super) folders: Vec<String>,
    /// Whether everything is written, and only temporary files are left.
    #[serde(skip)]
    done: bool,
}

/// One file that a run is about to change.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub(super) struct Entry {
    pub(super) key: String,
    /// The run whose temporary files are meant.
    pub(super) run: u32,
    /// The file as it is; none if there is none.
    pub(super) before: Option<Digest>,
    /// The file as it will be.
    pub(super) after: Option<Digest>,
}

impl Journal {
    pub(super) fn new(effects: u64) -> Self {
        Self { effects, files: Vec::new(), folders: Vec::new(), done: false }
    }

    /// The journal of a run below this root that is still at work, or was killed.
    pub(super) fn read(root: &Root) -> Option<Self> {
        let open = |end| root.dir().open(journal(root.mark(), end)).ok();
        let (file, done) = open(JOURNAL).map(|file| (file, false)).or_else(|| Some((open(DONE)?, true)))?;
        let bytes = read_all(file, MOST).ok()?;
        // One that is cut off was written before anything else, so that nothing had been done.
        let mut own: Self = serde_json::from_slice(&bytes).unwrap_or_else(|_| Self::new(0));
        own.files.retain(|entry| unsafe_because(&entry.key).is_none());
        own.folders.retain(|folder| unsafe_because(folder).is_none());
        own.done = done;
        Some(own)
    }

    /// The journal, if the run was killed before it had written everything that the same effects ask for.
    pub(super) fn for_effects(self, effects: u64) -> Option<Self> {
        Some(self).filter(|own| own.effects == effects && !own.done)
    }

    /// Removes what a run has left that had written everything before it was killed. The caller has locked the root.
    pub(super) fn clean(root: &Root) {
        if let Some(own) = Self::read(root).filter(|own| own.done) {
            own.sweep(root);
            Self::remove(root);
        }
    }

    /// Writes it to disk, in place of any other. It is not flushed, which would take as long as all files of a small answer:
    /// it serves a process that is killed, and after a power failure there may be none.
    pub(super) fn write(&self, root: &Root) -> io::Result<()> {
        let (dir, name, new) = (root.dir(), journal(root.mark(), JOURNAL), journal(root.mark(), NEW));
        let written = dir.create(&new).and_then(|mut file| {
            file.write_all(&serde_json::to_vec(self)?)?;
            dir.rename(&new, dir, &name)
        });
        if written.is_err() {
            _ = dir.remove_file(&new);
        }
        written
    }

    /// Says on disk that everything is written.
    pub(super) fn finish(root: &Root) {
        let dir = root.dir();
        _ = dir.rename(journal(root.mark(), JOURNAL), dir, journal(root.mark(), DONE));
    }

    /// Removes it from disk.
    pub(super) fn remove(root: &Root) {
        for end in [NEW, JOURNAL, DONE] {
            _ = root.dir().remove_file(journal(root.mark(), end));
        }
    }

    /// The entry of the file with this key, if the run has already changed the file and nothing else has since.
    pub(super) fn changed(&self, key: &str, now: Option<Digest>) -> Option<&Entry> {
        let entry = self.files.iter().find(|entry| entry.key == key)?;
        (entry.after == now && entry.before != now).then_some(entry)
    }

    /// Removes the temporary files that it speaks of, and the folders that were made and are empty.
    pub(super) fn sweep(&self, root: &Root) {
        self.forget(root, |_| true);
        for folder in self.folders.iter().rev() {
            _ = root.dir().remove_dir(folder);
        }
    }

    /// Removes what it has prepared and not put in its place, and the old versions of the files that are changed `anew`.
    pub(super) fn forget(&self, root: &Root, anew: impl Fn(&str) -> bool) {
        for entry in &self.files {
            let Ok(Some(place)) = root.place(&entry.key) else { continue };
            let nonce = Nonce::of(root.mark(), entry.run);
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
    let name = Nonce::of(root.mark(), run).beside(&place.name, OLD);
    Ok(place.beside(name))
}

/// Identifies the effects that change files.
pub(super) fn identity(effects: &[EffectRecord]) -> u64 {
    let mut hash = HashWriter::default();
    for record in effects.iter().filter(|record| record.effect.keys().next().is_some()) {
        // What cannot be written as JSON is no effect that changes a file.
        _ = serde_json::to_writer(&mut hash, &record.effect);
    }
    hash.finish()
}
