//! Place: what stands around a value in a document?
//!
//! In: the text before it.
//! Out: [`Place`]: between tags, inside one, or inside the quotes of an attribute.
//! Never: knows a dialect; tags are those of XML.

/// What stands around a value in a document.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum Place {
    /// Text, or nothing but tags that are complete.
    Text,
    /// A tag that is not complete.
    Tag,
    /// The quotes of an attribute.
    Quoted(u8),
}

impl Place {
    /// The place behind `raw`.
    pub(super) fn behind(mut self, raw: &str) -> Place {
        let bytes = raw.as_bytes();
        for (at, byte) in bytes.iter().enumerate() {
            self = match (self, byte) {
                // A `<` in prose has white space, a digit or a sign behind it.
                (Place::Text, b'<') => match bytes.get(at + 1) {
                    Some(next) if !(next.is_ascii_alphabetic() || b"/_?".contains(next)) => Place::Text,
                    _ => Place::Tag,
                },
                (Place::Tag, b'"' | b'\'') => Place::Quoted(*byte),
                (Place::Tag, b'>') => Place::Text,
                (Place::Quoted(quote), byte) if quote == *byte => Place::Tag,
                (same, _) => same,
            };
        }
        self
    }
}

/// Whether a value is the value of an attribute, as a whole or in part, of the tag that a text opens with and that goes on up to it.
pub(super) fn is_attribute(before: &str) -> bool {
    let Place::Quoted(quote) = Place::Text.behind(before) else { return false };
    // No quote stands in an escaped value.
    let name = before.rsplit_once(char::from(quote)).map_or("", |(name, _)| name);
    before.starts_with('<') && name.trim_end().ends_with('=')
}
