//! Guardrails: what do good replies not do?
//!
//! In: `[[guardrails]]`, as TOML.
//! Out: [`Guardrail`].
//! Never: compiles a pattern, or looks at a text.

use super::declare::table;
use super::decode::{Decode, Decoder, Names, Node};
use crate::diagnostic::{Code, Severity, Strategy};
use crate::text::Spanned;

table! {
    /// A check on text or reply: a pattern or a condition, with advice.
    Guardrail {
        /// Its name, in diagnostics.
        id: Spanned<String>,
        /// What it looks at: a role, the name of a block, `NAME.key`, `ACTION.PARAMETER`, or `reply`.
        on: Names,
        /// Trips where this pattern matches.
        matches: Option<Spanned<String>>,
        /// Trips where this pattern does not match; beside `matches`, a match that it overlaps does not count.
        unless: Option<Spanned<String>>,
        /// Trips where this condition holds.
        when: Option<Spanned<String>>,
        /// The modes in which it looks; without it all.
        modes = "in": Names,
        /// How to do better, for people and for the model.
        advice: Option<Spanned<String>>,
        /// How much it matters; `warning` without it.
        severity: Option<Severity>,
        /// What answers it, instead of the degradation table's word.
        strategy: Option<Spanned<Strategy>>,
        /// Whether it stands in for the one of the same name in a used pack.
        replace: bool,
    }
}

impl Decode for Severity {
    fn decode(node: &Node<'_>, reading: &mut Decoder<'_>) -> Option<Self> {
        const ALL: [Severity; 3] = [Severity::Info, Severity::Warning, Severity::Error];
        reading.word(node, "severity", Code::PACK_WRONG_VALUE, &ALL, Severity::name)
    }
}
