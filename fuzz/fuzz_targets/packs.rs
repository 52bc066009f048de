//! The packs that the fuzz targets use, and the check that the ledger counts every byte.

use rulebook::{Outcome, Program};
use rulebook_fs::{packs_below, read_pack};
use std::path::Path;
use std::sync::LazyLock;

static PROGRAMS: LazyLock<Vec<Program>> = LazyLock::new(|| {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("..");
    let below = |folder| packs_below(&root.join(folder)).expect("the repository has packs");
    let packs = ["rules", "tests/packs"].into_iter().flat_map(below);
    let load = |path: &Path| Program::load(&read_pack(path).expect("it can be read").folder).value;
    packs.map(|path| load(&path).unwrap_or_else(|| panic!("`{}` does not load", path.display()))).collect()
});

/// Calls `ask` for every pack in every mode.
pub fn each(mut ask: impl FnMut(&Program, &rulebook::Session)) {
    for program in PROGRAMS.iter() {
        let modes: Vec<String> = program.modes().map(str::to_owned).collect();
        for mode in modes {
            let mut session = program.session();
            session.mode = mode;
            ask(program, &session);
        }
    }
}

/// Checks that the parts of the ledger add up to the length of the response.
pub fn check(outcome: &Outcome) {
    let ledger = serde_json::to_value(outcome.ledger).expect("a ledger is JSON");
    let parts = ledger.as_object().expect("a ledger is an object");
    let number = |part: &serde_json::Value| part.as_u64().expect("parts are numbers");
    let sum: u64 = parts.iter().filter(|(name, _)| *name != "bytes").map(|(_, part)| number(part)).sum();
    assert_eq!(sum, number(&parts["bytes"]));
}
