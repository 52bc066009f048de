//! Guardrails: what should a good reply not do?
//!
//! In: `[[guardrails]]`, as TOML.
//! Out: [`Guardrail`].
//! Never: compiles a pattern, or looks at a text.

use super::declare::table;
use super::decode::{Decode, Decoder, OneOrMany, TomlNode};
use crate::diagnostic::{Code, Severity, Strategy};
use crate::text::Spanned;

table! {
    /// A check on text or reply: a pattern or a condition, with advice.
    Guardrail {
        /// Its name in diagnostics.
        id: Spanned<String>,
        /// What it checks: a role, the name of a block, `NAME.key`, `ACTION.PARAMETER`, or `reply`.
        on: OneOrMany,
        /// Trips if this pattern matches.
        matches: Option<Spanned<String>>,
        /// Trips if this pattern does not match. With `matches`: a match that overlaps a match of this one does not
        /// count.
        unless: Option<Spanned<String>>,
        /// Trips if this condition is true.
        when: Option<Spanned<String>>,
        /// The modes in which it applies; all by default.
        modes = "in": OneOrMany,
        /// How to do better, for people and for the model.
        advice: Option<Spanned<String>>,
        /// Its severity, `warning` by default.
        severity: Option<Severity>,
        /// Its strategy, instead of the one in the degradation table.
        strategy: Option<Spanned<Strategy>>,
        /// The replacement of each match that it redacts; `[…]` by default.
        with: Option<Spanned<String>>,
        /// Whether it replaces the guardrail with the same `id` in a used pack.
        replace: bool,
    }
}

impl Decode for Severity {
    fn decode(node: &TomlNode<'_>, reading: &mut Decoder<'_>) -> Option<Self> {
        const ALL: [Severity; 3] = [Severity::Info, Severity::Warning, Severity::Error];
        reading.word(node, "severity", Code::PACK_WRONG_VALUE, &ALL, Severity::name)
    }
}
