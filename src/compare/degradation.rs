//! Degradation: how is a faulty answer handled now?
//!
//! In: the degradation tables of two programs.
//! Out: a [`DeclarationChange`] for each defect and declaration whose strategies differ.
//! Never: reports a declaration that appeared or disappeared if the strategies stay the same.

use super::rows::row;
use super::{DeclarationChange, Direction};
use crate::diagnostic::{Defect, Strategy};
use crate::program::{DeclaredBy, DegradationRow, Program};

pub(super) fn changes(old: &Program, new: &Program) -> Vec<DeclarationChange> {
    let (old_rows, new_rows) = (old.degradation_table(), new.degradation_table());
    let own = |rows: &[DegradationRow]| -> Vec<DegradationRow> {
        rows.iter().filter(|row| row.rule.is_some()).cloned().collect()
    };
    let mut all = own(&new_rows);
    let is_known = |one: &DegradationRow, all: &[DegradationRow]| {
        all.iter().any(|other| (other.defect, &other.declared_by) == (one.defect, &one.declared_by))
    };
    let gone: Vec<DegradationRow> = own(&old_rows).into_iter().filter(|row| !is_known(row, &all)).collect();
    all.extend(gone);
    all.iter().filter_map(|one| change(one, &old_rows, &new_rows)).collect()
}

/// The change of a row that is in at least one of the tables.
fn change(one: &DegradationRow, old: &[DegradationRow], new: &[DegradationRow]) -> Option<DeclarationChange> {
    let own = |rows: &[DegradationRow]| {
        rows.iter()
            .find(|row| (row.defect, &row.declared_by) == (one.defect, &one.declared_by))
            .map(|row| row.strategies.clone())
    };
    let (before, now) = (own(old), own(new));
    let words = |all: &[Strategy]| all.iter().map(|one| one.name()).collect::<Vec<_>>().join(", ");
    let gone = now.is_none();
    let word = match (&before, &now) {
        (Some(_), None) => Some("it is gone".to_owned()),
        (None, Some(_)) => Some("it is new".to_owned()),
        _ => None,
    };
    // Several defaults may apply without the row: it has widened if it is more lenient than any of them.
    let others = |rows: &[DegradationRow]| -> Vec<Vec<Strategy>> {
        let others = rows.iter().filter(|row| row.defect == one.defect && row.declared_by != one.declared_by);
        others.map(|row| row.strategies.clone()).collect()
    };
    let widens = |before: &[Strategy], now: &[Strategy]| stricter(one.defect, before, now) == Direction::Widened;
    let widened = match (&before, &now) {
        (None, Some(now)) => others(old).iter().any(|before| widens(before, now)),
        (Some(before), None) => others(new).iter().any(|now| widens(before, now)),
        _ => false,
    };
    let (before, now) = (before.or_else(|| beneath(one, old)), now.or_else(|| beneath(one, new)));
    let (direction, how) = match (before, now) {
        (Some(before), Some(now)) if before == now => return None,
        (Some(before), Some(now)) => {
            let how = format!("{} → {}", words(&before), words(&now));
            (stricter(one.defect, &before, &now), [Some(how), word].into_iter().flatten().collect())
        }
        _ if widened => (Direction::Widened, word.into_iter().collect()),
        _ => (Direction::Changed, word.into_iter().collect()),
    };
    let name = format!("{} ({})", one.defect, one.declared_by);
    Some(DeclarationChange { gone, ..row("degradation", &name, direction, how, one.rule.clone()) })
}

/// The strategies that apply without this row: those of the pack, or the default; none if they differ among the things
/// that the row is about.
fn beneath(one: &DegradationRow, rows: &[DegradationRow]) -> Option<Vec<Strategy>> {
    let mut others = rows.iter().filter(|row| row.defect == one.defect && row.declared_by != one.declared_by);
    let pack = others.clone().find(|row| row.declared_by == DeclaredBy::Pack);
    // A mode or block may have strategies that precede those of the pack.
    let between = others.clone().any(|row| row.rule.is_some() && row.declared_by != DeclaredBy::Pack);
    match pack {
        _ if between && one.declared_by != DeclaredBy::Pack => None,
        Some(pack) => Some(pack.strategies.clone()),
        None => {
            let first = others.find(|row| row.rule.is_none())?;
            // Calls may have a default of their own.
            others.all(|row| row.rule.is_some()).then(|| first.strategies.clone())
        }
    }
}

/// The strategies for a defect that apply to every answer; none if a mode, a block or an action has its own.
pub(super) fn everywhere(defect: Defect, program: &Program) -> Option<Vec<Strategy>> {
    let rows = program.degradation_table().into_iter().filter(|row| row.defect == defect);
    let all =
        rows.map(|row| matches!(row.declared_by, DeclaredBy::Default | DeclaredBy::Pack).then_some(row.strategies));
    all.collect::<Option<Vec<_>>>()?.pop()
}

/// Whether the new strategies are stricter, by how much each may leave of the part with the defect.
pub(super) fn stricter(defect: Defect, old: &[Strategy], new: &[Strategy]) -> Direction {
    // The first strategy that applies acts, so the most lenient one decides how much may remain.
    let rank = |all: &[Strategy]| {
        let of = |one: &Strategy| match one {
            Strategy::Refuse | Strategy::AskAgain => 3,
            Strategy::Drop => 2,
            // As text, or in part.
            Strategy::KeepAsText | Strategy::TakeStrayText | Strategy::KeepFirst | Strategy::KeepLast => 1,
            // A nested block that stays where it is remains text of the block around it.
            Strategy::Keep if defect == Defect::NestedBlock => 1,
            Strategy::Keep | Strategy::Join | Strategy::Lift => 0,
            Strategy::Repair | Strategy::Salvage | Strategy::Coerce | Strategy::Interpret | Strategy::Default => 0,
            Strategy::Omit => 0,
            Strategy::Redact => 1,
        };
        all.iter().map(of).min()
    };
    Direction::of(rank(old).cmp(&rank(new)))
}
