//! The tables of keys in `docs/pack`: do they match the types of the pack language?
//!
//! In: the schema of packs, which is generated from the doc comments in `src/surface`.
//! Out: between `<!-- keys: NAME -->` and `<!-- /keys -->`, a row for each key of the table NAME; `UPDATE=1` writes them.
//! Never: has more about a key than its doc comment: the text of the pages explains the rest.
//!
//! NAME is a type of the schema, or `TYPE.KEY` for the table that is one of the forms of a key.

use rulebook::{Object, Value};
use rulebook_report::derived;
use std::collections::BTreeMap;
use std::fmt::Write as _;

const OPEN: &str = "<!-- keys: ";
const CLOSE: &str = "<!-- /keys -->";
/// The most words of a closed list that a cell contains; a page explains a longer list in a table of its own.
const WORDS: usize = 5;
/// The suffix for the kind of a value that may differ for each tier of a prompt.
const BY_TIER: &str = " (or by tier)";
/// The chapters that explain kinds of texts; other words, such as `mode`, link to the table that declares them.
const CHAPTERS: &[(&str, &str)] = &[
    ("condition", "Conditions and templates"),
    ("expression", "Conditions and templates"),
    ("template", "Conditions and templates"),
    ("schema", "Schemas"),
    ("fault", "Faults of JSON"),
];
/// The rows of this table are defects, which [`super::pack_page`] checks.
const WITHOUT_ROWS: &str = "Degradation";

#[test]
fn the_tables_of_keys_are_those_of_the_types() {
    let folder = crate::root().join("docs/pack");
    let mut pages = BTreeMap::new();
    for file in std::fs::read_dir(&folder).unwrap() {
        let name = file.unwrap().file_name().into_string().unwrap();
        let text = std::fs::read_to_string(folder.join(&name)).unwrap();
        pages.insert(name, text);
    }
    // A map of `serde_json` would not preserve the order of the keys.
    let schemas = derived::all();
    let schema = Value::read(&schemas.iter().find(|(name, _)| *name == "pack").unwrap().1).unwrap();
    let reference = Reference { places: places(&pages), schema: &schema };
    let mut stale = Vec::new();
    for (name, text) in &pages {
        let rewritten = reference.rewrite(name, text);
        if rewritten != *text {
            if std::env::var_os("UPDATE").is_some() {
                std::fs::write(folder.join(name), rewritten).unwrap();
            } else {
                stale.push(name);
            }
        }
    }
    assert!(
        stale.is_empty(),
        "{stale:?} differ from the types: run this test with UPDATE=1 and look at the difference"
    );
    let missing: Vec<String> = reference
        .tables()
        .into_iter()
        .filter(|name| !reference.places.contains_key(&format!("{OPEN}{name}")))
        .collect();
    assert!(missing.is_empty(), "docs/pack has no table of keys for {missing:?}");
}

/// The page and the anchor of each table of keys (by its name), each table of a pack and each chapter (by its title).
fn places(pages: &BTreeMap<String, String>) -> BTreeMap<String, (String, String)> {
    let mut places = BTreeMap::new();
    for (page, text) in pages {
        let mut anchor = String::new();
        for line in text.lines() {
            let title = line.trim_start_matches('#').strip_prefix(' ').filter(|_| line.starts_with("##"));
            if let Some(title) = title {
                anchor = title
                    .to_lowercase()
                    .chars()
                    .filter_map(|letter| match letter {
                        ' ' => Some('-'),
                        letter => (letter.is_alphanumeric() || "-_".contains(letter)).then_some(letter),
                    })
                    .collect();
                let table = title.trim_matches(['`', '[', ']']);
                let table = table.strip_suffix(".NAME").unwrap_or(table);
                places.entry(table.to_owned()).or_insert((page.clone(), anchor.clone()));
            } else if let Some(name) = line.strip_prefix(OPEN).and_then(|rest| rest.strip_suffix(" -->")) {
                let before = places.insert(format!("{OPEN}{name}"), (page.clone(), anchor.clone()));
                assert_eq!(before, None, "{page} has a second table of the keys of {name}");
            }
        }
    }
    places
}

struct Reference<'s> {
    schema: &'s Value,
    places: BTreeMap<String, (String, String)>,
}

impl<'s> Reference<'s> {
    /// The page with its tables of keys generated again.
    fn rewrite(&self, page: &str, text: &str) -> String {
        let mut parts = text.split(OPEN);
        let mut rewritten = parts.next().unwrap().to_owned();
        for part in parts {
            let (name, rest) = part.split_once(" -->").unwrap();
            let (_, rest) = rest.split_once(CLOSE).unwrap_or_else(|| panic!("{page}: no {CLOSE} for {name}"));
            let _ = write!(rewritten, "{OPEN}{name} -->\n\n{}\n{CLOSE}{rest}", self.rows(page, name));
        }
        rewritten
    }

    fn rows(&self, page: &str, name: &str) -> String {
        let table = self.table(name).unwrap_or_else(|| panic!("{page}: the schema has no table {name}"));
        let required = table.get("required").and_then(Value::as_array).unwrap_or_default();
        let is_required = |key: &str| required.iter().any(|one| one.as_str() == Some(key));
        let mut rows = "| key | type | default | means |\n|---|---|---|---|\n".to_owned();
        for (key, schema) in table.get("properties").unwrap().as_object().unwrap() {
            let described = schema["description"].as_str().unwrap_or_else(|| panic!("{name}.{key} has no doc comment"));
            let (means, default) = match described.split_once(" Default: ") {
                Some((means, default)) => (means, default.strip_suffix('.').unwrap()),
                None if is_required(key) => (described, "required"),
                None if schema["type"].as_str() == Some("boolean") => (described, "`false`"),
                None => (described, "none"),
            };
            let kind = match self.places.get(key).filter(|_| name == "File") {
                Some(place) => link(page, &plain(&self.kind(page, schema, false)), place),
                None => self.kind(page, schema, false),
            };
            let cells = [format!("`{key}`"), kind, default.to_owned(), means.to_owned()];
            let cells = cells.map(|cell| cell.replace('|', "\\|"));
            let _ = writeln!(rows, "| {} |", cells.join(" | "));
        }
        rows
    }

    /// The schema of a table, by the name in its mark.
    fn table(&self, name: &str) -> Option<&'s Object> {
        let (of, key) = name.split_once('.').map_or((name, None), |(of, key)| (of, Some(key)));
        let whole = if of == "File" { self.schema } else { &self.schema["$defs"][of] };
        match key {
            Some(key) => inline_table(&whole["properties"][key]),
            None => whole.as_object().filter(|whole| whole.contains_key("properties")),
        }
    }

    /// The names of all tables with keys.
    fn tables(&self) -> Vec<String> {
        let types = self.schema["$defs"].as_object().unwrap().iter();
        let types = types.filter(|(name, _)| *name != WITHOUT_ROWS);
        let mut tables = Vec::new();
        for (name, schema) in types.chain([("File", self.schema)]) {
            let Some(keys) = schema["properties"].as_object() else { continue };
            tables.push(name.to_owned());
            let inline = keys.iter().filter(|(_, schema)| inline_table(schema).is_some());
            // A denial has the keys of a permit.
            let inline = inline.filter(|(key, _)| !["Mode.denies"].contains(&format!("{name}.{key}").as_str()));
            tables.extend(inline.map(|(key, _)| format!("{name}.{key}")));
        }
        tables
    }

    /// The kind of a value in words, in the plural if `many`.
    fn kind(&self, page: &str, schema: &Value, many: bool) -> String {
        let plural = |word: &str| if many { format!("{word}s") } else { word.to_owned() };
        if let Some(name) = schema["$ref"].as_str().and_then(|path| path.strip_prefix("#/$defs/")) {
            let named = &self.schema["$defs"][name];
            if let Some(words) = words(named) {
                return if words.len() > WORDS { plural("word") } else { words.join(", ") };
            }
            let place = self.places.get(&format!("{OPEN}{name}")).or_else(|| {
                let of_file = self.schema["properties"].as_object().unwrap().iter();
                let mut refers = of_file.filter(|(_, one)| one["$ref"] == schema["$ref"]);
                self.places.get(refers.next()?.0)
            });
            return place.map_or_else(|| plural("table"), |place| link(page, &plural("table"), place));
        }
        if let Some(choices) = schema["anyOf"].as_array() {
            let choices: Vec<&Value> =
                choices.iter().filter(|choice| choice["type"].as_str() != Some("null")).collect();
            return match choices[..] {
                [one, list] if list["items"] == *one => format!("{} or {}", self.kind(page, one, many), plural("list")),
                [one, by_tier] if by_tier["additionalProperties"] == *one => {
                    format!("{}{BY_TIER}", self.kind(page, one, many))
                }
                _ => choices.iter().map(|choice| self.kind(page, choice, many)).collect::<Vec<_>>().join(" or "),
            };
        }
        let kind = match &schema["type"] {
            kinds if kinds.is_array() => kinds[0].as_str(),
            kind => kind.as_str(),
        };
        let format = schema["format"].as_str();
        match kind {
            Some("array") => format!("list of {}", self.kind(page, &schema["items"], true)),
            Some("object") if schema.get("properties").is_some() => {
                let same = |place: &&String| {
                    place.strip_prefix(OPEN).is_some_and(|name| self.table(name) == schema.as_object())
                };
                let place = self.places.keys().find(same).map(|mark| &self.places[mark]);
                place.map_or_else(|| plural("table"), |place| link(page, &plural("table"), place))
            }
            Some("object") => {
                let values = self.kind(page, &schema["additionalProperties"], true);
                match values.strip_suffix(BY_TIER) {
                    Some(values) => format!("{values} by name{BY_TIER}"),
                    None => format!("{values} by name"),
                }
            }
            Some("boolean") => "`true`, `false`".to_owned(),
            Some("integer" | "number") => plural("number"),
            Some("string") => self.format(page, format.unwrap_or("text"), many),
            _ => match format {
                Some(format) => self.format(page, format, many),
                None => if many { "values" } else { "any" }.to_owned(),
            },
        }
    }

    /// The kind of a text, with a link to its explanation.
    fn format(&self, page: &str, format: &str, many: bool) -> String {
        let text = if many { format!("{format}s") } else { format.to_owned() };
        let chapter = CHAPTERS.iter().find(|(of, _)| *of == format).map(|(_, title)| (*title).to_owned());
        match self.places.get(&chapter.unwrap_or_else(|| format!("{format}s"))) {
            Some(place) => link(page, &text, place),
            None => text,
        }
    }
}

/// The table among the forms of a key, if it is not a named type in the schema.
fn inline_table(schema: &Value) -> Option<&Object> {
    let forms = schema.get("items").unwrap_or(schema)["anyOf"].as_array()?;
    forms.iter().find_map(|form| form.as_object().filter(|form| form.contains_key("properties")))
}

/// The words of a closed list.
fn words(schema: &Value) -> Option<Vec<String>> {
    let words: Vec<&Value> = match (schema["oneOf"].as_array(), schema["enum"].as_array()) {
        (Some(words), _) => words.iter().map(|word| &word["const"]).collect(),
        (_, words) => words?.iter().collect(),
    };
    words.into_iter().map(|word| Some(format!("`{}`", word.as_str()?))).collect()
}

fn link(page: &str, text: &str, (at, anchor): &(String, String)) -> String {
    let file = if at == page { "" } else { at };
    format!("[{text}]({file}#{anchor})")
}

/// A text with its links replaced by their words.
fn plain(text: &str) -> String {
    let mut parts = text.split('[');
    let first = parts.next().unwrap_or_default().to_owned();
    parts.fold(first, |text, part| match part.split_once(']') {
        Some((label, rest)) => format!("{text}{label}{}", rest.split_once(')').map_or("", |(_, rest)| rest)),
        None => format!("{text}[{part}"),
    })
}
