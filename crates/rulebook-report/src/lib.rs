//! Reports: how are results printed for people and for programs?
//!
//! In: diagnostics, outcomes, case runs and tables, all plain data.
//! Out: text for people ([`Pen`]); for programs the same results as [`Row`]s, with one module for each format
//! ([`json`], [`plain`], [`github`], [`sarif()`], [`junit()`]); with the feature `schema`, their schemas.
//! Never: decides anything, or writes to a terminal. No other crate formats text for people.

mod applied;
mod cases;
mod compared;
#[cfg(feature = "schema")]
pub mod derived;
mod diff;
mod drawing;
mod explain;
mod heard;
pub mod json;
mod junit;
mod lines;
mod outcome;
mod page;
mod played;
mod prompt;
mod replayed;
mod reply;
mod row;
mod sarif;
mod story;
mod suggestion;
mod window;

pub use applied::{AppliedFile, applied_sum, unwritten};
pub use cases::TestedPack;
pub use compared::{compared_plain, compared_sum};
pub use diff::{unified, unified_paths};
pub use drawing::{Pen, unpainted};
pub use heard::heard_status;
pub use junit::junit;
pub use lines::{github, plain};
pub use outcome::{status, visible};
pub use played::state_line;
pub use replayed::{Counts, Differing, Replayed, Sums};
pub use reply::flattened;
pub use row::row_of_line;
pub use rulebook::diagnostic::{Row, RowLabel};
pub use sarif::sarif;

use drawing::{BAD, GOOD, WARN, paint};
use rulebook::Severity;

/// A number with its noun: `1 error`, `2 errors`.
fn count(number: usize, what: &str) -> String {
    if number == 1 { format!("1 {what}") } else { format!("{number} {what}s") }
}

/// How many findings there are of each severity.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Tally {
    /// How many errors.
    pub errors: usize,
    /// How many warnings.
    pub warnings: usize,
    /// How many remarks.
    pub infos: usize,
}

impl Tally {
    /// Counts severities.
    pub fn of(severities: impl IntoIterator<Item = Severity>) -> Self {
        let mut tally = Self::default();
        for severity in severities {
            match severity {
                Severity::Error => tally.errors += 1,
                Severity::Warning => tally.warnings += 1,
                Severity::Info => tally.infos += 1,
            }
        }
        tally
    }

    /// The counts that are not zero: `1 error`, `2 warnings`, `3 remarks`.
    fn words(self) -> impl Iterator<Item = String> {
        let errors = (self.errors > 0).then(|| paint(BAD, &count(self.errors, "error")));
        let warnings = (self.warnings > 0).then(|| count(self.warnings, "warning"));
        let remarks = (self.infos > 0).then(|| count(self.infos, "remark"));
        [errors, warnings, remarks].into_iter().flatten()
    }
}

/// The last line of `check`: how many packs, and how many errors and warnings.
pub fn checked_sum(packs: usize, Tally { errors, warnings, .. }: Tally) -> String {
    let packs = count(packs, "pack");
    match (errors, warnings) {
        (0, 0) => format!("{packs}: {}\n", paint(GOOD, "clean")),
        (0, _) => format!("{packs}: {}\n", paint(WARN, &count(warnings, "warning"))),
        (_, 0) => format!("{packs}: {}\n", paint(BAD, &count(errors, "error"))),
        _ => {
            format!("{packs}: {}, {}\n", paint(BAD, &count(errors, "error")), paint(WARN, &count(warnings, "warning")))
        }
    }
}
