//! Item: how is a value represented while an expression is evaluated?
//!
//! In: values of the scope, and values made during evaluation.
//! Out: [`Item`], which borrows where possible: its kind, text, number, members and entries.
//! Never: charges steps or bytes; the [`Evaluator`](super::evaluator::Evaluator) does.

use super::number::Num;
use crate::value::{Members, NamedMember, Value};
use std::rc::Rc;

/// A value during evaluation.
#[derive(Debug, Clone)]
pub(super) enum Item<'v> {
    /// A value of the scope, or a constant.
    Ref(&'v Value),
    Own(Value),
    /// A text of the scope, or a part of one.
    Text(&'v str),
    /// A member of a table, as a list of its name and value.
    Pair(&'v NamedMember<Value>),
    List(Rc<List<'v>>),
    Table(Rc<ComputedTable<'v>>),
    /// A number that JSON cannot represent.
    Wide(Box<Num>),
}

/// A list made during evaluation.
#[derive(Debug, Default)]
pub(super) struct List<'v> {
    pub(super) items: Vec<Item<'v>>,
    /// How deep lists and tables made during evaluation are nested in it.
    pub(super) depth: u8,
}

/// A table made during evaluation.
#[derive(Debug, Default)]
pub(super) struct ComputedTable<'v> {
    pub(super) members: Members<Item<'v>>,
    /// How deep lists and tables made during evaluation are nested in it.
    pub(super) depth: u8,
}

/// The kind of a value, in the order in which values of different kinds are sorted.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum SortClass {
    None,
    Truth,
    Number,
    Text,
    List,
    Table,
}

impl SortClass {
    /// Its name in messages.
    pub(super) fn noun(self) -> &'static str {
        match self {
            SortClass::None => "none",
            SortClass::Truth => "a truth",
            SortClass::Number => "a number",
            SortClass::Text => "a text",
            SortClass::List => "a list",
            SortClass::Table => "a map",
        }
    }
}

pub(super) const NONE: Item<'static> = Item::Own(Value::Null);

impl<T: Into<Value>> From<T> for Item<'_> {
    fn from(value: T) -> Self {
        Item::Own(value.into())
    }
}

impl<'v> Item<'v> {
    fn value(&self) -> Option<&Value> {
        match self {
            Item::Ref(value) => Some(value),
            Item::Own(value) => Some(value),
            _ => None,
        }
    }

    pub(super) fn kind(&self) -> SortClass {
        match self {
            Item::Text(_) => SortClass::Text,
            Item::Pair(_) | Item::List(_) => SortClass::List,
            Item::Table(_) => SortClass::Table,
            Item::Wide(_) => SortClass::Number,
            Item::Ref(_) | Item::Own(_) => match self.value() {
                None | Some(Value::Null) => SortClass::None,
                Some(Value::Bool(_)) => SortClass::Truth,
                Some(Value::Number(_)) => SortClass::Number,
                Some(Value::String(_)) => SortClass::Text,
                Some(Value::Array(_)) => SortClass::List,
                Some(Value::Object(_)) => SortClass::Table,
            },
        }
    }

    pub(super) fn noun(&self) -> &'static str {
        self.kind().noun()
    }

    pub(super) fn is_none(&self) -> bool {
        matches!(self, Item::Ref(Value::Null) | Item::Own(Value::Null))
    }

    pub(super) fn is_true(&self) -> bool {
        match self {
            Item::Ref(value) => is_true(value),
            Item::Own(value) => is_true(value),
            Item::Wide(number) => **number != Num::Float(0.0),
            Item::Text(text) => !text.is_empty(),
            other => other.len() != Some(0),
        }
    }

    pub(super) fn text(&self) -> Option<&str> {
        match self {
            Item::Text(text) => Some(text),
            _ => self.value()?.as_str(),
        }
    }

    /// The text, if it is borrowed from the scope or the tree, so that parts of it can be borrowed as well.
    pub(super) fn lasting_text(&self) -> Option<&'v str> {
        match self {
            Item::Text(text) => Some(text),
            Item::Ref(Value::String(text)) => Some(text),
            _ => None,
        }
    }

    pub(super) fn truth(&self) -> Option<bool> {
        self.value()?.as_bool()
    }

    pub(super) fn number(&self) -> Option<Num> {
        match self {
            Item::Wide(number) => Some(**number),
            _ => match self.value()? {
                Value::Number(number) => Some(number.into()),
                _ => None,
            },
        }
    }

    /// The number; that of a boolean is 0 or 1.
    pub(super) fn numeric(&self) -> Option<Num> {
        self.number().or_else(|| self.truth().map(|truth| Num::Whole(truth.into())))
    }

    /// The integer, if the value is or equals one.
    pub(super) fn whole(&self) -> Option<i128> {
        self.numeric()?.whole()
    }

    /// How many characters, items or members it has.
    pub(super) fn len(&self) -> Option<usize> {
        Some(match self {
            Item::Text(text) => text.chars().count(),
            Item::Pair(_) => 2,
            Item::List(list) => list.items.len(),
            Item::Table(table) => table.members.as_slice().len(),
            Item::Wide(_) => return None,
            Item::Ref(_) | Item::Own(_) => match self.value()? {
                Value::String(text) => text.chars().count(),
                Value::Array(items) => items.len(),
                Value::Object(members) => members.len(),
                _ => return None,
            },
        })
    }

    /// The bytes of an owned text, which was made during evaluation; 0 for anything else.
    pub(super) fn made(&self) -> usize {
        match self {
            Item::Own(Value::String(text)) => text.len(),
            _ => 0,
        }
    }

    /// How deep lists and tables made during evaluation are nested in it.
    pub(super) fn depth(&self) -> u8 {
        match self {
            Item::List(list) => list.depth,
            Item::Table(table) => table.depth,
            _ => 0,
        }
    }

    /// The items of a list.
    pub(super) fn items(&self) -> Option<Vec<Item<'v>>> {
        Some(match self {
            Item::Ref(Value::Array(items)) => items.iter().map(Item::Ref).collect(),
            Item::Own(Value::Array(items)) => items.iter().cloned().map(Item::Own).collect(),
            Item::Pair((name, value)) => vec![Item::Text(name), Item::Ref(value)],
            Item::List(list) => list.items.clone(),
            _ => return None,
        })
    }

    /// The items of a list, which are moved if nothing else refers to the list.
    pub(super) fn into_items(self) -> Option<Vec<Item<'v>>> {
        match self {
            Item::List(list) => Some(Rc::try_unwrap(list).map_or_else(|list| list.items.clone(), |list| list.items)),
            other => other.items(),
        }
    }

    /// The names and values of a table.
    pub(super) fn members(&self) -> Option<Vec<(Item<'v>, Item<'v>)>> {
        Some(match self {
            Item::Ref(Value::Object(object)) => {
                object.iter().map(|(name, value)| (Item::Text(name), Item::Ref(value))).collect()
            }
            Item::Own(Value::Object(object)) => {
                object.members().iter().map(|(name, value)| (name.clone().into(), value.clone().into())).collect()
            }
            Item::Table(table) => {
                table.members.as_slice().iter().map(|(name, item)| (name.clone().into(), item.clone())).collect()
            }
            _ => return None,
        })
    }

    /// The member of this name, if it is a table that has one.
    pub(super) fn member(&self, name: &str) -> Option<Item<'v>> {
        match self {
            Item::Ref(Value::Object(object)) => object.get(name).map(Item::Ref),
            Item::Own(Value::Object(object)) => object.get(name).cloned().map(Item::Own),
            Item::Table(table) => table.members.get(name).cloned(),
            _ => None,
        }
    }

    /// The item or character at an index; a negative one counts from the end.
    pub(super) fn at(&self, index: i128) -> Option<Item<'v>> {
        let index = if index < 0 { index.checked_add(self.len()? as i128)? } else { index };
        self.nth(usize::try_from(index).ok()?)
    }

    /// The item or character at an index.
    pub(super) fn nth(&self, place: usize) -> Option<Item<'v>> {
        Some(match self {
            Item::Ref(Value::Array(items)) => Item::Ref(items.get(place)?),
            Item::Own(Value::Array(items)) => Item::Own(items.get(place)?.clone()),
            Item::List(list) => list.items.get(place)?.clone(),
            Item::Pair((name, _)) if place == 0 => Item::Text(name),
            Item::Pair((_, value)) if place == 1 => Item::Ref(value),
            _ => String::from(self.text()?.chars().nth(place)?).into(),
        })
    }

    /// The member of this name; in a list or text, the name is an index in decimal.
    pub(super) fn called(&self, name: &str) -> Option<Item<'v>> {
        match self.kind() {
            SortClass::Table => self.member(name),
            SortClass::List | SortClass::Text => self.at(name.parse::<i64>().ok()?.into()),
            _ => None,
        }
    }

    /// The member or item for a key in square brackets.
    pub(super) fn get(&self, key: &Item<'_>) -> Option<Item<'v>> {
        match key.text() {
            Some(name) => self.called(name),
            None => self.at(key.whole()?),
        }
    }
}

/// Whether a value is true: not `none`, `false`, zero or empty.
pub(super) fn is_true(value: &Value) -> bool {
    match value {
        Value::Null => false,
        Value::Bool(truth) => *truth,
        Value::Number(number) => number.as_f64() != 0.0,
        Value::String(text) => !text.is_empty(),
        Value::Array(items) => !items.is_empty(),
        Value::Object(members) => !members.is_empty(),
    }
}
