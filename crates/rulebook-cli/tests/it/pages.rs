//! Pages: does every code have one, and do its snippets do what it says?
//!
//! `docs/codes/README.md` tells how the snippets are run.

use crate::snippets::{Snippet, files, snippets};
use rulebook::cases::{self, CaseOptions, Coverage, TurnResult};
use rulebook::diagnostic::{Page, page, pages, rows};
use rulebook::outcome::EffectRecord;
use rulebook::prompt::{Export, Request, read_history};
use rulebook::text::Source;
use rulebook::{Defect, Diagnostic, Folder, Provider, Remark, Sources, Strategy, Tools};
use rulebook_fs::{self, Applying, Root};
use std::collections::BTreeMap;

#[test]
fn every_code_has_a_page() {
    let mut missing = Vec::new();
    let mut want = |code: String| {
        if page(&code).is_none() {
            missing.push(code);
        }
    };
    rows().iter().for_each(|row| want(row.name.to_owned()));
    Defect::ALL.iter().for_each(|defect| want(format!("response/{defect}")));
    Remark::ALL.iter().for_each(|remark| want(format!("response/{remark}")));
    Strategy::ALL.iter().for_each(|strategy| want(strategy.name().to_owned()));
    want("response/fault".to_owned());
    assert!(missing.is_empty(), "write docs/codes/… for {missing:?} and name it in src/diagnostic/pages.rs");
}

#[test]
fn every_page_is_of_a_code_and_has_the_same_headings() {
    for page in pages() {
        let known = rows().iter().any(|row| row.name == page.code)
            || Strategy::from_name(page.code).is_some()
            || page.code.strip_prefix("response/").is_some_and(|name| {
                name == "fault" || Defect::from_name(name).is_some() || Remark::from_name(name).is_some()
            });
        assert!(known, "there is no code {}", page.code);
        let prose = page.text.split("```").step_by(2).collect::<String>();
        let headings: Vec<&str> = prose.lines().filter(|line| line.starts_with('#')).collect();
        let all = [&format!("# {}", page.code), "## Why it matters", "## What triggers it", "## Fixed"];
        assert!(
            headings.len() >= 2 && headings.iter().all(|heading| all.contains(heading)),
            "{}: {headings:?}",
            page.code
        );
    }
}

#[test]
fn every_page_shows_what_triggers_it() {
    let mut faults = Vec::new();
    for page in pages() {
        let has = |role: &str| snippets(page.text).iter().any(|snippet| snippet.has(role));
        // Internal errors have no snippet: we would fix one that triggers them.
        if (!has("trigger") && page.code != "internal/fault") || (has("trigger") && !has("fixed")) {
            faults.push(page.code);
        }
    }
    assert!(faults.is_empty(), "show it, or fix it: {faults:?}");
}

#[test]
fn every_snippet_does_what_its_page_says() {
    let mut faults = Vec::new();
    for page in pages() {
        let snippets = snippets(page.text);
        for (role, wanted) in [("trigger", true), ("fixed", false)] {
            let own: Vec<&Snippet> =
                snippets.iter().filter(|snippet| snippet.has(role) || snippet.has("pack")).collect();
            if !own.iter().any(|snippet| snippet.has(role)) {
                continue;
            }
            let found = found(page, &own);
            // All faults that grammars name share one page.
            let reports = |code: &String| match page.code {
                "response/fault" => code.starts_with("response/fault-"),
                own => code == own,
            };
            if found.iter().any(reports) != wanted {
                faults.push(format!("{} {role}: found {found:?}", page.code));
            }
        }
    }
    assert!(faults.is_empty(), "{}", faults.join("\n"));
}

/// The codes that the snippets trigger; for the page of a strategy, the strategies that act.
fn found(page: &Page, snippets: &[&Snippet]) -> Vec<String> {
    let (files, against) = files(snippets);
    let mut folder = Folder::new("page", files.clone());
    if page.code == "pack/use-cycle" {
        folder.others.insert(".".into(), Folder::new("page", [("x", "")]));
    }
    let loaded = rulebook::check::review(&folder);
    let mut found = codes(&loaded.diagnostics);
    let Some(program) = loaded.value else { return found };
    for snippet in snippets {
        if let Some(mode) = snippet.value("export") {
            let what = if snippet.value("as").is_some() { Export::JsonSchema } else { Export::OpenaiTools };
            found.extend(codes(&program.export(mode, what, true).diagnostics));
        }
        match snippet.language.as_str() {
            "text" if snippet.value("root").or(snippet.value("link")).is_some() => {}
            "text" => {
                let outcome = snippet.run(&program);
                found.extend(outcome.diagnostics.iter().map(|finding| finding.code.to_string()));
                found.extend(
                    outcome
                        .diagnostics
                        .iter()
                        .filter_map(|finding| finding.strategy)
                        .map(|strategy| strategy.to_string()),
                );
                if snippet.has("apply") {
                    found.extend(applied(page, snippets, &outcome.effects));
                }
            }
            "openai" | "anthropic" | "gemini" | "mcp" => {
                let provider = Provider::from_name(&snippet.language).unwrap();
                match program.judge_recorded(&program.session(), provider, &snippet.text, &Default::default()) {
                    Ok((_, outcome)) => found.extend(outcome.diagnostics.iter().map(|one| one.code.to_string())),
                    Err(faults) => found.extend(codes(&faults.diagnostics)),
                }
            }
            "case" => {
                let case = cases::parse(&mut Sources::default(), "page.case", snippet.text.as_bytes());
                found.extend(codes(&case.diagnostics));
                if let Some(case) = case.value {
                    let run = cases::run(&program, &case, CaseOptions { trace: true, ..CaseOptions::default() });
                    found.extend(codes(&run.diagnostics));
                    found.extend(run.failures.iter().map(|_| "case/failed".to_owned()));
                    let reported: Vec<&TurnResult> = run.results.iter().collect();
                    let covers = snippet.has("coverage") && Coverage::of(&program, &reported).percent() < 100;
                    found.extend(covers.then(|| "case/uncovered".to_owned()));
                }
            }
            "prompt" => {
                let kept = snippets.iter().find(|one| one.has("session")).map_or("{}", |one| one.text.as_str());
                let session = program.resume(serde_json::from_str::<rulebook::Value>(kept).unwrap()).unwrap();
                let request = Request {
                    prompt: snippet.value("prompt").map(str::to_owned),
                    model: snippet.value("model").map(str::to_owned),
                    message: Some(snippet.text.clone()),
                    ..Request::default()
                };
                found.extend(codes(&program.prompt(&session, &request).found));
            }
            "history" => {
                let mut sources = Sources::default();
                let file = Source::new("page.jsonl", snippet.text.as_str());
                let id = sources.add(file.clone());
                found.extend(read_history(id, &file).err().iter().flat_map(|faults| codes(faults)));
            }
            "json" if snippet.has("session") => {}
            "json" if snippet.has("tools") => match Tools::read(&snippet.text).into_result() {
                Ok(tools) => found.extend(codes(&program.with_tools(&tools).diagnostics)),
                Err(faults) => found.extend(codes(&faults.diagnostics)),
            },
            "jsonl" => found.extend(replayed(page, &files, &against, &snippet.text)),
            "json" => {
                let partial: rulebook::Value = serde_json::from_str(&snippet.text).unwrap();
                found.extend(program.resume(&partial).err().iter().flat_map(|faults| codes(&faults.diagnostics)));
            }
            _ => {}
        }
    }
    found
}

/// The codes that are reported if the files of an answer are written below a root with the files of the other snippets.
fn applied(page: &Page, snippets: &[&Snippet], effects: &[EffectRecord]) -> Vec<String> {
    let folder = crate::command::folder(&format!("page-{}", page.code.replace('/', "-")));
    for snippet in snippets {
        let target = |name| snippet.value(name).map(|path| folder.join(path));
        for path in target("root").iter().chain(&target("link")) {
            std::fs::create_dir_all(path.parent().unwrap()).unwrap();
        }
        if let Some(path) = target("root") {
            std::fs::write(&path, snippet.bytes()).unwrap();
            let mut permissions = path.metadata().unwrap().permissions();
            permissions.set_readonly(snippet.has("read-only"));
            std::fs::set_permissions(path, permissions).unwrap();
        }
        if let Some(path) = target("link") {
            #[cfg(unix)]
            std::os::unix::fs::symlink(&snippet.text, path).unwrap();
        }
    }
    let applied = rulebook_fs::apply(&Root::open(&folder).unwrap(), effects, Applying::default());
    applied.faults().map(|(_, fault)| fault.code.to_string()).collect()
}

/// The codes that `replay` reports for a file of answers, against a pack with the one table file `against`.
fn replayed(page: &Page, files: &BTreeMap<String, String>, against: &str, answers: &str) -> Vec<String> {
    let folder = crate::command::folder(&format!("page-{}", page.code.replace('/', "-")));
    let own = files.iter().map(|(path, text)| (folder.join("pack").join(path), text.as_str()));
    for (path, text) in own.chain([(folder.join("against/pack.toml"), against)]) {
        std::fs::create_dir_all(path.parent().unwrap()).unwrap();
        std::fs::write(path, text).unwrap();
    }
    std::fs::write(folder.join("answers.jsonl"), answers).unwrap();
    let arguments = ["replay", "pack", "answers.jsonl", "--against", "against", "--format", "json"];
    let output = crate::command::rulebook(&folder, &arguments, b"");
    let report: serde_json::Value = serde_json::from_slice(&output.stdout).unwrap();
    let codes = report["diagnostics"].as_array().unwrap().iter();
    codes.map(|row| row["code"].as_str().unwrap().to_owned()).collect()
}

fn codes(diagnostics: &[Diagnostic]) -> Vec<String> {
    diagnostics.iter().map(|diagnostic| diagnostic.code.to_string()).collect()
}
