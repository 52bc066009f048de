//! Asking again: how often, at what length and in which words?
//!
//! In: `[ask_again]`, as TOML.
//! Out: [`AskAgain`].
//! Never: decides when a model is asked again; the degradation tables do.

use super::declare::table;
use crate::text::Spanned;

/// The fewest tokens of a correction: those of one fault that is cut short.
pub(crate) const LEAST_CORRECTION_TOKENS: usize = 27;

table! {
    /// How a model is asked to write an answer again, if the strategy is `ask-again`.
    AskAgain {
        /// How often a model is asked again about one answer; after that, the next strategy in the list applies, or
        /// else the default. Default: 2.
        most: Option<Spanned<usize>>,
        /// The most tokens that the text may have, at least 27, at three bytes per token; a longer text is shortened,
        /// at most to the first fault. Default: 600.
        tokens: Option<Spanned<usize>>,
        /// The text. It sees `defects` (each with `defect`, `message`, `help`, `line`, `times`, and `call`, the number
        /// of a native call), `form`, `permitted`, `mode` and `data`. Default: the engine's words.
        text: Option<Spanned<String>> as "template",
    }
}
