//! Trimming: how does a layer become shorter?
//!
//! In: a draft, and how many tokens it may have.
//! Out: the draft with other choices, and a note of what was left out.
//! Never: cuts a text of the author; each file here is one strategy of the pack language.

mod drop;
pub(super) mod entries;
mod never;
pub(super) mod oldest_turns;
mod variant;

use super::draft::{Draft, PromptScope};
use crate::surface::Trimming;
use std::fmt;

/// Why a layer is made shorter.
#[derive(Debug, Clone, Copy)]
pub(super) enum TrimReason {
    /// The pack says how many items or turns there are at the most.
    Most(usize),
    /// The layer keeps to its budget; without one, its template could not be written as it was.
    Budget(Option<usize>),
    /// The whole keeps to what its tier or the model takes in.
    Whole(usize),
}

impl fmt::Display for TrimReason {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            TrimReason::Most(most) => write!(f, "at most {most}"),
            TrimReason::Budget(Some(budget)) => write!(f, "for its budget of {budget} tokens"),
            TrimReason::Budget(None) => f.write_str("as it could not be written whole"),
            TrimReason::Whole(input) => write!(f, "for the whole of {input} tokens"),
        }
    }
}

/// Lets one strategy make the draft as short as `limit`, if it can.
pub(super) fn apply<'d>(
    strategy: Trimming,
    draft: &mut Draft<'d>,
    limit: usize,
    why: TrimReason,
    sight: &PromptScope<'d>,
) {
    match strategy {
        Trimming::Never => never::trim(),
        Trimming::Variant => variant::trim(draft, limit, why, sight),
        Trimming::Entries => entries::trim(draft, limit, why, sight),
        Trimming::OldestTurns => oldest_turns::trim(draft, limit, why, sight),
        Trimming::Drop => drop::trim(draft, why),
    }
}
