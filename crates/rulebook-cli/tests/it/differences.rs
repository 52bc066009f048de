//! Differences: does `rulebook diff` say what a change of a pack allows, costs and does to answers?

use crate::command::{ended, folder};
use serde_json::{Value, json};
use std::fs;
use std::path::{Path, PathBuf};

const PACK: &str = r#"
[pack]
name = "p"
[dialects.tags]
grammar = "tags"
quoted = ["code-fence", "code-span"]
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
    let (status, out, err) = ended(folder, &[&["diff", "old", "new"], arguments].concat(), "");
    assert_eq!(err, "");
    (status, out)
}

/// Checks the changes as `kind name: direction`, without the text of the prompt.
#[track_caller]
fn check(name: &str, edits: &[(&str, &str)], expected: &[&str]) {
    compare(&versions(name, edits), expected);
}

#[track_caller]
fn compare(folder: &Path, expected: &[&str]) {
    let report: Value = serde_json::from_str(&diff(folder, &["--format", "json"]).1).unwrap();
    let schema = rulebook::schemas::of("diff").unwrap().schema().unwrap();
    assert!(jsonschema::draft202012::is_valid(&schema, &report), "{report:#}");
    let word = |one: &Value| {
        format!(
            "{} {}: {}",
            one["kind"].as_str().unwrap(),
            one["name"].as_str().unwrap(),
            one["direction"].as_str().unwrap()
        )
    };
    let found: Vec<String> =
        report["changes"].as_array().unwrap().iter().map(word).filter(|one| !one.starts_with("file")).collect();
    assert_eq!(found, expected, "{report:#}");
}

#[test]
fn a_change_of_permits_is_wider_or_narrower() {
    check("diff-none", &[("[state.n]", "# moved\n\n[state.n]")], &[]);
    check("diff-permit", &[(", when = \"state.n > 0\"", "")], &["permit go in a: widened"]);
    check("diff-permit-gone", &[("\"stay\"", "")], &["permit stay in b: narrowed"]);
    check("diff-condition", &[("state.n > 0", "state.n * 2 > 5")], &["permit go in a: changed"]);
    check("diff-stricter", &[("state.n > 0", "state.n > 5")], &["permit go in a: narrowed"]);
    check("diff-looser", &[("state.n > 0", "state.n >= 0")], &["permit go in a: widened"]);
    check("diff-looser-gate", &[("state.n > 1", "state.n > 0")], &["exit a to b: widened"]);
    // A content needs a permit once some mode has one for it, and a denial forbids it where none does.
    let file = ("permits = [\"stay\"]", "permits = [\"stay\", { content = \"file\", when = \"key == 'a'\" }]");
    check("diff-content", &[file], &["content permit file in a: narrowed", "content permit file in b: narrowed"]);
    let denied = ("permits = [\"stay\"]", "permits = [\"stay\"]\ndenies = [{ content = \"file\" }]");
    check("diff-content-denied", &[denied], &["content permit file in b: narrowed"]);
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
    check("diff-required", &[("maximum = 9", "maximum = 10, required = true")], &["parameters go: widened"]);
    check("diff-gate", &[("{ to = \"b\", gate = \"state.n > 1\" }", "\"b\"")], &["exit a to b: widened"]);
    check("diff-guardrail", &[("severity = \"error\"", "in = [\"a\"]")], &["guardrail shouting: widened"]);
    let excused = versions("diff-exception", &[("severity = \"error\"", "severity = \"error\"\nunless = 'oh!!'")]);
    compare(&excused, &["guardrail shouting: widened"]);
    assert!(diff(&excused, &[]).1.contains("it has an exception now\n"));
    check(
        "diff-guardrail-gone",
        &[("[[guardrails]]", "[data.x]")],
        &["guardrail shouting: widened", "data x: appeared"],
    );
    let other =
        ["effect emit gone of action go: narrowed", "effect emit left of action go: widened", "action go: changed"];
    check("diff-effects", &[("emit = \"gone\"", "emit = \"left\"")], &other);
    let both = "severity = \"error\"\nin = [\"a\"]";
    let tripped = |name: &str, old: &str, expected: &[&str]| {
        between(name, "severity = \"error\"", old, "", expected);
    };
    tripped("diff-own-word", "strategy = \"drop\"", &["guardrail shouting: widened"]);
    tripped("diff-own-word-alike", "strategy = \"keep\"", &[]);
    let asked = |question: &str| format!("permits = [{{ action = \"stay\", confirm = \"{question}\" }}]");
    let (stay, why) = (asked("Stay?"), asked("OK?"));
    between("diff-question", "permits = [\"stay\"]", &stay, &why, &["question stay in b: changed"]);
    between("diff-asked", "permits = [\"stay\"]", "permits = [\"stay\"]", &stay, &["permit stay in b: narrowed"]);
    check("diff-verbatim", &[("maximum = 9", "maximum = 9, verbatim = true")], &["parameters go: changed"]);
    check("diff-names", &[("maximum = 9", "maximum = 9, names = [\"off\"]")], &["parameters go: changed"]);
    let with = |text: &str| format!("strategy = \"redact\"\nwith = \"{text}\"");
    let (place, old, new) = ("severity = \"error\"", with("[card]"), with("[number]"));
    between("diff-with", place, &old, &new, &["guardrail shouting: changed"]);
    check("diff-read", &[("name = \"p\"", "name = \"p\"\ndialects = [\"tags\"]")], &["table pack: changed"]);
    check("diff-name", &[("name = \"p\"", "name = \"q\"\nversion = \"2\"")], &[]);
    between("diff-both", "severity = \"error\"", "severity = \"info\"", both, &["guardrail shouting: widened"]);
    check("diff-action", &[("[actions.stay]", "[actions.stay]\n[actions.rest]")], &["action rest: appeared"]);
}

/// Checks the changes between two versions of the pack: with `old` in place of `place`, and with `new`.
#[track_caller]
fn between(name: &str, place: &str, old: &str, new: &str, expected: &[&str]) {
    let folder = versions(name, &[]);
    assert!(PACK.contains(place), "{place}");
    for (pack, text) in [("old", old), ("new", new)] {
        fs::write(folder.join(pack).join("pack.toml"), PACK.replacen(place, text, 1)).unwrap();
    }
    compare(&folder, expected);
}

#[test]
fn a_change_of_an_effects_condition_is_wider_or_narrower() {
    let (always, waits) = ("{ emit = \"gone\" }", "{ emit = \"gone\", when = \"state.n > 1\" }");
    let emits = |name: &str, old: &str, new: &str, way: Option<&str>| {
        let row = way.map(|way| format!("effect emit gone of action go: {way}"));
        let expected: Vec<&str> = row.as_deref().into_iter().chain(["action go: changed"]).collect();
        between(name, always, old, new, &expected);
    };
    emits("diff-when-gone", waits, always, Some("widened"));
    emits("diff-when", always, waits, Some("narrowed"));
    emits("diff-when-beside", waits, &format!("{waits}, {always}"), Some("widened"));
    let nested = "{ when = \"state.n > 1\", effects = [{ emit = \"gone\" }] }";
    emits("diff-when-around", waits, nested, None);
    emits("diff-when-around-gone", nested, always, Some("widened"));
    let both = "{ when = \"mode == 'a'\", effects = [{ emit = \"gone\", when = \"state.n > 1\" }] }";
    emits("diff-when-less", both, waits, Some("widened"));
    let other = "{ emit = \"gone\", when = \"mode == 'a'\" }";
    emits("diff-when-enough", waits, &format!("{other}, {waits}"), Some("widened"));
    emits("diff-when-order", &format!("{waits}, {other}"), &format!("{other}, {waits}"), None);
    emits("diff-when-another", waits, other, Some("changed"));

    let goes = |name: &str, old: &str, new: &str, way: &str| {
        let go = |insist: &str| format!("{{ go = \"b\"{insist} }}");
        let row = format!("insist go b of action go: {way}");
        between(name, "{ go = \"b\" }", &go(old), &go(new), &[&row, "action go: changed"]);
    };
    let insists = ", insist = \"state.n > 5\"";
    goes("diff-insist", "", insists, "widened");
    goes("diff-insist-gone", insists, "", "narrowed");
    goes("diff-insist-more", insists, ", insist = \"state.n > 5 or mode == 'a'\"", "widened");

    let rule = |when: &str| {
        format!("[[rules]]\nid = \"r\"\non = \"reply\"\n{when}effects = [{{ emit = \"told\" }}]\n[prompts.main]")
    };
    let row = ["effect emit told of rule r: widened", "rule r: changed"];
    between("diff-rule", "[prompts.main]", &rule("when = \"state.n > 1\"\n"), &rule(""), &row);
    let row = ["effect emit told of rule r: widened", "rule r: appeared"];
    between("diff-rule-new", "[prompts.main]", "[prompts.main]", &rule(""), &row);
    between("diff-rule-in", "[prompts.main]", &rule("in = \"a\"\n"), &rule(""), &["rule r: widened"]);
    between("diff-rule-other", "[prompts.main]", &rule("in = \"a\"\n"), &rule("in = \"b\"\n"), &["rule r: widened"]);
    between("diff-rule-less", "[prompts.main]", &rule(""), &rule("in = [\"b\"]\n"), &["rule r: narrowed"]);
}

#[test]
fn a_change_of_a_reply_is_wider_or_narrower() {
    let both = |row: &str, way: &str| ["a", "b"].map(|mode| format!("{row} in {mode}: {way}"));
    let limit = |name: &str, edit: (&str, &str), row: &str, way: &str| {
        check(name, &[edit], &both(row, way).each_ref().map(String::as_str));
    };
    limit("diff-calls", ("calls = { most = 2 }", "calls = { most = 3 }"), "limit calls", "widened");
    limit("diff-calls-gone", ("calls = { most = 2 }", ""), "limit calls", "widened");
    limit("diff-most", ("{ most = 2, keys", "{ most = 1, keys"), "limit file", "narrowed");
    limit("diff-keys", ("\"a\", \"b\"", "\"a\""), "limit file", "narrowed");
    limit("diff-more-keys", ("\"a\", \"b\"", "\"a\", \"b\", \"*.md\""), "limit file", "widened");
    limit("diff-all-keys", ("\"a\", \"b\"", "\"*\""), "limit file", "widened");
    limit("diff-wider-keys", ("\"a\", \"b\"", "\"a*\", \"b\""), "limit file", "widened");
    limit("diff-unlike-keys", ("\"a\", \"b\"", "\"a?\", \"b\""), "limit file", "changed");
    limit("diff-other-keys", ("{ most = 2, keys = [\"a\"", "{ most = 3, keys = [\"x\""), "limit file", "widened");
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
    let think = |rest: &str| format!("reasoning = {{ role = {rest} }}\n[contents.file]");
    let thinks = think("\"thinking\", names = [\"think\", \"reasoning\"]");
    let thinking = |name: &str, new: &str, names: &[&str]| {
        let rows: Vec<String> = names.iter().map(|name| format!("thinking {name} in tags: widened")).collect();
        let expected: Vec<&str> = rows.iter().map(String::as_str).chain(["dialect tags: changed"]).collect();
        between(name, "[contents.file]", &thinks, new, &expected);
    };
    thinking("diff-thinking-gone", "[contents.file]", &["think", "reasoning"]);
    thinking("diff-thinking-name", &think("\"thinking\""), &["think"]);
    thinking("diff-thinking-role", &think("\"message\", names = [\"think\", \"reasoning\"]"), &["think", "reasoning"]);
    let speakers = |limit: &str| {
        format!("[speakers]\nfrom = \"data.people\"\n{limit}[data]\npeople = [{{ name = \"Maya\" }}]\n[prompts.main]")
    };
    let limit = |name: &str, limit: &str, way: &str| {
        let row = format!("limit of speakers: {way}");
        between(name, "[prompts.main]", &speakers("limit = \"state.n > 3\"\n"), &speakers(limit), &[&row]);
    };
    limit("diff-limit-gone", "", "widened");
    limit("diff-limit-more", "limit = \"state.n > 3 or mode == 'a'\"\n", "narrowed");
    limit("diff-limit-less", "limit = \"state.n > 3 and mode == 'a'\"\n", "widened");
    check("diff-mask", &[("\"code-fence\", ", "")], &["mask code-fence in tags: widened"]);
    check("diff-path", &[("key = \"path\"", "")], &["path of file: widened", "content file: changed"]);
}

#[test]
fn a_change_of_degradation_is_wider_or_narrower() {
    let strays =
        |name: &str, word: &str, expected: &[&str]| check(name, &[("stray-text = \"refuse\"", word)], expected);
    strays("diff-degradation", "stray-text = \"drop\"", &["degradation stray-text (pack): widened"]);
    strays("diff-degradation-other", "stray-text = \"ask-again\"", &["degradation stray-text (pack): changed"]);
    // Where the pack sets no strategy of its own, the default applies.
    strays("diff-degradation-gone", "", &["degradation stray-text (pack): widened"]);
    strays("diff-degradation-default", "stray-text = \"refuse\"\nforbidden-call = \"drop\"", &[]);
    // Calls have a default of their own.
    let both = "stray-text = \"refuse\"\nunclosed-block = \"drop\"";
    strays("diff-degradation-two", both, &["degradation unclosed-block (pack): changed"]);
    let lenient = "stray-text = \"refuse\"\nunclosed-block = \"keep\"";
    strays("diff-degradation-calls", lenient, &["degradation unclosed-block (pack): widened"]);
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
        plain.contains("new/pack.toml:25:23: widened: permit go in a; `state.n > 0` is no longer required\n"),
        "{plain}"
    );
    fs::write(folder.join("answers.jsonl"), "{}\n").unwrap();
    assert_eq!(diff(&folder, &["--replay", "answers.jsonl"]).0, 1);
}

#[test]
fn a_removed_declaration_is_shown_at_its_old_place() {
    let folder = versions("diff-place", &[("\"stay\"", "")]);
    let plain = diff(&folder, &["--format", "plain"]).1;
    assert!(plain.contains("old/pack.toml:28:12: narrowed: permit stay in b; it is gone\n"), "{plain}");
}

#[test]
fn only_the_part_of_a_long_value_that_differs_is_shown() {
    let layer = "{ id = \"message\", source = \"message\" }";
    let added = format!("{{ id = \"rules\", text = \"desk.md\" }}, {layer}");
    let reported = |name: &str, edit: (&str, &str)| diff(&versions(name, &[edit]), &["--format", "plain"]).1;
    let plain = reported("diff-list", (layer, &layer.replace(" }", ", lead = \"So:\" }")));
    assert!(plain.contains("changed: prompt main; layers[1].lead: none → \"So:\"\n"), "{plain}");
    let plain = reported("diff-longer-list", (layer, &added));
    assert!(plain.contains("; layers[1]: none → {\"id\":\"rules\",\"text\":\"desk.md\"}\n"), "{plain}");
    let folder = versions("diff-long-text", &[]);
    for (pack, word) in [("old", "small"), ("new", "large")] {
        let about = format!("about = \"{} {word}\"\n", "as it was ".repeat(9));
        let text = PACK.replace("[actions.stay]", &format!("[actions.stay]\n{about}"));
        fs::write(folder.join(pack).join("pack.toml"), text).unwrap();
    }
    let plain = diff(&folder, &["--format", "plain"]).1;
    let expected = "about: …was as it was  small\" → …was as it was  large\"\n";
    assert!(plain.contains(expected), "{plain}");
}

#[test]
fn a_denied_change_has_its_own_exit_status_in_every_format() {
    let wider = versions("diff-deny", &[(", when = \"state.n > 0\"", "")]);
    let other = versions("diff-deny-other", &[("state.n > 0", "state.n > 5")]);
    for format in ["human", "plain", "json"] {
        assert_eq!(diff(&wider, &["--format", format]).0, 0);
        assert_eq!(diff(&wider, &["--deny", "widening", "--format", format]).0, 1);
        assert_eq!(diff(&other, &["--deny", "widening", "--format", format]).0, 0);
        assert_eq!(diff(&other, &["--deny", "change", "--format", format]).0, 1);
    }
}
