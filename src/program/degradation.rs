//! Degradation: which strategies does a pack declare for a defect, and which table decides?
//!
//! In: the tables of the pack, of its modes, blocks and actions; a defect, and the [`DeclarationContext`] around it.
//! Out: the strategies that may answer it, each with its place in the pack; the rows for `explain`.
//! Never: applies a strategy.

use super::{Action, BlockBinding, Mode, Program};
use crate::diagnostic::{Defect, Strategy};
use crate::surface::{self, Role};
use crate::text::{FilePlace, Location};
use std::fmt;

/// The strategies of one table, by defect.
#[derive(Debug, Clone, Default)]
pub(crate) struct DegradationTable(Vec<Option<DefectAnswer>>);

/// The strategies for a defect, and their place.
#[derive(Debug, Clone)]
struct DefectAnswer {
    strategies: Vec<Strategy>,
    at: Location,
}

/// A strategy and its place in the pack; a default has none.
pub(crate) type ResolvedStrategy = (Strategy, Option<Location>);

/// The declarations that a defect is about, if known. The nearest one with a strategy for the defect decides.
#[derive(Debug, Clone, Copy, Default)]
pub(crate) struct DeclarationContext<'p> {
    pub(crate) action: Option<&'p Action>,
    pub(crate) block: Option<&'p BlockBinding>,
    pub(crate) mode: Option<&'p Mode>,
}

/// One row of the complete degradation table.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct DegradationRow {
    /// The defect.
    pub defect: Defect,
    /// Who declares the strategies.
    pub declared_by: DeclaredBy,
    /// The strategies; the first that applies acts.
    pub strategies: Vec<Strategy>,
    /// The place in the pack.
    pub rule: Option<FilePlace>,
}

/// Who declares the strategies for a defect.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub enum DeclaredBy {
    /// Nothing in the pack: the default.
    Default,
    /// Nothing in the pack: the default for calls.
    DefaultForCalls,
    /// Nothing in the pack: the default for contents.
    DefaultForContents,
    /// The table of the pack.
    Pack,
    /// The mode with this name.
    Mode(String),
    /// The block, by its dialect and name.
    Block(String, String),
    /// The action with this name.
    Action(String),
}

impl fmt::Display for DeclaredBy {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            DeclaredBy::Default => f.write_str("default"),
            DeclaredBy::DefaultForCalls => f.write_str("default for calls"),
            DeclaredBy::DefaultForContents => f.write_str("default for contents"),
            DeclaredBy::Pack => f.write_str("pack"),
            DeclaredBy::Mode(mode) => write!(f, "mode {mode}"),
            DeclaredBy::Block(dialect, block) => write!(f, "block {dialect}.{block}"),
            DeclaredBy::Action(action) => write!(f, "action {action}"),
        }
    }
}

impl DegradationTable {
    pub(super) fn new(degradation: &surface::Degradation) -> Self {
        let mut answers = Vec::new();
        if !degradation.0.is_empty() {
            answers.resize(Defect::ALL.len(), None);
        }
        for (defect, strategies) in &degradation.0 {
            if let Some(slot) = answers.get_mut(defect.value as usize) {
                let strategies = strategies.iter().map(|strategy| strategy.value).collect();
                *slot = Some(DefectAnswer { strategies, at: defect.at });
            }
        }
        Self(answers)
    }

    /// Every strategy that the table names, with its defect and place.
    pub(crate) fn rows(&self) -> impl Iterator<Item = (Defect, Strategy, Location)> {
        let rows = Defect::ALL.iter().zip(&self.0).filter_map(|(defect, answer)| Some((*defect, answer.as_ref()?)));
        rows.flat_map(|(defect, answer)| answer.strategies.iter().map(move |one| (defect, *one, answer.at)))
    }

    /// Whether the table has strategies for this defect.
    pub(crate) fn declares(&self, defect: Defect) -> bool {
        self.get(defect).is_some()
    }

    /// Where the table declares strategies for this defect.
    pub(crate) fn place_of(&self, defect: Defect) -> Option<Location> {
        self.get(defect).map(|answer| answer.at)
    }

    fn get(&self, defect: Defect) -> Option<&DefectAnswer> {
        self.0.get(defect as usize)?.as_ref()
    }
}

impl Program {
    /// The strategies that may answer a defect, in order: those of the nearest declaration (action, block, mode, pack),
    /// then the default.
    pub(crate) fn answers<'p>(
        &'p self,
        defect: Defect,
        near: DeclarationContext<'p>,
    ) -> impl Iterator<Item = ResolvedStrategy> + Clone + use<'p> {
        let by_action = near.action.and_then(|action| action.degradation.get(defect));
        let by_block = || near.block?.degradation.get(defect);
        let by_mode = || near.mode?.degradation.get(defect);
        let nearest = by_action.or_else(by_block).or_else(by_mode).or_else(|| self.degradation.get(defect));
        let default = match near.block.map(|block| block.role) {
            Some(Role::Call) => defect.default_for_calls(),
            Some(Role::Content) => defect.default_for_contents(),
            _ => defect.default_strategy(),
        };
        let declared =
            nearest.into_iter().flat_map(|answer| answer.strategies.iter().map(|one| (*one, Some(answer.at))));
        declared.chain([(default, None)])
    }

    /// Every row of every table, sorted by defect, from the default to the nearest declaration.
    #[doc(hidden)]
    pub fn degradation_table(&self) -> Vec<DegradationRow> {
        let mut tables = vec![(DeclaredBy::Pack, &self.degradation)];
        tables.extend(self.modes.iter().map(|(name, mode)| (DeclaredBy::Mode(name.clone()), &mode.degradation)));
        for dialect in self.dialects.iter() {
            let of_block = |block: &BlockBinding| DeclaredBy::Block(dialect.name.clone(), block.name.clone());
            tables.extend(dialect.blocks.iter().map(|block| (of_block(block), &block.degradation)));
        }
        tables.extend(self.actions.iter().map(|(name, one)| (DeclaredBy::Action(name.clone()), &one.degradation)));
        let mut rows = Vec::new();
        for defect in Defect::ALL.iter().copied() {
            let row = |declared_by, strategies, rule| DegradationRow { defect, declared_by, strategies, rule };
            // The default acts where no strategy of the pack applies.
            let always = |answer: &DefectAnswer| answer.strategies.iter().any(|one| one.always_answers(defect));
            if !self.degradation.get(defect).is_some_and(always) {
                let default = defect.default_strategy();
                rows.push(row(DeclaredBy::Default, vec![default], None));
                let of_calls = (DeclaredBy::DefaultForCalls, defect.default_for_calls());
                let of_contents = (DeclaredBy::DefaultForContents, defect.default_for_contents());
                let apart = [of_calls, of_contents].into_iter().filter(|(_, strategy)| *strategy != default);
                rows.extend(apart.map(|(declared_by, strategy)| row(declared_by, vec![strategy], None)));
            }
            let declared = tables.iter().filter_map(|(declared_by, answers)| Some((declared_by, answers.get(defect)?)));
            rows.extend(declared.map(|(declared_by, answer)| {
                row(declared_by.clone(), answer.strategies.clone(), self.place(answer.at))
            }));
        }
        rows
    }
}
