//! Lenient: what does an object contain that is not valid JSON?
//!
//! In: a response, the offset of a brace, and the rules for the parts.
//! Out: the tape of the object, its faults by name, and the junk that was skipped.
//! Never: fails, recurses on the response, goes back further than over the punctuation before a key, or skips text
//! without noting it.
//!
//! A stack tracks the nesting. If punctuation does not match the open containers, they determine the fault: a
//! superfluous brace, a missing one, a quote that belongs to no string. All other text is junk, up to the next
//! punctuation or name.

use super::cursor::Cursor;
use super::keys::{self, KeyForm};
use super::quote_end::{self, LastQuotes, StringContext};
use super::stack::{ContainerStack, OpenContainer, OpenLevel, outer};
use super::tape::{MemberNodeKind, QUOTES, unquoted};
use super::whitespace::{is_fence, skip_whitespace};
use super::{ReadObject, quotes, stray_marks};
use crate::diagnostic::Defect;
use crate::grammar::{Machine, RuleId};
use crate::json::{decode_string, in_triple};
use crate::program::{LevelId, Limits, ObjectShape};
use crate::text::Span;
use serde::de::IgnoredAny;

struct LenientObject<'r, 'm> {
    outline: &'r ObjectShape,
    cursor: Cursor<'r, 'm>,
    nest: ContainerStack,
    stopped: Option<Defect>,
    /// Parts of strings that look like members.
    nested: Vec<Span>,
    last: LastQuotes,
    /// Whether the last key had no quotes.
    bare: bool,
}

/// The result of reading an object.
pub(super) struct ObjectReading {
    pub(super) object: ReadObject,
    pub(super) faults: Vec<(RuleId, Span)>,
    /// The number of faults that are not stored.
    pub(super) left_out: usize,
    /// Parts of strings that look like members but were taken as text: the first of each string.
    pub(super) nested: Vec<Span>,
    /// The limit because of which reading stopped early.
    pub(super) stopped: Option<Defect>,
}

impl ObjectReading {
    /// An object without faults.
    pub(super) fn whole(object: ReadObject) -> Self {
        Self { object, faults: Vec::new(), left_out: 0, nested: Vec::new(), stopped: None }
    }
}

/// Reads the object whose brace is, or is missing, at `brace`.
pub(super) fn read(
    text: &str,
    brace: usize,
    outline: &ObjectShape,
    limits: &Limits,
    machine: &mut Machine,
    last: LastQuotes,
) -> ObjectReading {
    let cursor = Cursor::new(text, brace, outline, limits, machine);
    let reader = LenientObject {
        outline,
        cursor,
        nest: ContainerStack::default(),
        stopped: None,
        nested: Vec::new(),
        last,
        bare: false,
    };
    reader.read()
}

impl LenientObject<'_, '_> {
    fn read(mut self) -> ObjectReading {
        self.open_object(Some(ObjectShape::ROOT));
        while let Some(frame) = self.nest.innermost() {
            self.stopped = self.exceeds().or(self.stopped);
            let repaired = self.cursor.repaired;
            self.cursor.pass_space();
            let Cursor { bytes, at, .. } = self.cursor;
            // A fence around the object ends it, even if the object is not closed.
            if self.stopped.is_some() || at >= bytes.len() || is_fence(bytes, at) {
                self.cut(frame);
            } else if frame.list {
                self.in_list(frame);
            } else {
                self.in_object(frame);
            }
            if self.cursor.repaired > repaired {
                self.nest.tape.repair(frame.node);
            }
        }
        self.pass_behind();
        let Cursor { at, junk, faults, left_out, .. } = self.cursor;
        let object = ReadObject { tape: self.nest.tape, end: at, junk };
        ObjectReading { object, faults, left_out, nested: self.nested, stopped: self.stopped }
    }

    /// The limit that the object exceeds, if any.
    fn exceeds(&self) -> Option<Defect> {
        let Cursor { limits, ref junk, .. } = self.cursor;
        let too_large = self.nest.tape.nodes.len() > 3 * limits.values
            || junk.len() > limits.fields
            || self.nest.depth() > limits.depth;
        match self.cursor.is_spent() {
            true => Some(Defect::TooCostly),
            false => too_large.then_some(Defect::TooLarge),
        }
    }

    fn in_object(&mut self, frame: OpenContainer) {
        let Cursor { text, at, .. } = self.cursor;
        let faults = &self.outline.faults;
        let entry = self.nest.is_entry();
        match self.cursor.byte() {
            b'}' if self.nest.depth() == 1 && stray_marks::goes_on_behind(self.outline, text, at + 1) => {
                self.cursor.step_over(faults.extra_brace);
            }
            b'}' => self.end(frame),
            b',' => self.comma(frame),
            b'"' if keys::is_stray_quote(text, at) => self.cursor.step_over(faults.stray_quote),
            b']' | b'{' if entry => self.end_early(frame),
            b']' => self.cursor.step_over(faults.extra_bracket),
            // Another entry of a list whose bracket is missing.
            b'{' if frame.key.is_some_and(|key| self.is_listed(frame.level, key)) => {
                self.cursor.miss(faults.missing_bracket);
                self.member(frame, frame.key.unwrap_or_default());
            }
            _ => match self.cursor.run_within(self.outline.name, at + stray_marks::MAX_KEY_BYTES) {
                Some(end) => {
                    let key = self.cursor.captured("key").unwrap_or(Span::new(at, end));
                    self.cursor.take_faults();
                    self.part(frame);
                    self.bare = !key.of(text).starts_with(QUOTES);
                    self.cursor.at = end;
                    self.member(frame, key);
                }
                None => self.faulty_key(frame),
            },
        }
    }

    /// Reads a member whose key lacks a quote or its colon, or has a superfluous quote.
    fn faulty_key(&mut self, frame: OpenContainer) {
        let key = keys::any(self.cursor.text, self.cursor.at);
        let wrong = key.and_then(|key| match key.form {
            KeyForm::Torn(at) => {
                let rule = stray_marks::at_key(self.outline, self.cursor.byte_at(at))?;
                Some((key, rule, Span::new(at, at + 1)))
            }
            KeyForm::NoColon(at) => Some((key, self.outline.faults.missing_colon?, Span::new(at, at))),
            KeyForm::Whole | KeyForm::Bare => None,
        });
        let Some((key, rule, span)) = wrong else { return self.cursor.skip_junk() };
        self.part(frame);
        self.cursor.record(Some(rule), span);
        self.cursor.at = key.value;
        self.member(frame, key.span);
    }

    /// Reads the value of a member whose key has been read.
    fn member(&mut self, frame: OpenContainer, key: Span) {
        let name = decode_string(unquoted(key.of(self.cursor.text)));
        let level = frame.level.and_then(|level| self.outline.member(level, &name));
        self.nest.tape.leaf(MemberNodeKind::Key, key, false);
        let bit = level.map_or(0, LevelId::bit);
        self.nest.change(|frame| {
            (frame.filled, frame.comma, frame.key) = (true, None, Some(key));
            frame.present |= bit;
        });
        self.cursor.pass_space();
        while let Some(rule) = stray_marks::before_value(&self.cursor, level) {
            self.cursor.step_over(Some(rule));
            self.cursor.pass_space();
        }
        self.value(level);
    }

    fn in_list(&mut self, frame: OpenContainer) {
        let Cursor { text, at, .. } = self.cursor;
        let faults = &self.outline.faults;
        let each = self.outline.each(frame.level);
        match self.cursor.byte() {
            b']' => self.end(frame),
            b',' => self.comma(frame),
            b'}' if stray_marks::brace_in_list(&self.cursor, &self.nest.open(self.outline)) => {
                self.cursor.step_over(faults.extra_brace);
            }
            b'}' => self.end_list_early(frame),
            b'"' if stray_marks::quote_in_list(&self.cursor, !frame.filled || frame.comma.is_some()) => {
                self.cursor.step_over(faults.stray_quote);
            }
            b'"' | b'\'' if keys::whole(text, at).is_some() => {
                if !quote_end::names_member(self.outline, text, at, each)
                    && quote_end::names_member(self.outline, text, at, outer(&self.nest.open(self.outline)))
                {
                    return self.end_list_early(frame);
                }
                self.entry(frame);
                self.cursor.miss(faults.missing_brace);
                self.open_object(each);
                // The missing brace belongs to the entry.
                self.nest.repair();
            }
            // A second bracket before any entry is superfluous.
            b'[' if !frame.filled && self.outline.is_entry(each) => self.cursor.step_over(faults.extra_bracket),
            b':' | b'`' => self.cursor.skip_junk(),
            _ => {
                self.entry(frame);
                self.value(each);
            }
        }
    }

    fn value(&mut self, level: Option<LevelId>) {
        let at = self.cursor.at;
        match self.cursor.byte() {
            b'{' => self.open_object(level),
            b'[' => {
                self.nest.push(MemberNodeKind::List, at, level);
                self.cursor.at += 1;
            }
            b'"' if self.triple() => {}
            b'"' => self.string(level, true),
            b',' | b'}' | b']' => {
                self.cursor.miss(self.outline.faults.missing_value);
                self.absent(false);
            }
            0 if at >= self.cursor.bytes.len() => self.absent(true),
            _ => match self.cursor.run(self.outline.scalar).filter(|end| *end > at) {
                Some(end) if self.lacks_quote(level, end) => {
                    self.cursor.miss(self.outline.faults.missing_quote);
                    self.string(level, false);
                }
                Some(end) => self.scalar(level, end),
                None => {
                    self.absent(false);
                    self.cursor.skip_junk();
                }
            },
        }
    }

    /// Reads words without double quotes, up to `end`.
    fn scalar(&mut self, level: Option<LevelId>, end: usize) {
        let Cursor { text, at, .. } = self.cursor;
        self.cursor.take_faults();
        let span = Span::new(at, at + Span::new(at, end).of(text).trim_end().len());
        let word = span.of(text);
        let cut = end >= text.len() || self.is_torn_body(level, span);
        let is_closed = word.len() > 1 && word.ends_with('\'');
        if word.starts_with('\'') && (is_closed || cut) {
            self.nest.tape.leaf(MemberNodeKind::String, span, !is_closed);
        } else if let Some(inner) = word.strip_prefix(['“', '”', '„']).and_then(|one| one.strip_suffix(['“', '”']))
        {
            // These quotes are three bytes long.
            let start = at + '“'.len_utf8();
            self.nest.tape.leaf(MemberNodeKind::Torn, Span::new(start, start + inner.len()), false);
        } else {
            self.nest.tape.leaf(MemberNodeKind::Scalar, span, cut);
        }
        self.cursor.at = end;
    }

    /// Reads a triple-quoted string, if there is one.
    fn triple(&mut self) -> bool {
        const MARK: &str = "\"\"\"";
        let Cursor { text, at, .. } = self.cursor;
        if !text.get(at..).is_some_and(|rest| rest.starts_with(MARK)) {
            return false;
        }
        let rule = self.outline.faults.triple_quotes;
        let Some(end) = rule.and_then(|rule| self.cursor.run(rule)) else { return false };
        self.cursor.record(rule, Span::new(at, end));
        let inner = in_triple(Span::new(at + MARK.len(), end - MARK.len()), text);
        self.nest.tape.leaf(MemberNodeKind::Torn, inner, false);
        self.cursor.at = end;
        true
    }

    fn string(&mut self, level: Option<LevelId>, opened: bool) {
        let open = self.nest.open(self.outline);
        let around = self.around(&open, level);
        let read = quotes::read(&mut self.cursor, around, opened);
        self.nested.extend(read.nested.filter(|_| self.nested.len() < self.cursor.limits.diagnostics));
        self.nest.tape.leaf(read.kind, read.span, read.cut);
    }

    /// Notes that a value is missing, or that it was cut off.
    fn absent(&mut self, cut: bool) {
        self.nest.tape.leaf(MemberNodeKind::Absent, Span::new(self.cursor.at, self.cursor.at), cut);
    }

    /// Whether words without quotes are a string whose opening quote is missing.
    fn lacks_quote(&mut self, level: Option<LevelId>, end: usize) -> bool {
        let named = self.outline.faults.missing_quote.is_some()
            && !self.cursor.text.get(self.cursor.at..).is_some_and(|rest| rest.starts_with(QUOTES));
        if !named || level.is_none() || self.outline.is_entry(level) {
            return false;
        }
        let open = self.nest.open(self.outline);
        let around = self.around(&open, level);
        quotes::lack_first(&mut self.cursor, end, around)
    }

    /// Whether words without quotes are foreign text that may continue: the text after them does not end a value.
    fn is_torn_body(&self, level: Option<LevelId>, words: Span) -> bool {
        let text = self.cursor.text;
        if !self.outline.is_body(level) || serde_json::from_str::<IgnoredAny>(words.of(text)).is_ok() {
            return false;
        }
        let open = self.nest.open(self.outline);
        !quote_end::goes_on(self.outline, text, words.end, self.around(&open, level))
    }

    fn around<'a>(&self, open: &'a [OpenLevel], own: Option<LevelId>) -> StringContext<'a> {
        StringContext { open, own, body: self.outline.is_body(own), bare: self.bare, last: self.last }
    }

    /// Opens an object, and skips its brace if it has one.
    fn open_object(&mut self, level: Option<LevelId>) {
        let level = level.map(|level| self.outline.of_object(level));
        self.nest.push(MemberNodeKind::Object, self.cursor.at, level);
        if self.cursor.byte() == b'{' {
            self.cursor.at += 1;
        } else if self.nest.depth() == 1 {
            self.cursor.miss(self.outline.faults.missing_brace);
        }
    }

    /// Starts an entry of a list.
    fn entry(&mut self, list: OpenContainer) {
        self.part(list);
        self.nest.change(|list| (list.filled, list.comma) = (true, None));
    }

    /// Notes that a comma is missing here.
    fn part(&mut self, frame: OpenContainer) {
        if frame.filled && frame.comma.is_none() {
            self.cursor.miss(self.outline.faults.missing_comma);
        }
    }

    fn comma(&mut self, frame: OpenContainer) {
        if frame.comma.is_some() || !frame.filled {
            return self.cursor.step_over(self.outline.faults.extra_comma);
        }
        let at = self.cursor.at;
        self.nest.change(|frame| frame.comma = Some(at));
        self.cursor.at += 1;
    }

    /// Ends an object or a list at its closer.
    fn end(&mut self, frame: OpenContainer) {
        if let Some(comma) = frame.comma {
            self.cursor.record(self.outline.faults.trailing_comma, Span::new(comma, comma + 1));
        }
        self.cursor.at += 1;
        self.nest.pop(self.cursor.at, false);
    }

    /// Ends a list whose bracket is missing, or whose opening bracket was superfluous.
    fn end_list_early(&mut self, list: OpenContainer) {
        if !stray_marks::list_around(self.outline, &self.nest.tape, list) {
            return self.end_early(list);
        }
        let start = self.nest.tape.get(list.node).map_or(self.cursor.at, |node| node.span().start);
        self.cursor.record(self.outline.faults.extra_bracket, Span::new(start, start + 1));
        self.nest.unwrap();
        self.nest.change(|outer| outer.comma = list.comma);
    }

    /// Ends an object or a list whose end is missing, after the last of its parts.
    fn end_early(&mut self, frame: OpenContainer) {
        let at = self.cursor.at;
        self.cursor.miss_at(self.end_of(frame), frame.comma.unwrap_or(at));
        let start = self.nest.tape.get(frame.node).map_or(0, |node| node.span().start);
        let last = self.nest.tape.nodes.iter().skip(frame.node + 1).map(|node| node.span().end).max();
        // A list of foreign texts may have been cut off: it may have more entries.
        self.nest.pop(last.unwrap_or(at).max(start), frame.list && self.outline.is_body(frame.level));
        // A comma that was just read separates members of the surrounding object or list.
        self.nest.change(|outer| outer.comma = frame.comma);
    }

    /// Ends the open containers at the end of the response.
    fn cut(&mut self, frame: OpenContainer) {
        let end = self.cursor.bytes.len().min(self.cursor.at);
        let missing = self.end_of(frame).map(|rule| (rule, Span::new(end, end)));
        if self.stopped.is_none()
            && let Some((rule, span)) = missing.filter(|missing| !self.cursor.faults.contains(missing))
        {
            self.cursor.record(Some(rule), span);
        }
        self.nest.pop(self.cursor.at, true);
    }

    /// Skips superfluous punctuation after the object's end, which still belongs to the object.
    fn pass_behind(&mut self) {
        let Cursor { text, bytes, .. } = self.cursor;
        let faults = &self.outline.faults;
        loop {
            let at = skip_whitespace(bytes, self.cursor.at);
            let rule = match bytes.get(at) {
                Some(b'}') => faults.extra_brace,
                // The bracket of a list that is the whole answer is not a fault.
                Some(b']') if !self.outline.entries => faults.extra_bracket,
                Some(b'"') if keys::is_stray_quote(text, at) => faults.stray_quote,
                _ => None,
            };
            if rule.is_none() {
                return;
            }
            self.cursor.record(rule, Span::new(at, at + 1));
            self.cursor.at = at + 1;
        }
    }

    /// The fault for a missing closer of an object or a list.
    fn end_of(&self, frame: OpenContainer) -> Option<RuleId> {
        if frame.list { self.outline.faults.missing_bracket } else { self.outline.faults.missing_brace }
    }

    /// Whether a member is declared as a list.
    fn is_listed(&self, level: Option<LevelId>, key: Span) -> bool {
        let name = unquoted(key.of(self.cursor.text));
        self.outline.each(level.and_then(|level| self.outline.member(level, name))).is_some()
    }
}
