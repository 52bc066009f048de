//! Permissions: what may an answer do now that it could not do before, or no longer do?
//!
//! In: two programs.
//! Out: a [`DeclarationChange`] for each permit, parameter, exit and guardrail that differs.
//! Never: evaluates a condition: if more differs than operands of `and` and `or`, it counts as changed, neither wider
//! nor narrower.

use super::conditions::ConditionChange;
use super::degradation::{everywhere, stricter};
use super::rows::{RowDirections, Rows, arrow, modes_change, pair, row, together};
use super::{DeclarationChange, Direction, schema};
use crate::diagnostic::{Defect, Strategy};
use crate::program::{Guardrail, Permission, PermitCell, Program};
use crate::text::excerpt;
use std::collections::HashSet;

pub(super) fn changes(old: &Program, new: &Program) -> Vec<DeclarationChange> {
    let mut changes = Vec::new();
    let both = |old: &Option<String>, new: &Option<String>| condition(old.as_deref(), new.as_deref());
    // Everything is forbidden by default, so a new permit or exit widens.
    let directions = RowDirections::ALLOWING;
    let (before, now) = (permits(old.permit_table()), permits(new.permit_table()));
    pair("permit", &before, &now, directions, &mut changes, both);
    let (before, now) = contents(old, new);
    pair("content permit", &permits(before), &permits(now), directions, &mut changes, both);
    for (name, action) in &new.actions {
        let Some(before) = old.actions.get(name) else { continue };
        let (direction, how) = schema::compare(&before.schema, &action.schema);
        changes.extend(direction.map(|direction| row("parameters", name, direction, how, new.place(action.at))));
    }
    let other = |old: &Vec<String>, new: &Vec<String>| {
        let how = || old.iter().zip(new).filter(|(old, new)| old != new).map(|(old, new)| arrow(old, new)).collect();
        (old != new && old.len() == new.len()).then(|| (Direction::Changed, how()))
    };
    // That a person is asked at all is a part of the permit.
    let (old_questions, new_questions) = (questions(old), questions(new));
    for (name, asked, place) in &new_questions {
        let before = old_questions.iter().find(|(known, ..)| known == name);
        let change = before.and_then(|(_, before, _)| other(before, asked));
        changes.extend(change.map(|(direction, how)| row("question", name, direction, how, place.clone())));
    }
    pair("exit", &exits(old), &exits(new), RowDirections::ALLOWING, &mut changes, both);
    // A new guardrail accepts less.
    let checks = |program: &Program| -> Rows<GuardrailKey> {
        let rows = program.guardrails.rules.iter();
        let table = everywhere(Defect::Guardrail, program);
        rows.map(|rule| (rule.id.clone(), GuardrailKey::of(program, rule, table.as_deref()), program.place(rule.at)))
            .collect()
    };
    pair("guardrail", &checks(old), &checks(new), RowDirections::RESTRICTING, &mut changes, GuardrailKey::direction);
    changes
}

/// How the condition of a permit or exit changed. A condition that fails denies.
pub(super) fn condition(old: Option<&str>, new: Option<&str>) -> Option<(Direction, Vec<String>)> {
    let short = |text: &str| excerpt(text, 80).into_owned();
    let (direction, how) = match (old, new) {
        (Some(old), Some(new)) if old != new => match ConditionChange::between(old, new) {
            ConditionChange::AndAdded(part) => (Direction::Narrowed, format!("`{}` is required, too", short(&part))),
            ConditionChange::AndRemoved(part) => {
                (Direction::Widened, format!("`{}` is no longer required", short(&part)))
            }
            ConditionChange::OrAdded(part) => (Direction::Widened, format!("`{}` is now enough", short(&part))),
            // A failing operand of `or` denied everything: without it, more may be permitted.
            ConditionChange::OrRemoved(part) => (Direction::Changed, format!("`{}` is no longer enough", short(&part))),
            ConditionChange::Looser(old, new) => (Direction::Widened, arrow(&format!("`{old}`"), &format!("`{new}`"))),
            ConditionChange::Stricter(old, new) => {
                (Direction::Narrowed, arrow(&format!("`{old}`"), &format!("`{new}`")))
            }
            ConditionChange::Other => (Direction::Changed, arrow(&format!("`{old}`"), &format!("`{new}`"))),
        },
        (Some(old), None) => (Direction::Widened, format!("`{}` is no longer required", short(old))),
        (None, Some(new)) => (Direction::Narrowed, format!("`{}` is required", short(new))),
        _ => return None,
    };
    Some((direction, vec![how]))
}

/// How the condition under which a guardrail trips changed. A condition that fails trips the guardrail.
pub(super) fn trips(old: &str, new: &str) -> (Direction, String) {
    let short = |text: &str| excerpt(text, 80).into_owned();
    match ConditionChange::between(old, new) {
        ConditionChange::AndAdded(part) => (Direction::Widened, format!("it trips only if `{}`, too", short(&part))),
        // A failing operand of `and` tripped the guardrail: without it, more may be accepted.
        ConditionChange::AndRemoved(part) => (Direction::Changed, format!("it no longer asks for `{}`", short(&part))),
        ConditionChange::OrAdded(part) => (Direction::Narrowed, format!("it trips where `{}`, too", short(&part))),
        ConditionChange::OrRemoved(part) => {
            (Direction::Widened, format!("it no longer trips where `{}`", short(&part)))
        }
        ConditionChange::Looser(old, new) => (Direction::Narrowed, arrow(&format!("`{old}`"), &format!("`{new}`"))),
        ConditionChange::Stricter(old, new) => (Direction::Widened, arrow(&format!("`{old}`"), &format!("`{new}`"))),
        ConditionChange::Other => (Direction::Changed, arrow(&format!("`{old}`"), &format!("`{new}`"))),
    }
}

fn permits(cells: Vec<PermitCell>) -> Rows<Option<String>> {
    let permitted = cells.into_iter().filter_map(|cell| {
        let name = format!("{} in {}", cell.name, cell.mode);
        match cell.permission {
            Permission::Forbidden => None,
            Permission::Always { rule } => Some((name, None, Some(rule))),
            Permission::When { condition, rule } => Some((name, Some(condition), Some(rule))),
        }
    });
    permitted.collect()
}

/// The permits of both programs for the contents that one of them forbids somewhere, or permits on a condition.
fn contents(old: &Program, new: &Program) -> (Vec<PermitCell>, Vec<PermitCell>) {
    let (mut before, mut now) = (old.content_permit_table(), new.content_permit_table());
    let restricted: HashSet<String> =
        before.iter().chain(&now).filter(|cell| cell.is_restricted()).map(|cell| cell.name.clone()).collect();
    for cells in [&mut before, &mut now] {
        cells.retain(|cell| restricted.contains(&cell.name));
    }
    (before, now)
}

/// What a person is asked before calls of each action, in the order of the permits.
fn questions(program: &Program) -> Rows<Vec<String>> {
    let mut rows: Rows<Vec<String>> = Vec::new();
    for (mode, name, permit) in program
        .modes
        .iter()
        .flat_map(|(mode, of)| of.actions.permits.named().into_iter().map(move |(name, permit)| (mode, name, permit)))
    {
        let Some(confirm) = &permit.confirm else { continue };
        let name = format!("{name} in {mode}");
        match rows.iter_mut().find(|(known, ..)| *known == name) {
            Some((_, asked, _)) => asked.push(confirm.source().to_owned()),
            None => rows.push((name, vec![confirm.source().to_owned()], program.place(permit.at))),
        }
    }
    rows
}

fn exits(program: &Program) -> Rows<Option<String>> {
    let exits = program.modes.iter().flat_map(|(from, mode)| mode.exits.iter().map(move |exit| (from, exit)));
    let row = |(from, exit): (&String, &crate::program::Exit)| {
        let gate = exit.gate.as_ref().map(|gate| gate.source().to_owned());
        (format!("{from} to {}", program.mode_name(exit.to)), gate, program.place(exit.at))
    };
    exits.map(row).collect()
}

/// What a guardrail checks, in a form that can be compared between programs.
#[derive(Debug, PartialEq)]
struct GuardrailKey {
    target: String,
    pattern: Option<String>,
    excuse: Option<String>,
    when: Option<String>,
    modes: Vec<String>,
    severity: crate::diagnostic::Severity,
    strategy: Option<Strategy>,
    /// What takes the place of a match.
    with: String,
    /// The strategies in the degradation table; none if they are not the same for all answers.
    table: Option<Vec<Strategy>>,
}

impl GuardrailKey {
    fn of(program: &Program, rule: &Guardrail, table: Option<&[Strategy]>) -> Self {
        let source = |pattern: &crate::program::Pattern| pattern.source().to_owned();
        Self {
            target: format!("{:?}, {}", rule.targets, if rule.inverted { "must hold" } else { "must not hold" }),
            pattern: rule.pattern.as_ref().map(source),
            excuse: rule.excuse.as_ref().map(source),
            when: rule.when.as_ref().map(|when| when.source().to_owned()),
            modes: program.names_of(&rule.modes),
            severity: rule.severity,
            strategy: rule.strategy,
            with: rule.with.to_string(),
            table: table.map(<[Strategy]>::to_vec),
        }
    }

    /// The strategies that apply if the guardrail trips.
    fn strategies(&self) -> Option<Vec<Strategy>> {
        self.strategy.map(|own| vec![own]).or_else(|| self.table.clone())
    }

    fn direction(&self, new: &Self) -> Option<(Direction, Vec<String>)> {
        let mut all: Vec<(Direction, String)> = Vec::new();
        let other = [
            ("what it looks at", &Some(self.target.clone()), &Some(new.target.clone())),
            ("its pattern", &self.pattern, &new.pattern),
        ];
        for (what, _, _) in other.iter().filter(|(_, one, other)| one != other) {
            all.push((Direction::Changed, format!("{what} is another")));
        }
        // A guardrail with more conditions trips less often.
        let (excuse, when) = ((&self.excuse, &new.excuse), (&self.when, &new.when));
        for (article, what, (one, other)) in [("an", "exception", excuse), ("a", "condition", when)] {
            all.extend(match (one, other) {
                (None, Some(_)) => Some((Direction::Widened, format!("it has {article} {what} now"))),
                (Some(_), None) => Some((Direction::Narrowed, format!("it has no {what} any more"))),
                (Some(one), Some(other)) if one != other && what == "condition" => Some(trips(one, other)),
                (one, other) => (one != other).then(|| (Direction::Changed, format!("its {what} is another"))),
            });
        }
        all.extend(modes_change(&self.modes, &new.modes, Direction::Narrowed, Direction::Widened));
        if self.with != new.with {
            all.push((Direction::Changed, format!("in place of a match: {}", arrow(&self.with, &new.with))));
        }
        if self.severity != new.severity {
            let direction = if new.severity > self.severity { Direction::Narrowed } else { Direction::Widened };
            all.push((direction, format!("{} → {}", self.severity.name(), new.severity.name())));
        }
        if self.strategy != new.strategy {
            let word = |one: Option<Strategy>| one.map_or("the table's word", Strategy::name);
            let direction = match (self.strategies(), new.strategies()) {
                (Some(old), Some(new)) => (old != new).then(|| stricter(Defect::Guardrail, &old, &new)),
                _ => Some(Direction::Changed),
            };
            all.extend(
                direction.map(|direction| (direction, format!("{} → {}", word(self.strategy), word(new.strategy)))),
            );
        }
        together(all)
    }
}
