//! Guardrails, compiled: which checks apply to which text?
//!
//! In: the guardrails of the surface.
//! Out: [`Guardrails`]: the patterns for each target as one set that is searched in one pass.
//! Never: searches a text.

use super::pattern::{Pattern, PatternSet};
use super::{BlockBinding, ModeId, Modes, Watch};
use crate::diagnostic::{Severity, Strategy};
use crate::expression::Expression;
use crate::surface::Role;
use crate::text::Location;
use std::ops::Range;
use std::sync::{Arc, OnceLock};

/// All guardrails of a program.
#[derive(Debug, Default)]
pub(crate) struct Guardrails {
    pub(crate) rules: Vec<Guardrail>,
    pub(crate) sets: Vec<TargetPatterns>,
}

/// One guardrail.
#[derive(Debug)]
pub(crate) struct Guardrail {
    pub(crate) id: String,
    pub(crate) targets: Vec<GuardrailTarget>,
    /// The place in the pack of each target.
    pub(crate) on: Vec<Location>,
    /// Without a pattern, the condition alone decides.
    pub(crate) pattern: Option<Pattern>,
    /// Whether it trips if the pattern does not match.
    pub(crate) inverted: bool,
    /// A match that overlaps a match of this one does not count.
    pub(crate) excuse: Option<Pattern>,
    /// Evaluated for each match if it reads captures.
    pub(crate) when: Option<Expression>,
    /// The modes in which it applies.
    pub(crate) modes: Modes,
    pub(crate) advice: Option<String>,
    pub(crate) severity: Severity,
    pub(crate) strategy: Option<Strategy>,
    /// What replaces each match if the guardrail redacts.
    pub(crate) with: Arc<str>,
    /// The automaton for streams; built when first needed, and none if the pattern has none.
    pub(crate) watch: OnceLock<Option<Watch>>,
    pub(crate) at: Location,
}

impl Guardrails {
    /// The guardrail of each pattern of a set.
    pub(crate) fn of_set(&self, set: &TargetPatterns) -> impl Iterator<Item = &Guardrail> {
        set.rules.iter().filter_map(|rule| self.rules.get(*rule))
    }

    /// The guardrails without a pattern.
    pub(crate) fn conditions(&self) -> impl Iterator<Item = &Guardrail> {
        self.rules.iter().filter(|rule| rule.pattern.is_none())
    }

    /// The guardrails that check answers in a mode, without those that keep what they find.
    pub(crate) fn of_answers(&self, mode: Option<ModeId>) -> impl Iterator<Item = &Guardrail> {
        let checks = |rule: &&Guardrail| !rule.targets.contains(&GuardrailTarget::Input);
        let acts = |rule: &&Guardrail| rule.strategy != Some(Strategy::Keep);
        self.rules.iter().filter(checks).filter(acts).filter(move |rule| rule.modes.include(mode))
    }
}

impl Guardrail {
    /// Whether it may redact what it finds: its strategy says so, or none of its strategies says what follows.
    pub(crate) fn may_redact(&self) -> bool {
        !self.inverted && matches!(self.strategy, None | Some(Strategy::Redact | Strategy::AskAgain))
    }

    /// The automaton that finds how much of an incomplete text cannot be part of a later match.
    pub(crate) fn watch(&self) -> Option<&Watch> {
        self.watch.get_or_init(|| Watch::of(self)).as_ref()
    }

    /// The matches at or after an offset in the text, without those that `unless` excuses.
    pub(crate) fn matches_from<'l>(&'l self, text: &'l str, from: usize) -> impl Iterator<Item = Range<usize>> + 'l {
        let pattern = self.pattern.iter().filter(|_| !self.inverted);
        pattern.flat_map(move |pattern| pattern.find_apart(text, from, self.excuse.as_slice()))
    }

    /// Whether it may trip on a text: its pattern decides so, whatever its condition is.
    pub(crate) fn may_trip(&self, text: &str) -> bool {
        match &self.pattern {
            Some(pattern) if self.inverted => pattern.find_all(text, 0).next().is_none(),
            Some(_) => self.matches_from(text, 0).next().is_some(),
            None => true,
        }
    }

    /// Whether it checks the keys of contents.
    pub(crate) fn checks_keys(&self) -> bool {
        self.targets.iter().any(|target| matches!(target, GuardrailTarget::Key(_)))
    }

    /// Whether its condition is evaluated for each match.
    pub(crate) fn reads_captures(&self) -> bool {
        let mut reads = self.when.iter().flat_map(|when| when.reads());
        reads.any(|path| path.first().is_some_and(|name| name == "captures"))
    }
}

/// What a guardrail checks.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum GuardrailTarget {
    Role(Role),
    Block(String),
    Key(String),
    /// A parameter of accepted calls: the action's name, then the parameter's.
    Param(String, String),
    Reply,
    /// The message of a user.
    Input,
}

impl GuardrailTarget {
    /// The role of the block if this target may mean its text: by the block's name, or by what a response calls it.
    pub(crate) fn is_text_of(&self, block: &BlockBinding) -> Option<Role> {
        let GuardrailTarget::Block(name) = self else { return None };
        (block.may_be_named(name) || block.name == *name).then_some(block.role)
    }
}

/// The patterns for one target.
#[derive(Debug)]
pub(crate) struct TargetPatterns {
    pub(crate) target: GuardrailTarget,
    /// Shared by targets that have the same guardrails.
    pub(crate) patterns: Arc<PatternSet>,
    /// The guardrail of each pattern, by index.
    pub(crate) rules: Vec<usize>,
    /// Whether one of them may redact what it finds.
    pub(crate) may_redact: bool,
}
