//! JSON as text: where does a value of it end?
//!
//! In: a text that is valid JSON, and a byte where a value of it starts.
//! Out: [`JsonCursor`], which passes values without reading them.
//! Never: finds out whether a text is valid.

/// A place in valid JSON, where every byte is where it should be.
#[derive(Debug)]
pub(crate) struct JsonCursor<'t> {
    bytes: &'t [u8],
    /// The byte that comes next.
    pub(crate) at: usize,
}

impl<'t> JsonCursor<'t> {
    #[inline]
    pub(crate) fn new(text: &'t str, at: usize) -> Self {
        Self { bytes: text.as_bytes(), at }
    }

    /// The byte here; 0 at the end.
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

    /// Over one mark and the white space behind it; what stands there.
    #[inline]
    pub(crate) fn step(&mut self) -> u8 {
        self.skip_space();
        self.at += 1;
        self.skip_space();
        self.byte()
    }

    /// Whether the object or list ends here; else a comma stands here.
    #[inline]
    pub(crate) fn next_is_end(&mut self, end: u8) -> bool {
        self.skip_space();
        self.byte() == end || self.byte() == 0
    }

    /// Over whatever value stands here.
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

    /// Over a string.
    #[inline]
    pub(crate) fn string(&mut self) {
        self.at += 1;
        loop {
            let rest = self.bytes.get(self.at..).unwrap_or_default();
            match memchr::memchr2(b'"', b'\\', rest) {
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

    /// Over an object or a list, however deep.
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
