//! Strings: which texts are JSON strings in a payload?
//!
//! In: the text of a payload, as far as it has arrived.
//! Out: the strings of its JSON in order, each once it is certain to be one.
//! Never: accepts something that only starts like a string: JSON must come before it, and go on after it.
//!
//! What is in a string is data: no call, field or closer. But a quote that is never closed must not swallow everything
//! after it, so the text around both quotes is checked, however faulty the rest is. Readings that start at different
//! places in one text stay apart: a quote switches each of them between inside and outside, and bytes that can only be
//! in a string end those that are outside. So at most three readings examine the same byte, and the time is linear.

use super::Quoted;
use crate::text::Span;

/// The strings of one payload, read from its start.
#[derive(Debug, Clone)]
pub(super) struct Strings {
    /// Everything before this place has been read.
    at: usize,
    state: State,
    /// The last byte outside strings that is not white space.
    before: u8,
    /// The number of open braces and brackets.
    depth: usize,
    last: Span,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum State {
    Starts,
    /// Before any JSON.
    Before,
    Outside,
    /// In a string.
    Inside {
        start: usize,
        quote: u8,
    },
    /// After a quote, which ends a string if JSON goes on there.
    Behind {
        string: Span,
    },
    Over,
}

/// The result of a reading.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Next {
    String(Span),
    /// No string starts before the place up to which they are searched for.
    Clear,
    /// Whether the string ends depends on text that has not arrived.
    Waits,
    /// There is a tag here, or no JSON.
    Over,
    /// In an object or list there is something here that is not JSON, so that nothing after it can be told apart.
    Torn(usize),
}

/// The marks of the tags around and inside the payload.
#[derive(Debug, Clone, Copy)]
pub(super) struct TagMarks<'l> {
    pub(super) open: u8,
    pub(super) close: &'l str,
}

impl Strings {
    pub(super) fn new(from: usize) -> Self {
        Self { at: from, state: State::Starts, before: b':', depth: 0, last: Span::new(from, from) }
    }

    /// The end of the JSON and of what comes before it.
    pub(super) fn at(&self) -> usize {
        self.at
    }

    pub(super) fn is_over(&self) -> bool {
        self.state == State::Over
    }

    /// Whether a string contains the place `at`. Places must be asked for in order.
    pub(super) fn hold(&mut self, at: usize, text: &str, lead: TagMarks<'_>, complete: bool) -> Quoted {
        loop {
            if self.last.end > at {
                return if self.last.start < at { Quoted::Until(self.last.end) } else { Quoted::No };
            }
            match self.next(at, text, lead, complete) {
                Next::String(_) => {}
                Next::Waits => return Quoted::Unknown,
                Next::Clear | Next::Over | Next::Torn(_) => return Quoted::No,
            }
        }
    }

    /// The next string that starts before `until`.
    pub(super) fn next(&mut self, until: usize, text: &str, lead: TagMarks<'_>, complete: bool) -> Next {
        let bytes = text.as_bytes();
        loop {
            let met = match self.state {
                State::Starts => self.start(until, bytes),
                State::Before => self.begin(until, bytes, lead),
                State::Outside => self.pass(until, bytes, lead),
                State::Inside { start, quote } => self.close(start, quote, bytes, complete),
                State::Behind { string } => Some(self.leave(string, bytes, lead, complete)),
                State::Over => Some(Next::Over),
            };
            if let Some(next) = met {
                return next;
            }
        }
    }

    /// Skips white space: a quote after it starts a string, which is JSON.
    fn start(&mut self, until: usize, bytes: &[u8]) -> Option<Next> {
        let rest = bytes.get(self.at..until).unwrap_or_default().trim_ascii_start();
        let Some(first) = rest.first() else { return Some(Next::Clear) };
        self.at = until - rest.len();
        self.state = if *first == b'"' { State::Outside } else { State::Before };
        None
    }

    /// Searches for the start of JSON.
    fn begin(&mut self, until: usize, bytes: &[u8], lead: TagMarks<'_>) -> Option<Next> {
        let rest = bytes.get(self.at..until).unwrap_or_default();
        let Some(offset) = memchr::memchr3(b'{', b'[', lead.open, rest) else {
            self.at = self.at.max(until);
            return Some(Next::Clear);
        };
        self.at += offset;
        let rest = rest.get(offset..).unwrap_or_default();
        if rest.first() == Some(&lead.open) {
            return Some(self.over(Next::Over));
        }
        match begins_json(rest) {
            true => self.state = State::Outside,
            false => self.at += 1,
        }
        None
    }

    /// Goes on outside strings to the start of the next one.
    fn pass(&mut self, until: usize, bytes: &[u8], lead: TagMarks<'_>) -> Option<Next> {
        while let Some(byte) = bytes.get(self.at).copied().filter(|_| self.at < until) {
            match byte {
                b'"' | b'\'' if matches!(self.before, b'{' | b'[' | b',' | b':') => {
                    self.state = State::Inside { start: self.at, quote: byte };
                    self.at += 1;
                    self.before = byte;
                    return None;
                }
                b'"' | b'\'' | b'\\' => return Some(self.torn(self.at)),
                _ if byte == lead.open && !matches!(byte, b'{' | b'[') => return Some(self.over(Next::Over)),
                b'{' | b'[' => self.depth += 1,
                b'}' | b']' => self.depth = self.depth.saturating_sub(1),
                _ => {}
            }
            self.at += 1;
            if !byte.is_ascii_whitespace() {
                self.before = byte;
            }
        }
        Some(Next::Clear)
    }

    /// Searches for the quote that ends the string from `start`.
    fn close(&mut self, start: usize, quote: u8, bytes: &[u8], complete: bool) -> Option<Next> {
        let rest = bytes.get(self.at..).unwrap_or_default();
        let offset = memchr::memchr2(quote, b'\\', rest).unwrap_or(rest.len());
        if rest.get(offset) == Some(&quote) {
            self.at += offset + 1;
            self.state = State::Behind { string: Span::new(start, self.at) };
            return None;
        }
        // An escape is two bytes, of which the second may be still to come.
        if offset + 1 < rest.len() {
            self.at += offset + 2;
            return None;
        }
        self.at += offset;
        Some(if complete { self.torn(start) } else { Next::Waits })
    }

    /// The string that may have ended here, if JSON goes on.
    fn leave(&mut self, string: Span, bytes: &[u8], lead: TagMarks<'_>, complete: bool) -> Next {
        let rest = bytes.get(self.at..).unwrap_or_default().trim_ascii_start();
        self.at = bytes.len() - rest.len();
        let close = lead.close.as_bytes();
        match rest.first() {
            None if complete => {}
            None => return Next::Waits,
            Some(b',' | b':' | b'}' | b']') => {}
            Some(_) if !close.is_empty() && rest.starts_with(close) => {}
            Some(_) if !complete && rest.len() < close.len() && close.starts_with(rest) => return Next::Waits,
            Some(_) => return self.torn(string.start),
        }
        self.before = b'"';
        self.state = State::Outside;
        self.last = string;
        Next::String(string)
    }

    fn over(&mut self, next: Next) -> Next {
        self.state = State::Over;
        next
    }

    fn torn(&mut self, at: usize) -> Next {
        self.at = at;
        self.over(if self.depth > 0 { Next::Torn(at) } else { Next::Over })
    }
}

/// Whether an object or a list with something in it starts here.
fn begins_json(bytes: &[u8]) -> bool {
    let Some((first, rest)) = bytes.split_first() else { return false };
    let rest = rest.trim_ascii_start();
    let is_word = |byte: &&u8| byte.is_ascii_alphanumeric() || matches!(byte, b'_' | b'$' | b'-');
    match rest.first() {
        Some(b'"' | b'\'') => true,
        Some(b'{' | b'[' | b'-' | b'0'..=b'9') => *first == b'[',
        Some(byte) if *first == b'{' && (byte.is_ascii_alphabetic() || matches!(byte, b'_' | b'$')) => {
            let word = rest.iter().take_while(is_word).count();
            rest.get(word..).unwrap_or_default().trim_ascii_start().first() == Some(&b':')
        }
        _ => false,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The strings of a whole payload, and what ended the reading.
    fn read(text: &str) -> (Vec<&str>, Next) {
        let mut strings = Strings::new(0);
        let mut found = Vec::new();
        loop {
            match strings.next(text.len(), text, TagMarks { open: b'<', close: "</" }, true) {
                Next::String(string) => found.push(string.of(text)),
                other => return (found, other),
            }
        }
    }

    #[track_caller]
    fn check(text: &str, strings: &[&str], end: Next) {
        assert_eq!(read(text), (strings.to_vec(), end), "{text}");
    }

    #[test]
    fn strings_stand_where_json_has_them() {
        check(r#"{"a": ["<b>", 1, "c\"<d>"]}"#, &[r#""a""#, r#""<b>""#, r#""c\"<d>""#], Next::Clear);
        check(r#"{'a': "it's"}"#, &["'a'", r#""it's""#], Next::Clear);
        check(r#"Here: {a: "<b>"} tail"#, &[r#""<b>""#], Next::Clear);
        check(r#""<b>x</b>""#, &[r#""<b>x</b>""#], Next::Clear);
        check(r#"{"a": "b"</action>"#, &[r#""a""#, r#""b""#], Next::Over);
    }

    #[test]
    fn other_quotes_are_none() {
        check(r#"say "<b>""#, &[], Next::Over);
        check(r#"<a>{"b": "c"}</a>"#, &[], Next::Over);
        check("{x} \"<b>\"", &[], Next::Over);
        check(r#"{"a": 1} it's"#, &[r#""a""#], Next::Over);
        check(r#"{"a": "b "c" d"}"#, &[r#""a""#], Next::Torn(6));
        check(r#"{"a": "b}</action>"#, &[r#""a""#], Next::Torn(6));
        check(r#"{"a": "b\"#, &[r#""a""#], Next::Torn(6));
    }
}
