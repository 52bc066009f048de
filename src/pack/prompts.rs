//! Prompts: do the keys of their layers fit together, and does everything named exist?
//!
//! In: the tables of prompts, tiers and models, and the texts of the pack.
//! Out: `pack/bad-layer` for keys that do not fit together, and a diagnostic for each undeclared name or missing file.
//! Never: reads a text, or counts its tokens.

use super::names::{names_of, undeclared, undeclared_mode};
use crate::diagnostic::{Code, Diagnostic, nearest};
use crate::expression::{Scope, Template};
use crate::surface::{Amount, Layer, ONLY_MODE, Origins, Prompt, Speaker, Surface, TEXTS, Trimming};
use crate::text::{Location, Spanned, excerpt};

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
        self.diagnostics.extend(undeclared(&self.surface.lost, Code::PACK_UNKNOWN_TIER, "tier", name, at, declared));
    }

    fn bad(&mut self, at: Location, message: impl Into<String>, help: &str) {
        self.diagnostics.push(Diagnostic::new(Code::PACK_LAYER, at, message).with_help(help));
    }

    fn tiers(&mut self) {
        let surface = self.surface;
        for (name, model) in &surface.models {
            self.tier(&model.value.tier.value, model.value.tier.at);
            if name.contains('*') {
                let message = format!("`{}` has a `*`, which no model is called by", excerpt(name, 60));
                let help = "a name without it also stands for undeclared models whose names contain it";
                let diagnostic = Diagnostic::new(Code::PACK_WRONG_VALUE, model.at, message).with_help(help);
                self.diagnostics.push(diagnostic.into_warning());
            }
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
            && surface.lost.is_empty()
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
                &self.surface.lost,
                Code::PACK_UNKNOWN_LAYER,
                "layer",
                &name.value,
                name.at,
                ids,
            ));
            let layer = layers.iter().find(|layer| layer.id.value == name.value);
            // A layer with a fault in it may have lost its `trim` to that.
            let layer = layer.filter(|layer| !self.surface.torn.contains(&layer.at));
            if let Some(layer) = layer.filter(|layer| trimming(layer).is_empty()) {
                let message = format!("`{}` cannot give way: nothing makes it shorter", name.value);
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
            // A layer with a fault in it may have lost its text to that.
            0 if surface.torn.contains(&layer.at) => {}
            0 => self.bad(layer.at, "the layer holds nothing", "give it a `text`, a `template` or a `source`"),
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
            let fault =
                undeclared(&surface.lost, Code::PACK_UNKNOWN_STATE, "state", head, amount.at, names_of(&surface.state));
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
                Trimming::Never if layer.trim.0.len() > 1 => Some("`never` stands alone"),
                Trimming::Variant if layer.variants.is_empty() => Some("the layer has no `variants`"),
                Trimming::Entries if layer.entries.is_empty() => Some("the layer has no `entries`"),
                Trimming::OldestTurns if source != Some(Origins::History) => Some("only the history has turns"),
                Trimming::Drop if number + 1 < layer.trim.0.len() => Some("nothing comes after `drop`"),
                _ if source == Some(Origins::Message) && strategy.value != Trimming::Never => {
                    Some("what the user says is never trimmed")
                }
                _ => None,
            };
            if let Some(message) = misfit {
                let help = "`variant` needs `variants`, `entries` needs `entries`, `oldest-turns` the history; \
                            `drop` comes last";
                self.bad(strategy.at, message, help);
            }
        }
    }

    /// Checks every file that a path stands for, in the modes of its layer.
    fn file(&mut self, path: &Spanned<String>, layer: &Layer) {
        let surface = self.surface;
        let mut told: Vec<String> = Vec::new();
        let mut missing: Vec<Diagnostic> = Vec::new();
        let starts = surface.about.as_ref().and_then(|about| about.start.as_ref());
        if surface.modes.is_empty() && starts.is_some_and(|start| start.value != ONLY_MODE) {
            // Without declared modes, nobody knows which files are needed.
            return;
        }
        for mode in modes_of(surface, layer) {
            let below = match path_in(path, mode) {
                Ok(below) => below,
                Err(diagnostic) => return self.diagnostics.push(*diagnostic),
            };
            if told.contains(&below) {
                continue;
            }
            missing.extend(missing_text(self.surface, &below, path.at));
            told.push(below);
        }
        let more = missing.len().saturating_sub(1);
        let mut missing = missing.into_iter();
        if let Some(mut first) = missing.next() {
            if more > 0 {
                let files = if more == 1 { "that of another mode" } else { "those of other modes" };
                first.message = format!("{}, nor {files}", first.message);
            }
            // Perhaps a file is missing, or the layer stands in too many modes: offer both.
            if path.value.contains("{{") && first.misnamed.is_none() {
                let help = "add a file for each mode, or say with `in` in which modes the layer stands";
                first.help = Some(help.to_owned());
            }
            self.diagnostics.push(first);
        }
    }
}

/// What is wrong with the path of a text; none if the pack has the text.
pub(crate) fn missing_text(surface: &Surface, below: &str, at: Location) -> Option<Diagnostic> {
    let shown = excerpt(below, 80);
    let leaves = below.starts_with(['/', '\\', '~']) || below.contains(['\\', ':']);
    if leaves || below.split('/').any(|part| part == "..") {
        let help = "paths of texts are relative to the pack's folder and stay in it";
        return Some(Diagnostic::new(Code::PACK_OUTSIDE, at, format!("`{shown}` leaves the pack")).with_help(help));
    }
    match surface.texts.get(below) {
        Some(Ok(_)) => None,
        Some(Err(byte)) => Some(
            Diagnostic::new(Code::PACK_UNREADABLE, at, format!("`{shown}` is not UTF-8 from byte {byte} on"))
                .with_help("save the file as UTF-8"),
        ),
        None if !TEXTS.iter().any(|end| below.ends_with(end)) => {
            let message = format!("`{shown}` cannot be a text of the pack");
            let help = match below.contains(char::is_whitespace) {
                true => "this is the path of a file: put the words into one, such as `prompt/identity.md`".to_owned(),
                false => format!("names of texts end in {}", TEXTS.join(", ")),
            };
            Some(Diagnostic::new(Code::PACK_MISSING_FILE, at, message).with_help(help))
        }
        None => {
            let message = format!("the pack has no file `{shown}`");
            let fault = Diagnostic::new(Code::PACK_MISSING_FILE, at, message);
            // A file that was moved keeps its name.
            let name = |path: &str| path.rsplit('/').next().unwrap_or_default().to_owned();
            let moved = surface.texts.keys().filter(|path| name(path) == name(below));
            let moved: Vec<&str> = moved.map(String::as_str).collect();
            let declared = surface.texts.keys().map(String::as_str);
            // Compare names without folder and ending, which many files share.
            let stem = |path: &str| name(path).rsplit_once('.').map(|(stem, _)| stem.to_owned()).unwrap_or_default();
            let is_near = |near: &&str| match moved.is_empty() {
                true => nearest(&stem(below), [stem(near).as_str()]).is_some(),
                false => moved.contains(near),
            };
            let near = nearest(below, declared.clone().filter(is_near));
            let alike = || {
                let names: Vec<String> = declared.clone().map(name).collect();
                let alike = nearest(&name(below), names.iter().map(String::as_str))?;
                declared.clone().find(|path| name(path) == alike).filter(is_near)
            };
            let meant = near.or_else(|| moved.first().copied()).or_else(alike);
            Some(match meant {
                Some(meant) => fault.with_nearest(meant, [meant]),
                // No file is close to that name.
                None => fault.with_help("paths are relative to the folder of the pack").with_nearest("", declared),
            })
        }
    }
}

/// The strategies that make a layer shorter, in order; empty if nothing does.
pub(crate) fn trimming(layer: &Layer) -> Vec<Trimming> {
    let history = layer.source.is_some_and(|source| source.value == Origins::History);
    match layer.trim.0.as_slice() {
        [] if history => vec![Trimming::OldestTurns],
        declared => declared.iter().map(|one| one.value).filter(|strategy| *strategy != Trimming::Never).collect(),
    }
}

fn place(amount: &Amount) -> Location {
    match amount {
        Amount::Every(number) => number.at,
        Amount::ByTier(_, at) => *at,
    }
}
