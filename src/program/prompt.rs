//! Prompts, compiled: which texts may a layer have, and how much may each use?
//!
//! In: the checked tables of prompts, tiers and models, and the texts of the pack.
//! Out: [`PromptPlan`] with its [`LayerPlan`]s, [`PromptFile`]s read once, [`Tier`] and [`Model`], with every name resolved.
//! Never: renders a text, or counts a token.

use crate::diagnostic::KnownNames;
use crate::expression::Expression;
use crate::markup::{Escape, TemplateDocument};
use crate::surface::{Speaker, Trimming, Vocabulary};
use crate::text::{Location, SourceId};
use crate::value::Table;
use crate::value::Value;
use std::sync::{Arc, OnceLock};

/// Everything that prompts are made of.
#[derive(Debug)]
pub(crate) struct Prompts {
    pub(crate) prompts: Table<String, PromptPlan>,
    pub(crate) tiers: Table<String, Tier>,
    pub(crate) models: Table<String, Model>,
    /// The tier of undeclared models.
    pub(crate) default: usize,
    pub(crate) texts: Vec<PromptFile>,
    pub(crate) escape: Arc<Escape>,
}

/// What is made of a mode and its actions when it is first needed.
#[derive(Debug, Clone, Default)]
pub(crate) struct ModeView {
    /// The names of the actions that it permits, for findings about others.
    pub(crate) names: OnceLock<KnownNames>,
    /// Its actions, as its rules describe them; made when a template first needs it.
    pub(crate) actions: OnceLock<Value>,
    /// How an answer is written in it; made when a template first needs it.
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
    /// Its traits, on top of those of its tier.
    pub(crate) traits: Value,
}

/// What a model reads.
#[derive(Debug)]
pub(crate) struct PromptPlan {
    pub(crate) separator: String,
    /// The layers to shorten, in order, by index.
    pub(crate) trim_order: Vec<usize>,
    pub(crate) layers: Vec<LayerPlan>,
    pub(crate) at: Location,
}

/// One layer of a prompt.
#[derive(Debug)]
pub(crate) struct LayerPlan {
    pub(crate) id: String,
    pub(crate) holds: LayerSource,
    /// Whether it is used, by the index of the mode.
    pub(crate) modes: Vec<bool>,
    pub(crate) when: Option<Expression>,
    /// By the index of the tier, like all limits below.
    pub(crate) budget: Vec<Option<usize>>,
    pub(crate) trim: Vec<Trimming>,
    /// Paths into the state, and how many items of each are shown.
    pub(crate) entries: Vec<(Vec<String>, Vec<Option<usize>>)>,
    pub(crate) turns: Vec<Option<usize>>,
    pub(crate) lead: String,
    pub(crate) at: Location,
}

/// The source of the text of a layer.
#[derive(Debug)]
pub(crate) enum LayerSource {
    History,
    Message,
    /// The calls of the last answer that were not carried out.
    Verdicts {
        role: Speaker,
    },
    /// Files, from the longest to the shortest.
    Files {
        role: Speaker,
        variants: Vec<Variant>,
    },
}

/// The files of a layer, for one variant.
#[derive(Debug)]
pub(crate) struct Variant {
    /// The first tier that gets it; none for the layer's own text.
    pub(crate) tier: Option<usize>,
    /// The index of the text, by the index of the mode.
    pub(crate) texts: Vec<Option<usize>>,
}

/// A file that prompts are made of.
#[derive(Debug)]
pub(crate) struct PromptFile {
    pub(crate) path: String,
    pub(crate) source: SourceId,
    pub(crate) body: FileContent,
    /// Its tokens in each vocabulary, if it never changes.
    pub(crate) counts: [OnceLock<usize>; 2],
}

/// The content of a file.
#[derive(Debug)]
pub(crate) enum FileContent {
    /// A text without expressions: the same in every prompt.
    Plain(String),
    Template(TemplateDocument),
}

impl Prompts {
    /// The template in a file; none for plain text.
    pub(crate) fn template(&self, source: SourceId) -> Option<&TemplateDocument> {
        self.texts.iter().find(|text| text.source == source)?.template()
    }
}

impl PromptFile {
    /// The template, if this is one.
    pub(crate) fn template(&self) -> Option<&TemplateDocument> {
        match &self.body {
            FileContent::Template(document) => Some(document),
            FileContent::Plain(_) => None,
        }
    }
}
