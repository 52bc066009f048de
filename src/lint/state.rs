//! State: is what is read ever set, and what is set ever read?
//!
//! In: the values of a program's state, and what its expressions and effects touch.
//! Out: a finding for each value, and each member of one, that has one side only.
//! Never: knows what the host does with a session: what only the host reads is worth a word, no more.

use crate::diagnostic::{Code, Diagnostic};
use crate::expression::{PathTemplate, Shape};
use crate::program::{Program, Slot, Verb};
use crate::text::Location;
use serde_json::Value;

pub(super) fn check(program: &Program, found: &mut Vec<Diagnostic>) {
    for (name, slot) in &program.slots {
        let changes = changes(program, name);
        if !slot.reads.is_empty() && !slot.given {
            found.push(
                Diagnostic::new(
                    Code::PACK_UNSET_STATE,
                    slot.at,
                    format!("`state.{name}` is read, but nothing sets it"),
                )
                .with_help("give it a `default`, an effect that sets it, or `from = \"host\"`"),
            );
        } else {
            unset_members(program, name, slot, &changes, found);
        }
        if slot.changed && slot.reads.is_empty() {
            found.push(unread(slot.at, name));
        } else {
            unread_members(name, slot, &changes, found);
        }
    }
}

fn unread(at: Location, path: &str) -> Diagnostic {
    Diagnostic::new(Code::PACK_UNREAD_STATE, at, format!("`state.{path}` is set, but nothing here reads it"))
        .with_help("fine if the host does; else take it out")
}

/// One effect on a value.
struct Change<'p> {
    /// The path inside the value; none for a segment that a template gives.
    inside: Vec<Option<&'p str>>,
    /// What stands there then; none for an item of a list, or nothing.
    value: Option<&'p Shape>,
    at: Location,
}

impl Change<'_> {
    /// Whether it and a path are on one way: one of them may lead through the other.
    fn meets(&self, path: &[String]) -> bool {
        self.inside.iter().zip(path).all(|(own, other)| own.is_none_or(|own| own == other))
    }
}

fn changes<'p>(program: &'p Program, name: &str) -> Vec<Change<'p>> {
    let change = |path: &'p PathTemplate, value, at| {
        let mut segments = path.segments();
        (segments.next() == Some(Some(name))).then(|| Change { inside: segments.collect(), value, at })
    };
    let effects = program.effects().into_iter();
    let changes = effects.filter_map(|(_, effect)| match &effect.verb {
        Some(Verb::Set { path, value }) => change(path, Some(value), effect.at),
        Some(Verb::Append { path, .. }) => change(path, None, effect.at),
        _ => None,
    });
    changes.collect()
}

/// Members that are read, though neither the schema declares them nor the default or an effect sets them.
fn unset_members(program: &Program, name: &str, slot: &Slot, changes: &[Change<'_>], found: &mut Vec<Diagnostic>) {
    let default = program.initial.get(name);
    let mut told: Vec<&[String]> = Vec::new();
    for (path, at) in slot.reads.iter().filter(|_| slot.compute.is_none()) {
        for (number, member) in path.iter().enumerate() {
            let (before, whole) = path.split_at(number);
            let upto = path.get(..=number).unwrap_or(whole);
            let Some(known) = members(slot, default, changes, before) else { break };
            if known.contains(&member.as_str()) {
                continue;
            }
            if !told.contains(&upto) {
                told.push(upto);
                let message = format!("`state.{name}.{}` is read, but nothing sets it", upto.join("."));
                found.push(Diagnostic::new(Code::PACK_UNSET_STATE, *at, message).with_nearest(member, known));
            }
            break;
        }
    }
}

/// The members that a value may have at a path inside it; none where there may be others.
fn members<'p>(
    slot: &'p Slot,
    default: Option<&'p crate::Value>,
    changes: &[Change<'p>],
    path: &[String],
) -> Option<Vec<&'p str>> {
    let mut schema = Some(slot.schema.json());
    let mut known: Vec<&str> = Vec::new();
    for name in path.iter().map(Some).chain([None]) {
        let Some(here) = schema else { break };
        let is_open = ["$ref", "anyOf", "oneOf", "allOf", "if", "patternProperties", "items"];
        let other = here.get("additionalProperties").is_some_and(|others| *others != Value::Bool(false));
        if other || is_open.iter().any(|key| here.get(key).is_some()) {
            return None;
        }
        let properties = here.get("properties");
        match name {
            Some(name) => schema = properties.and_then(|properties| properties.get(name)),
            None => {
                known.extend(properties.and_then(Value::as_object).into_iter().flatten().map(|(name, _)| name.as_str()))
            }
        }
    }
    // What the host sets, it alone knows, unless the schema says so.
    if slot.host {
        return Some(known).filter(|known| !known.is_empty());
    }
    let held = path.iter().try_fold(default?, |value, name| value.get(name));
    match held {
        Some(crate::Value::Array(_) | crate::Value::String(_)) => return None,
        Some(crate::Value::Object(members)) => known.extend(members.keys()),
        _ => {}
    }
    for change in changes.iter().filter(|change| change.meets(path)) {
        match (change.inside.get(path.len()), change.value) {
            (Some(member), _) => known.push((*member)?),
            (None, Some(value)) => known.extend(value.members(path.get(change.inside.len()..)?)?),
            (None, None) => return None,
        }
    }
    Some(known)
}

/// Members that an effect sets, and of which nothing reads the way there, or anything below.
fn unread_members(name: &str, slot: &Slot, changes: &[Change<'_>], found: &mut Vec<Diagnostic>) {
    let mut told = Vec::new();
    for change in changes.iter().filter(|change| !change.inside.is_empty()) {
        let Some(inside) = change.inside.iter().copied().collect::<Option<Vec<&str>>>() else { continue };
        if slot.reads.iter().any(|(path, _)| change.meets(path)) || told.contains(&inside) {
            continue;
        }
        found.push(unread(change.at, &format!("{name}.{}", inside.join("."))));
        told.push(inside);
    }
}
