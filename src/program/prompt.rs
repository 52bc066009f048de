//! Prompts, compiled: which texts may a layer become, and how much may each take?
//!
//! In: the checked tables of prompts, tiers and models, and the texts of the pack.
//! Out: [`Prompt`] with its [`Layer`]s, [`Text`]s read once, [`Tier`] and [`Model`] with nothing left to look up.
//! Never: renders a text, or counts a token.

use crate::expression::{Document, Escape, Expression};
use crate::surface::{Speaker, Trimming, Vocabulary};
use crate::text::{Location, SourceId};
use crate::value::Table;
use crate::value::Value;
use std::sync::{Arc, OnceLock};

/// Everything that prompts are made of.
#[derive(Debug)]
pub(crate) struct Prompts {
    pub(crate) prompts: Table<String, Prompt>,
    pub(crate) tiers: Table<String, Tier>,
    pub(crate) models: Table<String, Model>,
    /// The tier of models that nothing declares.
    pub(crate) default: usize,
    pub(crate) texts: Vec<Text>,
    /// By the number of the mode.
    pub(crate) modes: Vec<ModeView>,
    pub(crate) escape: Arc<Escape>,
}

/// What templates see of a mode, under these names.
#[derive(Debug)]
pub(crate) struct ModeView {
    pub(crate) title: Value,
    pub(crate) sections: Value,
    /// What its rules say of its actions, made when a template first asks.
    pub(crate) actions: OnceLock<Value>,
    /// How an answer is written in it, likewise.
    pub(crate) forms: OnceLock<Value>,
}

/// A class of models.
#[derive(Debug)]
pub(crate) struct Tier {
    pub(crate) context: usize,
    pub(crate) reserve: usize,
    pub(crate) input: Option<usize>,
    pub(crate) bytes_per_token: f64,
    pub(crate) traits: Value,
}

/// A model that the pack declares.
#[derive(Debug)]
pub(crate) struct Model {
    pub(crate) tier: usize,
    pub(crate) context: usize,
    pub(crate) reserve: usize,
    pub(crate) vocabulary: Option<Vocabulary>,
    pub(crate) bytes_per_token: f64,
    /// Its own traits over those of its tier.
    pub(crate) traits: Value,
}

/// What a model reads.
#[derive(Debug)]
pub(crate) struct Prompt {
    pub(crate) separator: String,
    /// The layers that give way, by their numbers.
    pub(crate) trim_order: Vec<usize>,
    pub(crate) layers: Vec<Layer>,
    pub(crate) at: Location,
}

/// One named part of a prompt.
#[derive(Debug)]
pub(crate) struct Layer {
    pub(crate) id: String,
    pub(crate) holds: LayerSource,
    /// Whether it stands, by the number of the mode.
    pub(crate) modes: Vec<bool>,
    pub(crate) when: Option<Expression>,
    /// By the number of the tier, as all that follow.
    pub(crate) budget: Vec<Option<usize>>,
    pub(crate) trim: Vec<Trimming>,
    /// Paths into the state, and how many items of each are seen.
    pub(crate) entries: Vec<(Vec<String>, Vec<Option<usize>>)>,
    pub(crate) turns: Vec<Option<usize>>,
    pub(crate) lead: String,
    pub(crate) at: Location,
}

/// Where the text of a layer comes from.
#[derive(Debug)]
pub(crate) enum LayerSource {
    History,
    Message,
    /// Files, from the longest to the shortest.
    Files {
        role: Speaker,
        variants: Vec<Variant>,
    },
}

/// The files that a layer may take.
#[derive(Debug)]
pub(crate) struct Variant {
    /// The tier that starts with it; none for the layer's own.
    pub(crate) tier: Option<usize>,
    /// By the number of the mode, the number of the text.
    pub(crate) texts: Vec<Option<usize>>,
}

/// A file that prompts are made of.
#[derive(Debug)]
pub(crate) struct Text {
    pub(crate) path: String,
    pub(crate) source: SourceId,
    pub(crate) body: Body,
    /// How many tokens it has, by the vocabulary, if it never changes.
    pub(crate) counts: [OnceLock<usize>; 2],
}

/// What a file says.
#[derive(Debug)]
pub(crate) enum Body {
    /// The same in every prompt.
    Plain(String),
    Template(Document),
}

impl Prompts {
    /// The template in a file; none where it is plain text.
    pub(crate) fn template(&self, source: SourceId) -> Option<&Document> {
        self.texts.iter().find(|text| text.source == source)?.template()
    }
}

impl Text {
    /// What is rendered anew for every prompt, if that is what it holds.
    pub(crate) fn template(&self) -> Option<&Document> {
        match &self.body {
            Body::Template(document) => Some(document),
            Body::Plain(_) => None,
        }
    }
}
