//! What holds for the whole library, each claim in a module of its own.

mod grammar_agrees;
mod grammar_bounds;
mod grammar_json;
