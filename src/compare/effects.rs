//! Effects: which effects are new, or happen under other conditions?
//!
//! In: two programs.
//! Out: a [`DeclarationChange`] for each effect that appeared, disappeared or has another condition, for each that
//! passes a closed gate, and for each rule that applies in other modes.
//! Never: compares the values of an effect: its verb and target identify it. Effects of actions that only one version
//! has are compared as permits.

use super::permissions::condition;
use super::rows::{RowDirections, Rows, modes_change, pair};
use super::{DeclarationChange, Direction};
use crate::program::{EffectRule, Program, Verb};
use crate::text::{Location, Present};
use indexmap::IndexMap;
use indexmap::map::Entry;
use std::collections::BTreeSet;

pub(super) fn changes(old: &Program, new: &Program) -> Vec<DeclarationChange> {
    let mut changes = Vec::new();
    let both = |old: &Option<String>, new: &Option<String>| condition(old.as_deref(), new.as_deref());
    let (before, now) = (Acts::of(old, new), Acts::of(new, old));
    let (of_old, of_new) = (before.rows(old), now.rows(new));
    pair("effect", &of_old, &of_new, RowDirections::ALLOWING, &mut changes, both);
    // A `go` with `insist` passes a closed gate.
    let insists = |acts: &Acts, program: &Program| -> Rows<Option<String>> {
        let insisting = acts.0.iter().filter(|(_, act)| !act.insists.is_empty());
        insisting.map(|(name, act)| (name.clone(), Some(joined(&act.insists, "or")), program.place(act.at))).collect()
    };
    let (of_old, of_new) = (insists(&before, old), insists(&now, new));
    pair("insist", &of_old, &of_new, RowDirections::ALLOWING, &mut changes, both);
    let looking = |program: &Program, other: &Program| -> Rows<Vec<String>> {
        let known = |id: &String| other.flows.rules.iter().any(|rule| rule.id == *id);
        let rules = program.flows.rules.iter().filter(|rule| known(&rule.id));
        rules.map(|rule| (rule.id.clone(), program.names_of(&rule.modes), program.place(rule.at))).collect()
    };
    let direction = |old: &Vec<String>, new: &Vec<String>| {
        modes_change(old, new, Direction::Widened, Direction::Narrowed).map(|(direction, how)| (direction, vec![how]))
    };
    pair("rule", &looking(old, new), &looking(new, old), RowDirections::ALLOWING, &mut changes, direction);
    changes
}

/// What one declaration does, with all effects that have the same verb and target combined.
struct Act {
    /// Conditions, one of which must be true; none if it always happens.
    when: Option<BTreeSet<String>>,
    /// Conditions, any of which passes a closed gate.
    insists: BTreeSet<String>,
    at: Location,
}

/// What the declarations of a pack do, by name.
struct Acts(IndexMap<String, Act>);

impl Acts {
    /// The acts of a program, without those of actions that `other` does not have.
    fn of(program: &Program, other: &Program) -> Self {
        let mut acts = Self(IndexMap::new());
        for (name, action) in program.actions.iter().filter(|(name, _)| other.actions.contains_key(*name)) {
            acts.gather(program, &format!("action {name}"), &action.effects, &[]);
        }
        for (name, content) in program.contents.iter() {
            acts.gather(program, &format!("content {name}"), &content.effects, &[]);
        }
        for rule in &program.flows.rules {
            let when: Vec<String> = rule.when.iter().map(|when| when.source().to_owned()).collect();
            acts.gather(program, &format!("rule {}", rule.id), &rule.effects, &when);
        }
        acts
    }

    /// Adds effects of `owner` that happen if all conditions in `around` are true.
    fn gather(&mut self, program: &Program, owner: &str, effects: &[EffectRule], around: &[String]) {
        for effect in effects {
            let own = effect.when.iter().map(|when| when.source().to_owned());
            let when: Vec<String> = around.iter().cloned().chain(own).collect();
            if let Some(does) = effect.verb.as_ref().and_then(|verb| does(program, verb)) {
                let insist = match &effect.verb {
                    Some(Verb::Go { insist, .. }) => insist.as_ref().map(|insist| insist.source().to_owned()),
                    _ => None,
                };
                self.add(format!("{does} of {owner}"), &when, insist, effect.at);
            }
            self.gather(program, owner, &effect.nested, &when);
        }
    }

    /// Adds an act that happens if all conditions in `when` are true. If the act exists already, either condition is
    /// sufficient.
    fn add(&mut self, name: String, when: &[String], insist: Option<String>, at: Location) {
        let when = (!when.is_empty()).then(|| joined(when, "and"));
        match self.0.entry(name) {
            Entry::Occupied(mut act) => {
                let act = act.get_mut();
                match (&mut act.when, when) {
                    (Some(known), Some(when)) => drop(known.insert(when)),
                    (known, _) => *known = None,
                }
                act.insists.extend(insist);
            }
            Entry::Vacant(place) => {
                let when = when.map(|when| BTreeSet::from([when]));
                place.insert(Act { when, insists: insist.into_iter().collect(), at });
            }
        }
    }

    /// The condition of each act.
    fn rows(&self, program: &Program) -> Rows<Option<String>> {
        let when = |act: &Act| act.when.as_ref().map(|when| joined(when, "or"));
        self.0.iter().map(|(name, act)| (name.clone(), when(act), program.place(act.at))).collect()
    }
}

/// Several conditions joined into one.
fn joined<'c>(conditions: impl IntoIterator<Item = &'c String>, word: &str) -> String {
    let all: Vec<&String> = conditions.into_iter().collect();
    match all.as_slice() {
        [one] => (*one).clone(),
        all => all.iter().map(|one| format!("({one})")).collect::<Vec<_>>().join(&format!(" {word} ")),
    }
}

/// The verb with its target; none for a remark, which changes nothing.
fn does(program: &Program, verb: &Verb) -> Option<String> {
    Some(match verb {
        Verb::Set { path, .. } => format!("set {}", path.source()),
        Verb::Append { path, .. } => format!("append {}", path.source()),
        Verb::Remove { path } => format!("remove {}", path.source()),
        Verb::Emit { event, .. } => format!("emit {}", event.source()),
        Verb::Write { key, .. } => format!("write {}", key.source()),
        Verb::Amend { key, section, .. } => format!("amend {} {}", key.source(), section.source()),
        Verb::Record { key, path, .. } => format!("record {} {}", key.source(), path.source()),
        Verb::Edit { key, .. } => format!("edit {}", key.source()),
        Verb::Patch { text, .. } => format!("patch {}", text.source()),
        Verb::Delete { key } => format!("delete {}", key.source()),
        Verb::Move { key, to } => format!("move {} {}", key.source(), to.source()),
        Verb::Say { message, .. } => {
            format!("say {}", program.message(*message).map(|(id, _)| id.as_str()).present())
        }
        Verb::Go { to, .. } => format!("go {}", program.mode_name(*to)),
        Verb::Remark { .. } => return None,
    })
}
