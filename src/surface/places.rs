//! Places: where in a pack's own files is a name written?
//!
//! In: the files of a folder, in memory.
//! Out: every place where the name is a key or a whole text; the names that are probably misspelt.
//! Never: distinguishes a declaration from a use.

use super::decode::{TomlNode, in_order};
use super::{Count, Effect, Folder, Guardrail, Input, Layer, Rule, syntax};
use crate::diagnostic::{Letters, is_slip};
use crate::text::{Span, authored};
use indexmap::IndexMap;
use std::borrow::Cow;
use std::collections::{HashMap, HashSet};
use toml::de::{DeTable, DeValue};

/// A place where a name is written.
#[derive(Debug, Clone)]
pub(crate) struct Mention {
    /// The file, by its path below the folder.
    pub(crate) path: String,
    /// The name, with its quotes if it has some.
    pub(crate) span: Span,
}

/// Where the tables of a folder mention the names of `wanted`. One reading finds the places of all names. Headers that
/// repeat a key are one mention of it.
pub(crate) fn mentions(folder: &Folder, wanted: &HashSet<&str>) -> HashMap<String, Vec<Mention>> {
    let mut found: HashMap<String, Vec<Mention>> = HashMap::new();
    if wanted.is_empty() {
        return found;
    }
    each_table(folder, |path, _, table| {
        each_name(table, &mut |name, span| {
            if wanted.contains(name) {
                found.entry(name.to_owned()).or_default().push(Mention { path: path.to_owned(), span });
            }
        });
    });
    found
}

/// All names in the tables of `folder`: keys and whole texts.
pub(crate) fn names(folder: &Folder) -> HashSet<String> {
    let mut names = HashSet::new();
    each_table(folder, |_, _, table| {
        each_name(table, &mut |name, _| {
            names.insert(name.to_owned());
        });
    });
    names
}

/// Calls `then` for each table file that can be read, with its path, its text and its table.
fn each_table(folder: &Folder, mut then: impl FnMut(&str, &str, &DeTable<'_>)) {
    for (path, bytes) in folder.files.iter().filter(|(path, _)| super::is_table(path)) {
        if let Ok(text) = std::str::from_utf8(bytes) {
            let text = authored(text);
            let (table, _) = DeTable::parse_recoverable(&text);
            then(path, &text, table.get_ref());
        }
    }
}

/// Takes a name and its place.
type EachName<'f> = dyn FnMut(&str, Span) + 'f;

/// Calls `then` for each key and each text in the table.
fn each_name(table: &DeTable<'_>, then: &mut EachName<'_>) {
    for (key, value) in in_order(table) {
        then(key.get_ref(), key.span().into());
        each_name_in(value, then);
    }
}

fn each_name_in(value: &TomlNode<'_>, then: &mut EachName<'_>) {
    match value.get_ref() {
        DeValue::Table(table) => each_name(table, then),
        DeValue::Array(items) => items.iter().for_each(|item| each_name_in(item, then)),
        DeValue::String(text) => then(text, value.span().into()),
        _ => {}
    }
}

/// A name that is nearly the same as another one beside it, and probably a misspelling of it.
#[derive(Debug)]
pub(crate) struct Alike {
    pub(crate) name: String,
    /// Where it is.
    pub(crate) mention: Mention,
    /// The other name, the place where it occurs first, and the words in messages for what contains it.
    pub(crate) other: String,
    pub(crate) beside: Mention,
    pub(crate) within: &'static str,
    /// The places below the two names, in order, in the same file; none for keys of list entries.
    pub(crate) below: Vec<Span>,
    /// Whether it is a mode or a prompt that has tables below its name, but no table of its own as the other has.
    pub(crate) is_part: bool,
}

/// Names in headers that are probably misspellings of other tables, and keys of list entries that are probably
/// misspellings of the keys of others.
///
/// The name in a header counts as misspelt only if nothing else in the pack mentions it, and something mentions the
/// other name or has a table for that. If both names have a table of their own, they are two things.
pub(crate) fn alike(folder: &Folder) -> Vec<Alike> {
    let mut found: Vec<Alike> = Vec::new();
    // The header names among them, with whether the other name has a table of its own.
    let mut headed: Vec<(Alike, bool)> = Vec::new();
    each_table(folder, |path, text, table| {
        let mention = |span: Span| Mention { path: path.to_owned(), span };
        let mut odd = Vec::new();
        in_order(table).into_iter().for_each(|(_, value)| odd_keys(value.get_ref(), &mut odd));
        found.extend(odd.into_iter().map(|(key, other)| Alike {
            name: key.get_ref().clone().into_owned(),
            mention: mention(key.span().into()),
            other: other.get_ref().clone().into_owned(),
            beside: mention(other.span().into()),
            within: "the other entries",
            below: Vec::new(),
            is_part: false,
        }));
        let headers: Vec<_> = syntax::headers(text).collect();
        let ends = headers.iter().skip(1).filter_map(|next| next.first()).map(|(_, span)| span.start);
        let headers: Vec<_> = headers.iter().zip(ends.chain([text.len()])).collect();
        // Each name after the first, with what is below, by the names before it.
        let mut groups: IndexMap<Vec<&str>, HeaderNames<'_>> = IndexMap::new();
        for (header, end) in &headers {
            for last in 1..header.len() {
                let Some((key_path, [(name, span), ..])) = header.split_at_checked(last) else { continue };
                let group = groups.entry(syntax::names(key_path).collect()).or_default();
                group.places.entry(name.as_str()).or_default().push((*span, Span::new(span.start, *end)));
            }
        }
        let whole: HashSet<Vec<&str>> = headers.iter().map(|(header, _)| syntax::names(header).collect()).collect();
        for (key_path, group) in &groups {
            let is_whole = |name: &str| whole.contains(&[key_path.as_slice(), &[name]].concat());
            for (name, other) in group.slips() {
                let places = |name: &str| group.places.get(name).into_iter().flatten();
                let (Some((span, _)), Some((place, _))) = (places(name).next(), places(other).next()) else { continue };
                if is_whole(name) && is_whole(other) {
                    continue;
                }
                let mut below: Vec<Span> = places(name).chain(places(other)).map(|(_, below)| *below).collect();
                below.sort_unstable();
                let alike = Alike {
                    name: name.to_owned(),
                    mention: mention(*span),
                    other: other.to_owned(),
                    beside: mention(*place),
                    within: "another header",
                    below,
                    is_part: matches!(key_path.as_slice(), ["modes" | "prompts"]) && is_whole(other),
                };
                headed.push((alike, is_whole(other)));
            }
        }
    });
    let names = headed.iter().flat_map(|(one, _)| [one.name.as_str(), one.other.as_str()]).collect();
    let mentions = mentions(folder, &names);
    let is_used = |name: &str| mentions.get(name).is_some_and(|all| all.len() > 1);
    let is_misspelt =
        |one: &Alike, other_is_whole: bool| !is_used(&one.name) && (other_is_whole || is_used(&one.other));
    found.extend(headed.into_iter().filter(|(one, whole)| is_misspelt(one, *whole)).map(|(one, _)| one));
    found
}

/// The names that headers have at one place, in the order in which they first occur: for each where it is written, and
/// what is below.
#[derive(Default)]
struct HeaderNames<'n> {
    places: IndexMap<&'n str, Vec<(Span, Span)>>,
}

impl<'n> HeaderNames<'n> {
    /// Each name that may be a misspelling of another, with the first such name. The letters of the names rule out most
    /// pairs.
    fn slips(&self) -> impl Iterator<Item = (&'n str, &'n str)> {
        let names: Vec<(&str, Letters)> = self.places.keys().map(|name| (*name, Letters::of(name))).collect();
        let slip_of = |(name, letters): &(&'n str, Letters)| {
            let is_other = |(other, others): &&(&str, Letters)| {
                other != name && letters.may_be_slip(others) && is_slip(name, other)
            };
            names.iter().find(is_other).map(|(other, _)| (*name, *other))
        };
        names.iter().filter_map(slip_of).collect::<Vec<_>>().into_iter()
    }
}

type PlaceKey<'t> = toml::Spanned<Cow<'t, str>>;

/// The keys that only one entry of a list has, each with the key that all others have in its place.
fn odd_keys<'k, 't>(value: &'k DeValue<'t>, found: &mut Vec<(&'k PlaceKey<'t>, &'k PlaceKey<'t>)>) {
    match value {
        DeValue::Table(table) => in_order(table).into_iter().for_each(|(_, value)| odd_keys(value.get_ref(), found)),
        DeValue::Array(items) => {
            let tables: Vec<&DeTable<'t>> = items.iter().filter_map(|item| item.get_ref().as_table()).collect();
            for (number, table) in tables.iter().enumerate() {
                let others = || tables.iter().enumerate().filter(|(other, _)| *other != number).map(|(_, table)| table);
                let keys = in_order(table).into_iter().map(|(key, _)| key);
                for key in keys.filter(|key| !others().any(|other| other.contains_key(key.get_ref().as_ref()))) {
                    let shared = |other: &&PlaceKey<'t>| {
                        let name = other.get_ref().as_ref();
                        name.len() > 2
                            && !table.contains_key(name)
                            && is_slip(key.get_ref(), name)
                            && !are_both_known(key.get_ref(), name)
                            && others().all(|one| one.contains_key(name))
                    };
                    let first = others().next();
                    found.extend(
                        first
                            .and_then(|first| in_order(first).into_iter().map(|(key, _)| key).find(shared))
                            .map(|other| (key, other)),
                    );
                }
            }
            items.iter().for_each(|item| odd_keys(item.get_ref(), found));
        }
        _ => {}
    }
}

/// Whether both are keys of one table of the language, such as `set` and `let`: neither is a misspelling of the other.
fn are_both_known(one: &str, other: &str) -> bool {
    let tables = [Effect::KEYS, Guardrail::KEYS, Rule::KEYS, Input::KEYS, Layer::KEYS, Count::KEYS];
    tables.iter().any(|keys| keys.contains(&one) && keys.contains(&other))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check(text: &str, expected: &[usize]) {
        let found = mentions(&Folder::new("p", [("pack.toml", text)]), &HashSet::from(["here"]));
        let starts: Vec<usize> = found.values().flatten().map(|mention| mention.span.start).collect();
        assert_eq!(starts, expected, "{text}");
    }

    #[test]
    fn a_name_is_found_as_a_key_and_as_a_text() {
        check("[a.here]\nb = 1\n[a.here.c]\nd = \"here\"\n", &[3, 30]);
        check("a = [{ here = 1 }, 'here', 'not here']\n\"here\" = 2\n", &[7, 19, 39]);
        check("[a.here]\n[b.here]\n", &[3, 12]);
    }

    #[track_caller]
    fn check_alike(text: &str, expected: &[(&str, &str)]) {
        let found = alike(&Folder::new("p", [("pack.toml", text)]));
        let found: Vec<(&str, &str)> = found.iter().map(|one| (one.name.as_str(), one.other.as_str())).collect();
        assert_eq!(found, expected, "{text}");
    }

    #[test]
    fn a_header_is_misspelt_if_only_the_other_one_is_used() {
        let whole = "[modes.draft]\na = 1\n";
        check_alike(&format!("{whole}[modes.darft.reply]\n"), &[("darft", "draft")]);
        check_alike("[modes.darft]\n[modes.draft.reply]\n[pack]\nstart = 'draft'\n", &[("darft", "draft")]);
        // Two tables are two modes.
        check_alike(&format!("{whole}[modes.drafts]\n[pack]\nstart = 'draft'\n"), &[]);
    }
}
