//! Declared: where does a pack declare a name, and what belongs to a mode?
//!
//! In: a compiled pack, and a name that a user typed.
//! Out: the place of the declaration; the dialects, the required message and the texts of a mode, by name.
//! Never: exposes the parts of a program, so that tools which edit packs depend on names alone.

use super::{LayerSource, Program, PromptPlan};
use crate::text::Location;

/// What the entries of a table are that have names.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum DeclarationKind {
    /// `[actions]`
    Action,
    /// `[modes]`
    Mode,
    /// `[dialects]`
    Dialect,
    /// `[[guardrails]]`, by `id`
    Guardrail,
}

impl DeclarationKind {
    /// The word for it in messages.
    pub fn word(self) -> &'static str {
        match self {
            DeclarationKind::Action => "action",
            DeclarationKind::Mode => "mode",
            DeclarationKind::Dialect => "dialect",
            DeclarationKind::Guardrail => "guardrail",
        }
    }

    /// The key of all tables of this kind in a pack.
    pub fn table(self) -> &'static str {
        match self {
            DeclarationKind::Action => "actions",
            DeclarationKind::Mode => "modes",
            DeclarationKind::Dialect => "dialects",
            DeclarationKind::Guardrail => "guardrails",
        }
    }
}

impl Program {
    /// Where the pack declares `name`.
    #[doc(hidden)]
    pub fn declared_at(&self, kind: DeclarationKind, name: &str) -> Option<Location> {
        match kind {
            DeclarationKind::Action => self.actions.get(name).map(|action| action.at),
            DeclarationKind::Mode => self.modes.get(name).map(|mode| mode.at),
            DeclarationKind::Dialect => {
                self.dialects.iter().find(|dialect| dialect.name == name).map(|dialect| dialect.at)
            }
            DeclarationKind::Guardrail => self.guardrails.rules.iter().find(|rule| rule.id == name).map(|rule| rule.at),
        }
    }

    /// Whether the pack declares modes, so that an action needs a permit.
    #[doc(hidden)]
    pub fn declares_modes(&self) -> bool {
        self.modes.values().any(|mode| mode.declared)
    }

    /// The names of the dialects of a mode, in the order in which they are tried.
    #[doc(hidden)]
    pub fn dialects_in(&self, mode: &str) -> Vec<&str> {
        let dialects = self.modes.get(mode).into_iter().flat_map(|mode| self.dialects_of(mode));
        dialects.map(|dialect| dialect.name.as_str()).collect()
    }

    /// The action's name rewritten in the form that answers of a mode use for names; none if they can ask for the name
    /// as it is, or if names have no such form in this mode.
    #[doc(hidden)]
    pub fn action_like(&self, mode: &str, name: &str) -> Option<String> {
        let dialects = || self.modes.get(mode).into_iter().flat_map(|mode| self.dialects_of(mode));
        let blocks = || dialects().flat_map(|dialect| dialect.blocks.iter().map(move |block| (dialect, block)));
        let asked = blocks().any(|(dialect, block)| dialect.may_be_called(block, name));
        if asked { None } else { blocks().find_map(|(dialect, block)| dialect.called_like(block, name)) }
    }

    /// The name of the first prompt that the pack itself declares.
    #[doc(hidden)]
    pub fn own_prompt(&self) -> Option<&str> {
        let own = |prompt: &PromptPlan| prompt.layers.iter().any(|layer| self.files.is_own(layer.at.source));
        self.prompts.prompts.iter().find(|(_, prompt)| own(prompt)).map(|(name, _)| name.as_str())
    }

    /// The name of the block that must contain the message of a reply: in this mode, or in the first mode that needs
    /// one.
    #[doc(hidden)]
    pub fn required_message(&self, mode: Option<&str>) -> Option<&str> {
        let mut modes = self.modes.iter().filter(|(name, _)| mode.is_none_or(|mode| mode == *name));
        let counts = modes.find_map(|(_, mode)| mode.reply.counts.iter().find(|count| count.message && count.required));
        counts.map(|count| count.name.as_str())
    }

    /// The files that the pack's own prompts use in a mode, as paths below the pack, once for each layer and variant
    /// that uses one. Layers of a used pack are left out: they never use a file of this one.
    #[doc(hidden)]
    pub fn prompt_files_in(&self, mode: &str) -> Vec<&str> {
        let Some(mode) = self.mode_id(mode) else { return Vec::new() };
        let layers = self.prompts.prompts.values().flat_map(|prompt| &prompt.layers);
        let layers = layers.filter(|layer| self.files.is_own(layer.at.source));
        let variants = layers.flat_map(|layer| match &layer.source {
            LayerSource::Files { variants, .. } => variants.as_slice(),
            LayerSource::History | LayerSource::Message | LayerSource::Verdicts { .. } => &[],
        });
        let texts = variants.filter_map(|variant| variant.texts.get(mode.0).copied().flatten());
        texts.filter_map(|text| self.files.path(self.prompts.texts.get(text)?.source)).collect()
    }
}
