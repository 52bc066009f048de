//! Schemas: do the files in `schemas/` match the types, and do written files match the schemas?

use rulebook::schemas::{self, ALL};
use rulebook::{Folder, Options, Program};
use rulebook_report::derived;
use serde_json::Value;
use std::path::Path;

#[test]
fn the_files_are_those_of_the_types() {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("schemas");
    let mut stale = Vec::new();
    let derived = derived::all();
    assert!(derived.iter().map(|(name, _)| *name).eq(ALL.iter().map(|described| described.name)));
    for (name, text) in derived {
        let path = folder.join(format!("{name}.schema.json"));
        if std::fs::read_to_string(&path).ok().as_ref() != Some(&text) {
            if std::env::var_os("UPDATE").is_some() {
                std::fs::create_dir_all(&folder).unwrap();
                std::fs::write(&path, text).unwrap();
            } else {
                stale.push(name);
            }
        }
    }
    assert!(
        stale.is_empty(),
        "{stale:?} differ from the types: run the tests with UPDATE=1 and look at the difference"
    );
}

#[test]
fn every_schema_can_be_used() {
    for described in ALL {
        let schema = described.schema().unwrap();
        assert_eq!(schema["$schema"], "https://json-schema.org/draft/2020-12/schema");
        validator(&schema);
    }
}

#[test]
fn an_outcome_keeps_to_its_schema() {
    let schema = schemas::of("outcome").unwrap().schema().unwrap();
    let validator = validator(&schema);
    let folder = Folder::new("base", [("pack.toml", crate::snippets::base())]);
    let loaded = Program::load(&folder);
    assert!(loaded.diagnostics.is_empty(), "{:?}", loaded.diagnostics);
    let program = loaded.value.unwrap();
    let responses = [
        "",
        "no tags",
        "<message>Noted.</message>\n<action type=\"keep_note\"><text>x</text></action>",
        "<thinking>t</thinking><message>a</message><message>b <action type=\"clear_notes\"/></message>",
        "<file path=\"a.txt\">text</file><file path=\"../b\">text</file><action type=\"none\">",
    ];
    for response in responses {
        for trace in [false, true] {
            let options = Options { trace, ..Options::default() };
            let outcome = program.run_with(&program.session(), response.as_bytes(), &options);
            let json = serde_json::to_value(&outcome).unwrap();
            let faults: Vec<String> = validator.iter_errors(&json).map(|error| error.to_string()).collect();
            assert!(faults.is_empty(), "{response:?}: {faults:?}");
        }
    }
}

#[test]
fn the_base_pack_keeps_to_its_schema() {
    let schema = schemas::of("pack").unwrap().schema().unwrap();
    let pack: toml::Table = crate::snippets::base().parse().unwrap();
    let json = serde_json::to_value(pack).unwrap();
    let faults: Vec<String> = validator(&schema).iter_errors(&json).map(|error| error.to_string()).collect();
    assert!(faults.is_empty(), "{faults:?}");
}

fn validator(schema: &Value) -> jsonschema::Validator {
    jsonschema::draft202012::new(schema).unwrap()
}
