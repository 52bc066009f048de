//! Decoding: does this TOML value have the shape that its key asks for?
//!
//! In: the spanned tree of a TOML file.
//! Out: surface types, and a diagnostic with its place for each value that does not fit.
//! Never: knows what a key means, or stops at the first fault.
//!
//! A misspelt key is reported, and then read as the key that was probably meant, so that its absence is not reported as
//! well.

use super::syntax;
use crate::diagnostic::{Code, Diagnostic, Strategy, meant, nearest};
use crate::text::{Location, SourceId, Span, Spanned, excerpt};
use indexmap::IndexMap;
use std::borrow::Cow;
use std::ops::Range;
use toml::de::{DeTable, DeValue};

/// A TOML value with its place.
pub(crate) type TomlNode<'t> = toml::Spanned<DeValue<'t>>;

/// Named declarations, in order; the place is that of the name.
pub type Named<T> = IndexMap<String, Spanned<T>>;

/// The reading of one file: where it is, and what was found so far.
#[derive(Debug)]
pub(crate) struct Decoder<'r> {
    source: SourceId,
    text: &'r str,
    offset: usize,
    pub(crate) diagnostics: &'r mut Vec<Diagnostic>,
    /// The places of named things and list entries that have faults. What seems missing in them may be due to a fault.
    pub(crate) torn: Vec<Location>,
    /// The names of things that could not be read at all.
    pub(crate) unreadable: Vec<String>,
    /// The keys of the tables being read, outermost first.
    around: Vec<&'static [&'static str]>,
    /// Whether the next table is an entry of a list.
    listed: bool,
    /// The strategies that fit the defect being read.
    pub(super) fitting: &'static [Strategy],
    /// Whether a header occurs twice: one of the two was probably meant for something else.
    pub(super) doubled: bool,
}

/// The words in messages for a table with fixed keys, and for one whose keys are names that the author chooses.
const TABLE: &str = "a table";
const TABLES: &str = "a table for each name";

/// What was read under keys that their table does not know.
#[derive(Default)]
pub(crate) struct Guesses<'t> {
    /// The keys that were probably meant, and that are set only by that guess.
    meant: Vec<&'static str>,
    /// The value of the only key that resembles none, and the number of its diagnostic.
    only: Option<(usize, TomlNode<'t>)>,
}

impl<'r> Decoder<'r> {
    pub(crate) fn new(source: SourceId, text: &'r str, diagnostics: &'r mut Vec<Diagnostic>) -> Self {
        Self {
            source,
            text,
            offset: 0,
            diagnostics,
            torn: Vec::new(),
            unreadable: Vec::new(),
            around: Vec::new(),
            listed: false,
            fitting: Strategy::ALL,
            doubled: false,
        }
    }

    /// Notes that a table with these keys is being read, until [`Self::leave`].
    pub(crate) fn enter(&mut self, keys: &'static [&'static str]) {
        self.around.push(keys);
    }

    /// Notes that the table has been read.
    pub(crate) fn leave(&mut self) {
        self.around.pop();
    }

    /// Advice for a key that does not belong in this table, but in one around it. Keys of the whole file are left out:
    /// headers distinguish them.
    pub(crate) fn misplaced(&self, key: &str) -> Option<String> {
        let is_known = self.around.iter().skip(1).any(|keys| keys.contains(&key));
        is_known.then(|| format!("`{key}` is a key of the table around this one: move it up there"))
    }

    /// The same decoder for TOML that starts at the byte `offset` of its source.
    pub(crate) fn starting_at(self, offset: usize) -> Self {
        Self { offset, ..self }
    }

    pub(crate) fn at(&self, span: Range<usize>) -> Location {
        Location { source: self.source, span: Span::new(span.start + self.offset, span.end + self.offset) }
    }

    /// The place of a value. For a text of several lines without escapes this is the text between the quotes, so that a
    /// word in it has its own place.
    pub(crate) fn place(&self, node: &TomlNode<'_>) -> Location {
        let span = node.span();
        let between = match node.get_ref() {
            DeValue::String(text) => ["'''", "\"\"\""]
                .into_iter()
                .find_map(|quotes| {
                    let literal = self.text.get(span.clone())?.strip_prefix(quotes)?.strip_suffix(quotes)?;
                    literal.ends_with(text.as_ref()).then_some(quotes.len())
                })
                .map(|quotes| span.end - quotes - text.len()..span.end - quotes),
            _ => None,
        };
        self.at(between.unwrap_or(span))
    }

    pub(crate) fn report(&mut self, diagnostic: Diagnostic) {
        self.diagnostics.push(diagnostic);
    }

    /// Decodes one of several named or listed things, which is at `at`.
    fn entry<T: Decode>(&mut self, node: &TomlNode<'_>, at: Location) -> Option<T> {
        let before = self.diagnostics.len();
        let value = T::decode(node, self);
        if self.diagnostics.len() > before {
            self.torn.push(at);
        }
        value
    }

    /// Reports that `node` is not what was `wanted`.
    pub(crate) fn misfit<T>(&mut self, node: &TomlNode<'_>, wanted: &str) -> Option<T> {
        let at = self.at(node.span());
        let got = match node.get_ref() {
            DeValue::Integer(number) if number.as_str().starts_with('-') => "a number below 0",
            value => type_name(value),
        };
        let mut diagnostic = Diagnostic::new(Code::PACK_WRONG_TYPE, at, format!("expected {wanted}, found {got}"));
        let is_table = [TABLE, TABLES].contains(&wanted);
        diagnostic.help = match node.get_ref() {
            DeValue::Array(_) if wanted == "a string" => Some("it takes one: leave the brackets out".to_owned().into()),
            DeValue::String(text) if wanted.contains("number") && text.starts_with(|c: char| c.is_ascii_digit()) => {
                Some("write the number itself, without quotes and unit: `8000`".to_owned().into())
            }
            DeValue::String(text) if wanted == "a list" => {
                Some(format!("put it in brackets: `[\"{}\"]`", excerpt(text, 40)).into())
            }
            DeValue::Table(_) if wanted == "a list" => {
                Some(match Span::from(node.span()).of(self.text).starts_with('{') {
                    true => "put it in brackets: `[{ … }]`".to_owned().into(),
                    false => "each table of a list has its header in double brackets: `[[…]]`".to_owned().into(),
                })
            }
            DeValue::Array(_) if is_table && Span::from(node.span()).of(self.text).starts_with("[[") => {
                let name = (wanted == TABLES).then_some("NAME");
                let single = syntax::single_header(self.text, node.span().start, name);
                Some(format!("a table that is no list has its header in single brackets: `{single}`").into())
            }
            DeValue::String(text) if text.parse::<bool>().is_ok() || text.parse::<f64>().is_ok() => {
                Some("leave the quotes out".to_owned().into())
            }
            DeValue::Integer(_) | DeValue::Float(_) | DeValue::Boolean(_) | DeValue::Datetime(_)
                if wanted == "a string" =>
            {
                let value = Span::from(node.span()).of(self.text);
                Some(format!("put it in quotes: `\"{}\"`", excerpt(value, 40)).into())
            }
            DeValue::String(_) if is_table => Some("a table is keys with values: `{ key = … }`".to_owned().into()),
            _ => None,
        };
        self.report(diagnostic);
        None
    }

    /// The table in `node`, or a diagnostic.
    pub(crate) fn table<'n, 't>(&mut self, node: &'n TomlNode<'t>) -> Option<&'n DeTable<'t>> {
        match node.get_ref() {
            DeValue::Table(table) => Some(table),
            _ => self.misfit(node, TABLE),
        }
    }

    /// Reports each key of `table` that is not one of `known`, and moves its value to the key that was probably meant.
    pub(crate) fn known_keys<'t>(
        &mut self,
        table: &mut Cow<'_, DeTable<'t>>,
        known: &'static [&'static str],
    ) -> Guesses<'t> {
        let unknown = in_order(table).into_iter().map(|(key, _)| key);
        let unknown: Vec<_> = unknown.filter(|key| !known.contains(&key.get_ref().as_ref())).cloned().collect();
        let mut guesses = Guesses::default();
        let listed = std::mem::take(&mut self.listed);
        for key in &unknown {
            self.unknown_key(key, known);
            // `[list.NAME]` is a table in the last entry of the list.
            let is_header = |at: usize| syntax::line_of(self.text, at).trim_start().starts_with('[');
            if listed && is_header(key.span().start) && nearest(key.get_ref(), known.iter().copied()).is_none() {
                let reported = self.diagnostics.last_mut();
                let help = "each entry of a list has its header in double brackets: `[[…]]`";
                reported.into_iter().for_each(|reported| reported.help = Some(help.to_owned().into()));
            }
            let name = key.get_ref().as_ref();
            let Some(value) = table.to_mut().remove(name) else { continue };
            let meant = meant(name, known).or_else(|| nearest(name, known.iter().copied()));
            let meant = meant.filter(|_| self.misplaced(name).is_none());
            match (meant.map(|meant| (meant, table.to_mut().get_mut(meant))), value.get_ref()) {
                (Some((_, Some(there))), _) => merge(there, value),
                (Some((meant, None)), _) => {
                    table.to_mut().insert(toml::Spanned::new(key.span(), meant.to_owned().into()), value);
                    guesses.meant.push(meant);
                }
                // What an unknown table declares may be named elsewhere: that is no second fault.
                (None, DeValue::Table(inside)) => {
                    let names = in_order(inside).into_iter().map(|(key, _)| key.get_ref().as_ref().to_owned());
                    self.unreadable.extend(names);
                }
                (None, _) if unknown.len() == 1 && self.misplaced(name).is_none() => {
                    guesses.only = Some((self.diagnostics.len() - 1, value));
                }
                (None, _) => {}
            }
        }
        guesses
    }

    /// Reports that a key is none of `known`.
    pub(super) fn unknown_key(&mut self, key: &toml::Spanned<Cow<'_, str>>, known: &[&str]) {
        let name = key.get_ref().as_ref();
        let message = format!("there is no key `{name}` here");
        let fault = Diagnostic::new(Code::PACK_UNKNOWN_KEY, self.at(key.span()), message);
        self.report(match (self.misplaced(name), meant(name, known)) {
            (Some(help), _) => fault.with_help(help),
            (None, Some(meant)) => fault.with_help(format!("did you mean `{meant}`?")),
            _ if known.contains(&"effects") && super::Effect::KEYS.contains(&name) => {
                fault.with_help(format!("it is said in an effect: `effects = [{{ {name} = … }}]`"))
            }
            (None, None) => fault.with_nearest(name, known.iter().copied()),
        });
    }

    /// Decodes a value under a misspelt key. One that does not fit was probably meant for something else, and is not
    /// reported.
    pub(crate) fn guessed<T: Decode>(&mut self, node: &TomlNode<'_>) -> Option<T> {
        let before = self.diagnostics.len();
        let value = T::decode(node, self);
        if value.is_none() {
            self.diagnostics.truncate(before);
        }
        value
    }

    /// The word of a closed list in `node`; `what` and `code` are for the diagnostic if there is no such word.
    pub(crate) fn word<T: Copy>(
        &mut self,
        node: &TomlNode<'_>,
        what: &str,
        code: Code,
        all: &[T],
        word_of: impl Fn(T) -> &'static str,
    ) -> Option<T> {
        let word = String::decode(node, self)?;
        let found = all.iter().copied().find(|one| word_of(*one) == word);
        if found.is_none() {
            self.no_word(node, what, code, &all.iter().map(|one| word_of(*one)).collect::<Vec<_>>());
        }
        found
    }

    /// Reports that the text in `node` is none of the words that fit there.
    pub(crate) fn no_word(&mut self, node: &TomlNode<'_>, what: &str, code: Code, fitting: &[&'static str]) {
        let word = node.get_ref().as_str().unwrap_or_default();
        let message = format!("there is no {what} `{}`", excerpt(word, 60));
        let fault = Diagnostic::new(code, self.at(node.span()), message);
        self.report(match meant(word, fitting) {
            Some(meant) => fault.with_help(format!("did you mean `{meant}`?")),
            None => fault.with_nearest(word, fitting.iter().copied()),
        });
    }

    /// Whether the table being read is one with these keys.
    pub(crate) fn is_in(&self, keys: &[&str]) -> bool {
        self.around.last().is_some_and(|around| *around == keys)
    }

    /// The table in `node`, or one with only `key` if `node` is a string; messages call the two `form`.
    pub(super) fn table_or_name<'n, 't>(
        &mut self,
        node: &'n TomlNode<'t>,
        key: &'static str,
        form: &str,
    ) -> Option<Cow<'n, DeTable<'t>>> {
        match node.get_ref() {
            DeValue::Table(table) => Some(Cow::Borrowed(table)),
            DeValue::String(_) => {
                let key = toml::Spanned::new(node.span(), key.into());
                Some(Cow::Owned(DeTable::from_iter([(key, node.clone())])))
            }
            _ => self.misfit(node, form),
        }
    }

    /// The value of `key`, or its default if it is absent. A missing required key is reported.
    pub(crate) fn field<T: Decode>(
        &mut self,
        table: &DeTable<'_>,
        key: &str,
        guesses: &mut Guesses<'_>,
        around: Location,
    ) -> Option<T> {
        match table.get(key) {
            Some(node) if guesses.meant.contains(&key) => self.guessed(node).or_else(T::absent),
            Some(node) => T::decode(node, self).or_else(T::absent),
            None => T::absent().or_else(|| self.missed(key, guesses, around)),
        }
    }

    /// The value under the only unknown key of the table, if it fits the required `key`; otherwise `key` is reported as
    /// missing.
    fn missed<T: Decode>(&mut self, key: &str, guesses: &mut Guesses<'_>, around: Location) -> Option<T> {
        if let Some((reported, node)) = guesses.only.take() {
            let value = self.guessed(&node);
            if let (Some(_), Some(reported)) = (&value, self.diagnostics.get_mut(reported)) {
                reported.help = Some(format!("did you mean `{key}`? it must be here").into());
                return value;
            }
        }
        let fault = Diagnostic::new(Code::PACK_MISSING_KEY, around, format!("the key `{key}` is missing"));
        self.report(fault.with_help(format!("add `{key} = …`")));
        None
    }
}

/// Merges what was under a misspelt name into a table or list; what is already there comes first.
fn merge<'t>(there: &mut TomlNode<'t>, more: TomlNode<'t>) {
    let start = more.span().start;
    match (there.get_mut(), more.into_inner()) {
        (DeValue::Table(there), DeValue::Table(more)) => {
            for (key, value) in more {
                match there.get_mut(key.get_ref().as_ref()) {
                    Some(known) => merge(known, value),
                    None => drop(there.insert(key, value)),
                }
            }
        }
        (DeValue::Array(there), DeValue::Array(more)) => {
            more.into_iter().for_each(|item| there.push(item));
            there.sort_by_key(|item| item.span().start);
        }
        // The table belongs to the last entry of the list that is before it.
        (DeValue::Array(there), more @ DeValue::Table(_)) => {
            if let Some(last) = there.iter_mut().rfind(|item| item.span().start < start) {
                merge(last, toml::Spanned::new(start..start, more));
            }
        }
        _ => {}
    }
}

/// The members of a table in the order of the file. The order of the map is that of the names, unless a host turns on
/// the feature `preserve_order` of `toml`.
pub(crate) fn in_order<'n, 't>(table: &'n DeTable<'t>) -> Vec<(&'n toml::Spanned<Cow<'t, str>>, &'n TomlNode<'t>)> {
    let mut members: Vec<_> = table.iter().collect();
    members.sort_by_key(|(key, _)| key.span().start);
    members
}

/// A type that can be read from a TOML value.
pub(crate) trait Decode: Sized {
    /// The value, or `None` after a diagnostic.
    fn decode(node: &TomlNode<'_>, reading: &mut Decoder<'_>) -> Option<Self>;

    /// The value if the key is absent; `None` for a required key.
    fn absent() -> Option<Self> {
        None
    }
}

impl Decode for String {
    fn decode(node: &TomlNode<'_>, reading: &mut Decoder<'_>) -> Option<Self> {
        match node.get_ref() {
            DeValue::String(text) => Some(text.as_ref().to_owned()),
            _ => reading.misfit(node, "a string"),
        }
    }
}

impl Decode for bool {
    fn decode(node: &TomlNode<'_>, reading: &mut Decoder<'_>) -> Option<Self> {
        match node.get_ref() {
            DeValue::Boolean(flag) => Some(*flag),
            _ => reading.misfit(node, "`true` or `false`"),
        }
    }

    fn absent() -> Option<Self> {
        Some(false)
    }
}

impl Decode for usize {
    fn decode(node: &TomlNode<'_>, reading: &mut Decoder<'_>) -> Option<Self> {
        let number = match node.get_ref() {
            DeValue::Integer(number) => usize::from_str_radix(number.as_str(), number.radix()).ok(),
            _ => None,
        };
        number.or_else(|| reading.misfit(node, "a whole number from 0"))
    }
}

impl Decode for f64 {
    fn decode(node: &TomlNode<'_>, reading: &mut Decoder<'_>) -> Option<Self> {
        let number: Option<f64> = match node.get_ref() {
            DeValue::Integer(number) => number.as_str().parse().ok(),
            DeValue::Float(number) => number.as_str().parse().ok(),
            _ => None,
        };
        number.filter(|number| number.is_finite()).or_else(|| reading.misfit(node, "a number"))
    }
}

impl<T: Decode> Decode for Option<T> {
    fn decode(node: &TomlNode<'_>, reading: &mut Decoder<'_>) -> Option<Self> {
        T::decode(node, reading).map(Some)
    }

    fn absent() -> Option<Self> {
        Some(None)
    }
}

impl<T: Decode> Decode for Spanned<T> {
    fn decode(node: &TomlNode<'_>, reading: &mut Decoder<'_>) -> Option<Self> {
        let at = reading.place(node);
        Some(Spanned::new(T::decode(node, reading)?, at))
    }
}

impl<T: Decode> Decode for Vec<T> {
    fn decode(node: &TomlNode<'_>, reading: &mut Decoder<'_>) -> Option<Self> {
        match node.get_ref() {
            DeValue::Array(items) => {
                let entry = |item: &TomlNode<'_>| {
                    reading.listed = true;
                    let entry = reading.entry(item, reading.at(item.span()));
                    reading.listed = false;
                    entry
                };
                Some(items.iter().filter_map(entry).collect())
            }
            _ => reading.misfit(node, "a list"),
        }
    }

    fn absent() -> Option<Self> {
        Some(Vec::new())
    }
}

impl<T: Decode> Decode for Named<T> {
    fn decode(node: &TomlNode<'_>, reading: &mut Decoder<'_>) -> Option<Self> {
        let DeValue::Table(table) = node.get_ref() else { return reading.misfit(node, TABLES) };
        let mut named = Named::new();
        for (key, value) in in_order(table) {
            let at = reading.at(key.span());
            let name = key.get_ref().as_ref().to_owned();
            let before = reading.diagnostics.len();
            let entry = reading.entry(value, at);
            // A single value among tables may be a key that was typed below the wrong header.
            if entry.is_none()
                && let Some(help) = reading.misplaced(&name)
                && let [fault] = reading.diagnostics.get_mut(before..).unwrap_or_default()
                && fault.code == Code::PACK_WRONG_TYPE
            {
                fault.help = Some(help.into());
            }
            match entry {
                Some(value) => drop(named.insert(name, Spanned::new(value, at))),
                None => reading.unreadable.push(name),
            }
        }
        Some(named)
    }

    fn absent() -> Option<Self> {
        Some(Named::new())
    }
}

/// One name or several. An empty list is an error: it would be unclear whether it means none or all.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct OneOrMany(pub Vec<Spanned<String>>);

impl Decode for OneOrMany {
    fn decode(node: &TomlNode<'_>, reading: &mut Decoder<'_>) -> Option<Self> {
        if let DeValue::Array(items) = node.get_ref()
            && items.is_empty()
        {
            let message = "this list is empty, which is the same as if the key were not there";
            let fault = Diagnostic::new(Code::PACK_WRONG_VALUE, reading.place(node), message);
            reading.report(fault.with_help("name at least one, or take the key out"));
            return None;
        }
        OneOrMore::decode(node, reading).map(|names| OneOrMany(names.0))
    }

    fn absent() -> Option<Self> {
        Some(OneOrMany(Vec::new()))
    }
}

/// One value or a list of them.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct OneOrMore<T>(pub Vec<T>);

impl<T> Default for OneOrMore<T> {
    fn default() -> Self {
        Self(Vec::new())
    }
}

impl<T: Decode> Decode for OneOrMore<T> {
    fn decode(node: &TomlNode<'_>, reading: &mut Decoder<'_>) -> Option<Self> {
        match node.get_ref() {
            DeValue::Array(_) => Vec::decode(node, reading).map(OneOrMore),
            _ => T::decode(node, reading).map(|one| OneOrMore(vec![one])),
        }
    }

    fn absent() -> Option<Self> {
        Some(OneOrMore(Vec::new()))
    }
}

/// The name of the type of a TOML value, for messages.
fn type_name(value: &DeValue<'_>) -> &'static str {
    match value {
        DeValue::String(_) => "a string",
        DeValue::Integer(_) => "a whole number",
        DeValue::Float(_) => "a number",
        DeValue::Boolean(_) => "a boolean",
        DeValue::Datetime(_) => "a date",
        DeValue::Array(_) => "a list",
        DeValue::Table(_) => "a table",
    }
}

#[cfg(feature = "schema")]
mod schema {
    use super::{OneOrMany, OneOrMore};
    use crate::text::Spanned;
    use schemars::{JsonSchema, Schema, SchemaGenerator, json_schema};
    use std::borrow::Cow;

    impl<T: JsonSchema> JsonSchema for Spanned<T> {
        fn inline_schema() -> bool {
            T::inline_schema()
        }
        fn schema_name() -> Cow<'static, str> {
            T::schema_name()
        }
        fn schema_id() -> Cow<'static, str> {
            T::schema_id()
        }
        fn json_schema(generator: &mut SchemaGenerator) -> Schema {
            T::json_schema(generator)
        }
    }

    impl JsonSchema for OneOrMany {
        fn inline_schema() -> bool {
            true
        }
        fn schema_name() -> Cow<'static, str> {
            "some names".into()
        }
        fn json_schema(_: &mut SchemaGenerator) -> Schema {
            json_schema!({ "anyOf": [
                { "type": "string" }, { "type": "array", "items": { "type": "string" }, "minItems": 1 }
            ] })
        }
    }

    impl<T: JsonSchema> JsonSchema for OneOrMore<T> {
        fn inline_schema() -> bool {
            true
        }
        fn schema_name() -> Cow<'static, str> {
            format!("one or more {}", T::schema_name()).into()
        }
        fn json_schema(generator: &mut SchemaGenerator) -> Schema {
            let one = generator.subschema_for::<T>();
            json_schema!({ "anyOf": [one.clone(), { "type": "array", "items": one }] })
        }
    }
}
