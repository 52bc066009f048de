//! Everything that is tested from outside, in one binary.
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

mod apply;
mod benches;
mod command;
mod corpus_dce;
mod crashes;
mod cycles;
mod dice;
mod differences;
mod documents;
mod exports;
mod formats;
mod forms;
mod generated;
mod grammar_agrees;
mod grammar_bounds;
mod grammar_json;
mod guides;
mod hostile;
#[allow(unreachable_pub, reason = "shared with a bench")]
mod hostile_inputs;
mod hosts;
mod members;
mod model;
mod pack_page;
mod pages;
mod places;
mod play;
mod promises;
mod prompts;
mod rendered_dce;
mod replay;
mod reviewed;
mod roundtable;
mod schemas;
mod slipped;
mod slips;
mod story;
mod strategies;
mod taught;
mod testing;
mod texts;
mod tidy;
