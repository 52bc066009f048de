//! Files: which file does a name in a pack mean?
//!
//! In: the files of each pack that was read, and which packs it uses.
//! Out: the file that a name means at the place where it is written: names are looked up in the pack that wrote them,
//! then in those that it uses.
//! Never: opens a file, or decides what a file must hold.

use super::TEXTS;
use crate::text::SourceId;
use std::collections::{BTreeMap, HashMap};

/// The folder of a pack's grammars, and the ending of their names.
const GRAMMARS: (&str, &str) = ("grammar/", ".pest");

/// One of the packs that a surface was read from: the pack itself, or one that it uses.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct PackId(usize);

/// A file that tables and texts can name: its source, or the byte where it stops being UTF-8.
pub(crate) type NamedFile = Result<SourceId, usize>;

/// What a name means.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum NameMeaning {
    /// No pack in scope has such a file.
    Missing,
    One(NamedFile),
    /// The files of two packs, neither of which uses the other.
    Ambiguous([PackId; 2], NamedFile),
}

impl NameMeaning {
    /// The file; the first one if several are meant, which is reported elsewhere.
    pub(crate) fn file(self) -> Option<NamedFile> {
        match self {
            NameMeaning::Missing => None,
            NameMeaning::One(file) | NameMeaning::Ambiguous(_, file) => Some(file),
        }
    }

    /// The source of the file, if it can be read.
    pub(crate) fn source(self) -> Option<SourceId> {
        self.file()?.ok()
    }
}

/// The texts and grammars of all packs that were read.
#[derive(Debug, Clone, Default)]
pub(crate) struct PackFiles {
    packs: Vec<ReadPack>,
    /// The pack of each file.
    writers: HashMap<SourceId, PackId>,
}

#[derive(Debug, Clone, Default)]
struct ReadPack {
    /// Its name in messages.
    name: String,
    /// The packs that it uses, directly or not, each before those that it uses in turn.
    used: Vec<PackId>,
    /// By path below the pack.
    files: BTreeMap<String, NamedFile>,
}

impl PackFiles {
    /// Adds a pack without files.
    pub(super) fn add_pack(&mut self, name: &str) -> PackId {
        self.packs.push(ReadPack { name: name.to_owned(), ..ReadPack::default() });
        PackId(self.packs.len() - 1)
    }

    /// Gives a pack another name in messages.
    pub(super) fn rename(&mut self, pack: PackId, name: &str) {
        if let Some(pack) = self.packs.get_mut(pack.0) {
            name.clone_into(&mut pack.name);
        }
    }

    /// Notes that a pack uses another one, whose own `use` has been noted.
    pub(super) fn add_use(&mut self, pack: PackId, used: PackId) {
        let all: Vec<PackId> = std::iter::once(used).chain(self.used(used).iter().copied()).collect();
        if let Some(pack) = self.packs.get_mut(pack.0) {
            let new: Vec<PackId> = all.into_iter().filter(|one| !pack.used.contains(one)).collect();
            pack.used.extend(new);
        }
    }

    /// Notes that a pack wrote this source.
    pub(super) fn add_source(&mut self, pack: PackId, source: SourceId) {
        self.writers.insert(source, pack);
    }

    /// Adds a file that can be named.
    pub(super) fn add(&mut self, pack: PackId, path: &str, file: NamedFile) {
        if let Some(pack) = self.packs.get_mut(pack.0) {
            pack.files.insert(path.to_owned(), file);
        }
    }

    /// The text that a path means in the file `from`.
    pub(crate) fn text(&self, path: &str, from: SourceId) -> NameMeaning {
        if is_text(path) { self.find(path, from) } else { NameMeaning::Missing }
    }

    /// The grammar that a name means in the file `from`. Shipped grammars are not files of a pack.
    pub(crate) fn grammar(&self, name: &str, from: SourceId) -> NameMeaning {
        self.find(&grammar_path(name), from)
    }

    /// A file hides those of the same path in the packs that its own pack uses.
    fn find(&self, path: &str, from: SourceId) -> NameMeaning {
        let having: Vec<(PackId, NamedFile)> =
            self.scope(from).filter_map(|pack| Some((pack, *self.files(pack)?.get(path)?))).collect();
        let is_hidden = |pack: &PackId| having.iter().any(|(other, _)| self.used(*other).contains(pack));
        let mut meant = having.iter().filter(|(pack, _)| !is_hidden(pack));
        match (meant.next(), meant.next()) {
            (None, _) => NameMeaning::Missing,
            (Some((_, file)), None) => NameMeaning::One(*file),
            (Some((first, file)), Some((second, _))) => NameMeaning::Ambiguous([*first, *second], *file),
        }
    }

    /// The pack that wrote a file, and those that it uses.
    fn scope(&self, from: SourceId) -> impl Iterator<Item = PackId> {
        let own = self.writer(from);
        own.into_iter().chain(own.into_iter().flat_map(|own| self.used(own).iter().copied()))
    }

    /// The paths of all texts that can be named in the file `from`.
    pub(crate) fn texts(&self, from: SourceId) -> impl Iterator<Item = &str> + Clone {
        let scope: Vec<PackId> = self.scope(from).collect();
        let files = scope.into_iter().filter_map(|pack| self.files(pack));
        files.flat_map(BTreeMap::keys).map(String::as_str).filter(|path| is_text(path))
    }

    /// The names of all grammars of packs that can be named in the file `from`.
    pub(crate) fn grammars(&self, from: SourceId) -> impl Iterator<Item = &str> {
        let files = self.scope(from).filter_map(|pack| self.files(pack));
        files.flat_map(BTreeMap::keys).filter_map(|path| grammar_name(path))
    }

    /// The grammars of all packs that can be read.
    pub(crate) fn all_grammars(&self) -> impl Iterator<Item = SourceId> {
        let files = self.packs.iter().flat_map(|pack| &pack.files);
        files.filter(|(path, _)| grammar_name(path).is_some()).filter_map(|(_, file)| file.ok())
    }

    /// A pack with a file of this path that the pack of `from` does not use; and whether it uses that pack instead.
    pub(crate) fn out_of_scope(&self, path: &str, from: SourceId) -> Option<(PackId, bool)> {
        let writer = self.writer(from)?;
        let scope: Vec<PackId> = self.scope(from).collect();
        let mut others = (0..self.packs.len()).map(PackId).filter(|pack| !scope.contains(pack));
        let having = others.find(|pack| self.files(*pack).is_some_and(|files| files.contains_key(path)))?;
        Some((having, self.used(having).contains(&writer)))
    }

    /// The name of the nearest used pack with a file that one at the same path hides; `from` is written by the pack of
    /// the hiding one.
    pub(crate) fn hidden(&self, path: &str, from: SourceId) -> Option<&str> {
        let mut used = self.scope(from).skip(1);
        used.find(|pack| self.files(*pack).is_some_and(|files| files.contains_key(path))).map(|pack| self.name(pack))
    }

    /// The pack that wrote a file; none for a file of no pack, such as a shipped grammar.
    pub(crate) fn writer(&self, source: SourceId) -> Option<PackId> {
        self.writers.get(&source).copied()
    }

    /// Whether the pack itself wrote a file, and none that it uses.
    pub(crate) fn is_own(&self, source: SourceId) -> bool {
        self.writer(source) == Some(PackId(0))
    }

    /// The path of a text or grammar below its pack.
    pub(crate) fn path(&self, source: SourceId) -> Option<&str> {
        let files = self.files(self.writer(source)?)?;
        files.iter().find(|(_, file)| **file == Ok(source)).map(|(path, _)| path.as_str())
    }

    /// What messages call a pack.
    pub(crate) fn name(&self, pack: PackId) -> &str {
        self.packs.get(pack.0).map_or("", |pack| &pack.name)
    }

    fn used(&self, pack: PackId) -> &[PackId] {
        self.packs.get(pack.0).map_or(&[], |pack| &pack.used)
    }

    fn files(&self, pack: PackId) -> Option<&BTreeMap<String, NamedFile>> {
        self.packs.get(pack.0).map(|pack| &pack.files)
    }
}

/// Whether the file at this path below a pack is a text that prompts and messages may name.
pub(crate) fn is_text(path: &str) -> bool {
    TEXTS.iter().any(|end| path.ends_with(end)) && !super::is_test(path)
}

/// Whether a path is absolute on any system.
pub(super) fn is_absolute(path: &str) -> bool {
    path.starts_with(['/', '\\', '~']) || path.chars().nth(1) == Some(':')
}

/// The name of the grammar at this path below a pack; none if there is no grammar.
pub(crate) fn grammar_name(path: &str) -> Option<&str> {
    path.strip_prefix(GRAMMARS.0)?.strip_suffix(GRAMMARS.1)
}

/// The path below a pack of the grammar with this name.
pub(crate) fn grammar_path(name: &str) -> String {
    [GRAMMARS.0, name, GRAMMARS.1].concat()
}
