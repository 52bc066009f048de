//! Lookalikes: do two names look the same, and which character of a name looks like another one?
//!
//! In: names, as typed.
//! Out: whether two names are confusable, by the tables of Unicode (UTS 39); the first suspicious character of a name.
//! Never: decides which of two names was meant.

use crate::text::Slice;
use unicode_security::MixedScript;
use unicode_security::confusable_detection::skeleton;

/// Whether two different names look the same. Names of ASCII alone are exempt, because a reader can distinguish their
/// letters: `modem` is not `modern`.
pub(crate) fn look_alike(one: &str, other: &str) -> bool {
    one != other && !(is_plain(one) && is_plain(other)) && bones(one) == bones(other)
}

/// The skeleton of a name: two names that look the same have the same skeleton.
pub(crate) fn bones(name: &str) -> String {
    skeleton(name.trim()).filter(|c| !is_hidden(*c)).collect()
}

/// Whether no character of a name can be mistaken for another one.
pub(crate) fn is_plain(name: &str) -> bool {
    name.is_ascii() && odd(name).is_none()
}

/// A description of the first character of a name that is invisible or looks like another one; none if there is none.
pub(crate) fn odd(name: &str) -> Option<String> {
    if name.trim() != name {
        return Some(
            if name.trim_end() != name { "white space at its end" } else { "white space at its start" }.into(),
        );
    }
    let number = |at: usize| name.slice(..at).chars().count() + 1;
    let code = |c: char| u32::from(c);
    if let Some((at, c)) = name.char_indices().find(|(_, c)| is_hidden(*c)) {
        return Some(format!("character {} cannot be seen: U+{:04X}", number(at), code(c)));
    }
    // Most names that mix alphabets are Latin words with one letter that is not.
    let latin = name.chars().any(|c| c.is_ascii_alphabetic());
    if latin && !name.is_single_script() {
        let (at, c) = name.char_indices().find(|(_, c)| !c.is_ascii())?;
        return Some(format!("character {} is `{c}` of another alphabet: U+{:04X}", number(at), code(c)));
    }
    None
}

/// A description of the first character of a name that is not ASCII.
pub(crate) fn foreign(name: &str) -> Option<String> {
    let (number, c) = name.chars().enumerate().find(|(_, c)| !c.is_ascii())?;
    Some(format!("character {} is `{c}`: U+{:04X}", number + 1, u32::from(c)))
}

/// Whether a character is invisible: a control character, a mark of direction, or a space without width.
fn is_hidden(c: char) -> bool {
    c.is_control()
        || matches!(c, '\u{ad}' | '\u{34f}' | '\u{61c}' | '\u{180e}' | '\u{200b}'..='\u{200f}' | '\u{202a}'..='\u{202e}')
        || matches!(c, '\u{2060}'..='\u{206f}' | '\u{feff}' | '\u{fff9}'..='\u{fffb}' | '\u{e0000}'..='\u{e007f}')
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_that_look_alike_are_recognised() {
        for (one, other) in
            [("h\u{43e}me", "home"), ("home ", "home"), ("ho\u{200b}me", "home"), ("caf\u{e9}", "cafe\u{301}")]
        {
            assert!(look_alike(one, other), "{one:?}");
        }
        for (one, other) in [("home", "home"), ("modem", "modern"), ("step1", "stepl"), ("gro\u{df}", "gros")] {
            assert!(!look_alike(one, other), "{one:?}");
        }
    }

    #[test]
    fn odd_characters_in_a_name_are_described() {
        assert_eq!(odd("h\u{43e}me").as_deref(), Some("character 2 is `\u{43e}` of another alphabet: U+043E"));
        assert_eq!(odd("ho\u{200b}me").as_deref(), Some("character 3 cannot be seen: U+200B"));
        assert_eq!(odd("home ").as_deref(), Some("white space at its end"));
        for name in ["home", "gr\u{f6}\u{df}e", "\u{434}\u{43e}\u{43c}", "keep-note.2", "\u{30ce}\u{30fc}\u{30c8}"] {
            assert_eq!(odd(name), None, "{name}");
        }
    }
}
