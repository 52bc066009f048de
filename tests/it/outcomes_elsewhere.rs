//! Outcomes elsewhere: which outcomes must every build have, whatever features its dependencies are built with?
//!
//! In: all shipped packs and their cases.
//! Out: the suite and its outcomes in this build, as files with which `.ci/run` and `.ci/wasm` compare other builds.
//! Never: decides which outcomes are right.

#[path = "../host/src/outcomes.rs"]
mod outcomes;

use rulebook::{Value, value};
use std::path::Path;

/// A pack whose schemas have what features of `serde_json` change: numbers with fractions, and objects with an order.
const NUMBERS: &str = r#"
[pack]
name = "numbers"
[dialects.tags]
grammar = "tags"
[dialects.tags.blocks]
action = { role = "call", name = "@type", payload = "json" }
[modes.home]
permits = ["note"]
[state]
total = { type = "number", default = 0.5 }
[actions.note.params]
any  = {}
many = { type = "number", multipleOf = 0.1, maximum = 1e300, not = { enum = [{ z = 1.5, a = [0.25] }, 7.0] } }
kind = { enum = [{ z = 1.5, a = { y = 1, b = 2 } }, 2.50] }
deep = { type = "object", properties = { z = { type = "integer" }, a = { type = "string" } } }
[[actions.note.effects]]
emit  = "note"
value = "{{ params.any }} {{ params.many }}"
[[actions.note.effects]]
set   = "total"
value = "{{ params.many }}"
"#;

/// The payload of the call in each of several answers.
const PAYLOADS: &[&str] = &[
    r#"{"any": [1, -1, 1.0, 1.50, -0, -0.0, 1e2, 1E+2, 1e-7, 5e-324, 0.1, 123456789012345678], "many": 0.30}"#,
    r#"{"any": 18446744073709551615, "many": 1e22}"#,
    r#"{"any": 18446744073709551616, "many": 2.9999999999999999999}"#,
    r#"{"any": 1e999, "many": 0.25}"#,
    r#"{"any": [1e400, -1e400, 1e-400], "many": 7.0}"#,
    r#"{"any": {"$serde_json::private::Number": "1.5"}}"#,
    r#"{"any": {"$serde_json::private::Number": "1.5", "z": 2.5, "a": 1}}"#,
    r#"{"any": {"z": 2.5, "$serde_json::private::Number": "x"}, "any": 3.5}"#,
    r#"{"kind": {"z": 1.50, "a": {"b": 2.0, "y": 1}}}"#,
    r#"{"kind": {"z": 1.51, "a": {"b": 2.0, "y": 1}}, "many": "x"}"#,
    r#"{"z": 1, "deep": {"z": "x", "more": 1.5, "other": 2, "a": 1.25}, "many": []}"#,
    r#"{"many": 1.5, any: .5, "kind": 1e999}"#,
];

/// The text files at or below a folder, by their path below `root`.
fn files(root: &Path, folder: &Path, all: &mut Vec<(String, Value)>) {
    let mut entries: Vec<_> = std::fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().path()).collect();
    entries.sort();
    for path in entries {
        if path.is_dir() {
            files(root, &path, all);
        } else if let Ok(text) = std::fs::read_to_string(&path) {
            let below = path.strip_prefix(root).unwrap().to_str().unwrap().replace('\\', "/");
            all.push((below, text.into()));
        }
    }
}

#[test]
fn the_same_packs_and_answers_have_the_same_outcomes() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR"));
    let mut suite = Vec::new();
    for group in ["rules", "tests/packs"] {
        for pack in std::fs::read_dir(root.join(group)).unwrap().map(|entry| entry.unwrap()) {
            let mut all = Vec::new();
            files(&pack.path(), &pack.path(), &mut all);
            let (cases, files): (Vec<_>, Vec<_>) = all.into_iter().partition(|(path, _)| path.ends_with(".case"));
            let name = format!("{group}/{}", pack.file_name().to_str().unwrap());
            let (cases, files): (rulebook::Object, rulebook::Object) =
                (cases.into_iter().collect(), files.into_iter().collect());
            suite.push((name, value!({ "files": files, "cases": cases })));
        }
    }
    let deep = |open: &str, close: &str| format!(r#"{{"any": {}1.5{}}}"#, open.repeat(80), close.repeat(80));
    let payloads = PAYLOADS.iter().map(ToString::to_string).chain([deep("[", "]"), deep(r#"{"a":"#, "}")]);
    let case = |payload| {
        format!(
            "claim = 'a payload'\n=== response ===\n<action type=\"note\">{payload}</action>\n=== expect ===\nstatus = \"clean\"\n"
        )
    };
    let cases: rulebook::Object = payloads
        .enumerate()
        .map(|(number, payload)| (format!("tests/{number:02}.case"), case(payload).into()))
        .collect();
    suite.push(("numbers".to_owned(), value!({ "files": { "pack.toml": NUMBERS }, "cases": cases })));
    suite.sort_by(|(one, _), (other, _)| one.cmp(other));
    let suite = Value::Object(suite.into_iter().collect()).to_string();
    let outcomes = outcomes::of_suite(&suite).unwrap();
    assert_eq!(outcomes, outcomes::of_suite(&suite).unwrap(), "the same answers had other outcomes");
    assert!(outcomes.lines().count() > 1000);
    crate::publish("suite.json", suite);
    crate::publish("outcomes.txt", outcomes);
}
