//! Locks: how do two runs avoid writing the same folder at the same time?
//!
//! In: a [`Root`], and the keys that an answer changes.
//! Out: [`Locks`] of the root and of the folder of each file, until they are dropped. So two runs that write one file
//! wait for one another, even if their roots are different folders.
//! Never: locks folders in an order that differs between runs, which could be a deadlock.

use super::root::{Root, folders_of};
use cap_std::fs::Dir;
#[cfg(unix)]
use cap_std::fs::MetadataExt as _;
use rulebook::outcome::unsafe_because;
use std::collections::{BTreeMap, BTreeSet};
use std::fs::File;

/// The most folders that are locked. A file in any other folder is still compared before it is replaced.
const MAX_FOLDERS: usize = 256;

/// Locked folders.
#[derive(Debug)]
pub(super) struct Locks {
    /// Whether the root itself is locked.
    pub(super) root: bool,
    _locks: Vec<File>,
}

impl Locks {
    /// No locks, for a run that writes nothing.
    pub(super) fn none() -> Self {
        Self { root: false, _locks: Vec::new() }
    }

    /// Waits until no other run has a lock of these folders. The locks do not stop programs that do not use them.
    pub(super) fn take<'k>(root: &Root, keys: impl Iterator<Item = &'k str>) -> Self {
        let own = root.dir().try_clone().ok();
        let own_mark = own.as_ref().and_then(mark);
        let mut folders: BTreeMap<(u64, u64), Dir> = BTreeMap::new();
        folders.extend(own_mark.zip(own));
        let parents: BTreeSet<&str> = keys.filter(|key| unsafe_because(key).is_none()).map(parent).collect();
        for folder in parents.into_iter().take(MAX_FOLDERS) {
            if let Some(dir) = nearest(root, folder)
                && let Some(mark) = mark(&dir)
            {
                folders.entry(mark).or_insert(dir);
            }
        }
        // Every run locks folders in the order of their numbers, so that no two runs wait for one another.
        let (mut locks, mut is_root) = (Vec::new(), false);
        for (mark, dir) in folders {
            // If the system cannot lock a folder, a file in it is still compared before it is replaced.
            let Some(file) = dir.open(".").ok().map(cap_std::fs::File::into_std) else { continue };
            if file.lock().is_ok() {
                locks.push(file);
                is_root |= Some(mark) == own_mark;
            }
        }
        Self { root: is_root, _locks: locks }
    }
}

/// The folder of the file with this key.
fn parent(key: &str) -> &str {
    key.rsplit_once('/').map_or(".", |(folder, _)| folder)
}

/// The innermost existing folder of a path. A run that creates the folders below it locks it as well.
fn nearest(root: &Root, folder: &str) -> Option<Dir> {
    let outer: Vec<&str> = folders_of(folder).collect();
    std::iter::once(folder).chain(outer.into_iter().rev()).find_map(|folder| root.dir().open_dir(folder).ok())
}

/// The numbers of the device and of the folder on it.
#[cfg(unix)]
fn mark(dir: &Dir) -> Option<(u64, u64)> {
    dir.dir_metadata().ok().map(|metadata| (metadata.dev(), metadata.ino()))
}

/// Without such numbers, all folders count as the root, and only the root is locked.
#[cfg(not(unix))]
fn mark(_: &Dir) -> Option<(u64, u64)> {
    Some((0, 0))
}
