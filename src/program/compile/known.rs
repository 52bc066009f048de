//! Known: which names are declared where a path leads?
//!
//! In: a path that starts at a name in sight, the constants and schemas that a pack declares, and what the engine itself gives.
//! Out: [`UnknownPath`]: the first part of the path that nothing declares, and what is declared there.
//! Never: takes a name for wrong where there may be others.

use super::sight::Sight;
use crate::expression::{Constant, ENTRY};
use crate::program::{Never, REPLY_MEMBERS};
use crate::surface::{Role, Surface, Tree};
use serde_json::Value;

/// What the engine gives, by the path to it.
const GIVEN: [(&[&str], &[&str]); 10] = [
    (&["reply"], &REPLY_MEMBERS),
    (&["reply", "calls", ENTRY], &["action", "params", "form", "accepted"]),
    (&["reply", "contents", ENTRY], &["name", "key", "attributes", "text"]),
    (&["reply", "utterances", ENTRY], &["speaker", "label", "text"]),
    (&["model"], &["id", "name", "traits"]),
    (&["actions", ENTRY], &["name", "about", "when", "returns", "example", "params"]),
    (&["actions", ENTRY, "params", ENTRY], &["name", "about", "required", "type", "values", "example"]),
    (&["forms", ENTRY], &["dialect", "text", "blocks"]),
    (&["forms", ENTRY, "blocks", ENTRY], &["name", "role", "about", "required", "most", "text"]),
    (&["defects", ENTRY], &["defect", "message", "help", "line", "times"]),
];

/// A part of a path that nothing declares.
pub(super) struct UnknownPath<'s> {
    /// Its number in the path.
    pub(super) number: usize,
    /// What is declared there.
    pub(super) known: Vec<&'s str>,
}

/// The first part of `path` that is declared nowhere. Which values the state has is not asked here: effects make members, too.
pub(super) fn lost<'s>(path: &[String], surface: &'s Surface, sight: &'s Sight<'_>) -> Option<UnknownPath<'s>> {
    let (head, inside) = path.split_first()?;
    let first = inside.first()?;
    // A declaration with a blank name may be the one that is meant.
    let unless_among = |known: Vec<&'s str>| match known.iter().any(|known| known == first || known.trim().is_empty()) {
        true => None,
        false => Some(UnknownPath { number: 1, known }),
    };
    match (head.as_str(), sight.params) {
        ("state", _) => match surface.state.get(first) {
            Some(slot) if is_single(&slot.value) => below(&slot.value, path, properties, entries),
            _ => unless_among(surface.state.keys().map(String::as_str).collect()),
        },
        ("ids", _) => unless_among(sight.ids.clone()),
        ("data", _) => match surface.data.get(first) {
            Some(data) => below(&data.value, path, constants, items),
            None => unless_among(surface.data.keys().map(String::as_str).collect()),
        },
        ("params", Some(params)) => match params.get(first) {
            Some(schema) => below(&schema.value, path, properties, entries),
            None => unless_among(params.keys().map(String::as_str).collect()),
        },
        ("captures", _) => unless_among(sight.captures.as_ref()?.iter().map(String::as_str).collect()),
        _ => (1..path.len()).find_map(|number| {
            let (before, name) = (path.get(..number)?, path.get(number)?);
            let known = given(before, surface)?;
            let is_lost = name != ENTRY && !known.contains(&name.as_str());
            is_lost.then_some(UnknownPath { number, known })
        }),
    }
}

/// What the engine gives behind this path; none where nobody knows.
fn given<'s>(path: &[String], surface: &'s Surface) -> Option<Vec<&'s str>> {
    let words: Vec<&str> = path.iter().map(String::as_str).collect();
    match words.as_slice() {
        ["reply", "sections"] => sections(surface),
        ["model", "traits"] => traits(surface),
        ["reply", "sections", _] => Some(vec!["text", "value"]),
        words => GIVEN.iter().find(|(given, _)| *given == words).map(|(_, known)| known.to_vec()),
    }
}

/// The names that a section of an answer may have; none where an answer may say others, or where there are no dialects.
fn sections(surface: &Surface) -> Option<Vec<&str>> {
    let mut known = Vec::new();
    for dialect in surface.dialects.values() {
        known.extend(dialect.value.text.as_ref().and_then(|text| text.value.strip_prefix("section:")));
        for (own, block) in dialect.value.blocks.iter().filter(|(_, block)| block.value.role == Role::Section) {
            let name = block.value.name.as_ref().map_or(own.as_str(), |name| name.value.as_str());
            known.push(Some(name).filter(|name| !name.starts_with('@') && !name.contains(['*', '?']))?);
        }
    }
    let replies = std::iter::once(&surface.reply).chain(surface.modes.values().map(|mode| &mode.value.reply));
    let lists = replies.flat_map(|reply| &reply.counts).filter(|(_, count)| count.value.lists.is_some());
    known.extend(lists.map(|(name, _)| name.as_str()));
    (!surface.dialects.is_empty()).then_some(known)
}

/// The traits of all models; none where no table declares any.
fn traits(surface: &Surface) -> Option<Vec<&str>> {
    let tiers = surface.tiers.values().map(|tier| &tier.value.traits);
    let traits = tiers.chain(surface.models.values().map(|model| &model.value.traits));
    let known: Vec<&str> = traits.flat_map(|traits| traits.keys()).map(String::as_str).collect();
    (!known.is_empty()).then_some(known)
}

/// Why what stands at `path` is never this constant; none where it may be.
pub(super) fn never_is(path: &[String], constant: &Constant, surface: &Surface, sight: &Sight<'_>) -> Option<Never> {
    if let (Constant::Text(text), Some(known)) = (constant, texts(path, surface, sight)) {
        let is_none = !known.contains(&text.as_str());
        return is_none.then(|| Never::Texts(known.into_iter().map(str::to_owned).collect()));
    }
    let kind = kind(path, surface, sight)?;
    let may_be = match constant {
        Constant::Text(_) => kind == "string",
        // In comparisons, truth values are numbers, too.
        Constant::Number(_) | Constant::Truth(_) => matches!(kind, "integer" | "number" | "boolean"),
    };
    (!may_be).then_some(Never::Kind(kind))
}

/// The one type that the schema of what stands at a path allows.
fn kind(path: &[String], surface: &Surface, sight: &Sight<'_>) -> Option<&'static str> {
    let (head, inside) = path.split_first()?;
    let (name, inside) = inside.split_first()?;
    let mut schema = match head.as_str() {
        "params" => &sight.params?.get(name)?.value,
        "state" => &surface.state.get(name)?.value,
        _ => return None,
    };
    for name in inside {
        schema = match name.as_str() {
            ENTRY if schema.get("prefixItems").is_none() => schema.get("items")?,
            ENTRY => return None,
            name => schema.property(name)?,
        };
    }
    let kind = schema.text("type")?;
    let kinds = ["string", "integer", "number", "boolean", "array", "object"];
    // A computed value has whatever type its template gives.
    kinds.into_iter().find(|known| *known == kind.value && schema.get("compute").is_none())
}

/// The texts that what stands at `path` may be; none where it may be another.
fn texts<'s>(path: &[String], surface: &'s Surface, sight: &Sight<'s>) -> Option<Vec<&'s str>> {
    let words: Vec<&str> = path.iter().map(String::as_str).collect();
    match words.as_slice() {
        ["mode"] => Some(surface.mode_names().collect()),
        ["tier"] => Some(surface.tiers.keys().map(String::as_str).collect()),
        ["reply", "dialect"] => Some(surface.dialects.keys().map(String::as_str).collect()),
        ["reply", "calls", ENTRY, "action"] => Some(surface.actions.keys().map(String::as_str).collect()),
        ["params", name, inside @ ..] => words_of(&sight.params?.get(*name)?.value, inside),
        ["state", name, inside @ ..] => words_of(&surface.state.get(*name)?.value, inside),
        _ => None,
    }
}

/// The words that a schema allows at a path inside of its value, if it lists them all.
fn words_of<'t>(schema: &'t Tree, inside: &[&str]) -> Option<Vec<&'t str>> {
    let Some((name, inside)) = inside.split_first() else {
        let Tree::List(values, _) = schema.get("enum")? else { return None };
        let words = values.iter().filter_map(|value| match value {
            Tree::Text(text) => Some(text.value.as_str()),
            _ => None,
        });
        return Some(words.collect());
    };
    match *name {
        ENTRY => words_of(entries(schema).first()?, inside),
        name => words_of(schema.property(name)?, inside),
    }
}

/// The names that a tree declares, each with what stands under it; none where there may be others.
type Members<'t> = Option<Vec<(&'t str, &'t Tree)>>;

/// Follows a path, behind a head and a name that are declared, through all that may stand there.
fn below<'t>(
    tree: &'t Tree,
    path: &[String],
    members: fn(&'t Tree) -> Members<'t>,
    entries: fn(&'t Tree) -> Vec<&'t Tree>,
) -> Option<UnknownPath<'t>> {
    let mut inside = vec![tree];
    for (number, name) in path.iter().enumerate().skip(2) {
        if name == ENTRY {
            inside = inside.into_iter().flat_map(entries).collect();
        } else {
            let known: Option<Vec<_>> = inside.into_iter().map(members).collect();
            let known: Vec<_> = known.filter(|known| !known.is_empty())?.concat();
            inside = known.iter().filter(|(known, _)| known == name).map(|(_, tree)| *tree).collect();
            if inside.is_empty() {
                let mut known: Vec<&str> = known.into_iter().map(|(known, _)| known).collect();
                known.dedup();
                return Some(UnknownPath { number, known });
            }
        }
    }
    None
}

/// The members of a constant.
fn constants(tree: &Tree) -> Members<'_> {
    match tree {
        Tree::Table(members, _) => Some(members.iter().map(|(name, tree)| (name.value.as_str(), tree)).collect()),
        Tree::List(..) => None,
        Tree::Text(_) | Tree::Constant(..) => Some(Vec::new()),
    }
}

/// The entries of a constant.
fn items(tree: &Tree) -> Vec<&Tree> {
    match tree {
        Tree::List(items, _) => items.iter().collect(),
        Tree::Table(members, _) => members.iter().map(|(_, tree)| tree).collect(),
        _ => Vec::new(),
    }
}

/// Whether a schema says that its value is one that nothing stands in.
fn is_single(schema: &Tree) -> bool {
    schema.text("type").is_some_and(|kind| ["string", "integer", "number", "boolean"].contains(&kind.value.as_str()))
}

/// The members that a schema declares, where it says that there are no others.
fn properties(schema: &Tree) -> Members<'_> {
    if is_single(schema) {
        return Some(Vec::new());
    }
    const ELSEWHERE: [&str; 6] = ["$ref", "anyOf", "oneOf", "allOf", "if", "patternProperties"];
    let closed = matches!(schema.get("additionalProperties"), None | Some(Tree::Constant(Value::Bool(false), _)));
    let here = closed && !ELSEWHERE.iter().any(|key| schema.get(key).is_some());
    constants(schema.get("properties").filter(|_| here)?)
}

/// The schema of what is in a list or, of a table, in members that it does not name.
fn entries(schema: &Tree) -> Vec<&Tree> {
    ["items", "additionalProperties"].iter().find_map(|key| schema.get(key)).into_iter().collect()
}
