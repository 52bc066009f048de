//! Types: which types of values does a schema declare?
//!
//! In: a JSON Schema.
//! Out: [`Types`]: types, members, items and words, extracted once.
//! Never: decides whether a value is valid: a validator does.

use super::names::BlockNames;
use crate::expression::ENTRY;
use crate::value::Members;
use crate::value::Value as Json;
use std::cell::Cell;
use std::collections::BTreeSet;
use std::sync::{Arc, LazyLock};

/// The most references inside each other that are followed: a reference may lead back to itself.
const MAX_REFERENCES: usize = 8;
/// The most parts of a schema that are examined, including those behind references.
const MAX_PARTS: usize = 10_000;

/// What a schema declares, for a reader that makes values from text.
#[derive(Debug, Clone, Default)]
pub(crate) struct Types {
    pub(crate) kind: ValueKind,
    /// The members that it declares, if any.
    members: Option<Members<Types>>,
    /// Other spellings of the members' names, each with the declared name.
    spelled: Vec<(Arc<str>, Arc<str>)>,
    /// The types of all other members.
    others: Option<Box<Types>>,
    /// Of these, the ones with a path below the root.
    undeclared: Vec<(Arc<str>, Types)>,
    /// Whether other members are allowed.
    open: bool,
    items: Option<Box<Types>>,
    /// The types that a single text can have, in order.
    scalars: Vec<ValueKind>,
    /// The words of a closed list.
    words: Option<Vec<Arc<str>>>,
    /// Whether a text can only be one of these words.
    only_words: bool,
    /// Other spellings of the values of a closed list, each with its value.
    spelled_values: Vec<(Arc<str>, Json)>,
    /// Whether the schema, or a part of it, has other spellings.
    respells: bool,
    /// Whether a text is a path below the root.
    pub(crate) path: bool,
    /// Whether the value, or a part of it, is a path below the root.
    has_paths: bool,
    /// Whether the text of a parameter is used as written.
    pub(crate) verbatim: bool,
    /// Whether the schema names exactly one type, other than `null`.
    pub(crate) wants_value: bool,
}

/// The type of a value. If a schema allows several, the first of them other than `null`.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub(crate) enum ValueKind {
    /// There is no schema.
    #[default]
    Unknown,
    /// The schema does not name a type.
    Any,
    Null,
    Boolean,
    Integer,
    Number,
    String,
    Array,
    Object,
}

/// The types of a value without a schema.
static UNKNOWN: LazyLock<Types> = LazyLock::new(Types::default);

impl Types {
    pub(crate) fn unknown() -> &'static Self {
        &UNKNOWN
    }

    pub(super) fn of(schema: &Json) -> Self {
        Self::within(schema, schema, MAX_REFERENCES, &Cell::new(MAX_PARTS))
    }

    /// The types of parameters; the text of some is used as written.
    pub(super) fn of_params(schema: &Json, verbatim: &BTreeSet<String>) -> Self {
        let mut types = Self::of(schema);
        for name in verbatim {
            if let Some(one) = types.members.as_mut().and_then(|members| members.get_mut(name)) {
                one.verbatim = true;
            }
        }
        types
    }

    /// The same types, in which the value at the end of `path` is a path below the root.
    pub(super) fn with_path_at(mut self, path: &[String]) -> Self {
        match path.split_first() {
            None => self.path = true,
            Some((step, rest)) if step == ENTRY => {
                self.items = self.items.map(|items| Box::new(items.with_path_at(rest)));
            }
            Some((step, rest)) => {
                match self.members.as_mut().and_then(|members| members.get_mut(step)) {
                    Some(member) => *member = member.clone().with_path_at(rest),
                    // What is not declared is read as any value, but for its paths.
                    None => {
                        let others = self.others().unwrap_or(&UNKNOWN).clone();
                        self.undeclared.push((step.as_str().into(), others.with_path_at(rest)));
                    }
                }
            }
        }
        self.derived()
    }

    /// The types of a part of the schema `root`, in which references are resolved: at most `far` of them inside each
    /// other.
    fn within(schema: &Json, root: &Json, far: usize, parts: &Cell<usize>) -> Self {
        if schema.is_null() {
            return Self::default();
        }
        parts.set(parts.get().saturating_sub(1));
        if parts.get() == 0 {
            return Self::any();
        }
        let part = |schema: &Json| Self::within(schema, root, far, parts);
        let mut types = Self::own(schema, &part);
        let target = schema.get("$ref").and_then(Json::as_str);
        if let Some(target) = target.and_then(|target| root.pointer(target.strip_prefix('#')?)) {
            types = match far.checked_sub(1) {
                Some(far) => types.and(Self::within(target, root, far, parts)),
                None => Self::any(),
            };
        }
        for other in schema.get("allOf").and_then(Json::as_array).unwrap_or_default() {
            types = types.and(part(other));
        }
        for word in ["anyOf", "oneOf"] {
            let branches = schema.get(word).and_then(Json::as_array).unwrap_or_default();
            if let Some(either) = branches.iter().map(part).reduce(Self::or) {
                types = types.and(either);
            }
        }
        types
    }

    /// The types that allow any value.
    fn any() -> Self {
        Self { kind: ValueKind::Any, scalars: vec![ValueKind::Any], open: true, ..Self::default() }
    }

    /// The types that a schema declares itself, without its references.
    fn own(schema: &Json, part: &dyn Fn(&Json) -> Self) -> Self {
        let members = schema.get("properties").and_then(Json::as_object);
        let constant = schema.get("const").map(std::slice::from_ref);
        let words = schema.get("enum").and_then(Json::as_array).or(constant);
        let listed = words.map_or(ValueKind::Any, ValueKind::of_all);
        let scalars = match schema.get("type") {
            Some(Json::String(kind)) => vec![ValueKind::of(kind)],
            Some(Json::Array(kinds)) => kinds.iter().filter_map(Json::as_str).map(ValueKind::of).collect(),
            _ if members.is_some() => vec![ValueKind::Object],
            _ => vec![listed],
        };
        let others = schema.get("additionalProperties");
        let patterns = schema.get("patternProperties").and_then(Json::as_object);
        let first_pattern = patterns.and_then(|patterns| patterns.values().next());
        let properties = members.into_iter().flatten();
        let spelled =
            properties.flat_map(|(name, one)| spellings_of(one).map(move |other| (other.into(), name.into())));
        let values = schema.get("spelled").and_then(Json::as_array).unwrap_or_default();
        let value = |pair: &Json| match pair.as_array()? {
            [name, value] => Some((name.as_str()?.into(), value.clone())),
            _ => None,
        };
        let takes_texts = scalars.iter().any(|kind| matches!(kind, ValueKind::String | ValueKind::Any));
        Self {
            only_words: words.is_some() || !takes_texts,
            spelled: spelled.collect(),
            spelled_values: values.iter().filter_map(value).collect(),
            respells: false,
            path: schema.get("format").and_then(Json::as_str) == Some("relative-path"),
            has_paths: false,
            kind: ValueKind::Any,
            scalars,
            others: others.filter(|others| others.is_object()).or(first_pattern).map(|others| Box::new(part(others))),
            undeclared: Vec::new(),
            open: !matches!(others, None | Some(Json::Bool(false))) || patterns.is_some(),
            items: schema.get("items").map(|items| Box::new(part(items))),
            words: words.map(|words| words.iter().filter_map(Json::as_str).map(Arc::from).collect()),
            verbatim: false,
            wants_value: match schema.get("type") {
                Some(kind) => kind.as_str().is_some_and(|kind| kind != "null"),
                None => listed != ValueKind::Any && members.is_none(),
            },
            members: members.map(|members| members.iter().map(|(name, one)| (name.into(), part(one))).collect()),
        }
        .derived()
    }

    /// The same types, with the kind that follows from their scalars.
    fn derived(mut self) -> Self {
        let kinds = self.scalars.iter();
        let first = kinds.clone().find(|kind| **kind != ValueKind::Null).or(self.scalars.first());
        self.kind = first.copied().unwrap_or(ValueKind::Any);
        let members = self.members.iter().flat_map(Members::as_slice).map(|(_, types)| types);
        let undeclared = self.undeclared.iter().map(|(_, types)| types);
        let mut parts = members.chain(self.others.as_deref()).chain(self.items.as_deref()).chain(undeclared);
        self.has_paths = self.path || parts.clone().any(|part| part.has_paths);
        self.respells = !self.spelled.is_empty() || !self.spelled_values.is_empty() || parts.any(|part| part.respells);
        self
    }

    /// The types of a value that must satisfy both schemas.
    fn and(mut self, other: Self) -> Self {
        match (self.kind, other.kind) {
            (ValueKind::Any, _) => self.scalars.clone_from(&other.scalars),
            (_, ValueKind::Any) => {}
            _ => self.scalars.retain(|kind| other.scalars.contains(kind)),
        }
        self.open |= other.open;
        self.only_words |= other.only_words;
        self.wants_value |= other.wants_value;
        self.add(other);
        self.derived()
    }

    /// The types of a value that may satisfy either of the schemas.
    fn or(mut self, other: Self) -> Self {
        for kind in &other.scalars {
            if !self.scalars.contains(kind) {
                self.scalars.push(*kind);
            }
        }
        self.open |= other.open;
        self.only_words &= other.only_words;
        self.wants_value &= other.wants_value;
        self.add(other);
        self.derived()
    }

    /// Adds members, items and words; existing ones are not replaced.
    fn add(&mut self, other: Self) {
        if let Some(members) = other.members {
            let own = self.members.get_or_insert_default();
            for (name, types) in members.as_slice() {
                match own.get_mut(name) {
                    None => own.push(Arc::clone(name), types.clone()),
                    Some(before) => *before = before.clone().or(types.clone()),
                }
            }
        }
        self.path |= other.path;
        self.spelled.extend(other.spelled);
        self.others = self.others.take().or(other.others);
        self.items = self.items.take().or(other.items);
        if let Some(words) = other.words {
            self.words.get_or_insert_default().extend(words);
        }
        self.spelled_values.extend(other.spelled_values);
    }

    /// The member with this name, and its name as declared.
    pub(crate) fn member(&self, name: &str) -> Option<(&Arc<str>, &Types)> {
        let members = self.members.as_ref()?;
        members.as_slice().get(members.position(name)?).map(|(name, types)| (name, types))
    }

    /// Whether the member at the end of a path is declared.
    pub(crate) fn declares(&self, path: &[impl AsRef<str>]) -> bool {
        let Some((name, around)) = path.split_last() else { return false };
        let types = around.iter().fold(self, |types, step| match types.member(step.as_ref()) {
            Some((_, member)) => member,
            None if types.members.is_none() && types.items.is_some() => types.items(),
            None => types.of_member(step.as_ref()),
        });
        types.member(name.as_ref()).is_some()
    }

    /// The member that a response means by this name, compared by the dialect's rules: the declared name, or another
    /// spelling.
    pub(crate) fn called(&self, name: &str, names: &BlockNames) -> Option<(&Arc<str>, &Types)> {
        let alike = || names.in_any_case().then(|| self.members().find(|(known, _)| names.same(known, name)))?;
        let spelled = || self.spelled.iter().find(|(other, _)| names.same(other, name));
        self.member(name).or_else(alike).or_else(|| self.member(&spelled()?.1))
    }

    /// The other spellings of its members, each with the declared name.
    pub(crate) fn spellings(&self) -> impl Iterator<Item = (&Arc<str>, &Arc<str>)> {
        self.spelled.iter().map(|(other, declared)| (other, declared))
    }

    /// Whether the schema, or a part of it, has other spellings of a name or a value.
    pub(crate) fn respells(&self) -> bool {
        self.respells
    }

    /// Whether the value, or a part of it, is a path below the root.
    pub(crate) fn has_paths(&self) -> bool {
        self.has_paths
    }

    /// The value of the closed list that a text is another spelling of.
    pub(crate) fn value_called(&self, text: &str, names: &BlockNames) -> Option<&Json> {
        let is_word = || self.words.iter().flatten().any(|word| **word == *text);
        let spelled = self.spelled_values.iter().find(|(other, _)| names.same(other, text));
        spelled.filter(|_| !is_word()).map(|(_, value)| value)
    }

    /// The types of a member with this name, declared or not.
    pub(crate) fn of_member(&self, name: &str) -> &Types {
        let undeclared = || self.undeclared.iter().find(|(known, _)| **known == *name).map(|(_, types)| types);
        self.member(name).map(|(_, types)| types).or_else(undeclared).or(self.others()).unwrap_or(&UNKNOWN)
    }

    /// The types of members that are not declared.
    pub(crate) fn others(&self) -> Option<&Types> {
        self.others.as_deref()
    }

    /// The types that a single text can have, in order.
    pub(crate) fn scalars(&self) -> &[ValueKind] {
        &self.scalars
    }

    pub(crate) fn members(&self) -> impl Iterator<Item = (&Arc<str>, &Types)> {
        self.members.iter().flat_map(Members::as_slice).map(|(name, types)| (name, types))
    }

    /// Whether only declared members are allowed.
    pub(crate) fn is_closed(&self) -> bool {
        self.members.is_some() && !self.open
    }

    /// The types of the items of a list.
    pub(crate) fn items(&self) -> &Types {
        self.items.as_deref().unwrap_or(&UNKNOWN)
    }

    /// The word of the closed list that equals `text`, ignoring case, and white space and punctuation around it.
    pub(crate) fn word(&self, text: &str) -> Option<&Arc<str>> {
        let words = || self.words.iter().flatten().map(|word| (word, word));
        let spelled = || {
            self.spelled_values.iter().filter_map(|(other, value)| match value {
                Json::String(word) => Some((other, word)),
                _ => None,
            })
        };
        let same = |text: &str| {
            words().chain(spelled()).find(|(known, _)| known.eq_ignore_ascii_case(text)).map(|(_, word)| word)
        };
        same(text.trim()).or_else(|| same(text.trim_matches(|c: char| !c.is_alphanumeric())))
    }

    /// Whether a text can be this word: any text is allowed, or the word is in the closed list.
    pub(crate) fn takes_text(&self, text: &str) -> bool {
        let is_word = || self.words.iter().flatten().any(|word| **word == *text);
        self.scalars.contains(&ValueKind::String) && (!self.only_words || is_word())
    }

    /// Whether there is a closed list of words.
    pub(crate) fn has_words(&self) -> bool {
        self.words.as_ref().is_some_and(|words| !words.is_empty())
    }

    /// The only word of the closed list that occurs in `text`, ignoring case. A word inside a longer one does not
    /// count.
    pub(crate) fn word_in(&self, text: &str) -> Option<&Arc<str>> {
        fn occurs(word: &str, text: &str) -> bool {
            let ends_apart = |at: usize| !text.get(..at).is_some_and(|before| before.ends_with(char::is_alphanumeric));
            let goes_on = |at: usize| text.get(at..).is_some_and(|behind| behind.starts_with(char::is_alphanumeric));
            let mut found = text.match_indices(word);
            !word.is_empty() && found.any(|(at, _)| ends_apart(at) && !goes_on(at + word.len()))
        }
        let text = text.to_lowercase();
        let words = || self.words.iter().flatten();
        let longest = words().filter(|word| occurs(&word.to_lowercase(), &text)).max_by_key(|word| word.len())?;
        let rest = text.replace(&longest.to_lowercase(), " ");
        (!words().any(|word| occurs(&word.to_lowercase(), &rest))).then_some(longest)
    }
}

/// The other spellings of a member, from its schema.
pub(super) fn spellings_of(schema: &Json) -> impl Iterator<Item = &str> {
    schema.get("names").and_then(Json::as_array).unwrap_or_default().iter().filter_map(Json::as_str)
}

impl ValueKind {
    /// The type of all values in a closed list, if they are all words, numbers or booleans.
    fn of_all(values: &[Json]) -> Self {
        let kind = |value: &Json| match value {
            Json::Bool(_) => ValueKind::Boolean,
            Json::String(_) => ValueKind::String,
            Json::Number(number) if number.is_f64() => ValueKind::Number,
            Json::Number(_) => ValueKind::Integer,
            Json::Null | Json::Array(_) | Json::Object(_) => ValueKind::Any,
        };
        let both = |one: ValueKind, other: ValueKind| match (one, other) {
            (one, other) if one == other => one,
            (ValueKind::Integer | ValueKind::Number, ValueKind::Integer | ValueKind::Number) => ValueKind::Number,
            _ => ValueKind::Any,
        };
        values.iter().map(kind).reduce(both).unwrap_or(ValueKind::Any)
    }

    fn of(word: &str) -> Self {
        match word {
            "null" => ValueKind::Null,
            "boolean" => ValueKind::Boolean,
            "integer" => ValueKind::Integer,
            "number" => ValueKind::Number,
            "string" => ValueKind::String,
            "array" => ValueKind::Array,
            "object" => ValueKind::Object,
            _ => ValueKind::Any,
        }
    }
}
