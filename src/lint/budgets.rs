//! Budgets: is there room for every prompt, for the smallest model too?
//!
//! In: a program.
//! Out: a finding for each layer that is larger than its budget, and for each prompt that a tier has no room for, as long
//! as nobody has said anything.
//! Never: guesses how long a conversation becomes.

use crate::diagnostic::Diagnostic;
use crate::program::Program;

pub(super) fn check(program: &Program, found: &mut Vec<Diagnostic>) {
    found.extend(program.budgets_that_fail());
}
