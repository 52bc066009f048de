//! Files: do the changes of one answer to its files agree?
//!
//! In: the effects of calls and contents, in order.
//! Out: how each effect relates to the earlier ones, with a message about a contradiction.
//! Never: reads a file, or chooses a strategy.
//!
//! Effects are carried out in order, each on the result of the earlier ones. If a later change would undo an earlier
//! one, or needs what an earlier one removed, the model cannot have meant that order: the two contradict each other.

use super::effect::{Edit, Effect};
use super::turn::Performed;
use crate::diagnostic::{Argument, Message, message, quote};
use std::collections::HashMap;

/// How many earlier edits of a file, the last ones, an edit is compared with. A contradiction to an older one is
/// found when the file is read.
const MAX_COMPARED_EDITS: usize = 32;

/// What the effects so far did to each file.
#[derive(Debug, Default)]
pub(super) struct FileEffects(HashMap<String, FileState>);

/// What the effects so far did to one file.
#[derive(Debug, Default)]
struct FileState {
    /// The index of the effect that wrote the file, in the list of effects.
    written: Option<usize>,
    /// The indexes of the edits of the file since then.
    edits: Vec<usize>,
    /// Whether another file was moved here.
    came: bool,
    /// How the file was removed: `deleted` or `moved`.
    gone: Option<&'static str>,
}

/// How an effect relates to the earlier ones.
pub(super) enum AddedEffect {
    /// It is compatible with them.
    Follows,
    /// An earlier effect already writes the same text.
    Same,
    /// The effect with this index writes another text.
    Written(usize),
    /// It contradicts one of them.
    Contradicts(Message),
}

impl FileEffects {
    /// How an effect relates to those that were performed before it.
    pub(super) fn relation_to_earlier(&self, effect: &Effect, done: &[Performed]) -> AddedEffect {
        let of = |key: &str| self.0.get(key);
        let after = |key: &str, what: &str, before: &str| {
            AddedEffect::Contradicts(message!("`{}` is {} after it was {} in this answer", quoted(key), &what, &before))
        };
        let at = |place: usize| done.get(place).map(|done| &done.effect);
        let writes = |place: usize, new: &str| matches!(at(place), Some(Effect::Write { text, .. }) if text == new);
        match effect {
            Effect::Write { key, text, .. } => {
                let Some(file) = of(key).filter(|file| file.gone.is_none()) else { return AddedEffect::Follows };
                if !file.edits.is_empty() {
                    return after(key, "written as a whole", "edited");
                }
                // A file that was moved may be rewritten, but not if the same answer wrote it before the move.
                if file.came && file.written.is_some() {
                    return after(key, "written as a whole", "moved there");
                }
                match file.written {
                    Some(place) if writes(place, text) => AddedEffect::Same,
                    Some(place) => AddedEffect::Written(place),
                    None => AddedEffect::Follows,
                }
            }
            Effect::Edit(edit) => match of(&edit.key) {
                Some(FileState { gone: Some(gone), .. }) => after(&edit.key, "edited", gone),
                Some(file)
                    if file.edits.iter().rev().take(MAX_COMPARED_EDITS).any(|before| overlaps(at(*before), edit)) =>
                {
                    AddedEffect::Contradicts(message!("two edits of `{}` overlap", quoted(&edit.key)))
                }
                _ => AddedEffect::Follows,
            },
            Effect::Delete { key, .. } => match of(key) {
                Some(FileState { gone: Some(gone), .. }) => after(key, "deleted", gone),
                Some(FileState { came: true, .. }) => after(key, "deleted", "moved there"),
                Some(FileState { written: Some(_), .. }) => after(key, "deleted", "written"),
                Some(_) => after(key, "deleted", "edited"),
                None => AddedEffect::Follows,
            },
            Effect::Move { key, to } => match (of(key), of(to)) {
                (Some(FileState { gone: Some(gone), .. }), _) => after(key, "moved", gone),
                (_, Some(FileState { gone: None, .. })) => AddedEffect::Contradicts(message!(
                    "a file is moved to `{}`, which the same answer changes",
                    quoted(to)
                )),
                _ => AddedEffect::Follows,
            },
            _ => AddedEffect::Follows,
        }
    }

    /// Records an effect that has the index `place` in the list of effects.
    pub(super) fn record(&mut self, effect: &Effect, place: usize) {
        match effect {
            Effect::Write { key, .. } => {
                self.0.insert(key.clone(), FileState { written: Some(place), ..FileState::default() });
            }
            // An addition to a document that was just written is meant for the new text.
            Effect::Amend(amendment) => self.changes(&amendment.key),
            Effect::Record { key, .. } => self.changes(key),
            Effect::Edit(edit) => {
                self.0.entry(edit.key.clone()).or_default().edits.push(place);
            }
            Effect::Delete { key, .. } => {
                self.0.insert(key.clone(), FileState { gone: Some("deleted"), ..FileState::default() });
            }
            Effect::Move { key, to } => {
                let before = self.0.insert(key.clone(), FileState { gone: Some("moved"), ..FileState::default() });
                self.0.insert(to.clone(), FileState { came: true, ..before.unwrap_or_default() });
            }
            _ => {}
        }
    }

    /// Records that something was added to a file: a later write of the whole file is not a duplicate then.
    fn changes(&mut self, key: &str) {
        if let Some(file) = self.0.get_mut(key) {
            file.written = None;
        }
    }
}

/// Whether two edits concern the same text, if each text occurs once in the file: the second looks for a part of what
/// the first replaced, or for a text around it.
fn overlaps(before: Option<&Effect>, edit: &Edit) -> bool {
    let Some(Effect::Edit(before)) = before else { return false };
    let is_placed = |edit: &Edit| edit.line.is_some() || !edit.after.is_empty() || edit.find.is_empty();
    if is_placed(before) || is_placed(edit) {
        return false;
    }
    let is_inside = before.find.contains(&edit.find) && !before.put.contains(&edit.find);
    let is_around = edit.find.contains(&before.find) && !before.put.contains(&before.find);
    (is_inside && !before.all && !edit.all) || is_around
}

fn quoted(key: &str) -> Argument {
    quote(key, 60)
}
