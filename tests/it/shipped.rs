//! Shipped packs of dialects: are all of them in the build and on their page, and do they read the same calls?

use rulebook::cases;
use rulebook::outcome::{Finding, Status};
use rulebook::prompt::Turn;
use rulebook::surface::{shipped_pack, shipped_packs};
use rulebook::{Options, Outcome, Program, Session, Sources};
use std::collections::BTreeMap;
use std::fmt::Write as _;
use std::fs;
use std::path::Path;

const FOLDER: &str = "rules/dialects";
/// The pack of dialects that others include: it reads no calls, and has cases of its own.
const REASONING: &str = "reasoning";
/// The case that every dialect has: the same five calls.
const CALLS: &str = "the-five-calls.case";
/// The case that every dialect of files has instead: the same changes, as far as the dialect can express them.
const CHANGES: &str = "the-same-changes.case";

/// The tables and grammars below a folder, by their paths.
fn files(folder: &Path, below: &str, found: &mut BTreeMap<String, Vec<u8>>) {
    for entry in fs::read_dir(folder).unwrap() {
        let entry = entry.unwrap();
        let path = format!("{below}{}", entry.file_name().to_string_lossy());
        if entry.file_type().unwrap().is_dir() {
            files(&entry.path(), &format!("{path}/"), found);
        } else {
            found.insert(path, fs::read(entry.path()).unwrap());
        }
    }
}

/// The shipped dialects that read calls or files.
fn dialects() -> impl Iterator<Item = &'static str> {
    shipped_packs().filter(|name| *name != REASONING)
}

#[test]
fn every_pack_of_the_folder_is_shipped_as_it_is() {
    let mut names: Vec<String> =
        fs::read_dir(FOLDER).unwrap().map(|one| one.unwrap().file_name().into_string().unwrap()).collect();
    names.push(REASONING.to_owned());
    names.sort();
    assert_eq!(names, shipped_packs().collect::<Vec<_>>());
    for name in shipped_packs() {
        let mut found = BTreeMap::new();
        let folder = if name == REASONING { "rules" } else { FOLDER };
        files(&Path::new(folder).join(name), "", &mut found);
        found.retain(|path, _| !path.starts_with("tests/"));
        assert!(shipped_pack(name).unwrap().files == found, "{name}: list its files in src/surface/shipped.rs");
    }
}

#[test]
fn shipped_packs_stay_short() {
    let mut lines: Vec<(usize, &str)> = dialects()
        .map(|name| {
            let files = shipped_pack(name).unwrap().files.values();
            let text = |file: &Vec<u8>| String::from_utf8(file.clone()).unwrap();
            let filled = |file: &Vec<u8>| text(file).lines().filter(|line| !line.trim().is_empty()).count();
            (files.map(filled).sum(), name)
        })
        .collect();
    lines.sort_unstable();
    assert!(lines[lines.len() / 2].0 <= 23 && lines.last().unwrap().0 <= 59, "{lines:?}");
}

#[test]
fn the_same_changes_come_of_every_dialect_of_files() {
    let mut found: Vec<(&str, serde_json::Value)> = Vec::new();
    for name in dialects() {
        let path = Path::new("tests/packs").join(format!("std-{name}")).join("tests").join(CHANGES);
        if path.exists() {
            found.push((name, expected(name, &path)["effects"].clone()));
        }
    }
    assert!(found.len() >= 7);
    let all = found.iter().map(|(_, effects)| effects.as_array().unwrap()).max_by_key(|effects| effects.len()).unwrap();
    for (name, effects) in &found {
        // A dialect may be unable to express a change, but it must not express a different one.
        assert!(effects.as_array().unwrap().iter().all(|effect| all.contains(effect)), "{name}: {effects}");
    }
}

/// The expectation of a case: each key with its value as the case writes it.
fn expected(name: &str, path: &Path) -> BTreeMap<String, serde_json::Value> {
    let case = cases::parse(&mut Sources::default(), name, &fs::read(path).unwrap()).value.unwrap();
    let step = &case.steps[0];
    step.expected
        .iter()
        .map(|one| (one.key.value.clone(), serde_json::to_value(one.value.to_json()).unwrap()))
        .collect()
}

#[test]
fn the_same_calls_come_of_every_dialect() {
    let mut first: Option<(String, serde_json::Value)> = None;
    for name in dialects() {
        let tests = Path::new("tests/packs").join(format!("std-{name}")).join("tests");
        if tests.join(CHANGES).exists() {
            continue;
        }
        let expected = expected(name, &tests.join(CALLS));
        assert!(expected.get("status").is_none_or(|status| status == "clean"), "{name}");
        let calls = &expected["calls"];
        let (of, known) = first.get_or_insert_with(|| (name.to_owned(), calls.clone()));
        assert_eq!(calls, known, "{name} and {of}");
    }
}

/// The program of the cases of a shipped pack, and a session in its mode.
fn program(name: &str) -> (Program, Session) {
    let folder = rulebook_fs::read_pack(&Path::new("tests/packs").join(format!("std-{name}"))).unwrap().folder;
    let program = Program::load(&folder).value.unwrap();
    let session = program.resume(serde_json::json!({ "mode": MODE })).unwrap();
    (program, session)
}

/// The mode in which these packs permit all actions.
const MODE: &str = "open";

/// The remarks on texts that the template of a model itself writes.
const REMARKED: &[(&str, &str)] = &[
    // The id of a call is beside its parameters.
    ("cohere", "response/field-form"),
];

/// The outcome of a text that a prompt contains. It must not even have a remark.
#[track_caller]
fn read(name: &str, (program, session): &(Program, Session), text: &str) -> Outcome {
    let outcome = program.run_with(session, text.as_bytes(), &Options::default());
    let is_known = |finding: &Finding| REMARKED.contains(&(name, finding.code.as_str()));
    assert!(
        outcome.status == Status::Clean && outcome.diagnostics.iter().all(is_known),
        "{name}:\n{text}\n{outcome:#?}"
    );
    outcome
}

#[test]
fn what_a_prompt_shows_of_every_dialect_is_read_as_what_it_is() {
    for name in dialects() {
        let pack = program(name);
        for action in pack.0.action_forms(MODE) {
            let text = action.example.unwrap_or_else(|| panic!("{name} cannot write a call of {}", action.name));
            let outcome = read(name, &pack, &text);
            assert_eq!((outcome.calls.len(), &*outcome.message), (1, ""), "{name}:\n{text}");
            let call = &outcome.calls[0];
            assert_eq!(call.action, action.name, "{name}:\n{text}");
            for param in &action.params {
                let value = call.params.get(&param.name);
                assert!(value.is_some() || !param.required, "{name}: {}", param.name);
                assert!(value.is_none_or(|value| *value == param.example), "{name}:\n{text}\n{value:?}");
            }
            // An action that the host declares has no effects in the pack.
            let own = shipped_pack(name).unwrap().files.values().any(|file| {
                let table = format!("[actions.{}]", action.name);
                String::from_utf8_lossy(file).contains(&table)
            });
            assert!(!outcome.effects.is_empty() || !own, "{name}:\n{text}");
        }
        let forms = pack.0.forms(MODE);
        assert_eq!(forms.len(), 1, "{name}");
        let of = |role: &str| forms[0].blocks.iter().filter(|block| block.role.word() == role).count();
        let outcome = read(name, &pack, &forms[0].text);
        let found = [outcome.calls.len(), outcome.contents.len(), outcome.sections.len(), outcome.thinking.len()];
        assert_eq!(found, ["call", "content", "section", "thinking"].map(of), "{name}:\n{}", forms[0].text);
        assert_eq!(outcome.message.is_empty(), of("message") == 0, "{name}:\n{}", forms[0].text);
        assert!(!outcome.effects.is_empty(), "{name}:\n{}", forms[0].text);
    }
}

/// The cases with the text that the template of a model writes for one call, and for two.
const TEMPLATES: &[&str] = &[
    "the-template-writes-one-call.case",
    "one-call-as-the-template-writes-it.case",
    "the-template-writes-two-calls.case",
    "two-calls-as-the-template-writes-them.case",
];

/// The dialects whose calls are written in another form, each with the reason.
const OTHERWISE: &[(&str, &str)] = &[
    // The template leaves an empty line in a call without parameters.
    ("deepseek-dsml", "the-template-writes-two-calls.case"),
    // The template of LFM2 has tokens around the list and single quotes; the calls are written as Llama 4 writes them.
    ("pythonic", "the-template-writes-one-call.case"),
    ("pythonic", "the-template-writes-two-calls.case"),
];

#[test]
fn calls_are_written_byte_for_byte_as_the_template_of_their_model_writes_them() {
    let mut same = 0;
    for name in dialects() {
        let pack = program(name);
        let tests = Path::new("tests/packs").join(format!("std-{name}")).join("tests");
        let known = |file: &&str| tests.join(file).exists();
        for file in TEMPLATES.iter().copied().chain([CALLS]).filter(known) {
            let bytes = fs::read(tests.join(file)).unwrap();
            let case = cases::parse(&mut Sources::default(), name, &bytes).value.unwrap();
            let response = case.steps[0].text.trim();
            let outcome = pack.0.run_with(&pack.1, response.as_bytes(), &Options::default());
            let turn = Turn::answer(&outcome);
            let text = pack.0.rewritten(&pack.1, &turn).unwrap_or_else(|| panic!("{name}: {file}"));
            let again = read(name, &pack, &text);
            let calls = |outcome: &Outcome| {
                outcome.calls.iter().map(|call| (call.action.clone(), call.params.clone())).collect::<Vec<_>>()
            };
            assert_eq!(calls(&again), calls(&outcome), "{name}: {file}");
            // If there is text before the calls, templates differ in what they write between the two.
            if file != CALLS {
                assert_eq!(text.trim() == response, !OTHERWISE.contains(&(name, file)), "{name}: {file}\n{text}");
                same += usize::from(text.trim() == response);
            }
        }
    }
    assert!(same >= 49, "{same}");
}

#[test]
fn the_form_of_a_dialect_is_what_its_model_was_trained_on() {
    let form = |name: &str| program(name).0.forms(MODE).pop().unwrap().text;
    // The branch `message.tool_calls` of Qwen3-8B, tokenizer_config.json.
    assert_eq!(
        form("hermes"),
        "<tool_call>\n{\"name\": \"get_weather\", \"arguments\": {\"city\": \"sample\"}}\n</tool_call>"
    );
    // Qwen3-Coder, chat_template.jinja.
    assert_eq!(
        form("qwen3-coder"),
        "<tool_call>\n<function=get_weather>\n<parameter=city>\nsample\n</parameter>\n</function>\n</tool_call>"
    );
    // llama.cpp, models/templates/deepseek-ai-DeepSeek-V3.1.jinja.
    assert_eq!(
        form("deepseek-v3.1"),
        "<｜tool▁calls▁begin｜><｜tool▁call▁begin｜>get_weather<｜tool▁sep｜>{\"city\": \"sample\"}\
         <｜tool▁call▁end｜><｜tool▁calls▁end｜>"
    );
    // Kimi-K2-Instruct, docs/tool_call_guidance.md.
    assert_eq!(
        form("kimi-k2"),
        "<|tool_calls_section_begin|><|tool_call_begin|>functions.get_weather:0<|tool_call_argument_begin|>\
         {\"city\": \"sample\"}<|tool_call_end|><|tool_calls_section_end|>"
    );
}

#[test]
fn the_page_of_models_is_that_of_the_packs() {
    let mut page = String::from(
        "# Dialects of models and of coding assistants\n\n*After this page, you know which shipped [dialect](glossary.md) reads what your model writes.*\n\n\
         A pack uses a shipped dialect by name, and declares what its calls may do:\n\n\
         ```toml\n[pack]\nname = \"desk\"\nuse  = [\"std:hermes\"]\n```\n\n\
         The dialects are read from the text of an answer: serve the model without a parser of its own, such as vLLM's\n\
         `--tool-call-parser`, or it takes the calls out before Rulebook sees them. What it returns as tool calls needs\n\
         [no dialect](agents.md). Each dialect has cases in `tests/packs/std-NAME`, which say where its form is from.\n\
         Below each is what a prompt shows of it, which for a model is what its template writes.\n\
         What a model thinks is read by [`std:reasoning`](dialects.md#what-a-model-thinks), if a dialect includes it.\n\
         <!-- Written by `UPDATE=1 cargo test` from the packs. -->\n",
    );
    for name in dialects() {
        let pack = String::from_utf8(shipped_pack(name).unwrap().files["pack.toml"].clone()).unwrap();
        let reported = pack.lines().take_while(|line| *line != "[pack]").filter_map(|line| line.strip_prefix("# "));
        let reported: Vec<&str> = reported.collect();
        let about = pack.lines().find_map(|line| line.strip_prefix("about")).unwrap_or_default();
        let about: String = about.trim_start_matches([' ', '=']).to_owned();
        let about: toml::Table = format!("about = {about}").parse().unwrap();
        let about = about["about"].as_str().unwrap();
        let what = about.split_once(": ").map_or(about, |(what, _)| what);
        let models: Vec<&str> = reported.iter().copied().filter(|line| !is_example(line)).collect();
        // The form that a prompt contains, which the tests above read.
        let example = program(name).0.forms(MODE).pop().unwrap().text;
        let fence = if example.contains("```") { "````" } else { "```" };
        write!(
            page,
            "\n## `std:{name}`\n\n{what}. {}\n\n{fence}text\n{}\n{fence}\n",
            models.join(" "),
            example.trim_end()
        )
        .unwrap();
    }
    let path = "docs/models.md";
    if fs::read_to_string(path).unwrap_or_default() != page {
        assert!(std::env::var_os("UPDATE").is_some(), "{path} is stale: UPDATE=1 cargo test rewrites it");
        fs::write(path, page).unwrap();
    }
}

/// Whether a line of a comment is a call in the dialect.
fn is_example(line: &str) -> bool {
    line.starts_with(['<', '['])
}
