//! Types: of which kinds are the values that a schema declares?
//!
//! In: a JSON Schema.
//! Out: [`Types`]: kinds, members, items and words, looked up once.
//! Never: says whether a value fits: that is the validator's to say.

use crate::value::Members;
use serde_json::Value as Json;
use std::sync::{Arc, LazyLock};

/// What a schema says to those who read a value from text.
#[derive(Debug, Default)]
pub(crate) struct Types {
    pub(crate) kind: Kind,
    /// The members that it declares, if it declares any.
    members: Option<Members<Types>>,
    /// What it says of others.
    others: Option<Box<Types>>,
    /// Whether there are others.
    open: bool,
    items: Option<Box<Types>>,
    /// The kinds that one text may have, in order.
    scalars: Vec<Kind>,
    /// The texts of a closed list.
    words: Option<Vec<Arc<str>>>,
    /// Whether it names one type, which is not `null`.
    pub(crate) wants_value: bool,
}

/// A kind of values; of several that a schema allows, the first that is a value.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub(crate) enum Kind {
    /// There is no schema.
    #[default]
    Unknown,
    /// The schema does not say.
    Any,
    Null,
    Boolean,
    Integer,
    Number,
    String,
    Array,
    Object,
}

/// Of what no schema declares.
static UNKNOWN: LazyLock<Types> = LazyLock::new(Types::default);

impl Types {
    pub(crate) fn unknown() -> &'static Self {
        &UNKNOWN
    }

    pub(super) fn of(schema: &Json) -> Self {
        if schema.is_null() {
            return Self::default();
        }
        let members = schema.get("properties").and_then(Json::as_object);
        let words = schema.get("enum").and_then(Json::as_array);
        let listed = words.map_or(Kind::Any, |values| Kind::of_all(values));
        let scalars = match schema.get("type") {
            Some(Json::String(kind)) => vec![Kind::of(kind)],
            Some(Json::Array(kinds)) => kinds.iter().filter_map(Json::as_str).map(Kind::of).collect(),
            _ if members.is_some() => vec![Kind::Object],
            _ => vec![listed],
        };
        let kind = scalars.iter().find(|kind| **kind != Kind::Null).or(scalars.first()).copied().unwrap_or(Kind::Any);
        let others = schema.get("additionalProperties");
        Self {
            kind,
            scalars,
            others: others.filter(|others| others.is_object()).map(|others| Box::new(Self::of(others))),
            open: !matches!(others, None | Some(Json::Bool(false))),
            items: schema.get("items").map(|items| Box::new(Self::of(items))),
            words: words.map(|words| words.iter().filter_map(Json::as_str).map(Arc::from).collect()),
            wants_value: match schema.get("type") {
                Some(kind) => kind.as_str().is_some_and(|kind| kind != "null"),
                None => kind == listed && kind != Kind::Any,
            },
            members: members
                .map(|members| members.iter().map(|(name, one)| (name.as_str().into(), Self::of(one))).collect()),
        }
    }

    /// The member of this name, with its name as it is declared.
    pub(crate) fn member(&self, name: &str) -> Option<(&Arc<str>, &Types)> {
        let members = self.members.as_ref()?;
        members.as_slice().get(members.position(name)?).map(|(name, types)| (name, types))
    }

    /// What a member of this name is, declared or not.
    pub(crate) fn of_member(&self, name: &str) -> &Types {
        self.member(name).map(|(_, types)| types).or(self.others()).unwrap_or(&UNKNOWN)
    }

    /// What it says of members that it does not name.
    pub(crate) fn others(&self) -> Option<&Types> {
        self.others.as_deref()
    }

    /// The kinds that one text may have, in order.
    pub(crate) fn scalars(&self) -> &[Kind] {
        &self.scalars
    }

    pub(crate) fn members(&self) -> impl Iterator<Item = (&Arc<str>, &Types)> {
        self.members.iter().flat_map(Members::as_slice).map(|(name, types)| (name, types))
    }

    /// Whether it declares all the members that there may be.
    pub(crate) fn is_closed(&self) -> bool {
        self.members.is_some() && !self.open
    }

    /// What the items of a list are.
    pub(crate) fn items(&self) -> &Types {
        self.items.as_deref().unwrap_or(&UNKNOWN)
    }

    /// The word of its closed list that this is in another case or with white space around it.
    pub(crate) fn word(&self, text: &str) -> Option<&Arc<str>> {
        self.words.iter().flatten().find(|word| word.eq_ignore_ascii_case(text.trim()))
    }
}

impl Kind {
    /// The kind that all values of a closed list have, where they are words, numbers or truth values.
    fn of_all(values: &[Json]) -> Self {
        let kind = |value: &Json| match value {
            Json::Bool(_) => Kind::Boolean,
            Json::String(_) => Kind::String,
            Json::Number(number) if number.is_f64() => Kind::Number,
            Json::Number(_) => Kind::Integer,
            Json::Null | Json::Array(_) | Json::Object(_) => Kind::Any,
        };
        let both = |one: Kind, other: Kind| match (one, other) {
            (one, other) if one == other => one,
            (Kind::Integer | Kind::Number, Kind::Integer | Kind::Number) => Kind::Number,
            _ => Kind::Any,
        };
        values.iter().map(kind).reduce(both).unwrap_or(Kind::Any)
    }

    fn of(word: &str) -> Self {
        match word {
            "null" => Kind::Null,
            "boolean" => Kind::Boolean,
            "integer" => Kind::Integer,
            "number" => Kind::Number,
            "string" => Kind::String,
            "array" => Kind::Array,
            "object" => Kind::Object,
            _ => Kind::Any,
        }
    }
}
