//! A broken pack has diagnostics, and never causes a panic; a pack that loads can run. NUL bytes separate the files:
//! tables, then a grammar, then a response.
#![no_main]

use libfuzzer_sys::fuzz_target;
use rulebook::Folder;

fuzz_target!(|data: &[u8]| {
    let mut parts = data.splitn(3, |byte| *byte == 0);
    let mut next = || parts.next().unwrap_or_default().to_vec();
    let (tables, grammar, response) = (next(), next(), next());
    let loaded =
        rulebook::check::faults(&Folder::new("fuzzed", [("pack.toml", tables), ("grammar/own.pest", grammar)]));
    assert!(loaded.value.is_some() || !loaded.diagnostics.is_empty());
    if let Some(program) = loaded.value {
        let _ = program.run_with(&program.session(), &response, &Default::default());
    }
});
