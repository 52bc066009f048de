//! Headers: in which session does a case start, and what does it claim?
//!
//! In: the TOML before the first part of a case file.
//! Out: [`CaseHeader`], and with it `schemas/case.schema.json`.
//! Never: knows which modes or dialects the pack has.

use crate::surface::Tree;
use crate::surface::declare::table;
use crate::surface::decode::{Decode, Decoder, Named, Node, OneOrMore};
use crate::text::Spanned;
use toml::de::DeValue;

table! {
    /// What a case claims, and the session in which it starts.
    CaseHeader {
        /// What the case shows, in a sentence.
        claim: Spanned<String>,
        /// The mode in which it starts; without it the pack's.
        mode: Option<Spanned<String>>,
        /// Values of the state that differ from the pack's initial ones.
        state: Option<Tree>,
        /// The time as the host tells it.
        now: Option<Spanned<String>>,
        /// The one dialect in which the responses are read; without it those of the mode.
        dialect: Option<Spanned<String>>,
        /// Which of the pack's prompts is written; the first without it.
        prompt: Option<Spanned<String>>,
        /// The model for which prompts are written.
        model: Option<Spanned<String>>,
        /// Words of a user by the class that each of them has, heard by itself in the session of the header.
        classes: Named<OneOrMore<Spanned<String>>>,
        /// Why it does not hold yet, or `true`: then failing is fine, and passing is reported.
        todo: Option<Spanned<Todo>>,
    }
}

/// The keys of a header of which one value fits into a line.
pub(super) const KEYS: &[&str] = &["claim", "mode", "state", "now", "dialect", "prompt", "model", "todo"];

/// That a case does not hold yet, with the reason where one is given.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Todo(pub Option<String>);

impl Decode for Todo {
    fn decode(node: &Node<'_>, reading: &mut Decoder<'_>) -> Option<Self> {
        match node.get_ref() {
            DeValue::String(reason) => Some(Self(Some(reason.as_ref().to_owned()))),
            DeValue::Boolean(true) => Some(Self(None)),
            _ => reading.misfit(node, "a reason, or `true`,"),
        }
    }
}

#[cfg(feature = "schema")]
impl schemars::JsonSchema for Todo {
    fn inline_schema() -> bool {
        true
    }
    fn schema_name() -> std::borrow::Cow<'static, str> {
        "Todo".into()
    }
    fn json_schema(_: &mut schemars::SchemaGenerator) -> schemars::Schema {
        schemars::json_schema!({ "anyOf": [{ "type": "string" }, { "const": true }] })
    }
}
