//! Leniently: what does an object say that is no valid JSON?
//!
//! In: a response, the place of a brace, and the rules that spell the pieces.
//! Out: the object's tape, its faults by name, and what had to be left out as junk.
//! Never: fails, recurses on the response, goes back further than over the marks before a key, or leaves anything out
//! without saying so.
//!
//! A machine with a stack of its own nests the pieces. Where a mark does not fit, what is open around it says what it
//! stands for: a brace too many, one too few, a quote that belongs to no string. What is none of that is junk, which ends
//! at the next mark or name.

use super::Object;
use super::fits::{self, Around, Last, Open};
use super::keys::{self, Form};
use super::tape::{Kind, Tape};
use crate::diagnostic::Defect;
use crate::grammar::{Machine, RuleId};
use crate::program::{LevelId, Limits, Outline};
use crate::text::Span;
use serde::de::IgnoredAny;

/// The longest key with its colon: a quote that none closes is looked behind so far, and no further.
const LONGEST_KEY: usize = 300;

pub(super) struct Lenient<'r, 'm> {
    text: &'r str,
    bytes: &'r [u8],
    outline: &'r Outline,
    limits: &'r Limits,
    machine: &'m mut Machine,
    steps: u64,
    tape: Tape,
    faults: Vec<(RuleId, Span)>,
    junk: Vec<Span>,
    at: usize,
    stack: Vec<Frame>,
    stopped: Option<Defect>,
    /// Whether a comment may still come.
    comments: bool,
    /// Faults beyond those that are kept.
    left_out: usize,
    /// What looks like a member in a string and is its text.
    nested: Vec<Span>,
    last: Last,
    /// Whether the last key had no quotes.
    bare: bool,
    /// Where the next quote stands that no backslash escapes, once it was looked for.
    next_quote: usize,
}

/// An object or list that is open.
#[derive(Debug, Clone, Copy)]
struct Frame {
    node: usize,
    list: bool,
    level: Option<LevelId>,
    /// The comma behind the last member or entry.
    comma: Option<usize>,
    filled: bool,
    /// The last key of an object.
    key: Option<Span>,
    /// The members that it has, a bit of each level.
    given: u64,
}

/// What was read of an object, and what was wrong with it.
pub(super) struct Reading {
    pub(super) object: Object,
    pub(super) faults: Vec<(RuleId, Span)>,
    /// Faults beyond those that are kept.
    pub(super) left_out: usize,
    /// What looks like a member in a string and was taken for its text: the first of each string.
    pub(super) nested: Vec<Span>,
    /// Why not all of it was read.
    pub(super) stopped: Option<Defect>,
}

impl<'r, 'm> Lenient<'r, 'm> {
    pub(super) fn new(
        text: &'r str,
        outline: &'r Outline,
        limits: &'r Limits,
        machine: &'m mut Machine,
        last: Last,
    ) -> Self {
        let steps = limits.steps_per_byte * text.len() as u64 + 10_000;
        Self {
            text,
            bytes: text.as_bytes(),
            outline,
            limits,
            machine,
            steps,
            tape: Tape::default(),
            faults: Vec::new(),
            junk: Vec::new(),
            at: 0,
            stack: Vec::new(),
            stopped: None,
            comments: true,
            left_out: 0,
            nested: Vec::new(),
            last,
            bare: false,
            next_quote: 0,
        }
    }

    /// Reads the object whose brace stands at `brace`, or should.
    pub(super) fn read(mut self, brace: usize) -> Reading {
        self.at = brace;
        self.open_object(Some(Outline::ROOT));
        while let Some(frame) = self.stack.last().copied() {
            if self.steps == 0 {
                self.stopped = Some(Defect::TooCostly);
            } else if self.is_too_large() {
                self.stopped = Some(Defect::TooLarge);
            }
            self.space();
            let rest = self.bytes.get(self.at..).unwrap_or_default();
            // A fence ends what it surrounds.
            if self.stopped.is_some() || rest.is_empty() || rest.starts_with(b"```") {
                self.cut();
            } else if frame.list {
                self.in_list(frame);
            } else {
                self.in_object(frame);
            }
        }
        self.behind();
        let object =
            Object { tape: std::mem::take(&mut self.tape), end: self.at, junk: std::mem::take(&mut self.junk) };
        let Self { faults, left_out, nested, stopped, .. } = self;
        Reading { object, faults, left_out, nested, stopped }
    }

    fn is_too_large(&self) -> bool {
        let limits = self.limits;
        let (nodes, junk) = (self.tape.nodes.len(), self.junk.len());
        nodes > 3 * limits.values || junk > limits.fields || self.stack.len() > limits.depth
    }

    fn in_object(&mut self, frame: Frame) {
        let entry = self.entry();
        match self.byte() {
            b'}' => {
                if self.stack.len() == 1 && fits::belongs(self.outline, self.text, self.at + 1) {
                    return self.step_over(self.outline.faults.extra_brace);
                }
                self.trailing(frame);
                self.at += 1;
                self.pop(false);
            }
            b',' => self.comma(frame),
            b'"' if fits::is_stray(self.text, self.at) => self.step_over(self.outline.faults.stray_quote),
            b']' if entry => self.end_early(frame),
            b']' => self.step_over(self.outline.faults.extra_bracket),
            b'{' if entry => self.end_early(frame),
            // Another entry of a list whose bracket is missing.
            b'{' if frame.key.is_some_and(|key| self.is_listed(frame.level, key)) => {
                let key = frame.key.unwrap_or_default();
                self.fault(self.outline.faults.missing_bracket);
                self.member(frame, key);
            }
            _ => match self.run_within(self.outline.name, self.at + LONGEST_KEY) {
                Some(end) => {
                    let key = self.captured("key").unwrap_or(Span::new(self.at, end));
                    self.take_faults();
                    if frame.filled && frame.comma.is_none() {
                        self.fault(self.outline.faults.missing_comma);
                    }
                    self.bare = !key.of(self.text).starts_with(['"', '\'']);
                    self.at = end;
                    self.member(frame, key);
                }
                None => self.faulty_key(frame),
            },
        }
    }

    /// Reads a member whose key lacks a quote or its colon, or has a quote too many.
    fn faulty_key(&mut self, frame: Frame) {
        let faults = &self.outline.faults;
        let key = keys::any(self.text, self.at);
        let wrong = key.and_then(|key| match key.form {
            Form::Torn(at) => {
                let rule = match self.byte_at(at) {
                    b'}' => faults.extra_brace,
                    b']' => faults.extra_bracket,
                    b',' => faults.extra_comma,
                    _ => faults.stray_quote,
                };
                Some((key, rule?, Span::new(at, at + 1)))
            }
            Form::NoColon(at) => Some((key, faults.missing_colon?, Span::new(at, at))),
            Form::Whole | Form::Bare => None,
        });
        let Some((key, rule, span)) = wrong else { return self.skip_junk() };
        if frame.filled && frame.comma.is_none() {
            self.fault(self.outline.faults.missing_comma);
        }
        self.record(Some(rule), span);
        self.at = key.value;
        self.member(frame, key.span);
    }

    /// Reads the value of a member whose key has been read.
    fn member(&mut self, frame: Frame, key: Span) {
        let name = crate::document::decode::decode_string(super::tape::unquoted(key.of(self.text)));
        let level = frame.level.and_then(|level| self.outline.member(level, &name));
        self.tape.leaf(Kind::Key, key, false);
        let bit = level.map_or(0, LevelId::bit);
        self.change(|frame| (frame.filled, frame.comma, frame.key) = (true, None, Some(key)));
        self.change(|frame| frame.given |= bit);
        self.space();
        loop {
            let faults = &self.outline.faults;
            let extra = match self.byte() {
                b':' => faults.extra_colon,
                b'{' if self.opens_nothing(level) => faults.extra_brace,
                b'[' if self.bytes.get(fits::blank(self.bytes, self.at + 1)) == Some(&b':') => faults.extra_bracket,
                _ => None,
            };
            if extra.is_none() {
                break;
            }
            self.step_over(extra);
            self.space();
        }
        self.value(level);
    }

    /// Whether a brace before the value of a member opens no object: what stands behind it is no key.
    fn opens_nothing(&self, level: Option<LevelId>) -> bool {
        let next = fits::blank(self.bytes, self.at + 1);
        let entry = level.is_some_and(|level| self.is_entry(level));
        match self.byte_at(next) {
            b'[' | b':' => true,
            b'{' => !entry,
            byte if self.is_body(level) && byte.is_ascii_alphabetic() => keys::any(self.text, next).is_none(),
            b'"' => !entry && !self.is_key(next) && keys::any(self.text, next).is_none(),
            _ => false,
        }
    }

    /// Whether the string that a quote at `at` opens is a key, however long or short.
    fn is_key(&self, at: usize) -> bool {
        let rest = self.bytes.get(at + 1..).unwrap_or_default();
        let mut escaped = false;
        let closes = |byte: &u8| {
            let closes = *byte == b'"' && !escaped;
            escaped = *byte == b'\\' && !escaped;
            closes
        };
        let end = rest.iter().take(LONGEST_KEY).position(closes);
        end.is_some_and(|end| self.bytes.get(fits::blank(self.bytes, at + end + 2)) == Some(&b':'))
    }

    fn in_list(&mut self, frame: Frame) {
        let each = frame.level.and_then(|level| self.outline.level(level).each);
        let entry = |reader: &mut Self| {
            if frame.filled && frame.comma.is_none() {
                reader.fault(reader.outline.faults.missing_comma);
            }
            reader.change(|frame| (frame.filled, frame.comma) = (true, None));
        };
        match self.byte() {
            b']' => {
                self.trailing(frame);
                self.at += 1;
                self.pop(false);
            }
            b',' => self.comma(frame),
            b'}' if self.is_extra_brace() => self.step_over(self.outline.faults.extra_brace),
            b'}' => self.end_list_early(frame),
            // Where an entry is due, only an object makes a quote a stray one.
            b'"' if self.is_stray(!frame.filled || frame.comma.is_some()) => {
                self.step_over(self.outline.faults.stray_quote);
            }
            b'"' | b'\'' if keys::whole(self.text, self.at).is_some() => {
                let inner: Vec<LevelId> = each.into_iter().collect();
                let known = fits::names_member(self.outline, self.text, self.at, &inner);
                if !known && fits::names_member(self.outline, self.text, self.at, &self.levels(1)) {
                    return self.end_list_early(frame);
                }
                entry(self);
                self.fault(self.outline.faults.missing_brace);
                self.open_object(each);
            }
            // A list of entries is no entry.
            b'[' if !frame.filled && each.is_some_and(|each| self.is_entry(each)) => {
                self.step_over(self.outline.faults.extra_bracket);
            }
            b'{' | b'[' | b'"' => {
                entry(self);
                self.value(each);
            }
            b':' | b'`' => self.skip_junk(),
            _ => {
                entry(self);
                self.value(each);
            }
        }
    }

    fn value(&mut self, level: Option<LevelId>) {
        match self.byte() {
            b'{' => self.open_object(level),
            b'[' => {
                let node = self.tape.leaf(Kind::List, Span::new(self.at, self.at), false);
                self.stack.push(Frame { node, list: true, level, comma: None, filled: false, key: None, given: 0 });
                self.at += 1;
            }
            b'"' => self.string(level, true),
            b',' | b'}' | b']' => {
                self.fault(self.outline.faults.missing_value);
                self.tape.leaf(Kind::Absent, Span::new(self.at, self.at), false);
            }
            0 if self.at >= self.bytes.len() => {
                self.tape.leaf(Kind::Absent, Span::new(self.at, self.at), true);
            }
            _ => match self.run(self.outline.scalar) {
                Some(end) if end > self.at && self.lacks_quote(level, end) => {
                    self.fault(self.outline.faults.missing_quote);
                    self.string(level, false);
                }
                Some(end) if end > self.at => {
                    let quoted = matches!(self.byte(), b'\'');
                    self.take_faults();
                    let words = Span::new(self.at, end);
                    let span = Span::new(words.start, words.start + words.of(self.text).trim_end().len());
                    match quoted {
                        true => self.tape.leaf(Kind::String, span, false),
                        false => {
                            let cut = end >= self.bytes.len() || self.is_torn_body(level, span);
                            self.tape.leaf(Kind::Scalar, span, cut)
                        }
                    };
                    self.at = end;
                }
                _ => {
                    self.tape.leaf(Kind::Absent, Span::new(self.at, self.at), false);
                    self.skip_junk();
                }
            },
        }
    }

    /// Whether words without quotes are a string that lacks the first: they end nowhere, but the next quote ends one.
    fn lacks_quote(&mut self, level: Option<LevelId>, end: usize) -> bool {
        let Some(level) = level.filter(|level| !self.is_entry(*level)) else { return false };
        if self.outline.faults.missing_quote.is_none() || self.byte() == b'\'' {
            return false;
        }
        let open: Vec<Open> = self.open().collect();
        let around = self.around(&open, Some(level));
        if fits::goes_on(self.outline, self.text, end, around) {
            return false;
        }
        let quote = self.find_quote();
        self.byte_at(quote) == b'"' && fits::ends(self.outline, self.text, quote, around)
    }

    /// Whether words without quotes are foreign text of which there may be more: what stands behind them ends no value.
    fn is_torn_body(&self, level: Option<LevelId>, words: Span) -> bool {
        if !self.is_body(level) || serde_json::from_str::<IgnoredAny>(words.of(self.text)).is_ok() {
            return false;
        }
        let open: Vec<Open> = self.open().collect();
        !fits::goes_on(self.outline, self.text, words.end, self.around(&open, level))
    }

    fn is_body(&self, level: Option<LevelId>) -> bool {
        level.is_some_and(|level| self.outline.level(level).body)
    }

    /// Where the next quote stands that no backslash escapes. It is looked for once, however many ask.
    fn find_quote(&mut self) -> usize {
        let mut at = self.at;
        while self.next_quote < self.at {
            let rest = self.bytes.get(at..).unwrap_or_default();
            match memchr::memchr2(b'"', b'\\', rest) {
                Some(offset) if rest.get(offset) == Some(&b'\\') => at += offset + 2,
                Some(offset) => self.next_quote = at + offset,
                None => self.next_quote = self.bytes.len(),
            }
        }
        self.next_quote
    }

    /// Reads a string up to the quote that ends it: the first behind which something fits; or up to where the marks and
    /// the key behind it show that its quote is missing.
    fn string(&mut self, level: Option<LevelId>, opened: bool) {
        let start = self.at;
        let open: Vec<Open> = self.open().collect();
        let around = self.around(&open, level);
        let known = self.faults.len();
        let from = start + usize::from(opened);
        self.at = from;
        // Where its text ends, if no quote does it.
        let mut end = None;
        let mut nested = false;
        let cut = loop {
            self.at = self.run(self.outline.text).unwrap_or(self.bytes.len());
            let faults = &self.outline.faults;
            let fault = match self.bytes.get(self.at) {
                None => break true,
                Some(b'"') if faults.bare_quote.is_none() || fits::ends(self.outline, self.text, self.at, around) => {
                    end = (!opened).then_some(self.at);
                    self.at += 1;
                    break false;
                }
                Some(b'"') => {
                    let missed = faults
                        .missing_quote
                        .and_then(|rule| Some((rule, fits::missed(self.outline, self.text, from, self.at, around)?)));
                    if let Some((rule, missed)) = missed {
                        // What stands behind it is outside the string.
                        while self.faults.len() > known && self.faults.last().is_some_and(|(_, at)| at.start >= missed)
                        {
                            self.faults.pop();
                        }
                        self.at = missed;
                        end = Some(self.text.get(from..missed).unwrap_or_default().trim_end().len() + from);
                        self.record(Some(rule), Span::new(missed, missed));
                        break false;
                    }
                    let key = keys::any(self.text, self.at).filter(|key| self.outline.knows(key.name));
                    if let Some(key) = key.filter(|_| !nested && self.nested.len() < self.limits.diagnostics) {
                        nested = true;
                        self.nested.push(Span::new(self.at, key.value));
                    }
                    faults.bare_quote
                }
                Some(b'\\') => faults.escape,
                Some(_) => faults.bare_newline,
            };
            match fault.and_then(|rule| Some((rule, self.run(rule)?))).filter(|(_, end)| *end > self.at) {
                Some((rule, end)) => {
                    // Each kind is told once for each string.
                    if !self.faults.iter().skip(known).any(|(found, _)| *found == rule) {
                        self.record(Some(rule), Span::new(self.at, end));
                    }
                    self.at = end;
                }
                // A backslash at the very end starts nothing.
                None => {
                    self.at = self.bytes.len();
                    break true;
                }
            }
        };
        match end {
            Some(end) => self.tape.leaf(Kind::Torn, Span::new(from, end), cut),
            None => self.tape.leaf(if opened { Kind::String } else { Kind::Torn }, Span::new(start, self.at), cut),
        };
    }

    fn around<'a>(&self, open: &'a [Open], own: Option<LevelId>) -> Around<'a> {
        let body = own.is_some_and(|level| self.outline.level(level).body);
        Around { open, own, body, bare: self.bare, last: self.last }
    }

    /// Whether what stands at a level is an object with names of its own.
    fn is_entry(&self, level: LevelId) -> bool {
        let level = self.outline.level(level);
        level.looks_inside() && level.each.is_none()
    }

    /// Opens an object, with its brace if it has one.
    fn open_object(&mut self, level: Option<LevelId>) {
        let node = self.tape.leaf(Kind::Object, Span::new(self.at, self.at), false);
        let level = level.map(|level| self.outline.of_object(level));
        self.stack.push(Frame { node, list: false, level, comma: None, filled: false, key: None, given: 0 });
        if self.byte() == b'{' {
            self.at += 1;
        } else if self.stack.len() == 1 {
            self.fault(self.outline.faults.missing_brace);
        }
    }

    /// Ends an entry whose brace is missing.
    fn end_early(&mut self, frame: Frame) {
        let at = frame.comma.unwrap_or(self.at);
        self.record(self.outline.faults.missing_brace, Span::new(at, at));
        let end = self.end_of_last(frame.node);
        self.pop_at(end, false);
        // The comma is the list's.
        self.change(|outer| outer.comma = frame.comma);
    }

    /// Ends a list whose bracket is missing, or was one too many from the start.
    fn end_list_early(&mut self, frame: Frame) {
        if self.is_extra_around(frame) {
            let start = self.tape.get(frame.node).map_or(self.at, |node| node.span().start);
            self.record(self.outline.faults.extra_bracket, Span::new(start, start + 1));
            self.tape.unwrap(frame.node);
            self.stack.pop();
            return self.change(|outer| outer.comma = frame.comma);
        }
        let at = frame.comma.unwrap_or(self.at);
        self.record(self.outline.faults.missing_bracket, Span::new(at, at));
        let end = self.end_of_last(frame.node);
        // Of foreign text there may be more.
        self.pop_at(end, self.is_body(frame.level));
        self.change(|outer| outer.comma = frame.comma);
    }

    /// Whether nothing but another list stands in a list that is a member of its own, or one string in a body.
    fn is_extra_around(&self, frame: Frame) -> bool {
        let mut inside = self.tape.nodes.iter().skip(frame.node + 1);
        let first = inside.next();
        let alone = first.is_some_and(|first| first.ends_at() == self.tape.nodes.len());
        let fits = |kind| match kind {
            Kind::List => frame.level.is_some(),
            Kind::String | Kind::Torn => self.is_body(frame.level),
            _ => false,
        };
        alone && first.is_some_and(|first| fits(first.kind))
    }

    /// Where the last piece of an object or list ends that has no end of its own.
    fn end_of_last(&self, node: usize) -> usize {
        let start = self.tape.get(node).map_or(0, |node| node.span().start);
        let last = self.tape.nodes.iter().skip(node + 1).map(|node| node.span().end).max();
        last.unwrap_or(self.at).max(start)
    }

    fn is_stray(&self, due: bool) -> bool {
        let object = || self.bytes.get(fits::blank(self.bytes, self.at + 1)) == Some(&b'{');
        fits::is_stray(self.text, self.at) && (!due || object())
    }

    /// A brace in a list: too many, or the end of what the list stands in?
    fn is_extra_brace(&self) -> bool {
        let nested = self.stack.iter().rev().skip(2).any(|frame| frame.list);
        let mut at = fits::blank(self.bytes, self.at + 1);
        let mut braces = 0;
        loop {
            match self.bytes.get(at) {
                Some(b'}') if braces < 8 => {
                    braces += 1;
                    at = fits::blank(self.bytes, at + 1);
                }
                Some(b']') => return !nested,
                Some(b'"') if fits::is_stray(self.text, at) => return !nested,
                Some(b',') => {
                    let next = fits::blank(self.bytes, at + 1);
                    let outer = self.levels(1);
                    return match self.bytes.get(next) {
                        Some(b'{') => !nested,
                        Some(b'"') if fits::names_member(self.outline, self.text, next, &outer) => {
                            let list = self.stack.last().and_then(|frame| frame.level);
                            let each = list.and_then(|level| self.outline.level(level).each);
                            each.is_some_and(|each| fits::names_member(self.outline, self.text, next, &[each]))
                        }
                        Some(b'"') => !nested,
                        _ => false,
                    };
                }
                Some(b'{') => return !nested,
                _ => return false,
            }
        }
    }

    /// The known levels of what is open but for the first `skip`, the innermost first.
    fn levels(&self, skip: usize) -> Vec<LevelId> {
        self.open().skip(skip).filter_map(|open| open.level).collect()
    }

    /// What is open, the innermost first.
    fn open(&self) -> impl Iterator<Item = Open> + '_ {
        self.stack.iter().rev().map(|frame| match frame.list {
            true => {
                let level = frame.level.and_then(|level| self.outline.level(level).each);
                Open { list: true, level, given: 0 }
            }
            false => Open { list: false, level: frame.level, given: frame.given },
        })
    }

    /// Whether the object on top is an entry of a list.
    fn entry(&self) -> bool {
        self.stack.iter().rev().nth(1).is_some_and(|frame| frame.list)
    }

    /// Whether a member is declared as a list.
    fn is_listed(&self, level: Option<LevelId>, key: Span) -> bool {
        let name = super::tape::unquoted(key.of(self.text));
        let below = level.and_then(|level| self.outline.member(level, name));
        below.is_some_and(|level| self.outline.level(level).each.is_some())
    }

    fn comma(&mut self, frame: Frame) {
        if frame.comma.is_some() || !frame.filled {
            return self.step_over(self.outline.faults.extra_comma);
        }
        let at = self.at;
        self.change(|frame| frame.comma = Some(at));
        self.at += 1;
    }

    fn trailing(&mut self, frame: Frame) {
        if let Some(comma) = frame.comma {
            self.record(self.outline.faults.trailing_comma, Span::new(comma, comma + 1));
        }
    }

    /// What stands behind the object's end and belongs to it: marks that end nothing.
    fn behind(&mut self) {
        let mut at = self.at;
        loop {
            at = fits::blank(self.bytes, at);
            let rule = match self.bytes.get(at) {
                Some(b'}') => self.outline.faults.extra_brace,
                Some(b']') => self.outline.faults.extra_bracket,
                Some(b'"') if fits::is_stray(self.text, at) => self.outline.faults.stray_quote,
                _ => return,
            };
            if rule.is_none() {
                return;
            }
            self.record(rule, Span::new(at, at + 1));
            at += 1;
            self.at = at;
        }
    }

    /// The response ends, and everything that is open with it.
    fn cut(&mut self) {
        let Some(frame) = self.stack.last().copied() else { return };
        let end = self.bytes.len().min(self.at);
        let missing = if frame.list { self.outline.faults.missing_bracket } else { self.outline.faults.missing_brace };
        if self.stopped.is_none()
            && !self.faults.iter().any(|fault| Some(*fault) == missing.map(|rule| (rule, Span::new(end, end))))
        {
            self.record(missing, Span::new(end, end));
        }
        self.pop(true);
    }

    fn pop(&mut self, cut: bool) {
        self.pop_at(self.at, cut);
    }

    fn pop_at(&mut self, end: usize, cut: bool) {
        if let Some(frame) = self.stack.pop() {
            self.tape.close(frame.node, end, cut);
        }
    }

    fn change(&mut self, change: impl FnOnce(&mut Frame)) {
        if let Some(frame) = self.stack.last_mut() {
            change(frame);
        }
    }

    /// Over what nothing explains, up to the next mark or quote.
    fn skip_junk(&mut self) {
        let start = self.at;
        let rest = self.bytes.get(start + 1..).unwrap_or_default();
        let length = rest.iter().position(|byte| matches!(byte, b'{' | b'}' | b'[' | b']' | b',' | b'"'));
        self.at = length.map_or(self.bytes.len(), |length| start + 1 + length);
        match self.junk.last_mut() {
            Some(last) if last.end == start => last.end = self.at,
            _ => self.junk.push(Span::new(start, self.at)),
        }
    }

    fn byte(&self) -> u8 {
        self.byte_at(self.at)
    }

    fn byte_at(&self, at: usize) -> u8 {
        self.bytes.get(at).copied().unwrap_or_default()
    }

    fn space(&mut self) {
        if !matches!(self.byte(), b' ' | b'\t' | b'\r' | b'\n' | b'/') {
            return;
        }
        self.at = fits::blank(self.bytes, self.at);
        if self.byte() != b'/' || !self.comments {
            return;
        }
        let start = self.at;
        if let Some(end) = self.run(self.outline.space) {
            self.take_faults();
            self.at = end;
        }
        // A comment that is never closed is none, and neither is any behind it.
        self.comments = self.at > start || self.bytes.get(start + 1) != Some(&b'*');
    }

    /// Where a rule ends that starts here, if it matches.
    fn run(&mut self, rule: RuleId) -> Option<usize> {
        self.run_within(rule, self.text.len())
    }

    /// The same in the text up to `end`.
    fn run_within(&mut self, rule: RuleId, end: usize) -> Option<usize> {
        let mut end = end.min(self.text.len());
        while !self.text.is_char_boundary(end) {
            end -= 1;
        }
        let within = self.text.get(..end).unwrap_or_default();
        self.machine.match_at(&self.outline.grammar, rule, within, self.at, &mut self.steps)
    }

    fn captured(&self, rule: &str) -> Option<Span> {
        let captures = self.machine.captures().iter();
        let mut named = captures.filter(|capture| self.outline.grammar.rule_name(capture.rule()) == rule);
        named.next().map(|capture| capture.span())
    }

    /// Notes the faults that the last run took.
    fn take_faults(&mut self) {
        for fault in self.outline.grammar.faults(self.machine.captures()) {
            if self.faults.len() >= self.limits.diagnostics {
                self.left_out += 1;
            } else {
                self.faults.push(fault);
            }
        }
    }

    /// Notes that something is missing here.
    fn fault(&mut self, rule: Option<RuleId>) {
        self.record(rule, Span::new(self.at, self.at));
    }

    /// Notes a mark that does not belong here, and steps over it; without a name for it, it is junk.
    fn step_over(&mut self, rule: Option<RuleId>) {
        match rule.and_then(|rule| self.run(rule)).filter(|end| *end > self.at) {
            Some(end) => {
                self.record(rule, Span::new(self.at, end));
                self.at = end;
            }
            None => self.skip_junk(),
        }
    }

    fn record(&mut self, rule: Option<RuleId>, span: Span) {
        let Some(rule) = rule else { return };
        if self.faults.len() >= self.limits.diagnostics {
            self.left_out += 1;
        } else if self.faults.last() != Some(&(rule, span)) {
            self.faults.push((rule, span));
        }
    }
}
