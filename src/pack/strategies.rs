//! Strategies: can each of them be applied to its defect?
//!
//! In: every degradation table, and the strategies of guardrails.
//! Out: `pack/unfit-strategy` for each strategy that cannot; `pack/wrong-value` for a defect with no strategy, or at a
//! place where it cannot occur, or for a limit that no correction keeps to.
//! Never: judges which strategy is best.

use crate::diagnostic::{Code, Defect, Diagnostic, Strategy};
use crate::surface::{Block, Degradation, LEAST_CORRECTION_TOKENS, Role, Surface};
use crate::text::{Location, Spanned};

pub(super) fn check(surface: &Surface, diagnostics: &mut Vec<Diagnostic>) {
    for Degradation(rows) in surface.degradations() {
        for (defect, strategies) in rows {
            for strategy in strategies {
                may_answer(defect.value, strategy, diagnostics);
            }
            diagnostics.extend(idle(defect.value, strategies));
            if strategies.is_empty() {
                let message = format!("nothing answers `{}`", defect.value);
                diagnostics.push(
                    Diagnostic::new(Code::PACK_WRONG_VALUE, defect.at, message)
                        .with_help("name a strategy, or take the line out for the default"),
                );
            }
        }
    }
    joins(surface, diagnostics);
    diagnostics.extend(never_asks(surface));
    diagnostics.extend(too_short_correction(surface));
    let mut never = |defect: &Spanned<Defect>, who: String| {
        let message = format!("{who} never has the defect `{}`", defect.value);
        let place = if defect.value.is_of_blocks() { "the pack, a mode or a block" } else { "the pack or a mode" };
        let help = format!("say it in `[degradation]` of {place}");
        diagnostics.push(Diagnostic::new(Code::PACK_WRONG_VALUE, defect.at, message).with_help(help).into_warning());
    };
    for (name, action) in &surface.actions {
        for (defect, _) in action.value.degradation.0.iter().filter(|(defect, _)| !defect.value.is_of_actions()) {
            never(defect, format!("a call of `{name}`"));
        }
    }
    for (name, block) in surface.blocks() {
        for (defect, _) in block.value.degradation.0.iter().filter(|(defect, _)| !defect.value.is_of_blocks()) {
            never(defect, format!("the block `{name}`"));
        }
    }
    for guardrail in &surface.guardrails {
        if let Some(strategy) = &guardrail.strategy {
            may_answer(Defect::Guardrail, strategy, diagnostics);
        }
    }
}

/// Reports each `join` for blocks that are not text, if it is the last strategy: only the first block would remain.
fn joins(surface: &Surface, diagnostics: &mut Vec<Diagnostic>) {
    let join = |table: &Degradation| {
        let row = table.0.iter().find(|(defect, _)| defect.value == Defect::DuplicateBlock)?;
        row.1.last().filter(|last| last.value == Strategy::Join).map(|last| last.at)
    };
    let texts = |role: Role| matches!(role, Role::Message | Role::Thinking | Role::Section);
    let mut warn = |at: Location, name: &str, role: Role, counted: Option<Location>| {
        let message = format!("`join` makes no text of several `{name}`: the first is kept");
        let help = format!("of a {} say `keep-first`, `keep-last`, `drop`, `refuse` or `ask-again`", role.word());
        let finding = Diagnostic::new(Code::PACK_UNFIT_STRATEGY, at, message).with_help(help);
        let finding = match counted {
            Some(counted) => finding.with_place(counted, "here a reply may have only so many"),
            None => finding,
        };
        diagnostics.push(finding.into_warning());
    };
    for (name, block) in surface.blocks().filter(|(_, block)| !texts(block.value.role)) {
        if let Some(at) = join(&block.value.degradation) {
            warn(at, name, block.value.role, None);
        }
    }
    let modes = surface.modes.values().map(|mode| &mode.value);
    let of_pack = std::iter::once(&surface.reply).chain(modes.clone().map(|mode| &mode.reply));
    let of_modes = modes.map(|mode| (&mode.degradation, vec![&surface.reply, &mode.reply]));
    for (table, replies) in std::iter::once((&surface.degradation, of_pack.collect())).chain(of_modes) {
        let Some(at) = join(table) else { continue };
        let counts = replies.iter().flat_map(|reply| &reply.counts);
        // With `most = 0`, even the first block is a `forbidden-block`, and not a duplicate.
        let several = counts.filter(|(_, count)| count.value.most.as_ref().is_some_and(|most| most.value > 0));
        let unreadable = several.into_iter().find_map(|(name, count)| {
            let own = |block: &Spanned<Block>| {
                block.value.degradation.0.iter().any(|(one, _)| one.value == Defect::DuplicateBlock)
            };
            let named = |block: &Block| block.name().is_some_and(|word| word.value == *name);
            let mut meant = surface.blocks().filter(|(block, of)| *block == name || named(&of.value));
            let (_, block) = meant.find(|(_, block)| !texts(block.value.role) && !own(block))?;
            Some((name, block.value.role, count.at))
        });
        if let Some((name, role, counted)) = unreadable {
            warn(at, name, role, Some(counted));
        }
    }
}

/// Reports a pack that sets how a model is asked again, but never asks. The settings of a used pack may be for
/// others.
fn never_asks(surface: &Surface) -> Option<Diagnostic> {
    let asks =
        surface.ask_again.as_ref().filter(|_| surface.about.as_ref().is_some_and(|about| about.uses.is_empty()))?;
    let at = asks.most.map(|most| most.at).or_else(|| asks.tokens.map(|tokens| tokens.at));
    let at = at.or_else(|| asks.text.as_ref().map(|text| text.at))?;
    let mut strategies = surface
        .degradations()
        .flat_map(|Degradation(rows)| rows.iter().flat_map(|(_, strategies)| strategies))
        .chain(surface.guardrails.iter().filter_map(|guardrail| guardrail.strategy.as_ref()));
    if strategies.any(|strategy| strategy.value == Strategy::AskAgain) {
        return None;
    }
    let finding = Diagnostic::new(
        Code::PACK_WRONG_VALUE,
        at,
        "no model is ever asked again: no defect is answered by `ask-again`",
    );
    let help = "let it answer a defect, as in `unknown-action = [\"ask-again\", \"drop\"]`, or take `[ask_again]` out";
    Some(finding.with_help(help).into_warning())
}

/// Reports a limit of corrections that no correction can keep to.
fn too_short_correction(surface: &Surface) -> Option<Diagnostic> {
    let tokens = surface.ask_again.as_ref()?.tokens.filter(|tokens| tokens.value < LEAST_CORRECTION_TOKENS)?;
    let message = format!("no correction is limited to fewer than {LEAST_CORRECTION_TOKENS} tokens");
    let help = format!("say `tokens = {LEAST_CORRECTION_TOKENS}` or more");
    Some(Diagnostic::new(Code::PACK_WRONG_VALUE, tokens.at, message).with_help(help).into_warning())
}

/// Reports the first strategy of a list that never acts, because one before it always applies.
fn idle(defect: Defect, strategies: &[Spanned<Strategy>]) -> Option<Diagnostic> {
    let may_answer = |strategy: Strategy| defect.applicable().contains(&strategy);
    let last = strategies.iter().position(|one| may_answer(one.value) && one.value.always_answers(defect))?;
    // A strategy that cannot be applied to the defect is reported for that, and not here.
    let never = strategies.iter().skip(last + 1).find(|one| may_answer(one.value))?;
    let last = strategies.get(last)?;
    let message = format!("`{}` never answers `{defect}`: `{}` before it always does", never.value, last.value);
    let finding = Diagnostic::new(Code::PACK_UNFIT_STRATEGY, never.at, message)
        .with_place(last.at, "the list ends here")
        .with_help("put it first, or take it out");
    Some(finding.into_warning())
}

fn may_answer(defect: Defect, strategy: &Spanned<Strategy>, diagnostics: &mut Vec<Diagnostic>) {
    if !defect.applicable().contains(&strategy.value) {
        let words: Vec<String> = defect.applicable().iter().map(|fit| format!("`{fit}`")).collect();
        let message = format!("`{}` cannot answer `{defect}`", strategy.value);
        diagnostics.push(
            Diagnostic::new(Code::PACK_UNFIT_STRATEGY, strategy.at, message)
                .with_help(format!("what fits is {}", words.join(", "))),
        );
    }
}
