//! Asking again: how often, how long and in which words?
//!
//! In: `[ask_again]`, as TOML.
//! Out: [`AskAgain`].
//! Never: says when a model is asked again; the degradation tables do.

use super::declare::table;
use crate::text::Spanned;

table! {
    /// How a model is asked to write an answer again, where the degradation says `ask-again`.
    AskAgain {
        /// How often it is asked about one answer; 2 without it. After that the next strategy counts.
        most: Option<Spanned<usize>>,
        /// The most tokens of the text; 600 without it.
        tokens: Option<Spanned<usize>>,
        /// The words, a template that sees `defects`, `form`, `permitted`, `mode` and `data`; without it the engine's own.
        text: Option<Spanned<String>>,
    }
}
