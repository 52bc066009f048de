//! Explained actions: does the model learn of everything that it may ask for?
//!
//! In: the permits of a program, and the texts that a model reads in each mode.
//! Out: a finding for each action that a mode permits and none of its texts names.
//! Never: asks how well it is explained.

use super::Reading;
use crate::diagnostic::{Code, Diagnostic};
use crate::program::Program;
use crate::prompt::Said;

pub(super) fn check(program: &Program, reading: &Reading, found: &mut Vec<Diagnostic>) {
    let Some((name, mode)) = program.modes.get_key_value(&reading.session.mode) else { return };
    if program.prompts.prompts.is_empty() {
        return;
    }
    // A template may name an action only once the session has come so far.
    let written = |one: &Said| program.sources().get(one.source).map(|source| source.text()).unwrap_or_default();
    let named =
        |action: &str| reading.said.iter().any(|one| one.text.contains(action) || written(one).contains(action));
    for (action, _, permits) in program.permitted(mode) {
        if let Some(permit) = permits.first()
            && !named(action)
        {
            let message = format!("no prompt of the mode `{name}` names the action `{action}` that it permits");
            found.push(
                Diagnostic::new(Code::PROMPT_UNEXPLAINED, permit.at, message)
                    .with_help("tell the model of it, print `actions` in a template, or take the permit out"),
            );
        }
    }
}
