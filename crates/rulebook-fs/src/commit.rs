//! Commit: how are the files of an answer written, all of them or none?
//!
//! In: a [`Draft`], and the locks of its folders.
//! Out: the files, each replaced in one step if it is still the version that was read; a diagnostic for every other
//! file.
//! Never: leaves only some files of an answer changed after an error, unless `partial` is set; leaves temporary files
//! behind.

use super::contents::Digest;
use super::cut::quoted;
use super::draft::{Content, Draft, Slot};
use super::journal::{Entry, Journal};
use super::nonce::Nonce;
use super::root::{Folders, Root, fault, folders_of};
use super::stage::{Expected, Mode, Source, Staged, changed, is_changed};
use rulebook::outcome::unsafe_because;
use rulebook::{Code, Diagnostic};
use std::collections::BTreeSet;
use std::io::{self, ErrorKind};

/// Writes the changes of a draft.
pub(super) struct Commit<'p> {
    pub(super) root: &'p Root,
    /// The hash of the effects, which identifies a run of the same answer.
    pub(super) effects: u64,
    /// Whether to write the files that can be written even if others cannot.
    pub(super) partial: bool,
    /// Whether this run has the lock of the root, so that no other run below this root is writing.
    pub(super) locked: bool,
}

/// One file that is about to change.
struct Task {
    slot: usize,
    key: String,
    before: Option<Digest>,
    after: Option<Digest>,
    staged: Option<Staged>,
}

impl Commit<'_> {
    /// Writes the files: all or none, or with `partial` each group of files. Returns whether the commit has succeeded,
    /// which it does also if no file changes.
    pub(super) fn write(&self, draft: &mut Draft) -> bool {
        let nonce = Nonce::new(self.root.id());
        // Without a lock, the journal may be that of another run that is still writing.
        let past = self.locked.then(|| Journal::read(self.root)).flatten();
        let resumed = past.clone().and_then(|past| past.for_effects(self.effects));
        if let Some(past) = past.filter(|_| resumed.is_none()) {
            past.sweep(self.root);
            Journal::remove(self.root);
        }
        if !self.verify(draft) && !self.partial {
            return false;
        }
        let mut tasks = tasks(draft);
        if self.locked && !tasks.is_empty() {
            self.begin(&tasks, resumed.as_ref(), nonce);
        }
        // Dropped after `tasks`: a folder can be removed only once it has no staged file.
        let mut folders = Folders::new(self.root);
        let written = self.stage(draft, &mut folders, &mut tasks, nonce) && self.swap(draft, &mut tasks, nonce);
        if written {
            folders.sync();
            if self.locked {
                Journal::finish(self.root);
            }
        } else {
            restore(draft, tasks.drain(..));
        }
        drop(tasks);
        drop(folders);
        if self.locked {
            self.clean_up(draft, written, resumed.as_ref(), nonce);
        }
        written
    }

    /// Whether every file is still the version that was read; records a fault for each that is not.
    fn verify(&self, draft: &mut Draft) -> bool {
        let mut all = true;
        for (key, slot) in draft.slots.iter_mut().filter(|(_, slot)| slot.fault.is_none()) {
            let now = self.root.look(key).and_then(|found| {
                let digest = found.map(|(place, _)| place.digest()).transpose();
                digest.map_err(|error| Box::new(fault(key, &error)))
            });
            match now {
                Ok(now) if now == slot.disk => continue,
                Ok(_) => slot.fault = Some(meanwhile(key)),
                Err(fault) => slot.fault = Some(*fault),
            }
            all = false;
        }
        all
    }

    /// Writes the journal.
    fn begin(&self, tasks: &[Task], resumed: Option<&Journal>, nonce: Nonce) {
        if let Some(past) = resumed {
            // New versions that the killed run has prepared are prepared again, under other names.
            past.forget(self.root, |key| tasks.iter().any(|task| task.key == key));
        }
        let mut journal = resumed.cloned().unwrap_or_else(|| Journal::new(self.effects));
        let missing = |folder: &&str| self.root.dir().symlink_metadata(folder).is_err();
        let folders: BTreeSet<&str> = tasks.iter().flat_map(|task| folders_of(&task.key)).filter(missing).collect();
        journal.folders.extend(folders.into_iter().map(str::to_owned));
        for task in tasks {
            journal.files.retain(|entry| entry.key != task.key);
            let Task { key, before, after, .. } = task;
            journal.files.push(Entry { key: key.clone(), run: nonce.run(), before: *before, after: *after });
        }
        // The root may not be writable although its folders are. The answer is then written without a journal.
        _ = journal.write(self.root);
    }

    /// Writes every new version to disk, in the folder of its file.
    fn stage(&self, draft: &mut Draft, folders: &mut Folders<'_>, tasks: &mut [Task], nonce: Nonce) -> bool {
        for index in 0..tasks.len() {
            let Some(task) = tasks.get(index) else { continue };
            if self.is_postponed(draft, task.slot) {
                continue;
            }
            match staged(self.root, draft, folders, task, nonce) {
                Ok(staged) => {
                    if let Some(task) = tasks.get_mut(index) {
                        task.staged = Some(staged);
                    }
                }
                Err(error) => {
                    let fault = match error.kind() {
                        ErrorKind::AlreadyExists => same_file(&task.key, &twin(tasks, index)),
                        _ => fault(&task.key, &error),
                    };
                    if !self.fail(draft, tasks, index, fault) {
                        return false;
                    }
                }
            }
        }
        true
    }

    /// Moves the new versions to their places. Removals come last, so that a file that is moved exists at every moment.
    fn swap(&self, draft: &mut Draft, tasks: &mut [Task], nonce: Nonce) -> bool {
        let (goes, stays): (Vec<usize>, Vec<usize>) =
            (0..tasks.len()).partition(|index| tasks.get(*index).is_some_and(|task| task.after.is_none()));
        for index in stays.into_iter().chain(goes) {
            let Some(task) = tasks.get_mut(index) else { continue };
            let expected = task.before.map_or(Expected::Nothing, Expected::File);
            let Some(Err(error)) = task.staged.as_mut().map(|staged| staged.commit(expected, nonce)) else { continue };
            let fault = if is_changed(&error) { meanwhile(&task.key) } else { fault(&task.key, &error) };
            if !self.fail(draft, tasks, index, fault) {
                return false;
            }
        }
        true
    }

    /// Records a fault. With `partial`, the files of its group are restored, and the other files go on.
    fn fail(&self, draft: &mut Draft, tasks: &mut [Task], index: usize, fault: Diagnostic) -> bool {
        let Some(failed) = tasks.get(index).map(|task| task.slot) else { return false };
        if let Some((_, slot)) = draft.slots.get_index_mut(failed) {
            slot.fault = Some(fault);
        }
        if self.partial {
            let group = |slot: usize| draft.slots.get_index(slot).map(|(_, slot)| slot.group);
            let own = group(failed);
            let of_group: Vec<(usize, Staged)> = tasks
                .iter_mut()
                .filter(|task| group(task.slot) == own)
                .filter_map(|task| Some((task.slot, task.staged.take()?)))
                .collect();
            put_back(draft, of_group.into_iter().rev());
        }
        self.partial
    }

    /// Whether the file is not written because another one of its group cannot be.
    fn is_postponed(&self, draft: &Draft, slot: usize) -> bool {
        let group = draft.slots.get_index(slot).map(|(_, slot)| slot.group);
        self.partial && draft.slots.values().any(|other| Some(other.group) == group && other.stops())
    }

    /// Removes the temporary files that this run, and killed runs before it, have left in the folders of the answer.
    fn clean_up(&self, draft: &Draft, written: bool, resumed: Option<&Journal>, nonce: Nonce) {
        match resumed {
            // The next run of the same effects may need the old versions that the killed run has put aside.
            Some(past) if !written => return drop(past.write(self.root)),
            Some(past) => past.sweep(self.root),
            None => {}
        }
        Journal::remove(self.root);
        let keys = draft.slots.keys().filter(|key| unsafe_because(key).is_none());
        let parents: BTreeSet<&str> = keys.map(|key| key.rsplit_once('/').map_or(".", |(folder, _)| folder)).collect();
        for dir in parents.into_iter().filter_map(|folder| self.root.dir().open_dir(folder).ok()) {
            nonce.sweep(&dir);
        }
    }
}

/// The files that change and have no fault.
fn tasks(draft: &Draft) -> Vec<Task> {
    let of_slot = |(index, (key, slot)): (usize, (&String, &Slot))| {
        let (before, after) = (slot.disk, draft.digest(&slot.content));
        let changes = before != after && slot.fault.is_none();
        changes.then(|| Task { slot: index, key: key.clone(), before, after, staged: None })
    };
    draft.slots.iter().enumerate().filter_map(of_slot).collect()
}

fn staged(root: &Root, draft: &Draft, folders: &mut Folders<'_>, task: &Task, nonce: Nonce) -> io::Result<Staged> {
    let Some((_, slot)) = draft.slots.get_index(task.slot) else { return Err(changed()) };
    let place = folders.place(&task.key)?;
    let own = || slot.permissions.clone().map(Mode::Same);
    match &slot.content {
        Content::Nothing => Ok(Staged::removal(place)),
        Content::Whole(key) => Staged::new(place, Source::File(draft.source(root, key)?), Mode::New, nonce),
        Content::Text(text, origin) => {
            let same_mode = origin.as_ref().and_then(|key| draft.mode(key)).cloned().map(Mode::Same);
            let new = if slot.executable { Mode::Executable } else { Mode::New };
            Staged::new(place, Source::Bytes(text.as_bytes()), same_mode.or_else(own).unwrap_or(new), nonce)
        }
    }
}

/// Restores the old versions, in reverse order; records a fault for each file that cannot be restored.
fn restore(draft: &mut Draft, tasks: impl DoubleEndedIterator<Item = Task>) {
    put_back(draft, tasks.rev().filter_map(|task| Some((task.slot, task.staged?))));
}

fn put_back(draft: &mut Draft, staged: impl Iterator<Item = (usize, Staged)>) {
    for (index, staged) in staged {
        let Some((key, slot)) = draft.slots.get_index_mut(index) else { continue };
        if let Err(error) = staged.restore() {
            slot.fault = Some(stays(key, &error));
        }
    }
}

/// The earlier file with the same name: its path differs, but the disk has taken both for one file.
fn twin(tasks: &[Task], index: usize) -> String {
    let name = |task: &Task| task.key.rsplit('/').next().map(str::to_lowercase);
    let own = tasks.get(index).and_then(name);
    let before = tasks.iter().take(index).find(|task| name(task) == own);
    before.map_or_else(|| "another of this answer".to_owned(), |task| task.key.clone())
}

pub(super) fn same_file(key: &str, other: &str) -> Diagnostic {
    let message = format!("`{}` is the same file as `{}`", quoted(key), quoted(other));
    Diagnostic::new(Code::WORKSPACE_SAME_FILE, None, message).with_help(
        "spell the path in one way; paths that differ only in case, or lead through links to one file, are the same",
    )
}

fn meanwhile(key: &str) -> Diagnostic {
    let message = format!("`{}` was changed by another program while it was edited", quoted(key));
    Diagnostic::new(Code::WORKSPACE_CANNOT_WRITE, None, message).with_help("apply the answer again")
}

fn stays(key: &str, error: &io::Error) -> Diagnostic {
    let key = quoted(key);
    let message = format!("`{key}` has its new text and cannot be restored: {}", quoted(&error.to_string()));
    Diagnostic::new(Code::WORKSPACE_CANNOT_WRITE, None, message).with_help("take its old text from a backup")
}

#[cfg(test)]
#[expect(clippy::disallowed_methods, reason = "a test reads and writes files")]
mod tests {
    use super::*;
    use crate::journal::identity;
    use crate::{Applying, Change, apply};
    use rulebook::outcome::{Edit, Effect, EffectRecord};
    use std::fs;
    use std::path::{Path, PathBuf};

    const OLD: [(&str, Option<&str>); 7] = [
        ("a/edited", Some("one\n")),
        ("made/deep/new", None),
        ("b/gone", Some("gone\n")),
        ("c/from", Some("from\n")),
        ("d/to", None),
        ("c/whole", Some("old\n")),
        ("list.json", Some("{\"all\": []}\n")),
    ];
    const NEW: [(&str, Option<&str>); 7] = [
        ("a/edited", Some("two\n")),
        ("made/deep/new", Some("new\n")),
        ("b/gone", None),
        ("c/from", None),
        ("d/to", Some("from\n")),
        ("c/whole", Some("new\n")),
        ("list.json", Some("{\n  \"all\": [\n    1\n  ]\n}\n")),
    ];

    fn effects() -> Vec<EffectRecord> {
        let write =
            |key: &str| Effect::Write { key: key.into(), text: "new".into(), new: false, executable: false }.into();
        vec![
            Effect::Edit(Box::new(Edit {
                key: "a/edited".into(),
                find: "one".into(),
                put: "two".into(),
                ..Edit::default()
            }))
            .into(),
            write("made/deep/new"),
            Effect::Delete { key: "b/gone".into(), text: None }.into(),
            Effect::Move { key: "c/from".into(), to: "d/to".into() }.into(),
            write("c/whole"),
            Effect::Record { key: "list.json".into(), path: "all".into(), value: 1.into() }.into(),
        ]
    }

    fn folder(name: &str) -> PathBuf {
        let folder = std::env::temp_dir().join(format!("rulebook-{name}-{}", std::process::id()));
        _ = fs::remove_dir_all(&folder);
        for (name, text) in OLD {
            fs::create_dir_all(folder.join(name).parent().unwrap()).unwrap();
            if let Some(text) = text {
                fs::write(folder.join(name), text).unwrap();
            }
        }
        fs::remove_dir_all(folder.join("made")).unwrap();
        folder
    }

    fn hidden(folder: &Path) -> Vec<String> {
        let mut found = Vec::new();
        let mut open = vec![folder.to_owned()];
        while let Some(folder) = open.pop() {
            for entry in fs::read_dir(folder).unwrap().map(|entry| entry.unwrap()) {
                let name = entry.file_name().into_string().unwrap();
                found.extend(name.starts_with('.').then_some(name));
                open.extend(entry.file_type().unwrap().is_dir().then(|| entry.path()));
            }
        }
        found
    }

    /// Carries out the effects up to a step, and stops as if the process were killed there. Returns whether everything
    /// was written before that.
    fn killed_at(folder: &Path, step: usize) -> bool {
        let root = Root::open(folder).unwrap();
        let commit = Commit { root: &root, effects: identity(&effects()), partial: false, locked: true };
        let past = Journal::read(&root).and_then(|past| past.for_effects(commit.effects));
        let mut draft = Draft::new(&root, &effects(), past.as_ref());
        let nonce = Nonce::new(root.id());
        let (mut tasks, mut folders) = (tasks(&draft), Folders::new(&root));
        let count = tasks.len();
        commit.begin(&tasks, past.as_ref(), nonce);
        let mut staged: Vec<Task> = tasks.drain(..step.min(count)).collect();
        assert!(commit.stage(&mut draft, &mut folders, &mut staged, nonce));
        let mut swapped: Vec<Task> = staged.drain(..step.saturating_sub(count).min(staged.len())).collect();
        assert!(commit.swap(&mut draft, &mut swapped, nonce));
        let done = step > count * 2;
        if done {
            Journal::finish(&root);
        }
        for task in staged.into_iter().chain(swapped) {
            std::mem::forget(task);
        }
        std::mem::forget(folders);
        done
    }

    #[track_caller]
    fn is_old_or_new(folder: &Path) {
        for ((name, old), (_, new)) in OLD.into_iter().zip(NEW) {
            let found = fs::read_to_string(folder.join(name)).ok();
            assert!(found.as_deref() == old || found.as_deref() == new, "{name}: {found:?}");
        }
    }

    #[test]
    fn what_was_killed_at_any_step_is_completed_by_the_same_answer() {
        for (first, second) in (0..16).flat_map(|first| [99, 0, 5, 9, 12].map(|second| (first, second))) {
            let folder = folder("resumed");
            let mut done = killed_at(&folder, first);
            is_old_or_new(&folder);
            if second < 99 && !done {
                // The run that was to complete the first one is killed as well.
                done = killed_at(&folder, second);
                is_old_or_new(&folder);
            }
            let applied = apply(&Root::open(&folder).unwrap(), &effects(), Applying::default());
            if !done {
                assert!(
                    applied.misses.is_empty() && applied.faults().next().is_none(),
                    "{first} {second}: {applied:?}"
                );
            }
            for (name, new) in NEW {
                assert_eq!(fs::read_to_string(folder.join(name)).ok().as_deref(), new, "{first} {second} {name}");
            }
            assert_eq!(hidden(&folder), [""; 0], "{first} {second}");
            fs::remove_dir_all(folder).unwrap();
        }
    }

    #[test]
    fn changes_made_after_a_kill_are_preserved() {
        let folder = folder("corrected");
        killed_at(&folder, 13);
        fs::write(folder.join("a/edited"), "mine\n").unwrap();
        let root = Root::open(&folder).unwrap();
        let applied = apply(&root, &effects(), Applying::default());
        assert_eq!((applied.misses.len(), applied.count(Change::Left)), (1, applied.files.len()));
        assert_eq!(fs::read_to_string(folder.join("a/edited")).unwrap(), "mine\n");
        // Any other answer discards the unfinished run, and cleans up after it.
        let other = Effect::Write { key: "x".into(), text: String::new(), new: false, executable: false };
        assert_eq!(apply(&root, &[other.into()], Applying::default()).faults().count(), 0);
        assert_eq!(
            (hidden(&folder), fs::read_to_string(folder.join("c/whole")).unwrap()),
            (vec![], "new\n".to_owned())
        );
        fs::remove_dir_all(folder).unwrap();
    }
}
