//! State: is what is read ever set, and what is set ever read?
//!
//! In: the values of a program's state, and what its expressions and effects touch.
//! Out: a finding for each value that has one side only.
//! Never: knows what the host does with a session: what only the host reads is worth a word, no more.

use crate::diagnostic::{Code, Diagnostic};
use crate::program::Program;

pub(super) fn check(program: &Program, found: &mut Vec<Diagnostic>) {
    for (name, slot) in &program.slots {
        if slot.read && !slot.given {
            found.push(
                Diagnostic::new(
                    Code::PACK_UNSET_STATE,
                    slot.at,
                    format!("`state.{name}` is read, but nothing sets it"),
                )
                .with_help("give it a `default`, an effect that sets it, or `from = \"host\"`"),
            );
        }
        if slot.changed && !slot.read {
            found.push(
                Diagnostic::new(
                    Code::PACK_UNREAD_STATE,
                    slot.at,
                    format!("`state.{name}` is set, but nothing here reads it"),
                )
                .with_help("fine if the host does; else take it out"),
            );
        }
    }
}
