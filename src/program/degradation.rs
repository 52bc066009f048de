//! Degradation: what does a pack say about a defect, and whose word counts?
//!
//! In: the tables of the pack, of its modes, blocks and actions; a defect and what is [`Near`] it.
//! Out: the strategies that may answer it, each with the place of the word for it; the rows for `explain`.
//! Never: lets a strategy act.

use super::{Action, Block, Mode, Program};
use crate::diagnostic::{Defect, Strategy};
use crate::surface::{self, Role};
use crate::text::Location;
use std::fmt;
use std::sync::Arc;

/// The answers to defects of one table.
#[derive(Debug, Default)]
pub(crate) struct Degradation(Vec<Option<Answer>>);

/// The strategies that answer a defect, and where that stands.
#[derive(Debug, Clone)]
struct Answer {
    strategies: Vec<Strategy>,
    at: Location,
}

/// A strategy, and the place of the pack's word for it; a default has none.
pub(crate) type Chosen = (Strategy, Option<Location>);

/// What a defect is about, as far as it is declared: the nearest of these that has a word on the defect is heard.
#[derive(Debug, Clone, Copy, Default)]
pub(crate) struct Near<'p> {
    pub(crate) action: Option<&'p Action>,
    pub(crate) block: Option<&'p Block>,
    pub(crate) mode: Option<&'p Mode>,
}

/// One line of the degradation table as it stands.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct DegradationRow {
    /// The defect.
    pub defect: Defect,
    /// Whose word it is.
    pub said_by: SaidBy,
    /// The strategies, of which the first that applies is taken.
    pub strategies: Vec<Strategy>,
    /// Where that stands in the pack.
    pub rule: Option<Arc<str>>,
}

/// Who says what answers a defect.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub enum SaidBy {
    /// Nobody: it is the default.
    Default,
    /// Nobody: it is the default where the defect is about a call.
    DefaultForCalls,
    /// The pack's own table.
    Pack,
    /// The mode of this name.
    Mode(String),
    /// The block of this dialect and name.
    Block(String, String),
    /// The action of this name.
    Action(String),
}

impl fmt::Display for SaidBy {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            SaidBy::Default => f.write_str("default"),
            SaidBy::DefaultForCalls => f.write_str("default for calls"),
            SaidBy::Pack => f.write_str("pack"),
            SaidBy::Mode(mode) => write!(f, "mode {mode}"),
            SaidBy::Block(dialect, block) => write!(f, "block {dialect}.{block}"),
            SaidBy::Action(action) => write!(f, "action {action}"),
        }
    }
}

impl Degradation {
    pub(super) fn new(degradation: &surface::Degradation) -> Self {
        let mut answers = Vec::new();
        if !degradation.0.is_empty() {
            answers.resize(Defect::ALL.len(), None);
        }
        for (defect, strategies) in &degradation.0 {
            if let Some(slot) = answers.get_mut(defect.value as usize) {
                let strategies = strategies.iter().map(|strategy| strategy.value).collect();
                *slot = Some(Answer { strategies, at: defect.at });
            }
        }
        Self(answers)
    }

    /// Every strategy that it names, whatever it answers.
    pub(crate) fn strategies(&self) -> impl Iterator<Item = Strategy> {
        self.0.iter().flatten().flat_map(|answer| answer.strategies.iter().copied())
    }

    /// Whether it has a word on this defect.
    pub(crate) fn says(&self, defect: Defect) -> bool {
        self.get(defect).is_some()
    }

    fn get(&self, defect: Defect) -> Option<&Answer> {
        self.0.get(defect as usize)?.as_ref()
    }
}

impl Program {
    /// What may answer a defect, in this order: the strategies of the nearest word on it (the action's, the block's, the
    /// mode's, the pack's), then the default.
    pub(crate) fn answers<'p>(
        &'p self,
        defect: Defect,
        near: Near<'p>,
    ) -> impl Iterator<Item = Chosen> + Clone + use<'p> {
        let by_action = near.action.and_then(|action| action.degradation.get(defect));
        let by_block = || near.block?.degradation.get(defect);
        let by_mode = || near.mode?.degradation.get(defect);
        let nearest = by_action.or_else(by_block).or_else(by_mode).or_else(|| self.degradation.get(defect));
        let default = match near.block {
            Some(block) if block.role == Role::Call => defect.default_for_calls(),
            _ => defect.default_strategy(),
        };
        let said = nearest.into_iter().flat_map(|answer| answer.strategies.iter().map(|one| (*one, Some(answer.at))));
        said.chain([(default, None)])
    }

    /// Every word on degradation, defect by defect, from the default to the nearest word.
    pub fn degradation_table(&self) -> Vec<DegradationRow> {
        let mut tables = vec![(SaidBy::Pack, &self.degradation)];
        tables.extend(self.modes.iter().map(|(name, mode)| (SaidBy::Mode(name.clone()), &mode.degradation)));
        for dialect in &self.dialects {
            let of_block = |block: &Block| SaidBy::Block(dialect.name.clone(), block.name.clone());
            tables.extend(dialect.blocks.iter().map(|block| (of_block(block), &block.degradation)));
        }
        tables.extend(self.actions.iter().map(|(name, one)| (SaidBy::Action(name.clone()), &one.degradation)));
        let mut rows = Vec::new();
        for defect in Defect::ALL.iter().copied() {
            let row = |said_by, strategies, rule| DegradationRow { defect, said_by, strategies, rule };
            let (default, for_calls) = (defect.default_strategy(), defect.default_for_calls());
            rows.push(row(SaidBy::Default, vec![default], None));
            if for_calls != default {
                rows.push(row(SaidBy::DefaultForCalls, vec![for_calls], None));
            }
            let said = tables.iter().filter_map(|(said_by, answers)| Some((said_by, answers.get(defect)?)));
            rows.extend(
                said.map(|(said_by, answer)| row(said_by.clone(), answer.strategies.clone(), self.place(answer.at))),
            );
        }
        rows
    }
}
