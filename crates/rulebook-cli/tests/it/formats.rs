//! Formats: do all of them have the same findings and exit status, in a shape that their readers accept?

use crate::command::{folder, outputs, rulebook};
use crate::root;
use serde_json::Value;
use std::fs;
use std::path::{Path, PathBuf};

const FORMATS: [&str; 5] = ["human", "plain", "json", "sarif", "github"];

const PACK: &str = r#"
[pack]
name = "p"
[dialects.tags]
grammar = "tags"
blocks = { message = { role = "message" }, action = { role = "call", name = "@type", payload = "json" } }
[actions.go]
[modes.m]
permits = []
[[guardrails]]
id = "shouting"
on = "message"
matches = '!!'
severity = "error"
"#;

const BROKEN: &str = "[pack]\nname = \"b\"\nstart = \"nowhere\"\n[dialects.d]\ngrammar = \"tag\"\nblocks = { x = { role = \"mesage\" } }\n\
                      [modes.m]\npermits = [\"% , : \\u0000\"]\n";

/// A good pack with a case that passes and one that fails, a broken pack, and answers.
fn files(name: &str) -> PathBuf {
    let folder = folder(name);
    let write = |path: &str, text: &str| {
        let path = folder.join(path);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(path, text).unwrap();
    };
    write("good/pack.toml", PACK);
    write("mixed/pack.toml", PACK);
    let case =
        "claim = \"it <b>holds</b>\"\n=== response ===\n<message>Hi</message>\n=== expect ===\nmessage = \"Hi\"\n";
    write("good/tests/it-holds.case", case);
    write("mixed/tests/it-holds.case", case);
    write("mixed/tests/it-fails.case", &case.replace("message = \"Hi\"", "message = \"H&i\\u0007\""));
    write("mixed/tests/to-do.case", &format!("todo = \"later\"\n{}", case.replace("= \"Hi\"", "= \"Ho\"")));
    write("broken/pack.toml", BROKEN);
    write("calm.txt", "<message>Hi</message>");
    write("loud.txt", "<message>Hi!!\n</message><action type=\"go\">{}</action>");
    write("answers.jsonl", "{\"response\": \"<message>Hi!!</message>\"}\n");
    write("broken.jsonl", "{\"response\": \"<message>Hi</message>\"}\n{\"response\": 1}\nno\n");
    folder
}

/// Every command line to try, and the status with which it ends.
const COMMANDS: [(&[&str], i32); 11] = [
    (&["check", "good"], 0),
    (&["check", "broken"], 1),
    (&["test", "good"], 0),
    (&["test", "mixed"], 1),
    (&["run", "good", "calm.txt"], 0),
    (&["run", "good", "loud.txt"], 1),
    (&["run", "broken", "calm.txt"], 1),
    (&["replay", "good", "answers.jsonl"], 0),
    (&["replay", "good", "broken.jsonl"], 1),
    (&["replay", "good", "answers.jsonl", "--against", "mixed"], 0),
    (&["replay", "broken", "answers.jsonl"], 1),
];

fn run(folder: &Path, arguments: &[&str], format: &str, status: i32) -> String {
    let (out, err) = outputs(folder, &[arguments, &["--format", format]].concat(), "", status);
    assert!(format == "human" || err.is_empty(), "{arguments:?} {format}: {err}");
    out
}

#[test]
fn the_status_never_depends_on_the_format() {
    let folder = files("format-status");
    for (arguments, status) in COMMANDS {
        for format in FORMATS {
            run(&folder, arguments, format, status);
        }
    }
}

#[test]
fn every_format_has_every_finding() {
    let folder = files("format-findings");
    for (arguments, status) in COMMANDS {
        let sarif: Value = serde_json::from_str(&run(&folder, arguments, "sarif", status)).unwrap();
        let reported: Vec<&str> =
            sarif["runs"][0]["results"].as_array().unwrap().iter().map(|one| one["ruleId"].as_str().unwrap()).collect();
        let plain = run(&folder, arguments, "plain", status);
        let github = run(&folder, arguments, "github", status);
        assert_eq!(plain.lines().filter(|line| line.contains("]: ")).count(), reported.len(), "{plain}");
        let (notes, rest): (Vec<&str>, Vec<&str>) = github.lines().partition(|line| line.starts_with("::"));
        assert_eq!(notes.len(), reported.len(), "{github}");
        // A line with totals follows the annotations, unless a pack cannot be used at all.
        assert!(rest.len() <= 1, "{github}");
        for code in reported {
            assert!(plain.contains(&format!("[{code}]")) && github.contains(&format!("title={code}::")), "{code}");
        }
    }
}

#[test]
fn sarif_keeps_to_the_published_schema() {
    let folder = files("format-sarif");
    let text = include_str!("../../../../tests/sarif/sarif-schema-2.1.0.json");
    let schema = jsonschema::validator_for(&serde_json::from_str(text).unwrap()).unwrap();
    let mut results = 0;
    for (arguments, status) in COMMANDS {
        let log: Value = serde_json::from_str(&run(&folder, arguments, "sarif", status)).unwrap();
        let faults: Vec<String> = schema.iter_errors(&log).map(|error| error.to_string()).collect();
        assert!(faults.is_empty(), "{arguments:?}: {faults:?}");
        results += log["runs"][0]["results"].as_array().unwrap().len();
    }
    assert!(results > 5, "{results} results are too few to say anything");
}

#[test]
fn a_fingerprint_stays_when_its_line_moves() {
    let folder = files("format-fingerprints");
    let prints = || -> Vec<Value> {
        let log: Value = serde_json::from_str(&run(&folder, &["check", "broken"], "sarif", 1)).unwrap();
        log["runs"][0]["results"].as_array().unwrap().iter().map(|one| one["partialFingerprints"].clone()).collect()
    };
    let before = prints();
    fs::write(folder.join("broken/pack.toml"), format!("# moved\n\n{BROKEN}")).unwrap();
    assert_eq!(prints(), before);
    let mut unique: Vec<String> = before.iter().map(Value::to_string).collect();
    unique.sort();
    unique.dedup();
    assert_eq!(unique.len(), before.len());
}

#[test]
fn junit_holds_every_case() {
    let folder = files("format-junit");
    let text = run(&folder, &["test", "mixed"], "junit", 1);
    assert!(text.contains("tests=\"3\" failures=\"1\" errors=\"0\" skipped=\"1\""), "{text}");
    assert!(text.contains("<failure message=\"it &lt;b&gt;holds&lt;/b&gt;\">"), "{text}");
    assert!(!text.contains('\u{7}'));
    let text = run(&folder, &["test", "broken"], "junit", 1);
    assert!(text.contains("errors=\"1\"") && text.contains("pack/unknown-grammar"), "{text}");
    let output = rulebook(&folder, &["check", "good", "--format", "junit"], b"");
    assert_eq!(output.status.code(), Some(2));
}

#[test]
fn the_reports_keep_to_their_schemas() {
    let folder = files("format-schemas");
    for (arguments, status) in &COMMANDS[..4] {
        let name = arguments[0];
        let described = rulebook::schemas::of(name).unwrap();
        let schema = jsonschema::draft202012::new(&described.schema().unwrap()).unwrap();
        let arguments = if name == "test" { [*arguments, &["--coverage"]].concat() } else { arguments.to_vec() };
        let report: Value = serde_json::from_str(&run(&folder, &arguments, "json", *status)).unwrap();
        let faults: Vec<String> = schema.iter_errors(&report).map(|error| error.to_string()).collect();
        assert!(faults.is_empty(), "{arguments:?}: {faults:?}");
    }
}

/// The page about CI lists every format that the help does.
#[test]
fn the_page_about_ci_lists_every_format() {
    let folder = folder("formats-listed");
    let page = fs::read_to_string(root().join("docs/ci.md")).unwrap();
    for command in ["check", "test"] {
        let (help, _) = outputs(&folder, &[command, "--help"], "", 0);
        let (_, listed) = help.split_once("--format <FORMAT>").unwrap();
        let (listed, _) = listed.split_once("[default:").unwrap();
        let formats: Vec<&str> =
            listed.lines().filter_map(|line| line.trim_start().strip_prefix("- ")?.split(':').next()).collect();
        assert!(formats.len() > 4, "{help}");
        for format in formats {
            assert!(page.contains(&format!("| `{format}` |")), "docs/ci.md lists no `{format}`");
        }
    }
}
