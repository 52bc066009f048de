//! Shipped packs: which dialects does Rulebook come with?
//!
//! In: the packs of `rules/dialects/`, included in the build.
//! Out: their folders, by the name that `use` has after `std:`.
//! Never: looks into a folder of the disk, or treats a shipped pack differently from any other that is used.

use super::Folder;
use std::collections::BTreeMap;
use std::sync::LazyLock;

/// What comes before the name of a shipped pack in `use`.
const STD: &str = "std:";

macro_rules! packs {
    ($($name:literal: $($file:literal)*,)*) => {
        [$(($name, &[$(($file, include_str!(concat!("../../rules/dialects/", $name, "/", $file)))),*])),*]
    };
}

/// The files of a pack: the path of each, and its text.
type Files = &'static [(&'static str, &'static str)];

const PACKS: &[(&str, Files)] = &packs! {
    "hermes": "pack.toml",
};

static FOLDERS: LazyLock<BTreeMap<&str, Folder>> = LazyLock::new(|| {
    let folder =
        |(name, files): &(&'static str, Files)| (*name, Folder::new(format!("{STD}{name}"), files.iter().copied()));
    PACKS.iter().map(folder).collect()
});

/// The name of a shipped pack in `use`, without `std:`; none for a path.
#[doc(hidden)]
pub fn std_name(path: &str) -> Option<&str> {
    path.strip_prefix(STD)
}

/// The shipped pack of this name.
#[doc(hidden)]
pub fn shipped_pack(name: &str) -> Option<&'static Folder> {
    FOLDERS.get(name)
}

/// The names of all shipped packs, sorted.
#[doc(hidden)]
pub fn shipped_packs() -> impl Iterator<Item = &'static str> {
    FOLDERS.keys().copied()
}
