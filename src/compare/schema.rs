//! Schemas: does the new one accept more values than the old one, or fewer?
//!
//! In: two schemas, as packs use them: undeclared members are not accepted.
//! Out: how the schema changed, and a phrase for each keyword that differs.
//! Never: validates a value; if the direction is not certain, it is `changed`.

use super::Direction;
use super::rows::{arrow, both, member};
use crate::program::Schema;
use crate::text::excerpt;
use crate::value::{Object, Value};
use std::sync::LazyLock;

/// Keywords for readers, which exclude no value.
const WORDS: &[&str] = &["about", "description", "title", "example", "examples", "$comment", "$schema", "$id"];
/// Keywords for lower bounds.
const LOWER: &[&str] = &["minimum", "exclusiveMinimum", "minLength", "minItems", "minProperties", "minContains"];
const UPPER: &[&str] = &["maximum", "exclusiveMaximum", "maxLength", "maxItems", "maxProperties", "maxContains"];

/// How the schema changed from `old` to `new`; none if both accept the same values.
pub(super) fn compare(old: &Schema, new: &Schema) -> (Option<Direction>, Vec<String>) {
    let (before, after) = (old.with_spellings(), new.with_spellings());
    let mut comparing = Comparing::default();
    comparing.schema("", before, after);
    let names =
        |schema: &Value| schema.as_object().into_iter().flat_map(declared).map(|(name, _)| name.to_owned()).collect();
    let (before, after): (Vec<String>, Vec<String>) = (names(before), names(after));
    for name in before.iter().filter(|name| after.contains(name)) {
        match (old.is_verbatim(name), new.is_verbatim(name)) {
            (false, true) => comparing.note(Direction::Changed, format!("`{name}` is taken as it is written")),
            (true, false) => {
                comparing.note(Direction::Changed, format!("`{name}` is no longer taken as it is written"))
            }
            _ => {}
        }
    }
    (comparing.direction, comparing.how)
}

#[derive(Default)]
struct Comparing {
    direction: Option<Direction>,
    how: Vec<String>,
}

impl Comparing {
    fn note(&mut self, direction: Direction, phrase: String) {
        self.direction = Some(self.direction.map_or(direction, |before| before.and(direction)));
        self.how.push(phrase);
    }

    fn schema(&mut self, path: &str, old: &Value, new: &Value) {
        match (old, new) {
            (Value::Object(old), Value::Object(new)) => self.members(path, old, new),
            _ if old == new => {}
            _ => self.note(
                Direction::Changed,
                format!("{}: {}", displayed(path), arrow(&old.to_string(), &new.to_string())),
            ),
        }
    }

    fn members(&mut self, path: &str, old: &Object, new: &Object) {
        let differing = both(old, new).into_iter().filter(|(_, (one, other))| one != other);
        for (key, (one, other)) in differing.filter(|(key, _)| !WORDS.contains(key)) {
            match key {
                "properties" => self.properties(path, old, new),
                // Reported with the property that it is about.
                "required" => self.required(path, old, new),
                "items" => match (one, other) {
                    (Some(one), Some(other)) => self.schema(&format!("{path}[]"), one, other),
                    _ => self.keyword(path, key, one, other, of_constraint(one, other)),
                },
                _ => self.keyword(path, key, one, other, direction(key, one, other)),
            }
        }
    }

    fn keyword(&mut self, path: &str, key: &str, old: Option<&Value>, new: Option<&Value>, direction: Direction) {
        let word = |value: Option<&Value>| value.map_or("none".to_owned(), short);
        self.note(
            direction,
            format!("{} {key}: {} → {}", displayed(path), word(old), word(new)).trim_start().to_owned(),
        );
    }

    fn properties(&mut self, path: &str, old: &Object, new: &Object) {
        for (name, pair) in both(declared(old), declared(new)) {
            let displayed = member(path, name);
            match (pair.0.or(undeclared(old)), pair.1.or(undeclared(new))) {
                (Some(old), Some(new)) => self.schema(&displayed, old, new),
                (Some(_), None) if required(old).any(|required| required == name) => {
                    self.note(Direction::Widened, format!("`{displayed}`, which was required, is gone"));
                }
                (Some(_), None) => self.note(Direction::Narrowed, format!("`{displayed}` is gone")),
                (None, _) => self.note(Direction::Widened, format!("`{displayed}` is new")),
            }
        }
    }

    fn required(&mut self, path: &str, old: &Object, new: &Object) {
        for name in required(new).filter(|name| required(old).all(|old| old != *name)) {
            self.note(Direction::Narrowed, format!("`{}` is required now", member(path, name)));
        }
        // If the property itself is gone, only that is reported.
        let taken = |name: &str| undeclared(new).is_some() || declared(new).any(|(declared, _)| declared == name);
        for name in required(old).filter(|name| taken(name) && required(new).all(|new| new != *name)) {
            self.note(Direction::Widened, format!("`{}` may be absent now", member(path, name)));
        }
    }
}

fn declared(schema: &Object) -> impl Iterator<Item = (&str, &Value)> {
    schema.get("properties").and_then(Value::as_object).into_iter().flatten()
}

fn required(schema: &Object) -> impl Iterator<Item = &str> {
    schema.get("required").and_then(Value::as_array).into_iter().flatten().filter_map(Value::as_str)
}

/// The schema of undeclared members; none if they are not accepted.
fn undeclared(schema: &Object) -> Option<&Value> {
    static ANYTHING: LazyLock<Value> = LazyLock::new(|| Value::Object(Object::new()));
    schema
        .get("additionalProperties")
        .filter(|others| **others != Value::Bool(false))
        .map(|others| if others.is_object() { others } else { &ANYTHING })
}

/// The direction of a change of a keyword.
fn direction(key: &str, old: Option<&Value>, new: Option<&Value>) -> Direction {
    let number = |value: Option<&Value>| value.and_then(Value::as_f64);
    match key {
        "enum" | "type" => match (old.map(|old| set(key, old)), new.map(|new| set(key, new))) {
            (Some(old), Some(new)) => of_sets(key, &old, &new),
            _ => of_constraint(old, new),
        },
        _ if LOWER.contains(&key) || UPPER.contains(&key) => match (number(old), number(new)) {
            (Some(old), Some(new)) if (new < old) == LOWER.contains(&key) => Direction::Widened,
            (Some(_), Some(_)) => Direction::Narrowed,
            _ => of_constraint(old, new),
        },
        // By default, entries may be equal, and undeclared members are not accepted.
        "uniqueItems" => Direction::of(truth(old).cmp(&truth(new))),
        "additionalProperties" => Direction::of(openness(new).cmp(&openness(old))),
        "const" | "pattern" | "format" | "multipleOf" | "contains" | "propertyNames" => of_constraint(old, new),
        _ => Direction::Changed,
    }
}

fn truth(value: Option<&Value>) -> bool {
    value.and_then(Value::as_bool).unwrap_or_default()
}

/// How open a schema is for undeclared members: 0 for none, 1 for those that are valid against a schema, 2 for all.
fn openness(value: Option<&Value>) -> u8 {
    match value {
        None | Some(Value::Bool(false)) => 0,
        Some(Value::Bool(true)) => 2,
        Some(_) => 1,
    }
}

/// A new constraint narrows; a removed one widens.
fn of_constraint(old: Option<&Value>, new: Option<&Value>) -> Direction {
    match (old, new) {
        (None, Some(_)) => Direction::Narrowed,
        (Some(_), None) => Direction::Widened,
        _ => Direction::Changed,
    }
}

fn set(key: &str, value: &Value) -> Vec<Value> {
    match value {
        Value::Array(values) => values.to_vec(),
        one if key == "type" => vec![one.clone()],
        _ => Vec::new(),
    }
}

fn of_sets(key: &str, old: &[Value], new: &[Value]) -> Direction {
    // Every integer is a number.
    let in_set = |set: &[Value], value: &Value| {
        set.contains(value) || (key == "type" && value == "integer" && set.iter().any(|one| one == "number"))
    };
    let wider = old.iter().all(|value| in_set(new, value));
    let narrower = new.iter().all(|value| in_set(old, value));
    match (wider, narrower) {
        (_, false) => Direction::Widened,
        (false, true) => Direction::Narrowed,
        (true, true) => Direction::Changed,
    }
}

fn displayed(path: &str) -> String {
    if path.is_empty() { String::new() } else { format!("`{path}`") }
}

fn short(value: &Value) -> String {
    excerpt(&value.to_string(), 60).into_owned()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::value::value;

    #[track_caller]
    fn check(old: Value, new: Value, direction: Option<Direction>, how: &[&str]) {
        assert_eq!(
            compare(&Schema::new(old), &Schema::new(new)),
            (direction, how.iter().map(|one| (*one).to_owned()).collect())
        );
    }

    #[test]
    fn a_schema_that_accepts_more_is_wider_and_one_that_accepts_less_narrower() {
        check(value!({ "type": "string", "about": "a" }), value!({ "type": "string" }), None, &[]);
        check(
            value!({ "type": "integer" }),
            value!({ "type": "number" }),
            Some(Direction::Widened),
            &["type: \"integer\" → \"number\""],
        );
        check(value!({ "enum": [1, 2] }), value!({ "enum": [2] }), Some(Direction::Narrowed), &["enum: [1,2] → [2]"]);
        check(value!({ "enum": [1] }), value!({ "enum": [2] }), Some(Direction::Widened), &["enum: [1] → [2]"]);
        check(value!({ "minimum": 1 }), value!({ "minimum": 0 }), Some(Direction::Widened), &["minimum: 1 → 0"]);
        check(value!({ "maxLength": 9 }), value!({ "maxLength": 8 }), Some(Direction::Narrowed), &["maxLength: 9 → 8"]);
        check(value!({}), value!({ "pattern": "a" }), Some(Direction::Narrowed), &["pattern: none → \"a\""]);
        let lists = |unique| value!({ "uniqueItems": unique });
        check(lists(true), value!({}), Some(Direction::Widened), &["uniqueItems: true → none"]);
        check(lists(false), lists(true), Some(Direction::Narrowed), &["uniqueItems: false → true"]);
        let open = |others| value!({ "additionalProperties": others });
        check(value!({}), open(value!({})), Some(Direction::Widened), &["additionalProperties: none → {}"]);
        check(
            open(value!(true)),
            open(value!(false)),
            Some(Direction::Narrowed),
            &["additionalProperties: true → false"],
        );
        check(value!({ "format": "date" }), value!({}), Some(Direction::Widened), &["format: \"date\" → none"]);
        check(value!({ "oneOf": [] }), value!({}), Some(Direction::Changed), &["oneOf: [] → none"]);
    }

    #[test]
    fn properties_are_compared_one_by_one() {
        let schema = |properties: Value, required: Value| value!({ "properties": properties, "required": required });
        check(
            schema(value!({ "a": {} }), value!([])),
            schema(value!({ "a": {} }), value!(["a"])),
            Some(Direction::Narrowed),
            &["`a` is required now"],
        );
        check(
            schema(value!({ "a": {} }), value!(["a"])),
            schema(value!({}), value!([])),
            Some(Direction::Widened),
            &["`a`, which was required, is gone"],
        );
        check(
            schema(value!({ "a": {} }), value!([])),
            schema(value!({}), value!([])),
            Some(Direction::Narrowed),
            &["`a` is gone"],
        );
        check(
            schema(value!({ "a": { "items": { "maximum": 1 } } }), value!([])),
            schema(value!({ "a": { "items": { "maximum": 2 } }, "b": {} }), value!(["b"])),
            Some(Direction::Widened),
            &["`a[]` maximum: 1 → 2", "`b` is new", "`b` is required now"],
        );
        // An undeclared member must be valid against the schema of undeclared members.
        let open = |properties: Value, required: Value| value!({ "properties": properties, "required": required, "additionalProperties": true });
        check(
            open(value!({ "a": { "maximum": 1 } }), value!(["a"])),
            open(value!({ "b": { "maximum": 1 } }), value!([])),
            Some(Direction::Widened),
            &["`a` maximum: 1 → none", "`b` maximum: none → 1", "`a` may be absent now"],
        );
    }
}
