//! Unique keys: is each key of a message there once in its object?
//!
//! In: a message as JSON; a name.
//! Out: an error for a message that has a key twice: two readers might use two values of it; the name as a lenient
//! reader compares it.
//! Never: keeps a value.

use serde::de::{Deserialize, Deserializer, Error, MapAccess, SeqAccess, Visitor};
use std::collections::BTreeSet;
use std::fmt;

/// A name as the most lenient reader compares it: its ASCII letters and digits, in lower case. As some readers do, it
/// takes `ſ` and the sign of the kelvin for the letters that they are a form of.
pub(super) fn folded(name: &str) -> String {
    let letters = name.chars().flat_map(char::to_uppercase).flat_map(char::to_lowercase);
    letters.filter(char::is_ascii_alphanumeric).collect()
}

/// A JSON value in which no object has a key twice.
pub(super) struct Unique;

impl<'de> Deserialize<'de> for Unique {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        deserializer.deserialize_any(Keys)
    }
}

struct Keys;

impl<'de> Visitor<'de> for Keys {
    type Value = Unique;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("JSON")
    }

    fn visit_unit<E>(self) -> Result<Unique, E> {
        Ok(Unique)
    }

    fn visit_bool<E>(self, _: bool) -> Result<Unique, E> {
        Ok(Unique)
    }

    fn visit_i64<E>(self, _: i64) -> Result<Unique, E> {
        Ok(Unique)
    }

    fn visit_u64<E>(self, _: u64) -> Result<Unique, E> {
        Ok(Unique)
    }

    fn visit_f64<E>(self, _: f64) -> Result<Unique, E> {
        Ok(Unique)
    }

    fn visit_str<E>(self, _: &str) -> Result<Unique, E> {
        Ok(Unique)
    }

    fn visit_seq<A: SeqAccess<'de>>(self, mut items: A) -> Result<Unique, A::Error> {
        while items.next_element::<Unique>()?.is_some() {}
        Ok(Unique)
    }

    fn visit_map<A: MapAccess<'de>>(self, mut members: A) -> Result<Unique, A::Error> {
        let mut known: BTreeSet<String> = BTreeSet::new();
        while let Some(key) = members.next_key::<String>()? {
            if known.contains(&key) {
                return Err(A::Error::custom(format!("the key {key:?} is there twice")));
            }
            members.next_value::<Unique>()?;
            known.insert(key);
        }
        Ok(Unique)
    }
}
