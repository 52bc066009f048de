//! Guardrails: what do good replies not do?
//!
//! In: `[[guardrails]]`, as TOML.
//! Out: [`Guardrail`].
//! Never: compiles a pattern, or looks at a text.

use super::action::Names;
use super::decode::{table, words};
use crate::diagnostic::Strategy;
use crate::text::Spanned;

table! {
    /// A check on text or reply: a pattern or a condition, with advice.
    Guardrail {
        /// Its name, in diagnostics.
        id: Spanned<String>,
        /// What it looks at: a role, the name of a block, `NAME.key`, or `reply`.
        on: Spanned<String>,
        /// Trips where this pattern matches.
        matches: Option<Spanned<String>>,
        /// Trips where this pattern does not match; beside `matches`, does not trip where it matches.
        unless: Option<Spanned<String>>,
        /// Trips where this condition holds.
        when: Option<Spanned<String>>,
        /// The modes in which it looks; without it all.
        modes = "in": Names,
        /// How to do better, for people and for the model.
        advice: Option<String>,
        /// How much it matters; `warning` without it.
        severity: Option<Level>,
        /// What answers it, instead of the degradation table's word.
        strategy: Option<Spanned<Strategy>>,
        /// Whether it stands in for the one of the same name in a used pack.
        replace: bool,
    }
}

words! {
    /// How much a guardrail matters.
    Level {
        /// Worth knowing.
        Info = "info",
        /// Should be mended.
        Warning = "warning",
        /// Must not happen.
        Error = "error",
    }
}
