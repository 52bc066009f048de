//! Held: what is a value while an expression is evaluated?
//!
//! In: values of the scope, and values made during evaluation.
//! Out: [`Held`], which borrows what it can; its text, number or list.
//! Never: guesses where the engine behaves in its own way: the answer is then none.

use super::is_true;
use super::quick::Kind;
use crate::value::Value;
use std::borrow::Cow;

/// The bytes of text that count as one step.
pub(super) const STRIDE: usize = 64;

/// A value during evaluation.
#[derive(Debug, Clone)]
pub(super) enum Held<'j> {
    Value(Cow<'j, Value>),
    Text(&'j str),
    Pair(&'j str, &'j Value),
    List(Vec<Held<'j>>),
}

pub(super) const NONE: Held<'static> = Held::Value(Cow::Owned(Value::Null));

impl<'j> Held<'j> {
    /// A value that was made during evaluation.
    pub(super) fn made(value: impl Into<Value>) -> Self {
        Held::Value(Cow::Owned(value.into()))
    }

    /// The steps to copy it.
    pub(super) fn steps(&self) -> usize {
        match self {
            Held::List(items) => items.len() + items.iter().map(Held::steps).sum::<usize>(),
            Held::Value(Cow::Owned(Value::String(text))) => text.len() / STRIDE,
            Held::Value(_) | Held::Text(_) | Held::Pair(..) => 0,
        }
    }

    pub(super) fn is_none(&self) -> bool {
        matches!(self, Held::Value(json) if json.is_null())
    }

    pub(super) fn is_true(&self) -> bool {
        match self {
            Held::Value(json) => is_true(json),
            Held::Text(text) => !text.is_empty(),
            Held::Pair(..) => true,
            Held::List(items) => !items.is_empty(),
        }
    }

    pub(super) fn text(&self) -> Option<&str> {
        match self {
            Held::Value(json) => json.as_str(),
            Held::Text(text) => Some(text),
            _ => None,
        }
    }

    /// The value as a whole number, in the simple cases.
    pub(super) fn whole(&self) -> Option<Held<'j>> {
        let plain = |text: &str| match text.as_bytes() {
            [b'0'] => true,
            [b'1'..=b'9', rest @ ..] => rest.len() < 18 && rest.iter().all(u8::is_ascii_digit),
            _ => false,
        };
        let number = match self.text() {
            Some(text) => text.parse().ok().filter(|_| plain(text))?,
            None => self.number()?,
        };
        Some(Held::made(number))
    }

    /// How many items or members it has; none if it has no length.
    pub(super) fn length(&self) -> Option<usize> {
        Some(match self {
            Held::List(items) => items.len(),
            none if none.is_none() => 0,
            Held::Value(json) => match &**json {
                Value::Array(items) => items.len(),
                Value::Object(members) => members.len(),
                _ => return None,
            },
            _ => return None,
        })
    }

    /// Its kind; none if it is a boolean, a number or null.
    pub(super) fn kind(&self) -> Option<Kind> {
        match self {
            Held::List(_)
            | Held::Pair(..)
            | Held::Value(Cow::Borrowed(Value::Array(_)) | Cow::Owned(Value::Array(_))) => Some(Kind::List),
            Held::Value(Cow::Borrowed(Value::Object(_)) | Cow::Owned(Value::Object(_))) => Some(Kind::Table),
            Held::Text(_) => Some(Kind::Text),
            Held::Value(other) => other.as_str().map(|_| Kind::Text),
        }
    }

    /// Whether it is a list whose items are available.
    pub(super) fn is_list(&self) -> bool {
        self.kind() == Some(Kind::List) && !matches!(self, Held::Pair(..))
    }

    /// Its value as a whole number; other numbers are compared differently.
    pub(super) fn number(&self) -> Option<i64> {
        match self {
            Held::Value(json) => json.as_i64(),
            _ => None,
        }
    }

    /// Whether both are equal; none if their kinds are not easily comparable.
    pub(super) fn equals(&self, other: &Held<'_>) -> Option<bool> {
        if self.is_none() || other.is_none() {
            return Some(self.is_none() && other.is_none());
        }
        match (self.text(), other.text(), self.number(), other.number()) {
            (Some(one), Some(other), ..) => Some(one == other),
            (.., Some(one), Some(other)) => Some(one == other),
            (Some(_), _, _, Some(_)) | (_, Some(_), Some(_), _) => Some(false),
            _ => None,
        }
    }

    pub(super) fn member(&self, key: &str) -> Option<Held<'j>> {
        match self {
            Held::Value(Cow::Borrowed(Value::Object(members))) => {
                Some(members.get(key).map_or(NONE, |member| Held::Value(Cow::Borrowed(member))))
            }
            none if none.is_none() => Some(NONE),
            _ => None,
        }
    }

    /// The value at the end of a path; an absent member is none.
    pub(super) fn at(&self, path: &[String]) -> Option<Held<'j>> {
        let Some((first, rest)) = path.split_first() else { return Some(self.clone()) };
        let next = match (self, first.parse::<usize>()) {
            (Held::Pair(key, _), Ok(0)) => Held::Text(key),
            (Held::Pair(_, value), Ok(1)) => Held::Value(Cow::Borrowed(*value)),
            (Held::Pair(..), _) => return None,
            (Held::Value(Cow::Borrowed(Value::Array(items))), Ok(place)) => {
                Held::Value(Cow::Borrowed(items.get(place)?))
            }
            (_, Err(_)) => self.member(first)?,
            _ => return None,
        };
        next.at(rest)
    }

    pub(super) fn into_value(self) -> Value {
        match self {
            Held::Value(json) => json.into_owned(),
            Held::Text(text) => text.into(),
            Held::Pair(key, value) => vec![key.into(), value.clone()].into(),
            Held::List(items) => items.into_iter().map(Held::into_value).collect(),
        }
    }
}
