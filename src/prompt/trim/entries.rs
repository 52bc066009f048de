//! `entries`: how many items does a layer contain?
//!
//! In: a draft of a template, and the lists of the state that its layer names; or a draft of the verdicts.
//! Out: the draft with fewer items: list by list, the oldest items are removed first, until none are left. Verdicts
//! lose their advice, then the last calls.
//! Never: removes a newer item before an older one, or renders more often than a binary search does.

use super::TrimReason;
use crate::prompt::draft::{Choice, LayerDraft, PromptScope, length};
use crate::prompt::verdicts::Detail;
use crate::surface::Trimming;

/// Includes as many items as the pack allows, and adds a note if there are more.
pub(super) fn all<'d>(draft: &mut LayerDraft<'d>, prompt_scope: &PromptScope<'d>) {
    let (mut most, mut lengths) = (Vec::new(), Vec::new());
    for (path, allowed) in &draft.layer.entries {
        let length = length(prompt_scope.state, path);
        lengths.push(length);
        most.push(prompt_scope.target.of_tier(allowed).unwrap_or(usize::MAX).min(length));
    }
    draft.show(most.clone(), prompt_scope);
    // The note is about an earlier, longer text, which may have needed to leave out more.
    draft.notes.shift_remove(Trimming::Entries.word());
    if let Some((limit, _)) = most.iter().zip(&lengths).find(|(most, lengths)| most < lengths) {
        let limit = *limit;
        note(draft, TrimReason::Most(limit), prompt_scope);
    }
}

pub(super) fn trim<'d>(draft: &mut LayerDraft<'d>, limit: usize, why: TrimReason, prompt_scope: &PromptScope<'d>) {
    if let Choice::Verdicts { calls, detail } = &draft.choice {
        return trim_verdicts(draft, (calls.len(), *detail), limit, why, prompt_scope);
    }
    let Choice::File { counts, .. } = &draft.choice else { return };
    let mut counts = counts.clone();
    let before = counts.clone();
    for list in 0..counts.len() {
        if draft.tokens <= limit {
            break;
        }
        // Search for the most items within the limit. First try none at all, since even that may be too long.
        let (mut fitting, mut too_many) = (0, counts.get(list).copied().unwrap_or(0));
        let mut show = |draft: &mut LayerDraft<'d>, count: usize| {
            if let Some(slot) = counts.get_mut(list) {
                *slot = count;
            }
            draft.show(counts.clone(), prompt_scope);
            draft.tokens <= limit
        };
        if too_many == 0 || !show(draft, 0) {
            continue;
        }
        while fitting + 1 < too_many {
            let middle = fitting + (too_many - fitting) / 2;
            if show(draft, middle) { fitting = middle } else { too_many = middle }
        }
        show(draft, fitting);
    }
    if counts != before {
        note(draft, why, prompt_scope);
    }
}

/// Prints less about calls: first no advice, then fewer calls, but at least one.
fn trim_verdicts<'d>(
    draft: &mut LayerDraft<'d>,
    (all, before): (usize, Detail),
    limit: usize,
    why: TrimReason,
    prompt_scope: &PromptScope<'d>,
) {
    for calls in (1..=before.calls).rev() {
        if draft.tokens <= limit {
            break;
        }
        draft.write_verdicts(Detail { calls, helps: false }, prompt_scope);
    }
    if let Choice::Verdicts { detail, .. } = &draft.choice {
        let advice = if detail.helps { "" } else { ", without advice" };
        let what = format!("the first {} of {all} calls{advice}, {why}", detail.calls);
        draft.note(Trimming::Entries, what);
    }
}

/// Adds a note on how many items of each list are included, if not all are.
fn note(draft: &mut LayerDraft<'_>, why: TrimReason, prompt_scope: &PromptScope<'_>) {
    let Choice::File { counts, .. } = &draft.choice else { return };
    let parts: Vec<String> = draft
        .layer
        .entries
        .iter()
        .zip(counts)
        .filter_map(|((path, _), counts)| {
            let lengths = length(prompt_scope.state, path);
            (*counts < lengths).then(|| format!("the newest {counts} of {lengths} of `{}`", path.join(".")))
        })
        .collect();
    if !parts.is_empty() {
        draft.note(Trimming::Entries, format!("{}, {why}", parts.join(", ")));
    }
}
