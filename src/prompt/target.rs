//! Target: for which model is the prompt, and how large is its context?
//!
//! In: a model's name, and the models and tiers of the pack.
//! Out: [`PromptTarget`], with a warning if the model is not declared.
//! Never: fails: a model that is not declared belongs to the default tier.

use super::count::Estimate;
use super::{Counter, Layer, Request, TokenLedger};
use crate::diagnostic::{Code, Diagnostic, nearest};
use crate::program::{Model, Program, Prompts};
use crate::text::{excerpt, glob};
use crate::value::Value;
use std::sync::Arc;

/// The model that a prompt is for.
pub(super) struct PromptTarget<'p> {
    /// The host's name for the model.
    pub(super) id: &'p str,
    /// The pack's name for the model, or the host's if the pack does not declare it.
    pub(super) name: &'p str,
    pub(super) tier: usize,
    pub(super) tier_name: &'p str,
    pub(super) traits: &'p Value,
    context: usize,
    reserve: usize,
    input: Option<usize>,
    counter: CounterKind<'p>,
}

enum CounterKind<'p> {
    Host(&'p Arc<dyn Counter>),
    Exact(&'static dyn Counter),
    Estimate(Estimate),
}

impl<'p> PromptTarget<'p> {
    pub(super) fn of(prompts: &'p Prompts, request: &'p Request, diagnostics: &mut Vec<Diagnostic>) -> Self {
        let id = request.model.as_deref().unwrap_or_default();
        let declared = declared(prompts, id);
        let tier = declared.map_or(prompts.default, |(_, model)| model.tier);
        let target = Self::new(prompts, id, declared, tier, request.counter.as_ref());
        let named = declared.map(|(name, _)| name);
        if !id.is_empty() && named != Some(id) && !named.is_some_and(|family| is_member(family, id)) {
            diagnostics.push(unknown(prompts, id, named, target.tier_name));
        }
        target
    }

    /// An undeclared model for each tier, and every model that the pack declares.
    pub(super) fn each(prompts: &'p Prompts) -> impl Iterator<Item = Self> {
        let tiers = (0..prompts.tiers.len()).map(|tier| Self::new(prompts, "", None, tier, None));
        let models = prompts.models.iter().map(|(name, model)| (name.as_str(), model));
        tiers.chain(models.map(|model| Self::new(prompts, model.0, Some(model), model.1.tier, None)))
    }

    fn new(
        prompts: &'p Prompts,
        id: &'p str,
        declared: Option<(&'p str, &'p Model)>,
        tier: usize,
        counter: Option<&'p Arc<dyn Counter>>,
    ) -> Self {
        let (tier_name, row) = match prompts.tiers.get_index(tier) {
            Some((name, row)) => (name.as_str(), Some(row)),
            None => ("", None),
        };
        let model = declared.map(|(_, model)| model);
        let vocabulary = model.and_then(|model| model.vocabulary);
        let factor = match (model, row) {
            (Some(model), _) => model.bytes_per_token,
            (None, Some(row)) => row.bytes_per_token,
            (None, None) => 1.0,
        };
        let counter = match (counter, vocabulary.and_then(super::count::vocabulary)) {
            (Some(counter), _) => CounterKind::Host(counter),
            (None, Some(exact)) => CounterKind::Exact(exact),
            (None, None) => CounterKind::Estimate(Estimate(factor)),
        };
        PromptTarget {
            id,
            name: declared.map_or(id, |(name, _)| name),
            tier,
            tier_name,
            traits: model.map(|model| &model.traits).or(row.map(|row| &row.traits)).unwrap_or(&Value::Null),
            context: model.map(|model| model.context).or(row.map(|row| row.context)).unwrap_or_default(),
            reserve: model.map(|model| model.reserve).or(row.map(|row| row.reserve)).unwrap_or_default(),
            input: row.and_then(|row| row.input),
            counter,
        }
    }

    fn counter(&self) -> &dyn Counter {
        match &self.counter {
            CounterKind::Host(counter) => &***counter,
            CounterKind::Exact(counter) => *counter,
            CounterKind::Estimate(estimate) => estimate,
        }
    }

    pub(super) fn count(&self, text: &str) -> usize {
        if text.is_empty() { 0 } else { self.counter().count(text) }
    }

    /// The limit of a layer for this tier.
    pub(super) fn of_tier(&self, by_tier: &[Option<usize>]) -> Option<usize> {
        by_tier.get(self.tier).copied().flatten()
    }

    /// The most tokens that the context has room for besides the answer.
    pub(super) fn room(&self) -> usize {
        self.context.saturating_sub(self.reserve)
    }

    /// The most tokens that a prompt should have.
    pub(super) fn input(&self) -> usize {
        self.input.unwrap_or(usize::MAX).min(self.room())
    }

    pub(super) fn ledger(&self, tokens: usize, layers: Vec<Layer>) -> TokenLedger {
        TokenLedger {
            model: self.name.to_owned(),
            tier: self.tier_name.to_owned(),
            context: self.context,
            reserve: self.reserve,
            input: self.input(),
            tokens,
            estimated: self.counter().is_estimate(),
            layers,
        }
    }
}

impl Program {
    /// The diagnostic for a name that is probably a misspelling of a declared model.
    pub(crate) fn misnamed_model(&self, id: &str) -> Option<Diagnostic> {
        if declared(&self.prompts, id).is_some() {
            return None;
        }
        let near = nearest(id, self.prompts.models.keys().map(String::as_str))?;
        let message = format!("no table declares the model `{}`", excerpt(id, 60));
        Some(Diagnostic::new(Code::UNKNOWN_MODEL, None, message).with_help(format!("did you mean `{near}`?")))
    }
}

/// The wildcards in the name of a family of models: any text, and any byte.
const WILD: [char; 2] = ['*', '?'];

/// The model with this name; or else the family with the most letters that it belongs to; or else the model with the
/// longest name that is contained in this one. If several are equal, the first.
fn declared<'p>(prompts: &'p Prompts, id: &str) -> Option<(&'p str, &'p Model)> {
    if let Some((name, model)) = prompts.models.get_key_value(id) {
        return Some((name, model));
    }
    let mut best: Option<((bool, usize), &str, &Model)> = None;
    for (name, model) in &prompts.models {
        let is_family = is_member(name, id);
        let letters = name.chars().filter(|letter| !WILD.contains(letter)).count();
        let is_meant = is_family || id.to_ascii_lowercase().contains(&name.to_ascii_lowercase());
        if is_meant && best.is_none_or(|(known, ..)| (is_family, letters) > known) {
            best = Some(((is_family, letters), name, model));
        }
    }
    best.map(|(_, name, model)| (name, model))
}

/// Whether a name is that of a family to which the model belongs, ignoring case. A `/` in the model's name must be in
/// the family's name, too: another host may serve the same model with other limits.
fn is_member(name: &str, id: &str) -> bool {
    let (name, id) = (name.to_ascii_lowercase(), id.to_ascii_lowercase());
    let folders = |text: &str| text.matches('/').count();
    name.contains(WILD) && folders(&name) == folders(&id) && glob(&name, &id)
}

fn unknown(prompts: &Prompts, id: &str, named: Option<&str>, tier: &str) -> Diagnostic {
    let cited = excerpt(id, 60);
    let message = match named {
        Some(name) => format!("no table declares the model `{cited}`: it is taken for `{name}`"),
        None => format!("no table declares the model `{cited}`: it is taken for one of the tier `{tier}`"),
    };
    let diagnostic = Diagnostic::new(Code::UNKNOWN_MODEL, None, message);
    match named {
        Some(_) => diagnostic.with_help(format!("declare it as `[models.\"{cited}\"]` if it differs")),
        None => diagnostic.with_nearest(id, prompts.models.keys().map(String::as_str)),
    }
}
