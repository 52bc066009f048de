//! Braces: where does an object end whose nesting is too deep for its grammar?
//!
//! In: the text from its first brace on, as far as it has arrived.
//! Out: the end of the brace that matches the first.
//! Never: interprets the text between the braces, or recurses. Braces in strings do not count.

use crate::text::Slice;
/// A count of braces that continues where it stopped.
#[derive(Debug, Clone, Copy)]
pub(super) struct BraceCount {
    at: usize,
    depth: usize,
    quoted: bool,
}

/// The most bytes that may be counted in total, as a multiple of the length of the response: each brace that is never
/// closed counts all text after it.
const MAX_COUNTED: usize = 16;

impl BraceCount {
    pub(super) fn new(first: usize) -> Self {
        Self { at: first, depth: 0, quoted: false }
    }

    /// Whether it may count: if it has already started, or if the bytes `counted` so far are within the limit for
    /// `text`.
    pub(super) fn may_count(&self, counted: usize, text: &str) -> bool {
        self.depth > 0 || counted <= MAX_COUNTED * text.len()
    }

    /// Continues to the matching brace, or to the end of the text so far. Adds the bytes that it reads to `counted`.
    pub(super) fn count(&mut self, text: &str, counted: &mut usize) -> Option<usize> {
        let from = self.at;
        let end = self.pass(text.as_bytes());
        *counted += self.at - from;
        end
    }

    fn pass(&mut self, bytes: &[u8]) -> Option<usize> {
        loop {
            let rest = bytes.slice(self.at..);
            let next = match self.quoted {
                true => memchr::memchr2(b'"', b'\\', rest),
                false => memchr::memchr3(b'{', b'}', b'"', rest),
            };
            let Some(offset) = next else {
                self.at = bytes.len();
                return None;
            };
            let byte = rest.get(offset);
            // An escape is two bytes, of which the second may not have arrived yet.
            if byte == Some(&b'\\') && offset + 1 == rest.len() {
                self.at += offset;
                return None;
            }
            self.at += offset + 1;
            match byte {
                Some(b'{') => self.depth += 1,
                Some(b'}') => self.depth = self.depth.saturating_sub(1),
                Some(b'"') => self.quoted = !self.quoted,
                _ => self.at += 1,
            }
            if self.depth == 0 {
                return Some(self.at);
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check(text: &str, object: Option<&str>) {
        // The text as a whole, and byte by byte.
        let whole = BraceCount::new(0).count(text, &mut 0);
        assert_eq!(whole.and_then(|end| text.get(..end)), object, "{text}");
        let mut braces = BraceCount::new(0);
        let mut counted = 0;
        let found = (1..=text.len()).find_map(|end| braces.count(text.get(..end)?, &mut counted));
        assert_eq!(found, whole, "{text}");
        assert!(counted <= text.len());
    }

    #[test]
    fn only_braces_outside_strings_count() {
        check("{{}} }", Some("{{}}"));
        check(r#"{"}": {"a\"}": "\\"}} b"#, Some(r#"{"}": {"a\"}": "\\"}}"#));
        check("{[}]", Some("{[}"));
        check(r#"{"}"#, None);
        check("{{}", None);
    }
}
