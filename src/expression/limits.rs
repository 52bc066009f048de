//! Limits: how much work and memory may one evaluation take, and all of one occasion together?
//!
//! In: steps and bytes, as an evaluation takes them.
//! Out: a [`Halt`] before more is taken than is allowed.
//! Never: allocates.

use super::item::Item;
use super::resolve::Read;
use super::run::Run;
use super::tree::Body;
use super::{Failure, FailureKind, Scope};
use crate::text::excerpt;
pub(super) use crate::value::{DEPTH, NODE};
use crate::value::{Record, Value, weight};
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering::Relaxed};

/// The steps of one evaluation; plus one for each byte that the largest value read weighs.
pub const FUEL: u64 = 50_000;
/// The bytes that one evaluation may make; plus 4 times the weight of the largest value read.
pub const WEIGHT: usize = 4 << 20;
/// So many bytes are made without asking again.
pub(super) const ROOM: usize = 16 << 10;
/// The bytes of text that count as one step when they are searched or compared.
pub(super) const STRIDE: usize = 64;

/// The bytes of one occasion, such as an answer that is judged; plus [`SHARE`] times the length of its input and the
/// weight of its state.
const OCCASION: usize = 4 << 20;
const SHARE: usize = 3;

/// The bytes that all values of one occasion may take together: those that its evaluations make, and what its effects
/// say, written out in full. It grows with the input and the state, and nothing else.
#[derive(Debug)]
pub(crate) struct Budget {
    spent: AtomicUsize,
    length: usize,
    state: Record,
    /// Whether something did not get what it asked for.
    exceeded: AtomicBool,
}

impl Budget {
    /// The message of a failure for which the budget is the cause.
    pub(crate) const EXCEEDED: &str = "what this occasion makes takes too much memory for its length";

    /// The budget for an input of this many bytes, in a session with this state.
    pub(crate) fn new(length: usize, state: Record) -> Self {
        Self { spent: AtomicUsize::new(0), length, state, exceeded: AtomicBool::new(false) }
    }

    /// The budget of the computed values of a state. It is spent once they are computed.
    pub(crate) fn of_computed(state: &Record) -> Self {
        let spent = AtomicUsize::new(state.made().load(Relaxed));
        Self { spent, ..Self::new(0, state.clone()) }
    }

    /// Notes in the state what its computed values have taken. Once one did not get what it asked for, the others get
    /// nothing either: each could be made of what the others lack.
    pub(crate) fn note(self, state: &Record) {
        let all = if self.exceeded.load(Relaxed) { usize::MAX } else { self.spent.load(Relaxed) };
        state.made().fetch_max(all, Relaxed);
    }

    /// How many bytes there are, at least. The weight of the state is only found if they would not do.
    fn left(&self, asked: usize) -> usize {
        let (least, spent) = (OCCASION.saturating_add(self.length.saturating_mul(SHARE)), self.spent.load(Relaxed));
        match least.saturating_sub(spent) {
            left if left >= asked => left,
            _ => least.saturating_add(self.state.weight().saturating_mul(SHARE)).saturating_sub(spent),
        }
    }

    /// Takes bytes.
    ///
    /// # Errors
    ///
    /// [`Budget::EXCEEDED`], if there are not as many left.
    pub(crate) fn take(&self, bytes: usize) -> Result<(), Failure> {
        if self.left(bytes) < bytes {
            self.exceeded.store(true, Relaxed);
            return Err(Failure::over_budget());
        }
        self.spent.fetch_add(bytes, Relaxed);
        Ok(())
    }

    /// Takes the bytes of a value, written out in full.
    ///
    /// # Errors
    ///
    /// Those of [`Budget::take`].
    pub(crate) fn take_value(&self, value: &Value) -> Result<(), Failure> {
        self.take(weight(value, DEPTH))
    }
}

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

    /// The same for those outside, after the evaluation of this.
    pub(super) fn outside(self, body: &Body, scope: &Scope<'_>) -> Failure {
        let Self(failure, cause) = self;
        let is_absent = |read: &&Read| read.resolve(scope).is_ok_and(|value| value.is_null());
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

impl<'v> Run<'v> {
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
        if let Some(budget) = self.scope.budget()
            && budget.left(bytes) < bytes
        {
            budget.exceeded.store(true, Relaxed);
            return Err(Failure::over_budget().into());
        }
        self.room.set(bytes.saturating_add(ROOM));
        Ok(())
    }

    /// Takes from the budget of the occasion what outlasts this evaluation.
    pub(super) fn keep(&self, bytes: usize) -> Result<(), Halt> {
        match self.scope.budget() {
            Some(budget) if bytes > 0 => budget.take(bytes).map_err(Halt::from),
            _ => Ok(()),
        }
    }

    /// The weight of the largest value that is read. Only long evaluations need to know it.
    fn size(&self) -> usize {
        *self.size.get_or_init(|| {
            let reads = self.body.reads().into_iter();
            reads.filter_map(|read| read.resolve(self.scope).ok()).map(|value| weight(&value, DEPTH)).max().unwrap_or(0)
        })
    }
}
