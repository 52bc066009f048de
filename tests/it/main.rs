//! All tests of the engine from outside, in one binary.
#![allow(
    missing_docs,
    clippy::disallowed_methods,
    clippy::expect_used,
    clippy::indexing_slicing,
    clippy::panic,
    clippy::string_slice,
    clippy::unwrap_used,
    reason = "a test that panics has failed, and says where; and tests read files"
)]

use std::path::Path;

mod benches;
mod chunks;
mod contracts;
mod corpus_dce;
mod crashes;
mod cycles;
mod damage;
mod dice;
mod examples;
mod exports;
mod fallbacks;
mod first_packs;
mod forms;
mod generated;
mod grammar_agrees;
mod grammar_bounds;
mod grammar_json;
mod histories;
mod hostile;
#[allow(unreachable_pub, reason = "shared with a bench")]
mod hostile_inputs;
#[allow(dead_code, unreachable_pub, reason = "shared with the test of the heap")]
mod hostile_packs;
mod hosts;
mod live;
mod members;
mod model;
mod outcomes_elsewhere;
mod pack_keys;
mod pack_page;
mod past_answers;
mod patches;
mod pending;
mod pieces;
mod places;
mod promises;
mod prompts;
mod rejects;
mod rendered_dce;
mod replies;
mod reviewed;
mod roundtable;
mod schemas;
mod scratch;
mod secrets;
mod seeds;
mod shipped;
mod silent;
mod slipped;
mod slips;
mod snippets;
mod spellings;
mod strategies;
mod streams;
mod taught;
mod texts;
mod tidy;
mod tools;
mod uses;

/// The folder of this repository.
pub(crate) fn root() -> &'static Path {
    Path::new(env!("CARGO_MANIFEST_DIR"))
}

/// Writes a file for other programs to read after the tests, completely or not at all.
fn publish(name: &str, text: impl AsRef<[u8]>) {
    let written = scratch::path(name);
    std::fs::write(&written, text).unwrap();
    std::fs::rename(written, Path::new(env!("CARGO_TARGET_TMPDIR")).join(name)).unwrap();
}
