//! Entities: how is a character written that has a meaning in XML?
//!
//! In: a character.
//! Out: its entity, one of the five that XML 1.0 declares.
//! Never: decides where a character has to be escaped.

/// The entity of a character, if it has one.
pub fn entity(c: char) -> Option<&'static str> {
    Some(match c {
        '&' => "&amp;",
        '<' => "&lt;",
        '>' => "&gt;",
        '"' => "&quot;",
        '\'' => "&apos;",
        _ => return None,
    })
}

/// `text` with the five special characters of XML as entities.
pub(crate) fn entities(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    for c in text.chars() {
        match entity(c) {
            Some(entity) => out.push_str(entity),
            None => out.push(c),
        }
    }
    out
}
