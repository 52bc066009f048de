//! Real answers: are their files and sections found, and nothing else?
//!
//! The answers of `tests/corpus/dce`, compared with a reference; each is also cut into pieces, and read with CRLF line
//! breaks.

use super::texts::{ledger_is_exact, program};
use rulebook::{Options, Outcome, Program};
use serde_json::Value;
use std::collections::BTreeMap;

const FOLDER: &str = "tests/corpus/dce";

const PACK: &str = "rules/dce";

/// An answer, and its dialect.
struct Answer {
    file: String,
    dialect: String,
    text: String,
}

fn answers(dialects: &[&str]) -> Vec<Answer> {
    let index = std::fs::read_to_string(format!("{FOLDER}/index.tsv")).unwrap();
    let rows = index.lines().skip(1).map(|row| row.split('\t').collect::<Vec<_>>());
    let found: Vec<Answer> = rows
        .filter(|row| dialects.contains(&row[6]))
        .map(|row| Answer {
            file: row[0].to_owned(),
            dialect: row[6].to_owned(),
            text: std::fs::read_to_string(format!("{FOLDER}/{}", row[0])).unwrap(),
        })
        .collect();
    assert!(!found.is_empty());
    found
}

fn run(program: &Program, text: &str, chunk: Option<usize>) -> Outcome {
    let options = Options { chunk, ..Options::default() };
    let outcome = program.run_with(&program.session(), text.as_bytes(), &options);
    ledger_is_exact(&outcome, text);
    outcome
}

/// Checks that cuts and other line breaks do not change what is read. Returns the outcome of the whole answer.
fn read_in_every_way(program: &Program, answer: &Answer) -> Outcome {
    let whole = run(program, &answer.text, None);
    let reported = serde_json::to_value(&whole).unwrap();
    for size in [1, 7, 4096] {
        let cut = serde_json::to_value(run(program, &answer.text, Some(size))).unwrap();
        assert_eq!(cut, reported, "{} in pieces of {size}", answer.file);
    }
    let unix = answer.text.replace("\r\n", "\n");
    let windows = run(program, &unix.replace('\n', "\r\n"), None);
    let unix = run(program, &unix, None);
    assert_eq!(contents(&windows), contents(&unix), "{} with CRLF", answer.file);
    assert_eq!(sections(&windows), sections(&unix), "{} with CRLF", answer.file);
    let bare = |text: &str| text.replace("\r\n", "").contains(['\r', '\n']);
    assert!(
        windows.contents.iter().all(|content| !bare(&content.text)),
        "{}: bodies keep their line ends",
        answer.file
    );
    whole
}

fn contents(outcome: &Outcome) -> Vec<(String, String)> {
    let text = |text: &str| text.replace("\r\n", "\n");
    outcome.contents.iter().map(|content| (content.key.clone(), text(&content.text))).collect()
}

fn sections(outcome: &Outcome) -> Vec<(String, String)> {
    let text = |text: &str| text.replace("\r\n", "\n");
    outcome.sections.iter().map(|section| (section.name.clone(), text(&section.text))).collect()
}

fn names(outcome: &Outcome) -> Vec<&str> {
    outcome.sections.iter().map(|section| section.name.as_str()).collect()
}

fn paths(outcome: &Outcome) -> Vec<&str> {
    outcome.contents.iter().map(|content| content.key.as_str()).collect()
}

#[test]
fn the_files_of_xml_and_header_answers_are_exactly_those_of_the_reference() {
    let program = program(PACK);
    let lines = std::fs::read_to_string(format!("{FOLDER}/reference.jsonl")).unwrap();
    let reference: BTreeMap<String, Value> = lines
        .lines()
        .map(|line| serde_json::from_str::<Value>(line).unwrap())
        .map(|reference| (reference["file"].as_str().unwrap().to_owned(), reference))
        .collect();
    let mut files = 0;
    for answer in answers(&["xml", "header"]) {
        let outcome = read_in_every_way(program, &answer);
        assert_eq!(outcome.dialect.as_deref(), Some(answer.dialect.as_str()), "{}", answer.file);
        // If a path occurs several times, the last one counts, at the place of the first.
        let mut expected: Vec<&Value> = Vec::new();
        for file in reference[&answer.file]["files"].as_array().unwrap() {
            match expected.iter_mut().find(|known| known["path"] == file["path"]) {
                Some(known) => *known = file,
                None => expected.push(file),
            }
        }
        let known: Vec<&str> = expected.iter().map(|file| file["path"].as_str().unwrap()).collect();
        assert_eq!(paths(&outcome), known, "{}", answer.file);
        for (content, file) in outcome.contents.iter().zip(expected) {
            if file["how"] != "UNCLOSED" {
                assert_eq!(
                    sha(content.text.trim()),
                    file["sha"].as_str().unwrap(),
                    "{}: {}",
                    answer.file,
                    file["path"]
                );
                files += 1;
            }
        }
    }
    assert!(files > 200, "{files}");
}

/// The sections of every answer, as listed by hand.
#[test]
fn the_sections_of_every_answer_are_found() {
    const HEADED: &[&str] = &["summary", "course_of_action", "files_updated"];
    const TAGGED: &[&str] = &["summary", "course_of_action"];
    let program = program(PACK);
    for answer in answers(&["xml", "header", "pathtag", "filenametag"]) {
        let outcome = run(program, &answer.text, None);
        let expected: &[&str] = match answer.file.as_str() {
            "005.txt" => &["summary", "files_updated"],
            "031.txt" => TAGGED,
            "033.txt" | "035.txt" => &["summary"],
            "053.txt" => HEADED,
            _ if answer.dialect == "xml" => TAGGED,
            _ => HEADED,
        };
        assert_eq!(names(&outcome), expected, "{}", answer.file);
        assert_eq!(outcome.message, outcome.sections[0].text, "{}: the message is the summary", answer.file);
        for section in &outcome.sections {
            assert!(!section.text.trim().is_empty() && !section.text.contains("<file path=\"src"), "{}", answer.file);
            assert!(!section.text.ends_with("```xml") && !section.text.ends_with("***"), "{}", answer.file);
        }
    }
}

/// The files of `path-tag` and `filename-tag` answers, as listed by hand.
#[test]
fn files_in_tags_of_their_own_name_are_found() {
    let program = program(PACK);
    let view = "src/client/views/parallel-copilot.view";
    let expected: BTreeMap<&str, (&str, Vec<String>)> = BTreeMap::from([
        (
            "015.txt",
            (
                "path-tag",
                ["view.tsx", "TestPane1.tsx", "TestPane2.tsx", "TestPane3.tsx"]
                    .map(|name| format!("{view}/{name}"))
                    .to_vec(),
            ),
        ),
        (
            "017.txt",
            (
                "path-tag",
                vec![
                    "src/Artifacts/A49. DCE - Phase 2 - File Association & Diffing Plan.md".to_owned(),
                    "src/backend/services/fs.service.ts".to_owned(),
                    format!("{view}/view.tsx"),
                    format!("{view}/on-message.ts"),
                    format!("{view}/view.scss"),
                ],
            ),
        ),
        (
            "019.txt",
            (
                "path-tag",
                vec![
                    "src/client/utils/response-parser.ts".to_owned(),
                    "src/backend/services/fs.service.ts".to_owned(),
                    format!("{view}/view.tsx"),
                ],
            ),
        ),
        (
            "021.txt",
            (
                "path-tag",
                vec![
                    "src/Artifacts/A0. DCE Master Artifact List.md".to_owned(),
                    "src/Artifacts/A1. DCE - Project Vision and Goals.md".to_owned(),
                    "src/Artifacts/A34. DCE - Phase 2 - Parallel Co-Pilot Panel - Vision & Requirements.md".to_owned(),
                    "src/Artifacts/A35. DCE - Phase 2 - UI Mockups and Flow.md".to_owned(),
                    "src/Artifacts/A39. DCE - Phase 2 - Cycle Navigator - Technical Plan.md".to_owned(),
                    "src/Artifacts/A43. DCE - Phase 2 - Implementation Roadmap.md".to_owned(),
                    "src/Artifacts/A50. DCE - Phase 2 - UI Component Plan (Resizable Panes & Inner Editors).md"
                        .to_owned(),
                    "package.json".to_owned(),
                    "src/backend/services/history.service.ts".to_owned(),
                    "src/common/ipc/channels.enum.ts".to_owned(),
                    "src/common/ipc/channels.type.ts".to_owned(),
                    format!("{view}/on-message.ts"),
                    format!("{view}/view.scss"),
                    format!("{view}/view.tsx"),
                    "src/client/components/DiffViewer.tsx".to_owned(),
                ],
            ),
        ),
        ("023.txt", ("path-tag", vec!["src/client/views/context-chooser.view/view.tsx".to_owned()])),
        (
            "025.txt",
            (
                "filename-tag",
                [
                    "A34. DCE - Phase 2 - Parallel Co-Pilot Panel - Vision & Requirements.md",
                    "A35. DCE - Phase 2 - UI Mockups and Flow.md",
                    "A36. DCE - Phase 2 - Technical Implementation Plan.md",
                    "A44. DCE - Phase 1 - Word Document Handling Strategy.md",
                    "package.json",
                    "src/client/views/context-chooser.view/view.tsx",
                    "src/backend/services/flattener.service.ts",
                    "src/backend/services/fs.service.ts",
                ]
                .map(str::to_owned)
                .to_vec(),
            ),
        ),
        (
            "027.txt",
            (
                "filename-tag",
                [
                    "webpack.config.js",
                    "src/backend/services/fs.service.ts",
                    "src/backend/services/flattener.service.ts",
                ]
                .map(str::to_owned)
                .to_vec(),
            ),
        ),
        (
            "033.txt",
            (
                "filename-tag",
                ["A6. DCE - Initial Scaffolding Deployment Script.md", "deploy_scaffold.js"]
                    .map(str::to_owned)
                    .to_vec(),
            ),
        ),
        (
            "035.txt",
            (
                "filename-tag",
                [
                    "bootstrap-flattener.js",
                    "flatten-docs.js",
                    "A4. DCE - Analysis of The-Creator-AI Repo.md",
                    "A1. DCE - Project Vision and Goals.md",
                    "A2. DCE - Phase 1 - Context Chooser - Requirements & Design.md",
                    "A3. DCE - Technical Scaffolding Plan.md",
                ]
                .map(str::to_owned)
                .to_vec(),
            ),
        ),
    ]);
    let mut seen = 0;
    for answer in answers(&["pathtag", "filenametag"]) {
        let outcome = read_in_every_way(program, &answer);
        let (dialect, files) = &expected[answer.file.as_str()];
        assert_eq!(
            (outcome.dialect.as_deref(), paths(&outcome)),
            (Some(*dialect), files.iter().map(String::as_str).collect()),
            "{}",
            answer.file
        );
        // The bodies were removed before the answers were published.
        assert!(outcome.contents.iter().all(|content| content.text.trim().is_empty()), "{}", answer.file);
        seen += 1;
    }
    assert_eq!(seen, expected.len());
}

#[test]
fn chatter_and_fragments_are_no_answer() {
    let program = program(PACK);
    for answer in answers(&["analysis-chatter", "sse-fragments"]) {
        let outcome = read_in_every_way(program, &answer);
        assert_eq!((outcome.dialect.as_deref(), outcome.contents.len()), (None, 0), "{}", answer.file);
        assert!(outcome.diagnostics.iter().any(|one| one.code == "response/no-dialect"), "{}", answer.file);
    }
}

#[test]
fn a_file_that_an_answer_breaks_off_in_is_not_written() {
    let program = program(PACK);
    let cut_off = |text: &str| {
        let options = Options { truncated: true, ..Options::default() };
        let outcome = program.run_with(&program.session(), text.as_bytes(), &options);
        let effects = serde_json::to_value(&outcome.effects).unwrap();
        let written = effects.as_array().unwrap().iter().filter(|effect| effect["kind"] == "write");
        let word = |effect: &Value, key: &str| effect[key].as_str().unwrap().to_owned();
        written.map(|effect| (word(effect, "key"), word(effect, "text"))).collect::<Vec<_>>()
    };
    let summary = "<summary>\ns\n</summary>\n";
    for tail in [
        "<file path=\"a.ts\">\nif (s.includes(\"</file>\")) {\n  go();\nlin",
        "<file path=\"a.md\">\n```sh\nnpm test\n```\n\nThe next step is",
        "<file path=\"a.md\">\n# X\n<details>\n<summary>\nMore\n",
    ] {
        assert_eq!(cut_off(&format!("{summary}{tail}")), [], "{tail}");
    }
    let mut cuts = 0;
    for answer in answers(&["header", "xml"]) {
        let whole: BTreeMap<String, String> = contents(&run(program, &answer.text, None)).into_iter().collect();
        let step = answer.text.len() / 60 + 1;
        for end in (0..answer.text.len()).step_by(step).filter(|end| answer.text.is_char_boundary(*end)) {
            for (key, text) in cut_off(&answer.text[..end]) {
                let meant = &whole[&key];
                assert!(text == *meant || !meant.starts_with(&text), "{} at {end}: half of {key}", answer.file);
                cuts += 1;
            }
        }
    }
    assert!(cuts > 1000, "{cuts}");
}

/// The first 16 hexadecimal digits of the SHA-256 of a text.
pub(crate) fn sha(text: &str) -> String {
    use sha2::{Digest, Sha256};
    Sha256::digest(text).iter().take(8).map(|byte| format!("{byte:02x}")).collect()
}
