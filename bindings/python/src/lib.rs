//! The module `rulebook._engine`: how does Python use the engine?
//!
//! In: Python objects.
//! Out: the functions and classes behind the package `rulebook`; its public classes, texts and exceptions are in
//! `python/rulebook`.
//! Never: decides anything about a pack or an answer.

mod batch;
mod classes;
mod contract;
mod engine;
mod files;
mod found;
mod objects;
mod part;
mod plan;
mod reader;
mod text;
mod values;

use pyo3::prelude::*;
use std::ffi::OsString;

/// Runs the command `rulebook` with these arguments, and returns its exit status.
#[pyfunction]
fn command(py: Python<'_>, arguments: Vec<OsString>) -> u8 {
    py.detach(|| rulebook_cli::run_with(arguments))
}

/// The engine: see the package `rulebook`.
#[pymodule]
mod _engine {
    #[pymodule_export]
    use super::batch::judge_column;
    #[pymodule_export]
    use super::classes::{Declared, declare};
    #[pymodule_export]
    use super::command;
    #[pymodule_export]
    use super::engine::{Engine, check, json_text, replace, tool_results, turn_of};
    #[pymodule_export]
    use super::files::Files;
    #[pymodule_export]
    use super::part::{Getter, Part, Seed, rebuild, restore};
    #[pymodule_export]
    use super::plan::Plan;
    #[pymodule_export]
    use super::reader::Reader;
}
