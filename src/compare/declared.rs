//! Declarations: which tables and files of a pack are not what they were?
//!
//! In: the files of two versions, with those of the packs that they use.
//! Out: a [`Change`] for each table that appeared, went or says something else, wherever in the pack it stands.
//! Never: minds order, comments or places; says nothing of what has a judgement of its own.

use super::rows::{arrow, row};
use super::{Change, Way};
use crate::surface::Folder;
use crate::text::authored;
use serde_json::{Map, Value};
use std::collections::BTreeMap;

/// Tables of tables, by the word for one of them, and the ways to what is judged elsewhere.
const NAMED: &[(&str, &str, &[&str])] = &[
    ("dialects", "dialect", &["masks", "blocks.*.degradation"]),
    ("actions", "action", &["params", "degradation"]),
    ("modes", "mode", &["permits", "exits", "degradation", "reply.*.most", "reply.*.keys"]),
    ("contents", "content", &[]),
    ("state", "state", &[]),
    ("data", "data", &[]),
    ("messages", "message", &[]),
    ("inputs", "input", &[]),
    ("rules", "rule", &["in"]),
    ("prompts", "prompt", &[]),
    ("tiers", "tier", &[]),
    ("models", "model", &[]),
];
/// Tables that stand alone, and the ways to what is judged elsewhere.
const ALONE: &[(&str, &[&str])] = &[("reply", &["*.most", "*.keys"]), ("speakers", &["limit"]), ("ask_again", &[])];
/// How many phrases tell what about a table changed.
const MOST: usize = 8;

pub(super) fn changes(old: &Folder, new: &Folder) -> Vec<Change> {
    let (old_tables, new_tables) = (tables(old), tables(new));
    let mut changes = Vec::new();
    for (table, kind, aside) in NAMED {
        let (one, other) = (named(old_tables.get(*table), aside), named(new_tables.get(*table), aside));
        for (name, value) in &one {
            match other.get(name) {
                Some(now) => changes.extend(differing(kind, name, value, now)),
                None => changes.push(change(kind, name, Way::Gone, Vec::new())),
            }
        }
        let appeared = other.keys().filter(|name| !one.contains_key(*name));
        changes.extend(appeared.map(|name| change(kind, name, Way::Appeared, Vec::new())));
    }
    for (table, aside) in ALONE {
        let of = |tables: &Map<String, Value>| {
            let mut table = tables.get(*table).cloned().unwrap_or_default();
            aside.iter().for_each(|way| take_out(&mut table, way));
            table
        };
        changes.extend(differing("table", table, &of(&old_tables), &of(&new_tables)));
    }
    let (old_texts, new_texts) = (texts(old), texts(new));
    for (path, text) in &old_texts {
        match new_texts.get(path) {
            Some(now) if now == text => {}
            Some(_) => changes.push(change("file", path, Way::Changed, Vec::new())),
            None => changes.push(change("file", path, Way::Gone, Vec::new())),
        }
    }
    let appeared = new_texts.keys().filter(|path| !old_texts.contains_key(*path));
    changes.extend(appeared.map(|path| change("file", path, Way::Appeared, Vec::new())));
    changes
}

fn change(kind: &str, name: &str, way: Way, how: Vec<String>) -> Change {
    Change { gone: way == Way::Gone, ..row(kind, name, way, how, None) }
}

fn differing(kind: &str, name: &str, old: &Value, new: &Value) -> Option<Change> {
    let mut how = Vec::new();
    phrases("", old, new, &mut how);
    let more = how.len().saturating_sub(MOST);
    how.truncate(MOST);
    how.extend((more > 0).then(|| format!("and {more} more")));
    (!how.is_empty()).then(|| change(kind, name, Way::Changed, how))
}

fn phrases(path: &str, old: &Value, new: &Value, how: &mut Vec<String>) {
    if let (Value::Object(old), Value::Object(new)) = (old, new) {
        let added = new.keys().filter(|key| !old.contains_key(*key));
        for key in old.keys().chain(added) {
            let path = if path.is_empty() { key.clone() } else { format!("{path}.{key}") };
            let of = |members: &Map<String, Value>| members.get(key).cloned().unwrap_or_default();
            phrases(&path, &of(old), &of(new), how);
        }
    } else if let (Value::Array(old), Value::Array(new)) = (old, new) {
        items(path, old, new, how);
    } else if old != new {
        let text = |value: &Value| if value.is_null() { "none".to_owned() } else { value.to_string() };
        how.push(format!("{path}: {}", arrow(&text(old), &text(new))).trim_start_matches(": ").to_owned());
    }
}

/// Of two lists, what stands between the items that are the same at both ends.
fn items(path: &str, old: &[Value], new: &[Value], how: &mut Vec<String>) {
    let start = old.iter().zip(new).take_while(|(old, new)| old == new).count();
    let rests = (old.get(start..).unwrap_or_default(), new.get(start..).unwrap_or_default());
    let end = rests.0.iter().rev().zip(rests.1.iter().rev()).take_while(|(old, new)| old == new).count();
    let between = |rest: &[Value]| rest.get(..rest.len() - end).unwrap_or_default().to_vec();
    let (old, new) = (between(rests.0), between(rests.1));
    for number in 0..old.len().max(new.len()) {
        let of = |items: &[Value]| items.get(number).cloned().unwrap_or_default();
        phrases(&format!("{path}[{}]", start + number), &of(&old), &of(&new), how);
    }
}

/// The entries of a table, or of a list by their `id` or `class`, without the keys that are told elsewhere.
fn named(table: Option<&Value>, aside: &[&str]) -> Map<String, Value> {
    let mut all = match table {
        Some(Value::Object(members)) => members.clone(),
        Some(Value::Array(entries)) => {
            let mut members = Map::new();
            for entry in entries {
                let word = entry.get("id").or(entry.get("class")).and_then(Value::as_str).unwrap_or_default();
                let taken = |name: &String| members.contains_key(name);
                let names =
                    (1..).map(|number| if number == 1 { word.to_owned() } else { format!("{word} ({number})") });
                if let Some(name) = names.take(entries.len() + 1).find(|name| !taken(name)) {
                    members.insert(name, entry.clone());
                }
            }
            members
        }
        _ => Map::new(),
    };
    for value in all.values_mut() {
        aside.iter().for_each(|way| take_out(value, way));
    }
    all
}

/// Takes out what stands at the end of a way of keys, of which `*` is any, and each table that is empty then.
fn take_out(value: &mut Value, way: &str) {
    let Value::Object(members) = value else { return };
    match way.split_once('.') {
        None => drop(members.shift_remove(way)),
        Some((head, rest)) => {
            let is_meant = |key: &str| head == "*" || head == key;
            members.iter_mut().filter(|(key, _)| is_meant(key)).for_each(|(_, inner)| take_out(inner, rest));
            members.retain(|key, inner| !is_meant(key) || inner.as_object().is_none_or(|inner| !inner.is_empty()));
        }
    }
}

/// Everything that the TOML files of a folder say, and beneath it what the folders say that it uses.
fn tables(folder: &Folder) -> Map<String, Value> {
    let mut all = Map::new();
    folder.others.values().for_each(|other| lay(&mut all, tables(other)));
    for (_, bytes) in folder.files.iter().filter(|(path, _)| path.ends_with(".toml")) {
        let read =
            std::str::from_utf8(bytes).ok().and_then(|text| toml::from_str::<Map<String, Value>>(&authored(text)).ok());
        lay(&mut all, read.unwrap_or_default());
    }
    all
}

/// Lays tables over others: entry by entry, and lists behind one another.
fn lay(below: &mut Map<String, Value>, above: Map<String, Value>) {
    for (key, value) in above {
        match (below.get_mut(&key), value) {
            (Some(Value::Object(entries)), Value::Object(new)) => entries.extend(new),
            (Some(Value::Array(entries)), Value::Array(new)) => entries.extend(new),
            (_, value) => drop(below.insert(key, value)),
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
