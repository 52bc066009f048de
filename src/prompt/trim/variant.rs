//! `variant`: has the author written a shorter text?
//!
//! In: a draft of a file.
//! Out: the draft with its next variant, and with as many items of its lists as there is then room for.
//! Never: writes a text of its own.

use super::{TrimReason, entries};
use crate::prompt::draft::{Choice, LayerDraft, PromptScope};
use crate::surface::Trimming;

pub(super) fn trim<'d>(draft: &mut LayerDraft<'d>, limit: usize, why: TrimReason, prompt_scope: &PromptScope<'d>) {
    while draft.tokens > limit {
        let Choice::File { variant, .. } = &draft.choice else { return };
        let next = *variant + 1;
        if next >= draft.variants().len() {
            return;
        }
        if let Choice::File { variant, .. } = &mut draft.choice {
            *variant = next;
        }
        // The shorter text may have room again for items that the longer one had to leave out.
        entries::all(draft, prompt_scope);
        let path = draft.file(prompt_scope).map(|(_, text)| text.path.as_str()).unwrap_or_default();
        draft.note(Trimming::Variant, format!("`{path}` is a shorter form of a longer text, {why}"));
        if draft.layer.trim.contains(&Trimming::Entries) {
            entries::trim(draft, limit, why, prompt_scope);
        }
    }
}
