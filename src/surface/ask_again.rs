//! Asking again: how often, at what length and in which words?
//!
//! In: `[ask_again]`, as TOML.
//! Out: [`AskAgain`].
//! Never: decides when a model is asked again; the degradation tables do.

use super::declare::table;
use crate::text::Spanned;

table! {
    /// How a model is asked to write an answer again, if the strategy is `ask-again`.
    AskAgain {
        /// How often it is asked about one answer, 2 by default. After that, the next strategy applies.
        most: Option<Spanned<usize>>,
        /// The most tokens of the text, 600 by default.
        tokens: Option<Spanned<usize>>,
        /// The text, a template that sees `defects`, `form`, `permitted`, `mode` and `data`; Rulebook's own by default.
        text: Option<Spanned<String>>,
    }
}
