//! Differences: does `rulebook diff` say what a change of a pack allows, costs and does to answers?

use crate::command::{folder, rulebook};
use serde_json::{Value, json};
use std::fs;
use std::path::{Path, PathBuf};

const PACK: &str = r#"
[pack]
name = "p"
[dialects.tags]
grammar = "tags"
masks = ["code-fence", "code-span"]
[dialects.tags.blocks]
message = { role = "message", degradation = { nested-block = "keep" } }
action = { role = "call", name = "@type", payload = "tags" }
file = { role = "content", key = "@path" }
[contents.file]
key = "path"
[reply]
calls = { most = 2 }
file = { most = 2, keys = ["a", "b"] }
[state.n]
type = "integer"
default = 0
from = "host"
[actions.go]
params = { how = { enum = ["fast", "slow"] }, far = { type = "integer", maximum = 9 } }
effects = [{ emit = "gone" }, { go = "b" }]
[actions.stay]
[modes.a]
permits = [{ action = "go", when = "state.n > 0" }]
exits = [{ to = "b", gate = "state.n > 1" }]
[modes.b]
permits = ["stay"]
final = true
[degradation]
stray-text = "refuse"
[[guardrails]]
id = "shouting"
on = "message"
matches = '!!'
severity = "error"
[prompts.main]
layers = [{ id = "desk", text = "desk.md" }, { id = "message", source = "message" }]
[tiers.small]
context = 8000
reserve = 1000
"#;

/// A folder with the pack as `old`, and as `new` with some texts replaced.
fn versions(name: &str, edits: &[(&str, &str)]) -> PathBuf {
    let folder = folder(name);
    let mut new = PACK.to_owned();
    for (old, text) in edits {
        assert!(new.contains(old), "{old}");
        new = new.replacen(old, text, 1);
    }
    for (pack, text) in [("old", PACK), ("new", &new)] {
        fs::create_dir(folder.join(pack)).unwrap();
        fs::write(folder.join(pack).join("pack.toml"), text).unwrap();
        fs::write(
            folder.join(pack).join("desk.md"),
            format!("You are the desk. {}", if pack == "old" { "" } else { name }),
        )
        .unwrap();
    }
    folder
}

fn diff(folder: &Path, arguments: &[&str]) -> (i32, String) {
    let output = rulebook(folder, &[&["diff", "old", "new"], arguments].concat(), b"");
    assert_eq!(String::from_utf8(output.stderr).unwrap(), "");
    (output.status.code().unwrap(), String::from_utf8(output.stdout).unwrap())
}

/// What changed as `kind name: way`, without the prompt's text.
#[track_caller]
fn check(name: &str, edits: &[(&str, &str)], expected: &[&str]) {
    compare(&versions(name, edits), expected);
}

#[track_caller]
fn compare(folder: &Path, expected: &[&str]) {
    let report: Value = serde_json::from_str(&diff(folder, &["--format", "json"]).1).unwrap();
    let schema = rulebook::report::schemas::ALL.iter().find(|one| one.name == "diff").unwrap().schema();
    assert!(jsonschema::draft202012::is_valid(&schema, &report), "{report:#}");
    let word = |one: &Value| {
        format!("{} {}: {}", one["kind"].as_str().unwrap(), one["name"].as_str().unwrap(), one["way"].as_str().unwrap())
    };
    let found: Vec<String> =
        report["changes"].as_array().unwrap().iter().map(word).filter(|one| !one.starts_with("file")).collect();
    assert_eq!(found, expected, "{report:#}");
}

#[test]
fn what_a_change_allows_has_its_way() {
    check("diff-none", &[("[state.n]", "# moved\n\n[state.n]")], &[]);
    check("diff-permit", &[(", when = \"state.n > 0\"", "")], &["permit go in a: widened"]);
    check("diff-permit-gone", &[("\"stay\"", "")], &["permit stay in b: narrowed"]);
    check("diff-condition", &[("state.n > 0", "state.n > 5")], &["permit go in a: changed"]);
    let when = |name: &str, condition: &str, way: &str| {
        check(name, &[("state.n > 0", condition)], &[&format!("permit go in a: {way}")]);
    };
    when("diff-more-asked", "state.n > 0 and mode == 'a'", "narrowed");
    when("diff-more-enough", "params.far == 1 or state.n > 0", "widened");
    let gate = ("state.n > 1", "state.n > 1 or mode == 'a'");
    check("diff-wider-gate", &[gate], &["exit a to b: widened"]);
    let trips = |name: &str, old: &str, new: &str, way: &str| {
        let folder = versions(name, &[]);
        for (pack, when) in [("old", old), ("new", new)] {
            let text = PACK.replace("severity = \"error\"", &format!("severity = \"error\"\nwhen = \"{when}\""));
            fs::write(folder.join(pack).join("pack.toml"), text).unwrap();
        }
        compare(&folder, &[&format!("guardrail shouting: {way}")]);
    };
    trips("diff-trips-less", "state.n > 0", "state.n > 0 and mode == 'a'", "widened");
    trips("diff-trips-more", "state.n > 0", "state.n > 0 or mode == 'a'", "narrowed");
    trips("diff-trips-less-often", "state.n > 0 or mode == 'a'", "mode == 'a'", "widened");
    trips("diff-trips-otherwise", "state.n > 0 and mode == 'a'", "mode == 'a'", "changed");
    check("diff-enum", &[("\"slow\"]", "\"slow\", \"never\"]")], &["parameters go: widened"]);
    check("diff-bound", &[("maximum = 9", "maximum = 8")], &["parameters go: narrowed"]);
    check("diff-required", &[("maximum = 9", "maximum = 10, required = true")], &["parameters go: changed"]);
    check("diff-gate", &[("{ to = \"b\", gate = \"state.n > 1\" }", "\"b\"")], &["exit a to b: widened"]);
    check("diff-guardrail", &[("severity = \"error\"", "in = [\"a\"]")], &["guardrail shouting: widened"]);
    check(
        "diff-guardrail-gone",
        &[("[[guardrails]]", "[data.x]")],
        &["guardrail shouting: widened", "data x: appeared"],
    );
    check("diff-effects", &[("emit = \"gone\"", "emit = \"left\"")], &["action go: changed"]);
    check("diff-action", &[("[actions.stay]", "[actions.stay]\n[actions.rest]")], &["action rest: appeared"]);
}

#[test]
fn what_an_answer_may_be_made_of_has_its_way() {
    let both = |row: &str, way: &str| ["a", "b"].map(|mode| format!("{row} in {mode}: {way}"));
    let limit = |name: &str, edit: (&str, &str), row: &str, way: &str| {
        check(name, &[edit], &both(row, way).each_ref().map(String::as_str));
    };
    limit("diff-calls", ("calls = { most = 2 }", "calls = { most = 3 }"), "limit calls", "widened");
    limit("diff-calls-gone", ("calls = { most = 2 }", ""), "limit calls", "widened");
    limit("diff-most", ("{ most = 2, keys", "{ most = 1, keys"), "limit file", "narrowed");
    limit("diff-keys", ("\"a\", \"b\"", "\"a\""), "limit file", "narrowed");
    limit("diff-more-keys", ("\"a\", \"b\"", "\"a\", \"b\", \"*.md\""), "limit file", "widened");
    limit("diff-other-keys", ("{ most = 2, keys = [\"a\"", "{ most = 3, keys = [\"x\""), "limit file", "changed");
    limit(
        "diff-limit",
        ("calls = { most = 2 }", "calls = { most = 2 }\nmessage = { most = 1 }"),
        "limit message",
        "narrowed",
    );
    check(
        "diff-mode-limit",
        &[("[modes.a]", "[modes.a]\nreply = { file = { most = 0 } }")],
        &["limit file in a: narrowed"],
    );
    check("diff-required", &[("[modes.a]", "[modes.a]\nreply = { file = { required = true } }")], &["mode a: changed"]);
    check(
        "diff-block",
        &[("[contents.file]", "note = { role = \"content\", key = \"@path\" }\n[contents.file]")],
        &["block note in a: widened", "block note in b: widened", "dialect tags: changed"],
    );
    check("diff-mask", &[("\"code-fence\", ", "")], &["mask code-fence in tags: widened"]);
    check("diff-path", &[("key = \"path\"", "")], &["path of file: widened", "content file: changed"]);
}

#[test]
fn what_becomes_of_a_faulty_answer_has_its_way() {
    let strays =
        |name: &str, word: &str, expected: &[&str]| check(name, &[("stray-text = \"refuse\"", word)], expected);
    strays("diff-degradation", "stray-text = \"drop\"", &["degradation stray-text (pack): widened"]);
    strays("diff-degradation-other", "stray-text = \"ask-again\"", &["degradation stray-text (pack): changed"]);
    // Where the pack has no word of its own, the default answers.
    strays("diff-degradation-gone", "", &["degradation stray-text (pack): widened"]);
    strays("diff-degradation-default", "stray-text = \"refuse\"\nforbidden-call = \"drop\"", &[]);
    // Calls have a default of their own.
    let both = "stray-text = \"refuse\"\nunclosed-block = \"drop\"";
    strays("diff-degradation-two", both, &["degradation unclosed-block (pack): changed"]);
    let nested = |name: &str, word: &str, way: &str| {
        check(name, &[("\"keep\"", word)], &[&format!("degradation nested-block (block tags.message): {way}")]);
    };
    nested("diff-lift", "\"lift\"", "widened");
    nested("diff-nested-drop", "\"drop\"", "narrowed");
}

#[test]
fn prompts_and_answers_are_compared() {
    let folder = versions("diff-answers", &[(", when = \"state.n > 0\"", "")]);
    let answer = json!({ "id": "one", "response": "<message>Hi</message><action type='go'/>" });
    fs::write(folder.join("answers.jsonl"), format!("{answer}\n{answer}\n")).unwrap();
    let (status, text) = diff(&folder, &["--replay", "answers.jsonl"]);
    assert_eq!(status, 0);
    assert!(text.contains("calls(go).verdict: dropped → accepted"), "{text}");
    assert!(text.contains("main in a, small"), "{text}");
    let (_, plain) = diff(&folder, &["--replay", "answers.jsonl", "--format", "plain"]);
    assert!(
        plain.contains("new/pack.toml:25:23: widened: permit go in a; `state.n > 0` is no longer asked\n"),
        "{plain}"
    );
    fs::write(folder.join("answers.jsonl"), "{}\n").unwrap();
    assert_eq!(diff(&folder, &["--replay", "answers.jsonl"]).0, 1);
}

#[test]
fn what_is_denied_ends_with_a_status_of_its_own_in_every_format() {
    let wider = versions("diff-deny", &[(", when = \"state.n > 0\"", "")]);
    let other = versions("diff-deny-other", &[("state.n > 0", "state.n > 5")]);
    for format in ["human", "plain", "json"] {
        assert_eq!(diff(&wider, &["--format", format]).0, 0);
        assert_eq!(diff(&wider, &["--deny", "widening", "--format", format]).0, 1);
        assert_eq!(diff(&other, &["--deny", "widening", "--format", format]).0, 0);
        assert_eq!(diff(&other, &["--deny", "change", "--format", format]).0, 1);
    }
}
