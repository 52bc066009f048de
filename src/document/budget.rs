//! Budget: how many steps may one part of reading take?
//!
//! In: how much of the response has arrived, and the steps that the limits allow for each byte.
//! Out: the progress of a machine that runs within these steps.
//! Never: gives up as too costly while more text may allow more steps.
//!
//! An answer must be read in the same way however it is cut. So each part of reading has a budget of its own, and runs
//! its machines in the order of the text: then a run finds the same steps left whether the text has arrived or not.

use crate::grammar::{Machine, Progress, RuleId};
use crate::program::{Family, Limits};

/// How much of the response has arrived: that many bytes, and whether they are all.
#[derive(Debug, Clone, Copy, Default)]
pub(super) struct Arrived {
    pub(super) bytes: usize,
    pub(super) complete: bool,
}

impl Arrived {
    /// Whether the response may still grow, and has not reached this length.
    pub(super) fn is_before(self, length: usize) -> bool {
        !self.complete && self.bytes < length
    }

    /// How much of the response is examined for what starts at `at`, and the length from which on more is examined: the
    /// text after `at` grows in steps of at most an eighth. So the result does not depend on the pieces in which the
    /// response arrives, and takes linear time.
    pub(super) fn seen_from(self, at: usize) -> (Self, usize) {
        if self.complete {
            return (self, self.bytes);
        }
        let after = self.bytes.saturating_sub(at);
        let step = 1 << after.checked_ilog2().unwrap_or_default().saturating_sub(3);
        let bytes = at + after - after % step;
        (Self { bytes, complete: false }, bytes + step)
    }
}

/// The steps that one part of reading has taken, and may take for each byte.
#[derive(Debug, Clone, Copy)]
pub(super) struct StepBudget {
    used: i64,
    per_byte: i64,
}

/// Steps that every response may take, however short it is.
const FREE_STEPS: i64 = 10_000;

impl StepBudget {
    /// A budget of which nothing is used.
    pub(super) fn new(limits: &Limits) -> Self {
        Self { used: 0, per_byte: i64::try_from(limits.steps_per_byte).unwrap_or(i64::MAX) }
    }

    /// A budget like this one, of which nothing is used.
    pub(super) fn anew(self) -> Self {
        Self { used: 0, ..self }
    }

    /// Runs the machine on a text within the steps that the response so far allows. The text is the response up to
    /// where the rule may reach; `complete` says whether all of it has arrived.
    pub(super) fn run(
        &mut self,
        machine: &mut Machine,
        family: &Family,
        (text, complete): (&str, bool),
        arrived: Arrived,
    ) -> Progress {
        let allowed = self.allowed(arrived);
        let mut left = allowed - self.used;
        let progress = machine.run(&family.grammar, text, complete, &mut left);
        self.used = allowed - left;
        pending(progress, arrived)
    }

    /// Runs the machine as [`run`](Self::run) does, but only to where the name starts.
    pub(super) fn run_to_name(
        &mut self,
        machine: &mut Machine,
        family: &Family,
        (text, complete): (&str, bool),
        arrived: Arrived,
    ) -> Result<usize, Progress> {
        let allowed = self.allowed(arrived);
        let mut left = allowed - self.used;
        let reached = machine.run_to(family.name, &family.grammar, text, complete, &mut left);
        self.used = allowed - left;
        reached.map_err(|progress| pending(progress, arrived))
    }

    /// Runs a machine that starts again when more text has arrived: the steps of a run without a result do not count.
    pub(super) fn run_anew(
        &mut self,
        machine: &mut Machine,
        family: &Family,
        text: (&str, bool),
        arrived: Arrived,
    ) -> Progress {
        let used = self.used;
        let progress = self.run(machine, family, text, arrived);
        if progress == Progress::Pending {
            self.used = used;
        }
        progress
    }

    fn allowed(&self, arrived: Arrived) -> i64 {
        self.per_byte.saturating_mul(arrived.bytes as i64).saturating_add(FREE_STEPS)
    }
}

/// More text allows more steps, so running out of them is pending until the response is complete.
fn pending(progress: Progress, arrived: Arrived) -> Progress {
    match progress {
        Progress::Spent if !arrived.complete => Progress::Pending,
        other => other,
    }
}

/// A machine with a budget of its own. It continues while it is asked for the same place, and remembers its result
/// until it is asked for another.
#[derive(Debug)]
pub(super) struct MachineAtPlace {
    machine: Machine,
    budget: StepBudget,
    /// The place, and the index of the family whose rule is matched there.
    place: Option<(usize, usize)>,
}

impl MachineAtPlace {
    pub(super) fn new(machine: Machine, limits: &Limits) -> Self {
        Self { machine, budget: StepBudget::new(limits), place: None }
    }

    /// Matches `rule` of the family with this index at the place `at`.
    pub(super) fn run(
        &mut self,
        at: usize,
        (index, family, rule): (usize, &Family, RuleId),
        text: (&str, bool),
        arrived: Arrived,
    ) -> Progress {
        if self.place != Some((at, index)) {
            self.machine.start(&family.grammar, rule, at);
            self.place = Some((at, index));
        }
        self.budget.run(&mut self.machine, family, text, arrived)
    }

    /// The machine, with the captures of the last match.
    pub(super) fn machine(&self) -> &Machine {
        &self.machine
    }
}
