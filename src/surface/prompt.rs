//! Prompts: which layers make up what a model reads, and how much may each take?
//!
//! In: `[prompts.NAME]`, `[tiers.NAME]` and `[models.NAME]`, as TOML.
//! Out: [`Prompt`] with its [`Layer`]s in order, [`Tier`], [`Model`] and the closed lists of words in them.
//! Never: opens a text, counts a token, or knows whether what is named is declared.

use super::declare::{table, words};
use super::decode::{Decode, Decoder, Named, Names, Node, OneOrMore};
use super::tree::Tree;
use crate::text::{Location, Spanned};
use toml::de::DeValue;

table! {
    /// A class of models that take the same prompt.
    Tier {
        /// How many tokens a model of it takes in, answer included, unless its own row says otherwise.
        context: Spanned<usize>,
        /// How many tokens of the context are kept for the answer.
        reserve: Spanned<usize>,
        /// How many tokens a prompt should use at the most; without it whatever the context leaves.
        input: Option<Spanned<usize>>,
        /// How many bytes one token stands for where the vocabulary of a model is unknown; 3 without it.
        bytes_per_token: Option<Spanned<f64>>,
        /// Facts about its models that conditions see as `model.traits`.
        traits: Named<Tree>,
        /// Whether a model that nothing declares belongs to it; without any, to the first.
        default: bool,
        /// Whether it stands in for the one of the same name in a used pack.
        replace: bool,
    }
}

table! {
    /// A model, by its name or the part of it that all its versions share.
    Model {
        /// The tier that it belongs to.
        tier: Spanned<String>,
        /// How many tokens it takes in, answer included; without it the tier's.
        context: Option<Spanned<usize>>,
        /// How many tokens of the context are kept for the answer; without it the tier's.
        reserve: Option<Spanned<usize>>,
        /// The vocabulary by which its tokens are counted; without it they are estimated.
        vocabulary: Option<Vocabulary>,
        /// How many bytes one token stands for where there is no vocabulary; without it the tier's.
        bytes_per_token: Option<Spanned<f64>>,
        /// Facts about it that conditions see as `model.traits`, over those of its tier.
        traits: Named<Tree>,
        /// Whether it stands in for the one of the same name in a used pack.
        replace: bool,
    }
}

words! {
    /// A vocabulary whose tokens can be counted exactly.
    Vocabulary {
        /// That of GPT-4o and later models of OpenAI.
        O200k = "o200k",
        /// That of GPT-4 and GPT-3.5.
        Cl100k = "cl100k",
    }
}

table! {
    /// What a model reads: layers in order.
    Prompt {
        /// What it is for, in a sentence.
        about: Option<String>,
        /// What stands between two layers; a blank line without it.
        separator: Option<String>,
        /// The layers that give way, in this order, where the whole is too large; without it the history, then the others
        /// from the last to the first.
        trim_order: Option<Vec<Spanned<String>>>,
        /// The layers, in order.
        layers: Vec<Layer>,
        /// Whether it stands in for the one of the same name in a used pack.
        replace: bool,
    }
}

table! {
    /// One named part of a prompt: a text, a template, the history, or what the user says.
    Layer {
        /// Its name, in the ledger.
        id: Spanned<String>,
        /// Who says it; `system` without it.
        role: Option<Spanned<Speaker>>,
        /// A file of the pack that is taken as it is; `{{ mode }}` in the path is the mode.
        text: Option<Spanned<String>>,
        /// A file of the pack that is a template; `{{ mode }}` in the path is the mode.
        template: Option<Spanned<String>>,
        /// Where it comes from if not from a file.
        source: Option<Spanned<Origins>>,
        /// Shorter files by the tier that starts with them, from the longest to the shortest.
        variants: Named<Spanned<String>>,
        /// The modes in which it stands; without it all.
        modes = "in": Names,
        /// A condition; without it the layer always stands.
        when: Option<Spanned<String>>,
        /// The tokens that it may use.
        budget: Option<Amount>,
        /// What makes it shorter, in order; without it `oldest-turns` for the history and `never` for the others.
        trim: OneOrMore<Spanned<Trimming>>,
        /// Of a template: lists of the state, and how many of their newest items it sees.
        entries: Named<Amount>,
        /// Of the history: how many turns there are at the most; 10 without it.
        turns: Option<Amount>,
        /// What stands right before it where all layers are one text.
        lead: Option<String>,
    }
}

words! {
    /// Who says a layer.
    Speaker {
        /// The product.
        System = "system",
        /// The user.
        User = "user",
        /// The model.
        Assistant = "assistant",
    }
}

impl serde::Serialize for Speaker {
    fn serialize<S: serde::Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.serialize_str(self.word())
    }
}

impl<'de> serde::Deserialize<'de> for Speaker {
    fn deserialize<D: serde::Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        match String::deserialize(deserializer)?.as_str() {
            "system" => Ok(Self::System),
            "user" => Ok(Self::User),
            "assistant" => Ok(Self::Assistant),
            other => Err(serde::de::Error::unknown_variant(other, Self::WORDS)),
        }
    }
}

words! {
    /// What a layer holds that no file does.
    Origins {
        /// The turns of the conversation so far.
        History = "history",
        /// What the user says now.
        Message = "message",
    }
}

words! {
    /// How a layer becomes shorter. No strategy cuts a text of the author.
    Trimming {
        /// Not at all.
        Never = "never",
        /// Its next variant is taken.
        Variant = "variant",
        /// Fewer items of its `entries` are shown, the newest of them.
        Entries = "entries",
        /// The oldest turns are left out.
        OldestTurns = "oldest-turns",
        /// It is left out.
        Drop = "drop",
    }
}

/// A number, for every tier or for each by its name.
#[derive(Debug, Clone)]
pub enum Amount {
    /// For every tier.
    Every(Spanned<usize>),
    /// By the name of the tier; where none is named there is no limit.
    ByTier(Named<usize>, Location),
}

impl Amount {
    /// The number for a tier.
    pub fn of(&self, tier: &str) -> Option<usize> {
        match self {
            Amount::Every(number) => Some(number.value),
            Amount::ByTier(numbers, _) => numbers.get(tier).map(|number| number.value),
        }
    }
}

impl Decode for Amount {
    fn decode(node: &Node<'_>, reading: &mut Decoder<'_>) -> Option<Self> {
        match node.get_ref() {
            DeValue::Table(_) => Some(Amount::ByTier(Named::decode(node, reading)?, reading.at(node.span()))),
            DeValue::Integer(_) => Some(Amount::Every(Spanned::decode(node, reading)?)),
            _ => reading.misfit(node, "a whole number, or one for each tier as in `{ full = 800 }`,"),
        }
    }
}

#[cfg(feature = "schema")]
impl schemars::JsonSchema for Amount {
    fn inline_schema() -> bool {
        true
    }
    fn schema_name() -> std::borrow::Cow<'static, str> {
        "Amount".into()
    }
    fn json_schema(_: &mut schemars::SchemaGenerator) -> schemars::Schema {
        let number = serde_json::json!({ "type": "integer", "minimum": 0 });
        schemars::json_schema!({ "anyOf": [number, { "type": "object", "additionalProperties": number }] })
    }
}
