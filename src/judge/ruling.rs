//! Ruling: does a reply count, and is the model asked again?
//!
//! In: each strategy that answered a defect, while a reply is judged and while effects follow from it.
//! Out: [`Ruling`]: whether anything was changed or refused, and whether the model is asked again.
//! Never: chooses a strategy, or gives a reason.

use crate::diagnostic::{Diagnostic, Severity, Strategy};
use crate::text::Location;

/// What the strategies so far mean for the reply as a whole.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub(crate) struct Ruling {
    /// Whether a strategy other than `keep` acted, or the reply is nothing but unclosed reasoning.
    degraded: bool,
    /// Whether the whole reply is refused.
    refused: bool,
    /// Whether the model is asked again.
    asks_again: bool,
}

impl Ruling {
    /// Records that `strategy` answered a defect, in the finding about it too; `declared` is where the pack declares
    /// it.
    pub(crate) fn decide(&mut self, strategy: Strategy, declared: Option<Location>, finding: &mut Diagnostic) {
        self.degraded |= strategy != Strategy::Keep;
        self.refused |= strategy.refuses();
        self.asks_again |= strategy == Strategy::AskAgain;
        if strategy.refuses() {
            finding.severity = Severity::Error;
        }
        finding.strategy = Some(strategy);
        finding.answered_by = declared;
    }

    /// Records that the reply cannot be what was meant, although every defect in it was kept.
    pub(crate) fn degrade(&mut self) {
        self.degraded = true;
    }

    /// Adds what was decided elsewhere about the same reply.
    pub(crate) fn and(&mut self, other: Ruling) {
        self.degraded |= other.degraded;
        self.refused |= other.refused;
        self.asks_again |= other.asks_again;
    }

    /// Whether a strategy other than `keep` acted, or the reply is nothing but unclosed reasoning.
    pub(crate) fn is_degraded(self) -> bool {
        self.degraded
    }

    /// Whether the whole reply is refused: it has no effects, and the session is unchanged.
    pub(crate) fn is_refused(self) -> bool {
        self.refused
    }

    /// Whether the model is asked again.
    pub(crate) fn asks_again(self) -> bool {
        self.asks_again
    }
}
