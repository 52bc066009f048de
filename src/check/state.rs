//! State: is everything that is read also set, and is everything that is set also read?
//!
//! In: the values of a program's state, and what its expressions and effects read and change.
//! Out: a finding for each value, and each member of one, that is only read or only set.
//! Never: knows what the host does with a session, so a value that only the host could read is just an info.

use crate::diagnostic::{Code, Diagnostic, is_slip};
use crate::expression::{ENTRY, spelled};
use crate::program::{PathTemplate, Shape};
use crate::program::{Program, StateSlot, StateWrite};
use crate::text::Location;
use crate::value::Value;

pub(super) fn check(program: &Program, found: &mut Vec<Diagnostic>) {
    for (name, slot) in program.slots.iter() {
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

/// An effect that changes a value.
struct StateChange<'p> {
    /// The path inside the value; none for a segment given by a template.
    inside: Vec<Option<&'p str>>,
    /// The value that is set there.
    value: &'p Shape,
    at: Location,
}

impl StateChange<'_> {
    /// Whether the path of the effect equals another path, or one of them is a prefix of the other.
    fn meets(&self, path: &[String]) -> bool {
        let meets = |own: &str, other: &str| own == other || [own, other].contains(&ENTRY);
        self.inside.iter().zip(path).all(|(own, other)| own.is_none_or(|own| meets(own, other)))
    }
}

fn changes<'p>(program: &'p Program, name: &str) -> Vec<StateChange<'p>> {
    let change = |path: &'p PathTemplate, entry: Option<&'p str>, value, at| {
        let mut segments = path.segments();
        let is_here = segments.next() == Some(Some(name));
        is_here.then(|| StateChange { inside: segments.chain(entry.map(Some)).collect(), value, at })
    };
    let effects = program.effects().into_iter();
    let changes = effects.filter_map(|(_, effect)| match effect.state_write()? {
        StateWrite::Value(path, value) => change(path, None, value, effect.at),
        StateWrite::Entry(path, value) => change(path, Some(ENTRY), value, effect.at),
        StateWrite::Removal(_) => None,
    });
    changes.collect()
}

/// Reports members that are read, but that no schema declares and no default or effect sets.
fn unset_members(
    program: &Program,
    name: &str,
    slot: &StateSlot,
    changes: &[StateChange<'_>],
    found: &mut Vec<Diagnostic>,
) {
    let default = program.initial.get(name);
    let mut reported: Vec<&[String]> = Vec::new();
    for (path, at) in slot.reads.iter().filter(|_| slot.compute.is_none()) {
        for (number, member) in path.iter().enumerate().filter(|(_, member)| *member != ENTRY) {
            let (before, whole) = path.split_at(number);
            let upto = path.get(..=number).unwrap_or(whole);
            let Some(known) = members(slot, default, changes, before) else {
                if slot.host
                    && !reported.contains(&upto)
                    && let Some(other) = meant_by(slot, default, upto)
                {
                    reported.push(upto);
                    let value_path = [&["state".to_owned(), name.to_owned()], upto].concat();
                    let message =
                        format!("`{}` is read only here, and looks like another member", spelled(&value_path));
                    let finding = Diagnostic::new(Code::PACK_UNSET_STATE, *at, message);
                    found.push(finding.with_help(format!("did you mean `{other}`?")));
                }
                break;
            };
            if known.contains(&member.as_str()) {
                continue;
            }
            if !reported.contains(&upto) {
                reported.push(upto);
                let value_path = [&["state".to_owned(), name.to_owned()], upto].concat();
                let message = format!("`{}` is read, but nothing sets it", spelled(&value_path));
                found.push(Diagnostic::new(Code::PACK_UNSET_STATE, *at, message).with_nearest(member, known));
            }
            break;
        }
    }
}

/// The member that was probably meant by the end of a path into a value from the host, whose schema allows any member:
/// one that the schema or the default has, or that the pack reads more often.
fn meant_by<'p>(slot: &'p StateSlot, default: Option<&'p crate::Value>, path: &[String]) -> Option<&'p str> {
    let (member, before) = path.split_last()?;
    let schema = before.iter().try_fold(slot.schema.json(), |schema, name| match name == ENTRY {
        true => schema.get("items"),
        false => schema.get("properties")?.get(name),
    });
    let declared = schema.and_then(|schema| schema.get("properties")).and_then(Value::as_object).into_iter().flatten();
    let given = default.into_iter().flat_map(|default| values_at(default, before)).filter_map(crate::Value::as_object);
    let names: Vec<&str> =
        declared.map(|(name, _)| name).chain(given.flat_map(|members| members.iter().map(|(name, _)| name))).collect();
    let reads = |name: &str| {
        let is_read = |read: &&(Vec<String>, Location)| {
            read.0.get(..before.len()) == Some(before) && read.0.get(before.len()).is_some_and(|own| own == name)
        };
        slot.reads.iter().filter(is_read).count()
    };
    if names.contains(&member.as_str()) || member.chars().count() < 4 {
        return None;
    }
    let others = slot.reads.iter().filter(|(read, _)| read.get(..before.len()) == Some(before));
    let others = others.filter_map(|(read, _)| read.get(before.len())).map(String::as_str);
    let often = others.filter(|other| reads(other) > 1 && reads(member) == 1);
    names.iter().copied().chain(often).find(|other| *other != member && is_slip(member, other))
}

/// The members that a value can have at a path inside it; none if there may be others.
fn members<'p>(
    slot: &'p StateSlot,
    default: Option<&'p crate::Value>,
    changes: &[StateChange<'p>],
    path: &[String],
) -> Option<Vec<&'p str>> {
    let mut schema = Some(slot.schema.json());
    let mut known: Vec<&str> = Vec::new();
    for name in path.iter().map(Some).chain([None]) {
        let Some(here) = schema else { break };
        if name.is_some_and(|name| name == ENTRY) {
            let entries = here.get("items").or_else(|| here.get("additionalProperties"));
            schema = entries.filter(|entries| entries.is_object());
            continue;
        }
        let is_open = ["$ref", "anyOf", "oneOf", "allOf", "if", "patternProperties", "items"];
        let other = here.get("additionalProperties").is_some_and(|others| *others != Value::Bool(false));
        if other || is_open.iter().any(|key| here.get(key).is_some()) {
            return None;
        }
        let properties = here.get("properties");
        match name {
            Some(name) => schema = properties.and_then(|properties| properties.get(name)),
            None => known.extend(properties.and_then(Value::as_object).into_iter().flatten().map(|(name, _)| name)),
        }
    }
    // For a value from the host, only the schema determines what may be in it.
    if slot.host {
        return Some(known).filter(|known| !known.is_empty());
    }
    for value in values_at(default?, path) {
        match value {
            crate::Value::Array(_) | crate::Value::String(_) => return None,
            crate::Value::Object(members) => known.extend(members.keys()),
            _ => {}
        }
    }
    for change in changes.iter().filter(|change| change.meets(path)) {
        match change.inside.get(path.len()) {
            Some(member) => known.push(member.filter(|member| *member != ENTRY)?),
            None => known.extend(change.value.members(path.get(change.inside.len()..)?)?),
        }
    }
    Some(known)
}

/// The values at a path inside a value.
fn values_at<'v>(value: &'v crate::Value, path: &[String]) -> Vec<&'v crate::Value> {
    path.iter().fold(vec![value], |values_at, name| {
        let inside = |value: &'v crate::Value| -> Vec<&'v crate::Value> {
            match value {
                crate::Value::Array(items) if name == ENTRY => items.iter().collect(),
                crate::Value::Object(members) if name == ENTRY => members.values().collect(),
                value => value.get(name).into_iter().collect(),
            }
        };
        values_at.into_iter().flat_map(inside).collect()
    })
}

/// Reports members that an effect sets, but that no expression reads; nor does one read anything around or inside them.
fn unread_members(name: &str, slot: &StateSlot, changes: &[StateChange<'_>], found: &mut Vec<Diagnostic>) {
    let mut reported = Vec::new();
    for change in changes.iter().filter(|change| !change.inside.is_empty()) {
        // An entry counts as read where its list is read.
        let inside = change.inside.iter().copied().filter(|part| *part != Some(ENTRY));
        let Some(inside) = inside.collect::<Option<Vec<&str>>>().filter(|inside| !inside.is_empty()) else { continue };
        if slot.reads.iter().any(|(path, _)| change.meets(path)) || reported.contains(&inside) {
            continue;
        }
        found.push(unread(change.at, &format!("{name}.{}", inside.join("."))));
        reported.push(inside);
    }
}
