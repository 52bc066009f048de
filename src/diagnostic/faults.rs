//! Faults: why is there no program, or no session?
//!
//! In: diagnostics, and the sources that they are about.
//! Out: [`Faults`], an error as the standard library has them.
//! Never: draws lines of a source; reports do.

use super::Diagnostic;
use crate::text::Sources;
use std::fmt;

/// What stood in the way, and nothing else: each error on a line of its own, with its place.
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

/// As it is displayed: what `main` returns and what `unwrap` panics with is printed this way, and is for people.
impl fmt::Debug for Faults {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Display::fmt(self, f)
    }
}

impl std::error::Error for Faults {}
