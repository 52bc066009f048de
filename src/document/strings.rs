//! Strings: which texts are JSON strings in a payload?
//!
//! In: the text of a payload, as far as it has arrived.
//! Out: the strings of its JSON in order, each once it is certain to be one.
//! Never: accepts something that only starts like a string: JSON must come before and after it.
//!
//! The inside of a string is data: it contains no call, field or closer. But a quote that is never closed must not
//! swallow all text after it, so the text around both quotes is checked, however faulty the rest is. Readings that
//! start at different places of one text do not converge: a quote switches each of them between inside and outside, and
//! bytes that can only be in a string end the readings that are outside. So at most three readings examine the same
//! byte, and the time is linear.

use super::Quoted;
use crate::text::{Slice, Span};

/// The strings of one payload, read from its start.
#[derive(Debug, Clone)]
pub(super) struct Strings {
    /// Everything before this offset has been read.
    at: usize,
    state: StringState,
    /// The last byte outside strings that is not white space.
    before: u8,
    /// The number of open braces and brackets.
    depth: usize,
    last: Span,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum StringState {
    Starts,
    /// Before any JSON.
    Before,
    Outside,
    /// In a string.
    Inside {
        start: usize,
        quote: u8,
    },
    /// After a quote, which ends a string if JSON continues there.
    Behind {
        string: Span,
    },
    Over,
}

/// The result of the search for the next string.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum NextString {
    String(Span),
    /// No string starts before the offset up to which they are searched for.
    Clear,
    /// More text decides whether the string ends.
    Waits,
    /// There is a tag here, or text that is not JSON.
    Over,
    /// Inside an object or list, the text here is not JSON, so that nothing after it can be recognised.
    Torn(usize),
}

/// The literals with which the tags around and inside the payload start.
#[derive(Debug, Clone, Copy)]
pub(super) struct TagMarks<'l> {
    pub(super) open: u8,
    pub(super) close: &'l str,
}

impl Strings {
    pub(super) fn new(from: usize) -> Self {
        Self { at: from, state: StringState::Starts, before: b':', depth: 0, last: Span::new(from, from) }
    }

    /// The end of the JSON that has been read, and of the text before it.
    pub(super) fn at(&self) -> usize {
        self.at
    }

    pub(super) fn is_over(&self) -> bool {
        self.state == StringState::Over
    }

    /// Whether a string contains the offset `at`. Offsets must be asked for in ascending order.
    pub(super) fn quotes_mark(&mut self, at: usize, text: &str, tag_marks: TagMarks<'_>, complete: bool) -> Quoted {
        loop {
            if self.last.end > at {
                return if self.last.start < at { Quoted::Until(self.last.end) } else { Quoted::No };
            }
            match self.next(at, text, tag_marks, complete) {
                NextString::String(_) => {}
                NextString::Waits => return Quoted::Unknown,
                NextString::Clear | NextString::Over | NextString::Torn(_) => return Quoted::No,
            }
        }
    }

    /// The next string that starts before `until`.
    pub(super) fn next(&mut self, until: usize, text: &str, tag_marks: TagMarks<'_>, complete: bool) -> NextString {
        let bytes = text.as_bytes();
        loop {
            let met = match self.state {
                StringState::Starts => self.start(until, bytes),
                StringState::Before => self.begin(until, bytes, tag_marks),
                StringState::Outside => self.pass(until, bytes, tag_marks),
                StringState::Inside { start, quote } => self.close(start, quote, bytes, complete),
                StringState::Behind { string } => Some(self.leave(string, bytes, tag_marks, complete)),
                StringState::Over => Some(NextString::Over),
            };
            if let Some(next) = met {
                return next;
            }
        }
    }

    /// Skips white space: a quote after it starts a string, which is JSON.
    fn start(&mut self, until: usize, bytes: &[u8]) -> Option<NextString> {
        let rest = bytes.slice(self.at..until).trim_ascii_start();
        let Some(first) = rest.first() else { return Some(NextString::Clear) };
        self.at = until - rest.len();
        self.state = if *first == b'"' { StringState::Outside } else { StringState::Before };
        None
    }

    /// Searches for the start of JSON.
    fn begin(&mut self, until: usize, bytes: &[u8], tag_marks: TagMarks<'_>) -> Option<NextString> {
        let rest = bytes.slice(self.at..until);
        let Some(offset) = memchr::memchr3(b'{', b'[', tag_marks.open, rest) else {
            self.at = self.at.max(until);
            return Some(NextString::Clear);
        };
        self.at += offset;
        let rest = rest.slice(offset..);
        if rest.first() == Some(&tag_marks.open) {
            return Some(self.over(NextString::Over));
        }
        match begins_json(rest) {
            true => self.state = StringState::Outside,
            false => self.at += 1,
        }
        None
    }

    /// Continues outside strings to the start of the next one.
    fn pass(&mut self, until: usize, bytes: &[u8], tag_marks: TagMarks<'_>) -> Option<NextString> {
        while let Some(byte) = bytes.get(self.at).copied().filter(|_| self.at < until) {
            match byte {
                b'"' | b'\'' if matches!(self.before, b'{' | b'[' | b',' | b':') => {
                    self.state = StringState::Inside { start: self.at, quote: byte };
                    self.at += 1;
                    self.before = byte;
                    return None;
                }
                b'"' | b'\'' | b'\\' => return Some(self.torn(self.at)),
                _ if byte == tag_marks.open && !matches!(byte, b'{' | b'[') => {
                    return Some(self.over(NextString::Over));
                }
                b'{' | b'[' => self.depth += 1,
                b'}' | b']' => self.depth = self.depth.saturating_sub(1),
                _ => {}
            }
            self.at += 1;
            if !byte.is_ascii_whitespace() {
                self.before = byte;
            }
        }
        Some(NextString::Clear)
    }

    /// Searches for the quote that ends the string from `start`.
    fn close(&mut self, start: usize, quote: u8, bytes: &[u8], complete: bool) -> Option<NextString> {
        let rest = bytes.slice(self.at..);
        let offset = memchr::memchr2(quote, b'\\', rest).unwrap_or(rest.len());
        if rest.get(offset) == Some(&quote) {
            self.at += offset + 1;
            self.state = StringState::Behind { string: Span::new(start, self.at) };
            return None;
        }
        // An escape is two bytes, of which the second may not have arrived yet.
        if offset + 1 < rest.len() {
            self.at += offset + 2;
            return None;
        }
        self.at += offset;
        Some(if complete { self.torn(start) } else { NextString::Waits })
    }

    /// The string that may have ended here, if JSON continues.
    fn leave(&mut self, string: Span, bytes: &[u8], tag_marks: TagMarks<'_>, complete: bool) -> NextString {
        let rest = bytes.slice(self.at..).trim_ascii_start();
        self.at = bytes.len() - rest.len();
        let close = tag_marks.close.as_bytes();
        match rest.first() {
            None if complete => {}
            None => return NextString::Waits,
            Some(b',' | b':' | b'}' | b']') => {}
            Some(_) if !close.is_empty() && rest.starts_with(close) => {}
            Some(_) if !complete && rest.len() < close.len() && close.starts_with(rest) => return NextString::Waits,
            Some(_) => return self.torn(string.start),
        }
        self.before = b'"';
        self.state = StringState::Outside;
        self.last = string;
        NextString::String(string)
    }

    fn over(&mut self, next: NextString) -> NextString {
        self.state = StringState::Over;
        next
    }

    fn torn(&mut self, at: usize) -> NextString {
        self.at = at;
        self.over(if self.depth > 0 { NextString::Torn(at) } else { NextString::Over })
    }
}

/// Whether a non-empty object or list starts here.
fn begins_json(bytes: &[u8]) -> bool {
    let Some((first, rest)) = bytes.split_first() else { return false };
    let rest = rest.trim_ascii_start();
    let is_word = |byte: &&u8| byte.is_ascii_alphanumeric() || matches!(byte, b'_' | b'$' | b'-');
    match rest.first() {
        Some(b'"' | b'\'') => true,
        Some(b'{' | b'[' | b'-' | b'0'..=b'9') => *first == b'[',
        Some(byte) if *first == b'{' && (byte.is_ascii_alphabetic() || matches!(byte, b'_' | b'$')) => {
            let word = rest.iter().take_while(is_word).count();
            rest.slice(word..).trim_ascii_start().first() == Some(&b':')
        }
        _ => false,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The strings of a whole payload, and how the search ended.
    fn read(text: &str) -> (Vec<&str>, NextString) {
        let mut strings = Strings::new(0);
        let mut found = Vec::new();
        loop {
            match strings.next(text.len(), text, TagMarks { open: b'<', close: "</" }, true) {
                NextString::String(string) => found.push(string.of(text)),
                other => return (found, other),
            }
        }
    }

    #[track_caller]
    fn check(text: &str, strings: &[&str], end: NextString) {
        assert_eq!(read(text), (strings.to_vec(), end), "{text}");
    }

    #[test]
    fn quotes_open_strings_only_where_json_allows_one() {
        check(r#"{"a": ["<b>", 1, "c\"<d>"]}"#, &[r#""a""#, r#""<b>""#, r#""c\"<d>""#], NextString::Clear);
        check(r#"{'a': "it's"}"#, &["'a'", r#""it's""#], NextString::Clear);
        check(r#"Here: {a: "<b>"} tail"#, &[r#""<b>""#], NextString::Clear);
        check(r#""<b>x</b>""#, &[r#""<b>x</b>""#], NextString::Clear);
        check(r#"{"a": "b"</action>"#, &[r#""a""#, r#""b""#], NextString::Over);
    }

    #[test]
    fn quotes_outside_json_strings_do_not_count() {
        check(r#"say "<b>""#, &[], NextString::Over);
        check(r#"<a>{"b": "c"}</a>"#, &[], NextString::Over);
        check("{x} \"<b>\"", &[], NextString::Over);
        check(r#"{"a": 1} it's"#, &[r#""a""#], NextString::Over);
        check(r#"{"a": "b "c" d"}"#, &[r#""a""#], NextString::Torn(6));
        check(r#"{"a": "b}</action>"#, &[r#""a""#], NextString::Torn(6));
        check(r#"{"a": "b\"#, &[r#""a""#], NextString::Torn(6));
    }
}
