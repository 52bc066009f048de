//! Applying: what do the effects of an answer change below a root?
//!
//! In: a [`Root`], and the effects of an outcome.
//! Out: [`Applied`]: what became of each file, and a coded diagnostic for each that could not be written.
//! Never: writes some files of an answer and not the others, unless `partial` is set.

use super::amend::{Addition, amend};
use super::nonce::Nonce;
use super::record::record;
use super::root::{Folders, QUOTED, Root, fault, folders_of};
use super::stage::Staged;
use cap_std::fs::Permissions;
use indexmap::IndexMap;
use rulebook::diagnostic::{Code, Diagnostic};
use rulebook::outcome::{Amendment, Effect, EffectRecord};
use rulebook::text::{FilePlace, excerpt};
use std::io::{self, ErrorKind};

/// The most bytes of a file that is read for an edit or a comparison.
const MOST_READ: u64 = 16 << 20;

/// How the effects of an answer are carried out.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Applying {
    /// Changes nothing, and reports what would change.
    pub dry_run: bool,
    /// Writes what can be written, even if other files of the answer cannot be.
    pub partial: bool,
}

/// What became of the files of an answer, in the order of its effects.
#[derive(Debug)]
#[non_exhaustive]
pub struct Applied {
    /// The files, each once.
    pub files: Vec<FileChange>,
}

/// What became of one file.
#[derive(Debug)]
#[non_exhaustive]
pub struct FileChange {
    /// Its path below the root, as the effect gives it.
    pub key: String,
    /// The declaration behind the effect; none if no pack caused it.
    pub cause: Option<FilePlace>,
    /// What became of it.
    pub change: Change,
    /// Its text after the effects handled so far.
    after: Option<String>,
    /// Its bytes before, if the run is dry and they could be read.
    pub before: Option<Vec<u8>>,
    /// What to say about its edits, in order.
    pub said: Vec<String>,
    /// Why it was not written.
    pub fault: Option<Diagnostic>,
    /// Something worth knowing about a file that was written.
    pub remark: Option<Diagnostic>,
    /// Its bytes when an edit read it. If they differ when it is written, somebody else has changed the file.
    read: Option<Vec<u8>>,
    permissions: Option<Permissions>,
}

/// What became of a file.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Change {
    /// It did not exist.
    Created,
    /// Its text was another one.
    Replaced,
    /// It already had this text.
    Unchanged,
    /// Left as it was: it cannot be written, or another file of the answer cannot be.
    Left,
}

impl Change {
    /// Every kind of change.
    pub const ALL: [Change; 4] = [Change::Created, Change::Replaced, Change::Unchanged, Change::Left];

    /// The name that reports use.
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

impl FileChange {
    fn new(key: &str) -> Self {
        Self {
            key: key.to_owned(),
            cause: None,
            change: Change::Created,
            after: None,
            before: None,
            said: Vec::new(),
            fault: None,
            remark: None,
            read: None,
            permissions: None,
        }
    }

    /// The text that the file is to hold.
    pub fn text(&self) -> &str {
        self.after.as_deref().unwrap_or_default()
    }

    fn say(&mut self, sentence: &str) {
        self.said.extend((!sentence.is_empty()).then(|| sentence.to_owned()));
    }
}

impl Applied {
    /// The diagnostics: why files could not be written, and what is worth knowing about those that were.
    pub fn faults(&self) -> impl Iterator<Item = (&FileChange, &Diagnostic)> {
        self.files.iter().flat_map(|file| file.fault.iter().chain(&file.remark).map(move |fault| (file, fault)))
    }

    /// The number of files with this change.
    pub fn count(&self, change: Change) -> usize {
        self.files.iter().filter(|file| file.change == change).count()
    }
}

/// Carries out the effects that change files. All others are left to the host.
pub fn apply(root: &Root, effects: &[EffectRecord], how: Applying) -> Applied {
    // Held to the end: what one answer reads, no other changes before it is written.
    let lock = if how.dry_run { None } else { root.lock() };
    let mut files = draft(root, effects);
    for file in files.iter_mut().filter(|file| file.fault.is_none()) {
        if let Err(fault) = compare(root, file, how) {
            file.fault = Some(*fault);
        }
    }
    clashes(&mut files);
    let stands =
        how.partial || files.iter().filter_map(|file| file.fault.as_ref()).all(|fault| !Diagnostic::is_error(fault));
    let written = stands && (how.dry_run || write(root, &mut files, how.partial, lock.is_some()));
    for file in &mut files {
        if !written || file.fault.is_some() {
            file.change = Change::Left;
        }
        // Do not announce what was not done, unless it is said that there is no such document.
        if file.change == Change::Left
            && file.fault.as_ref().is_none_or(|fault| fault.code != Code::WORKSPACE_NO_DOCUMENT)
        {
            file.said.clear();
        }
    }
    Applied { files }
}

/// The text of each file after all effects, in order; nothing is written.
fn draft(root: &Root, effects: &[EffectRecord]) -> Vec<FileChange> {
    let mut files: IndexMap<&str, FileChange> = IndexMap::new();
    for record in effects {
        let key = match &record.effect {
            Effect::Write { key, .. } | Effect::Record { key, .. } => key,
            Effect::Amend(amendment) => &amendment.key,
            _ => continue,
        };
        let file = files.entry(key).or_insert_with(|| FileChange::new(key));
        if file.fault.is_some() {
            continue;
        }
        file.cause.clone_from(&record.cause);
        let done = match &record.effect {
            Effect::Write { text, .. } => {
                file.after = Some(ended(text));
                Ok(())
            }
            other => edit(root, file, other),
        };
        if let Err(fault) = done {
            file.fault = Some(*fault);
        }
    }
    files.into_values().collect()
}

/// Adds to a document, as the effects before this one leave it.
fn edit(root: &Root, file: &mut FileChange, effect: &Effect) -> Result<(), Box<Diagnostic>> {
    if file.after.is_none() {
        let Some((place, _)) = root.look(&file.key)? else {
            if let Effect::Amend(amendment) = effect {
                file.say(&amendment.missing);
            }
            let message = format!("there is no document `{}`", excerpt(&file.key, QUOTED));
            return Err(Box::new(Diagnostic::new(Code::WORKSPACE_NO_DOCUMENT, None, message)));
        };
        let bytes = place.read(MOST_READ).map_err(|error| fault(&file.key, &error))?;
        let text = String::from_utf8(bytes.clone()).map_err(|_| unreadable(&file.key, "it is not UTF-8"))?;
        (file.read, file.after) = (Some(bytes), Some(text));
    }
    let text = file.after.take().unwrap_or_default();
    match effect {
        Effect::Amend(amendment) => {
            let Amendment { section, marker, text: addition, otherwise, done, .. } = &**amendment;
            let addition = Addition { section, otherwise, marker, text: addition };
            let amended = amend(&text, &addition).ok_or_else(|| {
                let message =
                    format!("what is added to `{}` would hide what comes after it", excerpt(&file.key, QUOTED));
                Diagnostic::new(Code::WORKSPACE_NOT_ADDITIVE, None, message)
                    .with_help("a code fence or comment in the text is not closed")
            })?;
            file.say(&done.replace("{section}", &amended.section));
            file.after = Some(amended.text);
        }
        Effect::Record { path, value, .. } => {
            let recorded = record(&text, path, value).map_err(|why| unreadable(&file.key, &why))?;
            file.after = Some(recorded.text);
            if let Some(instead) = recorded.instead {
                let (path, instead) = (excerpt(path, QUOTED), excerpt(&instead, QUOTED));
                let message = format!(
                    "`{path}` of `{}` was no list: a list takes the place of `{instead}`",
                    excerpt(&file.key, QUOTED)
                );
                file.remark = Some(Diagnostic::new(Code::WORKSPACE_NOT_A_LIST, None, message));
            }
        }
        _ => file.after = Some(text),
    }
    Ok(())
}

fn unreadable(key: &str, why: &str) -> Diagnostic {
    let message = format!("cannot add to `{}`: {}", excerpt(key, QUOTED), excerpt(why, QUOTED));
    Diagnostic::new(Code::WORKSPACE_UNREADABLE, None, message).with_help("mend the document; it is never overwritten")
}

/// Compares the text with the file that is in its place, if there is one, and checks that it can be replaced.
fn compare(root: &Root, file: &mut FileChange, how: Applying) -> Result<(), Box<Diagnostic>> {
    let Some((place, metadata)) = root.look(&file.key)? else { return Ok(()) };
    file.change = Change::Replaced;
    if (metadata.len() == file.text().len() as u64 || how.dry_run) && metadata.len() <= MOST_READ {
        let before = place.read(MOST_READ).map_err(|error| fault(&file.key, &error))?;
        if before == file.text().as_bytes() {
            file.change = Change::Unchanged;
            return Ok(());
        }
        file.before = Some(before).filter(|_| how.dry_run);
    }
    if metadata.permissions().readonly() {
        let message = format!("cannot write `{}`: the file is read-only", excerpt(&file.key, QUOTED));
        let fault = Diagnostic::new(Code::WORKSPACE_CANNOT_WRITE, None, message);
        return Err(Box::new(fault.with_help("make it writable, if the answer shall replace it")));
    }
    file.permissions = Some(metadata.permissions());
    Ok(())
}

/// Reports keys that some system would treat as the same file, and files whose path is needed as a folder.
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
            let (key, other) = (excerpt(&file.key, QUOTED), excerpt(other, QUOTED));
            let message = format!("`{key}` needs a folder where this answer writes the file `{other}`");
            let help = "one of the two needs another name";
            file.fault = Some(Diagnostic::new(Code::WORKSPACE_NOT_A_FOLDER, None, message).with_help(help));
        }
    }
}

fn same_file(key: &str, other: &str) -> Diagnostic {
    let message = format!("`{}` is the same file as `{}`", excerpt(key, QUOTED), excerpt(other, QUOTED));
    Diagnostic::new(Code::WORKSPACE_SAME_FILE, None, message)
        .with_help("spell the path in one way; that which differs only in case, or leads through links, is one file")
}

/// Writes the files that differ: all or none, unless `partial`. Returns whether anything was written.
fn write(root: &Root, files: &mut [FileChange], partial: bool, locked: bool) -> bool {
    let nonce = Nonce::new(root.mark());
    // Dropped last: a folder can go only when nothing staged is left in it.
    let mut folders = Folders::new(root, locked.then_some(nonce));
    let mut staged = Vec::new();
    if stage(&mut folders, files, &mut staged, nonce, partial) && commit(files, &mut staged, nonce, partial) {
        folders.settle();
        return true;
    }
    restore(files, staged);
    false
}

/// Writes every new text to disk beside its place.
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
        let one = place.and_then(|place| Staged::new(place, file.text().as_bytes(), file.permissions.clone(), nonce));
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

/// The earlier file that has the same name, by another path.
fn twin(files: &[FileChange], index: usize) -> String {
    let name = |file: &FileChange| file.key.rsplit('/').next().map(str::to_lowercase);
    let own = files.get(index).and_then(name);
    let before = files.iter().take(index).find(|file| name(file) == own);
    before.map_or_else(|| "another of this answer".to_owned(), |file| file.key.clone())
}

/// Puts the new texts in their places.
fn commit(files: &mut [FileChange], staged: &mut [(usize, Staged)], nonce: Nonce, partial: bool) -> bool {
    for (index, one) in staged.iter_mut() {
        let Some(file) = files.get_mut(*index) else { continue };
        let meanwhile = file.read.as_ref().is_some_and(|read| !one.would_replace(read));
        let committed = if meanwhile {
            Err(changed(&file.key))
        } else {
            one.commit(nonce).map_err(|error| fault(&file.key, &error))
        };
        if let Err(fault) = committed {
            file.fault = Some(fault);
            if !partial {
                return false;
            }
        }
    }
    true
}

fn changed(key: &str) -> Diagnostic {
    let message = format!("`{}` was changed by somebody else while it was edited", excerpt(key, QUOTED));
    Diagnostic::new(Code::WORKSPACE_CANNOT_WRITE, None, message).with_help("apply the answer again")
}

/// Puts back what was in each place; reports a text that cannot be put back.
fn restore(files: &mut [FileChange], staged: Vec<(usize, Staged)>) {
    for (index, one) in staged.into_iter().rev() {
        let Some(file) = files.get_mut(index) else { continue };
        if let Err(error) = one.restore() {
            file.fault = Some(stays(&file.key, &error));
        }
    }
}

fn stays(key: &str, error: &io::Error) -> Diagnostic {
    let key = excerpt(key, QUOTED);
    let message =
        format!("`{key}` holds its new text, and cannot be restored: {}", excerpt(&error.to_string(), QUOTED));
    let help = "its old text stands beside it, in a hidden file that ends in `.old`";
    Diagnostic::new(Code::WORKSPACE_CANNOT_WRITE, None, message).with_help(help)
}

/// The text, ending with a line break of the kind that it uses; an empty text stays empty.
fn ended(text: &str) -> String {
    let ending = match text {
        text if text.is_empty() || text.ends_with('\n') => "",
        text if text.rsplit_once('\n').is_some_and(|(before, _)| before.ends_with('\r')) => "\r\n",
        _ => "\n",
    };
    format!("{text}{ending}")
}

#[cfg(test)]
#[expect(clippy::disallowed_methods, reason = "somebody else writes to the same disk")]
mod tests {
    use super::*;
    use std::fs;

    fn effect(effect: Effect) -> EffectRecord {
        EffectRecord::from(effect)
    }

    fn written(key: &str, text: &str) -> EffectRecord {
        effect(Effect::Write { key: key.into(), text: text.into(), new: false, executable: false })
    }

    #[test]
    fn what_somebody_else_changed_meanwhile_is_left_and_all_that_was_written_is_taken_back() {
        let folder = std::env::temp_dir().join(format!("rulebook-meanwhile-{}", std::process::id()));
        fs::create_dir_all(&folder).unwrap();
        let at = |name: &str| folder.join(name);
        fs::write(at("old.md"), "old\n").unwrap();
        fs::write(at("list.json"), "{\"list\": [1]}\n").unwrap();
        let record = Effect::Record { key: "list.json".into(), path: "list".into(), value: 2.into() };
        let effects =
            [written("old.md", "new"), written("made.md", "new"), written("folder/made.md", "new"), effect(record)];
        let root = Root::open(&folder).unwrap();
        for meanwhile in ["{\"list\": [3]}\n", "{\"list\": [1, 2, 3, 4]}\n", ""] {
            let mut files = draft(&root, &effects);
            fs::write(at("list.json"), meanwhile).unwrap();
            files.iter_mut().for_each(|file| compare(&root, file, Applying::default()).unwrap());
            assert!(!write(&root, &mut files, false, true));
            let faults: Vec<_> =
                files.iter().filter_map(|file| Some((&*file.key, file.fault.as_ref()?.message.to_string()))).collect();
            assert_eq!(
                faults,
                [("list.json", "`list.json` was changed by somebody else while it was edited".to_owned())]
            );
            assert_eq!(fs::read_to_string(at("list.json")).unwrap(), meanwhile);
            assert_eq!(fs::read_to_string(at("old.md")).unwrap(), "old\n");
            let mut names: Vec<_> = fs::read_dir(&folder).unwrap().map(|entry| entry.unwrap().file_name()).collect();
            names.sort();
            assert_eq!(names, ["list.json", "old.md"]);
            fs::write(at("list.json"), "{\"list\": [1]}\n").unwrap();
        }
        let applied = apply(&root, &effects, Applying::default());
        assert_eq!((applied.faults().count(), applied.count(Change::Created)), (0, 2));
        fs::remove_dir_all(folder).unwrap();
    }
}
