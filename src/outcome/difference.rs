//! Differences: in what do two outcomes of one response differ?
//!
//! In: two outcomes, which may come from two versions of a pack.
//! Out: a phrase for each difference; the same kind of difference always gives the same phrase.
//! Never: compares where a declaration is or how a message is worded: both change with every edit of a pack.

use super::Outcome;
use crate::text::excerpt;
use crate::value::{Object, Value, to_value};

/// Members that are not compared: they depend on where the pack's declarations are, or how they are worded.
const ASIDE: &[&str] = &["cause", "rule", "message", "help"];

/// The differences of `other` from `one`, a phrase each; empty if a host could not distinguish the outcomes.
///
/// Entries of lists are identified by content, not by number: one more entry does not make all later ones differ.
pub fn differences(one: &Outcome, other: &Outcome) -> Vec<String> {
    let mut phrases = Vec::new();
    if let (Some(Value::Object(one)), Some(Value::Object(other))) = (to_value(one), to_value(other)) {
        if one.get("message") != other.get("message") {
            phrases.push("message".to_owned());
        }
        members("", &one, &other, &mut phrases);
    }
    phrases.sort();
    phrases.dedup();
    phrases
}

fn members(path: &str, one: &Object, other: &Object, phrases: &mut Vec<String>) {
    let added = other.keys().filter(|key| !one.contains_key(key));
    for key in one.keys().chain(added).filter(|key| !ASIDE.contains(key)) {
        let (one, other) = (one.get(key).unwrap_or(&Value::Null), other.get(key).unwrap_or(&Value::Null));
        if one != other {
            let path = if path.is_empty() { key.to_owned() } else { format!("{path}.{key}") };
            value(&path, one, other, phrases);
        }
    }
}

fn value(path: &str, one: &Value, other: &Value, phrases: &mut Vec<String>) {
    match (one, other) {
        // The ledger follows from the rest, so its differences are not listed one by one.
        _ if path == "ledger" => phrases.push(path.to_owned()),
        (Value::Object(one), Value::Object(other)) => members(path, one, other, phrases),
        (Value::Array(one), Value::Array(other)) => items(path, one, other, phrases),
        _ => match (word(one), word(other)) {
            (Some(one), Some(other)) => phrases.push(format!("{path}: {one} → {other}")),
            _ => phrases.push(path.to_owned()),
        },
    }
}

/// Compares two lists: equal entries are skipped, and the others are compared with the entry of the same name.
fn items(path: &str, one: &[Value], other: &[Value], phrases: &mut Vec<String>) {
    let mut new: Vec<&Value> = other.iter().collect();
    let gone: Vec<&Value> = one
        .iter()
        .filter(|item| {
            let same = new.iter().position(|other| same(item, other));
            same.map(|same| new.remove(same)).is_none()
        })
        .collect();
    if gone.is_empty() && new.is_empty() {
        // The same items: either they only moved, or they differ in what is not compared.
        let moved = !one.iter().zip(other).all(|(one, other)| same(one, other));
        phrases.extend(moved.then(|| format!("{path}: another order")));
    }
    for item in gone {
        let name = name(item);
        match new.iter().position(|other| name.is_some() && self::name(other) == name) {
            Some(index) => {
                let path = format!("{path}({})", name.unwrap_or_default());
                value(&path, item, new.remove(index), phrases);
            }
            None => phrases.push(format!("{path}: without {}", name.unwrap_or_else(|| "an entry".to_owned()))),
        }
    }
    for item in new {
        phrases.push(format!("{path}: with {}", name(item).unwrap_or_else(|| "an entry".to_owned())));
    }
}

/// Whether two values are equal in everything that is compared.
fn same(one: &Value, other: &Value) -> bool {
    match (one, other) {
        (Value::Object(one), Value::Object(other)) => {
            let counts = |members: &Object| members.iter().filter(|(key, _)| !ASIDE.contains(key)).count();
            let all = |(key, value): (&str, &Value)| {
                ASIDE.contains(&key) || other.get(key).is_some_and(|other| same(value, other))
            };
            counts(one) == counts(other) && one.iter().all(all)
        }
        _ => one == other,
    }
}

/// The name that identifies an entry in a list of an outcome, if it has one.
fn name(item: &Value) -> Option<String> {
    let of = |key: &str| item.get(key).and_then(Value::as_str).map(|text| excerpt(text, 40).into_owned());
    let joined = |one: Option<String>, key: &str| {
        Some(one?).map(|one| of(key).map_or(one.clone(), |other| format!("{one} {other}")))
    };
    match item {
        Value::String(_) => None,
        _ => joined(of("code"), "id")
            .or_else(|| {
                joined(of("kind"), "path")
                    .map(|name| of("event").or(of("key")).map_or(name.clone(), |what| format!("{name} {what}")))
            })
            .or_else(|| of("action"))
            .or_else(|| joined(of("name"), "key"))
            .or_else(|| of("speaker")),
    }
}

/// A value that is short enough to quote: a word of a closed list, a boolean or null.
fn word(value: &Value) -> Option<String> {
    match value {
        Value::Null => Some("none".to_owned()),
        Value::Bool(value) => Some(value.to_string()),
        Value::String(text) if text.len() <= 40 && !text.contains(char::is_whitespace) => Some((**text).to_owned()),
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::value::value;

    #[track_caller]
    fn check(one: Value, other: Value, expected: &[&str]) {
        let mut phrases = Vec::new();
        value("it", &one, &other, &mut phrases);
        assert_eq!(phrases, expected);
    }

    #[test]
    fn entries_of_lists_are_compared_by_their_names() {
        let call = |action: &str, verdict: &str| value!({ "action": action, "verdict": verdict, "params": {} });
        let (a, b) = (&call("a", "accepted"), &call("b", "accepted"));
        check(value!([a, b]), value!([b]), &["it: without a"]);
        check(value!([b]), value!([a, b]), &["it: with a"]);
        check(value!([a, b]), value!([b, a]), &["it: another order"]);
        check(value!([a, b]), value!([call("a", "dropped"), b]), &["it(a).verdict: accepted → dropped"]);
        check(value!([a, a]), value!([a]), &["it: without a"]);
    }

    #[test]
    fn the_words_and_places_of_a_pack_are_no_difference() {
        let finding = |rule: &str, strategy: &str| value!([{ "code": "c", "id": "g", "rule": rule, "message": rule, "strategy": strategy }]);
        check(finding("a:1", "keep"), finding("b:2", "keep"), &[]);
        check(finding("a:1", "keep"), finding("b:2", "drop"), &["it(c g).strategy: keep → drop"]);
    }

    #[test]
    fn long_values_are_not_quoted() {
        check(
            value!({ "a": "x y", "b": 1 }),
            value!({ "a": "z", "b": 2, "c": true }),
            &["it.a", "it.b", "it.c: none → true"],
        );
    }
}
