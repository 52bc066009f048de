//! The reference of the pack language: does it name every key, and do its examples hold?

use rulebook::program::Program;
use rulebook::report::schemas::ALL;
use rulebook::surface::Folder;
use serde_json::Value;
use std::collections::{BTreeMap, BTreeSet};

const PAGE: &str = include_str!("../../docs/pack.md");

#[test]
fn every_key_and_word_of_the_schema_is_explained() {
    let schema = ALL.iter().find(|one| one.name == "pack").unwrap().schema();
    let mut names = BTreeSet::new();
    collect(&schema, &mut names);
    let missing: Vec<&String> = names.iter().filter(|name| !PAGE.contains(&format!("`{name}`"))).collect();
    assert!(missing.is_empty(), "docs/pack.md says nothing about {missing:?}");
}

#[test]
fn every_filter_and_test_is_listed() {
    use rulebook::expression::{filters, predicates};
    let missing: Vec<&str> =
        filters().chain(predicates()).filter(|name| !PAGE.contains(&format!("`{name}`"))).collect();
    assert!(missing.is_empty(), "docs/pack.md does not list {missing:?}");
}

/// Every example is laid over the pack of `docs/codes/README.md`, beside the texts that the page shows.
#[test]
fn every_example_is_a_pack() {
    let mut examples = 0;
    for (number, example) in PAGE.split("\n```toml\n").skip(1).enumerate() {
        let text = example.split("\n```").next().unwrap();
        let whole =
            if text.contains("[pack]") { text.to_owned() } else { crate::pages::lay_over(&crate::pages::base(), text) };
        let mut files = BTreeMap::from([("pack.toml".to_owned(), whole)]);
        files.extend(texts());
        let loaded = Program::check(&Folder::new("page", files));
        assert!(loaded.diagnostics.is_empty(), "example {}:\n{text}\n{:#?}", number + 1, loaded.diagnostics);
        examples += 1;
    }
    assert!(examples > 10);
}

/// The texts that the page shows, by their paths.
fn texts() -> impl Iterator<Item = (String, String)> {
    PAGE.split("\n```md ").skip(1).filter_map(|snippet| {
        let (path, rest) = snippet.split_once('\n')?;
        Some((path.to_owned(), rest.split("\n```").next()?.to_owned()))
    })
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
