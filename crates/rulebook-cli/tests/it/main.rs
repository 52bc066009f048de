//! Everything that is tested by running the command, in one binary.
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

mod apply;
mod command;
mod differences;
mod documents;
mod edits;
mod formats;
mod guides;
mod helps;
mod hook;
mod mcp;
mod pages;
mod parts;
mod play;
mod replay;
#[path = "../../../../tests/it/scratch.rs"]
mod scratch;
#[path = "../../../../tests/it/snippets.rs"]
mod snippets;
mod story;
mod testing;
#[allow(dead_code, reason = "shared with the tests of the engine")]
#[path = "../../../../tests/it/texts.rs"]
mod texts;

/// The folder of this repository.
pub(crate) fn root() -> &'static Path {
    Path::new(concat!(env!("CARGO_MANIFEST_DIR"), "/../.."))
}
