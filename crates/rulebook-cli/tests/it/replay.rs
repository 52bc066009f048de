//! Replaying: does every answer count once, in order, whatever the lines before it contain?

use crate::command::{at_terminal, ended, folder, rulebook};
use serde_json::{Value, json};
use std::fs;
use std::path::{Path, PathBuf};

const PACK: &str = "[pack]\nname = \"p\"\n[dialects.tags]\ngrammar = \"tags\"\n[dialects.tags.blocks]\n\
    message = { role = \"message\" }\naction = { role = \"call\", name = \"@type\", payload = \"tags\" }\n\
    [actions.go]\neffects = [{ emit = \"gone\" }]\n[modes.still]\n[modes.moving]\npermits = [\"go\"]\n";

/// A folder with two packs, of which the second permits a call in its first mode that the first does not.
fn files(name: &str, answers: &str) -> PathBuf {
    let folder = folder(name);
    for (pack, text) in
        [("old", PACK.to_owned()), ("new", PACK.replace("[modes.still]", "[modes.still]\npermits = [\"go\"]"))]
    {
        fs::create_dir(folder.join(pack)).unwrap();
        fs::write(folder.join(pack).join("pack.toml"), text).unwrap();
    }
    fs::write(folder.join("answers.jsonl"), answers).unwrap();
    folder
}

fn replayed(folder: &Path, arguments: &[&str]) -> (i32, String) {
    let (status, out, err) = ended(folder, &[&["replay"], arguments].concat(), "");
    assert_eq!(err, "", "no bar where there is no terminal");
    (status, out)
}

fn report(folder: &Path, arguments: &[&str]) -> (i32, Value) {
    let (status, out) = replayed(folder, &[arguments, &["--format", "json"]].concat());
    let report = serde_json::from_str(&out).unwrap();
    let schema = rulebook::schemas::of("replay").unwrap().schema().unwrap();
    assert!(jsonschema::draft202012::is_valid(&schema, &report), "{out}");
    (status, report)
}

const GO: &str = "<message>Off we go.</message><action type='go'/>";

#[test]
fn outcomes_come_in_the_order_of_the_answers() {
    let line = |number: usize| {
        let message = format!("<message>{}</message>", "word ".repeat(number * 37 % 900));
        json!({ "id": number, "response": message, "mode": if number.is_multiple_of(3) { "moving" } else { "still" } })
    };
    let answers: String = (0..300).map(|number| format!("{}\n", line(number))).collect();
    let folder = files("replay-order", &answers);
    let (status, first) = report(&folder, &["old", "answers.jsonl", "--jobs", "1", "--out", "one.jsonl"]);
    assert_eq!((status, &first["answers"], &first["status"]["clean"]), (0, &json!(300), &json!(300)));
    for jobs in ["2", "7"] {
        let (_, again) = report(&folder, &["old", "answers.jsonl", "--jobs", jobs, "--out", "other.jsonl"]);
        assert_eq!(again, first);
        assert_eq!(fs::read(folder.join("other.jsonl")).unwrap(), fs::read(folder.join("one.jsonl")).unwrap());
    }
    let many = rulebook(&folder, &["replay", "old", "answers.jsonl", "--jobs", "18446744073709551615"], b"");
    assert_eq!((many.status.code(), many.stdout.len()), (Some(2), 0), "more threads than a machine has room for");
    let out = fs::read_to_string(folder.join("one.jsonl")).unwrap();
    for (number, line) in out.lines().enumerate() {
        let kept: Value = serde_json::from_str(line).unwrap();
        assert_eq!(kept["id"], number);
        assert_eq!(kept["outcome"]["mode"], if number.is_multiple_of(3) { "moving" } else { "still" });
    }
    assert_eq!(out.lines().count(), 300);
}

#[test]
fn a_broken_line_is_named_and_skipped() {
    let good = json!({ "response": GO }).to_string();
    let broken = [
        "{\"response\": ",
        "[]",
        "{}",
        "{\"response\": 1}",
        "{\"response\": \"a\", \"mode\": \"none\"}",
        "{\"response\": \"a\", \"session\": []}",
        "{\"response\": \"a\", \"session\": {\"state\": 1}}",
        "\u{1b}[31m",
    ];
    for line in broken {
        let folder = files("replay-broken", &format!("\u{feff}{good}\n\n{line}\r\n{good}"));
        let (status, report) = report(&folder, &["old", "answers.jsonl"]);
        assert_eq!((status, &report["answers"], &report["broken"]), (1, &json!(3), &json!(1)), "{line}");
        assert_eq!(report["diagnostics"][0]["line"], 3, "{line}");
        assert_eq!(report["codes"]["response/forbidden-call"], 2);
        let (status, out) = replayed(&folder, &["old", "answers.jsonl"]);
        assert_eq!(status, 1);
        assert!(out.contains("error[workspace/broken-line]: line 3 is not an answer"), "{out}");
        assert!(out.contains("\n  ┌─ answers.jsonl:3\n"), "{out}");
        assert!(out.ends_with("3 answers: 2 degraded, 1 broken\n"), "{out}");
    }
    let folder = files(
        "replay-broken",
        "{\"response\": \"a\", \"session\": {\"mode\": \"m\", \"ids\": {\"a\": 1, \"b\": -1}, \"nwo\": 1}}",
    );
    let (_, out) = replayed(&folder, &["old", "answers.jsonl"]);
    let why = "the pack has no mode `m`, at column 39; `ids.b` is not a whole number below 9007199254740992, at column 65; \
               a session has no `nwo`, at column 70";
    assert!(out.contains(&format!("line 1 is not an answer: {why}\n")), "{out}");
    let folder = files("replay-broken", "\n\n");
    assert_eq!(replayed(&folder, &["old", "answers.jsonl"]), (3, "no answers\n".to_owned()));
    let output = rulebook(&folder, &["replay", "old", "-"], format!("{good}\n").as_bytes());
    assert_eq!(output.status.code(), Some(0));
    let output = rulebook(&folder, &["replay", "old", "none.jsonl"], b"");
    assert_eq!(output.status.code(), Some(2));
    let output = rulebook(&folder, &["replay", "old", "old"], b"");
    assert_eq!(output.status.code(), Some(2));
    assert_eq!(String::from_utf8_lossy(&output.stderr), "rulebook: cannot read `old`: it is a folder\n");
    let output = rulebook(&folder, &["replay", "old", "-"], b"{\"response\": \"caf\xe9\"}\n");
    let said = String::from_utf8_lossy(&output.stdout);
    assert!(
        said.contains("line 1 is not an answer: it is not UTF-8, at column 18\n = help: save the file as UTF-8"),
        "{said}"
    );
    let output = rulebook(&folder, &["replay", "old", "answers.jsonl", "--out", "-"], b"");
    let said = String::from_utf8_lossy(&output.stderr);
    assert_eq!(output.status.code(), Some(2));
    assert!(said.starts_with("rulebook: cannot write `-`: standard output is for what the command says"), "{said}");
    assert!(!folder.join("-").exists());
    let output = rulebook(&folder, &["replay", "old", "answers.jsonl", "--out", "no/where"], b"");
    assert_eq!(output.status.code(), Some(2));
}

#[test]
fn the_answers_are_never_written_over() {
    let answers = json!({ "response": GO }).to_string();
    let folder = files("replay-over", &answers);
    fs::hard_link(folder.join("answers.jsonl"), folder.join("other-name.jsonl")).unwrap();
    for out in ["answers.jsonl", "./old/../answers.jsonl", "other-name.jsonl"] {
        let output = rulebook(&folder, &["replay", "old", "answers.jsonl", "--out", out], b"");
        assert_eq!(output.status.code(), Some(2));
        let input = fs::File::open(folder.join("answers.jsonl")).unwrap();
        let output = at_terminal(&folder, &["replay", "old", "-", "--out", out]).stdin(input).output().unwrap();
        assert_eq!(output.status.code(), Some(2));
        assert_eq!(fs::read_to_string(folder.join("answers.jsonl")).unwrap(), answers);
    }
}

#[test]
fn ignored_members_are_reported() {
    let line = |more: &str| format!("{{\"response\": \"x\", {more}}}\n");
    let folder =
        files("replay-unread", &(line("\"mod\": \"moving\"") + &line("\"mod\": 1, \"at\": 2") + &line("\"id\": 3")));
    let output = rulebook(&folder, &["replay", "old", "answers.jsonl"], b"");
    let reported = String::from_utf8(output.stderr).unwrap();
    let first = "note: `mod` in answers.jsonl:1 and 1 more is ignored; did you mean `mode`?\n";
    assert_eq!(reported, format!("{first}note: `at` in answers.jsonl:2 is ignored\n"));
    assert_eq!(output.status.code(), Some(0));
}

#[test]
fn a_broken_line_says_what_would_mend_it() {
    let folder = files("replay-help", "{\"response\": \n{\"response\": \"\", \"mode\": \"stil\"}\n[]\n");
    let (_, report) = report(&folder, &["old", "answers.jsonl"]);
    let reported = |index: usize| {
        let row = &report["diagnostics"][index];
        [row["message"].as_str().unwrap().to_owned(), row["help"].as_str().unwrap().to_owned()]
    };
    let shape = "a line is a JSON object with `response`, and maybe `id`, `mode` and `session`";
    assert_eq!(
        reported(0),
        ["line 1 is not an answer: this is not JSON: EOF while parsing a value, at column 13", shape]
    );
    assert_eq!(
        reported(1),
        ["line 2 is not an answer: the pack has no mode `stil`, at column 26", "did you mean `still`?"]
    );
    assert_eq!(reported(2), ["line 3 is not an answer: it is not a JSON object", shape]);
}

#[test]
fn a_line_that_is_too_long_is_skipped() {
    let good = json!({ "response": GO }).to_string();
    let folder = files("replay-long", &format!("{good}\n{}\n{good}\n", "x".repeat((32 << 20) + 1)));
    let (status, report) = report(&folder, &["old", "answers.jsonl"]);
    assert_eq!((status, &report["answers"], &report["broken"]), (1, &json!(3), &json!(1)));
    assert_eq!(report["diagnostics"][0]["line"], 2);
}

#[test]
fn another_pack_shows_which_outcomes_differ_and_how() {
    let lines = [
        json!({ "id": "plain", "response": "<message>Hello.</message>" }),
        json!({ "id": "going", "response": GO }),
        json!({ "id": "moving", "response": GO, "mode": "moving" }),
        json!({ "response": GO }),
    ];
    let folder = files("replay-against", &lines.map(|line| line.to_string()).join("\n"));
    let arguments = ["new", "answers.jsonl", "--against", "old", "--out", "out.jsonl"];
    let (status, report) = report(&folder, &arguments);
    let how = json!([
        "calls(go).verdict: dropped → accepted",
        "diagnostics: without response/forbidden-call",
        "effects: with emit gone",
        "ledger",
        "status: degraded → clean",
    ]);
    assert_eq!(status, 1);
    assert_eq!(report["against"]["differing"], 2);
    assert_eq!(report["against"]["kinds"], json!([{ "how": how, "answers": 2 }]));
    assert_eq!(report["against"]["answers"][1], json!({ "id": "line 4", "line": 4, "how": how }));
    let kept = fs::read_to_string(folder.join("out.jsonl")).unwrap();
    let kept: Vec<Value> = kept.lines().map(|line| serde_json::from_str(line).unwrap()).collect();
    assert_eq!((&kept[0]["differs"], &kept[1]["differs"]), (&json!([]), &how));
    let (_, out) = replayed(&folder, &arguments);
    assert!(out.contains("         2 calls(go).verdict: dropped → accepted\n"), "{out}");
    assert!(out.contains("going, line 4\n"), "{out}");
    assert!(out.ends_with("4 answers: 4 clean, 2 differ\n"), "{out}");
    for (format, row) in [
        ("plain", "answers.jsonl:4: warning[workspace/differing-outcome]: what becomes of `line 4` differs: calls(go)"),
        ("github", "::warning file=answers.jsonl,line=4,"),
        ("sarif", "\"startLine\": 4"),
        ("json", "\"code\": \"workspace/differing-outcome\""),
    ] {
        let (status, out) = replayed(&folder, &["new", "answers.jsonl", "--against", "old", "--format", format]);
        assert_eq!(status, 1);
        assert!(out.contains(row), "{out}");
    }
    assert_eq!(report_of_same(&folder), (0, json!(0)));
}

fn report_of_same(folder: &Path) -> (i32, Value) {
    let (status, report) = report(folder, &["old", "answers.jsonl", "--against", "old"]);
    (status, report["against"]["differing"].clone())
}
