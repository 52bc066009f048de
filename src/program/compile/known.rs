//! Known names: which names are declared along a path?
//!
//! In: a path that starts with a visible name, the constants and schemas of a pack, and what the engine itself
//! provides.
//! Out: [`UnknownPath`]: the first segment that nothing declares, and the names that are declared there.
//! Never: reports a name as unknown if undeclared names may be valid there.

use super::name_scope::NameScope;
use crate::expression::{Compared, Constant, ENTRY, Relation};
use crate::program::{IdleReason, REPLY_MEMBERS};
use crate::surface::{Role, Surface, Tree, is_pattern};
use crate::value::Value;

/// The members that the engine provides, by their paths.
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

/// A segment of a path that nothing declares.
pub(super) struct UnknownPath<'s> {
    /// Its index in the path.
    pub(super) number: usize,
    /// The names that are declared there.
    pub(super) known: Vec<&'s str>,
}

/// The first segment of `path` that nothing declares. Segments inside a value of the state are not checked here,
/// because effects can add members.
pub(super) fn first_undeclared<'s>(
    path: &[String],
    surface: &'s Surface,
    scope: &'s NameScope<'_>,
) -> Option<UnknownPath<'s>> {
    let (head, inside) = path.split_first()?;
    let first = inside.first()?;
    // Report nothing: a declaration with an empty name may be the intended one.
    let unless_among = |known: Vec<&'s str>| match known.iter().any(|known| known == first || known.trim().is_empty()) {
        true => None,
        false => Some(UnknownPath { number: 1, known }),
    };
    match (head.as_str(), scope.params) {
        ("state", _) => match surface.state.get(first) {
            Some(slot) if is_single(&slot.value) => below(&slot.value, path, properties, entries),
            _ => unless_among(surface.state.keys().map(String::as_str).collect()),
        },
        ("ids", _) => unless_among(scope.ids.clone()),
        ("data", _) => match surface.data.get(first) {
            Some(data) => below(&data.value, path, constants, items),
            None => unless_among(surface.data.keys().map(String::as_str).collect()),
        },
        ("params", Some(params)) => match params.get(first) {
            Some(schema) => below(&schema.value, path, properties, entries),
            None => unless_among(params.keys().map(String::as_str).collect()),
        },
        ("captures", _) => unless_among(scope.captures.as_ref()?.iter().map(String::as_str).collect()),
        _ => (1..path.len()).find_map(|number| {
            let (before, name) = (path.get(..number)?, path.get(number)?);
            let is_member = |known: &[&str]| name == ENTRY || known.contains(&name.as_str());
            match given(before, surface) {
                Some(known) => (!is_member(&known)).then_some(UnknownPath { number, known }),
                // A list has entries, by their numbers, and no members.
                None if is_list(before) && !is_member(&[]) && name.parse::<i64>().is_err() => {
                    Some(UnknownPath { number, known: Vec::new() })
                }
                None => None,
            }
        }),
    }
}

/// Whether the value at this path is a list that the engine provides.
pub(super) fn is_list(path: &[String]) -> bool {
    let is_it = |list: &[&str]| list.strip_suffix(&[ENTRY]).is_some_and(|list| list.iter().copied().eq(path.iter()));
    GIVEN.iter().any(|(given, _)| is_it(given))
}

/// The members that the engine provides at this path; none if unknown.
fn given<'s>(path: &[String], surface: &'s Surface) -> Option<Vec<&'s str>> {
    let words: Vec<&str> = path.iter().map(String::as_str).collect();
    match words.as_slice() {
        ["reply", "sections"] => sections(surface),
        ["model", "traits"] => traits(surface),
        ["reply", "sections", _] => Some(vec!["text", "value"]),
        words => GIVEN.iter().find(|(given, _)| *given == words).map(|(_, known)| known.to_vec()),
    }
}

/// The names that sections of an answer can have; none if there may be others, or no dialect.
fn sections(surface: &Surface) -> Option<Vec<&str>> {
    let mut known = Vec::new();
    for dialect in surface.dialects.values() {
        known.extend(dialect.value.text.as_ref().and_then(|text| text.value.strip_prefix("section:")));
        for (own, block) in dialect.value.blocks.iter().filter(|(_, block)| block.value.role == Role::Section) {
            let name = block.value.name().map_or(own.as_str(), |name| name.value.as_str());
            known.push(Some(name).filter(|name| !name.starts_with('@') && !name.contains(['*', '?']))?);
        }
    }
    let replies = std::iter::once(&surface.reply).chain(surface.modes.values().map(|mode| &mode.value.reply));
    let lists = replies.flat_map(|reply| &reply.counts).filter(|(_, count)| count.value.lists.is_some());
    known.extend(lists.map(|(name, _)| name.as_str()));
    (!surface.dialects.is_empty()).then_some(known)
}

/// The names of the traits of all models; none if no table declares any.
fn traits(surface: &Surface) -> Option<Vec<&str>> {
    let tiers = surface.tiers.values().map(|tier| &tier.value.traits);
    let traits = tiers.chain(surface.models.values().map(|model| &model.value.traits));
    let known: Vec<&str> = traits.flat_map(|traits| traits.keys()).map(String::as_str).collect();
    (!known.is_empty()).then_some(known)
}

/// Why the value at a path is never in this relation to the constant; none if it may be.
pub(super) fn never_is(
    compared: &Compared,
    path: &[String],
    surface: &Surface,
    scope: &NameScope<'_>,
) -> Option<IdleReason> {
    let constant = &compared.constant.value;
    if let (false, Constant::Text(text), Some(known)) =
        (compared.relation.is_order(), constant, texts(path, surface, scope))
    {
        let is_none = !known.contains(&text.as_str());
        return is_none.then(|| IdleReason::Texts(known.into_iter().map(str::to_owned).collect()));
    }
    let schema = schema(path, surface, scope)?;
    let kind = kind(schema)?;
    match (constant, kind) {
        (Constant::Text(_), "string") => None,
        (Constant::Number(number), "integer" | "number") => {
            beyond(schema, compared.relation, number.parse().ok()?).map(IdleReason::Bound)
        }
        // Comparisons treat booleans as numbers.
        (Constant::Number(_) | Constant::Truth(_), "integer" | "number" | "boolean") => None,
        _ => Some(IdleReason::Kind(kind)),
    }
}

/// The bound of a schema, as an author writes it, that excludes every number in this relation to the constant.
fn beyond(schema: &Tree, relation: Relation, constant: f64) -> Option<String> {
    let bound = |name: &'static str, none_is: &dyn Fn(f64) -> bool| match schema.get(name)? {
        Tree::Constant(bound, _) => none_is(bound.as_f64()?).then(|| format!("{name} = {bound}")),
        _ => None,
    };
    let lowers: [(&str, &dyn Fn(f64) -> bool); 2] = [
        ("minimum", &|least| if relation == Relation::Less { constant <= least } else { constant < least }),
        ("exclusiveMinimum", &|least| constant <= least),
    ];
    let uppers: [(&str, &dyn Fn(f64) -> bool); 2] = [
        ("maximum", &|most| if relation == Relation::More { constant >= most } else { constant > most }),
        ("exclusiveMaximum", &|most| constant >= most),
    ];
    let below = matches!(relation, Relation::Less | Relation::AtMost | Relation::Equal);
    let above = matches!(relation, Relation::More | Relation::AtLeast | Relation::Equal);
    let of = |bounds: [(&'static str, &dyn Fn(f64) -> bool); 2], applies: bool| {
        bounds.into_iter().filter(move |_| applies).find_map(|(name, none_is)| bound(name, none_is))
    };
    of(lowers, below).or_else(|| of(uppers, above))
}

/// The schema at a path, if there is only one.
fn schema<'s>(path: &[String], surface: &'s Surface, scope: &NameScope<'s>) -> Option<&'s Tree> {
    let (head, inside) = path.split_first()?;
    let (name, inside) = inside.split_first()?;
    let mut schema = match head.as_str() {
        "params" => &scope.params?.get(name)?.value,
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
    Some(schema)
}

/// The only type that a schema allows, if there is one.
fn kind(schema: &Tree) -> Option<&'static str> {
    let kind = schema.text("type")?;
    let kinds = ["string", "integer", "number", "boolean", "array", "object"];
    // The type of a computed value is that of what its template renders.
    kinds.into_iter().find(|known| *known == kind.value && schema.get("compute").is_none())
}

/// All texts that the value at `path` can be; none if it may be others.
fn texts<'s>(path: &[String], surface: &'s Surface, scope: &NameScope<'s>) -> Option<Vec<&'s str>> {
    let words: Vec<&str> = path.iter().map(String::as_str).collect();
    match words.as_slice() {
        ["mode"] => Some(surface.mode_names().collect()),
        ["tier"] => Some(surface.tiers.keys().map(String::as_str).collect()),
        ["reply", "dialect"] => Some(surface.dialects.keys().map(String::as_str).collect()),
        // Tools that come at run time may have any name.
        ["action"] | ["reply", "calls", ENTRY, "action"] if surface.actions.keys().any(|name| is_pattern(name)) => None,
        ["action"] | ["reply", "calls", ENTRY, "action"] => Some(surface.actions.keys().map(String::as_str).collect()),
        ["params", name, inside @ ..] => words_of(&scope.params?.get(*name)?.value, inside),
        ["state", name, inside @ ..] => words_of(&surface.state.get(*name)?.value, inside),
        _ => None,
    }
}

/// All words that a schema allows at a path inside its value, if it lists them.
fn words_of<'t>(schema: &'t Tree, inside: &[&str]) -> Option<Vec<&'t str>> {
    let Some((name, inside)) = inside.split_first() else {
        let Tree::List(values, _) = schema.get("enum")? else { return None };
        let words = values.iter().filter_map(|value| match value.spelled_value().unwrap_or(value) {
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

/// The names that a tree declares, with their values; none if there may be others.
type DeclaredMembers<'t> = Option<Vec<(&'t str, &'t Tree)>>;

/// Follows a path through all values that may be there, after its first two segments.
fn below<'t>(
    tree: &'t Tree,
    path: &[String],
    members: fn(&'t Tree) -> DeclaredMembers<'t>,
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

/// The members of a constant table.
fn constants(tree: &Tree) -> DeclaredMembers<'_> {
    match tree {
        Tree::Table(members, _) => Some(members.iter().map(|(name, tree)| (name.value.as_str(), tree)).collect()),
        Tree::List(..) => None,
        Tree::Text(_) | Tree::Constant(..) => Some(Vec::new()),
    }
}

/// The entries of a constant list.
fn items(tree: &Tree) -> Vec<&Tree> {
    match tree {
        Tree::List(items, _) => items.iter().collect(),
        Tree::Table(members, _) => members.iter().map(|(_, tree)| tree).collect(),
        _ => Vec::new(),
    }
}

/// Whether a schema allows only values without members or entries.
fn is_single(schema: &Tree) -> bool {
    schema.text("type").is_some_and(|kind| ["string", "integer", "number", "boolean"].contains(&kind.value.as_str()))
}

/// The members that a schema declares, if it allows no others.
fn properties(schema: &Tree) -> DeclaredMembers<'_> {
    if is_single(schema) {
        return Some(Vec::new());
    }
    const ELSEWHERE: [&str; 6] = ["$ref", "anyOf", "oneOf", "allOf", "if", "patternProperties"];
    let closed = matches!(schema.get("additionalProperties"), None | Some(Tree::Constant(Value::Bool(false), _)));
    let here = closed && !ELSEWHERE.iter().any(|key| schema.get(key).is_some());
    constants(schema.get("properties").filter(|_| here)?)
}

/// The schemas of the entries of a list, or of the undeclared members of a table.
fn entries(schema: &Tree) -> Vec<&Tree> {
    ["items", "additionalProperties"].iter().find_map(|key| schema.get(key)).into_iter().collect()
}
