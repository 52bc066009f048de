//! Budget: how many steps may reading take?
//!
//! In: how much of the response has arrived, and the steps that the limits allow for each byte.
//! Out: the progress of a machine that runs within these steps.
//! Never: gives up as too costly while more text may allow more steps.

use crate::grammar::{Machine, Progress};
use crate::program::Family;

/// The steps that may still be taken.
#[derive(Debug, Clone, Copy)]
pub(super) struct StepBudget {
    pub(super) used: u64,
    pub(super) per_byte: u64,
}

/// Steps that every response may take, however short it is.
const FREE_STEPS: u64 = 10_000;

impl StepBudget {
    /// Runs the machine within the steps that the text so far allows.
    pub(super) fn run(&mut self, machine: &mut Machine, family: &Family, text: &str, complete: bool) -> Progress {
        let mut left = self.left(text);
        let before = left;
        let progress = machine.run(&family.grammar, text, complete, &mut left);
        self.used += before - left;
        pending(progress, complete)
    }

    /// The same as [`run`](Self::run), but only to where the name starts.
    pub(super) fn run_to_name(
        &mut self,
        machine: &mut Machine,
        family: &Family,
        text: &str,
        complete: bool,
    ) -> Result<usize, Progress> {
        let mut left = self.left(text);
        let before = left;
        let reached = machine.run_to(family.name, &family.grammar, text, complete, &mut left);
        self.used += before - left;
        reached.map_err(|progress| pending(progress, complete))
    }

    fn left(&self, text: &str) -> u64 {
        (FREE_STEPS + self.per_byte * text.len() as u64).saturating_sub(self.used)
    }
}

/// More text allows more steps, so running out of them is pending until the text is complete.
fn pending(progress: Progress, complete: bool) -> Progress {
    match progress {
        Progress::Spent if !complete => Progress::Pending,
        other => other,
    }
}
