//! Guardrails, compiled: which checks look at which text?
//!
//! In: the guardrails of the surface.
//! Out: [`Guardrails`]: the patterns of each target as one set that is searched in one pass.
//! Never: searches a text.

use super::Modes;
use super::pattern::{Pattern, PatternSet};
use crate::diagnostic::{Severity, Strategy};
use crate::expression::Expression;
use crate::surface::Role;
use crate::text::Location;
use std::sync::Arc;

/// All guardrails of a program.
#[derive(Debug, Default)]
pub(crate) struct Guardrails {
    pub(crate) rules: Vec<Guardrail>,
    pub(crate) sets: Vec<TargetPatterns>,
    /// Guardrails with conditions, by number.
    pub(crate) conditions: Vec<usize>,
}

/// One check.
#[derive(Debug)]
pub(crate) struct Guardrail {
    pub(crate) id: String,
    pub(crate) targets: Vec<Target>,
    /// Where each of them stands.
    pub(crate) on: Vec<Location>,
    /// Without a pattern its condition alone decides.
    pub(crate) pattern: Option<Pattern>,
    /// Whether it trips where the pattern does not match.
    pub(crate) inverted: bool,
    /// A match that this one overlaps does not count.
    pub(crate) excuse: Option<Pattern>,
    /// Asked of each match if it reads what that captures.
    pub(crate) when: Option<Expression>,
    /// The modes in which it looks.
    pub(crate) modes: Modes,
    pub(crate) advice: Option<String>,
    pub(crate) severity: Severity,
    pub(crate) strategy: Option<Strategy>,
    pub(crate) at: Location,
}

/// What a guardrail looks at.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Target {
    Role(Role),
    Block(String),
    Key(String),
    /// A parameter of the accepted calls of an action.
    Param(String, String),
    Reply,
}

/// The patterns of one target.
#[derive(Debug)]
pub(crate) struct TargetPatterns {
    pub(crate) target: Target,
    /// Shared with the targets that the same guardrails look at.
    pub(crate) patterns: Arc<PatternSet>,
    /// The guardrail of each pattern.
    pub(crate) rules: Vec<usize>,
}
