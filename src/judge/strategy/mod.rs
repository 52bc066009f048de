//! Strategies: what is done about a defect? One file for each.
//!
//! In: the judgement so far, and the subject of the defect; for a strategy that corrects, one value that is not valid.
//! Out: the changed judgement, and whether the strategy applies; if not, the next one is tried. From a strategy that
//! corrects, the replacement of the value.
//! Never: depends on the defect: a strategy does the same everywhere.

mod ask_again;
mod coerce;
mod default;
mod drop;
mod interpret;
mod join;
mod keep;
mod keep_as_text;
mod keep_first;
mod keep_last;
mod lift;
mod omit;
mod refuse;
mod repair;
mod salvage;
mod take_stray_text;

use super::invalid_values::{MisfitPart, Replacement};
use super::{Judgement, Subject};
use crate::diagnostic::Strategy;

/// Applies a strategy; returns false if it does not apply to the subject.
pub(super) fn apply(strategy: Strategy, judgement: &mut Judgement<'_>, subject: &Subject) -> bool {
    match strategy {
        Strategy::Keep => keep::apply(judgement, subject),
        Strategy::Drop => drop::apply(judgement, subject),
        Strategy::KeepAsText => keep_as_text::apply(judgement, subject),
        Strategy::Lift => lift::apply(judgement, subject),
        Strategy::Repair => repair::apply(judgement, subject),
        Strategy::Salvage => salvage::apply(judgement, subject),
        Strategy::KeepFirst => keep_first::apply(judgement, subject),
        Strategy::KeepLast => keep_last::apply(judgement, subject),
        Strategy::Join => join::apply(judgement, subject),
        Strategy::TakeStrayText => take_stray_text::apply(judgement, subject),
        Strategy::Refuse => refuse::apply(),
        Strategy::AskAgain => ask_again::apply(judgement, subject),
        Strategy::Omit => omit::apply(judgement, subject),
        // Guardrails redact matches themselves; here there is no match to redact.
        Strategy::Redact => false,
        // These strategies change single values, by `replace`.
        Strategy::Coerce | Strategy::Interpret | Strategy::Default => false,
    }
}

/// The change that a strategy makes to a value that is not valid; `None` if it does not apply.
pub(super) fn replace(strategy: Strategy, judgement: &Judgement<'_>, part: &MisfitPart<'_>) -> Option<Replacement> {
    match strategy {
        Strategy::Coerce => coerce::replace(judgement, part),
        Strategy::Interpret => interpret::replace(part),
        Strategy::Default => default::replace(part),
        Strategy::Omit => omit::replace(part),
        // These strategies answer a whole call or section, by `apply`.
        Strategy::Keep | Strategy::Drop | Strategy::KeepAsText | Strategy::Lift | Strategy::Redact => None,
        Strategy::Repair | Strategy::Salvage | Strategy::Refuse | Strategy::AskAgain => None,
        Strategy::KeepFirst | Strategy::KeepLast | Strategy::Join | Strategy::TakeStrayText => None,
    }
}
