//! Limits: how much work may one response cause?
//!
//! In: nothing.
//! Out: [`Limits`] with their defaults.
//! Never: enforces them; the reader does.

/// The limits of one run. Exceeding one gives a diagnostic, `too-large` or `too-costly`, never a failure.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Limits {
    /// The longest response that is read, in bytes: 10 MiB by default, at most [`Limits::MAX_INPUT`]. A longer one is
    /// not read at all: see [`Reader::is_too_large`](crate::Reader::is_too_large).
    pub input: usize,
    /// The deepest nesting of blocks, and of values in payloads: 64 by default, at most [`Limits::MAX_DEPTH`].
    pub depth: usize,
    /// The most blocks that are read: 10,000 by default.
    pub blocks: usize,
    /// The most calls that are read: 1,000 by default.
    pub calls: usize,
    /// The most diagnostics of one outcome: 100 by default.
    pub diagnostics: usize,
    /// The most fields of one payload, and the most attributes of one opener: 1,000 by default.
    pub fields: usize,
    /// The most values in all payloads of one response together: 10,000 by default.
    pub values: usize,
    /// The most effects of one outcome: 10,000 by default.
    pub effects: usize,
    /// The steps that the recogniser may take for each byte of the response: 16 by default. Real answers need less than
    /// one.
    pub steps_per_byte: u64,
}

impl Limits {
    /// The longest response that can be read at all, in bytes: offsets have 32 bits.
    pub const MAX_INPUT: usize = u32::MAX as usize;

    /// The deepest nesting that can be read at all: JSON readers usually allow 128 levels, and a session has payloads a
    /// few levels below its top.
    pub const MAX_DEPTH: usize = 100;

    /// These limits, reduced to what is possible, so that no sum of limits overflows.
    pub(crate) fn granted(self) -> Self {
        Self {
            input: self.input.min(Self::MAX_INPUT),
            depth: self.depth.min(Self::MAX_DEPTH),
            fields: self.fields.min(usize::MAX / 8),
            values: self.values.min(usize::MAX / 8),
            steps_per_byte: self.steps_per_byte.min(u64::from(u32::MAX)),
            ..self
        }
    }

    /// The steps for a part of the response with this many bytes.
    pub(crate) fn steps(&self, bytes: usize) -> i64 {
        i64::try_from(self.steps_per_byte.saturating_mul(bytes as u64)).unwrap_or(i64::MAX).saturating_add(1_000)
    }
}

impl Default for Limits {
    fn default() -> Self {
        Self {
            input: 10 << 20,
            depth: 64,
            blocks: 10_000,
            calls: 1_000,
            diagnostics: 100,
            fields: 1_000,
            values: 10_000,
            effects: 10_000,
            steps_per_byte: 16,
        }
    }
}
