//! Answers that are one object: real ones, and valid ones with every fault that models make.
//!
//! For each fault, every file is read unchanged, or a diagnostic reports that something is missing.

use super::corpus_dce::sha;
use super::dice::Dice;
use super::texts::ledger_is_exact;
use rulebook::outcome::Status;
use rulebook::{Folder, Options, Outcome, Program, Severity};
use serde_json::{Value, json};
use std::fmt::Write;
use std::sync::LazyLock;

static PROGRAM: LazyLock<Program> = LazyLock::new(|| {
    let pack = r#"
        [pack]
        name = "object"
        use = ["std:reasoning"]
        dialects = ["json"]
        [contents.file]
        key = "path"
        [degradation]
        duplicate-block = "keep-last"
    "#;
    let dialect = include_str!("../../rules/dce/json.toml");
    let folder = Folder::new("object", [("pack.toml", pack), ("json.toml", dialect)]);
    Program::load(&folder).value.unwrap()
});

fn run(response: &str) -> Outcome {
    PROGRAM.run_with(&PROGRAM.session(), response.as_bytes(), &Options::default())
}

fn streamed(response: &str, chunk: usize) -> Outcome {
    PROGRAM.run_with(&PROGRAM.session(), response.as_bytes(), &Options { chunk: Some(chunk), ..Options::default() })
}

fn files(outcome: &Outcome) -> Vec<(&str, &str)> {
    outcome.contents.iter().map(|content| (content.key.as_str(), &*content.text)).collect()
}

fn codes(outcome: &Outcome) -> Vec<&str> {
    outcome.diagnostics.iter().map(|found| found.code.bare()).collect()
}

fn sections(outcome: &Outcome) -> Vec<&str> {
    outcome.sections.iter().map(|section| section.name.as_str()).collect()
}

/// The texts of files as they are in the JSON, before a second decoding: the figures of the reference were computed
/// from these.
fn once_decoded(outcome: &Outcome, response: &str) -> Vec<(String, String)> {
    let decoded = |content: &rulebook::outcome::ContentBlock| {
        let twice = outcome.diagnostics.iter().any(|found| {
            found.code == "response/unescaped" && (content.span.start..content.span.end).contains(&found.span.start)
        });
        let text = if twice {
            let found = outcome.diagnostics.iter().find(|found| {
                found.code == "response/unescaped" && (content.span.start..content.span.end).contains(&found.span.start)
            });
            let span = &found.unwrap().span;
            serde_json::from_str(&format!("\"{}\"", &response[span.start..span.end])).unwrap()
        } else {
            content.text.to_string()
        };
        (content.key.clone(), text)
    };
    outcome.contents.iter().map(decoded).collect()
}

#[test]
fn real_answers_give_the_files_of_the_reference() {
    let mut read = 0;
    for line in include_str!("../corpus/dce/reference.jsonl").lines() {
        let reference: Value = serde_json::from_str(line).unwrap();
        let file = reference["file"].as_str().unwrap();
        if !("069.txt"..="089.txt").contains(&file) {
            continue;
        }
        read += 1;
        let response = std::fs::read_to_string(format!("tests/corpus/dce/{file}")).unwrap();
        let outcome = run(&response);
        let expected: Vec<(String, String)> = reference["files"]
            .as_array()
            .unwrap()
            .iter()
            .map(|file| (file["path"].as_str().unwrap().to_owned(), file["sha"].as_str().unwrap().to_owned()))
            .collect();
        let got: Vec<(String, String)> =
            once_decoded(&outcome, &response).into_iter().map(|(path, text)| (path, sha(&text))).collect();
        assert_eq!(got, expected, "{file}");
        let steps = reference["n_coa"].as_u64().unwrap() as usize;
        let course = outcome.sections.iter().find(|section| section.name == "course_of_action").unwrap();
        let numbered = course.text.lines().filter(|line| line.starts_with(|first: char| first.is_ascii_digit()));
        assert_eq!(numbered.count(), steps, "{file}");
        ledger_is_exact(&outcome, &response);
        assert_eq!((outcome.ledger.stray, outcome.ledger.dropped, outcome.status), (0, 0, Status::Clean), "{file}");
        for chunk in [1, 7, 4096] {
            assert_eq!(streamed(&response, chunk), outcome, "{file} in pieces of {chunk}");
        }
        let crlf = run(&response.replace('\n', "\r\n"));
        assert_eq!(files(&crlf), files(&outcome), "{file} with other line ends");
    }
    assert_eq!(read, 11);
}

#[test]
fn faults_of_real_answers_are_named() {
    let named = |file: &str| {
        let response = std::fs::read_to_string(format!("tests/corpus/dce/{file}.txt")).unwrap();
        let outcome = run(&response);
        let mut codes: Vec<String> = codes(&outcome).into_iter().map(str::to_owned).collect();
        codes.sort();
        codes.dedup();
        (codes, sections(&outcome).join(" "))
    };
    let check = |file: &str, expected: &[&str], sections: &str| {
        let expected = expected.iter().map(|code| (*code).to_owned()).collect();
        assert_eq!(named(file), (expected, sections.to_owned()), "{file}");
    };
    check("069", &["fault-code-fence"], "summary course_of_action");
    check("071", &[], "summary course_of_action curator_activity");
    check("075", &["duplicate-key", "unescaped"], "summary course_of_action curator_activity");
    check("079", &["fault-extra-brace"], "summary course_of_action curator_activity files_updated");
    check("081", &["fault-missing-brace"], "summary course_of_action curator_activity");
    check("083", &["fault-stray-quote"], "summary course_of_action curator_activity");
    check("085", &[], "summary course_of_action files_updated");
    check("087", &["fault-stray-quote", "unescaped"], "summary course_of_action");
}

/// Texts of files that look like the JSON around them.
const BODIES: &[&str] = &[
    "# Artifact A1: Master List\n# Date\n\n- **Key:** \"Source of Truth\"\n- x\n",
    "import React from \"react\";\n\nexport const A = ({ x }) => <div className=\"a\">{x}</div>;\n",
    "{\n  \"name\": \"demo\",\n  \"scripts\": {\n    \"build\": \"tsc\",\n    \"test\": \"jest\"\n  },\n  \"files\": [\"dist\", \"src\"]\n}\n",
    "print('hi')\nx = {'a': 1, 'b': [1, 2]}\nprint(f\"{x}\")\n",
    "const o = {\"a\": \"b\", \"c\": 1};\nfoo([{\"a\": \"x\"}, {\"a\": \"y\"}]);\n",
    "He said \"yes\", and then \"no\".\n\nTwo lines.\n",
    "const re = /\\n+/g;\nconst s = \"a\\nb\\t\";\nconsole.log(s.split(\"\\n\"));\n",
    "<a href=\"x\">y</a>\n<!-- \"quoted\" -->\n",
    "{\"users\": [{\"id\": 1, \"name\": \"A\"}, {\"id\": 2, \"name\": \"B\"}]}\n",
    "a,b\n\"x\",\"y\"\n\"1\",\"2\"\n",
    "key: \"value\"\nlist:\n  - \"a\": \"b\"\n  - c\n",
    "no line break",
    "const t = `{\"path\":\"x\"}`;\n",
    "fn main() { println!(\"{}\", \"a\"); }\n",
    "if (a) {\n  return [\"x\", \"y\"];\n}\n",
    "ends with a quote \"q\"",
    "ends with a brace {\"a\": \"b\"}",
    "ends with a list [\"a\", \"b\"]",
    "| a | b |\n|---|---|\n| \"x\" | \\| |\n",
    "über “smart” ‑ 日本 🙂\n",
];

struct Answer {
    summary: &'static str,
    steps: usize,
    listed: bool,
    files: Vec<&'static str>,
}

impl Answer {
    fn roll(dice: &mut Dice) -> Self {
        let summaries = ["Did it.", "Changed \"x\" and y, then z.", "One.\n\nTwo."];
        Self {
            summary: dice.pick(&summaries),
            steps: 1 + dice.below(3),
            listed: dice.below(2) == 0,
            files: (0..1 + dice.below(5)).map(|_| dice.pick(BODIES)).collect(),
        }
    }

    fn expected(&self) -> Vec<(String, String)> {
        self.files.iter().enumerate().map(|(number, body)| (format!("src/f{number}.ts"), (*body).to_owned())).collect()
    }

    /// The answer as one line of JSON, in which `written` writes each body.
    fn print(&self, mut written: impl FnMut(&str) -> String) -> String {
        let steps: Vec<Value> = (1..=self.steps)
            .map(|step| json!({ "step": step, "description": "Use \"foo\" in {x}, [y], \"z\": 1." }))
            .collect();
        let mut text = format!("{{\"summary\":{},\"course_of_action\":{}", json!(self.summary), json!(steps));
        if self.listed {
            let paths: Vec<String> = self.expected().into_iter().map(|(path, _)| path).collect();
            let _ = write!(text, ",\"files_updated\":{}", json!(paths));
        }
        text.push_str(",\"files\":[");
        for (number, (path, body)) in self.expected().iter().enumerate() {
            let comma = if number > 0 { "," } else { "" };
            let _ = write!(text, "{comma}{{\"path\":{},\"content\":\"{}\"}}", json!(path), written(body));
        }
        text + "]}"
    }

    #[track_caller]
    fn check(&self, response: &str) {
        let outcome = run(response);
        let got: Vec<(String, String)> =
            outcome.contents.iter().map(|content| (content.key.clone(), content.text.to_string())).collect();
        assert_eq!(got, self.expected(), "{response}\n{:?}", codes(&outcome));
        let text = |name: &str| outcome.sections.iter().find(|section| section.name == name).map(|it| it.text.as_str());
        assert_eq!(text("summary"), Some(self.summary), "{response}");
        assert_eq!(text("course_of_action").map(|text| text.lines().count()), Some(self.steps), "{response}");
        assert_eq!(text("files_updated").is_some(), self.listed, "{response}");
        ledger_is_exact(&outcome, response);
    }
}

fn escaped(body: &str) -> String {
    let quoted = json!(body).to_string();
    quoted[1..quoted.len() - 1].to_owned()
}

/// Faults between two files, and at the end.
const BETWEEN: &[&str] = &[
    "\"}},{\"path\"",
    "\"},\"{\"path\"",
    "\"},\"path\"",
    "\",{\"path\"",
    "\",\"path\"",
    "\"}{\"path\"",
    "\"}],\"files\":[{\"path\"",
    "\"},,{\"path\"",
    "\"}\n  }\n,\n  {\"path\"",
];
const TAILS: &[&str] = &[
    "\"}}", "\"}]\"}", "\"}", "\"}]", "\"}]}}", "\"}]\"", "\"}}]}", "\"]}", "\"}]}]}", "\",},],}", "\"}],}", "\"}\"]}",
    "\"\n}\n]\n\"\n}",
];

fn wrapped(dice: &mut Dice, text: &str) -> String {
    match dice.below(8) {
        0 => format!("```json\n{text}\n```"),
        1 => format!("Here is the JSON:\n\n```json\n{text}\n```\n\nLet me know!"),
        2 => format!("\u{feff}{text}\n"),
        3 => format!("Here is the {{JSON}}:\n{text}"),
        4 => format!("{text}\n\nHope this helps.\n"),
        _ => text.to_owned(),
    }
}

#[test]
fn no_fault_loses_a_file() {
    let mut dice = Dice(1);
    for _ in 0..1500 {
        let answer = Answer::roll(&mut dice);
        let valid = answer.print(escaped);
        answer.check(&wrapped(&mut dice, &valid));
        let mut broken = valid.clone();
        for _ in 0..1 + dice.below(2) {
            let seams: Vec<usize> = broken.match_indices("\"},{\"path\"").map(|(at, _)| at).collect();
            for at in seams.into_iter().rev() {
                if dice.below(2) == 0 {
                    broken.replace_range(at..at + "\"},{\"path\"".len(), dice.pick(BETWEEN));
                }
            }
        }
        if dice.below(2) == 0 {
            broken.truncate(broken.len() - "\"}]}".len());
            broken.push_str(dice.pick(TAILS));
        }
        if dice.below(6) == 0 {
            broken = broken.replacen("],\"files\":", "]},\"files\":", 1);
        }
        answer.check(&wrapped(&mut dice, &broken));
    }
}

/// Removes or doubles each punctuation mark and quote of an answer. If a file is then not read unchanged, there has to
/// be a warning.
#[test]
fn a_missing_or_doubled_mark_loses_no_file_silently() {
    let compact = r##"{"summary":"Two files.","course_of_action":[{"step":1,"description":"Write a."},{"step":2,"description":"Say \"b\"."}],"files_updated":["src/a.ts","src/b.ts","docs/c.md"],"curator_activity":"Run.","files":[{"path":"src/a.ts","content":"let a = 1;\nlog(\"x\\n\", {a});\n"},{"path":"src/b.ts","content":"let b = [2];\n"},{"path":"docs/c.md","content":"# C\n\n- {x}\n"}]}"##;
    let value: Value = serde_json::from_str(compact).unwrap();
    for answer in [compact.to_owned(), serde_json::to_string_pretty(&value).unwrap()] {
        let expected = run(&answer);
        let texts = |outcome: &Outcome| -> Vec<(String, String)> {
            files(outcome).iter().map(|(path, text)| ((*path).to_owned(), text.trim_end().to_owned())).collect()
        };
        for (at, mark) in answer.char_indices().filter(|(_, c)| "{}[],:\"".contains(*c)) {
            let (before, behind) = (&answer[..at], &answer[at + 1..]);
            for broken in [format!("{before}{behind}"), format!("{before}{mark}{mark}{behind}")] {
                let outcome = run(&broken);
                ledger_is_exact(&outcome, &broken);
                let warned = outcome.diagnostics.iter().any(|found| found.severity > Severity::Info);
                // A mark inside a text is part of that text, so the text may differ by that mark alone.
                let near = |one: &[(String, String)], other: &[(String, String)]| {
                    one.len() == other.len()
                        && one.iter().zip(other).all(|((path, text), (other, known))| {
                            path.len().abs_diff(other.len()) <= 1 && text.len().abs_diff(known.len()) <= 3
                        })
                };
                assert!(warned || near(&texts(&outcome), &texts(&expected)), "{broken}\n{:?}", files(&outcome));
            }
        }
    }
}

#[test]
fn unescaped_quotes_and_line_breaks_are_read_as_meant() {
    let mut dice = Dice(2);
    for _ in 0..1000 {
        let answer = Answer::roll(&mut dice);
        let (quotes, breaks) = dice.pick(&[(true, false), (false, true), (true, true)]);
        let mut coin = Dice(dice.below(1 << 30) as u64);
        let broken = answer.print(|body| {
            if coin.below(3) == 0 {
                return escaped(body);
            }
            let mut body = body.replace('\\', "\\\\");
            if !quotes {
                body = body.replace('"', "\\\"");
            }
            if !breaks {
                body = body.replace('\n', "\\n");
            }
            body
        });
        answer.check(&wrapped(&mut dice, &broken));
    }
}

#[test]
fn an_answer_that_is_cut_off_gives_what_is_whole_and_names_what_is_not() {
    let mut dice = Dice(3);
    for _ in 0..40 {
        let answer = Answer::roll(&mut dice);
        let valid = answer.print(escaped);
        let start = valid.find("\"files\":[").unwrap() + "\"files\":[".len();
        let seams = valid.match_indices("\"},{\"path\":\"src/f").map(|(at, _)| at + 2);
        let ends: Vec<usize> = seams.chain([valid.len() - 2]).collect();
        for cut in (start..valid.len()).filter(|cut| valid.is_char_boundary(*cut)) {
            let response = &valid[..cut];
            let outcome = run(response);
            ledger_is_exact(&outcome, response);
            let whole = ends.iter().filter(|end| **end <= cut).count();
            let got = files(&outcome);
            assert!(got.len() >= whole, "{response}");
            for (number, (path, text)) in got.iter().enumerate().take(whole) {
                assert_eq!((*path, *text), (format!("src/f{number}.ts").as_str(), answer.files[number]), "{response}");
            }
            // Any further file was cut off, and has to be reported as such.
            if got.len() > whole {
                assert!(codes(&outcome).contains(&"unclosed-block"), "{response}\n{:?}", outcome.diagnostics);
            }
            assert!(codes(&outcome).iter().any(|code| code.starts_with("fault-missing")), "{response}");
        }
    }
}

#[test]
fn valid_json_gives_the_value_that_it_has() {
    let mut dice = Dice(4);
    for _ in 0..500 {
        let content: String = (0..dice.below(12))
            .map(|_| {
                dice.pick(&[
                    "\\", "\"", "\n", "\r", "\t", "n", "{", "}", "]", ",", "\u{0}", "é", "🙂", "/", ":", "\\n", "path",
                ])
            })
            .collect();
        // A text that looks escaped twice is decoded again, which other tests cover.
        if content.contains("\\n") && !content.contains(['\n', '\r']) {
            continue;
        }
        let value = json!({ "files": [{ "path": "a", "content": content }], "summary": content });
        for text in [value.to_string(), format!("{value:#}")] {
            let outcome = run(&text);
            assert_eq!(files(&outcome), [("a", content.as_str())], "{text}");
            assert_eq!(outcome.sections[0].text, content, "{text}");
            assert_eq!(codes(&outcome), Vec::<&str>::new(), "{text}");
        }
    }
}

#[test]
fn any_cutting_of_an_object_gives_the_same_outcome_and_an_exact_ledger() {
    let pieces = [
        "{",
        "}",
        "[",
        "]",
        ",",
        ":",
        "\"",
        "\"path\":",
        "\"content\":",
        "\"summary\":",
        "\"files\":",
        "\"x\"",
        "\"a b\"",
        "1",
        "null",
        "True",
        " ",
        "\n",
        "```json\n",
        "```",
        "Words.",
        "\\",
        "\\n",
        "\\\\n",
        "{\"path\":\"a\",\"content\":\"b\"}",
        "é",
        "'",
        "// c\n",
        "/*",
        "{\"summary\":\"x\",\"files\":[",
        "}]}",
        "\u{feff}",
        "course_of_action",
    ];
    let mut dice = Dice(5);
    for _ in 0..4000 {
        let mut response: String = (0..1 + dice.below(16)).map(|_| dice.pick(&pieces)).collect();
        if dice.below(2) == 0 {
            response.insert_str(0, "{\"summary\":");
        }
        let whole = run(&response);
        ledger_is_exact(&whole, &response);
        let mut reported = Vec::new();
        for chunk in [1, 3, 1 << 20] {
            let mut reader = PROGRAM.reader(&PROGRAM.session(), &Options::default());
            let mut announced = Vec::new();
            for piece in response.as_bytes().chunks(chunk) {
                announced.extend(reader.push(piece));
            }
            let (outcome, last) = reader.finish();
            assert_eq!(outcome, whole, "{response} in pieces of {chunk}");
            announced.extend(last);
            reported.push(announced);
        }
        assert_eq!((&reported[0], &reported[1]), (&reported[1], &reported[2]), "{response}");
    }
}
