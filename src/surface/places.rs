//! Places: where in a pack's own files is a name written?
//!
//! In: the files of a folder, in memory.
//! Out: every place where the name is a key or a whole text, grouped by declaration; the same folder with another name
//! there.
//! Never: distinguishes a declaration from a use.

use super::decode::{TomlNode, in_order};
use super::{Count, Effect, Folder, Guardrail, Input, Layer, Rule, syntax};
use crate::diagnostic::{Letters, is_slip};
use crate::text::{Span, authored};
use indexmap::IndexMap;
use std::borrow::Cow;
use std::cell::OnceCell;
use std::collections::{BTreeMap, HashMap, HashSet};
use toml::de::{DeTable, DeValue};

/// Places that belong to one mention: the first, and the headers below that repeat the name.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub(crate) struct Mentions {
    /// The file, by its path below the folder.
    pub(crate) path: String,
    /// The places of the name, without quotes.
    pub(crate) spans: Vec<Span>,
}

/// Where the tables of a folder mention some names. One reading of the folder finds the places of all of them: in a pack of
/// 2,000 modes with an unknown name in each, a reading for each name took 40 s.
#[derive(Debug, Default)]
pub(crate) struct NamePlaces(HashMap<String, PlacesOfName>);

/// Where one name is mentioned.
#[derive(Debug, Default)]
struct PlacesOfName {
    all: Vec<Mentions>,
    /// The first of these, by index, with a place that starts at an offset of a file.
    starts: HashMap<(String, usize), usize>,
}

impl NamePlaces {
    /// Where the tables of `folder` mention the names of `wanted`.
    pub(crate) fn of(folder: &Folder, wanted: &HashSet<&str>) -> Self {
        let mut found: HashMap<String, PlacesOfName> = HashMap::new();
        if wanted.is_empty() {
            return Self(found);
        }
        each_table(folder, |path, text, table| {
            let headers = OnceCell::new();
            each_name(table, &mut Vec::new(), &mut |name, at, key_path| {
                if !wanted.contains(name) {
                    return;
                }
                // The name without its quotes; none where it is spelled with escapes.
                let inside = |at: Span| {
                    let start = at.start + at.of(text).find(name)?;
                    Some(Span::new(start, start + name.len()))
                };
                let mut spans: Vec<Span> = inside(at).into_iter().collect();
                match key_path {
                    Some(key_path) => {
                        let through = headers.get_or_init(|| headers_by_path(text)).get(key_path);
                        spans.extend(through.into_iter().flatten().copied().filter_map(inside));
                    }
                    None if spans.is_empty() => return,
                    None => {}
                }
                spans.sort();
                spans.dedup();
                let known = found.entry(name.to_owned()).or_default();
                for span in &spans {
                    known.starts.entry((path.to_owned(), span.start)).or_insert(known.all.len());
                }
                known.all.push(Mentions { path: path.to_owned(), spans });
            });
        });
        Self(found)
    }

    /// All mentions of one of the names.
    pub(crate) fn all(&self, name: &str) -> &[Mentions] {
        self.0.get(name).map(|known| known.all.as_slice()).unwrap_or_default()
    }

    /// The mention of one of the names that has a place starting at this offset of a file.
    pub(crate) fn starting_at(&self, name: &str, path: &str, start: usize) -> Option<&Mentions> {
        let known = self.0.get(name)?;
        known.all.get(*known.starts.get(&(path.to_owned(), start))?)
    }
}

/// For each path through which headers of a file lead, the places of its last name in them.
fn headers_by_path(text: &str) -> HashMap<Vec<String>, Vec<Span>> {
    let mut through: HashMap<Vec<String>, Vec<Span>> = HashMap::new();
    for header in syntax::headers(text) {
        let mut key_path = Vec::new();
        for (name, span) in header {
            key_path.push(name);
            through.entry(key_path.clone()).or_default().push(span);
        }
    }
    through
}

/// All names in the tables of `folder`: keys and whole texts.
pub(crate) fn names(folder: &Folder) -> HashSet<String> {
    let mut names = HashSet::new();
    each_table(folder, |_, _, table| {
        each_name(table, &mut Vec::new(), &mut |name, _, _| {
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

/// Takes a name, its place, and for a key the path to it.
type EachName<'f> = dyn FnMut(&str, Span, Option<&[String]>) + 'f;

/// Calls `then` for each key and each text in the table at `key_path`.
fn each_name(table: &DeTable<'_>, key_path: &mut Vec<String>, then: &mut EachName<'_>) {
    for (key, value) in in_order(table) {
        key_path.push(key.get_ref().clone().into_owned());
        then(key.get_ref(), key.span().into(), Some(key_path));
        each_name_in(value, key_path, then);
        key_path.pop();
    }
}

fn each_name_in(value: &TomlNode<'_>, key_path: &mut Vec<String>, then: &mut EachName<'_>) {
    match value.get_ref() {
        DeValue::Table(table) => each_name(table, key_path, then),
        DeValue::Array(items) => items.iter().for_each(|item| each_name_in(item, key_path, then)),
        DeValue::String(text) => then(text, value.span().into(), None),
        _ => {}
    }
}

/// A name that is nearly the same as another one beside it, and may be a misspelling of it.
#[derive(Debug)]
pub(crate) struct Alike {
    /// Where it is.
    pub(crate) mentions: Mentions,
    /// The other name, where that is first, and in what.
    pub(crate) other: String,
    pub(crate) beside: Mentions,
    pub(crate) within: &'static str,
    /// The places below the two names, in the same file; none if they may be in any file.
    pub(crate) below: Option<Vec<Span>>,
    /// Whether only a part of it is declared: a mode or a prompt that has tables below its name, but no table of its
    /// own as the other has.
    pub(crate) is_part: bool,
}

/// Names in headers that may be misspellings of other tables, and keys of list entries that may be misspellings of the
/// keys of others.
pub(crate) fn alike(folder: &Folder) -> Vec<Alike> {
    let mut found: Vec<Alike> = Vec::new();
    // The names of those that may be parts, by their index.
    let mut parts: BTreeMap<usize, String> = BTreeMap::new();
    each_table(folder, |path, text, table| {
        let mut odd = Vec::new();
        in_order(table).into_iter().for_each(|(_, value)| odd_keys(value.get_ref(), &mut odd));
        found.extend(odd.into_iter().map(|(key, other)| {
            let mentions = |key: &PlaceKey<'_>| Mentions { path: path.to_owned(), spans: vec![key.span().into()] };
            let other_name = other.get_ref().clone().into_owned();
            let within = "the other entries";
            Alike {
                mentions: mentions(key),
                other: other_name,
                beside: mentions(other),
                within,
                below: None,
                is_part: false,
            }
        }));
        let headers: Vec<_> = syntax::headers(text).collect();
        let ends = headers.iter().skip(1).filter_map(|next| next.first()).map(|(_, span)| span.start);
        let headers: Vec<_> = headers.iter().zip(ends.chain([text.len()])).collect();
        // Each name after the first, with what is below, by the names before it.
        let mut groups: IndexMap<Vec<&str>, HeaderNames<'_>> = IndexMap::new();
        let mut steps = Vec::new();
        for (header, end) in &headers {
            for last in 1..header.len() {
                let Some((key_path, [(name, span), ..])) = header.split_at_checked(last) else { continue };
                let group = groups.entry(syntax::names(key_path).collect());
                let number = group.index();
                let places = group.or_default().places.entry(name.as_str()).or_default();
                places.push((*span, Span::new(span.start, *end)));
                steps.push((number, name, *span));
            }
        }
        let whole: HashSet<Vec<&str>> = headers.iter().map(|(header, _)| syntax::names(header).collect()).collect();
        for (number, name, span) in steps {
            let Some((key_path, beside)) = groups.get_index_mut(number) else { continue };
            let Some(other) = beside.slip_of(name) else { continue };
            let places = |name: &str| beside.places.get(name).into_iter().flatten();
            let Some((place, _)) = places(other).next() else { continue };
            let mut below: Vec<Span> = places(name).chain(places(other)).map(|(_, below)| *below).collect();
            below.sort_unstable();
            let mentions = |span| Mentions { path: path.to_owned(), spans: vec![span] };
            let is_whole = |name: &str| whole.contains(&[key_path.as_slice(), &[name]].concat());
            if matches!(key_path.as_slice(), ["modes" | "prompts"]) && is_whole(other) && !is_whole(name) {
                parts.insert(found.len(), name.clone());
            }
            found.push(Alike {
                mentions: mentions(span),
                other: other.to_owned(),
                beside: mentions(*place),
                within: "another header",
                below: Some(below),
                is_part: false,
            });
        }
    });
    // A part that is mentioned elsewhere, too, is called so on purpose.
    let places = NamePlaces::of(folder, &parts.values().map(String::as_str).collect());
    for (number, name) in &parts {
        let elsewhere = places.all(name).len() > 1;
        found.iter_mut().skip(*number).take(1).for_each(|part| part.is_part = !elsewhere);
    }
    found
}

/// The names that headers have at one place, in the order in which they first occur.
#[derive(Default)]
struct HeaderNames<'n> {
    /// For each name where it is written, and what is below.
    places: IndexMap<&'n str, Vec<(Span, Span)>>,
    /// The letters of each name: they rule out most pairs of names.
    letters: Vec<Letters>,
    /// For each name that was asked for the first other name for which it may be a misspelling.
    slips: HashMap<&'n str, Option<&'n str>>,
}

impl<'n> HeaderNames<'n> {
    fn slip_of(&mut self, name: &'n str) -> Option<&'n str> {
        if let Some(known) = self.slips.get(name) {
            return *known;
        }
        if self.letters.is_empty() {
            self.letters = self.places.keys().map(|name| Letters::of(name)).collect();
        }
        let own = Letters::of(name);
        let mut others = self.places.keys().zip(&self.letters).filter(|(other, _)| **other != name);
        let is_other = |(other, letters): &(&&str, &Letters)| own.may_be_slip(letters) && is_slip(name, other);
        let slip = others.find(is_other).map(|(other, _)| *other);
        self.slips.insert(name, slip);
        slip
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

/// New names in place of some in a folder's files.
#[derive(Debug, Clone, Default)]
pub(crate) struct Renamed(BTreeMap<String, BTreeMap<usize, (usize, String)>>);

impl Renamed {
    pub(crate) fn add(&mut self, mentions: &Mentions, name: &str) {
        let file = self.0.entry(mentions.path.clone()).or_default();
        mentions.spans.iter().for_each(|span| drop(file.insert(span.start, (span.len(), name.to_owned()))));
    }

    /// The same folder with these names.
    pub(crate) fn within(&self, folder: &Folder) -> Folder {
        let mut folder = folder.clone();
        for (path, names) in &self.0 {
            let Some(bytes) = folder.files.get_mut(path) else { continue };
            let Ok(text) = std::str::from_utf8(bytes) else { continue };
            let mut text = authored(text).into_owned();
            for (start, (length, name)) in names.iter().rev() {
                text.replace_range(*start..start + length, name);
            }
            *bytes = text.into_bytes();
        }
        folder
    }

    /// The original place of what is now at `span` of the file at `path`.
    pub(crate) fn original(&self, path: &str, span: Span) -> Span {
        let back = |offset: usize| {
            let mut offset = offset;
            for (start, (length, name)) in self.0.get(path).into_iter().flatten() {
                if *start < offset {
                    offset = (offset + length).saturating_sub(name.len()).max(*start);
                }
            }
            offset
        };
        Span::new(back(span.start), back(span.end))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check(text: &str, expected: &[&[usize]]) {
        let places = NamePlaces::of(&Folder::new("p", [("pack.toml", text)]), &HashSet::from(["here"]));
        let starts: Vec<Vec<usize>> =
            places.all("here").iter().map(|mentions| mentions.spans.iter().map(|span| span.start).collect()).collect();
        assert_eq!(starts, expected, "{text}");
    }

    #[test]
    fn a_name_is_found_as_a_key_and_as_a_text() {
        check("[a.here]\nb = 1\n[a.here.c]\nd = \"here\"\n", &[&[3, 18], &[31]]);
        check("a = [{ here = 1 }, 'here', 'not here']\n\"here\" = 2\n", &[&[7], &[20], &[40]]);
        check("[a.here]\n[b.here]\n", &[&[3], &[12]]);
    }

    #[test]
    fn what_is_renamed_is_found_where_it_stood() {
        let folder = Folder::new("p", [("pack.toml", "[a.here]\n[a.here.c]\nd = 1\n")]);
        let mut renamed = Renamed::default();
        let places = NamePlaces::of(&folder, &HashSet::from(["here"]));
        places.all("here").iter().for_each(|mentions| renamed.add(mentions, "elsewhere"));
        let text = renamed.within(&folder).files.remove("pack.toml").unwrap();
        assert_eq!(text, b"[a.elsewhere]\n[a.elsewhere.c]\nd = 1\n");
        assert_eq!(renamed.original("pack.toml", Span::new(30, 31)), Span::new(20, 21));
        assert_eq!(renamed.original("pack.toml", Span::new(3, 12)), Span::new(3, 7));
    }
}
