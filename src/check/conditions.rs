//! Conditions: can each condition be true, and can it be false?
//!
//! In: the conditions of permits, effects and layers, the values that effects and the host give the state, and the
//! constants that conditions and templates compare with values whose possibilities the pack declares.
//! Out: a finding for each condition that is never true, for each permit whose condition is always true, and for each
//! constant that a value never equals.
//! Never: reports conditions that read only constants: authors use these to turn things on and off.

use super::gates::Changes;
use crate::diagnostic::{Code, Diagnostic};
use crate::expression::{Expression, Scope};
use crate::program::Program;

pub(super) fn check(program: &Program, found: &mut Vec<Diagnostic>) {
    // Comparisons that fail for every value have been reported already.
    for one in program.idle_comparisons.iter().filter(|one| !one.fails()) {
        found.push(one.explain(Diagnostic::new(Code::PACK_IDLE_COMPARISON, one.constant.at, one.message())));
    }
    let changes = program.changes();
    permits(program, &changes, found);
    let effects = program.effects().into_iter().filter_map(|(_, effect)| effect.when.as_ref());
    let layers = program.prompts.prompts.values().flat_map(|prompt| &prompt.layers);
    let layers = layers.filter_map(|layer| layer.when.as_ref());
    let what = effects
        .map(|when| (when, "this effect never happens"))
        .chain(layers.map(|when| (when, "this layer is never used")));
    for (when, message) in what.filter(|(when, _)| is_never_true(program, &changes, when, None)) {
        let message = format!("{message}: its condition is false for every value that is ever set");
        let finding = Diagnostic::new(Code::PACK_IDLE_COMPARISON, when.at(), message);
        found.push(finding.with_help("fix the condition, or take out what depends on it"));
    }
}

fn permits(program: &Program, changes: &Changes<'_>, found: &mut Vec<Diagnostic>) {
    for (name, mode) in program.modes.iter() {
        let all = mode.actions.permits.iter().chain(mode.contents.permits.iter());
        for when in all.filter_map(|permit| permit.when.as_ref()) {
            let (message, help) = if is_never_true(program, changes, when, Some(name)) {
                (
                    "this permits nothing: its condition is false for every value that is ever set",
                    "fix the condition, or take the permit out",
                )
            } else if always_holds(when) {
                ("this condition forbids nothing: it is always true", "fix the condition, or take it out")
            } else {
                continue;
            };
            found.push(Diagnostic::new(Code::PACK_IDLE_PERMIT, when.at(), message).with_help(help));
        }
    }
}

/// Whether a condition is true in no possible state.
pub(super) fn is_never_true(program: &Program, changes: &Changes<'_>, when: &Expression, mode: Option<&str>) -> bool {
    let mut reads = when.reads().iter().filter_map(|path| path.first());
    let constant = !when.reads().is_empty() && reads.all(|head| head == "data");
    !constant && program.is_never_true(changes, when, mode).is_some()
}

fn always_holds(when: &Expression) -> bool {
    when.reads().is_empty() && when.holds(&Scope::new()) == Ok(true)
}
