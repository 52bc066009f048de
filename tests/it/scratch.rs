//! Scratch folders: in which folder may a test write?
//!
//! Each process has a folder of its own below `CARGO_TARGET_TMPDIR`, so that the suite may run several times at once.

use std::fs::File;
use std::path::{Path, PathBuf};
use std::sync::LazyLock;

/// The folder of this process: the first that no other process has locked. The lock ends with the process.
static PLACE: LazyLock<(PathBuf, File)> = LazyLock::new(|| {
    let shared = Path::new(env!("CARGO_TARGET_TMPDIR"));
    let mut places = (0..).map(|number| shared.join(format!("process-{number}")));
    let found = places.find_map(|place| {
        std::fs::create_dir_all(&place).unwrap();
        let lock = File::create(place.join(".lock")).unwrap();
        lock.try_lock().is_ok().then_some((place, lock))
    });
    found.unwrap()
});

/// The folder of this name, with whatever it contains.
pub(crate) fn path(name: &str) -> PathBuf {
    PLACE.0.join(name)
}

/// The folder of this name, emptied.
pub(crate) fn folder(name: &str) -> PathBuf {
    let folder = path(name);
    _ = std::fs::remove_dir_all(&folder);
    std::fs::create_dir_all(&folder).unwrap();
    folder
}
