//! `long-turns`: how much of a turn is shown that would leave no room for the others?
//!
//! In: a draft of the history.
//! Out: the draft in which no turn has more than a third of the tokens: the middle of a longer one is left out.
//! Never: cuts a block in two: an answer is shortened part by part and then written again.

use super::TrimReason;
use crate::prompt::draft::{Choice, LayerDraft, PromptScope};
use crate::prompt::history::line;
use crate::surface::{Speaker, Trimming};

/// A question and its answer leave room for what comes before them.
const PART: usize = 3;
/// The shortest text that is left of a turn, in bytes.
const SHORTEST: usize = 40;

pub(super) fn trim<'d>(draft: &mut LayerDraft<'d>, limit: usize, why: TrimReason, prompt_scope: &PromptScope<'d>) {
    let Choice::History { window, from } = &draft.choice else { return };
    let (window, from) = (*window, *from);
    let most = limit / PART;
    let mut count = 0;
    for number in from..window.len() {
        let role = window.role(number).unwrap_or(Speaker::User);
        let is_short = |content: &str| prompt_scope.target.count(&line(role, content)) <= most;
        if is_short(window.turn_text(number)) {
            continue;
        }
        // The longest texts with which the turn fits, or else the shortest ones.
        let (mut short, mut long) = (SHORTEST, window.longest(number));
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
        draft.say_turns(prompt_scope);
        draft.note(Trimming::LongTurns, format!("{count} of {} turns shortened, {why}", window.len()));
    }
}
