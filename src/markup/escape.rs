//! Escaping: how does a value enter a prompt without becoming part of its structure?
//!
//! In: the text of a value, and how openers of the pack's dialects start.
//! Out: the text, escaped for a place between tags or inside the quotes of an attribute.
//! Never: drops a character that an XML reader would preserve, or leaves `<`, `&` or the start of an opener unescaped.
//!
//! Between the tags of XML, `&`, `<` and `>` become entities and quotes stay as they are. Inside quotes all five become
//! entities, and line breaks and tabs become character references, because XML readers turn them into spaces. A
//! carriage return is dropped before a line feed, as XML readers do (XML 1.0, 2.11), and becomes a reference elsewhere.
//! Characters that XML cannot contain are dropped; two of them, vertical tab and form feed, become a space.

use super::place::is_attribute;
use super::turn_labels::{break_turn_labels, ends_line};
use crate::grammar::First;
use crate::text::{Slice, entity, is_unseen};
use std::borrow::Cow;
use std::fmt::{self, Write as _};
use std::ops::Range;
use std::sync::Arc;

/// How values are escaped for the dialects of one pack.
#[derive(Debug, Clone)]
pub(crate) struct Escape {
    /// The ASCII bytes that an opener can start with.
    openers: [bool; 128],
    /// How openers with such a first byte can start.
    starts: Vec<MarkupStart>,
    /// The first bytes of closers after which an opener counts as if it were at the start of a line.
    closers: [bool; 256],
    /// The dialects whose structure can only start a line, by name.
    guards: Vec<(String, Arc<dyn Guarding>)>,
    marks: Vec<Arc<dyn Marking>>,
    /// The labels with which a turn begins in a prompt that is one text.
    turn_labels: &'static [&'static str],
}

/// How the openers of one grammar, or its closers, start.
#[derive(Debug, Clone)]
pub(crate) struct MarkupStart {
    /// Each of them starts with one of these texts; empty if only their first bytes are known.
    literals: Vec<String>,
    bytes: [bool; 128],
    /// Whether they count only at the start of a line.
    by_line: bool,
}

impl MarkupStart {
    /// Letters and digits are left out: every text has them, and an opener that starts with one is recognised by the
    /// text that follows.
    pub(crate) fn new(first: &First, by_line: bool) -> Self {
        let is_mark = |byte: usize| (byte as u8).is_ascii_punctuation() && first.bytes.get(byte) == Some(&true);
        Self { literals: first.literals.clone(), bytes: std::array::from_fn(is_mark), by_line }
    }

    /// Whether an opener may start at `rest`. If `rest` ends within a literal, text after the value could complete it,
    /// unless the value is `whole`.
    fn matches_at(&self, rest: &str, whole: bool) -> bool {
        let first = rest.as_bytes().first().is_some_and(|byte| self.bytes.get(usize::from(*byte)) == Some(&true));
        let written =
            || rest.chars().filter(|c| !is_left_out(*c) || is_spaced(*c)).map(|c| if is_spaced(c) { ' ' } else { c });
        let begins = |literal: &String| {
            literal.chars().zip(written()).all(|(one, other)| one == other)
                && (!whole || written().nth(literal.chars().count().saturating_sub(1)).is_some())
        };
        first && (self.literals.is_empty() || self.literals.iter().any(begins))
    }
}

/// The text before a position in a value, on the same line.
#[derive(Debug, Clone, Copy)]
struct BeforeValue {
    /// Whether the part that belongs to the value is only white space and fence characters.
    blank: bool,
    /// The number of fence characters directly before the position.
    marks: usize,
    /// Whether it contains a code fence, which may be followed by words, or a possible closer of a block.
    open: bool,
}

impl BeforeValue {
    const LINE: Self = Self { blank: true, marks: 0, open: false };

    /// Whether an opener at the position would count as if it were at the start of its line.
    fn starts_line(self) -> bool {
        self.open || (self.blank && self.marks == 0)
    }

    /// Advances by one character, which may be the first of a closer if `closes`.
    fn pass(&mut self, c: char, closes: bool) {
        self.open |= closes;
        match c {
            '\n' => *self = Self::LINE,
            // A character that is left out does not separate the characters around it.
            c if is_left_out(c) && !is_spaced(c) => {}
            '`' | '~' => {
                self.marks += 1;
                self.open |= self.blank && self.marks >= FENCE;
            }
            c => {
                let is_blank = c.is_whitespace() || c == '\u{feff}';
                *self = Self { blank: self.blank && is_blank && self.marks == 0, marks: 0, ..*self };
            }
        }
    }
}

/// Prevents that a dialect takes lines of an unescaped text in a prompt for structure.
pub(crate) trait Guarding: fmt::Debug + Send + Sync {
    /// `text` with a guard before each such line.
    fn guarded(&self, text: &str) -> String;
}

/// Finds what one dialect takes for a mark (an opener or closer), in a text of an author's words and values.
pub(crate) trait Marking: fmt::Debug + Send + Sync {
    /// The range of each mark, in a text with values at these ranges.
    fn marks(&self, text: &str, values: &[Range<usize>]) -> Vec<Range<usize>>;

    /// Whether values could form a mark together with the end of an author's words, or on their own.
    fn is_open(&self, words: &str) -> bool;

    /// Whether a chat message can contain a mark. It cannot if the dialect is one JSON object, which can only be the
    /// whole answer.
    fn is_in_speech(&self) -> bool {
        true
    }
}

/// The ranges of a text that no author of the pack wrote, in order.
#[derive(Debug, Default, PartialEq, Eq)]
pub(super) struct ForeignRanges {
    /// Values, escaped for their place.
    values: Vec<Range<usize>>,
    /// Texts printed by `guarded`: a mark that starts in one is left as it is.
    raw: Vec<Range<usize>>,
    /// Values without entities.
    plain: Vec<Range<usize>>,
}

impl ForeignRanges {
    /// The range of a single value.
    fn of(value: Range<usize>) -> Self {
        Self { values: vec![value], ..Self::default() }
    }

    pub(super) fn add(&mut self, place: Range<usize>, raw: bool) {
        if raw { &mut self.raw } else { &mut self.values }.push(place);
    }

    pub(super) fn add_plain(&mut self, place: Range<usize>) {
        self.plain.push(place.clone());
        self.values.push(place);
    }

    /// Whether these ranges, which are in order, contain a position.
    fn contain(ranges: &[Range<usize>], at: usize) -> bool {
        let next = ranges.partition_point(|range| range.end <= at);
        ranges.get(next).is_some_and(|range| range.start <= at)
    }
}

/// The characters around a framed value. XML cannot contain them, so no escaped value has them.
const FRAME: [char; 2] = ['\u{fffe}', '\u{ffff}'];

/// The number of fence characters that make a code fence.
const FENCE: usize = 3;

/// A placeholder for the unknown text after a text: enough to complete a mark that the text leaves open.
const NEXT: &str = "\n\nx: ";

/// The place of a value.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum EscapeSlot {
    /// Between tags.
    Text,
    /// In a text that is no XML: only what would open or close a block is escaped, once the whole text is known.
    Plain,
    /// Inside the quotes of an attribute.
    Quoted,
}

impl Escape {
    /// Escaping for dialects whose openers start like this.
    pub(crate) fn new(starts: impl IntoIterator<Item = MarkupStart>) -> Self {
        let starts: Vec<MarkupStart> = starts.into_iter().collect();
        let opens = |byte: usize| starts.iter().any(|start| start.bytes.get(byte) == Some(&true));
        Self {
            openers: std::array::from_fn(opens),
            starts,
            closers: [false; 256],
            guards: Vec::new(),
            marks: Vec::new(),
            turn_labels: &[],
        }
    }

    /// Adds closers after which an opener counts as if it were at the start of a line. A closer is escaped only if an
    /// opener has the same first byte: other first bytes are common in sentences. Closers that start with a letter are
    /// left out, as such openers are: every text has letters.
    pub(crate) fn with_closers<'f>(mut self, closers: impl IntoIterator<Item = &'f First>) -> Self {
        for first in closers {
            let is_mark = |byte: u8| !byte.is_ascii_alphanumeric();
            let marks = (0..=u8::MAX).zip(first.bytes).map(|(byte, may)| may && is_mark(byte));
            self.closers.iter_mut().zip(marks).for_each(|(byte, may)| *byte |= may);
            self.starts.push(MarkupStart::new(first, false));
        }
        self
    }

    /// Adds guards for these dialects.
    pub(crate) fn with_guards(self, guards: Vec<(String, Arc<dyn Guarding>)>) -> Self {
        Self { guards, ..self }
    }

    /// Adds the dialects whose marks an author's words and values could form together.
    pub(crate) fn with_marks(self, marks: Vec<Arc<dyn Marking>>) -> Self {
        Self { marks, ..self }
    }

    /// Adds the labels with which a turn begins in a prompt that is one text.
    pub(crate) fn with_turn_labels(self, turn_labels: &'static [&'static str]) -> Self {
        Self { turn_labels, ..self }
    }

    /// Whether values could form a mark together with the end of an author's words, or on their own.
    pub(super) fn joins(&self, words: &str) -> bool {
        self.marks.iter().any(|marking| marking.is_open(words))
    }

    /// `text`, in which every mark that a value at one of these places helps to form is broken up by a character
    /// reference.
    pub(super) fn break_marks(&self, text: String, places: &ForeignRanges) -> String {
        self.break_marks_of(text, places, &self.marks.iter().collect::<Vec<_>>(), true)
    }

    /// Like `break_marks`, for the marks of some dialects, in values that have been `escaped` or not.
    fn break_marks_of(
        &self,
        text: String,
        places: &ForeignRanges,
        marks: &[&Arc<dyn Marking>],
        escaped: bool,
    ) -> String {
        let values = places.values.as_slice();
        if values.is_empty() {
            return text;
        }
        let mut changed: Vec<usize> = Vec::new();
        let is_raw = |at: usize| ForeignRanges::contain(&places.raw, at);
        let has_entities = |value: &Range<usize>| escaped && !ForeignRanges::contain(&places.plain, value.start);
        let marks = marks.iter().flat_map(|marking| marking.marks(&text, values));
        for mark in marks.filter(|mark| !is_raw(mark.start)) {
            let first = values.partition_point(|value| value.end <= mark.start);
            let mut parts = values.iter().skip(first).take_while(|value| value.start < mark.end).peekable();
            match parts.peek() {
                // Without its start there is no mark.
                Some(value) if value.start <= mark.start => {
                    let before = text.slice(value.start..mark.start);
                    let in_reference = has_entities(value) && before.rfind('&') > before.rfind(';');
                    changed.extend(Some(mark.start).filter(|_| !in_reference));
                }
                // If the value is an attribute in a tag that the author wrote, the mark is the author's, not the
                // value's.
                _ => parts.filter(|value| !is_attribute(text.slice(mark.start..value.start))).for_each(|value| {
                    changed.extend(marking_positions(&text, value.start..value.end.min(mark.end), has_entities(value)));
                }),
            }
        }
        if changed.is_empty() {
            return text;
        }
        changed.sort_unstable();
        changed.dedup();
        let (mut out, mut from) = (String::with_capacity(text.len() + 4 * changed.len()), 0);
        for at in changed {
            let rest = text.slice(at..);
            let Some(c) = rest.chars().next() else { continue };
            out.push_str(text.slice(from..at));
            // A dialect may take the name of an entity for a name of its own, so a numeric reference replaces the
            // entity.
            let (c, length) = named(rest).unwrap_or((c, c.len_utf8()));
            let _ = write!(out, "&#{};", c as u32);
            from = at + length;
        }
        out.push_str(text.slice(from..));
        out
    }

    /// The names of the dialects whose structure can only start a line.
    pub(super) fn guards(&self) -> impl Iterator<Item = &str> {
        self.guards.iter().map(|(name, _)| name.as_str())
    }

    /// `text` unescaped, except for lines that the dialect of this name would take for structure. `None` for an unknown
    /// dialect.
    pub(super) fn guarded(&self, dialect: &str, text: &str) -> Option<String> {
        let guarded = self.guards.iter().find(|(name, _)| name == dialect).map(|(_, guard)| guard.guarded(text))?;
        Some(break_turn_labels(self.turn_labels, &guarded, || true).into_owned())
    }

    /// Appends `text` to `out`, escaped for a slot; none of its lines looks like the start of a turn. A caller that puts it next to other text has to call
    /// [`break_marks`](Escape::break_marks) afterwards.
    pub(super) fn write(&self, text: &str, slot: EscapeSlot, out: &mut String) {
        let start = out.len();
        match slot {
            EscapeSlot::Plain => out.extend(text.chars().filter(|c| !is_left_out(*c) || is_spaced(*c))),
            EscapeSlot::Text | EscapeSlot::Quoted => self.put(text, slot, false, out),
        }
        self.break_turn_labels(start, out);
    }

    /// Breaks the labels of turns in the value that starts at this offset of a text.
    fn break_turn_labels(&self, start: usize, out: &mut String) {
        let starts_line = || {
            let line = out.slice(..start).rsplit(ends_line).next().unwrap_or_default();
            line.chars().all(|c| c.is_whitespace() || is_unseen(c))
        };
        if let Cow::Owned(broken) = break_turn_labels(self.turn_labels, out.slice(start..), starts_line) {
            out.truncate(start);
            out.push_str(&broken);
        }
    }

    /// Like `write`. If the value is `whole`, no mark that starts in it can be completed by the text after it.
    fn put(&self, text: &str, slot: EscapeSlot, whole: bool, out: &mut String) {
        out.reserve(text.len());
        let mut from = 0;
        let mut before = BeforeValue::LINE;
        for (at, c) in text.char_indices() {
            let is_escaped = match c {
                '&' | '<' | '>' | '\r' => false,
                '"' | '\'' | '\n' | '\t' if slot == EscapeSlot::Quoted => false,
                c if c.is_ascii() => !self.opens(text, at, before, whole) && (c >= ' ' || c == '\n' || c == '\t'),
                c => !is_left_out(c),
            };
            let first = text.as_bytes().get(at).copied().unwrap_or_default();
            before.pass(c, is_escaped && self.closers.get(usize::from(first)) == Some(&true));
            if is_escaped {
                continue;
            }
            out.push_str(text.slice(from..at));
            from = at + c.len_utf8();
            match entity(c) {
                Some(entity) => out.push_str(entity),
                None if text.get(at..).is_some_and(|rest| rest.starts_with("\r\n")) => {}
                None if is_spaced(c) => out.push(' '),
                // XML cannot represent this character, not even as a reference.
                None if is_left_out(c) => {}
                None => {
                    let _ = write!(out, "&#{};", c as u32);
                }
            }
        }
        out.push_str(text.slice(from..));
    }

    /// Whether an opener may start at a position in a value.
    fn opens(&self, text: &str, at: usize, before: BeforeValue, whole: bool) -> bool {
        let rest = text.slice(at..);
        let first = rest.as_bytes().first().is_some_and(|byte| self.openers.get(usize::from(*byte)) == Some(&true));
        first
            && self.starts.iter().any(|start| (before.starts_line() || !start.by_line) && start.matches_at(rest, whole))
    }

    /// `text`, escaped for a place between tags, without text of an author around it.
    pub(crate) fn text(&self, text: &str) -> String {
        let mut out = String::new();
        self.write(text, EscapeSlot::Text, &mut out);
        let places = ForeignRanges::of(0..out.len());
        if self.joins("") { self.break_marks(out, &places) } else { out }
    }

    /// `text`, escaped and framed, for a template that does not record where its values are. After rendering,
    /// [`unframed`](Escape::unframed) removes the frames and checks the text next to the value.
    pub(crate) fn framed(&self, text: &str) -> String {
        let mut out = String::from(FRAME[0]);
        let start = out.len();
        self.put(text, EscapeSlot::Text, true, &mut out);
        self.break_turn_labels(start, &mut out);
        out.push(FRAME[1]);
        out
    }

    /// A rendered text without its frames, in which every mark that a framed value helps to form is broken up.
    pub(crate) fn unframed(&self, text: &str) -> String {
        let (mut out, mut places) = (String::with_capacity(text.len()), ForeignRanges::default());
        for (number, piece) in text.split(FRAME[0]).enumerate() {
            let (value, words) = piece.split_once(FRAME[1]).unwrap_or((piece, ""));
            let start = out.len();
            out.push_str(value);
            if number > 0 {
                places.add(start..out.len(), false);
            }
            out.extend(words.chars().filter(|c| *c != FRAME[1]));
        }
        self.break_marks(out, &places)
    }

    /// A text with escaped values at these ranges. Marks that they form with each other, or could form with text that
    /// follows, are broken up.
    pub(crate) fn apart(&self, mut text: String, values: Vec<Range<usize>>) -> String {
        if values.is_empty() || !self.joins("") {
            return text;
        }
        text.push_str(NEXT);
        let mut written = self.break_marks(text, &ForeignRanges { values, ..ForeignRanges::default() });
        written.truncate(written.len().saturating_sub(NEXT.len()));
        written
    }

    /// The text of a chat message that is printed directly after `words`. It is unchanged, except that the first
    /// character of each mark becomes a character reference, and control characters are left out.
    pub(crate) fn spoken(&self, words: &str, text: &str) -> String {
        let text: String = text.chars().filter(|c| !is_left_out(*c) || is_spaced(*c)).collect();
        let places = ForeignRanges::of(words.len()..words.len() + text.len());
        let marks: Vec<&Arc<dyn Marking>> = self.marks.iter().filter(|marking| marking.is_in_speech()).collect();
        self.break_marks_of([words, text.as_str()].concat(), &places, &marks, false).split_off(words.len())
    }
}

/// The character of the entity that a text starts with, and the length of the entity.
fn named(text: &str) -> Option<(char, usize)> {
    let entities = ['&', '<', '>', '"', '\''].into_iter().filter_map(|c| Some((c, entity(c)?)));
    entities.filter(|_| text.starts_with('&')).find_map(|(c, name)| text.starts_with(name).then_some((c, name.len())))
}

/// The positions of the characters without which a part of a value cannot be part of a mark: its first character after
/// white space, and all punctuation. If there are none except in `entities`, the positions of the entities.
fn marking_positions(text: &str, part: Range<usize>, entities: bool) -> Vec<usize> {
    let (mut found, mut reference) = (Vec::new(), false);
    let mut first = true;
    let written = text.slice(part.clone());
    for (at, c) in written.char_indices() {
        let starts = std::mem::take(&mut first);
        reference |= entities && c == '&';
        if !reference && (starts || c.is_ascii_punctuation()) {
            found.push(part.start + at);
        }
        reference &= c != ';';
        first = starts && c.is_whitespace();
    }
    if found.is_empty() && entities && !written.contains("&#") {
        let entities = written.match_indices('&').map(|(at, _)| part.start + at);
        found.extend(entities.filter(|at| text.get(*at..).and_then(named).is_some()));
    }
    found
}

/// Whether the character becomes a space, because XML has no such white space.
fn is_spaced(c: char) -> bool {
    matches!(c, '\u{b}' | '\u{c}')
}

/// Whether XML cannot contain the character.
fn is_left_out(c: char) -> bool {
    matches!(c, '\u{fffe}' | '\u{ffff}') || (c < ' ' && !matches!(c, '\t' | '\n' | '\r'))
}

#[cfg(test)]
impl MarkupStart {
    /// Openers that start with this byte, anywhere on a line.
    pub(crate) fn byte(byte: u8) -> Self {
        let bytes = std::array::from_fn(|other| byte.is_ascii_punctuation() && other == usize::from(byte));
        Self { literals: Vec::new(), bytes, by_line: false }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check(openers: &str, slot: EscapeSlot, text: &str, expected: &str) {
        let mut out = String::new();
        Escape::new(openers.bytes().map(MarkupStart::byte)).write(text, slot, &mut out);
        assert_eq!(out, expected);
    }

    /// Checks the escaping for openers with one literal, which count only at the start of a line if `by_line`, and `"`
    /// as closer.
    #[track_caller]
    fn check_led(literal: &str, by_line: bool, text: &str, expected: &str) {
        let bytes = |literal: &str| std::array::from_fn(|byte| literal.as_bytes().first() == Some(&(byte as u8)));
        let first = |literal: &str| First::new(vec![literal.to_owned()], bytes(literal), false);
        let escape = Escape::new([MarkupStart::new(&first(literal), by_line)]).with_closers(&[first("\"")]);
        let mut out = String::new();
        escape.write(text, EscapeSlot::Text, &mut out);
        assert_eq!(out, expected);
    }

    #[test]
    fn an_opener_is_more_than_its_first_byte() {
        check_led("::", false, "10:30, a::b", "10:30, a&#58;:b");
        check_led("::", false, ":::", "&#58;&#58;&#58;");
        // Characters that are left out join their neighbours, and the text after the value is unknown.
        check_led("::", false, ":\0:x, :y, :", "&#58;:x, :y, &#58;");
        check_led(": \n", false, ":\u{b}\n", "&#58; \n");
        check_led("---", false, "A-2, --", "A-2, &#45;&#45;");
    }

    #[test]
    fn an_opener_counts_where_its_line_starts() {
        check_led("@", true, "a@b.de\n @c, \0@d", "a@b.de\n &#64;c, @d");
        check_led("@", true, "@a\n\u{c}\u{feff}@b\r@c", "&#64;a\n \u{feff}&#64;b&#13;@c");
        check_led("@", true, "```md @a\nx ``` @b", "```md &#64;a\nx ``` @b");
        check_led("@", true, "x\n`@a`, ``@b\n`\0``@c", "x\n`@a`, ``@b\n```&#64;c");
        // Another block may open right after a closer.
        check_led("@", true, "\"@a\n@b\"@c", "\"&#64;a\n&#64;b\"&#64;c");
    }

    #[test]
    fn markup_cannot_be_made_of_values() {
        check("<", EscapeSlot::Text, "<b a='1'>&amp;\"\r\n\r", "&lt;b a='1'&gt;&amp;amp;\"\n&#13;");
        check("<", EscapeSlot::Quoted, "<b a='1'>\"\t\r\n", "&lt;b a=&apos;1&apos;&gt;&quot;&#9;&#10;");
        check("[", EscapeSlot::Text, "[DO_X]{}", "&#91;DO_X]{}");
        check("a1", EscapeSlot::Text, "a1", "a1");
    }

    #[test]
    fn what_xml_cannot_hold_is_left_out() {
        check("<", EscapeSlot::Text, "a\0b\u{1f}c\u{fffe}d\u{7f}\u{10ffff}", "abcd\u{7f}\u{10ffff}");
        check("<", EscapeSlot::Text, "one\u{b}two\u{c}\nthree", "one two \nthree");
    }

    /// Treats every `[x` as the start of a block.
    #[derive(Debug)]
    struct Bracketed;

    impl Marking for Bracketed {
        fn marks(&self, text: &str, _: &[Range<usize>]) -> Vec<Range<usize>> {
            text.match_indices("[x").map(|(at, mark)| at..at + mark.len()).collect()
        }

        fn is_open(&self, _: &str) -> bool {
            true
        }
    }

    #[test]
    fn a_framed_value_forms_no_mark_with_the_text_around_it() {
        let escape = Escape::new([]).with_marks(vec![Arc::new(Bracketed)]);
        let (open, value) = (escape.framed("["), escape.framed("x\u{ffff}]"));
        assert_eq!(escape.unframed(&format!("[{value} [y {value}")), "[&#120;] [y x]");
        assert_eq!(escape.unframed(&format!("{open}x, {open}{value}")), "&#91;x, &#91;x]");
        assert_eq!(escape.unframed("[x of an author"), "[x of an author");
        // The end of a value that could start a mark is escaped only where the text after it completes the mark.
        let bytes = std::array::from_fn(|byte| byte == usize::from(b'['));
        let first = First::new(vec!["[x".to_owned()], bytes, false);
        let starting = Escape::new([MarkupStart::new(&first, false)]).with_marks(vec![Arc::new(Bracketed)]);
        let end = starting.framed("an [");
        assert_eq!(starting.unframed(&format!("{end}, {end}x, {}", starting.framed("[x"))), "an [, an &#91;x, &#91;x");
        // A filter may have truncated the value together with its frame.
        assert_eq!(escape.unframed(&format!("[{}", value.trim_end_matches(FRAME[1]))), "[&#120;]");
    }
}
