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
        /// Its name, in diagnostics.
        id: Spanned<String> as "word",
        /// What it checks: a role, the name of a block, `NAME.key`, `ACTION.PARAMETER`, `reply`, or `input`. Default:
        /// none; one is required.
        on: OneOrMany as "name",
        /// Trips where it matches.
        matches: Option<Spanned<String>> as "pattern",
        /// Trips where it does not match. Together with `matches`, matches that overlap a match of `unless` are
        /// ignored.
        unless: Option<Spanned<String>> as "pattern",
        /// Trips where it holds; together with a pattern, both must. A condition that reads `captures` is evaluated for
        /// each match.
        when: Option<Spanned<String>> as "condition",
        /// The modes in which it applies. Default: all.
        modes = "in": OneOrMany as "mode",
        /// How to do better, for people and for the model; not a template.
        advice: Option<Spanned<String>>,
        /// How much it matters. Default: `warning`.
        severity: Option<Severity>,
        /// What answers it: `keep`, `redact`, `drop`, `refuse` or `ask-again`. Default: that of the degradation table.
        strategy: Option<Spanned<Strategy>>,
        /// What replaces each match that is redacted. Default: `[…]`.
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
