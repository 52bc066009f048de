//! Comparisons: can what is compared ever be the same?
//!
//! In: the texts that a program's conditions and templates compare with a value of which the pack says all that it may be.
//! Out: a finding for each that it never is.
//! Never: evaluates a condition.

use crate::diagnostic::{Code, Diagnostic};
use crate::program::Program;
use crate::text::excerpt;

pub(super) fn check(program: &Program, found: &mut Vec<Diagnostic>) {
    for one in &program.idle_comparisons {
        let message = format!("`{}` is never `{}`", one.path, excerpt(&one.text.value, 60));
        found.push(
            Diagnostic::new(Code::PACK_IDLE_COMPARISON, one.text.at, message)
                .with_nearest(&one.text.value, one.known.iter().map(String::as_str)),
        );
    }
}
