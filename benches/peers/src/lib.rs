//! The peers in Rust: which code do the drivers of this folder share?
//!
//! In: nothing.
//! Out: packs, answers, readers and clocks.
//! Never: prints anything but figures for the script `run`.

#![allow(clippy::disallowed_methods, reason = "a bench has clocks, and reads and writes files")]

pub mod engine;
pub mod load;
pub mod peers;
pub mod prompt;
pub mod rows;
pub mod stream;
pub mod timing;
