//! Budget: how many bytes may all values of one occasion take together?
//!
//! In: the length of the input of an occasion, the state of the session, the data of the pack, and bytes as they are
//! taken.
//! Out: [`Budget`], which refuses what is too much, and remembers that it did.
//! Never: allocates.

use super::weight::{DEPTH, weight};
use super::{Record, Value};
use std::sync::OnceLock;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering::Relaxed};

/// The bytes of one occasion, such as an answer that is judged or a prompt; plus [`SHARE`] times the length of its input
/// and the weight of the session's state and the pack's data.
const OCCASION: usize = 4 << 20;
const SHARE: usize = 3;

/// The bytes that all values of one occasion may take together: those that its evaluations make, its computed values,
/// and what its effects say, written out in full. It grows with the input, the state and the data, and nothing else.
#[derive(Debug)]
pub(crate) struct ByteBudget {
    spent: AtomicUsize,
    length: usize,
    state: Record,
    data: Value,
    /// The weight of both; found when it is first needed.
    weight: OnceLock<usize>,
    /// Whether something did not get what it asked for.
    exceeded: AtomicBool,
    /// Whether that has been reported.
    reported: AtomicBool,
}

/// The budget is spent.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Exceeded;

impl ByteBudget {
    /// What is reported when the budget is spent.
    pub(crate) const EXCEEDED: &str = "what this occasion makes takes too much memory for its length";

    /// The budget for an input of this many bytes, in a session with this state, for a pack with this data.
    pub(crate) fn new(length: usize, state: Record, data: Value) -> Self {
        let (spent, weight, exceeded, reported) = Default::default();
        Self { spent, length, state, data, weight, exceeded, reported }
    }

    /// The budget of the computed values of a state that no occasion reads. It is spent once they are computed.
    pub(crate) fn of_computed(state: &Record) -> Self {
        Self { spent: AtomicUsize::new(state.made()), ..Self::new(0, state.clone(), Value::Null) }
    }

    /// The bytes taken so far.
    pub(crate) fn spent(&self) -> usize {
        self.spent.load(Relaxed)
    }

    /// Whether it remains to be reported that the budget was exceeded. It is reported once.
    pub(crate) fn report(&self) -> bool {
        self.exceeded.load(Relaxed) && !self.reported.swap(true, Relaxed)
    }

    /// Notes that something is left out, because nothing can be taken for it.
    pub(crate) fn exceed(&self) {
        self.exceeded.store(true, Relaxed);
    }

    /// Whether there are so many bytes. The weight of state and data is only found if they would not do without it.
    ///
    /// # Errors
    ///
    /// There are not as many left.
    pub(crate) fn allows(&self, bytes: usize) -> Result<(), Exceeded> {
        let (least, spent) = (OCCASION.saturating_add(self.length.saturating_mul(SHARE)), self.spent());
        let weigh = || self.state.weight().saturating_add(weight(&self.data, DEPTH)).saturating_mul(SHARE);
        let most = || least.saturating_add(*self.weight.get_or_init(weigh));
        if least.saturating_sub(spent) >= bytes || most().saturating_sub(spent) >= bytes {
            return Ok(());
        }
        self.exceed();
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

    /// Gives back bytes of what has been thrown away.
    pub(crate) fn give_back(&self, bytes: usize) {
        self.spent.store(self.spent().saturating_sub(bytes), Relaxed);
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
