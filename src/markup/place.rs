//! Place: what surrounds a value in a document?
//!
//! In: the text before it.
//! Out: [`MarkupContext`]: between tags, inside one, or inside the quotes of an attribute.
//! Never: knows a dialect; tags are those of XML.

/// What surrounds a value in a document.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum MarkupContext {
    /// Text, or only complete tags.
    Text,
    /// An incomplete tag.
    Tag,
    /// The quotes of an attribute, with the kind of quote.
    Quoted(u8),
}

impl MarkupContext {
    /// The context after the text `raw`.
    pub(super) fn behind(mut self, raw: &str) -> MarkupContext {
        let bytes = raw.as_bytes();
        for (at, byte) in bytes.iter().enumerate() {
            self = match (self, byte) {
                // A `<` in prose is followed by white space, a digit or a sign.
                (MarkupContext::Text, b'<') => match bytes.get(at + 1) {
                    Some(next) if !(next.is_ascii_alphabetic() || b"/_?".contains(next)) => MarkupContext::Text,
                    _ => MarkupContext::Tag,
                },
                (MarkupContext::Tag, b'"' | b'\'') => MarkupContext::Quoted(*byte),
                (MarkupContext::Tag, b'>') => MarkupContext::Text,
                (MarkupContext::Quoted(quote), byte) if quote == *byte => MarkupContext::Tag,
                (same, _) => same,
            };
        }
        self
    }
}

/// Whether a value directly after `before`, which starts with a tag, is the value of an attribute in that tag, or a
/// part of one.
pub(super) fn is_attribute(before: &str) -> bool {
    let MarkupContext::Quoted(quote) = MarkupContext::Text.behind(before) else { return false };
    // An escaped value contains no quote.
    let name = before.rsplit_once(char::from(quote)).map_or("", |(name, _)| name);
    before.starts_with('<') && name.trim_end().ends_with('=')
}
