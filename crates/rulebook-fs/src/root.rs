//! Root: which file below a folder does a key name?
//!
//! In: a folder that a user named, and the keys of effects.
//! Out: [`AnchoredPath`]: an open folder and a name in it; a diagnostic for a key of any other path.
//! Never: leaves the root, whatever links or races there are; writes into a file.

use super::contents::{Digest, read_all};
use super::cut::quoted;
use super::nonce::is_own;
use super::read::{ReadError, io_error};
use cap_std::ambient_authority;
#[cfg(unix)]
use cap_std::fs::MetadataExt as _;
use cap_std::fs::{Dir, Metadata};
use rulebook::outcome::unsafe_because;
use rulebook::{Code, Defect, Diagnostic, Severity};
use std::borrow::Cow;
use std::collections::BTreeMap;
use std::hash::{DefaultHasher, Hash as _, Hasher as _};
use std::io::{self, ErrorKind};
use std::path::Path;
use std::rc::Rc;
use std::sync::Arc;

/// A folder below which effects are carried out.
#[derive(Debug, Clone)]
pub struct Root {
    dir: Arc<Dir>,
    /// A hash that distinguishes it from other roots.
    mark: u64,
}

/// The open folder of a file, and the file's name in it. The folder stays the same one even if its path is replaced.
#[derive(Debug)]
pub(super) struct AnchoredPath {
    pub(super) dir: Rc<Dir>,
    pub(super) name: String,
}

/// The folders into which one run writes. They stay open, are created if they do not exist, and are removed again if
/// they stay empty.
#[derive(Debug)]
pub(super) struct Folders<'r> {
    root: &'r Root,
    open: BTreeMap<String, Rc<Dir>>,
    /// The folders that this run has created, outer ones first.
    made: Vec<String>,
}

impl Root {
    /// Opens the folder at `path`.
    ///
    /// # Errors
    ///
    /// A folder that cannot be opened.
    pub fn open(path: &Path) -> Result<Self, ReadError> {
        Self::at(path).map_err(|error| io_error(path, &error))
    }

    /// Opens the folder at `path`, with a second handle to write files into it.
    pub(crate) fn open_to_write(path: &Path) -> io::Result<(Self, Rc<Dir>)> {
        let root = Self::at(path)?;
        let dir = Rc::new(root.dir.try_clone()?);
        Ok((root, dir))
    }

    fn at(path: &Path) -> io::Result<Self> {
        let dir = Dir::open_ambient_dir(path, ambient_authority())?;
        #[expect(clippy::disallowed_methods, reason = "resolves links, only to identify the folder")]
        let real = path.canonicalize()?;
        let mut hasher = DefaultHasher::new();
        real.hash(&mut hasher);
        #[cfg(unix)]
        dir.dir_metadata().map(|metadata| metadata.ino()).unwrap_or_default().hash(&mut hasher);
        Ok(Self { dir: Arc::new(dir), mark: hasher.finish() })
    }

    pub(super) fn id(&self) -> u64 {
        self.mark
    }

    pub(super) fn dir(&self) -> &Dir {
        &self.dir
    }

    /// The file that `key` names, if it exists. Creates nothing.
    pub(super) fn look(&self, key: &str) -> Result<Option<(AnchoredPath, Metadata)>, Box<Diagnostic>> {
        if let Some(why) = refused_because(key) {
            return Err(Box::new(unsafe_path(key, why, "a key is a path below the root with `/` between its parts")));
        }
        // A link may lead to a place that no key may name, such as the folder of a repository.
        if let Some((why, real)) = self.real(key).and_then(|real| Some((refused_because(&real)?, real))) {
            let why = format!("a link leads to `{}`, and {why}", quoted(&real));
            return Err(Box::new(unsafe_path(key, &why, "remove the link, or name another file")));
        }
        let Some(place) = self.place(key).map_err(|error| fault(key, &error))? else { return Ok(None) };
        match place.dir.symlink_metadata(&place.name) {
            Ok(metadata) if metadata.is_file() => Ok(Some((place, metadata))),
            Ok(metadata) => {
                let what = if metadata.is_dir() {
                    "a folder"
                } else if metadata.is_symlink() {
                    "a link"
                } else {
                    "neither file nor folder"
                };
                let message = format!("`{}` is {what}", quoted(key));
                let help = "move it away, or name a file; links are not written through";
                Err(Box::new(Diagnostic::new(Code::WORKSPACE_NOT_A_FILE, None, message).with_help(help)))
            }
            Err(error) if error.kind() == ErrorKind::NotFound => Ok(None),
            Err(error) => Err(Box::new(fault(key, &error))),
        }
    }

    /// The key of the same file without links in its folders, in lower case: two keys for which it is equal may be one
    /// file.
    pub(super) fn identity(&self, key: &str) -> String {
        self.real(key).as_deref().unwrap_or(key).to_lowercase()
    }

    /// The key of the same file without links in its folders; `None` if no folder of it exists.
    fn real(&self, key: &str) -> Option<String> {
        let folders: Vec<&str> = folders_of(key).collect();
        folders.iter().rev().find_map(|folder| {
            let real = self.dir.canonicalize(folder).ok()?;
            let parts: Vec<Cow<'_, str>> = real.iter().map(|part| part.to_string_lossy()).collect();
            Some(parts.join("/") + key.strip_prefix(folder)?)
        })
    }

    /// The place of `key`; `None` if its folder does not exist.
    pub(super) fn place(&self, key: &str) -> io::Result<Option<AnchoredPath>> {
        let (folder, name) = split(key);
        match self.dir.open_dir(folder) {
            Ok(dir) => Ok(Some(AnchoredPath { dir: Rc::new(dir), name: name.to_owned() })),
            Err(error) if error.kind() == ErrorKind::NotFound => {
                for folder in folders_of(key) {
                    match self.dir.symlink_metadata(folder) {
                        Ok(metadata) if metadata.is_dir() => {}
                        // A broken link: no folder can be created in its place.
                        Ok(metadata) if metadata.is_symlink() => drop(self.dir.open_dir(folder).map_err(not_a_folder)?),
                        Ok(_) => return Err(ErrorKind::NotADirectory.into()),
                        Err(error) if error.kind() == ErrorKind::NotFound => return Ok(None),
                        Err(error) => return Err(error),
                    }
                }
                Ok(None)
            }
            Err(error) => Err(error),
        }
    }
}

impl<'r> Folders<'r> {
    pub(super) fn new(root: &'r Root) -> Self {
        Self { root, open: BTreeMap::new(), made: Vec::new() }
    }

    /// The place of `key`. Its folders are created if they do not exist.
    pub(super) fn place(&mut self, key: &str) -> io::Result<AnchoredPath> {
        let (folder, name) = split(key);
        let dir = match self.open.get(folder) {
            Some(dir) => Rc::clone(dir),
            None => {
                for folder in folders_of(key) {
                    match self.root.dir.create_dir(folder) {
                        Ok(()) => self.made.push(folder.to_owned()),
                        Err(error) if error.kind() == ErrorKind::AlreadyExists => {}
                        Err(error) => return Err(error),
                    }
                }
                let dir = Rc::new(self.root.dir.open_dir(folder).map_err(not_a_folder)?);
                self.open.insert(folder.to_owned(), Rc::clone(&dir));
                dir
            }
        };
        Ok(AnchoredPath { dir, name: name.to_owned() })
    }

    /// Flushes the folders to disk, if the system can.
    pub(super) fn sync(&self) {
        self.open.values().for_each(|dir| sync(dir));
    }
}

impl Drop for Folders<'_> {
    /// Removes the folders that this run has created, if they are empty.
    fn drop(&mut self) {
        for folder in self.made.iter().rev() {
            _ = self.root.dir.remove_dir(folder);
        }
    }
}

impl AnchoredPath {
    /// The bytes of the file, at most `most`.
    pub(super) fn read(&self, most: u64) -> io::Result<Vec<u8>> {
        read_all(self.dir.open(&self.name)?, most)
    }

    /// The digest of the file.
    pub(super) fn digest(&self) -> io::Result<Digest> {
        Digest::read(self.dir.open(&self.name)?)
    }

    /// The place with this name in the same folder.
    pub(super) fn beside(&self, name: String) -> AnchoredPath {
        AnchoredPath { dir: Rc::clone(&self.dir), name }
    }
}

/// Flushes a folder to disk, if the system can.
pub(super) fn sync(dir: &Dir) {
    _ = dir.open(".").and_then(|folder| folder.sync_all());
}

/// The folder of a key, and the name in it.
fn split(key: &str) -> (&str, &str) {
    key.rsplit_once('/').unwrap_or((".", key))
}

/// The folders that contain the file of a key, outer ones first.
pub(super) fn folders_of(key: &str) -> impl Iterator<Item = &str> {
    key.match_indices('/').filter_map(|(at, _)| key.get(..at))
}

/// Why no answer may change the file with this key.
fn refused_because(key: &str) -> Option<&'static str> {
    let own = || key.split('/').any(is_own).then_some("a part of it is a name that temporary files have");
    unsafe_because(key).or_else(own)
}

fn unsafe_path(key: &str, why: &str, help: &'static str) -> Diagnostic {
    let message = format!("`{}` is not a safe path: {why}", quoted(key));
    let mut fault = Diagnostic::new(Code::Defect(Defect::UnsafePath), None, message);
    // Whatever severity the pack gives this defect in answers, here it is an error: the file is not written.
    fault.severity = Severity::Error;
    fault.with_help(help)
}

fn not_a_folder(error: io::Error) -> io::Error {
    if error.kind() == ErrorKind::NotFound { ErrorKind::NotADirectory.into() } else { error }
}

/// The diagnostic for a `key` that the system does not let the run read or write.
pub(super) fn fault(key: &str, error: &io::Error) -> Diagnostic {
    let key = quoted(key);
    match error.kind() {
        // A refusal of `cap-std`, not of the system: such an error has no number of the system.
        ErrorKind::PermissionDenied if error.raw_os_error().is_none() => {
            Diagnostic::new(Code::WORKSPACE_OUTSIDE, None, format!("`{key}` is outside the root"))
                .with_help("a folder on its way is a link to elsewhere: remove it, or make the root larger")
        }
        ErrorKind::NotADirectory => {
            Diagnostic::new(Code::WORKSPACE_NOT_A_FOLDER, None, format!("a part of `{key}` is not a folder"))
                .with_help("move away what is there, or name another folder")
        }
        ErrorKind::IsADirectory => Diagnostic::new(Code::WORKSPACE_NOT_A_FILE, None, format!("`{key}` is a folder"))
            .with_help("move it away, or name a file"),
        kind => {
            let (why, help) = match kind {
                ErrorKind::PermissionDenied => ("permission denied".to_owned(), "make it writable for you"),
                ErrorKind::ReadOnlyFilesystem => {
                    ("the file system is read-only".to_owned(), "name a root that can be written")
                }
                ErrorKind::StorageFull | ErrorKind::QuotaExceeded => {
                    ("there is no room left".to_owned(), "make room, and apply the answer again")
                }
                ErrorKind::FileTooLarge => ("it is too large".to_owned(), "make it smaller"),
                _ => (quoted(&error.to_string()).into_owned(), "fix this, and apply the answer again"),
            };
            Diagnostic::new(Code::WORKSPACE_CANNOT_WRITE, None, format!("cannot write `{key}`: {why}")).with_help(help)
        }
    }
}
