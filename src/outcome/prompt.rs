//! The contract of `prompt`: what does a host send to the model?
//!
//! In: nothing; these are plain types.
//! Out: [`Prompt`], version 1, with its JSON (`schemas/prompt.schema.json`).
//! Never: writes a word of a prompt.

use super::contract::Finding;
use serde::Serialize;

macro_rules! contract {
    ($($(#[$meta:meta])* pub struct $name:ident { $($(#[$field_meta:meta])* $field:ident: $type:ty,)* })*) => {
        $(
            $(#[$meta])*
            #[derive(Debug, Clone, PartialEq, Serialize)]
            #[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
            #[cfg_attr(feature = "schema", schemars(deny_unknown_fields))]
            pub struct $name { $($(#[$field_meta])* pub $field: $type,)* }
        )*
    };
}

contract! {
    /// The messages for a model, and where every token in them comes from.
    pub struct Prompt {
        /// The version of this contract: 1.
        version: u32,
        /// The messages in order.
        messages: Vec<Message>,
        /// The account of every token.
        ledger: PromptLedger,
        /// What was worth saying.
        diagnostics: Vec<Finding>,
    }

    /// One message.
    #[derive(Eq)]
    pub struct Message {
        /// Who speaks.
        role: Speaker,
        /// The text.
        content: String,
    }

    /// The account of every token.
    #[derive(Eq)]
    pub struct PromptLedger {
        /// The model that it is for.
        model: String,
        /// The tier of the model.
        tier: String,
        /// How many tokens the model takes in.
        context: usize,
        /// How many of them are kept for the answer.
        reserve: usize,
        /// How many the messages use.
        tokens: usize,
        /// Whether the model's vocabulary is unknown and the numbers are an estimate.
        estimated: bool,
        /// The layers in order.
        layers: Vec<Layer>,
    }

    /// One named part of the prompt.
    #[derive(Eq)]
    pub struct Layer {
        /// Its name.
        id: String,
        /// The file or declaration of its text.
        source: Option<String>,
        /// Which variant of it was taken.
        variant: Option<String>,
        /// How many tokens it uses.
        tokens: usize,
        /// How many it may use.
        budget: Option<usize>,
        /// The strategy that made it shorter.
        trimmed: Option<String>,
    }
}

/// Who speaks a message.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "lowercase")]
pub enum Speaker {
    /// The product.
    System,
    /// The user.
    User,
    /// The model.
    Assistant,
}
