//! Scanning: is a text strict JSON, and where are its values?
//!
//! In: a part of a text.
//! Out: the [`JsonTape`] of the value, if RFC 8259 allows all of it; otherwise where it stops being JSON.
//! Never: decodes a string, or allows anything else.

use super::Context;
use super::tape::{JsonTape, TapeKind};
use crate::text::{Slice, Span, eights};

/// Why a scan stops.
#[derive(Debug, Clone, Copy)]
pub(super) enum Stop {
    /// JSON does not allow this byte here; the message says what is expected.
    Unexpected(usize, &'static str),
    /// The value is nested too deeply here.
    TooDeep(usize),
    /// The text contains too many values.
    TooMany,
}

impl Stop {
    pub(super) fn at(self) -> usize {
        match self {
            Stop::Unexpected(at, _) | Stop::TooDeep(at) => at,
            Stop::TooMany => 0,
        }
    }
}

/// Scans the value in `body`, which may have only white space around it.
pub(super) fn all(text: &str, body: Span, context: Context<'_>) -> Result<JsonTape, Stop> {
    let mut scanner = JsonScanner::new(text, body, context);
    scanner.space();
    scanner.value(context.depth)?;
    scanner.space();
    match scanner.at < scanner.bytes.len() {
        true => Err(Stop::Unexpected(scanner.at, "trailing characters")),
        false => Ok(scanner.tape),
    }
}

/// Scans the value at the start of `body`; any text may follow. Also returns its end.
pub(super) fn first(text: &str, body: Span, context: Context<'_>) -> Result<(JsonTape, usize), Stop> {
    let mut scanner = JsonScanner::new(text, body, context);
    scanner.value(context.depth)?;
    Ok((scanner.tape, scanner.at))
}

/// The length of the text before the first quote, backslash or control character.
pub(crate) fn plain_length(text: &[u8]) -> usize {
    let ends = |eight| eights::below(b' ', eight) | eights::equal(b'"', eight) | eights::equal(b'\\', eight);
    eights::first(text, ends, |byte| matches!(byte, b'"' | b'\\' | 0..=0x1f)).unwrap_or(text.len())
}

struct JsonScanner<'t> {
    bytes: &'t [u8],
    at: usize,
    tape: JsonTape,
    /// The most nodes: a value and its key are two.
    most: usize,
}

type Scanned = Result<(), Stop>;

impl<'t> JsonScanner<'t> {
    fn new(text: &'t str, body: Span, context: Context<'_>) -> Self {
        let bytes = text.as_bytes().slice(..body.end);
        let tape = JsonTape::of_text(body.len());
        Self { bytes, at: body.start, tape, most: context.values.get().saturating_mul(2) }
    }

    /// The next byte; 0 at the end, which is not allowed anywhere either.
    #[inline]
    fn byte(&self) -> u8 {
        self.bytes.get(self.at).copied().unwrap_or_default()
    }

    #[inline]
    fn space(&mut self) {
        while matches!(self.byte(), b' ' | b'\t' | b'\r' | b'\n') {
            self.at += 1;
        }
    }

    fn unexpected<T>(&self, expected: &'static str) -> Result<T, Stop> {
        let at_end = self.at >= self.bytes.len();
        Err(Stop::Unexpected(self.at, if at_end { "it ends too early" } else { expected }))
    }

    fn value(&mut self, depth: usize) -> Scanned {
        if self.tape.len() >= self.most {
            return Err(Stop::TooMany);
        }
        let start = self.at;
        match self.byte() {
            b'"' => {
                let kind = self.string()?;
                self.tape.leaf(kind, Span::new(start, self.at));
            }
            b'{' => self.object(depth.checked_sub(1).ok_or(Stop::TooDeep(start))?)?,
            b'[' => self.list(depth.checked_sub(1).ok_or(Stop::TooDeep(start))?)?,
            b'-' | b'0'..=b'9' => {
                self.number()?;
                self.tape.leaf(TapeKind::Number, Span::new(start, self.at));
            }
            b't' => self.word("true", TapeKind::True)?,
            b'f' => self.word("false", TapeKind::False)?,
            b'n' => self.word("null", TapeKind::Null)?,
            _ => return self.unexpected("expected value"),
        }
        Ok(())
    }

    fn object(&mut self, depth: usize) -> Scanned {
        let object = self.tape.open(TapeKind::Object, self.at);
        self.at += 1;
        self.space();
        while self.byte() != b'}' {
            let start = self.at;
            if self.byte() != b'"' {
                return self.unexpected("key must be a string");
            }
            let kind = self.string()?;
            self.tape.key(kind, Span::new(start, self.at));
            self.space();
            if self.byte() != b':' {
                return self.unexpected("expected `:`");
            }
            self.at += 1;
            self.space();
            self.value(depth)?;
            self.space();
            if self.byte() == b'}' {
                break;
            }
            self.comma("expected `,` or `}`", b'}')?;
        }
        self.at += 1;
        self.tape.close(object, self.at);
        Ok(())
    }

    fn list(&mut self, depth: usize) -> Scanned {
        let list = self.tape.open(TapeKind::List, self.at);
        self.at += 1;
        self.space();
        while self.byte() != b']' {
            self.value(depth)?;
            self.space();
            if self.byte() == b']' {
                break;
            }
            self.comma("expected `,` or `]`", b']')?;
        }
        self.at += 1;
        self.tape.close(list, self.at);
        Ok(())
    }

    /// Skips a comma and the white space around it. A closer may not follow.
    fn comma(&mut self, expected: &'static str, closer: u8) -> Scanned {
        if self.byte() != b',' {
            return self.unexpected(expected);
        }
        self.at += 1;
        self.space();
        if self.byte() == closer { self.unexpected("trailing comma") } else { Ok(()) }
    }

    fn word(&mut self, word: &'static str, kind: TapeKind) -> Scanned {
        let start = self.at;
        if !self.bytes.get(start..).is_some_and(|rest| rest.starts_with(word.as_bytes())) {
            return self.unexpected("expected value");
        }
        self.at += word.len();
        self.tape.leaf(kind, Span::new(start, self.at));
        Ok(())
    }

    /// Skips a string, with its quotes.
    fn string(&mut self) -> Result<TapeKind, Stop> {
        self.at += 1;
        let mut kind = TapeKind::Plain;
        loop {
            self.at += plain_length(self.bytes.slice(self.at..));
            match self.bytes.get(self.at) {
                Some(b'"') => {
                    self.at += 1;
                    return Ok(kind);
                }
                Some(b'\\') => self.escape()?,
                Some(_) => {
                    return self.unexpected("control character (\\u0000-\\u001F) found while parsing a string");
                }
                None => return self.unexpected("it ends in a string"),
            }
            kind = TapeKind::Escaped;
        }
    }

    fn escape(&mut self) -> Scanned {
        let rest = self.bytes.slice(self.at + 1..);
        let unit = |rest: &[u8]| {
            let digits = rest.get(..4)?;
            digits.iter().try_fold(0, |unit, digit| Some(unit * 16 + char::from(*digit).to_digit(16)?))
        };
        let length = match rest.first() {
            Some(b'"' | b'\\' | b'/' | b'b' | b'f' | b'n' | b'r' | b't') => Some(2),
            Some(b'u') => match unit(rest.slice(1..)) {
                Some(0xd800..=0xdbff) => {
                    let low = rest.get(5..).and_then(|rest| unit(rest.strip_prefix(b"\\u")?));
                    low.filter(|low| (0xdc00..0xe000).contains(low)).map(|_| 12)
                }
                Some(0xdc00..=0xdfff) | None => None,
                Some(_) => Some(6),
            },
            _ => None,
        };
        match length {
            Some(length) => {
                self.at += length;
                Ok(())
            }
            None => self.unexpected("invalid escape"),
        }
    }

    fn number(&mut self) -> Scanned {
        self.at += usize::from(self.byte() == b'-');
        match self.byte() {
            b'0' => self.at += 1,
            _ => self.digits()?,
        }
        if self.byte() == b'.' {
            self.at += 1;
            self.digits()?;
        }
        if matches!(self.byte(), b'e' | b'E') {
            self.at += 1;
            self.at += usize::from(matches!(self.byte(), b'+' | b'-'));
            self.digits()?;
        }
        if self.byte().is_ascii_alphanumeric() { self.unexpected("invalid number") } else { Ok(()) }
    }

    fn digits(&mut self) -> Scanned {
        let start = self.at;
        while self.byte().is_ascii_digit() {
            self.at += 1;
        }
        if self.at == start { self.unexpected("invalid number") } else { Ok(()) }
    }
}
