//! Findings: what is told where there is more than the limit allows?
//!
//! In: diagnostics of a response or of words, one after the other.
//! Out: [`Findings`], as many as the limit allows, and how many it left out.
//! Never: leaves an error out for something lesser.

use super::{Code, Diagnostic, Remark};
use crate::text::{Location, Span};

/// What was found, up to a limit.
#[derive(Debug, Default)]
pub(crate) struct Findings {
    pub(crate) list: Vec<Diagnostic>,
    /// How many more there were.
    pub(crate) left_out: usize,
    most: usize,
}

impl Findings {
    /// None yet, but for those that were `left_out` before.
    pub(crate) fn new(most: usize, left_out: usize) -> Self {
        Self { list: Vec::new(), left_out, most }
    }

    /// Adds a finding, up to the limit. An error stands in for a lesser one: it is what the exit status says.
    pub(crate) fn add(&mut self, finding: Diagnostic) {
        if self.list.len() < self.most {
            self.list.push(finding);
            return;
        }
        self.left_out += 1;
        let lesser = |one: &&mut Diagnostic| !one.is_error();
        if finding.is_error()
            && let Some(last) = self.list.iter_mut().rev().find(lesser)
        {
            *last = finding;
        }
    }

    /// Those that were kept and, at `end`, how many were not.
    pub(crate) fn into_list(self, end: usize) -> Vec<Diagnostic> {
        let Self { mut list, left_out, .. } = self;
        if left_out > 0 {
            let message = format!("{left_out} more findings are left out");
            let end = Location::response(Span::new(end, end));
            list.push(Diagnostic::new(Code::Remark(Remark::Note), end, message));
        }
        list
    }
}
