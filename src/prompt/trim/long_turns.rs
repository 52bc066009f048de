//! `long-turns`: how much remains of a turn that would leave no room for the others?
//!
//! In: a draft of the history.
//! Out: the draft in which no turn has more than a third of the tokens: the middle of a longer one is left out.
//! Never: cuts a block: an answer is shortened part by part and then written again.

use super::TrimReason;
use crate::prompt::draft::{Choice, LayerDraft, PromptScope};
use crate::prompt::history::line;
use crate::surface::{Speaker, Trimming};

/// A turn may have this part of the tokens, so that a question and its answer leave room for earlier turns.
const TURNS_PER_BUDGET: usize = 3;
/// The shortest text, in bytes, that a turn is shortened to.
const MIN_TURN_BYTES: usize = 40;

pub(super) fn trim<'d>(draft: &mut LayerDraft<'d>, limit: usize, why: TrimReason, prompt_scope: &PromptScope<'d>) {
    let Choice::History { window, from } = &draft.choice else { return };
    let (window, from) = (*window, *from);
    let most = limit / TURNS_PER_BUDGET;
    let mut count = 0;
    for number in from..window.len() {
        let role = window.role(number).unwrap_or(Speaker::User);
        let is_short = |content: &str| prompt_scope.target.count(&line(role, content)) <= most;
        if is_short(window.turn_text(number)) {
            continue;
        }
        // Search for the longest texts with which the turn is within the limit, or else use the shortest ones.
        let (mut short, mut long) = (MIN_TURN_BYTES, window.longest(number));
        let mut turn = window.shortened(number, short);
        while short + 1 < long {
            let middle = short + (long - short) / 2;
            let longer = window.shortened(number, middle);
            if is_short(&longer.text) {
                (short, turn) = (middle, longer);
            } else {
                long = middle;
            }
        }
        draft.short.insert(number, turn);
        count += 1;
    }
    if count > 0 {
        draft.write_turns(prompt_scope);
        draft.note(Trimming::LongTurns, format!("{count} of {} turns shortened, {why}", window.len()));
    }
}
