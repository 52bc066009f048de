//! Strategies: can each of them answer its defect?
//!
//! In: every degradation table, and the strategies of guardrails.
//! Out: `pack/unfit-strategy` for each that cannot; `pack/wrong-value` for a defect that nothing answers, or that is never
//! asked for where it stands.
//! Never: says which strategy is best.

use crate::diagnostic::{Code, Defect, Diagnostic, Strategy};
use crate::surface::{Degradation, Surface};
use crate::text::Spanned;

pub(super) fn check(surface: &Surface, diagnostics: &mut Vec<Diagnostic>) {
    let blocks = surface.dialects.values().flat_map(|dialect| dialect.value.blocks.values());
    let tables = std::iter::once(&surface.degradation)
        .chain(surface.modes.values().map(|mode| &mode.value.degradation))
        .chain(surface.actions.values().map(|action| &action.value.degradation))
        .chain(blocks.map(|block| &block.value.degradation));
    for Degradation(rows) in tables {
        for (defect, strategies) in rows {
            for strategy in strategies {
                fits(defect.value, strategy, diagnostics);
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
    for (name, block) in surface.dialects.values().flat_map(|dialect| &dialect.value.blocks) {
        for (defect, _) in block.value.degradation.0.iter().filter(|(defect, _)| !defect.value.is_of_blocks()) {
            never(defect, format!("the block `{name}`"));
        }
    }
    for guardrail in &surface.guardrails {
        if let Some(strategy) = &guardrail.strategy {
            fits(Defect::Guardrail, strategy, diagnostics);
        }
    }
}

/// The first of several strategies that has never a turn: one before it always applies.
fn idle(defect: Defect, strategies: &[Spanned<Strategy>]) -> Option<Diagnostic> {
    let fits = |strategy: Strategy| defect.fits().contains(&strategy);
    let last = strategies.iter().position(|one| fits(one.value) && one.value.always_answers(defect))?;
    let (last, never) = (strategies.get(last)?, strategies.get(last + 1)?);
    let message = format!("`{}` never answers `{defect}`: `{}` before it always does", never.value, last.value);
    let finding = Diagnostic::new(Code::PACK_UNFIT_STRATEGY, never.at, message)
        .with_place(last.at, "the list ends here")
        .with_help("put it first, or take it out");
    Some(finding.into_warning())
}

fn fits(defect: Defect, strategy: &Spanned<Strategy>, diagnostics: &mut Vec<Diagnostic>) {
    if !defect.fits().contains(&strategy.value) {
        let words: Vec<String> = defect.fits().iter().map(|fit| format!("`{fit}`")).collect();
        let message = format!("`{}` cannot answer `{defect}`", strategy.value);
        diagnostics.push(
            Diagnostic::new(Code::PACK_UNFIT_STRATEGY, strategy.at, message)
                .with_help(format!("what fits is {}", words.join(", "))),
        );
    }
}
