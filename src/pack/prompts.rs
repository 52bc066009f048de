//! Prompts: are the keys of their layers consistent, and does everything exist that they name?
//!
//! In: the tables of prompts, tiers and models, and the texts of the pack.
//! Out: `pack/bad-layer` for keys that exclude each other, and a diagnostic for each undeclared name or missing file.
//! Never: reads a text, or counts its tokens.

use super::files::{out_of_scope, wrong_text};
use super::names::{names_of, undeclared, undeclared_mode};
use crate::diagnostic::{Code, Diagnostic, Message};
use crate::expression::{Scope, Template};
use crate::surface::{Amount, Layer, ONLY_MODE, Origins, Prompt, Speaker, Surface, Trimming};
use crate::text::{Location, Spanned};

pub(super) fn check(surface: &Surface, diagnostics: &mut Vec<Diagnostic>) {
    let mut check = PromptCheck { surface, diagnostics };
    check.tiers();
    for prompt in surface.prompts.values() {
        check.prompt(prompt);
        for layer in &prompt.value.layers {
            check.layer(layer);
        }
    }
}

/// The modes in which a layer is used.
pub(crate) fn modes_of<'s>(surface: &'s Surface, layer: &Layer) -> Vec<&'s str> {
    let named = |mode: &&str| layer.modes.0.is_empty() || layer.modes.0.iter().any(|name| name.value == **mode);
    surface.mode_names().filter(named).collect()
}

/// The path of a text in a mode, relative to the pack.
pub(crate) fn path_in(path: &Spanned<String>, mode: &str) -> Result<String, Box<Diagnostic>> {
    let mode = mode.into();
    let template = Template::parse(path)?;
    template.text(&Scope::new().with("mode", &mode)).map_err(|_| {
        let message = "the path of a text knows nothing but `mode`";
        Box::new(Diagnostic::new(Code::PACK_LAYER, path.at, message).with_help("such as `modes/{{ mode }}.md`"))
    })
}

struct PromptCheck<'c> {
    surface: &'c Surface,
    diagnostics: &'c mut Vec<Diagnostic>,
}

impl<'c> PromptCheck<'c> {
    fn tier(&mut self, name: &str, at: Location) {
        let declared = names_of(&self.surface.tiers);
        self.diagnostics.extend(undeclared(
            &self.surface.unreadable,
            Code::PACK_UNKNOWN_TIER,
            "tier",
            name,
            at,
            declared,
        ));
    }

    fn bad(&mut self, at: Location, message: impl Into<Message>, help: &str) {
        self.diagnostics.push(Diagnostic::new(Code::PACK_LAYER, at, message).with_help(help));
    }

    fn tiers(&mut self) {
        let surface = self.surface;
        for model in surface.models.values() {
            self.tier(&model.value.tier.value, model.value.tier.at);
        }
        let per_token = surface.tiers.values().map(|tier| tier.value.bytes_per_token);
        let per_token = per_token.chain(surface.models.values().map(|model| model.value.bytes_per_token));
        for factor in per_token.flatten().filter(|factor| factor.value <= 0.0) {
            let message = "a token has more than 0 bytes";
            self.diagnostics.push(Diagnostic::new(Code::PACK_WRONG_VALUE, factor.at, message));
        }
        let tiers = surface.tiers.values().map(|tier| &tier.value);
        let tiers = tiers.map(|tier| (tier.context.value, tier.reserve.value, tier.reserve.at));
        let models = surface.models.values().filter_map(|Spanned { value: model, .. }| {
            let tier = &surface.tiers.get(&model.tier.value)?.value;
            let at = model.reserve.or(model.context)?.at;
            Some((model.context.unwrap_or(tier.context).value, model.reserve.unwrap_or(tier.reserve).value, at))
        });
        for (context, reserve, at) in tiers.chain(models).filter(|(context, reserve, _)| reserve >= context) {
            let message = format!("of {context} tokens, a reserve of {reserve} leaves none for a prompt");
            let help = "the answer is a part of the context";
            self.diagnostics.push(Diagnostic::new(Code::PACK_WRONG_VALUE, at, message).with_help(help));
        }
        let mut defaults = surface.tiers.values().filter(|tier| tier.value.default);
        if let (Some(first), Some(second)) = (defaults.next(), defaults.next()) {
            self.diagnostics.push(
                Diagnostic::new(Code::PACK_DUPLICATE, second.at, "two tiers are the default")
                    .with_place(first.at, "the other one")
                    .with_help("a model that nothing declares belongs to one tier"),
            );
        }
        if let Some(prompt) = surface.prompts.values().next()
            && surface.tiers.is_empty()
            && surface.unreadable.is_empty()
        {
            let message = "the pack declares prompts, but no tier";
            self.diagnostics
                .push(Diagnostic::new(Code::PACK_UNKNOWN_TIER, prompt.at, message).with_help(
                    "add `[tiers.NAME]` with a `context` and a `reserve`, for models that nothing declares",
                ));
        }
    }

    fn prompt(&mut self, prompt: &Spanned<Prompt>) {
        let layers = &prompt.value.layers;
        if layers.is_empty() && !self.surface.torn.contains(&prompt.at) {
            self.bad(prompt.at, "a prompt without layers says nothing", "add `[[prompts.NAME.layers]]`");
        }
        let mut seen: Vec<&Layer> = Vec::new();
        for layer in layers {
            let same_source = |one: &&&Layer| {
                let source = |layer: &Layer| layer.source.map(|source| source.value);
                source(layer).is_some() && source(one) == source(layer)
            };
            if let Some(before) = seen.iter().find(|one| one.id.value == layer.id.value) {
                let message = format!("the layer `{}` is declared twice", layer.id.value);
                self.diagnostics.push(
                    Diagnostic::new(Code::PACK_DUPLICATE, layer.id.at, message)
                        .with_place(before.id.at, "first declared here"),
                );
            } else if let Some(before) = seen.iter().find(same_source) {
                self.diagnostics.push(
                    Diagnostic::new(Code::PACK_DUPLICATE, layer.id.at, "two layers have the same `source`")
                        .with_place(before.id.at, "the other one"),
                );
            }
            seen.push(layer);
        }
        for name in prompt.value.trim_order.iter().flatten() {
            let ids = layers.iter().map(|layer| layer.id.value.as_str());
            self.diagnostics.extend(undeclared(
                &self.surface.unreadable,
                Code::PACK_UNKNOWN_LAYER,
                "layer",
                &name.value,
                name.at,
                ids,
            ));
            let layer = layers.iter().find(|layer| layer.id.value == name.value);
            // In a layer with a fault, `trim` may be in the part that could not be read.
            let layer = layer.filter(|layer| !self.surface.torn.contains(&layer.at));
            if let Some(layer) = layer.filter(|layer| trimming(layer).is_empty()) {
                let message = format!("`{}` cannot be trimmed: nothing makes it shorter", name.value);
                self.diagnostics.push(
                    Diagnostic::new(Code::PACK_LAYER, name.at, message)
                        .with_place(layer.at, "declared here")
                        .with_help("give it a `trim` such as `variant` or `drop`, or take it out of `trim_order`"),
                );
            }
        }
    }

    fn layer(&mut self, layer: &'c Layer) {
        let surface = self.surface;
        let files = [&layer.text, &layer.template].into_iter().flatten();
        match files.clone().count() + usize::from(layer.source.is_some()) {
            1 => {}
            // In a layer with a fault, the text may be in the part that could not be read.
            0 if surface.torn.contains(&layer.at) => {}
            0 => self.bad(layer.at, "the layer is empty", "give it a `text`, a `template` or a `source`"),
            _ => self.bad(layer.at, "the layer has several sources", "`text`, `template` or `source`: keep one"),
        }
        let source = layer.source.map(|source| source.value);
        let history = source == Some(Origins::History);
        if let Some(role) = layer.role {
            if history {
                self.bad(role.at, "the turns of the history have roles of their own", "leave out the `role`");
            } else if source == Some(Origins::Message) && role.value != Speaker::User {
                self.bad(role.at, "the message is what the user says", "leave out the `role`");
            }
        }
        let unknown = source.is_none() && surface.torn.contains(&layer.at);
        if let Some(turns) = layer.turns.as_ref().filter(|_| !history && !unknown) {
            self.bad(place(turns), "`turns` belong to the history", "leave them out");
        }
        if let Some((_, path)) = layer.variants.first().filter(|_| source.is_some()) {
            self.bad(path.at, "only files have variants", "leave them out");
        }
        if let Some((_, amount)) = layer.entries.first().filter(|_| layer.template.is_none() && !unknown) {
            self.bad(amount.at, "only a template sees entries of the state", "leave them out");
        }
        for (path, amount) in &layer.entries {
            let head = path.split('.').next().unwrap_or_default();
            let fault = undeclared(
                &surface.unreadable,
                Code::PACK_UNKNOWN_STATE,
                "state",
                head,
                amount.at,
                names_of(&surface.state),
            );
            self.diagnostics.extend(fault);
        }
        self.trims(layer);
        for mode in &layer.modes.0 {
            self.diagnostics.extend(undeclared_mode(surface, mode));
        }
        layer.variants.iter().for_each(|(tier, path)| self.tier(tier, path.at));
        let amounts = layer.entries.values().map(|amount| &amount.value).chain(&layer.budget).chain(&layer.turns);
        for amount in amounts {
            if let Amount::ByTier(numbers, _) = amount {
                numbers.iter().for_each(|(tier, number)| self.tier(tier, number.at));
            }
        }
        for path in files.chain(layer.variants.values().map(|path| &path.value)) {
            self.file(path, layer);
        }
    }

    fn trims(&mut self, layer: &Layer) {
        let source = layer.source.map(|source| source.value);
        let torn = self.surface.torn.contains(&layer.at);
        for (number, strategy) in layer.trim.0.iter().enumerate().filter(|_| !torn) {
            let misfit = match strategy.value {
                Trimming::Never if layer.trim.0.len() > 1 => Some("`never` cannot be combined with others"),
                Trimming::Variant if layer.variants.is_empty() => Some("the layer has no `variants`"),
                Trimming::Entries if layer.entries.is_empty() && source != Some(Origins::Verdicts) => {
                    Some("the layer has no `entries`")
                }
                Trimming::LongTurns | Trimming::OldestTurns if source != Some(Origins::History) => {
                    Some("only the history has turns")
                }
                Trimming::Drop if number + 1 < layer.trim.0.len() => Some("nothing comes after `drop`"),
                _ if source == Some(Origins::Message) && strategy.value != Trimming::Never => {
                    Some("what the user says is never trimmed")
                }
                _ => None,
            };
            if let Some(message) = misfit {
                let help = "`variant` needs `variants`, `entries` needs `entries`, `long-turns` and `oldest-turns` the \
                            history; `drop` comes last";
                self.bad(strategy.at, message, help);
            }
        }
    }

    /// Checks every file that a path means in the modes of its layer.
    fn file(&mut self, path: &Spanned<String>, layer: &Layer) {
        let surface = self.surface;
        let mut reported: Vec<String> = Vec::new();
        let mut missing: Vec<(String, Diagnostic)> = Vec::new();
        let starts = surface.about.as_ref().and_then(|about| about.start.as_ref());
        if surface.modes.is_empty() && starts.is_some_and(|start| start.value != ONLY_MODE) {
            // Without declared modes, it is unknown which files are needed.
            return;
        }
        for mode in modes_of(surface, layer) {
            let below = match path_in(path, mode) {
                Ok(below) => below,
                Err(diagnostic) => return self.diagnostics.push(*diagnostic),
            };
            if reported.contains(&below) {
                continue;
            }
            // If the name of the mode is misspelt, the file is not missing.
            let others = || surface.modes.keys().map(String::as_str).filter(|other| *other != mode);
            let fault = wrong_text(surface, &below, path.at).map(|fault| fault.misnaming(mode, others()));
            missing.extend(fault.map(|fault| (below.clone(), fault)));
            reported.push(below);
        }
        let more = missing.len().saturating_sub(1);
        let mut missing = missing.into_iter();
        if let Some((below, mut first)) = missing.next() {
            if more > 0 {
                let files = if more == 1 { "that of another mode" } else { "those of other modes" };
                first.message = format!("{}, nor {files}", first.message).into();
            }
            // Either a file is missing, or the layer is used in too many modes: suggest both.
            let has_reason = || out_of_scope(&surface.files, &below, path.at.source).is_some();
            let is_ambiguous = first.code == Code::PACK_DUPLICATE;
            if path.value.contains("{{") && first.misnamed.is_none() && !is_ambiguous && !has_reason() {
                let help = "add a file for each mode, or write with `in` in which modes the layer is used";
                first.help = Some(help.to_owned().into());
            }
            self.diagnostics.push(first);
        }
    }
}

/// The strategies that make a layer shorter, in order; empty if nothing does.
pub(crate) fn trimming(layer: &Layer) -> Vec<Trimming> {
    match (layer.trim.0.as_slice(), layer.source.map(|source| source.value)) {
        ([], Some(Origins::History)) => vec![Trimming::OldestTurns],
        ([], Some(Origins::Verdicts)) => vec![Trimming::Entries, Trimming::Drop],
        (declared, _) => declared.iter().map(|one| one.value).filter(|strategy| *strategy != Trimming::Never).collect(),
    }
}

fn place(amount: &Amount) -> Location {
    match amount {
        Amount::Every(number) => number.at,
        Amount::ByTier(_, at) => *at,
    }
}
