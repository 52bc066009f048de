//! Permissions: what may an answer do now that it could not do before, or no longer?
//!
//! In: two programs.
//! Out: a [`Change`] for each permit, parameter, exit, guardrail and answer to a defect that is not what it was.
//! Never: evaluates a condition: another condition is a change, neither wider nor narrower.

use super::{Change, Way, schema};
use crate::diagnostic::Strategy;
use crate::program::{Guardrail, Permission, Program};
use crate::text::excerpt;
use std::sync::Arc;

/// What is compared, by its name: a description, and where it stands.
type Rows<T> = Vec<(String, T, Option<Arc<str>>)>;

pub(super) fn changes(old: &Program, new: &Program) -> Vec<Change> {
    let mut changes = Vec::new();
    let both = |old: &Option<String>, new: &Option<String>| condition(old.as_deref(), new.as_deref());
    // What no permit and no exit allows is forbidden: one that came widens.
    pair("permit", &permits(old), &permits(new), (Way::Widened, Way::Narrowed), &mut changes, both);
    for (name, action) in &new.actions {
        let Some(before) = old.actions.get(name) else { continue };
        let (way, how) = schema::compare(before.schema.json(), action.schema.json());
        changes.extend(way.map(|way| row("parameters", name, way, how, new.place(action.at))));
    }
    pair("exit", &exits(old), &exits(new), (Way::Widened, Way::Narrowed), &mut changes, both);
    // A check that came lets less through.
    let checks = |program: &Program| -> Rows<Check> {
        let rows = program.guardrails.rules.iter();
        rows.map(|rule| (rule.id.clone(), Check::of(program, rule), program.place(rule.at))).collect()
    };
    pair("guardrail", &checks(old), &checks(new), (Way::Narrowed, Way::Widened), &mut changes, Check::way);
    degradation(old, new, &mut changes);
    changes
}

fn row(kind: &str, name: &str, way: Way, how: Vec<String>, rule: Option<Arc<str>>) -> Change {
    Change { kind: kind.to_owned(), name: name.to_owned(), way, how, rule }
}

/// Compares rows of one name; `ways` are those of a row that came and of one that went.
fn pair<T>(
    kind: &str,
    old: &Rows<T>,
    new: &Rows<T>,
    ways: (Way, Way),
    changes: &mut Vec<Change>,
    way: impl Fn(&T, &T) -> Option<(Way, Vec<String>)>,
) {
    for (name, before, place) in old {
        match new.iter().find(|(known, ..)| known == name) {
            Some((_, now, place)) => {
                changes.extend(way(before, now).map(|(way, how)| row(kind, name, way, how, place.clone())));
            }
            None => changes.push(row(kind, name, ways.1, vec!["it is gone".to_owned()], place.clone())),
        }
    }
    for (name, _, place) in new.iter().filter(|(name, ..)| old.iter().all(|(known, ..)| known != name)) {
        changes.push(row(kind, name, ways.0, vec!["it is new".to_owned()], place.clone()));
    }
}

/// The way from one condition that opens something to another.
fn condition(old: Option<&str>, new: Option<&str>) -> Option<(Way, Vec<String>)> {
    let short = |text: &str| excerpt(text, 80).into_owned();
    match (old, new) {
        (Some(old), Some(new)) if old != new => {
            Some((Way::Changed, vec![format!("`{}` → `{}`", short(old), short(new))]))
        }
        (Some(old), None) => Some((Way::Widened, vec![format!("`{}` is no longer asked", short(old))])),
        (None, Some(new)) => Some((Way::Narrowed, vec![format!("only where `{}`", short(new))])),
        _ => None,
    }
}

fn permits(program: &Program) -> Rows<Option<String>> {
    let permitted = program.permit_table().into_iter().filter_map(|cell| {
        let name = format!("{} in {}", cell.action, cell.mode);
        match cell.permission {
            Permission::Forbidden => None,
            Permission::Always { rule } => Some((name, None, Some(rule))),
            Permission::When { condition, rule } => Some((name, Some(condition), Some(rule))),
        }
    });
    permitted.collect()
}

fn exits(program: &Program) -> Rows<Option<String>> {
    let exits = program.modes.iter().flat_map(|(from, mode)| mode.exits.iter().map(move |exit| (from, exit)));
    let row = |(from, exit): (&String, &crate::program::Exit)| {
        let gate = exit.gate.as_ref().map(|gate| gate.source().to_owned());
        (format!("{from} to {}", program.mode_name(exit.to)), gate, program.place(exit.at))
    };
    exits.map(row).collect()
}

/// What a guardrail looks for, in words that two programs share.
#[derive(Debug, PartialEq)]
struct Check {
    target: String,
    pattern: Option<String>,
    excuse: Option<String>,
    when: Option<String>,
    /// All if empty.
    modes: Vec<String>,
    severity: crate::diagnostic::Severity,
    strategy: Option<Strategy>,
}

impl Check {
    fn of(program: &Program, rule: &Guardrail) -> Self {
        let source = |pattern: &crate::program::Pattern| pattern.source().to_owned();
        Self {
            target: format!("{:?}, {}", rule.targets, if rule.inverted { "must hold" } else { "must not hold" }),
            pattern: rule.pattern.as_ref().map(source),
            excuse: rule.excuse.as_ref().map(source),
            when: rule.when.as_ref().map(|when| when.source().to_owned()),
            modes: rule.modes.0.iter().map(|mode| program.mode_name(*mode).to_owned()).collect(),
            severity: rule.severity,
            strategy: rule.strategy,
        }
    }

    fn way(&self, new: &Self) -> Option<(Way, Vec<String>)> {
        let mut all: Vec<(Way, String)> = Vec::new();
        let other = [
            ("what it looks at", &Some(self.target.clone()), &Some(new.target.clone())),
            ("its pattern", &self.pattern, &new.pattern),
        ];
        for (what, _, _) in other.iter().filter(|(_, one, other)| one != other) {
            all.push((Way::Changed, format!("{what} is another")));
        }
        // What asks more before it trips lets more through.
        for (what, one, other) in [("exception", &self.excuse, &new.excuse), ("condition", &self.when, &new.when)] {
            all.extend(match (one, other) {
                (None, Some(_)) => Some((Way::Widened, format!("it has a {what} now"))),
                (Some(_), None) => Some((Way::Narrowed, format!("it has no {what} any more"))),
                (one, other) => (one != other).then(|| (Way::Changed, format!("its {what} is another"))),
            });
        }
        let within = |inner: &[String], outer: &[String]| {
            outer.is_empty() || (!inner.is_empty() && inner.iter().all(|mode| outer.contains(mode)))
        };
        match (within(&self.modes, &new.modes), within(&new.modes, &self.modes)) {
            (true, true) => {}
            (true, false) => all.push((Way::Narrowed, "it looks in more modes".to_owned())),
            (false, true) => all.push((Way::Widened, "it looks in fewer modes".to_owned())),
            (false, false) => all.push((Way::Changed, "it looks in other modes".to_owned())),
        }
        if self.severity != new.severity {
            let way = if new.severity > self.severity { Way::Narrowed } else { Way::Widened };
            all.push((way, format!("{} → {}", self.severity.name(), new.severity.name())));
        }
        if self.strategy != new.strategy {
            let word = |one: Option<Strategy>| one.map_or("the table's word", Strategy::name);
            let way = match (self.strategy, new.strategy) {
                (Some(old), Some(new)) => stricter(&[old], &[new]),
                _ => Way::Changed,
            };
            all.push((way, format!("{} → {}", word(self.strategy), word(new.strategy))));
        }
        let way = all.iter().map(|(way, _)| *way).reduce(Way::and)?;
        Some((way, all.into_iter().map(|(_, how)| how).collect()))
    }
}

/// The answers to defects, as far as the packs give them: from each place where one of them does.
fn degradation(old: &Program, new: &Program, changes: &mut Vec<Change>) {
    let rows = |program: &Program| -> Rows<Vec<Strategy>> {
        let own = program.degradation_table().into_iter().filter(|row| row.rule.is_some());
        own.map(|row| (format!("{} ({})", row.defect, row.place), row.strategies, row.rule)).collect()
    };
    let words = |all: &[Strategy]| all.iter().map(|one| one.name()).collect::<Vec<_>>().join(", ");
    pair("degradation", &rows(old), &rows(new), (Way::Changed, Way::Changed), changes, |old, new| {
        (old != new).then(|| (stricter(old, new), vec![format!("{} → {}", words(old), words(new))]))
    });
}

/// The way from some strategies to others, by how much of a defect's subject each may leave.
fn stricter(old: &[Strategy], new: &[Strategy]) -> Way {
    // Of several the first that applies acts: the most lenient says what may come through.
    let rank = |all: &[Strategy]| {
        let of = |one: &Strategy| match one {
            Strategy::Refuse | Strategy::AskAgain => 2,
            Strategy::Drop => 1,
            _ => 0,
        };
        all.iter().map(of).min()
    };
    match rank(new).cmp(&rank(old)) {
        std::cmp::Ordering::Less => Way::Widened,
        std::cmp::Ordering::Greater => Way::Narrowed,
        std::cmp::Ordering::Equal => Way::Changed,
    }
}
