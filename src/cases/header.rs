//! Headers: in which session does a case start, and what does it claim?
//!
//! In: the TOML before the first part of a case file.
//! Out: [`CaseHeader`], from which `schemas/case.schema.json` is generated.
//! Never: knows which modes or dialects the pack has.

use crate::surface::Tree;
use crate::surface::declare::table;
use crate::surface::decode::{Decode, Decoder, Named, OneOrMore, TomlNode};
use crate::text::Spanned;
use toml::de::DeValue;

table! {
    /// What a case claims, and the session in which it starts.
    CaseHeader {
        /// What the case shows, in a sentence.
        claim: Spanned<String>,
        /// The mode in which it starts; the pack's start mode by default.
        mode: Option<Spanned<String>>,
        /// Values of the state that differ from their initial values.
        state: Option<Tree>,
        /// The current time, as the host gives it.
        now: Option<Spanned<String>>,
        /// The only dialect that reads the responses; by default those of the mode.
        dialect: Option<Spanned<String>>,
        /// The name of the prompt to assemble; the first of the pack by default.
        prompt: Option<Spanned<String>>,
        /// The model for which prompts are assembled.
        model: Option<Spanned<String>>,
        /// Words of a user by their expected class; each is heard on its own, in the session of the header.
        classes: Named<OneOrMore<Spanned<String>>>,
        /// The reason why it does not pass yet, or `true`. Failing is then fine, and passing is reported.
        todo: Option<Spanned<Todo>>,
    }
}

/// The keys of the header whose value fits on one line.
pub(super) const KEYS: &[&str] = &["claim", "mode", "state", "now", "dialect", "prompt", "model", "todo"];

/// Marks a case that does not pass yet, with an optional reason.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Todo(pub Option<String>);

impl Decode for Todo {
    fn decode(node: &TomlNode<'_>, reading: &mut Decoder<'_>) -> Option<Self> {
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
