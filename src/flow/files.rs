//! Files: do the changes of one answer to its files agree?
//!
//! In: the effects of calls and contents, in order.
//! Out: what each does beside those before it; a contradiction, in words.
//! Never: knows what a file holds, or chooses a strategy.
//!
//! Effects are carried out in order, each on what those before it left. Where that order cannot be what was meant, since a
//! later change would undo an earlier one or needs what an earlier one took away, the two contradict each other.

use super::effect::{Edit, Effect};
use super::turn::Performed;
use crate::diagnostic::{Argument, Message, message, quote};
use std::collections::HashMap;

/// The most edits of a file that a further one is compared with: the last ones. Whatever contradicts an earlier one is
/// found when the file is read.
const COMPARED: usize = 32;

/// What the effects so far did to each file.
#[derive(Debug, Default)]
pub(super) struct FileEffects(HashMap<String, FileState>);

/// What the effects so far did to one file.
#[derive(Debug, Default)]
struct FileState {
    /// The place of the effect that wrote it, in the list of effects.
    written: Option<usize>,
    /// The places of the edits of it since.
    edits: Vec<usize>,
    /// Whether another file was moved here.
    came: bool,
    /// What took it away.
    gone: Option<&'static str>,
}

/// What an effect does beside those before it.
pub(super) enum AddedEffect {
    /// It follows them.
    Follows,
    /// The effect at this place already writes the same text.
    Same,
    /// The effect at this place writes another text.
    Written(usize),
    /// It contradicts one of them.
    Contradicts(Message),
}

impl FileEffects {
    /// What an effect does beside those that were done before it.
    pub(super) fn beside(&self, effect: &Effect, done: &[Performed]) -> AddedEffect {
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
                // A file that was moved may get a new text, but not one that the answer has just written.
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
                Some(file) if file.edits.iter().rev().take(COMPARED).any(|before| overlaps(at(*before), edit)) => {
                    AddedEffect::Contradicts(message!("two edits of `{}` are about the same text", quoted(&edit.key)))
                }
                _ => AddedEffect::Follows,
            },
            Effect::Delete { key } => match of(key) {
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

    /// Records an effect that comes at this place of the list.
    pub(super) fn record(&mut self, effect: &Effect, place: usize) {
        match effect {
            Effect::Write { key, .. } => {
                self.0.insert(key.clone(), FileState { written: Some(place), ..FileState::default() });
            }
            // Who adds to a document that was written means the document as it was written.
            Effect::Amend(amendment) => self.changes(&amendment.key),
            Effect::Record { key, .. } => self.changes(key),
            Effect::Edit(edit) => {
                self.0.entry(edit.key.clone()).or_default().edits.push(place);
            }
            Effect::Delete { key } => {
                self.0.insert(key.clone(), FileState { gone: Some("deleted"), ..FileState::default() });
            }
            Effect::Move { key, to } => {
                let before = self.0.insert(key.clone(), FileState { gone: Some("moved"), ..FileState::default() });
                self.0.insert(to.clone(), FileState { came: true, ..before.unwrap_or_default() });
            }
            _ => {}
        }
    }

    /// Records that something was added to a file: another text for it is no second one of the same kind.
    fn changes(&mut self, key: &str) {
        if let Some(file) = self.0.get_mut(key) {
            file.written = None;
        }
    }
}

/// Whether an edit must be about the same text as one before it, if each text is in the file once: it looks for a part of
/// what that one replaced, or for something around it.
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
