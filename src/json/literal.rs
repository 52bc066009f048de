//! Literals: which value does text without quotes write?
//!
//! In: a place where a value starts without a bracket or a quote.
//! Out: the value on the tape: a number, a constant, or the words as a string.
//! Never: takes a part of the words as the value and drops the rest.

use super::escape::decode_string;
use super::fault::{self, Grade};
use super::lenient::{LenientJson, LenientPlace};
use super::tape::TapeKind;
use crate::text::Span;
use crate::value::{Number, Value};

impl LenientJson<'_> {
    /// The constant here, its length and its fault; `None` if the word is longer.
    pub(super) fn constant(&self) -> Option<(Value, usize, Option<&'static str>)> {
        let word = self.word_at(self.at);
        let (value, fault) = match word.of(self.text) {
            "true" => (Value::Bool(true), None),
            "false" => (Value::Bool(false), None),
            "null" => (Value::Null, None),
            "True" | "TRUE" => (Value::Bool(true), Some(fault::CONSTANT)),
            "False" | "FALSE" => (Value::Bool(false), Some(fault::CONSTANT)),
            "None" | "Null" | "NULL" | "nil" => (Value::Null, Some(fault::CONSTANT)),
            "NaN" | "Infinity" | "-Infinity" | "undefined" => (Value::Null, Some(fault::NO_VALUE)),
            _ => return None,
        };
        self.ends_value(word.end).then_some((value, word.len(), fault))
    }

    /// Reads a number, a constant, or words. Returns whether the value is complete.
    pub(super) fn literal(&mut self, place: LenientPlace) -> bool {
        let start = self.at;
        if let Some((value, length, name)) = self.constant() {
            let span = Span::new(start, start + length);
            self.at = span.end;
            // If nothing bounds the value at the end of the text, its rest may be missing.
            let cut = self.context.may_go_on() && self.at >= self.bytes.len();
            match name {
                _ if cut => self.fault(fault::SKIPPED_TEXT, span, Grade::Lossy),
                Some(fault::NO_VALUE) => self.fault(fault::NO_VALUE, span, Grade::Lossy),
                Some(name) => self.certain(name, span),
                None => {}
            }
            self.tape.make(false, value, span);
            return !cut;
        }
        if let Some(length) = self.number_length() {
            let span = Span::new(start, start + length);
            let raw = span.of(self.text);
            let cut = self.context.may_go_on() && span.end >= self.bytes.len();
            if crate::value::is_number(raw) {
                self.at = span.end;
                if cut {
                    self.fault(fault::SKIPPED_TEXT, span, Grade::Lossy);
                }
                self.tape.leaf(TapeKind::Number, span);
                return !cut;
            }
            if let Some(number) = loose(raw) {
                self.at = span.end;
                self.fault(fault::NUMBER, span, if cut { Grade::Lossy } else { Grade::Certain });
                self.tape.make(false, Value::Number(number), span);
                return !cut;
            }
        }
        self.words(place)
    }

    /// The length of a possible number here, if a value can end after it.
    fn number_length(&self) -> Option<usize> {
        let rest = self.bytes.get(self.at..)?;
        let is_part = |byte: &u8| byte.is_ascii_alphanumeric() || matches!(byte, b'+' | b'-' | b'.');
        let length = rest.iter().take_while(|byte| is_part(byte)).count();
        (length > 0 && self.ends_value(self.at + length)).then_some(length)
    }

    /// Whether a value without quotes can end at `at`.
    fn ends_value(&self, at: usize) -> bool {
        let next = self.over_space(at);
        let Some(first) = self.text.get(next..self.bytes.len()).and_then(|rest| rest.chars().next()) else {
            return true;
        };
        match first {
            ',' | '}' | ']' | ')' | '#' | '，' | '｝' | '］' | '`' => true,
            '/' => matches!(self.byte_at(next + 1), b'/' | b'*'),
            // A comma is missing before a key or, in a list, before another value.
            '"' | '\'' | '{' | '[' => next > at,
            _ => next > at && (self.starts_bare_key(next) || self.in_list()),
        }
    }

    fn starts_bare_key(&self, at: usize) -> bool {
        let word = self.word_at(at);
        !word.is_empty() && self.byte_at(self.over_space(word.end)) == b':'
    }

    fn in_list(&self) -> bool {
        self.open.last().is_some_and(|frame| frame.kind != super::lenient::Container::Object)
    }

    /// Reads words without quotes up to where a value can end. If a quote ends them, the opening quote is missing.
    fn words(&mut self, place: LenientPlace) -> bool {
        let start = self.at;
        if place == LenientPlace::Root {
            return false;
        }
        let rest = self.rest();
        let end = rest.find([',', '}', ']', '\n', '\r', '"', '{', '[']).unwrap_or(rest.len());
        let end = if end == 0 { rest.chars().next().map_or(0, char::len_utf8) } else { end };
        let words = Span::new(start, start + end);
        let text = words.of(self.text);
        self.at = words.end;
        if self.byte() == b'"'
            && let Some(sure) = self.ends_surely(self.at + 1, place)
        {
            self.at += 1;
            self.doubtful += 1;
            // The quote after a number, as in `12"`, may be superfluous instead.
            let is_word = text.starts_with(char::is_alphabetic) && self.doubtful == 1;
            let constant = matches!(text, "true" | "false" | "null" | "True" | "False" | "None");
            let grade = if sure && is_word && !constant { Grade::Certain } else { Grade::Lossy };
            self.fault(fault::MISSING_QUOTE, Span::new(start, start), grade);
            self.tape.make(false, decode_string(text).into(), Span::new(start, self.at));
            return true;
        }
        self.fault(fault::UNQUOTED_TEXT, words, Grade::Lossy);
        self.tape.make(false, text.trim_end().into(), words);
        false
    }
}

/// A number in the notation of other languages: `.5`, `+5`, `5.`, `0x1F`.
fn loose(raw: &str) -> Option<Number> {
    let unsigned = raw.strip_prefix(['+', '-']).unwrap_or(raw);
    let negative = raw.starts_with('-');
    if let Some(digits) = unsigned.strip_prefix("0x").or(unsigned.strip_prefix("0X")) {
        let number =
            i64::from_str_radix(digits, 16).ok().filter(|_| digits.bytes().all(|byte| byte.is_ascii_hexdigit()))?;
        return Some(if negative { (-number).into() } else { number.into() });
    }
    let mut parts = unsigned.splitn(2, '.');
    let (whole, fraction) = (parts.next()?, parts.next());
    let digits = |part: &str| part.bytes().all(|byte| byte.is_ascii_digit());
    let has_digits = !whole.is_empty() || fraction.is_some_and(|fraction| !fraction.is_empty());
    if !has_digits || !digits(whole) || !fraction.is_none_or(digits) || (whole.len() > 1 && whole.starts_with('0')) {
        return None;
    }
    let sign = if negative { "-" } else { "" };
    let whole = if whole.is_empty() { "0" } else { whole };
    let written = match fraction {
        Some(fraction) if !fraction.is_empty() => format!("{sign}{whole}.{fraction}"),
        _ => format!("{sign}{whole}"),
    };
    crate::value::number(&written)
}
