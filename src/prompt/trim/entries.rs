//! `entries`: how many items does a layer show?
//!
//! In: a draft of a template, and the lists of the state that its layer names; or a draft of the verdicts.
//! Out: the draft with fewer items: list by list, the oldest items go first, until none are left. Verdicts lose their advice,
//! then the last calls.
//! Never: shows an older item instead of a newer one, or renders more often than a binary search does.

use super::TrimReason;
use crate::prompt::draft::{Choice, LayerDraft, PromptScope, length};
use crate::prompt::verdicts::Detail;
use crate::surface::Trimming;

/// Shows as many items as the pack allows, and notes it if there are more.
pub(super) fn all<'d>(draft: &mut LayerDraft<'d>, sight: &PromptScope<'d>) {
    let (mut most, mut held) = (Vec::new(), Vec::new());
    for (path, allowed) in &draft.layer.entries {
        let length = length(sight.state, path);
        held.push(length);
        most.push(sight.target.of_tier(allowed).unwrap_or(usize::MAX).min(length));
    }
    draft.show(most.clone(), sight);
    // The note is of an earlier, longer text, which may have had to leave out more.
    draft.notes.shift_remove(Trimming::Entries.word());
    if let Some((limit, _)) = most.iter().zip(&held).find(|(most, held)| most < held) {
        let limit = *limit;
        note(draft, TrimReason::Most(limit), sight);
    }
}

pub(super) fn trim<'d>(draft: &mut LayerDraft<'d>, limit: usize, why: TrimReason, sight: &PromptScope<'d>) {
    if let Choice::Verdicts { calls, detail } = &draft.choice {
        return trim_verdicts(draft, (calls.len(), *detail), limit, why, sight);
    }
    let Choice::File { shown, .. } = &draft.choice else { return };
    let mut shown = shown.clone();
    let before = shown.clone();
    for list in 0..shown.len() {
        if draft.tokens <= limit {
            break;
        }
        // Search for the most items that fit. First try none at all, since even that may not be enough.
        let (mut fits, mut too_many) = (0, shown.get(list).copied().unwrap_or(0));
        let mut show = |draft: &mut LayerDraft<'d>, count: usize| {
            if let Some(slot) = shown.get_mut(list) {
                *slot = count;
            }
            draft.show(shown.clone(), sight);
            draft.tokens <= limit
        };
        if too_many == 0 || !show(draft, 0) {
            continue;
        }
        while fits + 1 < too_many {
            let middle = fits + (too_many - fits) / 2;
            if show(draft, middle) { fits = middle } else { too_many = middle }
        }
        show(draft, fits);
    }
    if shown != before {
        note(draft, why, sight);
    }
}

/// Says less of the calls that were not carried out: first without advice, then fewer of them, but at least one.
fn trim_verdicts<'d>(
    draft: &mut LayerDraft<'d>,
    (all, before): (usize, Detail),
    limit: usize,
    why: TrimReason,
    sight: &PromptScope<'d>,
) {
    for calls in (1..=before.calls).rev() {
        if draft.tokens <= limit {
            break;
        }
        draft.say_verdicts(Detail { calls, helps: false }, sight);
    }
    if let Choice::Verdicts { detail, .. } = &draft.choice {
        let advice = if detail.helps { "" } else { ", without advice" };
        let what = format!("the first {} of {all} calls{advice}, {why}", detail.calls);
        draft.note(Trimming::Entries, what);
    }
}

/// Notes how many items of each list are shown, if not all are.
fn note(draft: &mut LayerDraft<'_>, why: TrimReason, sight: &PromptScope<'_>) {
    let Choice::File { shown, .. } = &draft.choice else { return };
    let parts: Vec<String> = draft
        .layer
        .entries
        .iter()
        .zip(shown)
        .filter_map(|((path, _), shown)| {
            let held = length(sight.state, path);
            (*shown < held).then(|| format!("the newest {shown} of {held} of `{}`", path.join(".")))
        })
        .collect();
    if !parts.is_empty() {
        draft.note(Trimming::Entries, format!("{}, {why}", parts.join(", ")));
    }
}
