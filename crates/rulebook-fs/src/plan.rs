//! Plan: what would an answer change below a root?
//!
//! In: a [`Root`], and the effects of an outcome.
//! Out: a [`Plan`] that can be previewed and committed; or why the effects cannot be carried out.
//! Never: changes a file before the plan is committed, or if one of the files has been changed since it was read.

use super::apply::{Applied, Applying, Change, FileChange};
use super::commit::{Commit, same_file};
use super::cut::quoted;
use super::draft::{Content, Draft, MAX_READ, Slot};
use super::journal::{Journal, identity};
use super::locks::Locks;
use super::root::{Root, folders_of};
use indexmap::IndexMap;
use indexmap::map::Entry;
use rulebook::outcome::EffectRecord;
use rulebook::{Code, Diagnostic};

/// The changes of an answer: carried out in memory, and not yet written.
#[derive(Debug)]
#[must_use = "a plan that is not committed changes nothing"]
pub struct Plan {
    root: Root,
    /// The hash of the effects.
    effects: u64,
    draft: Draft,
}

/// Reads the files that the effects change, and carries the effects out in memory, in order. All other effects are left
/// to the host.
///
/// # Errors
///
/// Effects that do not apply to the files, and files that must not be changed or cannot be read. Pass the misses to
/// `Program::reject` for the answer that the pack declares.
pub fn plan(root: &Root, effects: &[EffectRecord]) -> Result<Plan, Applied> {
    let plan = Plan::new(root, effects);
    if plan.is_blocked() { Err(plan.report(false, false)) } else { Ok(plan) }
}

impl Plan {
    pub(super) fn new(root: &Root, effects: &[EffectRecord]) -> Self {
        let identity = identity(effects);
        let past = Journal::read(root).and_then(|past| past.for_effects(identity));
        let mut draft = Draft::new(root, effects, past.as_ref());
        check(root, &mut draft);
        Self { root: root.clone(), effects: identity, draft }
    }

    /// The changes that a commit would make, with the bytes of the files before.
    pub fn preview(&self) -> Applied {
        self.report(true, true)
    }

    /// Writes the files: all of them, or none if one cannot be written or has been changed since the plan was made.
    pub fn commit(self) -> Applied {
        let locks = Locks::take(&self.root, self.draft.slots.keys().map(String::as_str));
        self.carry_out(Applying::default(), &locks)
    }

    pub(super) fn carry_out(mut self, how: Applying, locks: &Locks) -> Applied {
        if how.dry_run {
            return self.report(self.goes_on(how), true);
        }
        if locks.root {
            Journal::clean(&self.root);
        }
        let commit = Commit { root: &self.root, effects: self.effects, partial: how.partial, locked: locks.root };
        let written = self.goes_on(how) && commit.write(&mut self.draft);
        self.report(written, false)
    }

    /// Whether an effect does not apply, or a file cannot be written.
    fn is_blocked(&self) -> bool {
        !self.draft.misses.is_empty() || self.draft.slots.values().any(Slot::stops)
    }

    /// Whether it may be committed. An answer with effects that do not apply is rejected as a whole, also with
    /// `partial`.
    fn goes_on(&self, how: Applying) -> bool {
        !self.is_blocked() || (how.partial && self.draft.misses.is_empty())
    }

    /// The changes of the files; each is `Left` unless they are `written`.
    fn report(&self, written: bool, with_bytes: bool) -> Applied {
        let Draft { slots, misses } = &self.draft;
        let stopped: Vec<usize> = slots.values().filter(|slot| slot.stops()).map(|slot| slot.group).collect();
        let mut files = Vec::new();
        for (key, slot) in slots {
            let left = !written || slot.fault.is_some() || stopped.contains(&slot.group);
            let after = self.draft.digest(&slot.content);
            let change = match (slot.disk, after) {
                _ if left => Change::Left,
                // The path was moved away or deleted after this answer had created it: there is nothing to report.
                (None, None) => continue,
                (None, Some(_)) if self.origin(slot).is_some() => Change::Moved,
                (None, Some(_)) => Change::Created,
                (Some(_), None) if self.is_moved_away(key) => continue,
                (Some(_), None) => Change::Deleted,
                (Some(before), Some(after)) if before == after => Change::Unchanged,
                (Some(_), Some(_)) => Change::Replaced,
            };
            let mut file = FileChange::new(key, change);
            file.cause.clone_from(&slot.cause);
            file.fault.clone_from(&slot.fault);
            // Remarks describe how a file was written, so they do not apply to one that was not.
            file.remarks = if left { Vec::new() } else { slot.remarks.clone() };
            let no_document = slot.fault.as_ref().is_some_and(|fault| fault.code == Code::WORKSPACE_NO_DOCUMENT);
            file.notes = if left && !no_document { Vec::new() } else { slot.notes.clone() };
            file.from = self.origin(slot).filter(|_| change == Change::Moved).map(str::to_owned);
            self.fill(&mut file, key, slot, with_bytes);
            files.push(file);
        }
        Applied { files, misses: misses.clone() }
    }

    /// Adds the text after the effects and, if asked for, the bytes before.
    fn fill(&self, file: &mut FileChange, key: &str, slot: &Slot, with_bytes: bool) {
        file.size = self.draft.digest(&slot.content).map_or(0, |digest| digest.length());
        if let Content::Text(text, _) = &slot.content {
            file.after = Some(text.clone());
        }
        let before = file.from.as_deref().or(slot.disk.is_some().then_some(key));
        if let Some(key) = before.filter(|_| with_bytes) {
            let bytes = self.draft.source(&self.root, key).and_then(|place| place.read(MAX_READ));
            file.before = bytes.ok();
        }
    }

    /// The path from which the file was moved, if there is no file at that path any more.
    fn origin<'s>(&self, slot: &'s Slot) -> Option<&'s str> {
        let from = slot.from.as_deref()?;
        let own = self.draft.slots.get(from)?;
        (own.disk.is_some() && matches!(own.content, Content::Nothing)).then_some(from)
    }

    /// Whether the file at this key is reported at the path to which it was moved.
    fn is_moved_away(&self, key: &str) -> bool {
        let goes_there = |slot: &Slot| {
            slot.disk.is_none() && !matches!(slot.content, Content::Nothing) && self.origin(slot) == Some(key)
        };
        self.draft.slots.values().any(goes_there)
    }
}

impl Slot {
    /// Whether it prevents the files of its group from being written.
    pub(super) fn stops(&self) -> bool {
        self.fault.as_ref().is_some_and(Diagnostic::is_error)
    }
}

/// Records a fault for each file that cannot be written, whatever its new text.
fn check(root: &Root, draft: &mut Draft) {
    read_only(draft);
    clashes(root, &mut draft.slots);
}

fn read_only(draft: &mut Draft) {
    let changes = |(_, slot): &(&String, &Slot)| {
        slot.fault.is_none() && slot.disk.is_some() && slot.disk != draft.digest(&slot.content)
    };
    let is_read_only = |slot: &Slot| slot.permissions.as_ref().is_some_and(|own| own.readonly());
    let found = draft.slots.iter().filter(changes).filter(|(_, slot)| is_read_only(slot));
    let found: Vec<String> = found.map(|(key, _)| key.clone()).collect();
    for key in found {
        let Some(slot) = draft.slots.get_mut(&key) else { continue };
        let message = format!("cannot write `{}`: the file is read-only", quoted(&key));
        let fault = Diagnostic::new(Code::WORKSPACE_CANNOT_WRITE, None, message);
        slot.fault = Some(fault.with_help("make it writable, if the answer shall change it"));
    }
}

/// Records a fault for keys that may be one file, by links or on a file system without case, and for files that need a
/// folder where another file is written.
fn clashes(root: &Root, slots: &mut IndexMap<String, Slot>) {
    let mut known: IndexMap<String, String> = IndexMap::new();
    for (key, slot) in slots.iter_mut() {
        match known.entry(root.identity(key)) {
            Entry::Occupied(first) => slot.fault = Some(same_file(key, first.get())),
            Entry::Vacant(free) => drop(free.insert(key.clone())),
        }
    }
    for (key, slot) in slots.iter_mut().filter(|(_, slot)| slot.fault.is_none()) {
        if let Some(other) = folders_of(&root.identity(key)).find_map(|folder| known.get(folder)) {
            let (key, other) = (quoted(key), quoted(other));
            let message = format!("`{key}` needs a folder where this answer writes the file `{other}`");
            let help = "one of the two needs another name";
            slot.fault = Some(Diagnostic::new(Code::WORKSPACE_NOT_A_FOLDER, None, message).with_help(help));
        }
    }
}
