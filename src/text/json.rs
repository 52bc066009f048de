//! JSON as text: where does a value end?
//!
//! In: a text that is valid JSON, and the byte where a value starts.
//! Out: [`JsonCursor`], which skips values without reading them.
//! Never: checks whether the text is valid.

use super::Slice;
use super::eights;

/// A position in a text that is valid JSON.
#[derive(Debug)]
pub(crate) struct JsonCursor<'t> {
    bytes: &'t [u8],
    /// The offset of the next byte.
    pub(crate) at: usize,
}

impl<'t> JsonCursor<'t> {
    #[inline]
    pub(crate) fn new(text: &'t str, at: usize) -> Self {
        Self { bytes: text.as_bytes(), at }
    }

    /// The next byte; 0 at the end.
    #[inline]
    pub(crate) fn byte(&self) -> u8 {
        self.bytes.get(self.at).copied().unwrap_or_default()
    }

    #[inline]
    pub(super) fn skip_space(&mut self) {
        while matches!(self.byte(), b' ' | b'\t' | b'\r' | b'\n') {
            self.at += 1;
        }
    }

    /// Skips one byte and the white space after it; returns that byte.
    #[inline]
    pub(crate) fn step(&mut self) -> u8 {
        self.skip_space();
        self.at += 1;
        self.skip_space();
        self.byte()
    }

    /// Whether the object or list ends here. If not, skips a comma.
    #[inline]
    pub(crate) fn next_is_end(&mut self, end: u8) -> bool {
        self.skip_space();
        self.byte() == end || self.byte() == 0
    }

    /// Skips a value.
    #[inline]
    pub(crate) fn skip_value(&mut self) {
        match self.byte() {
            b'"' => self.string(),
            b'{' | b'[' => self.skip(),
            _ => {
                while !matches!(self.byte(), b',' | b'}' | b']' | b' ' | b'\t' | b'\r' | b'\n' | 0) {
                    self.at += 1;
                }
            }
        }
    }

    /// Skips a string.
    #[inline]
    pub(crate) fn string(&mut self) {
        let ends = |eight| eights::equal(b'"', eight) | eights::equal(b'\\', eight);
        self.at += 1;
        loop {
            let rest = self.bytes.slice(self.at..);
            match eights::near_or_far(rest, ends, |far| memchr::memchr2(b'"', b'\\', far)) {
                Some(offset) if rest.get(offset) == Some(&b'\\') => self.at += offset + 2,
                Some(offset) => {
                    self.at += offset + 1;
                    return;
                }
                None => {
                    self.at = self.bytes.len();
                    return;
                }
            }
        }
    }

    /// Skips an object or a list, of any depth, without recursion.
    #[inline]
    fn skip(&mut self) {
        let mut depth = 0usize;
        loop {
            match self.byte() {
                b'"' => {
                    self.string();
                    continue;
                }
                b'{' | b'[' => depth += 1,
                b'}' | b']' => depth -= 1,
                0 if self.at >= self.bytes.len() => return,
                _ => {}
            }
            self.at += 1;
            if depth == 0 {
                return;
            }
        }
    }
}
