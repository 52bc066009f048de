//! Any cutting has the same outcome. The first byte determines the length of the pieces.
#![no_main]

mod packs;

use libfuzzer_sys::fuzz_target;
use rulebook::Options;

fuzz_target!(|data: &[u8]| {
    let Some((size, response)) = data.split_first() else { return };
    packs::each(|program, session| {
        let whole = program.run_with(session, response, &Options::default());
        let pieces = Options { chunk: Some(usize::from(size % 32) + 1), ..Options::default() };
        let cut = program.run_with(session, response, &pieces);
        let text = |outcome| serde_json::to_string(outcome).expect("an outcome is JSON");
        assert_eq!(text(&whole), text(&cut));
        packs::check(&whole);
    });
});
