//! Applying: what do the effects of an answer change below a root?
//!
//! In: a [`Root`], and the effects of an outcome.
//! Out: [`Applied`]: each file with what became of it, and a coded diagnostic for each that could not be written.
//! Never: writes some files of an answer and not the others, unless it is told to.

use super::root::{Folders, Root, fault, folders_of};
use super::stage::{Nonce, Staged};
use crate::diagnostic::{Code, Diagnostic};
use crate::outcome::{Effect, EffectRecord};
use crate::text::excerpt;
use cap_std::fs::Permissions;
use indexmap::IndexMap;
use std::io::{self, ErrorKind};
use std::sync::Arc;

/// The most bytes of a file that is read.
const MOST_READ: u64 = 16 << 20;

/// How the effects of an answer are carried out.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Applying {
    /// Only says what would change.
    pub dry_run: bool,
    /// Writes what can be written, though other files of the answer cannot.
    pub partial: bool,
}

/// What became of the files of an answer, in the order of its effects.
#[derive(Debug)]
pub struct Applied {
    /// Each file once.
    pub files: Vec<FileChange>,
}

/// What became of one file.
#[derive(Debug)]
pub struct FileChange {
    /// Its path below the root, as the effect has it.
    pub key: String,
    /// The declaration behind the effect, `pack/file:line:column`.
    pub cause: Arc<str>,
    /// What became of it.
    pub change: Change,
    /// The text that the effects give it.
    pub after: String,
    /// Its bytes before, where they were asked for and could be read.
    pub before: Option<Vec<u8>>,
    /// Why it was not written.
    pub fault: Option<Diagnostic>,
    permissions: Option<Permissions>,
}

/// What becomes of a file.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Change {
    /// It was not there.
    Created,
    /// It had another text.
    Replaced,
    /// It had this text already.
    Unchanged,
    /// It is as it was: it cannot be written, or another file of the answer cannot.
    Left,
}

impl Change {
    /// All of them.
    pub const ALL: [Change; 4] = [Change::Created, Change::Replaced, Change::Unchanged, Change::Left];

    /// The word for it.
    pub fn name(self) -> &'static str {
        match self {
            Change::Created => "created",
            Change::Replaced => "replaced",
            Change::Unchanged => "unchanged",
            Change::Left => "left",
        }
    }

    fn writes(self) -> bool {
        matches!(self, Change::Created | Change::Replaced)
    }
}

impl Applied {
    /// Why files were not written.
    pub fn faults(&self) -> impl Iterator<Item = (&FileChange, &Diagnostic)> {
        self.files.iter().filter_map(|file| Some((file, file.fault.as_ref()?)))
    }

    /// How many files this became of.
    pub fn count(&self, change: Change) -> usize {
        self.files.iter().filter(|file| file.change == change).count()
    }
}

/// Carries out the effects that change files; the others are their host's.
pub fn apply(root: &Root, effects: &[EffectRecord], how: Applying) -> Applied {
    let mut files = draft(root, effects, how);
    clashes(&mut files);
    let stands = |files: &[FileChange]| how.partial || files.iter().all(|file| file.fault.is_none());
    let written = stands(&files) && (how.dry_run || write(root, &mut files, how.partial));
    for file in &mut files {
        if !written || file.fault.is_some() {
            file.change = Change::Left;
        }
    }
    Applied { files }
}

/// What each file shall hold, once all effects are done; nothing is written.
fn draft(root: &Root, effects: &[EffectRecord], how: Applying) -> Vec<FileChange> {
    let mut files: IndexMap<&str, FileChange> = IndexMap::new();
    for record in effects {
        let Effect::Write { key, text } = &record.effect else { continue };
        let file = files.entry(key).or_insert_with(|| FileChange {
            key: key.clone(),
            cause: Arc::default(),
            change: Change::Created,
            after: String::new(),
            before: None,
            fault: None,
            permissions: None,
        });
        file.cause.clone_from(&record.cause);
        file.after = ended(text);
    }
    let mut files: Vec<FileChange> = files.into_values().collect();
    for file in &mut files {
        if let Err(fault) = compare(root, file, how) {
            file.fault = Some(*fault);
        }
    }
    files
}

/// What stands where the file shall be written, and whether it differs.
fn compare(root: &Root, file: &mut FileChange, how: Applying) -> Result<(), Box<Diagnostic>> {
    let Some((place, metadata)) = root.look(&file.key)? else { return Ok(()) };
    file.change = Change::Replaced;
    let same_length = metadata.len() == file.after.len() as u64;
    if (same_length || how.dry_run) && metadata.len() <= MOST_READ {
        let before = place.read(MOST_READ).map_err(|error| fault(&file.key, &error))?;
        if before == file.after.as_bytes() {
            file.change = Change::Unchanged;
            return Ok(());
        }
        file.before = Some(before).filter(|_| how.dry_run);
    }
    if metadata.permissions().readonly() {
        let message = format!("cannot write `{}`: the file is read-only", excerpt(&file.key, 120));
        let fault = Diagnostic::new(Code::WORKSPACE_CANNOT_WRITE, None, message);
        return Err(Box::new(fault.with_help("make it writable, if the answer shall replace it")));
    }
    file.permissions = Some(metadata.permissions());
    Ok(())
}

/// Finds keys that some system takes for one file, and files where others need a folder.
fn clashes(files: &mut [FileChange]) {
    let mut known: IndexMap<String, String> = IndexMap::new();
    for file in files.iter_mut() {
        match known.get(&file.key.to_lowercase()) {
            Some(first) => file.fault = Some(same_file(&file.key, first)),
            None => drop(known.insert(file.key.to_lowercase(), file.key.clone())),
        }
    }
    for file in files.iter_mut().filter(|file| file.fault.is_none()) {
        if let Some(other) = folders_of(&file.key).find_map(|folder| known.get(&folder.to_lowercase())) {
            let (key, other) = (excerpt(&file.key, 120), excerpt(other, 120));
            let message = format!("`{key}` needs a folder where this answer writes the file `{other}`");
            let help = "one of the two needs another name";
            file.fault = Some(Diagnostic::new(Code::WORKSPACE_NOT_A_FOLDER, None, message).with_help(help));
        }
    }
}

fn same_file(key: &str, other: &str) -> Diagnostic {
    let message = format!("`{}` is the same file as `{}`", excerpt(key, 120), excerpt(other, 120));
    Diagnostic::new(Code::WORKSPACE_SAME_FILE, None, message)
        .with_help("spell the path in one way; that which differs only in case, or leads through links, is one file")
}

/// Writes what differs. All or none, unless `partial`; whether anything was written.
fn write(root: &Root, files: &mut [FileChange], partial: bool) -> bool {
    let nonce = Nonce::new();
    // Dropped last: a folder can go only when nothing staged is left in it.
    let mut folders = Folders::new(root);
    let mut staged = Vec::new();
    if stage(&mut folders, files, &mut staged, nonce, partial) && commit(files, &mut staged, nonce, partial) {
        folders.settle();
        return true;
    }
    restore(files, staged);
    false
}

/// Puts every new text beside its place, safe on disk.
fn stage(
    folders: &mut Folders<'_>,
    files: &mut [FileChange],
    staged: &mut Vec<(usize, Staged)>,
    nonce: Nonce,
    partial: bool,
) -> bool {
    for index in 0..files.len() {
        let Some(file) = files.get(index).filter(|file| file.change.writes() && file.fault.is_none()) else { continue };
        let place = folders.place(&file.key);
        let one = place.and_then(|place| Staged::new(place, file.after.as_bytes(), file.permissions.clone(), nonce));
        match one {
            Ok(one) => staged.push((index, one)),
            Err(error) => {
                let fault = match error.kind() {
                    ErrorKind::AlreadyExists => same_file(&file.key, &twin(files, index)),
                    _ => fault(&file.key, &error),
                };
                if let Some(file) = files.get_mut(index) {
                    file.fault = Some(fault);
                }
                if !partial {
                    return false;
                }
            }
        }
    }
    true
}

/// The file before this one whose name is the same, by another path.
fn twin(files: &[FileChange], index: usize) -> String {
    let name = |file: &FileChange| file.key.rsplit('/').next().map(str::to_lowercase);
    let own = files.get(index).and_then(name);
    let before = files.iter().take(index).find(|file| name(file) == own);
    before.map_or_else(|| "another of this answer".to_owned(), |file| file.key.clone())
}

/// Lets the new texts take their places.
fn commit(files: &mut [FileChange], staged: &mut [(usize, Staged)], nonce: Nonce, partial: bool) -> bool {
    for (index, one) in staged.iter_mut() {
        let Some(file) = files.get_mut(*index) else { continue };
        if let Err(error) = one.commit(nonce) {
            file.fault = Some(fault(&file.key, &error));
            if !partial {
                return false;
            }
        }
    }
    true
}

/// Gives every place back; a text that cannot be taken back is told.
fn restore(files: &mut [FileChange], staged: Vec<(usize, Staged)>) {
    for (index, one) in staged.into_iter().rev() {
        let Some(file) = files.get_mut(index) else { continue };
        if let Err(error) = one.restore() {
            file.fault = Some(stays(&file.key, &error));
        }
    }
}

fn stays(key: &str, error: &io::Error) -> Diagnostic {
    let key = excerpt(key, 120);
    let message = format!("`{key}` holds its new text, and cannot be restored: {}", excerpt(&error.to_string(), 120));
    let help = "its old text stands beside it, in a hidden file that ends in `.old`";
    Diagnostic::new(Code::WORKSPACE_CANNOT_WRITE, None, message).with_help(help)
}

/// The text with a line break at its end, of the kind that it has. Nothing stays nothing.
fn ended(text: &str) -> String {
    let ending = match text {
        text if text.is_empty() || text.ends_with('\n') => "",
        text if text.rsplit_once('\n').is_some_and(|(before, _)| before.ends_with('\r')) => "\r\n",
        _ => "\n",
    };
    format!("{text}{ending}")
}
