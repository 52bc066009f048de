//! Limits: how much work and memory may one evaluation take?
//!
//! In: steps and bytes, as an evaluation takes them.
//! Out: a [`Halt`] before more is taken than is allowed.
//! Never: allocates.

use super::evaluator::Evaluator;
use super::item::Item;
use super::resolve::ScopeRead;
use super::tree::ExprBody;
use super::{Failure, FailureKind, Scope};
use crate::text::excerpt;
use crate::value::weight;
pub(super) use crate::value::{DEPTH, NODE};

/// The steps of one evaluation; plus one for each byte that the largest value read weighs.
pub const FUEL: u64 = 50_000;
/// The bytes that one evaluation may make; plus 4 times the weight of the largest value read.
pub const WEIGHT: usize = 4 << 20;
/// So many bytes are made without asking again.
pub(super) const ROOM: usize = 16 << 10;
/// The bytes of text that count as one step when they are searched or compared.
pub(super) const STRIDE: usize = 64;

/// Why an evaluation ends without a value.
#[derive(Debug)]
pub(super) struct Halt(Box<Failure>, Cause);

/// Whether the cause is an absent value.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Cause {
    Known,
    /// It may be, if anything that was read is absent.
    Unknown,
}

impl Halt {
    /// What is wrong whichever values are absent.
    pub(super) fn new(message: impl Into<String>) -> Self {
        Self(Box::new(Failure::new(message)), Cause::Known)
    }

    /// A value of the wrong kind, which may be absent.
    pub(super) fn unfit(item: &Item<'_>, message: impl Into<String>) -> Self {
        let kind = if item.is_none() { FailureKind::Absence } else { FailureKind::Fault };
        Self(Box::new(Failure { message: message.into(), kind }), Cause::Known)
    }

    /// What is wrong with a value that may have been made of an absent one.
    pub(super) fn failed(message: impl Into<String>) -> Self {
        Self(Box::new(Failure::new(message)), Cause::Unknown)
    }

    /// The failure as callers outside the evaluation see it: with what was absent, if anything was.
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
    /// Takes steps.
    #[inline]
    pub(super) fn step(&self, steps: usize) -> Result<(), Halt> {
        let taken = self.steps.get().saturating_add(steps as u64);
        self.steps.set(taken);
        if taken <= FUEL || taken <= FUEL.saturating_add(self.size() as u64) {
            return Ok(());
        }
        Err(Halt::new("this takes too many steps for the size of the values that it reads"))
    }

    /// Takes the steps of searching or comparing this many bytes.
    #[inline]
    pub(super) fn search(&self, bytes: usize) -> Result<(), Halt> {
        self.step(1 + bytes / STRIDE)
    }

    /// Takes bytes that are about to be allocated.
    #[inline]
    pub(super) fn make(&self, bytes: usize) -> Result<(), Halt> {
        let made = self.bytes.get().saturating_add(bytes);
        self.bytes.set(made);
        if made <= self.room.get() { Ok(()) } else { self.make_room(made) }
    }

    /// Makes room for so many bytes, if they are allowed.
    #[cold]
    fn make_room(&self, bytes: usize) -> Result<(), Halt> {
        if bytes > WEIGHT && bytes > WEIGHT.saturating_add(self.size().saturating_mul(4)) {
            return Err(Halt::new("this takes too much memory for the size of the values that it reads"));
        }
        self.scope.budget().map_or(Ok(()), |budget| budget.allows(bytes)).map_err(Failure::exceeded)?;
        self.room.set(bytes.saturating_add(ROOM));
        Ok(())
    }

    /// Takes from the budget of the occasion what outlasts this evaluation.
    pub(super) fn keep(&self, bytes: usize) -> Result<(), Halt> {
        let budget = self.scope.budget().filter(|_| bytes > 0);
        budget.map_or(Ok(()), |budget| budget.take(bytes)).map_err(|exceeded| Failure::exceeded(exceeded).into())
    }

    /// The weight of the largest value that is read. Only long evaluations need to know it.
    fn size(&self) -> usize {
        *self.size.get_or_init(|| {
            let reads = self.body.reads().into_iter();
            reads.filter_map(|read| read.resolve(self.scope).ok()).map(|value| weight(&value, DEPTH)).max().unwrap_or(0)
        })
    }
}
