//! Steps: which questions were decided, and how?
//!
//! In: each question when it is decided, if a trace is wanted.
//! Out: [`JudgeStep`]s in order; conditions have the values of their parts.
//! Never: decides anything, or costs anything without a trace.

use super::Leaf;
use super::condition_parts::{ConditionPart, parts};
use crate::diagnostic::{Message, message, quote};
use crate::expression::{Expression, Failure, Scope};
use crate::text::{Location, Span, excerpt};
use serde::{Deserialize, Serialize};
use std::fmt;

/// The maximum number of recorded steps: a rule may be checked for each of ten thousand utterances.
const MAX_STEPS: usize = 20_000;
/// The maximum number of characters of a condition in the trace.
const MAX_CONDITION_CHARACTERS: usize = 300;

/// The kind of a step in the trace. In JSON, `step` has its name, and the members of the kind are beside it.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(tag = "step", rename_all = "lowercase")]
#[non_exhaustive]
pub enum StepKind {
    /// A dialect was tried, or skipped.
    Dialect,
    /// Bytes were counted.
    Bytes {
        /// The part of the ledger under which they count.
        part: Leaf,
        /// For dropped bytes: why they were dropped.
        why: Option<String>,
    },
    /// A user's message was classified.
    Input,
    /// A later input matches the message, too.
    Shadowed,
    /// A block was recognised.
    Block,
    /// A call was judged.
    Call {
        /// Whether it was accepted.
        accepted: bool,
    },
    /// The permits of a mode were checked.
    Permit,
    /// A condition was evaluated.
    Condition,
    /// A defect was found.
    Defect,
    /// A guardrail tripped.
    Guardrail,
    /// A strategy answered the preceding finding.
    Strategy,
    /// A remark was made.
    Remark,
    /// A rule fired.
    Rule,
    /// The mode changed.
    Mode {
        /// The mode that was left.
        from: String,
        /// The mode that was entered.
        to: String,
    },
    /// An effect was produced for the host.
    Effect,
}

impl StepKind {
    /// The name in the contract.
    #[doc(hidden)]
    pub fn word(&self) -> &'static str {
        match self {
            StepKind::Dialect => "dialect",
            StepKind::Bytes { .. } => "bytes",
            StepKind::Input => "input",
            StepKind::Shadowed => "shadowed",
            StepKind::Block => "block",
            StepKind::Call { .. } => "call",
            StepKind::Permit => "permit",
            StepKind::Condition => "condition",
            StepKind::Defect => "defect",
            StepKind::Guardrail => "guardrail",
            StepKind::Strategy => "strategy",
            StepKind::Remark => "remark",
            StepKind::Rule => "rule",
            StepKind::Mode { .. } => "mode",
            StepKind::Effect => "effect",
        }
    }
}

impl fmt::Display for StepKind {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(self.word())
    }
}

/// Something that was decided.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct JudgeStep {
    pub(crate) kind: StepKind,
    pub(crate) found: String,
    /// The declaration that was applied.
    pub(crate) at: Location,
    /// The place in the response.
    pub(crate) span: Span,
    /// The parts of a condition and their values.
    pub(crate) parts: Vec<ConditionPart>,
}

/// A condition that was evaluated.
#[derive(Debug)]
pub(crate) struct EvaluatedCondition<'e> {
    when: &'e Expression,
    pub(crate) holds: Result<bool, Failure>,
    parts: Vec<ConditionPart>,
}

impl EvaluatedCondition<'_> {
    /// Why the condition is not true; `None` if it is. Its source is cut to `most` characters.
    pub(crate) fn why_not(&self, most: usize) -> Option<String> {
        let why = match &self.holds {
            Ok(true) => return None,
            Ok(false) => "does not hold".to_owned(),
            Err(failure) => format!("fails: {}", excerpt(&failure.message, 80)),
        };
        Some(format!("`{}` {why}", excerpt(self.when.source(), most)))
    }

    /// The condition, for a sentence that says that it is not true; `None` if it is true.
    pub(crate) fn unmet(&self) -> Option<Message> {
        let source = || excerpt(self.when.source(), 120);
        match &self.holds {
            Ok(true) => None,
            Ok(false) => Some(message!("`{}`", &source())),
            Err(failure) => Some(message!("`{}` fails: {}", &source(), quote(&failure.message, 80))),
        }
    }
}

/// The steps so far; `None` if no trace is wanted.
#[derive(Debug, Default)]
pub(crate) struct Steps(Option<Vec<JudgeStep>>);

impl Steps {
    pub(crate) fn new(wanted: bool) -> Self {
        Self(wanted.then(Vec::new))
    }

    pub(crate) fn are_wanted(&self) -> bool {
        self.0.is_some()
    }

    /// Evaluates a condition, and also its parts if a trace is wanted.
    pub(crate) fn evaluate<'e>(&self, when: &'e Expression, scope: &Scope<'_>) -> EvaluatedCondition<'e> {
        let parts = if self.are_wanted() { parts(when, scope) } else { Vec::new() };
        EvaluatedCondition { when, holds: when.holds(scope), parts }
    }

    pub(crate) fn record(&mut self, kind: StepKind, at: Location, span: Span, found: impl FnOnce() -> String) {
        self.push(|| JudgeStep { kind, found: found(), at, span, parts: Vec::new() });
    }

    /// Records a change of mode.
    pub(crate) fn trace_mode(&mut self, from: &str, to: &str, at: Location, span: Span) {
        let kind = || StepKind::Mode { from: from.to_owned(), to: to.to_owned() };
        self.push(|| JudgeStep { kind: kind(), found: format!("{from} to {to}"), at, span, parts: Vec::new() });
    }

    /// Records the result of a condition; `whose` describes what the condition decides.
    pub(crate) fn trace_condition(
        &mut self,
        condition: EvaluatedCondition<'_>,
        at: Location,
        span: Span,
        whose: impl FnOnce() -> String,
    ) {
        self.push(|| {
            let verdict = condition.why_not(MAX_CONDITION_CHARACTERS);
            let verdict = verdict
                .unwrap_or_else(|| format!("`{}` holds", excerpt(condition.when.source(), MAX_CONDITION_CHARACTERS)));
            JudgeStep {
                kind: StepKind::Condition,
                found: format!("{}: {verdict}", whose()),
                at,
                span,
                parts: condition.parts,
            }
        });
    }

    pub(crate) fn into_list(self) -> Vec<JudgeStep> {
        self.0.unwrap_or_default()
    }

    fn push(&mut self, step: impl FnOnce() -> JudgeStep) {
        if let Some(steps) = self.0.as_mut().filter(|steps| steps.len() < MAX_STEPS) {
            steps.push(step());
        }
    }
}
