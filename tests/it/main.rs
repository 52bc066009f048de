//! Everything that is tested from outside, in one binary.
#![allow(
    missing_docs,
    clippy::disallowed_methods,
    clippy::expect_used,
    clippy::indexing_slicing,
    clippy::panic,
    clippy::string_slice,
    clippy::unwrap_used,
    reason = "a test may fail loudly, and reads files"
)]

mod command;
mod pages;
mod schemas;
mod tidy;
