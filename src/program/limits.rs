//! Limits: how much may one response ask of us?
//!
//! In: nothing.
//! Out: [`Limits`] with their defaults.
//! Never: enforces them; the reader does.

/// The limits of one run. What goes beyond ends in `too-large` or `too-costly`, never in a failure.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Limits {
    /// The longest response that is read, in bytes; 10 MiB, and never more than [`Limits::LONGEST`]. Of a longer one nothing
    /// is read: see [`Reader::is_too_large`](crate::Reader::is_too_large).
    pub input: usize,
    /// The deepest nesting of blocks and of values in payloads; 64, and never more than [`Limits::DEEPEST`].
    pub depth: usize,
    /// The most blocks that are read; 10,000.
    pub blocks: usize,
    /// The most calls that are read; 1,000.
    pub calls: usize,
    /// The most diagnostics of one outcome; 100.
    pub diagnostics: usize,
    /// The most fields of one payload, and the most attributes of one opener; 1,000.
    pub fields: usize,
    /// The most values in all payloads of one response together; 10,000.
    pub values: usize,
    /// The most effects of one outcome; 10,000.
    pub effects: usize,
    /// Steps of the recogniser for each byte of the response; 512.
    pub steps_per_byte: u64,
}

impl Limits {
    /// The longest response that can be read at all: its places are kept in 32 bits.
    pub const LONGEST: usize = u32::MAX as usize;

    /// The deepest nesting that can be read at all: readers of JSON go 128 levels deep, and a session holds payloads some levels
    /// below its top.
    pub const DEEPEST: usize = 100;

    /// As much of them as can be granted: none so large that a sum of it is more than its type holds.
    pub(super) fn granted(self) -> Self {
        Self {
            input: self.input.min(Self::LONGEST),
            depth: self.depth.min(Self::DEEPEST),
            fields: self.fields.min(usize::MAX / 8),
            values: self.values.min(usize::MAX / 8),
            steps_per_byte: self.steps_per_byte.min(u64::from(u32::MAX)),
            ..self
        }
    }

    /// The steps that may be spent on a part of the response that is so many bytes long.
    pub(crate) fn steps(&self, bytes: usize) -> u64 {
        self.steps_per_byte * bytes as u64 + 1_000
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
            steps_per_byte: 512,
        }
    }
}
