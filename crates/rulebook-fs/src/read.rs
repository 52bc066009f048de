//! Read: which files make up a pack?
//!
//! In: the path of a folder.
//! Out: the tables, grammars and texts as a [`Folder`], with a diagnostic for each file that was left out; and the case
//! files.
//! Never: follows a link out of the folder, reads a file beyond [`MAX_FILE`], or writes.
#![expect(clippy::disallowed_methods, reason = "this module reads the files of packs")]

use rulebook::{Code, Diagnostic, Folder};
use std::ffi::OsStr;
use std::fmt;
use std::fs::File;
use std::io::{self, Read};
use std::path::{Component, Path, PathBuf};
use toml::de::{DeTable, DeValue};
use walkdir::{DirEntry, WalkDir};

/// The largest file of a pack, in bytes.
pub const MAX_FILE: u64 = 4 << 20;

/// The depth to which folders are searched.
const MAX_DEPTH: usize = 16;

/// The most folders that are read for a pack. A folder is read once for each chain of `use` that leads to it: if each
/// pack uses the same two packs of the next level, the number doubles with each level.
const MAX_USES: usize = 1_000;

/// The files of a pack, in memory.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct PackFiles {
    /// Its tables, grammars and texts, and the folders of the packs in its `use`.
    pub folder: Folder,
    /// Its cases, ordered by path.
    pub cases: Vec<CaseFile>,
    /// For each folder its name in messages, and its path as the user typed it.
    pub paths: Vec<(String, String)>,
}

/// One case file.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct CaseFile {
    /// Its name in messages.
    pub name: String,
    /// Its path.
    pub path: PathBuf,
    /// Its bytes.
    pub bytes: Vec<u8>,
}

/// A file or folder that cannot be read. Prints as one line; commands exit with 2.
#[derive(Debug)]
pub struct ReadError {
    path: PathBuf,
    reason: String,
}

impl ReadError {
    fn new(path: &Path, reason: impl fmt::Display) -> Self {
        Self { path: path.to_owned(), reason: reason.to_string() }
    }
}

impl fmt::Display for ReadError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.path.to_str() {
            Some("-") => write!(f, "cannot read standard input: {}", self.reason),
            _ => write!(f, "cannot read `{}`: {}", self.path.display(), self.reason),
        }
    }
}

impl std::error::Error for ReadError {}

/// Reads the pack in the folder `path`, or in the folder of the `pack.toml` that `path` names.
///
/// # Errors
///
/// A folder or file that cannot be read. A file that is left out because of its size or place is not an error but a
/// fault of the folder, so that the remaining files are not compiled to a program without it.
pub fn read_pack(path: &Path) -> Result<PackFiles, ReadError> {
    if let Some(folder) = path.to_str().and_then(Folder::shipped) {
        let paths = vec![(folder.name.clone(), folder.name.clone())];
        return Ok(PackFiles { folder: folder.clone(), cases: Vec::new(), paths: paths.into_iter().collect() });
    }
    let path = folder_of(path);
    let mut reading = PackReader::default();
    let folder = reading.folder(&path, true)?;
    let PackReader { cases, names, .. } = reading;
    let paths = names.into_iter().map(|(_, name, typed)| (name, displayed(&typed))).collect();
    Ok(PackFiles { folder, cases, paths })
}

/// The folders of all packs at or below `path`, in order. The folders inside a pack are not searched.
///
/// # Errors
///
/// A folder that cannot be read.
pub fn packs_below(path: &Path) -> Result<Vec<PathBuf>, ReadError> {
    let (packs, unread) = search_packs(path);
    unread.into_iter().next().map_or(Ok(packs), Err)
}

/// Like [`packs_below`], but returns the packs that were found even if some folders cannot be read, and an error for
/// each of those.
pub fn search_packs(path: &Path) -> (Vec<PathBuf>, Vec<ReadError>) {
    if path.to_str().and_then(Folder::shipped).is_some() {
        return (vec![path.to_owned()], Vec::new());
    }
    let path = folder_of(path);
    let (mut packs, mut unread) = (Vec::new(), Vec::new());
    let mut walk = walk(&path);
    while let Some(entry) = walk.next() {
        let entry = match entry {
            Ok(entry) => entry,
            Err(error) => {
                unread.push(walk_error(&path, &error));
                continue;
            }
        };
        if entry.file_type().is_dir() && is_pack(entry.path()) {
            packs.push(entry.path().to_owned());
            walk.skip_current_dir();
        } else if is_apart(&entry) {
            walk.skip_current_dir();
        }
    }
    (packs, unread)
}

/// The case files at or below `path`, in order.
///
/// # Errors
///
/// A folder or file that cannot be read.
pub fn cases_below(path: &Path) -> Result<Vec<CaseFile>, ReadError> {
    let mut cases = Vec::new();
    for entry in walk(path) {
        let entry = entry.map_err(|error| walk_error(path, &error))?;
        if entry.file_type().is_file() && entry.path().extension() == Some(OsStr::new("case")) {
            let (name, bytes) = (displayed(entry.path()), read_file(entry.path(), MAX_FILE)?);
            cases.push(CaseFile { name, path: entry.into_path(), bytes });
        }
    }
    Ok(cases)
}

/// The bytes of the file at `path`, at most `most`.
///
/// # Errors
///
/// A file that is absent, unreadable or too long.
pub fn read_file(path: &Path, most: u64) -> Result<Vec<u8>, ReadError> {
    let file = File::open(path).map_err(|error| io_error(path, &error))?;
    read_from(path, file, most)
}

/// The bytes of a reader, at most `most`; errors name `path`.
pub fn read_from(path: &Path, from: impl Read, most: u64) -> Result<Vec<u8>, ReadError> {
    let mut bytes = Vec::new();
    let length = from.take(most.saturating_add(1)).read_to_end(&mut bytes).map_err(|error| io_error(path, &error))?;
    if length as u64 > most {
        return Err(ReadError::new(path, format_args!("it is larger than {most} bytes")));
    }
    Ok(bytes)
}

/// The text of the file at `path`, of at most `most` bytes. A byte order mark is removed.
///
/// # Errors
///
/// Those of [`read_file`], and bytes that are not UTF-8.
pub fn read_text(path: &Path, most: u64) -> Result<String, ReadError> {
    text_of(path, read_file(path, most)?)
}

/// The text of these bytes, without a byte order mark; errors name `path`.
pub fn text_of(path: &Path, mut bytes: Vec<u8>) -> Result<String, ReadError> {
    if bytes.starts_with(b"\xef\xbb\xbf") {
        bytes.drain(..3);
    }
    String::from_utf8(bytes).map_err(|error| {
        let offset = error.utf8_error().valid_up_to();
        let before = String::from_utf8_lossy(error.as_bytes().get(..offset).unwrap_or_default()).into_owned();
        let (line, column) =
            (before.matches('\n').count() + 1, before.chars().rev().take_while(|c| *c != '\n').count() + 1);
        let byte = error.as_bytes().get(offset).copied().unwrap_or_default();
        let reason = format!("byte {offset}, at {line}:{column}, is {byte:#04x}, which is not UTF-8; save it as UTF-8");
        ReadError::new(path, reason)
    })
}

/// A pack that is being read, with the folders in its `use`.
#[derive(Default)]
struct PackReader {
    cases: Vec<CaseFile>,
    /// Every folder so far: its canonical path, its name in messages, and its path as typed.
    names: Vec<(PathBuf, String, PathBuf)>,
    /// The folders being read, from the pack down to the current one.
    above: Vec<PathBuf>,
    /// How many folders have been read.
    count: usize,
}

impl PackReader {
    fn folder(&mut self, path: &Path, with_cases: bool) -> Result<Folder, ReadError> {
        let root = path.canonicalize().map_err(|error| io_error(path, &error))?;
        let name = self.name(&root, path);
        let mut folder = Folder { name, ..Folder::default() };
        if self.above.contains(&root) {
            // The pack uses itself. The surface finds and reports that by the name alone.
            return Ok(folder);
        }
        if !root.is_dir() {
            return Err(ReadError::new(path, "it is not a folder"));
        }
        self.count += 1;
        if self.count > MAX_USES {
            return Err(ReadError::new(path, format_args!("its `use` leads to more than {MAX_USES} folders")));
        }
        let mut folders = Vec::new();
        let mut walk = walk(path);
        while let Some(entry) = walk.next() {
            let entry = entry.map_err(|error| walk_error(path, &error))?;
            if entry.depth() > 0 && (is_apart(&entry) || (entry.file_type().is_dir() && is_pack(entry.path()))) {
                walk.skip_current_dir();
            } else if let Some(why) = unread(&entry) {
                let below = entry.path().strip_prefix(path).map(slashed).unwrap_or_default();
                let message = format!("`{}/{below}` {why}, so nothing in it is read", folder.name);
                let help = "move it into the pack, or name it in `use` if it is one";
                folder.faults.push(Diagnostic::new(Code::PACK_UNREADABLE, None, message).with_help(help));
            } else if !entry.file_type().is_dir() {
                self.file(&mut folder, path, &root, &entry, with_cases)?;
            } else if with_cases && entry.depth() > 0 {
                folders.push(entry);
            }
        }
        for entry in folders {
            if !self.cases.iter().any(|case| case.path.starts_with(entry.path())) {
                let below = entry.path().strip_prefix(path).map(slashed).unwrap_or_default();
                folder.unread.push(below + "/");
            }
        }
        self.above.push(root);
        for used in folder.files.get("pack.toml").map(|bytes| used_paths(bytes)).unwrap_or_default() {
            let target = path.join(&used);
            // A shipped pack has no folder. An absolute path would work on one machine only.
            if Folder::shipped(&used).is_none() && Path::new(&used).is_relative() && is_pack(&target) {
                let other = self.folder(&target, false)?;
                folder.others.insert(used, other);
            }
        }
        self.above.pop();
        Ok(folder)
    }

    /// Reads one file, or records why it is left out.
    fn file(
        &mut self,
        folder: &mut Folder,
        path: &Path,
        root: &Path,
        entry: &DirEntry,
        with_cases: bool,
    ) -> Result<(), ReadError> {
        let Ok(relative) = entry.path().strip_prefix(path) else { return Ok(()) };
        let below = slashed(relative);
        let is_case = is_test(&below) && below.ends_with(".case");
        let is_text =
            [".toml", ".md", ".txt", ".xml", ".json"].iter().any(|end| below.ends_with(end)) && !is_test(&below);
        let is_grammar = below.starts_with("grammar/") && below.ends_with(".pest");
        if !(is_text || is_grammar || (is_case && with_cases)) {
            if !is_test(&below) || is_named_like_case(&below) || is_written_like_case(entry) {
                folder.unread.push(below);
            }
            return Ok(());
        }
        let name = folder.called(&below);
        if entry.path_is_symlink() {
            let target = entry.path().canonicalize().map_err(|error| io_error(entry.path(), &error))?;
            if !target.starts_with(root) {
                let message = format!("`{name}` is a link out of the pack");
                folder.faults.push(
                    Diagnostic::new(Code::PACK_OUTSIDE, None, message)
                        .with_help("copy the file, or name its folder in `use`"),
                );
                return Ok(());
            }
        }
        let metadata = entry.path().metadata().map_err(|error| io_error(entry.path(), &error))?;
        let length = metadata.len();
        let fault = if !metadata.is_file() {
            // Opening a named pipe could block for ever.
            Some(format!("`{name}` is not a file"))
        } else if relative.to_str().is_none() {
            Some(format!("the name of `{name}` is not Unicode"))
        } else if length > MAX_FILE {
            Some(format!("`{name}` has {length} bytes; a file of a pack has at most {MAX_FILE}"))
        } else {
            None
        };
        if let Some(message) = fault {
            folder.faults.push(Diagnostic::new(Code::PACK_UNREADABLE, None, message));
            return Ok(());
        }
        let bytes = read_file(entry.path(), MAX_FILE)?;
        if is_case {
            self.cases.push(CaseFile { name, path: entry.path().to_owned(), bytes });
        } else {
            folder.files.insert(below, bytes);
        }
        Ok(())
    }

    /// The name of the folder in messages: the last part of its path, or as many parts as distinguish it from the
    /// others.
    fn name(&mut self, root: &Path, typed: &Path) -> String {
        if let Some((_, name, _)) = self.names.iter().find(|(known, ..)| known == root) {
            return name.clone();
        }
        let parts: Vec<String> = root
            .components()
            .filter_map(|part| match part {
                Component::Normal(part) => Some(part.to_string_lossy().into_owned()),
                _ => None,
            })
            .collect();
        let free = |name: &String| self.names.iter().all(|(_, known, _)| known != name);
        let name = (0..parts.len())
            .rev()
            .filter_map(|first| parts.get(first..).map(|parts| parts.join("/")))
            .find(free)
            .unwrap_or_else(|| displayed(root));
        self.names.push((root.to_owned(), name.clone(), typed.to_owned()));
        name
    }
}

/// The paths in `use` of a `pack.toml`. Faults of that file are reported when the surface reads it.
fn used_paths(bytes: &[u8]) -> Vec<String> {
    let text = String::from_utf8_lossy(bytes);
    let (table, _) = DeTable::parse_recoverable(text.strip_prefix('\u{feff}').unwrap_or(&text));
    let Some(DeValue::Table(pack)) = table.get_ref().get("pack").map(|pack| pack.get_ref()) else { return Vec::new() };
    let Some(DeValue::Array(used)) = pack.get("use").map(|used| used.get_ref()) else { return Vec::new() };
    used.iter().filter_map(|path| path.get_ref().as_str().map(str::to_owned)).collect()
}

/// Walks a folder in the order of names; links are returned, and not followed.
fn walk(path: &Path) -> walkdir::IntoIter {
    WalkDir::new(path).max_depth(MAX_DEPTH).follow_root_links(true).sort_by_file_name().into_iter()
}

/// Whether a folder cannot be a part of a pack, because it is hidden or was made by a build.
fn is_apart(entry: &DirEntry) -> bool {
    entry.depth() > 0 && entry.file_type().is_dir() && is_named_apart(entry)
}

/// Whether the name is that of a hidden folder, or of one that a build makes.
fn is_named_apart(entry: &DirEntry) -> bool {
    let name = entry.file_name().to_string_lossy();
    name.starts_with('.') || name == "target" || name == "node_modules"
}

/// Whether the file at this path below a pack belongs to its tests.
fn is_test(below: &str) -> bool {
    below.starts_with("tests/")
}

/// Whether the name of a file contains that of a case.
fn is_named_like_case(below: &str) -> bool {
    below.to_ascii_lowercase().contains(".case")
}

/// Whether a file is written like a case: several of its lines mark a response or an expectation. An unreadable file is
/// not.
fn is_written_like_case(entry: &DirEntry) -> bool {
    let is_file = entry.path().metadata().is_ok_and(|file| file.is_file());
    let bytes = is_file.then(|| read_file(entry.path(), MAX_FILE).ok()).flatten().unwrap_or_default();
    let lines = bytes.split(|byte| *byte == b'\n').map(<[u8]>::trim_ascii);
    lines.filter(|line| [b"=== response ===".as_slice(), b"=== expect ==="].contains(line)).count() > 1
}

/// Why a folder that may belong to the pack is not searched; `None` if it is.
fn unread(entry: &DirEntry) -> Option<String> {
    if entry.depth() == MAX_DEPTH && entry.file_type().is_dir() {
        return Some(format!("lies {MAX_DEPTH} folders deep"));
    }
    let is_link = entry.depth() > 0 && entry.path_is_symlink() && entry.path().is_dir();
    (is_link && !is_named_apart(entry) && !is_pack(entry.path())).then(|| "is a link to a folder".to_owned())
}

fn is_pack(path: &Path) -> bool {
    path.join("pack.toml").is_file()
}

/// The folder of the pack that `path` names: `path` itself, or the folder of its `pack.toml`.
pub fn folder_of(path: &Path) -> PathBuf {
    match path.parent() {
        Some(parent) if path.file_name() == Some(OsStr::new("pack.toml")) && path.is_file() => {
            if parent.as_os_str().is_empty() { PathBuf::from(".") } else { parent.to_owned() }
        }
        _ => path.to_owned(),
    }
}

/// A relative path with `/` between its parts.
fn slashed(path: &Path) -> String {
    let parts: Vec<_> = path.components().map(|part| part.as_os_str().to_string_lossy()).collect();
    parts.join("/")
}

/// The path as messages print it.
fn displayed(path: &Path) -> String {
    let text = path.to_string_lossy().replace('\\', "/");
    text.strip_prefix("./").map(str::to_owned).unwrap_or(text)
}

/// The error for a file or folder that the system could not read.
pub fn io_error(path: &Path, error: &io::Error) -> ReadError {
    ReadError::new(path, io_reason(error))
}

/// The reason why a file or folder could not be read or written, in words.
pub fn io_reason(error: &io::Error) -> String {
    match error.kind() {
        io::ErrorKind::NotFound => "there is no such file or folder".to_owned(),
        io::ErrorKind::PermissionDenied => "permission denied".to_owned(),
        io::ErrorKind::IsADirectory => "it is a folder".to_owned(),
        io::ErrorKind::NotADirectory => "it is not a folder".to_owned(),
        _ => error.to_string(),
    }
}

fn walk_error(path: &Path, error: &walkdir::Error) -> ReadError {
    let path = error.path().unwrap_or(path);
    match error.io_error() {
        Some(io) => io_error(path, io),
        None => ReadError::new(path, error),
    }
}
