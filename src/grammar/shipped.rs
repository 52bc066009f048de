//! Shipped: which grammars does Rulebook come with?
//!
//! In: the files of `grammar/`, included in the build.
//! Out: their texts by name, and the compiled grammars, which packs share.
//! Never: treats a shipped grammar differently from that of a pack.

use super::Grammar;
use crate::text::SourceId;
use std::sync::{Arc, OnceLock};

const SHIPPED: [(&str, &str); 6] = [
    ("brackets", include_str!("../../grammar/brackets.pest")),
    ("headers", include_str!("../../grammar/headers.pest")),
    ("json", include_str!("../../grammar/json.pest")),
    ("paths", include_str!("../../grammar/paths.pest")),
    ("tags", include_str!("../../grammar/tags.pest")),
    ("transcript", include_str!("../../grammar/transcript.pest")),
];

/// The text of the shipped grammar called `name`.
pub fn shipped(name: &str) -> Option<&'static str> {
    SHIPPED.iter().find(|(shipped, _)| *shipped == name).map(|(_, text)| *text)
}

/// The shipped grammars in use by the packs of the process, each by the index of its source in the pack. Nearly all
/// packs have few files, so a process with many packs compiles each grammar a few times at most.
static COMPILED: [[OnceLock<Option<Arc<Grammar>>>; 16]; SHIPPED.len()] =
    [const { [const { OnceLock::new() }; 16] }; SHIPPED.len()];

/// The shipped grammar called `name`, compiled as the source `source` of a pack.
pub(crate) fn compiled(name: &str, source: SourceId) -> Option<Arc<Grammar>> {
    let number = SHIPPED.iter().position(|(shipped, _)| *shipped == name)?;
    let compile = || Grammar::parse(source, shipped(name)?).value.map(Arc::new);
    match COMPILED.get(number).and_then(|sources| sources.get(source.number())) {
        Some(known) => known.get_or_init(compile).clone(),
        None => compile(),
    }
}

/// The names of all shipped grammars, sorted.
pub fn shipped_names() -> impl Iterator<Item = &'static str> {
    SHIPPED.iter().map(|(name, _)| *name)
}
