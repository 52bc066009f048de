//! Lenient: which value does a text write that is not strict JSON?
//!
//! In: a part of a text, and the names that may be keys.
//! Out: a [`JsonTape`] with the faults on it, or `None` if there is no value.
//! Never: skips a byte inside the value without a fault, backtracks further than the punctuation before a key, or
//! looks further ahead than a few punctuation characters and one key.
//!
//! A token that JSON does not allow where it is shows that something is missing or superfluous. Reading continues as if
//! that were corrected, and the grade of the fault says whether another correction would give another value.

use super::escape::{decode_string, known_escape, resolve};
use super::fault::{self, Grade, JsonFault};
use super::tape::{JsonTape, TapeKind};
use super::{Context, MAX_NOTES, build, scan};
use crate::text::{Slice, Span, starts_fence};
use crate::value::Value;

/// The longest key.
pub(super) const MAX_KEY_BYTES: usize = 300;

/// An open container.
#[derive(Debug)]
pub(super) struct JsonContainer {
    pub(super) kind: Container,
    /// The declared names that it already has as keys.
    pub(super) names: Vec<String>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Container {
    Object,
    List,
    /// A list in parentheses.
    Tuple,
}

impl Container {
    pub(super) fn closer(self) -> u8 {
        match self {
            Container::Object => b'}',
            Container::List => b']',
            Container::Tuple => b')',
        }
    }

    fn missing(self) -> &'static str {
        if self == Container::Object { fault::MISSING_BRACE } else { fault::MISSING_BRACKET }
    }
}

/// The place of a value in its container.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum LenientPlace {
    Root,
    Member,
    Entry,
}

pub(super) struct LenientJson<'t> {
    pub(super) text: &'t str,
    /// The text up to the end of the body.
    pub(super) bytes: &'t [u8],
    pub(super) at: usize,
    pub(super) context: Context<'t>,
    pub(super) tape: JsonTape,
    pub(super) open: Vec<JsonContainer>,
    /// Whether a key without quotes has been read.
    pub(super) bare_keys: bool,
    /// False once a comment without an end has been found, because no later comment can end then.
    comments: bool,
    /// How many strings have ambiguous quotes.
    pub(super) doubtful: usize,
    /// The most nodes on the tape.
    most: usize,
    /// Whether reading has to stop, because there are too many values or they are nested too deeply.
    stopped: bool,
}

impl<'t> LenientJson<'t> {
    /// Reads the value in `body`, and the words and code fences around it.
    pub(super) fn read(text: &'t str, body: Span, context: Context<'t>) -> Option<JsonTape> {
        let bytes = text.as_bytes().get(..body.end)?;
        let most = context.values.get().saturating_mul(2);
        let (tape, open) = (JsonTape::default(), Vec::new());
        let mut reader = Self {
            text,
            bytes,
            at: body.start,
            context,
            tape,
            open,
            bare_keys: false,
            comments: true,
            doubtful: 0,
            most,
            stopped: false,
        };
        reader.space();
        if let Some(tape) = reader.escaped(body) {
            return Some(tape);
        }
        let (before, fenced) = reader.before()?;
        let start = reader.at;
        if !before.is_empty()
            && let Ok((mut tape, end)) = scan::first(text, Span::new(start, body.end), context)
        {
            // Words around strict JSON leave the value certain, unless another value is among them.
            reader.at = end;
            reader.skip_trailing_text(fenced);
            let alone = !reader.is_lossy() && !before.of(text).contains(['{', '[']);
            let grade = if alone { Grade::Certain } else { Grade::Lossy };
            reader.tape.faults.insert(0, JsonFault { name: fault::TEXT_AROUND, span: before, grade });
            tape.faults = std::mem::take(&mut reader.tape.faults);
            return Some(tape);
        }
        if !before.is_empty() {
            reader.fault(fault::TEXT_AROUND, before, Grade::Lossy);
        }
        let is_whole = reader.value(LenientPlace::Root);
        if reader.stopped || (start == reader.at && !is_whole) {
            return None;
        }
        let in_doubt = reader.ends_in_doubt();
        let at_end = |fault: &JsonFault| {
            fault.span.start >= bytes.len() && [fault::MISSING_BRACE, fault::MISSING_BRACKET].contains(&fault.name)
        };
        for fault in reader.tape.faults.iter_mut().filter(|fault| in_doubt && at_end(fault)) {
            fault.grade = Grade::Lossy;
        }
        reader.skip_trailing_text(fenced);
        Some(reader.tape)
    }

    /// An object or list all of whose quotes are escaped, if it is strict JSON without these backslashes.
    fn escaped(&mut self, body: Span) -> Option<JsonTape> {
        let span = Span::new(self.at, body.end).trimmed(self.text);
        let raw = span.of(self.text);
        let opens = raw.trim_start_matches(['{', '[', ' ', '\t', '\r', '\n']);
        if !raw.starts_with(['{', '[']) || !opens.starts_with("\\\"") {
            return None;
        }
        let text = resolve(raw, known_escape);
        let inner = scan::all(&text, Span::new(0, text.len()), self.context).ok()?;
        let value = build::json(&inner, &text, self.context).filter(|json| json.repeated.is_empty())?.value;
        let mut tape = JsonTape::default();
        tape.make(false, value, span);
        tape.faults.push(JsonFault { name: fault::ESCAPED_QUOTES, span, grade: Grade::Certain });
        Some(tape)
    }

    /// Skips the text before the value: a code fence, or words. Returns the words, and whether there is a fence.
    fn before(&mut self) -> Option<(Span, bool)> {
        let start = self.at;
        let rest = self.bytes.get(start..)?;
        if starts_fence(rest) {
            let fence = rest.first().copied().unwrap_or_default();
            let is_info = |byte: &u8| *byte == fence || byte.is_ascii_alphanumeric();
            self.at += rest.iter().take_while(|byte| is_info(byte)).count();
            self.fault(fault::CODE_FENCE, Span::new(start, self.at), Grade::Certain);
            self.space();
            return Some((Span::new(self.at, self.at), true));
        }
        let starts = |byte: u8| matches!(byte, b'{' | b'[' | b'"' | b'\'' | b'`' | b'-' | b'+' | b'.' | b'0'..=b'9');
        if starts(self.mark()) || self.quote().is_some() || self.constant().is_some() {
            return Some((Span::new(start, start), false));
        }
        // The value is the first object or list after the words.
        let found = rest.iter().position(|byte| matches!(byte, b'{' | b'['))?;
        self.at += found;
        let words = Span::new(start, self.at);
        let marks = words.of(self.text).trim_end();
        let fence = [marks.rfind("```"), marks.rfind("~~~")].into_iter().flatten().max();
        Some((words, fence.is_some()))
    }

    /// Skips the text after the value.
    fn skip_trailing_text(&mut self, fenced: bool) {
        let lossy = self.is_lossy();
        loop {
            self.space();
            let start = self.at;
            match self.byte() {
                0 if self.at >= self.bytes.len() => return,
                b'}' | b']' if !lossy => {
                    let name = if self.byte() == b'}' { fault::EXTRA_BRACE } else { fault::EXTRA_BRACKET };
                    let certain =
                        !self.closes_before(if self.byte() == b'}' { TapeKind::Object } else { TapeKind::List });
                    self.at += 1;
                    self.fault(name, Span::new(start, self.at), if certain { Grade::Certain } else { Grade::Lossy });
                }
                b'`' | b'~' if fenced && self.is_fence() => {
                    self.at += 3;
                    self.fault(fault::CODE_FENCE, Span::new(start, self.at), Grade::Certain);
                }
                _ => {
                    let span = Span::new(start, self.bytes.len());
                    let alone = !lossy && self.tape.faults.iter().all(|fault| fault.name == fault::CODE_FENCE);
                    let words = span.of(self.text);
                    let grade = if alone && !words.contains(['{', '[', '"']) { Grade::Certain } else { Grade::Lossy };
                    self.fault(fault::TEXT_AROUND, span, grade);
                    self.at = self.bytes.len();
                    return;
                }
            }
        }
    }

    fn is_fence(&self) -> bool {
        self.bytes.get(self.at..).is_some_and(starts_fence)
    }

    fn is_lossy(&self) -> bool {
        self.tape.faults.iter().any(|fault| fault.grade == Grade::Lossy)
    }

    pub(super) fn fault(&mut self, name: &'static str, span: Span, grade: Grade) {
        // Always list the first lossy fault, because lossy faults decide what happens to the payload.
        let room = self.tape.faults.len() < MAX_NOTES || (grade == Grade::Lossy && !self.is_lossy());
        match room {
            true => self.tape.faults.push(JsonFault { name, span, grade }),
            false => self.tape.left_out += 1,
        }
    }

    /// Adds a fault that leaves the value certain.
    pub(super) fn certain(&mut self, name: &'static str, span: Span) {
        self.fault(name, span, Grade::Certain);
    }

    /// Adds a fault for a missing token here.
    fn missing(&mut self, name: &'static str, grade: Grade) {
        self.fault(name, Span::new(self.at, self.at), grade);
    }

    /// The next byte; 0 at the end.
    pub(super) fn byte(&self) -> u8 {
        self.byte_at(self.at)
    }

    pub(super) fn byte_at(&self, at: usize) -> u8 {
        self.bytes.get(at).copied().unwrap_or_default()
    }

    pub(super) fn rest(&self) -> &'t str {
        self.text.slice(self.at..self.bytes.len())
    }

    /// Skips white space and comments.
    fn space(&mut self) {
        loop {
            let start = self.at;
            while matches!(self.byte(), b' ' | b'\t' | b'\r' | b'\n') {
                self.at += 1;
            }
            let rest = self.rest();
            let end = match rest.as_bytes() {
                [b'/', b'/', ..] | [b'#', ..] => Some(rest.find(['\n', '\r']).unwrap_or(rest.len())),
                [b'/', b'*', ..] if self.comments => {
                    let end = rest.find("*/").map(|end| end + 2);
                    // No later comment ends either.
                    self.comments = end.is_some();
                    end
                }
                _ => None,
            };
            if let Some(end) = end {
                self.certain(fault::COMMENT, Span::new(self.at, self.at + end));
                self.at += end;
                continue;
            }
            let blanks: usize = rest.chars().take_while(|c| is_blank(*c)).map(char::len_utf8).sum();
            if blanks > 0 {
                self.certain(fault::BLANK, Span::new(self.at, self.at + blanks));
                self.at += blanks;
            }
            if self.at == start || blanks == 0 {
                return;
            }
        }
    }

    /// The punctuation here: an ASCII character, or the one that a full-width character stands for.
    fn mark(&self) -> u8 {
        self.rest().chars().next().and_then(|c| u8::try_from(narrow(c)).ok()).unwrap_or_default()
    }

    /// Skips the punctuation here.
    fn pass_mark(&mut self) {
        let start = self.at;
        self.at += self.rest().chars().next().map_or(0, char::len_utf8);
        if self.at > start + 1 {
            self.certain(fault::WIDE_MARK, Span::new(start, self.at));
        }
    }

    /// Reads a value; returns whether it is complete.
    fn value(&mut self, place: LenientPlace) -> bool {
        if self.tape.len() >= self.most {
            self.stopped = true;
        }
        if self.stopped {
            self.at = self.bytes.len();
            return false;
        }
        match self.mark() {
            b'{' => self.container(Container::Object),
            b'[' => self.container(Container::List),
            b'(' => self.container(Container::Tuple),
            b',' | b'}' | b']' | b')' | b':' => self.absent(),
            0 if self.at >= self.bytes.len() => self.absent(),
            _ if self.quote().is_some() => self.string(place),
            _ => self.literal(place),
        }
    }

    /// Adds the fault for a missing value, and a null in its place.
    fn absent(&mut self) -> bool {
        self.missing(fault::MISSING_VALUE, Grade::Lossy);
        self.tape.make(false, Value::Null, Span::new(self.at, self.at));
        false
    }

    fn container(&mut self, kind: Container) -> bool {
        if self.open.len() >= self.context.depth {
            self.stopped = true;
            return false;
        }
        let start = self.at;
        let node = self.tape.open(if kind == Container::Object { TapeKind::Object } else { TapeKind::List }, start);
        self.pass_mark();
        if kind == Container::Tuple {
            self.certain(fault::TUPLE, Span::new(start, self.at));
        }
        self.open.push(JsonContainer { kind, names: Vec::new() });
        self.inside(kind);
        self.tape.close(node, self.at);
        self.open.pop();
        true
    }

    /// Reads members or entries up to the closer, and the closer.
    fn inside(&mut self, kind: Container) {
        // The comma after the last member, whether that member is complete, and whether there is one.
        let (mut comma, mut whole, mut filled): (Option<Span>, bool, bool) = (None, true, false);
        loop {
            self.space();
            if self.stopped {
                return;
            }
            let start = self.at;
            match self.mark() {
                0 if self.at >= self.bytes.len() => {
                    let complete = comma.is_none() && whole && filled;
                    let certain = complete && !self.context.cut;
                    self.missing(kind.missing(), if certain { Grade::Certain } else { Grade::Lossy });
                    return;
                }
                b'`' | b'~' if self.is_fence() => {
                    self.missing(kind.missing(), Grade::Lossy);
                    return;
                }
                mark if mark == kind.closer() => {
                    self.pass_mark();
                    if let Some(comma) = comma {
                        self.certain(fault::TRAILING_COMMA, comma);
                    }
                    return;
                }
                mark @ (b'}' | b']' | b')') => {
                    let around = self.open.iter().rev().skip(1).find(|frame| frame.kind.closer() == mark);
                    if around.is_some() {
                        // The closer belongs to an outer container, so the closer of this one is missing.
                        let certain = comma.is_none() && whole && kind != Container::Object && self.closes_all(start);
                        self.missing(kind.missing(), if certain { Grade::Certain } else { Grade::Lossy });
                        return;
                    }
                    self.pass_mark();
                    let name = if mark == b'}' { fault::EXTRA_BRACE } else { fault::EXTRA_BRACKET };
                    self.fault(name, Span::new(start, self.at), Grade::Lossy);
                }
                b',' => {
                    self.pass_mark();
                    match comma.is_some() || !filled {
                        true => self.certain(fault::EXTRA_COMMA, Span::new(start, self.at)),
                        false => comma = Some(Span::new(start, self.at)),
                    }
                }
                _ if self.dots() => {
                    (comma, filled, whole) = (None, true, true);
                }
                _ => {
                    if filled && comma.is_none() {
                        self.missing(fault::MISSING_COMMA, if whole { Grade::Certain } else { Grade::Lossy });
                    }
                    (comma, filled) = (None, true);
                    whole = match kind {
                        Container::Object => self.member(),
                        Container::List | Container::Tuple => self.value(LenientPlace::Entry),
                    };
                    if self.at == start {
                        self.skip();
                    }
                }
            }
        }
    }

    /// Whether a closer that is missing at the end could belong to another container: if an object ends in an object,
    /// or a list in a list, the last members may be those of the outer one.
    fn ends_in_doubt(&self) -> bool {
        let (mut outer, mut depth) = (0, 0);
        while let Some(inner) = self.tape.inside(outer).last() {
            let filled = self.tape.inside(inner).count() / if self.tape.is_object(inner) { 2 } else { 1 };
            let both = |is: fn(&JsonTape, usize) -> bool| is(&self.tape, outer) && is(&self.tape, inner);
            if depth >= self.context.envelopes && filled > 1 && (both(JsonTape::is_object) || both(JsonTape::is_list)) {
                return true;
            }
            (outer, depth) = (inner, depth + 1);
        }
        false
    }

    /// Whether a superfluous closer could belong to an earlier place: a container of this kind has another inside it
    /// that ends before the outer one does.
    fn closes_before(&self, kind: TapeKind) -> bool {
        let is_of = |at: usize| self.tape.get(at).is_some_and(|node| node.kind == kind);
        (0..self.tape.len()).filter(|outer| is_of(*outer)).any(|outer| {
            let end = self.tape.after(outer);
            self.tape.inside(outer).any(|inner| is_of(inner) && self.tape.after(inner) < end)
        })
    }

    /// Whether only the closers of all open containers, except for the innermost, follow up to the end.
    fn closes_all(&self, at: usize) -> bool {
        let mut at = at;
        for frame in self.open.iter().rev().skip(1) {
            at = self.over_space(at);
            if self.byte_at(at) != frame.kind.closer() {
                return false;
            }
            at += 1;
        }
        self.over_space(at) >= self.bytes.len()
    }

    /// The next offset that is not white space.
    pub(super) fn over_space(&self, at: usize) -> usize {
        let rest = self.bytes.slice(at..);
        let at = at + rest.iter().take_while(|byte| matches!(byte, b' ' | b'\t' | b'\r' | b'\n')).count();
        if self.byte_at(at).is_ascii() {
            return at;
        }
        let rest = self.text.slice(at..self.bytes.len());
        let blanks: usize = rest.chars().take_while(|c| is_blank(*c)).map(char::len_utf8).sum();
        at + blanks
    }

    /// Skips dots that replace omitted members.
    fn dots(&mut self) -> bool {
        let rest = self.rest();
        let length = if rest.starts_with("...") { 3 } else { usize::from(rest.starts_with('…')) * '…'.len_utf8() };
        if length > 0 {
            self.fault(fault::DOTS, Span::new(self.at, self.at + length), Grade::Lossy);
            self.at += length;
        }
        length > 0
    }

    /// Skips text that is part of no value, up to the next punctuation, quote or line.
    fn skip(&mut self) {
        let start = self.at;
        let first = self.rest().chars().next().map_or(1, char::len_utf8);
        let rest = self.bytes.slice(start + first..);
        let is_mark = |byte: &u8| matches!(byte, b'{' | b'}' | b'[' | b']' | b',' | b':' | b'"' | b'\n');
        let length = rest.iter().position(is_mark).unwrap_or(rest.len());
        self.at = start + first + length;
        self.fault(fault::SKIPPED_TEXT, Span::new(start, self.at), Grade::Lossy);
    }

    /// Reads a member: its key, the colon and its value. Returns whether all of it is complete.
    fn member(&mut self) -> bool {
        let Some(name) = self.key() else { return false };
        self.note_key(&name);
        self.space();
        match self.mark() {
            b':' => self.pass_mark(),
            b',' | b'}' | b']' => {}
            0 if self.at >= self.bytes.len() => {}
            b'=' => {
                let start = self.at;
                self.at += 1 + usize::from(self.byte_at(start + 1) == b'>');
                self.fault(fault::SKIPPED_TEXT, Span::new(start, self.at), Grade::Lossy);
            }
            _ => self.missing(fault::MISSING_COLON, Grade::Certain),
        }
        self.space();
        while self.mark() == b':' {
            let start = self.at;
            self.pass_mark();
            self.certain(fault::EXTRA_COLON, Span::new(start, self.at));
            self.space();
        }
        self.value(LenientPlace::Member)
    }

    fn note_key(&mut self, name: &str) {
        if (self.context.declares)(name)
            && let Some(frame) = self.open.last_mut()
            && !frame.names.iter().any(|names| names == name)
        {
            frame.names.push(name.to_owned());
        }
    }

    /// Reads a key. If there is none, leaves the position unchanged.
    fn key(&mut self) -> Option<String> {
        let start = self.at;
        if let Some(quote) = self.quote() {
            if let Some(end) = self.key_end(start, quote) {
                let inner = Span::new(start + quote.length, end - quote.closer_length(self.bytes, end));
                let span = Span::new(start, end);
                self.at = end;
                self.stray_quote(end);
                let raw = inner.of(self.text);
                if quote.is_standard() {
                    let kind = if raw.contains('\\') { TapeKind::Escaped } else { TapeKind::Plain };
                    self.tape.key(kind, span);
                } else {
                    self.certain(quote.fault(), span);
                    self.tape.make(true, decode_string(raw).into(), span);
                }
                return Some(decode_string(raw).into_owned());
            }
            // A quote that is never closed, before a word with a colon.
            let word = self.word_at(start + quote.length);
            let name = word.of(self.text).to_owned();
            let colon = self.over_space(word.end);
            if name.is_empty() || self.byte_at(colon) != b':' {
                return None;
            }
            let certain = (self.context.declares)(&name);
            self.at = word.end;
            self.missing(fault::MISSING_QUOTE, if certain { Grade::Certain } else { Grade::Lossy });
            self.tape.make(true, name.as_str().into(), Span::new(start, word.end));
            return Some(name);
        }
        let word = self.word_at(start);
        let name = word.of(self.text).to_owned();
        if name.is_empty() {
            return None;
        }
        let next = self.over_space(word.end);
        let colon =
            |at: usize| self.byte_at(at) == b':' || self.text.get(at..).is_some_and(|rest| rest.starts_with('：'));
        let torn = self.byte_at(word.end) == b'"' && colon(self.over_space(word.end + 1));
        if !torn && !colon(next) {
            return None;
        }
        self.at = word.end;
        if torn {
            let certain = (self.context.declares)(&name);
            self.fault(
                fault::MISSING_QUOTE,
                Span::new(start, start),
                if certain { Grade::Certain } else { Grade::Lossy },
            );
            self.at += 1;
        } else {
            self.certain(fault::UNQUOTED_KEY, word);
            self.bare_keys = true;
        }
        self.tape.make(true, name.as_str().into(), Span::new(start, self.at));
        Some(name)
    }

    /// Skips a superfluous second quote after a key.
    fn stray_quote(&mut self, end: usize) {
        if self.byte_at(end) == b'"' && self.byte_at(self.over_space(end + 1)) == b':' {
            self.certain(fault::STRAY_QUOTE, Span::new(end, end + 1));
            self.at = end + 1;
        }
    }

    /// The word at `at`, which may be a key without quotes.
    pub(super) fn word_at(&self, at: usize) -> Span {
        let rest = self.text.slice(at..self.bytes.len());
        let is_part = |c: &char| c.is_alphanumeric() || matches!(c, '_' | '$' | '-');
        let length: usize = rest.chars().take(MAX_KEY_BYTES).take_while(is_part).map(char::len_utf8).sum();
        Span::new(at, at + length)
    }
}

/// The ASCII punctuation that a full-width character stands for; any other character is returned as it is.
pub(super) fn narrow(c: char) -> char {
    match c {
        '，' | '、' => ',',
        '：' => ':',
        '｛' => '{',
        '｝' => '}',
        '［' | '【' => '[',
        '］' | '】' => ']',
        c => c,
    }
}

/// Whether a character is white space of Unicode that JSON does not allow, or has no width, and is ignored between
/// tokens.
fn is_blank(c: char) -> bool {
    !c.is_ascii() && (c.is_whitespace() || matches!(c, '\u{feff}' | '\u{200b}'))
}
