//! Limits: how much work and memory may one evaluation take?
//!
//! In: the steps and bytes that an evaluation is about to use.
//! Out: a [`Halt`] before it uses more than is allowed.
//! Never: allocates.

use super::evaluator::Evaluator;
use super::item::Item;
use super::resolve::ScopeRead;
use super::tree::ExprBody;
use super::{Failure, FailureKind, Scope};
use crate::text::excerpt;
use crate::value::weight;
pub(super) use crate::value::{MAX_VALUE_DEPTH, NODE_WEIGHT};

/// The maximum number of steps of one evaluation, plus one for each byte of the largest value that it reads.
pub const FUEL: u64 = 50_000;
/// The maximum number of bytes that one evaluation may allocate, plus 4 times the size of the largest value that it
/// reads.
pub const WEIGHT: usize = 4 << 20;
/// How many bytes may be allocated between two checks of the limits.
pub(super) const BYTES_BETWEEN_CHECKS: usize = 16 << 10;
/// How many bytes of text count as one step when they are searched or compared.
pub(super) const BYTES_PER_STEP: usize = 64;

/// Why an evaluation ends without a value.
#[derive(Debug)]
pub(super) struct Halt(Box<Failure>, Cause);

/// Whether it is known if an absent value is the cause.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Cause {
    Known,
    /// An absent value is the cause if any value that was read is absent.
    Unknown,
}

impl Halt {
    /// A failure that no absent value causes.
    pub(super) fn new(message: impl Into<String>) -> Self {
        Self(Box::new(Failure::new(message)), Cause::Known)
    }

    /// A failure due to a value of the wrong kind, which may be an absent one.
    pub(super) fn unfit(item: &Item<'_>, message: impl Into<String>) -> Self {
        let kind = if item.is_none() { FailureKind::Absence } else { FailureKind::Fault };
        Self(Box::new(Failure { message: message.into(), kind }), Cause::Known)
    }

    /// A failure due to a value that may have been computed from an absent one.
    pub(super) fn failed(message: impl Into<String>) -> Self {
        Self(Box::new(Failure::new(message)), Cause::Unknown)
    }

    /// The failure for callers of the evaluation: if the cause is not known, it is an absent value if any read one is
    /// absent.
    pub(super) fn outside(self, body: &ExprBody, scope: &Scope<'_>) -> Failure {
        let Self(failure, cause) = self;
        let is_absent = |read: &&ScopeRead| read.resolve(scope).is_ok_and(|value| value.is_null());
        let may_be_absent = cause == Cause::Unknown && failure.kind == FailureKind::Fault;
        let absence = may_be_absent && body.reads().iter().any(is_absent);
        let kind = if absence { FailureKind::Absence } else { failure.kind };
        Failure { message: excerpt(&failure.message, 200).into_owned(), kind }
    }
}

impl From<Failure> for Halt {
    fn from(failure: Failure) -> Self {
        Self(Box::new(failure), Cause::Known)
    }
}

impl<'v> Evaluator<'v> {
    /// Charges steps.
    #[inline]
    pub(super) fn step(&self, steps: usize) -> Result<(), Halt> {
        let taken = self.steps.get().saturating_add(steps as u64);
        self.steps.set(taken);
        if taken <= FUEL || taken <= FUEL.saturating_add(self.size() as u64) {
            return Ok(());
        }
        Err(Halt::new("this takes too many steps for the size of the values that it reads"))
    }

    /// Charges the steps for searching or comparing this many bytes.
    #[inline]
    pub(super) fn search(&self, bytes: usize) -> Result<(), Halt> {
        self.step(1 + bytes / BYTES_PER_STEP)
    }

    /// Charges bytes that are about to be allocated.
    #[inline]
    pub(super) fn make(&self, bytes: usize) -> Result<(), Halt> {
        let made = self.bytes.get().saturating_add(bytes);
        self.bytes.set(made);
        if made <= self.room.get() { Ok(()) } else { self.make_room(made) }
    }

    /// Checks whether this many bytes in all are allowed, and sets when to check again.
    #[cold]
    fn make_room(&self, bytes: usize) -> Result<(), Halt> {
        if bytes > WEIGHT && bytes > WEIGHT.saturating_add(self.size().saturating_mul(4)) {
            return Err(Halt::new("this takes too much memory for the size of the values that it reads"));
        }
        self.scope.budget().map_or(Ok(()), |budget| budget.allows(bytes)).map_err(Failure::exceeded)?;
        self.room.set(bytes.saturating_add(BYTES_BETWEEN_CHECKS));
        Ok(())
    }

    /// Charges bytes that outlive this evaluation to the budget of the occasion.
    pub(super) fn charge_stored(&self, bytes: usize) -> Result<(), Halt> {
        let budget = self.scope.budget().filter(|_| bytes > 0);
        budget.map_or(Ok(()), |budget| budget.take(bytes)).map_err(|exceeded| Failure::exceeded(exceeded).into())
    }

    /// The size of the largest value that is read, in bytes. It is computed lazily: only long evaluations need it.
    fn size(&self) -> usize {
        *self.size.get_or_init(|| {
            let reads = self.body.reads().into_iter();
            reads
                .filter_map(|read| read.resolve(self.scope).ok())
                .map(|value| weight(&value, MAX_VALUE_DEPTH))
                .max()
                .unwrap_or(0)
        })
    }
}
