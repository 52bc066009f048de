//! Permits: is every action of use to some mode, and is it said when it is permitted?
//!
//! In: the actions and modes of a program, and what its templates print.
//! Out: a finding for each action that no mode permits, and for each condition without words where a template asks for them.
//! Never: evaluates a permit's condition.

use crate::diagnostic::{Code, Diagnostic};
use crate::expression::ENTRY;
use crate::program::{Body, Permit, Program};

pub(super) fn check(program: &Program, found: &mut Vec<Diagnostic>) {
    for (number, (name, action)) in program.actions.iter().enumerate() {
        let permitted = program.modes.values().any(|mode| !mode.permits_of(number).is_empty());
        if !permitted {
            found.push(
                Diagnostic::new(Code::PACK_UNPERMITTED, action.at, format!("no mode permits the action `{name}`"))
                    .with_help("permit it in a mode, or take it out"),
            );
        }
    }
    if says_conditions(program) {
        unsaid(program, found);
    }
}

/// Whether a template prints under which conditions actions are permitted.
fn says_conditions(program: &Program) -> bool {
    let asks = |path: &[String]| path.iter().eq(["actions", ENTRY, "when"]);
    program.prompts.texts.iter().any(|text| match &text.body {
        Body::Template(document) => document.reads().looks().any(|(path, _)| asks(path)),
        Body::Plain(_) => false,
    })
}

fn unsaid(program: &Program, found: &mut Vec<Diagnostic>) {
    let conditional = |permits: &&Vec<Permit>| permits.iter().all(|permit| permit.when.is_some());
    let permits = program.modes.values().flat_map(|mode| &mode.permits).filter(conditional).flatten();
    let mut told = Vec::new();
    for permit in permits.filter(|permit| permit.about.is_none()) {
        if !told.contains(&permit.at) {
            told.push(permit.at);
            let message = "a prompt says when actions are permitted, but this permit has no words for it";
            found.push(
                Diagnostic::new(Code::PROMPT_UNSAID_CONDITION, permit.at, message)
                    .with_help("say it to the model in a sentence: `about`"),
            );
        }
    }
}
