//! Kept findings: which packs have to be looked at again?
//!
//! In: the files of packs, and what is done with those that changed.
//! Out: what came of each pack, done anew only where a file of it, or of a pack that it uses, says something else.
//! Never: trusts the time of a file: what it says is compared.

use super::Error;
use crate::workspace::PackFiles;
use std::collections::BTreeSet;
use std::path::PathBuf;

/// Packs, and what came of each the last time.
pub(super) struct KeptPacks<T> {
    files: Vec<PackFiles>,
    found: Vec<T>,
}

impl<T> KeptPacks<T> {
    pub(super) fn nothing() -> Self {
        Self { files: Vec::new(), found: Vec::new() }
    }

    /// What comes of each pack, in their order; `work` is done with those that are not what they were.
    pub(super) fn renew(
        &mut self,
        packs: Vec<PackFiles>,
        work: impl FnOnce(Vec<PackFiles>) -> Result<Vec<T>, Error>,
    ) -> Result<&[T], Error> {
        let mut known: Vec<(PackFiles, T)> = self.files.drain(..).zip(self.found.drain(..)).collect();
        let mut keep = |pack: &PackFiles| {
            let at = known.iter().position(|(files, _)| files == pack)?;
            Some(known.swap_remove(at).1)
        };
        let kept: Vec<Option<T>> = packs.iter().map(&mut keep).collect();
        let changed = packs.iter().zip(&kept).filter(|(_, kept)| kept.is_none()).map(|(pack, _)| pack.clone());
        let mut new = work(changed.collect())?.into_iter();
        self.found = kept.into_iter().filter_map(|kept| kept.or_else(|| new.next())).collect();
        self.files = packs;
        Ok(&self.found)
    }

    /// The folders of the packs, and those of the packs that they use.
    pub(super) fn folders(&self) -> impl Iterator<Item = PathBuf> {
        let typed: BTreeSet<&str> =
            self.files.iter().flat_map(|files| &files.paths).map(|(_, typed)| typed.as_str()).collect();
        typed.into_iter().map(PathBuf::from)
    }
}
