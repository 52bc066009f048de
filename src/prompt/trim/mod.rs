//! Trimming: how is a layer shortened?
//!
//! In: a draft, and how many items, turns and tokens it may have.
//! Out: the draft with other choices, and a note of what was left out.
//! Never: cuts a text of the author. Each file here is one strategy of the pack language; `never` needs no file.

mod drop;
mod entries;
mod long_turns;
mod oldest_turns;
mod variant;

use super::draft::{Choice, LayerDraft, PromptScope};
use crate::diagnostic::{Code, Diagnostic};
use crate::surface::Trimming;
use std::fmt;

/// Why a layer is shortened.
#[derive(Debug, Clone, Copy)]
pub(super) enum TrimReason {
    /// The pack limits the number of items or turns.
    Most(usize),
    /// The layer must not exceed its budget; none if it has no budget but its template failed with all items.
    Budget(Option<usize>),
    /// The whole prompt must not exceed the limit of the tier or the model.
    Whole(usize),
}

impl fmt::Display for TrimReason {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            TrimReason::Most(most) => write!(f, "at most {most}"),
            TrimReason::Budget(Some(budget)) => write!(f, "for its budget of {budget} tokens"),
            TrimReason::Budget(None) => f.write_str("because it could not be written as a whole"),
            TrimReason::Whole(input) => write!(f, "to fit the prompt into {input} tokens"),
        }
    }
}

/// Writes the layer with as many items or turns as the pack allows.
pub(super) fn open<'d>(draft: &mut LayerDraft<'d>, prompt_scope: &PromptScope<'d>) {
    match draft.choice {
        Choice::History { .. } => oldest_turns::window(draft, prompt_scope),
        Choice::Verdicts { detail, .. } => {
            let whole = detail;
            draft.write_verdicts(whole, prompt_scope);
        }
        Choice::File { .. } => entries::all(draft, prompt_scope),
        Choice::Absent | Choice::Message => {}
    }
}

/// Shortens the layer to its budget; reports it if that is not possible.
pub(super) fn keep_to_budget<'d>(
    draft: &mut LayerDraft<'d>,
    prompt_scope: &PromptScope<'d>,
    diagnostics: &mut Vec<Diagnostic>,
) {
    let layer = draft.layer;
    let budget = prompt_scope.target.of_tier(&layer.budget);
    shrink(draft, budget.unwrap_or(usize::MAX - 1), TrimReason::Budget(budget), prompt_scope);
    if let Some((document, failure)) = draft.take_failure() {
        let message = format!("the layer `{}` cannot be written: {failure}", layer.id);
        let help = "bound the lists that it goes through by `entries`, or give the layer a `variant` or `drop`";
        let fault = Diagnostic::new(Code::FAILING_TEMPLATE, document.at(), message);
        diagnostics.push(fault.with_rule(Some(layer.at)).with_help(help));
    } else if let Some(budget) = budget.filter(|budget| draft.tokens > *budget) {
        let message = format!("the layer `{}` has {} tokens; its budget is {budget}", layer.id, draft.tokens);
        let help = "shorten its text, add a shorter variant, or raise its budget";
        diagnostics.push(Diagnostic::new(Code::OVER_BUDGET, layer.at, message).with_help(help));
    }
}

/// Applies its strategies in order, until it has at most `limit` tokens. A choice that does not shorten the layer is
/// undone: a variant may be longer than the text before, and so may a template's text about an empty list.
pub(super) fn shrink<'d>(draft: &mut LayerDraft<'d>, limit: usize, why: TrimReason, prompt_scope: &PromptScope<'d>) {
    for strategy in &draft.layer.trim {
        if draft.tokens <= limit {
            return;
        }
        let before = draft.clone();
        apply(*strategy, draft, limit, why, prompt_scope);
        if draft.tokens >= before.tokens && !before.has_failed() {
            draft.undo(before, prompt_scope);
        }
    }
}

/// Lets one strategy shorten the draft to `limit`, if it can.
fn apply<'d>(
    strategy: Trimming,
    draft: &mut LayerDraft<'d>,
    limit: usize,
    why: TrimReason,
    prompt_scope: &PromptScope<'d>,
) {
    match strategy {
        // If no other layer can be shortened either, the prompt is an error that names this layer.
        Trimming::Never => {}
        Trimming::Variant => variant::trim(draft, limit, why, prompt_scope),
        Trimming::Entries => entries::trim(draft, limit, why, prompt_scope),
        Trimming::LongTurns => long_turns::trim(draft, limit, why, prompt_scope),
        Trimming::OldestTurns => oldest_turns::trim(draft, limit, why, prompt_scope),
        Trimming::Drop => drop::trim(draft, why),
    }
}
