//! Tables: what does a program say about degradation and permits?
//!
//! In: a [`Program`].
//! Out: rows for `explain`, and the faults of what compiles on first use.
//! Never: lays them out.

use super::Program;
use crate::diagnostic::{Code, Defect, Diagnostic, Strategy};
use crate::text::excerpt;

/// One line of the degradation table as it stands.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct DegradationRow {
    /// The defect.
    pub defect: Defect,
    /// Whose word it is: `default`, `default for calls`, `pack`, `mode NAME`, `action NAME` or `block DIALECT.NAME`.
    pub place: String,
    /// The strategies, of which the first that applies is taken.
    pub strategies: Vec<Strategy>,
    /// Where that stands in the pack.
    pub rule: Option<String>,
}

/// What a mode says about an action.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Permission {
    /// No permit allows it.
    Forbidden,
    /// It is permitted.
    Always {
        /// Where the permit stands.
        rule: String,
    },
    /// It is permitted under a condition.
    When {
        /// The condition; of several one must hold.
        condition: String,
        /// Where the first permit stands.
        rule: String,
    },
}

/// One cell of the matrix of actions and modes.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct PermitCell {
    /// The action.
    pub action: String,
    /// The mode.
    pub mode: String,
    /// What the mode says about it.
    pub permission: Permission,
}

impl Program {
    /// Every word on degradation, defect by defect, from the default to the nearest word.
    pub fn degradation_table(&self) -> Vec<DegradationRow> {
        let mut tables = vec![("pack".to_owned(), &self.degradation)];
        tables.extend(self.modes.iter().map(|(name, mode)| (format!("mode {name}"), &mode.degradation)));
        for (dialect, blocks) in self.dialects.iter().zip(&self.block_degradation) {
            for (block, answers) in dialect.blocks.iter().zip(blocks) {
                tables.push((format!("block {}.{}", dialect.name, block.name), answers));
            }
        }
        tables.extend(self.actions.iter().map(|(name, action)| (format!("action {name}"), &action.degradation)));
        let mut rows = Vec::new();
        for defect in Defect::ALL.iter().copied() {
            let default = |place: &str, strategy: Strategy| DegradationRow {
                defect,
                place: place.to_owned(),
                strategies: vec![strategy],
                rule: None,
            };
            rows.push(default("default", defect.default_strategy()));
            if defect.default_for_calls() != defect.default_strategy() {
                rows.push(default("default for calls", defect.default_for_calls()));
            }
            for (place, answers) in &tables {
                if let Some(answer) = answers.get(defect) {
                    rows.push(DegradationRow {
                        defect,
                        place: place.clone(),
                        strategies: answer.strategies.clone(),
                        rule: self.place(answer.at),
                    });
                }
            }
        }
        rows
    }

    /// The matrix of actions and modes, action by action.
    pub fn permit_table(&self) -> Vec<PermitCell> {
        let mut cells = Vec::new();
        for (number, action) in self.actions.keys().enumerate() {
            for (name, mode) in &self.modes {
                let permits = mode.permits.get(number).map(Vec::as_slice).unwrap_or_default();
                let rule = |at| self.place(at).unwrap_or_default();
                let permission = match permits.iter().find(|permit| permit.when.is_none()).or(permits.first()) {
                    None => Permission::Forbidden,
                    Some(permit) if permit.when.is_none() => Permission::Always { rule: rule(permit.at) },
                    Some(permit) => Permission::When {
                        condition: permits
                            .iter()
                            .filter_map(|permit| permit.when.as_ref())
                            .map(|when| when.source())
                            .collect::<Vec<_>>()
                            .join(" or "),
                        rule: rule(permit.at),
                    },
                };
                cells.push(PermitCell { action: action.clone(), mode: name.clone(), permission });
            }
        }
        cells
    }

    /// Compiles every schema, and says which cannot be.
    pub(super) fn compile_schemas(&self) -> Vec<Diagnostic> {
        let params = self.actions.iter().map(|(name, action)| (format!("params of `{name}`"), &action.schema, action.at));
        let returns = self.actions.iter().filter_map(|(name, action)| {
            Some((format!("result of `{name}`"), action.returns.as_ref()?, action.at))
        });
        let slots = self.slots.iter().map(|(name, slot)| (format!("state `{name}`"), &slot.schema, slot.at));
        let mut faults = Vec::new();
        for (what, schema, at) in params.chain(returns).chain(slots) {
            if let Err(error) = schema.validator() {
                let message = format!("the schema of the {what} cannot be used: {}", excerpt(error, 160));
                faults.push(Diagnostic::new(Code::PACK_SCHEMA, at, message));
            }
        }
        for slot in self.slots.iter().filter(|(_, slot)| slot.compute.is_none()) {
            let value = self.initial.get(slot.0);
            if let (Ok(validator), Some(value)) = (slot.1.schema.validator(), value)
                && !value.is_null()
                && let Err(error) = validator.validate(value)
            {
                let message = format!("the default of the state `{}` does not fit its schema: {}", slot.0, excerpt(&error.to_string(), 160));
                faults.push(Diagnostic::new(Code::PACK_SCHEMA, slot.1.at, message));
            }
        }
        faults
    }
}
