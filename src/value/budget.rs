//! Budget: how many bytes may all values of one occasion take together?
//!
//! In: the length of the input of an occasion, the state of the session, the data of the pack, and bytes as they are
//! charged.
//! Out: [`ByteBudget`], which refuses what exceeds it, and remembers that it did.
//! Never: allocates.

use super::weight::{MAX_VALUE_DEPTH, weight};
use super::{Record, Value};
use std::sync::OnceLock;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering::Relaxed};

/// The bytes of one occasion, such as an answer that is judged or a prompt. The budget adds [`BYTES_PER_INPUT_BYTE`]
/// times the length of the input and the weight of the session's state and the pack's data.
const BYTES_PER_OCCASION: usize = 4 << 20;
const BYTES_PER_INPUT_BYTE: usize = 3;

/// The bytes that all values of one occasion may take together: results of expressions, computed values, and the
/// contents of effects, each as if it shared no part with another. The budget grows with the input, the state and the
/// data, and with nothing else.
#[derive(Debug)]
pub(crate) struct ByteBudget {
    spent: AtomicUsize,
    length: usize,
    state: Record,
    data: Value,
    /// The weight of state and data together, calculated when it is first needed.
    weight: OnceLock<usize>,
    /// Whether a request was refused.
    exceeded: AtomicBool,
    /// Whether the excess has been reported.
    reported: AtomicBool,
}

/// The error that the budget is spent.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Exceeded;

impl ByteBudget {
    /// The message for a spent budget.
    pub(crate) const EXCEEDED: &str = "the values of this turn take more memory than its input allows";

    /// The budget for an input of this many bytes, in a session with this state, for a pack with this data.
    pub(crate) fn new(length: usize, state: Record, data: Value) -> Self {
        let (spent, weight, exceeded, reported) = Default::default();
        Self { spent, length, state, data, weight, exceeded, reported }
    }

    /// The budget for the computed values of a state outside any occasion. What they have already taken counts as
    /// spent.
    pub(crate) fn of_computed(state: &Record) -> Self {
        Self { spent: AtomicUsize::new(state.made()), ..Self::new(0, state.clone(), Value::Null) }
    }

    /// The bytes taken so far.
    pub(crate) fn spent(&self) -> usize {
        self.spent.load(Relaxed)
    }

    /// Whether an excess has still to be reported. True once: the call marks it as reported.
    pub(crate) fn report(&self) -> bool {
        self.exceeded.load(Relaxed) && !self.reported.swap(true, Relaxed)
    }

    /// Notes that something is left out because the budget does not allow it.
    pub(crate) fn exceed(&self) {
        self.exceeded.store(true, Relaxed);
    }

    /// Whether so many bytes are left. State and data are weighed only if the budget without them does not suffice.
    ///
    /// # Errors
    ///
    /// If fewer bytes are left.
    pub(crate) fn allows(&self, bytes: usize) -> Result<(), Exceeded> {
        let (least, spent) =
            (BYTES_PER_OCCASION.saturating_add(self.length.saturating_mul(BYTES_PER_INPUT_BYTE)), self.spent());
        let weigh = || {
            self.state.weight().saturating_add(weight(&self.data, MAX_VALUE_DEPTH)).saturating_mul(BYTES_PER_INPUT_BYTE)
        };
        let most = || least.saturating_add(*self.weight.get_or_init(weigh));
        if least.saturating_sub(spent) >= bytes || most().saturating_sub(spent) >= bytes {
            return Ok(());
        }
        self.exceed();
        Err(Exceeded)
    }

    /// Takes bytes from the budget.
    ///
    /// # Errors
    ///
    /// If fewer bytes are left.
    pub(crate) fn take(&self, bytes: usize) -> Result<(), Exceeded> {
        self.allows(bytes)?;
        self.spent.fetch_add(bytes, Relaxed);
        Ok(())
    }

    /// Returns bytes whose value has been dropped.
    pub(crate) fn give_back(&self, bytes: usize) {
        self.spent.store(self.spent().saturating_sub(bytes), Relaxed);
    }

    /// Takes the bytes of a value, written out in full.
    ///
    /// # Errors
    ///
    /// If fewer bytes are left.
    pub(crate) fn take_value(&self, value: &Value) -> Result<(), Exceeded> {
        self.take(weight(value, MAX_VALUE_DEPTH))
    }
}
