//! Locks: which folders does a run have to itself?
//!
//! In: a [`Root`], and the keys that an answer changes.
//! Out: [`Locks`], until they are dropped: of the root, and of the folder of each file. So two runs that write one file
//! wait for one another, even if their roots are different folders.
//! Never: waits for a folder in another order than every other run does.

use super::root::{Root, folders_of};
use cap_std::fs::Dir;
#[cfg(unix)]
use cap_std::fs::MetadataExt as _;
use rulebook::text::unsafe_because;
use std::collections::{BTreeMap, BTreeSet};
use std::fs::File;

/// The most folders that are locked. A file in any other is still compared before it is replaced.
const MOST: usize = 256;

/// Locked folders.
#[derive(Debug)]
pub(super) struct Locks {
    /// Whether no other run carries out an answer below the same root.
    pub(super) root: bool,
    _locks: Vec<File>,
}

impl Locks {
    /// No locks, for a run that writes nothing.
    pub(super) fn none() -> Self {
        Self { root: false, _locks: Vec::new() }
    }

    /// Waits until no other run has one of these folders. Other programs are not kept from writing there.
    pub(super) fn take<'k>(root: &Root, keys: impl Iterator<Item = &'k str>) -> Self {
        let own = root.dir().try_clone().ok();
        let own_mark = own.as_ref().and_then(mark);
        let mut folders: BTreeMap<(u64, u64), Dir> = BTreeMap::new();
        folders.extend(own_mark.zip(own));
        let parents: BTreeSet<&str> = keys.filter(|key| unsafe_because(key).is_none()).map(parent).collect();
        for folder in parents.into_iter().take(MOST) {
            if let Some(dir) = nearest(root, folder)
                && let Some(mark) = mark(&dir)
            {
                folders.entry(mark).or_insert(dir);
            }
        }
        // Every run takes the folders in the order of their numbers: no two wait for one another.
        let (mut locks, mut is_root) = (Vec::new(), false);
        for (mark, dir) in folders {
            // Where the system cannot lock a folder, a file is still compared before it is replaced.
            let Some(file) = dir.open(".").ok().map(cap_std::fs::File::into_std) else { continue };
            if file.lock().is_ok() {
                locks.push(file);
                is_root |= Some(mark) == own_mark;
            }
        }
        Self { root: is_root, _locks: locks }
    }
}

/// The folder of a key.
fn parent(key: &str) -> &str {
    key.rsplit_once('/').map_or(".", |(folder, _)| folder)
}

/// The innermost folder on the way that exists: whoever makes those below needs it, too.
fn nearest(root: &Root, folder: &str) -> Option<Dir> {
    let outer: Vec<&str> = folders_of(folder).collect();
    std::iter::once(folder).chain(outer.into_iter().rev()).find_map(|folder| root.dir().open_dir(folder).ok())
}

/// What identifies the folder.
#[cfg(unix)]
fn mark(dir: &Dir) -> Option<(u64, u64)> {
    dir.dir_metadata().ok().map(|metadata| (metadata.dev(), metadata.ino()))
}

/// Without numbers of folders, only the root is locked.
#[cfg(not(unix))]
fn mark(_: &Dir) -> Option<(u64, u64)> {
    Some((0, 0))
}
