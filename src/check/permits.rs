//! Permits: does some mode permit every action, and can the model read the conditions?
//!
//! In: the actions and modes of a program, and what its templates print.
//! Out: a finding for each action that no mode permits, for each condition beside a permit without one, and
//! for each condition without a description if a template prints it.
//! Never: evaluates a permit's condition.

use crate::diagnostic::{Code, Diagnostic, is_slip};
use crate::expression::ENTRY;
use crate::program::{MatchingEntries, Permit, Program, PromptFile};
use crate::text::Location;
use indexmap::IndexMap;
use std::collections::HashSet;

pub(super) fn check(program: &Program, found: &mut Vec<Diagnostic>) {
    if let (Some((_, name, action)), false) = (program.actions_by_id().next(), program.declares_modes()) {
        let message = format!("the pack has no mode that permits the action `{name}`, or any other");
        let help = "add `[modes.default]` with `permits = [\"*\"]`, or with the names of those that may run";
        found.push(Diagnostic::new(Code::PACK_UNPERMITTED, action.at, message).with_help(help));
        return;
    }
    // A pack need not permit every action of a pack that it uses.
    let mut permitted = HashSet::new();
    program.modes.values().for_each(|mode| permitted.extend(program.permits_in(mode).map(|(id, _)| id)));
    for (id, name, action) in program.actions_by_id().filter(|(.., action)| program.files.is_own(action.at.source)) {
        if !permitted.contains(&id) {
            let other = program.actions.keys().find(|other| *other != name && is_slip(name, other));
            let help = other.map_or("permit it in a mode, or take it out".to_owned(), |other| {
                format!("permit it in a mode, or take it out; or did you mean `{other}`?")
            });
            let message = format!("no mode permits the action `{name}`");
            found.push(Diagnostic::new(Code::PACK_UNPERMITTED, action.at, message).with_help(help));
        }
    }
    idle(program, found);
    if explains_conditions(program) {
        unsaid(program, found);
    }
}

/// Reports conditions that forbid nothing, because another permit allows the same without a condition.
fn idle(program: &Program, found: &mut Vec<Diagnostic>) {
    for (mode, rules) in program.modes.iter() {
        // Each permit with a condition, and the unconditional permit for its actions; none if one of its actions has no
        // such permit.
        let mut conditional: IndexMap<Location, Option<(&str, Location)>> = IndexMap::new();
        if rules.actions.permits.iter().all(|permit| permit.when.is_none()) {
            continue;
        }
        for (id, permits) in program.permits_in(rules) {
            let Some((name, _)) = program.action(id) else { continue };
            // For a pattern for tools, only an unconditional permit that covers the whole pattern counts.
            let covering = rules.actions.possible(name);
            let free = covering.iter().find(|permit| permit.is_free()).map(|permit| (name.as_str(), permit.at));
            for permit in permits.iter().filter(|permit| permit.when.is_some()) {
                let before = conditional.entry(permit.at).or_insert(free);
                *before = before.and(free);
            }
        }
        for (at, (name, free)) in conditional.into_iter().filter_map(|(at, free)| Some((at, free?))) {
            let message = format!("this condition forbids nothing: `{mode}` permits `{name}` without one, too");
            found.push(
                Diagnostic::new(Code::PACK_IDLE_PERMIT, at, message)
                    .with_place(free, "permitted here")
                    .with_help("take one of the two out: of several permits any one is enough"),
            );
        }
    }
}

/// Whether a template prints the conditions of permits.
fn explains_conditions(program: &Program) -> bool {
    let asks = |path: &[String]| path.iter().eq(["actions", ENTRY, "when"]);
    let mut templates = program.prompts.texts.iter().filter_map(PromptFile::template);
    templates.any(|document| document.reads().inner().any(|(path, _)| asks(path)))
}

fn unsaid(program: &Program, found: &mut Vec<Diagnostic>) {
    let mut unsaid: Vec<&Permit> = Vec::new();
    for mode in program.modes.values() {
        let conditional =
            |(.., permits): &(_, _, MatchingEntries<'_>)| permits.iter().all(|permit| permit.when.is_some());
        let permits = program.permitted(mode).filter(conditional).flat_map(|(.., permits)| permits);
        unsaid.extend(permits.filter(|permit| permit.about.is_none()));
    }
    for permit in unsaid {
        let message = "a prompt says when actions are permitted, but this permit does not describe its condition";
        found.push(
            Diagnostic::new(Code::PROMPT_UNSAID_CONDITION, permit.at, message)
                .with_help("describe it for the model in one sentence: `about`"),
        );
    }
}
