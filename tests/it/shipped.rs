//! Shipped packs of dialects: are all of them in the build, on their page, and of one mind about the same calls?

use rulebook::cases;
use rulebook::surface::{shipped_pack, shipped_packs};
use rulebook::text::Sources;
use std::collections::BTreeMap;
use std::fmt::Write as _;
use std::fs;
use std::path::Path;

const FOLDER: &str = "rules/dialects";
/// The case that every dialect has: the same five calls.
const CALLS: &str = "the-five-calls.case";
/// The case that every dialect of files has in its place: the same changes, as far as it can say them.
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

#[test]
fn every_pack_of_the_folder_is_shipped_as_it_is() {
    let mut names: Vec<String> =
        fs::read_dir(FOLDER).unwrap().map(|one| one.unwrap().file_name().into_string().unwrap()).collect();
    names.sort();
    assert_eq!(names, shipped_packs().collect::<Vec<_>>());
    for name in shipped_packs() {
        let mut found = BTreeMap::new();
        files(&Path::new(FOLDER).join(name), "", &mut found);
        assert!(shipped_pack(name).unwrap().files == found, "{name}: list its files in src/surface/shipped.rs");
    }
}

#[test]
fn no_pack_is_longer_than_its_dialect_is_worth() {
    let mut lines: Vec<(usize, &str)> = shipped_packs()
        .map(|name| {
            let files = shipped_pack(name).unwrap().files.values();
            let text = |file: &Vec<u8>| String::from_utf8(file.clone()).unwrap();
            let filled = |file: &Vec<u8>| text(file).lines().filter(|line| !line.trim().is_empty()).count();
            (files.map(filled).sum(), name)
        })
        .collect();
    lines.sort_unstable();
    assert!(lines[lines.len() / 2].0 <= 22 && lines.last().unwrap().0 <= 45, "{lines:?}");
}

#[test]
fn the_same_changes_come_of_every_dialect_of_files() {
    let mut found: Vec<(&str, serde_json::Value)> = Vec::new();
    for name in shipped_packs() {
        let path = Path::new("tests/packs").join(format!("std-{name}")).join("tests").join(CHANGES);
        if path.exists() {
            found.push((name, expected(name, &path)["effects"].clone()));
        }
    }
    assert!(found.len() >= 7);
    let all = found.iter().map(|(_, effects)| effects.as_array().unwrap()).max_by_key(|effects| effects.len()).unwrap();
    for (name, effects) in &found {
        // What a dialect cannot say is missing, and nothing is said in another way.
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
    for name in shipped_packs() {
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

#[test]
fn the_page_of_models_is_that_of_the_packs() {
    let mut page = String::from(
        "# Dialects of models and of coding assistants\n\n*After this page, you know which shipped dialect reads what your model writes.*\n\n\
         A pack uses a shipped dialect by name, and declares what its calls may do:\n\n\
         ```toml\n[pack]\nname = \"desk\"\nuse  = [\"std:hermes\"]\n```\n\n\
         The dialects are read from the text of an answer: serve the model without a parser of its own, such as vLLM's\n\
         `--tool-call-parser`, or it takes the calls out before Rulebook sees them. What it returns as tool calls needs\n\
         [no dialect](agents.md). Each dialect has cases in `tests/packs/std-NAME`, which say where its form is from.\n\
         <!-- Written by `UPDATE=1 cargo test` from the comments of the packs. -->\n",
    );
    for name in shipped_packs() {
        let pack = String::from_utf8(shipped_pack(name).unwrap().files["pack.toml"].clone()).unwrap();
        let told = pack.lines().take_while(|line| *line != "[pack]").filter_map(|line| line.strip_prefix("# "));
        let told: Vec<&str> = told.collect();
        let about = pack.lines().find_map(|line| line.strip_prefix("about")).unwrap_or_default();
        let about: String = about.trim_start_matches([' ', '=']).to_owned();
        let about: toml::Table = format!("about = {about}").parse().unwrap();
        let about = about["about"].as_str().unwrap();
        let (what, form) = about.split_once(": ").unwrap_or((about, ""));
        let models: Vec<&str> = told.iter().copied().filter(|line| !is_example(line)).collect();
        let example = told.iter().copied().find(|line| is_example(line)).unwrap_or(form);
        write!(page, "\n## `std:{name}`\n\n{what}. {}\n\n```text\n{example}\n```\n", models.join(" ")).unwrap();
    }
    let path = "docs/models.md";
    if fs::read_to_string(path).unwrap_or_default() != page {
        assert!(std::env::var_os("UPDATE").is_some(), "{path} is stale: UPDATE=1 cargo test rewrites it");
        fs::write(path, page).unwrap();
    }
}

/// Whether a line of a comment is a call as the dialect writes it.
fn is_example(line: &str) -> bool {
    line.starts_with(['<', '['])
}
