//! Permits: is every action of use to some mode?
//!
//! In: the actions and modes of a program.
//! Out: a finding for each action that no mode permits.
//! Never: evaluates a permit's condition.

use crate::diagnostic::{Code, Diagnostic};
use crate::program::Program;

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
}
