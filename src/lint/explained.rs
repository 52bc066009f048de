//! Explained actions: does the model learn of everything that it may ask for?
//!
//! In: the permits of a program, and the texts that a model reads in each mode.
//! Out: a finding for each action that a mode permits and none of its texts names.
//! Never: asks how well it is explained.

use crate::diagnostic::{Code, Diagnostic};
use crate::program::Program;
use crate::session::Session;

pub(super) fn check(program: &Program, found: &mut Vec<Diagnostic>) {
    if program.prompts.prompts.is_empty() {
        return;
    }
    let initial = program.session();
    for (name, mode) in &program.modes {
        let session = Session { mode: name.clone(), ..initial.clone() };
        let said = program.texts_said(&session);
        // A template may name an action only once the session has come so far.
        let written = |source| program.sources().get(source).map(|source| source.text()).unwrap_or_default();
        let named =
            |action: &str| said.iter().any(|one| one.text.contains(action) || written(one.source).contains(action));
        for ((action, _), permits) in program.actions.iter().zip(&mode.permits) {
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
}
