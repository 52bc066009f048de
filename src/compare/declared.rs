//! Declarations: which tables and files of a pack differ?
//!
//! In: the files of two versions, and those of the packs that they use.
//! Out: a [`DeclarationChange`] for each table that appeared, disappeared or differs, whichever file it is in.
//! Never: considers order, comments or places; reports what another file of this module compares in detail.

use super::rows::{arrow, both, member, row};
use super::{DeclarationChange, Direction};
use crate::surface::{Folder, plain_tables};
use crate::text::{Slice, authored};
use crate::value::{Object, Value};
use std::collections::BTreeMap;
use std::hash::Hash;

/// Tables of tables: the key, the word for one entry, and the paths that are compared elsewhere.
const NAMED: &[(&str, &str, &[&str])] = &[
    ("dialects", "dialect", &["quoted", "blocks.*.degradation"]),
    ("actions", "action", &["params", "degradation"]),
    ("modes", "mode", &["permits", "denies", "exits", "degradation", "reply.*.most", "reply.*.keys"]),
    ("contents", "content", &[]),
    ("groups", "group", &[]),
    ("state", "state", &[]),
    ("data", "data", &[]),
    ("messages", "message", &[]),
    ("inputs", "input", &[]),
    ("rules", "rule", &["in"]),
    ("prompts", "prompt", &[]),
    ("tiers", "tier", &[]),
    ("models", "model", &[]),
];
/// Single tables, and the paths that are compared elsewhere.
const ALONE: &[(&str, &[&str])] = &[
    ("pack", &["name", "version", "about", "use"]),
    ("reply", &["*.most", "*.keys"]),
    ("speakers", &["limit"]),
    ("ask_again", &[]),
];
/// The most phrases about one table.
const MAX_PHRASES: usize = 8;

pub(super) fn changes(old: &Folder, new: &Folder) -> Vec<DeclarationChange> {
    let (old_tables, new_tables) = (tables(old), tables(new));
    let mut changes = Vec::new();
    for (table, kind, aside) in NAMED {
        let (one, other) = (named(old_tables.get(table), aside), named(new_tables.get(table), aside));
        changes.extend(entries(kind, &one, &other, |name, old, new| differing(kind, name, old, new)));
    }
    for (table, aside) in ALONE {
        let of = |tables: &Object| {
            let mut table = tables.get(table).cloned().unwrap_or_default();
            aside.iter().for_each(|path| take_out(&mut table, path));
            table
        };
        changes.extend(differing("table", table, &of(&old_tables), &of(&new_tables)));
    }
    changes.extend(entries("file", &texts(old), &texts(new), |path, old, new| {
        (old != new).then(|| change("file", path, Direction::Changed, Vec::new()))
    }));
    changes
}

/// The changes between two tables of named entries.
fn entries<'v, N: AsRef<str> + Hash + Eq + ?Sized + 'v, V: 'v>(
    kind: &str,
    old: impl IntoIterator<Item = (&'v N, &'v V)>,
    new: impl IntoIterator<Item = (&'v N, &'v V)>,
    differing: impl Fn(&str, &V, &V) -> Option<DeclarationChange>,
) -> Vec<DeclarationChange> {
    let change = |(name, pair): (&N, (Option<&V>, Option<&V>))| match pair {
        (Some(old), Some(new)) => differing(name.as_ref(), old, new),
        (Some(_), None) => Some(change(kind, name.as_ref(), Direction::Gone, Vec::new())),
        (None, _) => Some(change(kind, name.as_ref(), Direction::Appeared, Vec::new())),
    };
    both(old, new).into_iter().filter_map(change).collect()
}

fn change(kind: &str, name: &str, direction: Direction, how: Vec<String>) -> DeclarationChange {
    DeclarationChange { gone: direction == Direction::Gone, ..row(kind, name, direction, how, None) }
}

fn differing(kind: &str, name: &str, old: &Value, new: &Value) -> Option<DeclarationChange> {
    let mut how = Vec::new();
    phrases("", old, new, &mut how);
    let more = how.len().saturating_sub(MAX_PHRASES);
    how.truncate(MAX_PHRASES);
    how.extend((more > 0).then(|| format!("and {more} more")));
    (!how.is_empty()).then(|| change(kind, name, Direction::Changed, how))
}

fn phrases(path: &str, old: &Value, new: &Value, how: &mut Vec<String>) {
    if let (Value::Object(old), Value::Object(new)) = (old, new) {
        for (key, (old, new)) in both(old, new) {
            phrases(&member(path, key), old.unwrap_or(&Value::Null), new.unwrap_or(&Value::Null), how);
        }
    } else if let (Value::Array(old), Value::Array(new)) = (old, new) {
        items(path, old, new, how);
    } else if old != new {
        let text = |value: &Value| if value.is_null() { "none".to_owned() } else { value.to_string() };
        how.push(format!("{path}: {}", arrow(&text(old), &text(new))).trim_start_matches(": ").to_owned());
    }
}

/// The differences of two lists, without the equal items at both ends.
fn items<'v>(path: &str, old: &'v [Value], new: &'v [Value], how: &mut Vec<String>) {
    let start = old.iter().zip(new).take_while(|(old, new)| old == new).count();
    let (old, new) = (old.slice(start..), new.slice(start..));
    let end = old.iter().rev().zip(new.iter().rev()).take_while(|(old, new)| old == new).count();
    for number in 0..old.len().max(new.len()) - end {
        let of = |items: &'v [Value]| items.get(..items.len() - end)?.get(number);
        let (old, new) = (of(old).unwrap_or(&Value::Null), of(new).unwrap_or(&Value::Null));
        phrases(&format!("{path}[{}]", start + number), old, new, how);
    }
}

/// The entries of a table, or of a list by their `id` or `class`, without the keys that are compared elsewhere.
fn named(table: Option<&Value>, aside: &[&str]) -> Object {
    let mut all = match table {
        Some(Value::Object(members)) => members.clone(),
        Some(Value::Array(entries)) => {
            let mut members = Object::new();
            for entry in entries.iter() {
                let word = entry.get("id").or(entry.get("class")).and_then(Value::as_str).unwrap_or_default();
                let taken = |name: &str| members.contains_key(name);
                let names =
                    (1..).map(|number| if number == 1 { word.to_owned() } else { format!("{word} ({number})") });
                if let Some(name) = names.take(entries.len() + 1).find(|name| !taken(name)) {
                    members.insert(name, entry.clone());
                }
            }
            members
        }
        _ => Object::new(),
    };
    for (_, value) in all.iter_mut() {
        aside.iter().for_each(|path| take_out(value, path));
    }
    all
}

/// Removes the value at a path of keys, in which `*` is any key, and each table that becomes empty.
fn take_out(value: &mut Value, path: &str) {
    let Value::Object(members) = value else { return };
    match path.split_once('.') {
        None => drop(members.remove(path)),
        Some((head, rest)) => {
            let is_meant = |key: &str| head == "*" || head == key;
            members.iter_mut().filter(|(key, _)| is_meant(key)).for_each(|(_, inner)| take_out(inner, rest));
            members.retain(|key, inner| !is_meant(key) || inner.as_object().is_none_or(|inner| !inner.is_empty()));
        }
    }
}

/// All tables in the TOML files of a folder, merged over those of the folders that it uses.
fn tables(folder: &Folder) -> Object {
    let mut all = Object::new();
    folder.others.values().for_each(|other| lay(&mut all, tables(other)));
    // The table `[pack]` is each pack's own: that of a used pack does not count.
    all.remove("pack");
    for (_, bytes) in folder.files.iter().filter(|(path, _)| path.ends_with(".toml")) {
        let read = std::str::from_utf8(bytes).ok().and_then(|text| plain_tables(&authored(text)));
        lay(&mut all, read.unwrap_or_default());
    }
    all
}

/// Merges tables into others, entry by entry; lists are appended.
fn lay(below: &mut Object, above: Object) {
    for (key, value) in &above {
        match (below.get_mut(key), value) {
            (Some(Value::Object(entries)), Value::Object(new)) => {
                entries.extend(new.iter().map(|(name, one)| (name, one.clone())));
            }
            (Some(known @ Value::Array(_)), Value::Array(new)) => {
                known.as_array_mut().into_iter().for_each(|entries| entries.extend(new.iter().cloned()));
            }
            (_, value) => drop(below.insert(key, value.clone())),
        }
    }
}

/// The texts and grammars, by path.
fn texts(folder: &Folder) -> BTreeMap<String, Vec<u8>> {
    let mut all = BTreeMap::new();
    for (path, other) in &folder.others {
        all.extend(texts(other).into_iter().map(|(below, text)| (format!("{path}/{below}"), text)));
    }
    let own = folder.files.iter().filter(|(path, _)| !path.ends_with(".toml"));
    all.extend(own.map(|(path, bytes)| {
        let text = std::str::from_utf8(bytes).map(|text| authored(text).into_owned().into_bytes());
        (path.clone(), text.unwrap_or_else(|_| bytes.clone()))
    }));
    all
}
