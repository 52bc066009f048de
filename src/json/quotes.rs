//! Quotes: where does a string with ambiguous quotes end?
//!
//! In: the quote at the start of a string, and the open containers around it.
//! Out: the string on the tape, with its faults.
//! Never: looks further ahead from a quote than over a few punctuation characters and one key.
//!
//! A string ends at the first quote after which the text can continue as JSON. If a quote in the string has no
//! backslash, or its last quote is missing, that end is certain only if the text continues with a declared key that the
//! object does not have yet, or with nothing but the closers of all open containers (those of lists may be missing), and if
//! no other place in the string could be its end.

use super::escape::{decode_quoted, has_doubtful_escapes, unescape};
use super::fault::{self, Grade};
use super::lenient::{Container, JsonContainer, LenientJson, LenientPlace, MAX_KEY_BYTES, narrow};
use super::scan::plain_length;
use super::tape::TapeKind;
use crate::text::{Slice, Span};

/// The most white space that is skipped to find what follows a quote.
const MAX_WHITESPACE: usize = 1_000;

/// The opening quote of a string.
#[derive(Debug, Clone, Copy)]
pub(super) struct Quote {
    opener: char,
    pub(super) length: usize,
    /// Whether it is a triple quote.
    triple: bool,
}

/// What follows the end of a string.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum AfterString {
    /// A declared key that the object does not have yet.
    Key,
    /// The closers of all open containers.
    Close,
    /// Anything else that may follow a value.
    Other,
}

impl Quote {
    /// Whether it is the quote of strict JSON.
    pub(super) fn is_standard(self) -> bool {
        self.opener == '"' && !self.triple
    }

    /// Whether this character closes a string with this opener.
    fn is_closed_by(self, c: char) -> bool {
        match self.opener {
            '"' | '\'' | '`' | '＂' => c == self.opener,
            '‘' | '’' => matches!(c, '‘' | '’'),
            '«' => c == '»',
            _ => matches!(c, '“' | '”' | '"'),
        }
    }

    /// The length of the closer that ends at `end`.
    pub(super) fn closer_length(self, bytes: &[u8], end: usize) -> usize {
        let before = bytes.slice(..end);
        before.iter().rev().take_while(|byte| **byte & 0xc0 == 0x80).count() + 1
    }

    /// The fault of a string in such quotes.
    pub(super) fn fault(self) -> &'static str {
        match self {
            Quote { triple: true, .. } => fault::TRIPLE_QUOTES,
            Quote { opener: '\'', .. } => fault::SINGLE_QUOTES,
            _ => fault::OTHER_QUOTES,
        }
    }
}

/// The content of a triple-quoted string: without the line break after the opener, and the one before the closer.
pub(crate) fn in_triple(inner: Span, text: &str) -> Span {
    let body = inner.of(text);
    let rest = body.strip_prefix("\r\n").or_else(|| body.strip_prefix('\n')).unwrap_or(body);
    let start = inner.end - rest.len();
    let rest = rest.strip_suffix('\n').map_or(rest, |rest| rest.strip_suffix('\r').unwrap_or(rest));
    Span::new(start, start + rest.len())
}

impl LenientJson<'_> {
    /// The quote here, if one opens a string.
    pub(super) fn quote(&self) -> Option<Quote> {
        let rest = self.rest();
        let opener = rest.chars().next()?;
        if !matches!(opener, '"' | '\'' | '`' | '“' | '”' | '„' | '‘' | '’' | '«' | '＂') {
            return None;
        }
        let length = opener.len_utf8();
        let triple = length == 1 && opener != '`' && rest.bytes().take_while(|byte| *byte == opener as u8).count() >= 3;
        // Three quotes without a closer are an empty string and a superfluous quote.
        let triple = triple && self.triple_end(opener).is_some();
        Some(Quote { opener, length: if triple { 3 } else { length }, triple })
    }

    /// The end of the content of a triple-quoted string.
    fn triple_end(&self, quote: char) -> Option<usize> {
        let mark: String = std::iter::repeat_n(quote, 3).collect();
        let inside = self.rest().get(3..)?;
        inside.find(&mark).map(|end| self.at + 3 + end)
    }

    /// The end of the key after an opening quote, and of its closing quote; a colon or a value must follow.
    pub(super) fn key_end(&self, start: usize, quote: Quote) -> Option<usize> {
        let inside = self.text.get(start + quote.length..self.bytes.len())?;
        let mut escaped = false;
        let closes = |c: char| {
            let closes = !escaped && quote.is_closed_by(c);
            escaped = c == '\\' && !escaped;
            closes
        };
        let (end, closer) = inside
            .char_indices()
            .take(MAX_KEY_BYTES)
            .zip(inside.chars().map(closes))
            .find_map(|((at, c), closes)| closes.then_some((at, c.len_utf8())))?;
        let end = start + quote.length + end + closer;
        let next = self.over_space(end);
        let follows = self.text.get(next..self.bytes.len())?;
        let is_colon = follows.starts_with([':', '：']);
        // A value whose colon is missing, or a key without a value.
        let goes_on =
            follows.starts_with(|c: char| matches!(c, '{' | '[' | '-' | '"' | ',' | '}') || c.is_ascii_digit());
        let word = self.word_at(start + quote.length);
        let torn = self.byte_at(self.over_space(word.end)) == b':' && !word.is_empty() && word.end < end;
        (is_colon || (goes_on && !torn) || (!torn && follows.starts_with(|c: char| c.is_alphabetic()))).then_some(end)
    }

    /// Reads a string, and the strings that are joined to it. Returns whether it is complete.
    pub(super) fn string(&mut self, place: LenientPlace) -> bool {
        let start = self.at;
        let Some(mut whole) = self.one_string(place) else { return false };
        let mut joined: Option<String> = None;
        loop {
            let end = self.at;
            let plus = self.over_space(end);
            let has_plus = self.byte_at(plus) == b'+';
            self.at = self.over_space(plus + usize::from(has_plus));
            let is_next = self.quote().is_some()
                && (has_plus || (place == LenientPlace::Member && self.at > end && !self.starts_member(self.at)));
            if !is_next {
                self.at = end;
                break;
            }
            let next = self.at;
            let Some(more) = self.one_string(place) else {
                self.at = end;
                break;
            };
            self.certain(fault::SPLIT_STRING, Span::new(end, next));
            joined.get_or_insert_with(|| whole.text.clone()).push_str(&more.text);
            whole.complete &= more.complete;
        }
        let span = Span::new(start, self.at);
        match joined {
            None if whole.standard && whole.complete => {
                let escaped = span.of(self.text).contains('\\');
                self.tape.leaf(if escaped { TapeKind::Escaped } else { TapeKind::Plain }, span);
            }
            joined => self.tape.make(false, joined.unwrap_or(whole.text).into(), span),
        }
        whole.complete
    }

    /// Whether a key with its colon starts here.
    fn starts_member(&self, at: usize) -> bool {
        self.key_at(at).is_some()
    }

    /// Reads one string.
    fn one_string(&mut self, place: LenientPlace) -> Option<StringScan> {
        let quote = self.quote()?;
        let start = self.at;
        let from = start + quote.length;
        if quote.triple {
            let end = self.triple_end(quote.opener)?;
            self.certain(fault::TRIPLE_QUOTES, Span::new(start, end + 3));
            self.at = end + 3;
            let text =
                decode_quoted(in_triple(Span::new(from, end), self.text).of(self.text), quote.opener).into_owned();
            return Some(StringScan { text, standard: false, complete: true });
        }
        let mut inside = StringContent::default();
        let (end, behind, missing) = self.end_of(from, quote, place, &mut inside);
        // Omit half of an escape at the end of a response that is cut off.
        let content = Span::new(from, inside.torn.unwrap_or(end));
        if !quote.is_standard() {
            self.certain(quote.fault(), Span::new(start, behind));
        }
        if let Some(control) = inside.control {
            self.certain(fault::BARE_NEWLINE, control);
        }
        if let Some(escape) = inside.escape {
            self.fault(fault::ESCAPE, escape, grade(!has_doubtful_escapes(content.of(self.text))));
        }
        if let Some((name, escape)) = inside.torn_escape {
            self.fault(name, escape, Grade::Lossy);
        }
        let doubtful = inside.bare > 0 || missing.is_some();
        self.doubtful += usize::from(doubtful);
        let sure = self.doubtful == 1
            && matches!(inside.end, Some(AfterString::Key | AfterString::Close))
            && !inside.other_end;
        if let Some(bare) = inside.first_bare {
            // An odd number of quotes suggests that one of them is missing.
            let sure = sure && missing.is_none() && inside.bare % 2 == 0 && !self.is_expression(from, &inside);
            self.fault(fault::BARE_QUOTE, Span::new(bare, bare + 1), grade(sure));
        }
        if missing.is_some() {
            let sure = sure && inside.bare == 0 && !self.context.cut;
            self.fault(fault::MISSING_QUOTE, Span::new(end, end), grade(sure));
        }
        self.at = behind;
        let raw = content.of(self.text);
        let text = decode_quoted(raw, quote.opener).into_owned();
        let standard = quote.is_standard() && inside.bare == 0 && missing.is_none();
        Some(StringScan { text, standard, complete: missing.is_none() })
    }

    /// Where the content of the string from `from` ends, where the text after the string starts, and whether the
    /// closing quote is missing.
    fn end_of(
        &mut self,
        from: usize,
        quote: Quote,
        place: LenientPlace,
        inside: &mut StringContent,
    ) -> (usize, usize, Option<()>) {
        let (text, bytes) = (self.text, self.bytes);
        // Fast path: a string of strict JSON can only end at the next quote, backslash or control character.
        let behind_plain = |at: usize| match quote.opener {
            '"' => at + plain_length(bytes.slice(at..)),
            _ => at,
        };
        let mut at = behind_plain(from);
        while let Some(c) = text.get(at..self.bytes.len()).and_then(|rest| rest.chars().next()) {
            let next = at + c.len_utf8();
            if c == '\\' {
                let after = text.slice(next..self.bytes.len());
                let (length, character) =
                    if after.starts_with(quote.opener) { (quote.opener.len_utf8(), c) } else { unescape(after) };
                let standard =
                    after.starts_with(['"', '\\', '/', 'b', 'f', 'n', 'r', 't', 'u']) && !after.starts_with("u{");
                if character == char::REPLACEMENT_CHARACTER {
                    inside.torn_escape.get_or_insert((fault::SURROGATE, Span::new(at, next + length)));
                } else if after.starts_with(|c| c < ' ') {
                    // A continued line in some languages, or half of an escaped backslash.
                    inside.torn_escape.get_or_insert((fault::ESCAPE, Span::new(at, next)));
                } else if self.context.cut && is_half(after) {
                    inside.torn_escape.get_or_insert((fault::ESCAPE, Span::new(at, self.bytes.len())));
                    inside.torn = Some(at);
                } else if (length == 0 || !standard) && !after.starts_with(quote.opener) {
                    let character = after.chars().next().map_or(0, char::len_utf8);
                    inside.escape.get_or_insert(Span::new(at, next + length.max(character)));
                }
                at = next + length;
            } else if c < ' ' {
                inside.control.get_or_insert(Span::new(at, next));
                at = next;
            } else if quote.is_closed_by(c) {
                if let Some(end) = self.ends_at(next, place) {
                    inside.end = Some(end);
                    return (at, next, None);
                }
                if let Some((end, behind)) = self.missed(from, at) {
                    inside.end = Some(end.1);
                    return (end.0, behind, Some(()));
                }
                // An apostrophe inside a word is not one of a pair of quotes.
                let word = |c: Option<char>| c.is_some_and(char::is_alphanumeric);
                let before = text.get(..at).and_then(|before| before.chars().next_back());
                let after = text.get(next..).and_then(|after| after.chars().next());
                if c == '"' || !(word(before) && word(after)) {
                    inside.bare += 1;
                }
                // Of two quotes side by side, the first may close one string and the second open another.
                inside.other_end |= inside.last_bare == Some(at);
                // In a list, so may a quote next to a comma.
                let in_list = self.open.last().is_some_and(|frame| frame.kind != Container::Object);
                let before = self.text.slice(from..at).trim_end();
                inside.other_end |= self.byte_at(self.over_space(next)) == b':';
                inside.other_end |= in_list && (self.byte_at(self.over_space(next)) == b',' || before.ends_with(','));
                inside.other_end |= c == '"' && self.is_before_string(next);
                inside.last_bare = Some(next);
                inside.first_bare.get_or_insert(at);
                inside.other_end |= self.key_at(at).is_some_and(|name| self.is_free(&name));
                at = next;
            } else {
                at = next;
            }
            at = behind_plain(at);
        }
        // The string is never closed: the closers of the open containers at the end are not part of it.
        let end = self.before_closers(from, at);
        inside.end = (end < at).then_some(AfterString::Close);
        (end, end, Some(()))
    }

    /// Whether a string follows at `at`, perhaps after a comma, and a `}` or a comma follows the string. Then the quote
    /// before `at` may end the value, and the string may be a name without a value, or one more value.
    fn is_before_string(&self, at: usize) -> bool {
        let at = self.over_space(at);
        let at = if self.byte_at(at) == b',' { self.over_space(at + 1) } else { at };
        let inside = self.bytes.slice(at.min(self.bytes.len())..);
        let Some((b'"', inside)) = inside.split_first() else { return false };
        let closer = inside.iter().position(|byte| matches!(byte, b'"' | b'\\' | b'\n'));
        closer.is_some_and(|closer| {
            inside.get(closer) == Some(&b'"') && matches!(self.byte_at(self.over_space(at + closer + 2)), b'}' | b',')
        })
    }

    /// Whether the quotes without a backslash may be those between two strings of an expression, as in
    /// `"Oslo" if late else "Bergen"`: the first looks like the end of a string, and the last like the start of one.
    fn is_expression(&self, from: usize, inside: &StringContent) -> bool {
        let Some((first, last)) = inside.first_bare.zip(inside.last_bare) else { return false };
        let (before, after) = (self.text.slice(from..first).chars().next_back(), self.text.slice(..last).chars());
        let (start, end) = (self.text.slice(first..).chars().nth(1), self.text.slice(last..).chars().next());
        let is_word = |c: Option<char>| c.is_some_and(char::is_alphanumeric);
        let is_space = |c: Option<char>| c.is_none_or(char::is_whitespace);
        let opens = !is_word(after.rev().nth(1)) && !is_space(end);
        !is_space(before) && !is_word(start) && opens
    }

    /// Where the closers of all open containers start, if the text between `from` and `to` ends with them; otherwise
    /// its end.
    fn before_closers(&self, from: usize, to: usize) -> usize {
        let mut end = to;
        for frame in &self.open {
            let before = self.bytes.slice(from..end).trim_ascii_end();
            match before.last() == Some(&frame.kind.closer()) {
                true => end = from + before.len() - 1,
                false => return to,
            }
        }
        let before = self.bytes.slice(from..end).trim_ascii_end();
        from + before.len()
    }

    /// If the quote at `at` opens a declared key after a comma, a closing quote may be missing: where the value ends
    /// then, whether that is certain, and where the punctuation after it starts.
    fn missed(&self, from: usize, at: usize) -> Option<((usize, AfterString), usize)> {
        let name = self.key_at(at)?;
        if !self.is_free(&name) {
            return None;
        }
        let before = self.bytes.get(from..at)?.trim_ascii_end();
        let comma = before.strip_suffix(b",")?;
        // The object that takes the key may contain other open containers, whose closers come before the key. If the
        // closers may also be text, it is uncertain which object takes the key.
        let mut found = None;
        for (index, frame) in self.open.iter().enumerate() {
            let takes = frame.kind == Container::Object && !frame.names.contains(&name);
            let closed = self.open.get(index + 1..)?;
            if let Some(end) = without_closers(comma, closed.iter().map(|frame| frame.kind)).filter(|_| takes) {
                found = Some(match found {
                    None => ((from + end, AfterString::Key), from + end),
                    // Several objects could take the key: assume the outermost, and do not call that certain.
                    Some(((end, _), behind)) => ((end, AfterString::Other), behind),
                });
            }
        }
        found
    }

    /// The name of the key in quotes that starts here, if a colon follows.
    fn key_at(&self, at: usize) -> Option<String> {
        let bytes = self.bytes;
        let quote = *bytes.get(at).filter(|byte| matches!(byte, b'"' | b'\''))?;
        let rest = bytes.get(at + 1..)?;
        let length = rest.iter().take(MAX_KEY_BYTES).position(|byte| *byte == quote || *byte == b'\n')?;
        if rest.get(length) != Some(&quote) || length == 0 {
            return None;
        }
        let colon = self.over_space(at + length + 2);
        (bytes.get(colon) == Some(&b':')).then(|| self.text.get(at + 1..at + 1 + length).map(str::to_owned))?
    }

    /// Whether a name is declared, and some open object does not have it yet.
    fn is_free(&self, name: &str) -> bool {
        let takes = |names: &[String]| !names.iter().any(|names| names == name);
        let mut objects = self.open.iter().filter(|frame| frame.kind == Container::Object);
        (self.context.declares)(name) && objects.any(|frame| takes(&frame.names))
    }

    /// What follows a string that ends at `end`, if the text can continue as JSON.
    fn ends_at(&self, end: usize, place: LenientPlace) -> Option<AfterString> {
        let mut frames = self.open.iter().rev();
        let mut frame = frames.next();
        let mut at = end;
        loop {
            let from = at;
            at = self.over_space(at);
            if at - from > MAX_WHITESPACE {
                return None;
            }
            let rest = self.text.get(at..self.bytes.len())?;
            let Some(next) = rest.chars().next() else {
                return Some(if frame.is_none() { AfterString::Close } else { AfterString::Other });
            };
            match (narrow(next), frame) {
                ('/', _) if rest.starts_with("//") || rest.starts_with("/*") => return Some(AfterString::Other),
                ('#', _) => return Some(AfterString::Other),
                (_, None) => {
                    // After the whole value there may be a code fence, superfluous closers, or another line.
                    let line = self.bytes.get(from..at).is_some_and(|space| space.contains(&b'\n'));
                    return if only_closes(rest) {
                        Some(AfterString::Close)
                    } else {
                        (line && place != LenientPlace::Root).then_some(AfterString::Other)
                    };
                }
                (',', Some(frame)) => {
                    let next = self.over_space(at + next.len_utf8());
                    return self.goes_on_at(next, frame.kind, &frame.names);
                }
                (mark @ ('}' | ']' | ')'), Some(inner)) if mark as u8 == inner.kind.closer() => {
                    at += next.len_utf8();
                    frame = frames.next();
                }
                // The closer of a list is missing, as in `["a"}`, if only closers follow up to the end.
                ('}' | ']' | ')', Some(inner)) if inner.kind != Container::Object => {
                    return self.closes_up_to_end(at, frames).then_some(AfterString::Close);
                }
                ('+', Some(_)) => return self.byte_at(self.over_space(at + 1)).eq(&b'"').then_some(AfterString::Other),
                // A comma is missing.
                ('"' | '\'', Some(inner)) if inner.kind == Container::Object => {
                    let name = self.key_at(at)?;
                    let line = self.bytes.get(from..at).is_some_and(|space| space.contains(&b'\n'));
                    let is_free = (self.context.declares)(&name) && !inner.names.contains(&name);
                    return if is_free { Some(AfterString::Key) } else { line.then_some(AfterString::Other) };
                }
                ('"', Some(_)) => {
                    let space = at > from;
                    return space.then_some(AfterString::Other);
                }
                _ => return None,
            }
        }
    }

    /// Whether only closers follow `at`, of all these containers except for lists whose closers are missing.
    fn closes_up_to_end<'f>(&self, at: usize, around: impl Iterator<Item = &'f JsonContainer>) -> bool {
        let mut at = self.over_space(at);
        for frame in around {
            if self.byte_at(at) == frame.kind.closer() {
                at = self.over_space(at + 1);
            } else if frame.kind == Container::Object {
                return false;
            }
        }
        self.text.get(at..self.bytes.len()).is_some_and(only_closes)
    }

    /// Whether a string can end at `end` and, if so, whether that end is certain.
    pub(super) fn ends_surely(&self, end: usize, place: LenientPlace) -> Option<bool> {
        self.ends_at(end, place).map(|end| end != AfterString::Other)
    }

    /// What comes after a comma, if it can be a member or an entry.
    fn goes_on_at(&self, at: usize, kind: Container, names: &[String]) -> Option<AfterString> {
        let rest = self.text.get(at..self.bytes.len())?;
        let first = rest.chars().next();
        let Some(first) = first else { return Some(AfterString::Other) };
        if matches!(first, '}' | ']' | ')' | ',') || rest.starts_with("//") || rest.starts_with("/*") || first == '#' {
            return Some(AfterString::Other);
        }
        if kind != Container::Object {
            let starts = matches!(first, '"' | '\'' | '{' | '[' | '(' | '-' | '“' | '.') || first.is_ascii_digit();
            let word = self.word_at(at);
            let constant = matches!(word.of(self.text), "true" | "false" | "null" | "True" | "False" | "None");
            return (starts || constant).then_some(AfterString::Other);
        }
        // The end of the answer may break off a key.
        if self.context.cut && rest.trim_end().strip_prefix('"').is_some_and(|key| !key.contains(['"', '\n'])) {
            return Some(AfterString::Other);
        }
        let name = match self.key_at(at) {
            Some(name) => name,
            None => {
                // A key without quotes, or with only one.
                let quoted = usize::from(first == '"');
                let word = self.word_at(at + quoted);
                let behind = word.end + usize::from(quoted == 0 && self.byte_at(word.end) == b'"');
                let is_key = !word.is_empty() && self.byte_at(self.over_space(behind)) == b':';
                let other = matches!(first, '“' | '‘' | '\'' | '`' | '.' | '…');
                let name = word.of(self.text).to_owned();
                // A word with a colon may be in a sentence: count it as a key only if it is declared, or if this text
                // has unquoted keys.
                if !other && !(is_key && (self.bare_keys || (self.context.declares)(&name))) {
                    return None;
                }
                name
            }
        };
        let is_free = (self.context.declares)(&name) && !names.contains(&name);
        Some(if is_free { AfterString::Key } else { AfterString::Other })
    }
}

/// The content of a string.
struct StringScan {
    text: String,
    /// Whether it is in strict JSON quotes.
    standard: bool,
    /// Whether it has its closing quote.
    complete: bool,
}

/// The noteworthy contents of a string; of each kind the first.
#[derive(Debug, Default)]
struct StringContent {
    control: Option<Span>,
    escape: Option<Span>,
    /// An incomplete escape.
    torn_escape: Option<(&'static str, Span)>,
    /// The start of an escape that the end of the response cuts off.
    torn: Option<usize>,
    first_bare: Option<usize>,
    /// The end of the last quote without a backslash.
    last_bare: Option<usize>,
    /// The number of quotes without a backslash, except for apostrophes.
    bare: usize,
    /// Whether the string may also end elsewhere.
    other_end: bool,
    end: Option<AfterString>,
}

/// The length of the text without the closers of these containers at its end; the first is the outermost.
fn without_closers(text: &[u8], closed: impl Iterator<Item = Container>) -> Option<usize> {
    let mut text = text.trim_ascii_end();
    for kind in closed {
        text = text.strip_suffix(&[kind.closer()])?.trim_ascii_end();
    }
    Some(text.len())
}

/// Whether a text has only superfluous closers and fences.
fn only_closes(text: &str) -> bool {
    text.trim_matches(['}', ']', '`', ' ', '\n', '\r', '\t']).is_empty()
}

/// Whether the text after a backslash may be an escape that is cut off.
fn is_half(after: &str) -> bool {
    let digits = after.strip_prefix('u').unwrap_or(after);
    (after.is_empty() || after.starts_with('u')) && digits.len() < 4 && digits.bytes().all(|b| b.is_ascii_hexdigit())
}

fn grade(sure: bool) -> Grade {
    if sure { Grade::Certain } else { Grade::Lossy }
}
