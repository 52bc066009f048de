//! Raw: which members does a value have that is valid JSON?
//!
//! In: the text of a value.
//! Out: its members and items as texts, which keep every digit and every blank that a provider wrote.
//! Never: checks whether a text is valid: its message was checked as a whole.

use crate::json::decode_string;
use crate::text::JsonCursor;
use std::borrow::Cow;

/// The text of a valid JSON value.
#[derive(Debug, Clone, Copy)]
pub(super) struct Raw<'t>(pub(super) &'t str);

impl<'t> Raw<'t> {
    /// The member of this name; none if it is absent or `null`. Of several the last counts.
    pub(super) fn get(self, name: &str) -> Option<Raw<'t>> {
        let own = |(key, _): &(Cow<'t, str>, Raw<'t>)| key == name;
        let found = self.members().filter(own).last().map(|(_, value)| value);
        found.filter(|value| !value.is_null())
    }

    /// The members of an object, in order; nothing for another value.
    pub(super) fn members(self) -> impl Iterator<Item = (Cow<'t, str>, Raw<'t>)> {
        let mut cursor = self.inside(b'{');
        std::iter::from_fn(move || {
            let cursor = cursor.as_mut()?;
            if at_end(cursor, b'}') {
                return None;
            }
            let start = cursor.at;
            cursor.string();
            let key = self.0.get(start + 1..cursor.at.saturating_sub(1))?;
            // The colon, then the value.
            cursor.next_is_end(b':');
            cursor.step();
            Some((decode_string(key), self.value(cursor)?))
        })
    }

    /// The items of a list, in order; nothing for another value.
    pub(super) fn items(self) -> impl Iterator<Item = Raw<'t>> {
        let mut cursor = self.inside(b'[');
        std::iter::from_fn(move || {
            let cursor = cursor.as_mut()?;
            if at_end(cursor, b']') {
                return None;
            }
            self.value(cursor)
        })
    }

    pub(super) fn is_null(self) -> bool {
        self.0 == "null"
    }

    pub(super) fn is_list(self) -> bool {
        self.0.starts_with('[')
    }

    pub(super) fn is_object(self) -> bool {
        self.0.starts_with('{')
    }

    pub(super) fn is_text(self) -> bool {
        self.0.starts_with('"')
    }

    /// Whether it says something: it is no empty text, list or object.
    pub(super) fn is_said(self) -> bool {
        !matches!(self.0, "\"\"" | "[]" | "{}")
    }

    pub(super) fn is_true(self) -> bool {
        self.0 == "true"
    }

    /// A text as it is decoded; none for another value, and for half of a surrogate pair.
    pub(super) fn text(self) -> Option<String> {
        serde_json::from_str(self.0).ok()
    }

    /// A number that counts something.
    pub(super) fn number(self) -> Option<u64> {
        self.0.parse().ok()
    }

    /// The arguments of a call as JSON text: some APIs give them as a text, others as an object.
    pub(super) fn arguments(self) -> String {
        self.text().unwrap_or_else(|| self.0.to_owned())
    }

    fn inside(self, opener: u8) -> Option<JsonCursor<'t>> {
        let mut cursor = JsonCursor::new(self.0, 0);
        (cursor.byte() == opener).then(|| {
            cursor.step();
            cursor
        })
    }

    fn value(self, cursor: &mut JsonCursor<'t>) -> Option<Raw<'t>> {
        let start = cursor.at;
        cursor.skip_value();
        self.0.get(start..cursor.at).map(Raw)
    }
}

/// Skips white space and the comma before the next item; whether there is none.
fn at_end(cursor: &mut JsonCursor<'_>, closer: u8) -> bool {
    if cursor.next_is_end(closer) {
        return true;
    }
    if cursor.byte() == b',' {
        cursor.step();
    }
    false
}
