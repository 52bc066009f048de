//! Fitting: does the whole prompt fit into the context of the model?
//!
//! In: the drafts of all layers, each within its own budget if possible.
//! Out: the prompt as one text with its tokens; a warning or an error if it stays too large.
//! Never: changes the order in which layers are shortened, or returns an estimate if the final text can be counted.

use super::draft::{LayerDraft, PromptScope};
use super::trim::{self, TrimReason};
use crate::diagnostic::{Code, Diagnostic};
use crate::program::{LayerSource, PromptPlan};

/// The text of all layers together.
pub(super) struct Whole {
    pub(super) text: String,
    pub(super) tokens: usize,
}

impl Whole {
    fn of(prompt: &PromptPlan, drafts: &[LayerDraft<'_>], prompt_scope: &PromptScope<'_>) -> Self {
        let parts: Vec<_> = drafts.iter().map(LayerDraft::text_with_lead).filter(|part| !part.is_empty()).collect();
        let text = parts.join(&prompt.separator);
        Self { tokens: prompt_scope.target.count(&text), text }
    }
}

/// Shortens layers, in the order that the prompt declares, until the whole fits.
pub(super) fn fit<'d>(
    prompt: &'d PromptPlan,
    name: &str,
    drafts: &mut [LayerDraft<'d>],
    prompt_scope: &PromptScope<'d>,
    diagnostics: &mut Vec<Diagnostic>,
) -> Whole {
    let (input, room) = (prompt_scope.target.input(), prompt_scope.target.room());
    let mut whole = Whole::of(prompt, drafts, prompt_scope);
    for number in &prompt.trim_order {
        // The tokens of the parts need not add up to those of the whole: shorten a layer repeatedly, while it becomes
        // shorter.
        while let Some(draft) = drafts.get_mut(*number).filter(|draft| whole.tokens > input && draft.tokens > 0) {
            let before = draft.tokens;
            let limit = before.saturating_sub(whole.tokens - input);
            trim::shrink(draft, limit, TrimReason::Whole(input), prompt_scope);
            // A step that does not shorten the layer was undone, so `whole` is still right.
            if draft.tokens >= before {
                break;
            }
            whole = Whole::of(prompt, drafts, prompt_scope);
        }
    }
    if whole.tokens > room {
        diagnostics.push(too_large(name, drafts, whole.tokens, room, prompt_scope));
    } else if whole.tokens > input {
        let message = format!("the prompt has {} tokens; its tier allows {input}", whole.tokens);
        let largest = largest(drafts, prompt_scope);
        diagnostics.push(
            Diagnostic::new(Code::OVER_BUDGET, largest.map(|draft| draft.layer.at), message)
                .with_help(advice(largest, whole.tokens - input)),
        );
    }
    whole
}

fn too_large(
    name: &str,
    drafts: &[LayerDraft<'_>],
    tokens: usize,
    room: usize,
    prompt_scope: &PromptScope<'_>,
) -> Diagnostic {
    let target = prompt_scope.target;
    let message = format!(
        "the prompt `{name}` has {tokens} tokens, {} more than {} takes in beside its answer ({room})",
        tokens - room,
        if target.name.is_empty() { "the model".to_owned() } else { format!("`{}`", target.name) },
    );
    let largest = largest(drafts, prompt_scope);
    Diagnostic::new(Code::TOO_LARGE, largest.map(|draft| draft.layer.at), message)
        .with_help(advice(largest, tokens - room))
}

/// The layer that exceeds its budget most; a layer without a budget counts with its whole size.
fn largest<'a, 'd>(drafts: &'a [LayerDraft<'d>], prompt_scope: &PromptScope<'_>) -> Option<&'a LayerDraft<'d>> {
    let beyond = |draft: &&LayerDraft<'_>| {
        let budget = prompt_scope.target.of_tier(&draft.layer.budget).unwrap_or(0);
        (draft.tokens.saturating_sub(budget), draft.tokens)
    };
    drafts.iter().rev().max_by_key(beyond)
}

fn advice(largest: Option<&LayerDraft<'_>>, by: usize) -> String {
    match largest {
        Some(draft) if matches!(draft.layer.source, LayerSource::Message) => {
            format!(
                "the message has {} tokens: shorten it by {by}, or take a model with a larger context",
                draft.tokens
            )
        }
        Some(draft) => format!(
            "`{}` has {} tokens: shorten it by {by}, or give it a `trim` that can make it shorter",
            draft.layer.id, draft.tokens
        ),
        None => "take a model with a larger context".to_owned(),
    }
}
