//! Raw: which members does a value have that is valid JSON?
//!
//! In: the text of a message.
//! Out: [`RawPlaces`] of all its values, found in one pass; [`Raw`], one of the values, with every digit and every
//! space that the provider wrote, and with its members and items.
//! Never: checks whether a text is valid: its message was checked as a whole.

use crate::json::{decode_string, plain_length};
use crate::text::Slice;
use smallvec::SmallVec;
use std::borrow::Cow;

/// Where the values of a text are, each before those inside it. In an object, each key is a value before its own
/// value.
///
/// A member is found at any depth without reading the text again: skipping the values around it each time took twice
/// as long as reading a message with three calls takes now.
#[derive(Debug)]
pub(super) struct RawPlaces<'t> {
    text: &'t str,
    values: Vec<RawPlace>,
}

#[derive(Debug, Clone, Copy)]
struct RawPlace {
    start: usize,
    end: usize,
    /// The number of the first value after it that is not inside it.
    behind: usize,
    /// Whether it is a string with a backslash in it.
    escaped: bool,
}

/// How many bytes a value usually takes, with the separators around it.
const BYTES_PER_VALUE: usize = 12;
/// How deep the values of a message are usually nested.
const USUAL_DEPTH: usize = 12;

impl<'t> RawPlaces<'t> {
    /// The places of the values in a text that is valid JSON.
    pub(super) fn of(text: &'t str) -> Self {
        let bytes = text.as_bytes();
        let mut values: Vec<RawPlace> = Vec::with_capacity(text.len() / BYTES_PER_VALUE + 1);
        let mut open: SmallVec<[usize; USUAL_DEPTH]> = SmallVec::new();
        let mut at = 0;
        while let Some(byte) = bytes.get(at) {
            let start = at;
            let mut escaped = false;
            match byte {
                b' ' | b'\t' | b'\r' | b'\n' | b',' | b':' => {
                    at += 1;
                    continue;
                }
                b'{' | b'[' => {
                    at += 1;
                    open.push(values.len());
                }
                b'}' | b']' => {
                    at += 1;
                    let behind = values.len();
                    if let Some(value) = open.pop().and_then(|value| values.get_mut(value)) {
                        (value.end, value.behind) = (at, behind);
                    }
                    continue;
                }
                b'"' => (at, escaped) = string(bytes, start),
                _ => {
                    let ends = |byte: &u8| matches!(byte, b',' | b'}' | b']' | b' ' | b'\t' | b'\r' | b'\n');
                    let length = bytes.get(start..).and_then(|rest| rest.iter().position(ends));
                    at = length.map_or(bytes.len(), |length| start + length);
                }
            }
            values.push(RawPlace { start, end: at, behind: values.len() + 1, escaped });
        }
        Self { text, values }
    }

    /// The value that is the whole text.
    pub(super) fn whole(&'t self) -> Option<Raw<'t>> {
        self.value(0)
    }

    /// Whether the string with this number is `name`.
    fn is_key(&'t self, number: usize, name: &str) -> bool {
        let Some(place) = self.values.get(number) else { return false };
        let quoted = self.text.as_bytes().slice(place.start..place.end);
        let inner = quoted.get(1..quoted.len().saturating_sub(1)).unwrap_or_default();
        inner == name.as_bytes() || (place.escaped && self.value(number).is_some_and(|key| key.decoded() == name))
    }

    fn value(&'t self, number: usize) -> Option<Raw<'t>> {
        let place = self.values.get(number)?;
        Some(Raw { places: self, number, raw: self.text.get(place.start..place.end)? })
    }
}

/// Where the string that starts at `start` ends, and whether there is a backslash in it.
fn string(bytes: &[u8], start: usize) -> (usize, bool) {
    let (mut at, mut escaped) = (start + 1, false);
    loop {
        at += plain_length(bytes.slice(at..));
        match bytes.get(at) {
            Some(b'\\') => (at, escaped) = (at + 2, true),
            Some(b'"') => return (at + 1, escaped),
            Some(_) => at += 1,
            None => return (bytes.len(), escaped),
        }
    }
}

/// A valid JSON value.
#[derive(Debug, Clone, Copy)]
pub(super) struct Raw<'t> {
    places: &'t RawPlaces<'t>,
    number: usize,
    /// The value as it is written.
    pub(super) raw: &'t str,
}

impl<'t> Raw<'t> {
    /// The member of this name; `None` if it is absent or `null`. If there are several, the last counts.
    pub(super) fn get(self, name: &str) -> Option<Raw<'t>> {
        let key = self.keys().filter(|key| self.places.is_key(*key, name)).last()?;
        self.places.value(key + 1).filter(|value| !value.is_null())
    }

    /// The members of an object, in order; none for another value.
    pub(super) fn members(self) -> impl Iterator<Item = (Cow<'t, str>, Raw<'t>)> {
        self.keys().filter_map(|key| Some((self.places.value(key)?.decoded(), self.places.value(key + 1)?)))
    }

    /// The items of a list, in order; none for another value.
    pub(super) fn items(self) -> impl Iterator<Item = Raw<'t>> {
        self.inside(self.is_list())
    }

    /// The numbers of the keys of an object. The value of a key has the next number.
    fn keys(self) -> impl Iterator<Item = usize> {
        let values = self.places.values.as_slice();
        let end = values.get(self.number).filter(|_| self.is_object()).map_or(0, |place| place.behind);
        let mut next = self.number + 1;
        std::iter::from_fn(move || {
            let key = Some(next).filter(|key| *key < end)?;
            next = values.get(key + 1)?.behind;
            Some(key)
        })
    }

    /// The values directly inside it; none if `is_it` is false.
    fn inside(self, is_it: bool) -> impl Iterator<Item = Raw<'t>> {
        let end = self.places.values.get(self.number).map_or(0, |place| place.behind);
        let mut next = self.number + 1;
        std::iter::from_fn(move || {
            let value = (is_it && next < end).then(|| self.places.value(next))??;
            next = self.places.values.get(next)?.behind;
            Some(value)
        })
    }

    fn is_escaped(self) -> bool {
        self.places.values.get(self.number).is_some_and(|place| place.escaped)
    }

    /// A string without its quotes.
    fn inner(self) -> &'t str {
        self.raw.slice(1..self.raw.len().saturating_sub(1))
    }

    /// A key, decoded.
    fn decoded(self) -> Cow<'t, str> {
        decode_string(self.inner())
    }

    pub(super) fn is_null(self) -> bool {
        self.raw == "null"
    }

    pub(super) fn is_list(self) -> bool {
        self.raw.starts_with('[')
    }

    pub(super) fn is_object(self) -> bool {
        self.raw.starts_with('{')
    }

    pub(super) fn is_text(self) -> bool {
        self.raw.starts_with('"')
    }

    /// Whether it has content: it is not an empty text, list or object.
    pub(super) fn has_content(self) -> bool {
        !matches!(self.raw, "\"\"" | "[]" | "{}")
    }

    pub(super) fn is_true(self) -> bool {
        self.raw == "true"
    }

    /// A text, decoded; `None` for another value, and for half of a surrogate pair.
    pub(super) fn text(self) -> Option<String> {
        match self.is_text() {
            true if self.is_escaped() => serde_json::from_str(self.raw).ok(),
            true => Some(self.inner().to_owned()),
            false => None,
        }
    }

    /// A non-negative integer.
    pub(super) fn number(self) -> Option<u64> {
        self.raw.parse().ok()
    }

    /// The arguments of a call as JSON text: some APIs give them as a text, others as an object.
    pub(super) fn arguments(self) -> String {
        self.text().unwrap_or_else(|| self.raw.to_owned())
    }
}
