//! Crashes: does every input that once broke the engine have an outcome?
//!
//! Each file is named after the fuzz target that found it, and after the fault.

use super::texts::{PACKS, program};
use rulebook::grammar::Grammar;
use rulebook::text::SourceId;
use rulebook::{Folder, Options};

#[test]
fn inputs_that_once_crashed_the_engine_give_an_outcome() {
    let folder = std::path::Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/crashes");
    let files = walkdir::WalkDir::new(folder).sort_by_file_name().into_iter().map(|entry| entry.unwrap());
    for file in files.filter(|file| file.file_type().is_file() && file.file_name() != "README.md") {
        let name = file.file_name().to_str().unwrap();
        let data = std::fs::read(file.path()).unwrap();
        match name.split('-').next().unwrap() {
            "run" => responses(name, &data, 1),
            "stream" => responses(
                name,
                data.get(1..).unwrap_or_default(),
                usize::from(data.first().map_or(0, |size| size % 32)) + 1,
            ),
            "load_pack" => {
                let mut parts = data.splitn(3, |byte| *byte == 0).map(<[u8]>::to_vec);
                let mut next = || parts.next().unwrap_or_default();
                let (tables, grammar, response) = (next(), next(), next());
                let loaded = rulebook::check::faults(&Folder::new(
                    "crash",
                    [("pack.toml", tables), ("grammar/own.pest", grammar)],
                ));
                if let Some(program) = loaded.value {
                    let _ = program.run_with(&program.session(), &response, &Options::default());
                }
            }
            "grammar" => {
                let text = String::from_utf8_lossy(&data);
                Grammar::parse(SourceId::RESPONSE, text.split('\0').next().unwrap());
            }
            "session" => {
                let Ok(stored) = serde_json::from_slice::<rulebook::Value>(&data) else { continue };
                for pack in PACKS {
                    let program = program(pack);
                    let (session, _) = program.resume_lossy(stored.clone());
                    let written = serde_json::to_value(&session).unwrap();
                    assert!(program.resume(rulebook::Value::from(written)).is_ok(), "{name}, by {pack}");
                }
            }
            _ => panic!("{name}: the name starts with that of a fuzz target that this test replays"),
        }
    }
}

fn responses(name: &str, response: &[u8], chunk: usize) {
    for pack in PACKS {
        let program = program(pack);
        for mode in program.modes() {
            let session = program.resume(serde_json::json!({ "mode": mode })).unwrap();
            let whole = program.run_with(&session, response, &Options::default());
            let pieces = program.run_with(&session, response, &Options { chunk: Some(chunk), ..Options::default() });
            assert_eq!(whole, pieces, "{name}, read by {pack} in {mode}");
        }
    }
}
