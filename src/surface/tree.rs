//! Trees: what did the author write where any value is allowed?
//!
//! In: a TOML value of any shape.
//! Out: [`Tree`], which keeps the place of every string and member, and its JSON.
//! Never: reads templates or schemas; other floors do.

use super::decode::{Decode, Decoder, TomlNode, in_order};
use crate::text::{Location, Spanned, pointer_steps};
use crate::value::{Number, Object, Value};
use toml::de::{DeTable, DeValue};

/// A value of any shape, with places.
#[derive(Debug, Clone, PartialEq)]
pub enum Tree {
    /// A string; in effects it is a template.
    Text(Spanned<String>),
    /// A list.
    List(Vec<Tree>, Location),
    /// A table, in the order of the file.
    Table(Vec<(Spanned<String>, Tree)>, Location),
    /// A number, a boolean, or a date as text.
    Constant(Value, Location),
}

impl Tree {
    /// A value that is not from a file of the pack, with one place for all of it.
    pub(crate) fn of_value(value: &Value, at: Location) -> Self {
        match value {
            Value::String(text) => Tree::Text(Spanned::new((**text).to_owned(), at)),
            Value::Array(items) => Tree::List(items.iter().map(|item| Self::of_value(item, at)).collect(), at),
            Value::Object(members) => {
                let member =
                    |(name, value): (&str, &Value)| (Spanned::new(name.to_owned(), at), Self::of_value(value, at));
                Tree::Table(members.iter().map(member).collect(), at)
            }
            constant => Tree::Constant(constant.clone(), at),
        }
    }

    /// Where it is.
    pub fn at(&self) -> Location {
        match self {
            Tree::Text(text) => text.at,
            Tree::List(_, at) | Tree::Table(_, at) | Tree::Constant(_, at) => *at,
        }
    }

    /// The member called `name`, if this is a table that has one.
    pub fn get(&self, name: &str) -> Option<&Tree> {
        match self {
            Tree::Table(members, _) => members.iter().find(|(key, _)| key.value == name).map(|(_, value)| value),
            _ => None,
        }
    }

    /// The member called `name`, if it is a text.
    pub(crate) fn text(&self, name: &str) -> Option<&Spanned<String>> {
        match self.get(name)? {
            Tree::Text(text) => Some(text),
            _ => None,
        }
    }

    /// In a schema: the schema of the property called `name`.
    pub(crate) fn property(&self, name: &str) -> Option<&Tree> {
        self.get("properties")?.get(name)
    }

    /// In a schema: the other spellings that its `names` lists.
    pub(crate) fn names(&self) -> impl Iterator<Item = &Spanned<String>> {
        let names = match self.get("names") {
            Some(Tree::List(names, _)) => names.as_slice(),
            _ => &[],
        };
        names.iter().filter_map(|name| if let Tree::Text(name) = name { Some(name) } else { None })
    }

    /// In the `enum` of a schema: the value of `{ value = …, names = […] }`, an entry with other spellings.
    pub(crate) fn spelled_value(&self) -> Option<&Tree> {
        let Tree::Table(members, _) = self else { return None };
        (members.len() == 2 && matches!(self.get("names"), Some(Tree::List(..)))).then(|| self.get("value"))?
    }

    /// The place of the part that a JSON pointer points to, or of its name if `named`; if there is none, that of the
    /// nearest part around it.
    pub(crate) fn place(&self, pointer: &str, named: bool) -> Location {
        let (mut tree, mut name) = (self, None);
        for step in pointer_steps(pointer) {
            let next = match tree {
                Tree::Table(members, _) => {
                    members.iter().find(|(key, _)| key.value == step).map(|(key, value)| (Some(key.at), value))
                }
                Tree::List(items, _) => step.parse().ok().and_then(|at: usize| items.get(at)).map(|item| (None, item)),
                Tree::Text(_) | Tree::Constant(..) => None,
            };
            let Some(next) = next else { break };
            (name, tree) = next;
        }
        name.filter(|_| named).unwrap_or_else(|| tree.at())
    }

    /// The same value as JSON.
    pub fn to_json(&self) -> Value {
        match self {
            Tree::Text(text) => text.value.as_str().into(),
            Tree::List(items, _) => items.iter().map(Tree::to_json).collect(),
            Tree::Table(members, _) => {
                members.iter().map(|(key, value)| (key.value.as_str(), value.to_json())).collect::<Object>().into()
            }
            Tree::Constant(value, _) => value.clone(),
        }
    }
}

/// The tables of a TOML text as plain values, in their order; none if the text has a fault.
pub(crate) fn plain_tables(text: &str) -> Option<Object> {
    Some(plain_table(DeTable::parse(text).ok()?.get_ref()))
}

fn plain_table(table: &DeTable<'_>) -> Object {
    in_order(table).into_iter().map(|(key, value)| (key.get_ref().as_ref(), plain(value.get_ref()))).collect()
}

fn plain(value: &DeValue<'_>) -> Value {
    match value {
        DeValue::String(text) => text.as_ref().into(),
        DeValue::Boolean(flag) => (*flag).into(),
        DeValue::Datetime(date) => date.to_string().into(),
        DeValue::Integer(number) => {
            i64::from_str_radix(number.as_str(), number.radix()).map_or(Value::Null, Value::from)
        }
        DeValue::Float(number) => number.as_str().parse().map_or(Value::Null, |number: f64| number.into()),
        DeValue::Array(items) => items.iter().map(|item| plain(item.get_ref())).collect(),
        DeValue::Table(table) => plain_table(table).into(),
    }
}

impl Decode for Tree {
    fn decode(node: &TomlNode<'_>, reading: &mut Decoder<'_>) -> Option<Self> {
        let at = reading.place(node);
        Some(match node.get_ref() {
            DeValue::String(text) => Tree::Text(Spanned::new(text.as_ref().to_owned(), at)),
            DeValue::Boolean(flag) => Tree::Constant(Value::Bool(*flag), at),
            DeValue::Datetime(date) => Tree::Constant(date.to_string().into(), at),
            DeValue::Integer(number) => match i64::from_str_radix(number.as_str(), number.radix()) {
                Ok(number) => Tree::Constant(Value::from(number), at),
                Err(_) => return reading.misfit(node, "a whole number of 64 bits"),
            },
            DeValue::Float(number) => match number.as_str().parse().ok().and_then(Number::from_f64) {
                Some(number) => Tree::Constant(Value::Number(number), at),
                None => return reading.misfit(node, "a finite number"),
            },
            DeValue::Array(items) => {
                Tree::List(items.iter().filter_map(|item| Tree::decode(item, reading)).collect(), at)
            }
            DeValue::Table(table) => {
                let mut members = Vec::with_capacity(table.len());
                for (key, value) in in_order(table) {
                    let key = Spanned::new(key.get_ref().as_ref().to_owned(), reading.at(key.span()));
                    if let Some(value) = Tree::decode(value, reading) {
                        members.push((key, value));
                    }
                }
                Tree::Table(members, at)
            }
        })
    }
}

#[cfg(feature = "schema")]
impl schemars::JsonSchema for Tree {
    fn inline_schema() -> bool {
        true
    }
    fn schema_name() -> std::borrow::Cow<'static, str> {
        "any value".into()
    }
    fn json_schema(_: &mut schemars::SchemaGenerator) -> schemars::Schema {
        // Written out, because some linters forbid the members that a schema does not mention.
        schemars::json_schema!({ "additionalProperties": true })
    }
}
