//! Entities: how is a character written that means something in XML?
//!
//! In: a character.
//! Out: its entity, of the five that XML 1.0 declares.
//! Never: decides where a character has to be written so.

/// The entity of a character, if it has one.
pub(crate) fn entity(c: char) -> Option<&'static str> {
    Some(match c {
        '&' => "&amp;",
        '<' => "&lt;",
        '>' => "&gt;",
        '"' => "&quot;",
        '\'' => "&apos;",
        _ => return None,
    })
}
