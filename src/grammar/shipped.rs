//! Shipped grammars: which families of dialects does Rulebook come with?
//!
//! In: the files of `grammar/`, included in the build.
//! Out: their texts by name.
//! Never: treats a shipped grammar differently from that of a pack.

const SHIPPED: &[(&str, &str)] = &[
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

/// The names of all shipped grammars, sorted.
pub fn shipped_names() -> impl Iterator<Item = &'static str> {
    SHIPPED.iter().map(|(name, _)| *name)
}
