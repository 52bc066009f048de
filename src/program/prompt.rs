//! Prompts, compiled: which texts may a layer have, and how much may each use?
//!
//! In: the checked tables of prompts, tiers and models, and the texts of the pack.
//! Out: [`PromptPlan`] with its [`LayerPlan`]s, each [`PromptFile`] read once, [`Tier`] and [`Model`], with every name
//! resolved.
//! Never: renders a text, or counts a token.

use crate::diagnostic::KnownNames;
use crate::expression::Expression;
use crate::markup::{Escape, TemplateDocument};
use crate::surface::{Speaker, Trimming, Vocabulary};
use crate::text::{Location, SourceId};
use crate::value::Table;
use crate::value::Value;
use std::sync::{Arc, OnceLock};

/// All prompts of a pack, and the parts that they are composed of.
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

/// What is derived from a mode and its actions when first needed.
#[derive(Debug, Clone, Default)]
pub(crate) struct ModeView {
    /// The names of the actions that the mode permits, for findings about other names.
    pub(crate) names: OnceLock<KnownNames>,
    /// The mode's actions as templates see them; built when a template first needs them.
    pub(crate) actions: OnceLock<Value>,
    /// How answers are written in the mode, as templates see it; built when a template first needs it.
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

/// One prompt of a pack.
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
    pub(crate) source: LayerSource,
    /// Whether the layer is used, by the index of the mode.
    pub(crate) modes: Vec<bool>,
    pub(crate) when: Option<Expression>,
    /// By the index of the tier, like all limits below.
    pub(crate) budget: Vec<Option<usize>>,
    pub(crate) trim: Vec<Trimming>,
    /// Paths into the state, and how many items of each are included.
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
    /// The calls of the last answer that were not executed.
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
    /// The first tier that uses the variant; none for the layer's own text.
    pub(crate) tier: Option<usize>,
    /// The index of the text, by the index of the mode.
    pub(crate) texts: Vec<Option<usize>>,
}

/// A file that is a part of prompts.
#[derive(Debug)]
pub(crate) struct PromptFile {
    pub(crate) path: String,
    pub(crate) source: SourceId,
    pub(crate) body: FileContent,
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
