//! Comparisons: can what is compared ever be the same?
//!
//! In: the constants that a program's conditions and templates compare with a value of which the pack says what it may be.
//! Out: a finding for each that it never is.
//! Never: evaluates a condition.

use crate::diagnostic::{Code, Diagnostic};
use crate::program::Program;

pub(super) fn check(program: &Program, found: &mut Vec<Diagnostic>) {
    for one in &program.idle_comparisons {
        found.push(one.explain(Diagnostic::new(Code::PACK_IDLE_COMPARISON, one.constant.at, one.message())));
    }
}
