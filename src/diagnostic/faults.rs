//! Faults: why is there no program, or no session?
//!
//! In: diagnostics, and the sources they point into.
//! Out: [`Faults`], a standard Rust error.
//! Never: draws source lines; reports do.

use super::Diagnostic;
use crate::text::Sources;
use std::fmt;

/// The errors that stood in the way. Prints each on a line of its own, with its place.
#[derive(Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct Faults {
    /// The errors, in the order in which they were found.
    pub diagnostics: Vec<Diagnostic>,
    text: String,
}

impl Faults {
    pub(crate) fn new(mut diagnostics: Vec<Diagnostic>, sources: &Sources) -> Self {
        diagnostics.retain(Diagnostic::is_error);
        let line = |one: &Diagnostic| match one.at.and_then(|at| sources.place_name(at)) {
            Some(place) => format!("{place}: {one}"),
            None => one.to_string(),
        };
        let lines: Vec<String> = diagnostics.iter().map(line).collect();
        Self { text: lines.join("\n"), diagnostics }
    }
}

impl fmt::Display for Faults {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.text)
    }
}

/// The same as `Display`, because people read what `main` returns and what `unwrap` panics with.
impl fmt::Debug for Faults {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Display::fmt(self, f)
    }
}

impl std::error::Error for Faults {}
