//! Prompts: which layers make up what a model reads, and how much may each take?
//!
//! In: `[prompts.NAME]`, `[tiers.NAME]` and `[models.NAME]`, as TOML.
//! Out: [`Prompt`] with its [`Layer`]s in order, [`Tier`], [`Model`] and the closed lists of words in them.
//! Never: opens a file, counts a token, or knows whether the things named are declared.

use super::declare::{table, words};
use super::decode::{Decode, Decoder, Named, OneOrMany, OneOrMore, TomlNode};
use super::tree::Tree;
use crate::text::{Location, Spanned};
use toml::de::DeValue;

table! {
    /// A class of models that get the same prompt.
    Tier {
        /// The context window of its models in tokens, including the answer; a model may have its own.
        context: Spanned<usize>,
        /// The tokens of the context that are reserved for the answer, fewer than all.
        reserve: Spanned<usize>,
        /// The most tokens that a prompt should have. Default: what the context leaves.
        input: Option<Spanned<usize>>,
        /// How many bytes make a token, to estimate the count for a model whose vocabulary is unknown. Default: 3.
        bytes_per_token: Option<Spanned<f64>>,
        /// Facts about its models, which conditions see as `model.traits`.
        traits: Named<Tree>,
        /// Whether models that are not declared belong to it; if no tier says so, they belong to the first.
        default: bool,
        /// Whether it replaces the tier of the same name in a used pack.
        replace: bool,
    }
}

table! {
    /// A model, by its name or by a part that the names of all its versions share.
    Model {
        /// The tier to which it belongs.
        tier: Spanned<String> as "tier",
        /// Its context window in tokens, including the answer. Default: the tier's.
        context: Option<Spanned<usize>>,
        /// The tokens of the context that are reserved for the answer. Default: the tier's.
        reserve: Option<Spanned<usize>>,
        /// The vocabulary by which its tokens are counted; without one, they are estimated.
        vocabulary: Option<Vocabulary>,
        /// How many bytes make a token, to estimate the count if there is no vocabulary. Default: the tier's.
        bytes_per_token: Option<Spanned<f64>>,
        /// Facts about it, which conditions see as `model.traits`: in addition to those of its tier, or in their place.
        traits: Named<Tree>,
        /// Whether it replaces the model of the same name in a used pack.
        replace: bool,
    }
}

words! {
    /// A vocabulary that allows tokens to be counted exactly.
    Vocabulary {
        /// GPT-4o and later models of OpenAI.
        O200k = "o200k",
        /// GPT-4 and GPT-3.5.
        Cl100k = "cl100k",
    }
}

table! {
    /// What a model reads: layers, in order.
    Prompt {
        /// What it is for, in a sentence.
        about: Option<String>,
        /// The text between two layers. Default: a blank line.
        separator: Option<String>,
        /// The layers to shorten, in this order, if the whole prompt is too large. Default: the history, then the
        /// others from the last to the first.
        trim_order: Option<Vec<Spanned<String>>> as "layer",
        /// The layers, in order.
        layers: Vec<Layer>,
        /// Whether it replaces the prompt of the same name in a used pack.
        replace: bool,
    }
}

table! {
    /// One named part of a prompt: a text, a template, the history, what became of the last answer, or what the user
    /// says.
    Layer {
        /// Its name, in the ledger.
        id: Spanned<String> as "word",
        /// Who says it; turns and the message have their own. Default: `system`.
        role: Option<Spanned<Speaker>>,
        /// A file of the pack, used as it is; `{{ mode }}` in the path becomes the mode.
        text: Option<Spanned<String>> as "file",
        /// A file of the pack that is a template; `{{ mode }}` in the path becomes the mode.
        template: Option<Spanned<String>> as "file",
        /// In place of a file: the turns so far (`history`), what became of the calls of the last answer (`verdicts`),
        /// or what the user says now (`message`).
        source: Option<Spanned<Origins>>,
        /// Shorter versions of the file: for each, the first tier that gets it; the longest version first.
        variants: Named<Spanned<String>> as "file",
        /// The modes in which it is used. Default: all.
        modes = "in": OneOrMany as "mode",
        /// The layer is used only if it holds. It sees `mode`, `tier`, `model` (`id`, `name`, `traits`), `state`,
        /// `data` and `now`. Default: always.
        when: Option<Spanned<String>> as "condition",
        /// The most tokens of the layer, for all tiers or by tier. Default: 200 for `verdicts`, no limit for the
        /// others.
        budget: Option<Amount>,
        /// How to make it shorter, in order. Default: `oldest-turns` for the history, `entries` and `drop` for
        /// `verdicts`, `never` for the others.
        trim: OneOrMore<Spanned<Trimming>>,
        /// For a template: how many of the newest items it sees of lists of the state, by their paths.
        entries: Named<Amount>,
        /// For the history: the most turns, for all tiers or by tier. Default: 10.
        turns: Option<Amount>,
        /// A text directly before it if all layers are printed as one text.
        lead: Option<String>,
    }
}

words! {
    /// Who says a layer.
    Speaker {
        /// The application.
        System = "system",
        /// The user.
        User = "user",
        /// The model.
        Assistant = "assistant",
    }
}

impl Speaker {
    /// How turns begin in a prompt that is one text.
    pub(crate) const TURN_LABELS: &'static [&'static str] = &["SYSTEM:", "USER:", "ASSISTANT:"];

    /// How a turn of this speaker begins in a prompt that is one text.
    pub(crate) fn turn_label(self) -> &'static str {
        match self {
            Speaker::System => "SYSTEM:",
            Speaker::User => "USER:",
            Speaker::Assistant => "ASSISTANT:",
        }
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
    /// The source of a layer that is no file.
    Origins {
        /// The turns of the conversation so far.
        History = "history",
        /// What the user says now.
        Message = "message",
        /// The calls of the last answer that were not carried out, with the reasons.
        Verdicts = "verdicts",
    }
}

words! {
    /// How to shorten a layer. No strategy cuts a text of the author.
    Trimming {
        /// Not at all.
        Never = "never",
        /// Uses its next variant.
        Variant = "variant",
        /// Shows fewer items of its `entries`; the newest stay.
        Entries = "entries",
        /// Takes the middle out of turns that have more than a third of the tokens.
        LongTurns = "long-turns",
        /// Leaves out the oldest turns.
        OldestTurns = "oldest-turns",
        /// Leaves the layer out.
        Drop = "drop",
    }
}

/// A number: one for all tiers, or one for each.
#[derive(Debug, Clone)]
pub enum Amount {
    /// One for all tiers.
    Every(Spanned<usize>),
    /// By the name of the tier; a tier that is not named has no limit.
    ByTier(Named<usize>, Location),
}

impl Amount {
    /// The number for a tier; none if there is no limit.
    pub fn of(&self, tier: &str) -> Option<usize> {
        match self {
            Amount::Every(number) => Some(number.value),
            Amount::ByTier(numbers, _) => numbers.get(tier).map(|number| number.value),
        }
    }
}

impl Decode for Amount {
    fn decode(node: &TomlNode<'_>, reading: &mut Decoder<'_>) -> Option<Self> {
        match node.get_ref() {
            DeValue::Table(_) => Some(Amount::ByTier(Named::decode(node, reading)?, reading.at(node.span()))),
            DeValue::Integer(_) => Some(Amount::Every(Spanned::decode(node, reading)?)),
            _ => reading.misfit(node, "a whole number, or one for each tier as in `{ full = 800 }`"),
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
