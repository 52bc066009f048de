//! What holds for the whole library, each claim in a module of its own.

#![allow(
    clippy::expect_used,
    clippy::indexing_slicing,
    clippy::panic,
    clippy::string_slice,
    clippy::unwrap_used,
    reason = "a test that panics has failed, and says where"
)]

mod grammar_agrees;
mod grammar_bounds;
mod grammar_json;
