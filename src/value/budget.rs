//! Budget: how many bytes may all values of one occasion take together?
//!
//! In: the length of the input of an occasion, the state of the session, and bytes as they are taken.
//! Out: [`Budget`], which refuses what is too much, and remembers that it did.
//! Never: allocates.

use super::weight::{DEPTH, weight};
use super::{Record, Value};
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering::Relaxed};

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

/// The budget is spent.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Exceeded;

impl Budget {
    /// What is reported when the budget is spent.
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

    /// Whether there are so many bytes. The weight of the state is only found if they would not do without it.
    ///
    /// # Errors
    ///
    /// There are not as many left.
    pub(crate) fn allows(&self, bytes: usize) -> Result<(), Exceeded> {
        let (least, spent) = (OCCASION.saturating_add(self.length.saturating_mul(SHARE)), self.spent.load(Relaxed));
        if least.saturating_sub(spent) >= bytes
            || least.saturating_add(self.state.weight().saturating_mul(SHARE)).saturating_sub(spent) >= bytes
        {
            return Ok(());
        }
        self.exceeded.store(true, Relaxed);
        Err(Exceeded)
    }

    /// Takes bytes.
    ///
    /// # Errors
    ///
    /// There are not as many left.
    pub(crate) fn take(&self, bytes: usize) -> Result<(), Exceeded> {
        self.allows(bytes)?;
        self.spent.fetch_add(bytes, Relaxed);
        Ok(())
    }

    /// Takes the bytes of a value, written out in full.
    ///
    /// # Errors
    ///
    /// There are not as many left.
    pub(crate) fn take_value(&self, value: &Value) -> Result<(), Exceeded> {
        self.take(weight(value, DEPTH))
    }
}
