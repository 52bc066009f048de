//! `oldest-turns`: how far back does the conversation go?
//!
//! In: a draft of the history.
//! Out: the draft with a window on the newest turns.
//! Never: cuts a turn in two, or begins with an answer whose question is left out.

use super::Why;
use crate::prompt::draft::{Choice, Draft, Sight};
use crate::prompt::history::{Window, line};
use crate::surface::{Speaker, Trimming};

/// Opens the window as far as the pack allows.
pub(in crate::prompt) fn window<'d>(draft: &mut Draft<'d>, sight: &Sight<'d>) {
    let Choice::History { window, .. } = &draft.choice else { return };
    let window = *window;
    let most = draft.layer.turns.get(sight.target.tier).copied().flatten().unwrap_or(usize::MAX);
    open(draft, window, window.len().saturating_sub(most), Why::Most(most), sight);
}

pub(super) fn trim<'d>(draft: &mut Draft<'d>, limit: usize, why: Why, sight: &Sight<'d>) {
    let Choice::History { window, from } = &draft.choice else { return };
    let (window, mut from) = (*window, *from);
    // The newest turns, as far as they fit one by one; then the whole decides.
    let (mut left, mut first) = (limit, window.len());
    while let Some(number) = first.checked_sub(1).filter(|number| *number >= from) {
        let role = window.role(number).unwrap_or(Speaker::User);
        let Some(rest) = left.checked_sub(sight.target.count(&line(role, window.said(number)))) else { break };
        (left, first) = (rest, number);
    }
    from = first.max(from + 1);
    open(draft, window, from, why, sight);
    while draft.tokens > limit && from < window.len() {
        from += 1;
        open(draft, window, from, why, sight);
    }
}

/// Shows the turns from one on.
fn open<'d>(draft: &mut Draft<'d>, window: &'d Window<'d>, from: usize, why: Why, sight: &Sight<'d>) {
    let answers = |number: &usize| window.role(*number) == Some(Speaker::Assistant);
    let orphans = if from == 0 { 0 } else { (from..window.len()).take_while(answers).count() };
    let from = from + orphans;
    draft.choice = Choice::History { window, from };
    draft.say_turns(sight);
    if from > 0 {
        draft.note(Trimming::OldestTurns, format!("{from} of {} turns left out, {why}", window.len()));
    }
}
