//! Prompts, from tables to numbers: which text does each layer use in each mode?
//!
//! In: the tables of prompts, tiers and models, and the texts of the pack.
//! Out: [`Prompts`], and a diagnostic for each template that cannot be used.
//! Never: reports an undeclared name or a missing file; the pack's checks have done so.

use super::PackCompiler;
use super::name_scope::{LAYER_NAMES, NameScope};
use crate::diagnostic::{Code, Diagnostic};
use crate::markup::{Escape, Guarding, Library, Marking, MarkupStart};
use crate::pack::files::wrong_text;
use crate::pack::prompts::{modes_of, path_in, trimming};
use crate::program::prompt::{
    FileContent, LayerPlan, LayerSource, Model, PromptFile, PromptPlan, Prompts, Tier, Variant,
};
use crate::program::{Dialect, Mode, ObjectStarts, Structure};
use crate::surface::files::NameMeaning;
use crate::surface::{self, Amount, Origins, Speaker, Surface};
use crate::text::{Location, Source, SourceId, Span, Spanned};
use crate::value::Table;
use crate::value::Value;
use std::sync::Arc;

/// The bytes per token by default: few, so that estimates are high rather than low.
const BYTES_PER_TOKEN: f64 = 3.0;
/// The most turns of the history by default.
const DEFAULT_TURNS: usize = 10;
/// The default budget in tokens for the verdicts on the calls of the last answer.
const DEFAULT_VERDICT_TOKENS: usize = 200;

impl PackCompiler<'_> {
    pub(super) fn compile_prompts(&mut self, modes: &Table<String, Mode>, dialects: &[Dialect]) -> Prompts {
        let surface = self.surface;
        let escape = Arc::new(escape(surface, dialects));
        let tiers = tiers(surface);
        let default = surface.tiers.values().position(|tier| tier.value.default).unwrap_or(0);
        let mut texts = KnownTexts { known: Vec::new(), unread: false, escape: escape.clone() };
        let names: Vec<&str> = modes.keys().map(String::as_str).collect();
        let mut prompts = Table::default();
        for (name, prompt) in &surface.prompts {
            let layers: Vec<LayerPlan> =
                prompt.value.layers.iter().filter_map(|layer| self.compile_layer(layer, &names, &mut texts)).collect();
            let trim_order = match &prompt.value.trim_order {
                Some(order) => {
                    let number = |id: &Spanned<String>| layers.iter().position(|layer| layer.id == id.value);
                    order.iter().filter_map(number).collect()
                }
                None => {
                    let history = |number: &usize| {
                        matches!(layers.get(*number), Some(LayerPlan { source: LayerSource::History, .. }))
                    };
                    let (first, rest): (Vec<usize>, Vec<usize>) = (0..layers.len()).rev().partition(history);
                    [first, rest].concat()
                }
            };
            let separator = prompt.value.separator.clone().unwrap_or_else(|| "\n\n".to_owned());
            prompts.insert(name.clone(), PromptPlan { separator, trim_order, layers, at: prompt.at });
        }
        if !texts.unread {
            self.check_sections(&texts.known);
        }
        let models = models(surface, &tiers);
        let texts = texts.known.into_iter().map(|(_, text)| text).collect();
        Prompts { prompts, tiers, models, default, texts, escape }
    }

    fn compile_layer(&mut self, layer: &surface::Layer, modes: &[&str], texts: &mut KnownTexts) -> Option<LayerPlan> {
        let surface = self.surface;
        let in_modes = modes_of(surface, layer);
        let by_tier = |amount: Option<&Amount>, otherwise: Option<usize>| {
            surface.tiers.keys().map(|tier| amount.map_or(otherwise, |amount| amount.of(tier))).collect::<Vec<_>>()
        };
        let role = layer.role.map_or(surface::Speaker::System, |role| role.value);
        let holds = match (layer.source.map(|source| source.value), &layer.text, &layer.template) {
            (Some(Origins::History), ..) => LayerSource::History,
            (Some(Origins::Message), ..) => LayerSource::Message,
            (Some(Origins::Verdicts), ..) => LayerSource::Verdicts { role },
            (None, Some(path), _) | (None, None, Some(path)) => {
                let plain = layer.text.is_some();
                let own = std::iter::once((None, path));
                let others = layer.variants.iter().map(|(tier, path)| (surface.tiers.get_index_of(tier), &path.value));
                let mut variants = Vec::new();
                for (tier, path) in own.chain(others) {
                    let mut of_mode = |mode: &&str| {
                        let below = path_in(path, mode).ok().filter(|_| in_modes.contains(mode))?;
                        self.text(&below, path.at.source, plain, texts)
                    };
                    variants.push(Variant { tier, texts: modes.iter().map(&mut of_mode).collect() });
                }
                LayerSource::Files { role, variants }
            }
            (None, None, None) => {
                texts.unread = true;
                return None;
            }
        };
        Some(LayerPlan {
            id: layer.id.value.clone(),
            modes: modes.iter().map(|mode| in_modes.contains(mode)).collect(),
            when: self.condition(layer.when.as_ref(), &NameScope::of(LAYER_NAMES)),
            budget: match holds {
                LayerSource::Verdicts { .. } => by_tier(layer.budget.as_ref(), Some(DEFAULT_VERDICT_TOKENS))
                    .into_iter()
                    .map(|most| most.or(Some(DEFAULT_VERDICT_TOKENS)))
                    .collect(),
                _ => by_tier(layer.budget.as_ref(), None),
            },
            source: holds,
            trim: trimming(layer),
            entries: layer
                .entries
                .iter()
                .map(|(path, most)| (path.split('.').map(str::to_owned).collect(), by_tier(Some(&most.value), None)))
                .collect(),
            turns: by_tier(layer.turns.as_ref(), Some(DEFAULT_TURNS))
                .into_iter()
                .map(|most| most.or(Some(DEFAULT_TURNS)))
                .collect(),
            lead: layer.lead.clone().unwrap_or_default(),
            at: layer.at,
        })
    }

    /// The index of the text that `below` means in the file `from`; the text is read when first needed.
    fn text(&mut self, below: &str, from: SourceId, plain: bool, texts: &mut KnownTexts) -> Option<usize> {
        let surface = self.surface;
        // If the text cannot be read, the sections that it uses are unknown.
        let unread = std::mem::replace(&mut texts.unread, true);
        let source = surface.files.text(below, from).source()?;
        let known = texts.known.iter().position(|(kind, text)| text.source == source && *kind == plain);
        if known.is_none() {
            let file = surface.sources.get(source)?;
            let body = if plain {
                FileContent::Plain(file.text().trim_matches(['\n', '\r']).to_owned())
            } else {
                FileContent::Template(self.document(source, &texts.escape)?)
            };
            // The path alone is enough for a file of the pack itself.
            let path = if surface.files.is_own(source) { below } else { file.name() };
            texts.known.push((plain, PromptFile { path: path.to_owned(), source, body }));
        }
        texts.unread = unread;
        known.or(texts.known.len().checked_sub(1))
    }

    /// Reports sections of modes that no template uses: they would never be printed.
    fn check_sections(&mut self, texts: &[(bool, PromptFile)]) {
        let surface = self.surface;
        let mut asked: Vec<&str> = Vec::new();
        for (_, text) in texts {
            let FileContent::Template(document) = &text.body else { continue };
            for (path, _) in document.reads().iter() {
                match path {
                    [head] if head == "sections" => return,
                    [head, section, ..] if head == "sections" => asked.push(section),
                    _ => {}
                }
            }
        }
        for mode in surface.modes.values().filter(|_| !surface.prompts.is_empty()) {
            for (section, word) in &mode.value.sections {
                if !asked.contains(&section.as_str()) {
                    let message = format!("no template of a prompt asks for the section `{section}`");
                    let diagnostic = Diagnostic::new(Code::PACK_UNKNOWN_SECTION, word.at, message);
                    self.diagnostics.push(diagnostic.with_nearest(section, asked.iter().copied()));
                }
            }
        }
    }
}

/// How values are escaped, so that they are not markup in any dialect of the pack.
fn escape(surface: &Surface, dialects: &[Dialect]) -> Escape {
    let names = |listed: Option<&Vec<Spanned<String>>>, name: &str| {
        listed.map(|listed| listed.iter().any(|one| one.value == name))
    };
    let unlisted = surface.unlisted_dialects();
    // A dialect that others include, and that no mode reads, has no delimiters of its own.
    let is_read = |dialect: &&Dialect| {
        names(surface.about.as_ref().and_then(|about| about.dialects.as_ref()), &dialect.name)
            .unwrap_or_else(|| unlisted.contains(&dialect.name.as_str()))
            || surface.modes.values().any(|mode| names(mode.value.dialects.as_ref(), &dialect.name) == Some(true))
    };
    let read = || dialects.iter().filter(is_read);
    let families = || read().flat_map(|dialect| dialect.families.iter().map(move |family| (dialect, family)));
    let openers = families().map(|(dialect, family)| {
        let by_line = dialect.structure.is_some() || (family.starts_line && family.leading.is_none());
        MarkupStart::new(family.grammar.first(family.open), by_line)
    });
    let closers = families().filter_map(|(_, family)| Some(family.grammar.first(family.close?)));
    let guards = dialects.iter().filter_map(|dialect| {
        // A fault in the dialect may be about where its openers count: only the start of a line is certain.
        let torn = || surface.torn.contains(&dialect.at);
        let guessed = || Arc::new(Structure::new(&dialect.families, dialect.names.clone(), true));
        let structure: Arc<dyn Guarding> = dialect.structure.clone().or_else(|| torn().then(guessed))?;
        Some((dialect.name.clone(), structure))
    });
    // A fallback has the delimiters of the dialect that it is derived from.
    let marks = read().filter(|dialect| dialect.fallback.is_none()).map(|dialect| -> Arc<dyn Marking> {
        match (&dialect.outline, &dialect.structure) {
            (Some(outline), _) => Arc::new(ObjectStarts(outline.clone())),
            (None, Some(structure)) => structure.clone(),
            (None, None) => Arc::new(Structure::new(&dialect.families, dialect.names.clone(), false)),
        }
    });
    let escape = Escape::new(openers).with_closers(closers);
    escape.with_guards(guards.collect()).with_marks(marks.collect()).with_turn_labels(Speaker::TURN_LABELS)
}

/// The texts read so far.
struct KnownTexts {
    /// Whether each is plain, and the text.
    known: Vec<(bool, PromptFile)>,
    /// Whether some texts cannot be read.
    unread: bool,
    escape: Arc<Escape>,
}

impl Library for Surface {
    fn find(&self, name: &str, from: SourceId) -> Option<SourceId> {
        // If a name is ambiguous, return no file, so that the fault is reported.
        let found = Some(self.files.text(name, from)).filter(|found| !matches!(found, NameMeaning::Ambiguous(..)));
        found?.source()
    }

    fn text(&self, source: SourceId) -> &str {
        self.sources.get(source).map_or("", Source::text)
    }

    fn is_xml(&self, source: SourceId) -> bool {
        self.sources.get(source).is_some_and(|source| source.name().ends_with(".xml"))
    }

    fn missing(&self, name: &str, from: SourceId) -> Option<Diagnostic> {
        // The caller replaces the place by that of the word that names the file.
        wrong_text(self, name, Location { source: from, span: Span::default() })
    }
}

fn tiers(surface: &Surface) -> Table<String, Tier> {
    let tier = |tier: &surface::Tier| Tier {
        context: tier.context.value,
        reserve: tier.reserve.value,
        input: tier.input.map(|input| input.value),
        bytes_per_token: tier.bytes_per_token.map_or(BYTES_PER_TOKEN, |factor| factor.value),
        traits: traits(&tier.traits, None),
    };
    surface.tiers.iter().map(|(name, one)| (name.clone(), tier(&one.value))).collect()
}

fn models(surface: &Surface, tiers: &Table<String, Tier>) -> Table<String, Model> {
    let model = |model: &surface::Model| {
        let (number, _, tier) = tiers.get_full(&model.tier.value)?;
        Some(Model {
            tier: number,
            context: model.context.map_or(tier.context, |context| context.value),
            reserve: model.reserve.map_or(tier.reserve, |reserve| reserve.value),
            vocabulary: model.vocabulary,
            bytes_per_token: model.bytes_per_token.map_or(tier.bytes_per_token, |factor| factor.value),
            traits: traits(&model.traits, Some(&tier.traits)),
        })
    };
    surface.models.iter().filter_map(|(name, one)| Some((name.clone(), model(&one.value)?))).collect()
}

/// The traits that conditions read: those of the model on top of those of its tier.
fn traits(own: &surface::Named<surface::Tree>, below: Option<&Value>) -> Value {
    let mut all = below.and_then(Value::as_object).cloned().unwrap_or_default();
    all.extend(own.iter().map(|(name, value)| (name.as_str(), value.value.to_json())));
    Value::Object(all)
}
