//! Applying: how do the effects of an answer change the files below a root?
//!
//! In: a [`Root`], and the effects of an outcome.
//! Out: [`Applied`]: the change of each file, a diagnostic for each file that could not be written, and the effects
//! that do not apply to the files as they are.
//! Never: writes only some files of an answer, unless `partial` is set.

use super::locks::Locks;
use super::plan::Plan;
use super::root::Root;
use rulebook::outcome::{EffectRecord, Miss};
use rulebook::{Diagnostic, FilePlace};

/// How the effects of an answer are carried out.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Applying {
    /// Whether to change nothing, and only report what would change.
    pub dry_run: bool,
    /// Whether to write the files that can be written even if others of the answer cannot. If an effect does not apply
    /// to its file, nothing is written even so.
    pub partial: bool,
}

/// The changes of the files of an answer, in the order of its effects.
#[derive(Debug)]
#[non_exhaustive]
pub struct Applied {
    /// The files, each once. A file that was moved is listed at its new path.
    pub files: Vec<FileChange>,
    /// The effects that do not apply to the files as they are. If there are any, nothing was written.
    pub misses: Vec<Miss>,
}

/// The change of one file.
#[derive(Debug)]
#[non_exhaustive]
pub struct FileChange {
    /// Its path below the root, as the effect gives it.
    pub key: String,
    /// The path from which it was moved.
    pub from: Option<String>,
    /// The declaration that caused the effect; `None` if it does not come from a pack.
    pub cause: Option<FilePlace>,
    /// How the file changed.
    pub change: Change,
    /// Its text after the effects.
    pub(super) after: Option<String>,
    /// The length of the file after the effects, in bytes.
    pub size: u64,
    /// The bytes of the file before the effects, if they were asked for, as in a dry run, and could be read.
    pub before: Option<Vec<u8>>,
    /// The notes of the pack about changes of this file, in order.
    pub notes: Vec<String>,
    /// Why the file was not written.
    pub fault: Option<Diagnostic>,
    /// Remarks about a file that was written.
    pub remarks: Vec<Diagnostic>,
}

/// How a file changed.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub enum Change {
    /// It did not exist.
    Created,
    /// It had another text.
    Replaced,
    /// It was at another path; its text may have changed, too.
    Moved,
    /// It was deleted.
    Deleted,
    /// It already had this text.
    Unchanged,
    /// Left as it was: it cannot be written, or another file of the answer cannot be.
    Left,
}

impl Change {
    /// Every kind of change.
    pub const ALL: [Change; 6] =
        [Change::Created, Change::Replaced, Change::Moved, Change::Deleted, Change::Unchanged, Change::Left];

    /// The name that reports use.
    pub fn name(self) -> &'static str {
        match self {
            Change::Created => "created",
            Change::Replaced => "replaced",
            Change::Moved => "moved",
            Change::Deleted => "deleted",
            Change::Unchanged => "unchanged",
            Change::Left => "left",
        }
    }
}

impl FileChange {
    pub(super) fn new(key: &str, change: Change) -> Self {
        Self {
            key: key.to_owned(),
            from: None,
            cause: None,
            change,
            after: None,
            size: 0,
            before: None,
            notes: Vec::new(),
            fault: None,
            remarks: Vec::new(),
        }
    }

    /// The text of the file after the effects; `None` if the file is deleted, or only moved.
    pub fn text(&self) -> Option<&str> {
        self.after.as_deref()
    }
}

impl Applied {
    /// The diagnostics: why files could not be written, and remarks about those that were.
    pub fn faults(&self) -> impl Iterator<Item = (&FileChange, &Diagnostic)> {
        self.files.iter().flat_map(|file| file.fault.iter().chain(&file.remarks).map(move |fault| (file, fault)))
    }

    /// The number of files with this change.
    pub fn count(&self, change: Change) -> usize {
        self.files.iter().filter(|file| file.change == change).count()
    }
}

/// Carries out the effects that change files: makes a [`plan`](fn@crate::plan), and commits it. All other effects are
/// left to the host.
pub fn apply(root: &Root, effects: &[EffectRecord], how: Applying) -> Applied {
    // The locks last until the end, so that no other run changes a file between reading and writing it.
    let keys = effects.iter().flat_map(|record| record.effect.keys());
    let locks = if how.dry_run { Locks::none() } else { Locks::take(root, keys) };
    Plan::new(root, effects).carry_out(how, &locks)
}

#[cfg(test)]
#[expect(clippy::disallowed_methods, reason = "a test changes files as another program does")]
mod tests {
    use super::*;
    use crate::plan;
    use rulebook::outcome::Effect;
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
            let plan = plan(&root, &effects).unwrap();
            fs::write(at("list.json"), meanwhile).unwrap();
            let applied = plan.commit();
            assert_eq!(applied.count(Change::Left), 4);
            let faults: Vec<_> =
                applied.faults().map(|(file, fault)| (&*file.key, fault.message.to_string())).collect();
            assert_eq!(
                faults,
                [("list.json", "`list.json` was changed by another program while it was edited".to_owned())]
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
