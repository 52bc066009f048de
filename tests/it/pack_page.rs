//! The reference of the pack language: does it name every key, and are its examples valid?

use rulebook::cases::{self, CaseOptions, CaseVerdict};
use rulebook::schemas;
use rulebook::{Defect, Folder, Program, Sources, Strategy};
use serde_json::Value;
use std::collections::{BTreeMap, BTreeSet};
use std::sync::LazyLock;

/// All pages of `docs/pack`, one after the other.
static PAGE: LazyLock<String> = LazyLock::new(|| {
    let index = std::fs::read_to_string(crate::root().join("docs/pack/README.md")).unwrap();
    let pages = std::fs::read_dir(crate::root().join("docs/pack")).unwrap();
    let mut names: Vec<String> = pages.map(|page| page.unwrap().file_name().into_string().unwrap()).collect();
    names.sort();
    let read = |name: &String| {
        assert!(
            name == "README.md" || index.contains(&format!("]({name})")),
            "docs/pack/README.md does not list {name}"
        );
        std::fs::read_to_string(crate::root().join("docs/pack").join(name)).unwrap()
    };
    names.iter().map(read).collect::<Vec<_>>().join("\n")
});

#[test]
fn every_key_and_word_of_the_schema_is_explained() {
    let schema = schemas::of("pack").unwrap().schema().unwrap();
    let mut names = BTreeSet::new();
    collect(&schema, &mut names);
    let missing: Vec<&String> = names.iter().filter(|name| !PAGE.contains(&format!("`{name}`"))).collect();
    assert!(missing.is_empty(), "docs/pack says nothing about {missing:?}");
}

#[test]
fn every_default_that_does_not_keep_is_listed() {
    let rows = PAGE.split("\n| default | answers |\n").nth(1).unwrap().split("\n\n").next().unwrap();
    for strategy in Strategy::ALL.iter().filter(|strategy| **strategy != Strategy::Keep) {
        let answers = |defect: &&Defect| defect.default_strategy() == *strategy;
        let of = |role: &str, default: fn(Defect) -> Strategy| {
            let apart = |defect: &&Defect| !answers(defect) && default(**defect) == *strategy;
            Defect::ALL.iter().filter(apart).map(|defect| format!("`{defect}` of a {role}")).collect::<Vec<_>>()
        };
        let calls = of("call", Defect::default_for_calls).into_iter();
        let calls = calls.chain(of("content", Defect::default_for_contents));
        let defects = Defect::ALL.iter().filter(answers).map(|defect| format!("`{defect}`"));
        let expected: BTreeSet<String> = calls.chain(defects).collect();
        let row = rows.lines().find_map(|row| row.strip_prefix(&format!("| `{strategy}` | ")));
        let listed = row.iter().flat_map(|row| row.trim_end_matches(" |").split(", ")).map(str::to_owned);
        assert_eq!(listed.collect::<BTreeSet<_>>(), expected, "{strategy}");
    }
    assert_eq!(Defect::UnclosedBlock.default_for_calls(), Strategy::Drop);
}

#[test]
fn every_filter_and_test_is_listed() {
    use rulebook::expression::{filters, predicates};
    let missing: Vec<&str> =
        filters().chain(predicates()).filter(|name| !PAGE.contains(&format!("`{name}`"))).collect();
    assert!(missing.is_empty(), "docs/pack does not list {missing:?}");
}

/// Every example is merged into the pack of `docs/codes/README.md`, together with the texts of the page.
#[test]
fn every_example_is_a_pack() {
    let mut examples = 0;
    for (number, example) in PAGE.split("\n```toml\n").skip(1).enumerate() {
        let text = example.split("\n```").next().unwrap();
        let whole = if text.contains("[pack]") {
            text.to_owned()
        } else {
            crate::snippets::lay_over(&crate::snippets::base(), text)
        };
        let mut files = BTreeMap::from([("pack.toml".to_owned(), whole)]);
        files.extend(texts());
        let loaded = rulebook::check::faults(&Folder::new("page", files));
        assert!(loaded.diagnostics.is_empty(), "example {}:\n{text}\n{:#?}", number + 1, loaded.diagnostics);
        examples += 1;
    }
    assert!(examples > 10);
}

/// Every case passes for a pack of this repository, or for the small one with the inputs of the page.
#[test]
fn every_case_holds() {
    let inputs = PAGE.split("\n```toml\n").skip(1).filter_map(|example| example.split("\n```").next());
    let inputs = inputs.filter(|example| example.contains("[messages.sure]"));
    let packs: Vec<Folder> = inputs
        .map(|example| {
            let pack = crate::snippets::lay_over(&crate::snippets::base(), example);
            Folder::new("page", [("pack.toml", pack)])
        })
        .chain([rulebook_fs::read_pack("rules/writers-factory".as_ref()).unwrap().folder])
        .collect();
    let programs: Vec<Program> = packs.iter().map(|pack| Program::load(pack).value.unwrap()).collect();
    let shown: Vec<&str> =
        PAGE.split("\n```case\n").skip(1).filter_map(|snippet| snippet.split("\n```").next()).collect();
    assert!(shown.len() > 2);
    for text in shown {
        let case = cases::parse(&mut Sources::default(), "tests/page.case", format!("{text}\n").as_bytes());
        let case = case.value.unwrap_or_else(|| panic!("{text}\n{:#?}", case.diagnostics));
        let holds =
            |program: &Program| cases::run(program, &case, CaseOptions::default()).verdict == CaseVerdict::Passed;
        assert!(programs.iter().any(holds), "{text}");
    }
}

/// The texts of the page, by their paths.
fn texts() -> impl Iterator<Item = (String, String)> {
    PAGE.split("\n```").filter_map(|snippet| snippet.strip_prefix("md ").or(snippet.strip_prefix("xml "))).filter_map(
        |snippet| {
            let (path, rest) = snippet.split_once('\n')?;
            Some((path.to_owned(), rest.to_owned()))
        },
    )
}

/// The names of all keys, and the words that keys take.
fn collect(schema: &Value, names: &mut BTreeSet<String>) {
    match schema {
        Value::Object(members) => {
            for (key, value) in members {
                match (key.as_str(), value) {
                    ("properties", Value::Object(properties)) => names.extend(properties.keys().cloned()),
                    ("enum", Value::Array(words)) => {
                        names.extend(words.iter().filter_map(Value::as_str).map(str::to_owned))
                    }
                    ("const", Value::String(word)) => drop(names.insert(word.clone())),
                    _ => {}
                }
                collect(value, names);
            }
        }
        Value::Array(items) => items.iter().for_each(|item| collect(item, names)),
        _ => {}
    }
}
