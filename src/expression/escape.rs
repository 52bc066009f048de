//! Escaping: how does a value enter a prompt without becoming part of its structure?
//!
//! In: a value's text, and the bytes that openers of the pack's own dialects start with.
//! Out: the same text for a place between tags, or inside the quotes of an attribute.
//! Never: leaves out what XML can hold, or lets `<`, `&` or the start of an opener through.
//!
//! Between tags `&`, `<` and `>` are entities and quotes stay as they are; inside quotes all five are entities, and line
//! breaks and tabs are character references, for a reader of XML would make spaces of them. A carriage return is a
//! reference everywhere, for the same reason. Characters that XML cannot hold are left out.

use crate::text::entity;
use std::fmt::{self, Write as _};
use std::sync::Arc;

/// How values are escaped for the dialects of one pack.
#[derive(Debug, Clone)]
pub(crate) struct Escape {
    /// The bytes that an opener may start with, of ASCII.
    openers: [bool; 128],
    /// The dialects whose structure is told line by line, by their names.
    guards: Vec<(String, Arc<dyn Guarding>)>,
    openings: Vec<Arc<dyn Opening>>,
}

/// How a text enters a prompt as it is, but for the lines that one dialect would take for structure.
pub(crate) trait Guarding: fmt::Debug + Send + Sync {
    /// `text` with a guard before each such line.
    fn guarded(&self, text: &str) -> String;
}

/// What no byte alone can tell from other text: openers that start with a word, or with a brace.
pub(crate) trait Opening: fmt::Debug + Send + Sync {
    /// Whether a block may open where `rest` starts: at the start of a value, of a line, or within one.
    fn opens(&self, rest: &str, at: At) -> bool;
}

/// Where in a value something stands.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum At {
    Within,
    LineStart,
    Start,
}

/// Where a value stands.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Slot {
    /// Between tags, or in a text without any.
    Text,
    /// Inside the quotes of an attribute.
    Quoted,
}

impl Escape {
    /// For dialects whose openers start with these bytes. Letters and digits do not count: they are words of every text,
    /// and an opener that starts with one is known by what stands behind it.
    pub(crate) fn new(openers: impl IntoIterator<Item = u8>) -> Self {
        let mut set = [false; 128];
        for byte in openers.into_iter().filter(u8::is_ascii_punctuation) {
            if let Some(slot) = set.get_mut(usize::from(byte)) {
                *slot = true;
            }
        }
        Self { openers: set, guards: Vec::new(), openings: Vec::new() }
    }

    /// With these dialects.
    pub(crate) fn with_guards(self, guards: Vec<(String, Arc<dyn Guarding>)>) -> Self {
        Self { guards, ..self }
    }

    /// With these openers besides.
    pub(crate) fn with_openings(self, openings: Vec<Arc<dyn Opening>>) -> Self {
        Self { openings, ..self }
    }

    /// The names of the dialects whose structure is told line by line.
    pub(super) fn guards(&self) -> impl Iterator<Item = &str> {
        self.guards.iter().map(|(name, _)| name.as_str())
    }

    /// `text` as it is, but for the lines that the dialect of this name would take for structure.
    pub(super) fn guarded(&self, dialect: &str, text: &str) -> Option<String> {
        self.guards.iter().find(|(name, _)| name == dialect).map(|(_, guard)| guard.guarded(text))
    }

    /// `text`, escaped for a slot, added to `out`.
    pub(crate) fn write(&self, text: &str, slot: Slot, out: &mut String) {
        out.reserve(text.len());
        if !self.openings.is_empty() && text.contains(is_left_out) {
            // What stands around them may become an opener without them.
            let held: String = text.chars().filter(|c| !is_left_out(*c)).collect();
            return self.write(&held, slot, out);
        }
        let mut from = 0;
        let mut place = At::Start;
        for (at, c) in text.char_indices() {
            let here = place;
            place = match c {
                '\n' if here == At::Within => At::LineStart,
                '\n' => here,
                ' ' | '\t' | '\r' => place,
                _ => At::Within,
            };
            let opens = |one: &Arc<dyn Opening>| text.get(at..).is_some_and(|rest| one.opens(rest, here));
            let stands = match c {
                '&' | '<' | '>' | '\r' => false,
                '"' | '\'' | '\n' | '\t' if slot == Slot::Quoted => false,
                c if !c.is_whitespace() && self.openings.iter().any(opens) => false,
                c if c.is_ascii() => {
                    let opens = self.openers.get(c as usize).copied().unwrap_or_default();
                    !opens && (c >= ' ' || c == '\n' || c == '\t')
                }
                c if is_left_out(c) => false,
                _ => true,
            };
            if stands {
                continue;
            }
            out.push_str(text.get(from..at).unwrap_or_default());
            from = at + c.len_utf8();
            match (entity(c), c) {
                (Some(entity), _) => out.push_str(entity),
                (None, c) if matches!(c, '\r' | '\n' | '\t' | '!'..='~') || !(c.is_ascii() || is_left_out(c)) => {
                    let _ = write!(out, "&#{};", c as u32);
                }
                // Nothing stands for what XML has no character for.
                _ => {}
            }
        }
        out.push_str(text.get(from..).unwrap_or_default());
    }

    /// `text`, escaped for a place between tags.
    pub(crate) fn text(&self, text: &str) -> String {
        let mut out = String::new();
        self.write(text, Slot::Text, &mut out);
        out
    }
}

/// Whether XML has no character for it.
fn is_left_out(c: char) -> bool {
    matches!(c, '\u{fffe}' | '\u{ffff}') || (c < ' ' && !matches!(c, '\t' | '\n' | '\r'))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check(openers: &str, slot: Slot, text: &str, expected: &str) {
        let mut out = String::new();
        Escape::new(openers.bytes()).write(text, slot, &mut out);
        assert_eq!(out, expected);
    }

    #[test]
    fn markup_cannot_be_made_of_values() {
        check("<", Slot::Text, "<b a='1'>&amp;\"\r\n", "&lt;b a='1'&gt;&amp;amp;\"&#13;\n");
        check("<", Slot::Quoted, "<b a='1'>\"\t\r\n", "&lt;b a=&apos;1&apos;&gt;&quot;&#9;&#13;&#10;");
        check("[", Slot::Text, "[ACTION_X]{}", "&#91;ACTION_X]{}");
        check("a1", Slot::Text, "a1", "a1");
    }

    #[test]
    fn what_xml_cannot_hold_is_left_out() {
        check("<", Slot::Text, "a\0b\u{1f}c\u{fffe}d\u{7f}\u{10ffff}", "abcd\u{7f}\u{10ffff}");
    }
}
