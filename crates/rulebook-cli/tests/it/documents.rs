//! Documents: is an edit announced, additive, atomic, and never lost to another writer?

use crate::apply::applied;
use crate::command::{at_terminal, ended, folder};
use rulebook::outcome::{Effect, EffectRecord};
use rulebook_fs::Change;
use serde_json::{Value, json};
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Stdio;
use std::time::Duration;

const PACK: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/../../tests/packs/files");
const SPEC: &str = "# Requirements\n\nIntro.\n\n## User Journeys\n\n* one\n\n## Risks\n\nNone.\n";

fn root(name: &str) -> PathBuf {
    let root = folder(name).join("root");
    fs::create_dir(&root).unwrap();
    fs::write(root.join("spec.md"), SPEC).unwrap();
    fs::write(root.join("meta.json"), "{\"id\": 1.50, \"entries\": []}").unwrap();
    root
}

fn insight(file: &str, section: &str, text: &str) -> String {
    format!("<action type=\"insight\"><file>{file}</file><section>{section}</section><text>{text}</text></action>\n")
}

fn log(text: &str) -> String {
    format!("<action type=\"log\"><text>{text}</text></action>\n")
}

fn command(root: &Path, arguments: &[&str], answer: &str) -> (i32, String) {
    let arguments = [&["apply", PACK, "-", "--root", "root", "--now", "2026-02-20T14:30:00.000Z"], arguments].concat();
    let (status, out, err) = ended(root.parent().unwrap(), &arguments, answer);
    assert_eq!(err, "");
    (status, out)
}

fn record(text: &str) -> EffectRecord {
    let effect =
        Effect::Record { key: "meta.json".into(), path: "entries".into(), value: json!({ "text": text }).into() };
    EffectRecord { cause: "p:1:1".parse().ok(), ..EffectRecord::from(effect) }
}

fn entries(root: &Path) -> Vec<String> {
    let meta: Value = serde_json::from_slice(&fs::read(root.join("meta.json")).unwrap()).unwrap();
    assert_eq!(meta["id"], 1.5);
    meta["entries"].as_array().unwrap().iter().map(|entry| entry["text"].as_str().unwrap().to_owned()).collect()
}

#[test]
fn an_edit_says_which_section_it_took() {
    let root = root("documents-edit");
    let answer = insight("spec.md", "The user", "Two.")
        + &insight("spec.md", "nowhere", "More.")
        + &insight("none.md", "x", "y")
        + &log("a");
    let (status, out) = command(&root, &["--dry-run"], &answer);
    assert!(status == 0 && out.contains("+<!-- 2026-02-20T14:30:00.000Z -->\n+Two.\n"), "{out}");
    assert_eq!(fs::read_to_string(root.join("spec.md")).unwrap(), SPEC);

    let (status, out) = command(&root, &[], &answer);
    assert_eq!(status, 0, "{out}");
    assert!(out.contains("Updated spec.md, section \"User Journeys\": added 4 characters.\n"), "{out}");
    assert!(out.contains("Updated spec.md, section \"Additional insights\": added 5 characters.\n"), "{out}");
    assert!(out.contains("none.md could not be updated.\n"), "{out}");
    assert!(out.contains("warning[workspace/no-document]: there is no document `none.md`"), "{out}");
    let marker = "<!-- 2026-02-20T14:30:00.000Z -->";
    let spec = SPEC.replace("* one\n\n", &format!("* one\n\n{marker}\nTwo.\n\n"))
        + &format!("\n### Additional insights\n\n{marker}\nMore.\n");
    assert_eq!(fs::read_to_string(root.join("spec.md")).unwrap(), spec);
    assert_eq!(
        fs::read_to_string(root.join("meta.json")).unwrap(),
        "{\n  \"id\": 1.50,\n  \"entries\": [\n    {\n      \"text\": \"a\"\n    }\n  ]\n}\n"
    );
}

#[test]
fn a_document_that_cannot_be_extended_stays_as_it_is() {
    let root = root("documents-broken");
    for (broken, code) in [
        ("{\"entries\": [}", "workspace/unreadable"),
        ("[]", "workspace/unreadable"),
        ("", "workspace/unreadable"),
        ("\u{1}\u{fffd}", "workspace/unreadable"),
    ] {
        fs::write(root.join("meta.json"), broken).unwrap();
        let (status, out) = command(&root, &[], &(insight("spec.md", "Risks", "x") + &log("a")));
        assert!(status == 1 && out.contains(code) && !out.contains("Updated"), "{out}");
        assert_eq!(fs::read_to_string(root.join("meta.json")).unwrap(), broken);
        assert_eq!(fs::read_to_string(root.join("spec.md")).unwrap(), SPEC);
    }
    fs::write(root.join("meta.json"), "{\"id\": 1.5, \"entries\": \"none\"}").unwrap();
    let (status, out) = command(&root, &[], &log("a"));
    assert!(status == 0 && out.contains("workspace/not-a-list"), "{out}");
    assert_eq!(entries(&root), ["a"]);
    fs::remove_file(root.join("meta.json")).unwrap();
    let (status, out) = command(&root, &[], &log("a"));
    assert!(status == 0 && out.contains("workspace/no-document") && !root.join("meta.json").exists(), "{out}");
    let (status, out) = command(&root, &[], &insight("spec.md", "Requirements", "```\nopen"));
    assert!(status == 1 && out.contains("workspace/not-additive"), "{out}");
}

#[test]
fn the_effects_of_an_answer_see_one_another() {
    let root = root("documents-order");
    let write = Effect::Write { key: "meta.json".into(), text: "{}".into(), new: false, executable: false };
    let effects = [record("lost"), EffectRecord::from(write), record("kept"), record("too")];
    let done = applied(&root, &effects);
    assert_eq!(done.count(Change::Replaced), 1);
    let meta: Value = serde_json::from_slice(&fs::read(root.join("meta.json")).unwrap()).unwrap();
    assert_eq!(meta, json!({ "entries": [{ "text": "kept" }, { "text": "too" }] }));
}

#[test]
fn two_writers_lose_nothing() {
    let root = root("documents-writers");
    std::thread::scope(|scope| {
        for writer in ["a", "b"] {
            let root = &root;
            scope.spawn(move || {
                for number in 0..100 {
                    let done = applied(root, &[record(&format!("{writer}{number}"))]);
                    assert_eq!(done.count(Change::Replaced), 1, "{done:?}");
                }
            });
        }
    });
    let entries = entries(&root);
    for writer in ["a", "b"] {
        let own: Vec<&String> = entries.iter().filter(|entry| entry.starts_with(writer)).collect();
        assert!(
            own.iter().map(|entry| entry.as_str()).eq((0..100)
                .map(|number| format!("{writer}{number}"))
                .collect::<Vec<_>>()
                .iter()
                .map(String::as_str))
        );
    }
    assert_eq!(fs::read_dir(&root).unwrap().count(), 2, "nothing of ours is left behind");
}

#[test]
fn a_kill_leaves_documents_whole() {
    let root = root("documents-kill");
    let home = root.parent().unwrap();
    fs::write(home.join("answer"), insight("spec.md", "Risks", "More.") + &log("a")).unwrap();
    let start = || {
        at_terminal(home, &["apply", PACK, "answer", "--root", "root", "--now", "now"])
            .stdout(Stdio::null())
            .spawn()
            .unwrap()
    };
    let whole = crate::apply::whole_run(start);
    let kills = crate::apply::kills();
    let (mut before, mut killed) = (entries(&root).len(), 0);
    for number in 0..kills {
        let mut child = start();
        std::thread::sleep(whole.mul_f64(1.1 * f64::from(number) / f64::from(kills)).max(Duration::from_millis(1)));
        _ = child.kill();
        killed += u32::from(!child.wait().unwrap().success());
        let now = entries(&root).len();
        assert!(now == before || now == before + 1);
        before = now;
        let spec = fs::read_to_string(root.join("spec.md")).unwrap();
        assert_eq!(spec.replace("<!-- now -->\nMore.\n\n", "").replace("\n<!-- now -->\nMore.\n", ""), SPEC);
    }
    assert!(killed > 0);
}
