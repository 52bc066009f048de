//! Cache: which packs have to be checked again?
//!
//! In: the files of packs, and the work for each.
//! Out: the result for each pack, computed again only if a file of it, or of a pack in its `use`, has changed.
//! Never: relies on the modification time of a file: contents are compared.

use super::Error;
use rulebook_fs::PackFiles;
use std::collections::BTreeSet;
use std::path::PathBuf;

/// Packs, and the last result for each.
pub(super) struct PackCache<T> {
    files: Vec<PackFiles>,
    found: Vec<T>,
}

impl<T> PackCache<T> {
    pub(super) fn nothing() -> Self {
        Self { files: Vec::new(), found: Vec::new() }
    }

    /// The results for the packs, in order; `work` computes those of packs that have changed.
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
        let unchanged: Vec<Option<T>> = packs.iter().map(&mut keep).collect();
        let changed =
            packs.iter().zip(&unchanged).filter(|(_, unchanged)| unchanged.is_none()).map(|(pack, _)| pack.clone());
        let mut new = work(changed.collect())?.into_iter();
        self.found = unchanged.into_iter().filter_map(|unchanged| unchanged.or_else(|| new.next())).collect();
        self.files = packs;
        Ok(&self.found)
    }

    /// The folders of the packs, and of the packs in their `use`.
    pub(super) fn folders(&self) -> impl Iterator<Item = PathBuf> {
        let typed: BTreeSet<&str> =
            self.files.iter().flat_map(|files| &files.paths).map(|(_, typed)| typed.as_str()).collect();
        typed.into_iter().map(PathBuf::from)
    }
}
