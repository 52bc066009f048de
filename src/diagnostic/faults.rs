//! Faults: why is there no program, or no session?
//!
//! In: diagnostics, and the sources they point into.
//! Out: [`Faults`], a standard Rust error.
//! Never: prints source lines; reports do.

use super::{Code, Diagnostic};
use crate::text::Sources;
use std::fmt;

/// The errors that prevented a result. Prints each error on its own line, with its place.
#[derive(Clone)]
#[non_exhaustive]
pub struct Faults {
    /// The errors, in the order in which they were found.
    pub diagnostics: Vec<Diagnostic>,
    /// The files that the places are in: reports print their lines.
    pub sources: Sources,
}

impl Faults {
    /// The errors among `diagnostics`, and the sources that they point into.
    #[doc(hidden)]
    pub fn new(mut diagnostics: Vec<Diagnostic>, sources: Sources) -> Self {
        diagnostics.retain(Diagnostic::is_error);
        Self { diagnostics, sources }
    }

    /// The error of a reader that is given both chunks and bytes.
    pub(crate) fn mixed() -> Self {
        let message = "this reader reads the bytes of a text, and takes no chunks";
        let fault = Diagnostic::new(Code::RESPONSE_UNREADABLE, None, message);
        let help = "start another reader for a reply that comes in chunks";
        Self::new(vec![fault.with_help(help)], Sources::default())
    }
}

impl fmt::Display for Faults {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for (number, one) in self.diagnostics.iter().enumerate() {
            let place = one.at.and_then(|at| self.sources.place(at));
            f.write_str(if number == 0 { "" } else { "\n" })?;
            place.iter().try_for_each(|place| write!(f, "{place}: "))?;
            write!(f, "{one}")?;
        }
        Ok(())
    }
}

/// Two values are equal if their diagnostics are; the sources do not count.
impl PartialEq for Faults {
    fn eq(&self, other: &Self) -> bool {
        self.diagnostics == other.diagnostics
    }
}

impl Eq for Faults {}

/// Like `Display`, since users read what `main` returns and what `unwrap` panics with.
impl fmt::Debug for Faults {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Display::fmt(self, f)
    }
}

impl std::error::Error for Faults {}
