//! The packs that the targets read with, and the check that every byte is in the ledger.

use rulebook::{Folder, Outcome, Program};
use std::sync::LazyLock;

macro_rules! pack {
    ($name:literal, $root:literal: $($file:literal)*) => {
        Folder::new($name, [$(($file, include_str!(concat!($root, "/", $file)))),*])
    };
}

static PROGRAMS: LazyLock<Vec<Program>> = LazyLock::new(|| {
    let folders = [
        pack!("couple-ai", "../../rules/couple-ai": "pack.toml" "state.toml" "actions.toml"),
        pack!("writers-factory", "../../rules/writers-factory":
            "pack.toml" "dialects.toml" "modes.toml" "state.toml" "actions.toml" "guardrails.toml"),
        pack!("side-by-side", "../../tests/packs/side-by-side": "pack.toml"),
        pack!("own-grammar", "../../tests/packs/own-grammar": "pack.toml" "grammar/braces.pest"),
        pack!("one-object", "../../tests/packs/one-object": "pack.toml"),
    ];
    folders.iter().map(|folder| Program::load(folder).program.expect("a pack of this repository loads")).collect()
});

/// Every pack in every mode.
pub fn each(mut ask: impl FnMut(&Program, &rulebook::Session)) {
    for program in PROGRAMS.iter() {
        let modes: Vec<String> = program.modes().map(str::to_owned).collect();
        for mode in modes {
            ask(program, &rulebook::Session { mode, ..program.session() });
        }
    }
}

/// The parts of the ledger sum to the response.
pub fn check(outcome: &Outcome) {
    let ledger = serde_json::to_value(outcome.ledger).expect("a ledger is JSON");
    let parts = ledger.as_object().expect("a ledger is an object");
    let number = |part: &serde_json::Value| part.as_u64().expect("parts are numbers");
    let sum: u64 = parts.iter().filter(|(name, _)| *name != "bytes").map(|(_, part)| number(part)).sum();
    assert_eq!(sum, number(&parts["bytes"]));
}
