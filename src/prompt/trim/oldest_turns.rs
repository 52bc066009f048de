//! `oldest-turns`: how much of the conversation is included?
//!
//! In: a draft of the history.
//! Out: the draft with only the newest turns.
//! Never: cuts a turn, or starts with an answer whose question is left out.

use super::TrimReason;
use crate::prompt::draft::{Choice, LayerDraft, PromptScope};
use crate::prompt::history::{Window, line};
use crate::surface::{Speaker, Trimming};

/// The word in the ledger for turns without text, such as an answer without a message.
const SILENT: &str = "turns";

/// Includes as many turns as the pack allows. Turns without text do not count.
pub(super) fn window<'d>(draft: &mut LayerDraft<'d>, prompt_scope: &PromptScope<'d>) {
    let Choice::History { window, .. } = &draft.choice else { return };
    let window = *window;
    let most = prompt_scope.target.of_tier(&draft.layer.turns).unwrap_or(usize::MAX);
    let (mut from, mut left) = (window.len(), most);
    while let Some(number) = from.checked_sub(1) {
        if !window.turn_text(number).is_empty() {
            let Some(rest) = left.checked_sub(1) else { break };
            left = rest;
        }
        from = number;
    }
    open(draft, window, from, TrimReason::Most(most), prompt_scope);
}

pub(super) fn trim<'d>(draft: &mut LayerDraft<'d>, limit: usize, why: TrimReason, prompt_scope: &PromptScope<'d>) {
    let Choice::History { window, from } = &draft.choice else { return };
    let (window, mut from) = (*window, *from);
    // First estimate from the tokens of single turns; then check the tokens of the whole.
    let (mut left, mut first) = (limit, window.len());
    while let Some(number) = first.checked_sub(1).filter(|number| *number >= from) {
        let role = window.role(number).unwrap_or(Speaker::User);
        let content = draft.turn_text(window, number);
        let tokens = if content.is_empty() { 0 } else { prompt_scope.target.count(&line(role, content)) };
        let Some(rest) = left.checked_sub(tokens) else { break };
        (left, first) = (rest, number);
    }
    from = first.max(from + 1);
    open(draft, window, from, why, prompt_scope);
    while draft.tokens > limit && from < window.len() {
        from += 1;
        open(draft, window, from, why, prompt_scope);
    }
}

/// Includes the turns from `from` on.
fn open<'d>(
    draft: &mut LayerDraft<'d>,
    window: &'d Window<'d>,
    from: usize,
    why: TrimReason,
    prompt_scope: &PromptScope<'d>,
) {
    let is_silent = |number: &usize| window.turn_text(*number).is_empty();
    let is_orphan = |number: &usize| window.role(*number) == Some(Speaker::Assistant) || is_silent(number);
    let orphans = if from == 0 { 0 } else { (from..window.len()).take_while(is_orphan).count() };
    let from = from + orphans;
    draft.choice = Choice::History { window, from };
    draft.write_turns(prompt_scope);
    if from > 0 {
        draft.note(Trimming::OldestTurns, format!("{from} of {} turns left out, {why}", window.len()));
    }
    draft.notes.shift_remove(SILENT);
    let silent = (from..window.len()).filter(is_silent).count();
    if silent > 0 {
        draft.notes.insert(SILENT, format!("{silent} of {} left out, as nothing is said in them", window.len()));
    }
}
