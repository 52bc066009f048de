//! Escaping: how does a value enter a prompt without becoming part of its structure?
//!
//! In: a value's text, and how openers of the pack's own dialects start.
//! Out: the same text for a place between tags, or inside the quotes of an attribute.
//! Never: leaves out what a reader of XML would hand on, or lets `<`, `&` or the start of an opener through.
//!
//! Between tags `&`, `<` and `>` are entities and quotes stay as they are; inside quotes all five are entities, and line
//! breaks and tabs are character references, for a reader of XML would make spaces of them. A carriage return is left out
//! before a line feed, where a reader of XML does so itself (XML 1.0, 2.11), and a reference elsewhere. Characters that XML
//! cannot hold are left out; a space stands for the two of them that are white space, a vertical tab and a form feed.

use super::place::is_attribute;
use crate::grammar::First;
use crate::text::entity;
use std::fmt::{self, Write as _};
use std::ops::Range;
use std::sync::Arc;

/// How values are escaped for the dialects of one pack.
#[derive(Debug, Clone)]
pub(crate) struct Escape {
    /// The bytes that an opener may start with, of ASCII.
    openers: [bool; 128],
    /// How the openers start that have such a byte first.
    starts: Vec<Start>,
    /// The bytes that a closer may start with behind which an opener counts as at the start of a line.
    closers: [bool; 256],
    /// The dialects whose structure is told line by line, by their names.
    guards: Vec<(String, Arc<dyn Guarding>)>,
    marks: Vec<Arc<dyn Marking>>,
}

/// How the openers of one grammar start, or its closers.
#[derive(Debug, Clone)]
pub(crate) struct Start {
    /// The texts of which each starts with one; none where their first bytes are all that can be said.
    literals: Vec<String>,
    bytes: [bool; 128],
    /// Whether they count at the start of a line alone.
    by_line: bool,
}

impl Start {
    /// Letters and digits do not count: they are words of every text, and an opener that starts with one is known by what
    /// stands behind it.
    pub(crate) fn new(first: &First, by_line: bool) -> Self {
        let is_mark = |byte: usize| (byte as u8).is_ascii_punctuation() && first.bytes.get(byte) == Some(&true);
        Self { literals: first.literals.clone(), bytes: std::array::from_fn(is_mark), by_line }
    }

    /// Whether one may start where `rest` does. What ends in the midst of a literal may go on behind the value, unless that
    /// is `whole`.
    fn fits(&self, rest: &str, whole: bool) -> bool {
        let first = rest.as_bytes().first().is_some_and(|byte| self.bytes.get(usize::from(*byte)) == Some(&true));
        let said =
            || rest.chars().filter(|c| !is_left_out(*c) || is_spaced(*c)).map(|c| if is_spaced(c) { ' ' } else { c });
        let begins = |literal: &String| {
            literal.chars().zip(said()).all(|(one, other)| one == other)
                && (!whole || said().nth(literal.chars().count().saturating_sub(1)).is_some())
        };
        first && (self.literals.is_empty() || self.literals.iter().any(begins))
    }
}

/// What stands before a place of a value on its line.
#[derive(Debug, Clone, Copy)]
struct Before {
    /// Nothing but white space and marks, as far as no author wrote it.
    blank: bool,
    /// So many marks of a fence, right before the place.
    marks: usize,
    /// A fence, behind which words may stand; or what may close a block.
    open: bool,
}

impl Before {
    const LINE: Self = Self { blank: true, marks: 0, open: false };

    /// Whether an opener may lead its line here.
    fn leads(self) -> bool {
        self.open || (self.blank && self.marks == 0)
    }

    /// Behind one more character, which may be the first of a closer.
    fn pass(&mut self, c: char, closes: bool) {
        self.open |= closes;
        match c {
            '\n' => *self = Self::LINE,
            // Characters that are left out change nothing about what stands around them.
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

/// How a text enters a prompt as it is, but for the lines that one dialect would take for structure.
pub(crate) trait Guarding: fmt::Debug + Send + Sync {
    /// `text` with a guard before each such line.
    fn guarded(&self, text: &str) -> String;
}

/// What one dialect takes for the start or the end of a block, in a text that is made of an author's words and of values.
pub(crate) trait Marking: fmt::Debug + Send + Sync {
    /// Where each stands, in a text with values at these places.
    fn marks(&self, text: &str, values: &[Range<usize>]) -> Vec<Range<usize>>;

    /// Whether values could form one with the end of an author's words, or without any.
    fn is_open(&self, words: &str) -> bool;
}

/// Where what no author wrote stands in a text, in order.
#[derive(Debug, Default, PartialEq, Eq)]
pub(super) struct Places {
    /// What is escaped for its place.
    values: Vec<Range<usize>>,
    /// What is printed as it is: nothing that starts in it is an author's.
    raw: Vec<Range<usize>>,
}

impl Places {
    /// One value and nothing else.
    fn of(value: Range<usize>) -> Self {
        Self { values: vec![value], raw: Vec::new() }
    }

    pub(super) fn add(&mut self, place: Range<usize>, raw: bool) {
        if raw { &mut self.raw } else { &mut self.values }.push(place);
    }
}

/// What stands around a value: characters that XML cannot hold, so that no escaped value does.
const FRAME: [char; 2] = ['\u{fffe}', '\u{ffff}'];

/// Marks that are a fence.
const FENCE: usize = 3;

/// What may be said behind a text: enough of it that what the text leaves open becomes a block.
const NEXT: &str = "\n\nx: ";

/// Where a value stands.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Slot {
    /// Between tags, or in a text without any.
    Text,
    /// Inside the quotes of an attribute.
    Quoted,
}

impl Escape {
    /// For dialects whose openers start so.
    pub(crate) fn new(starts: impl IntoIterator<Item = Start>) -> Self {
        let starts: Vec<Start> = starts.into_iter().collect();
        let opens = |byte: usize| starts.iter().any(|start| start.bytes.get(byte) == Some(&true));
        Self {
            openers: std::array::from_fn(opens),
            starts,
            closers: [false; 256],
            guards: Vec::new(),
            marks: Vec::new(),
        }
    }

    /// With what closes blocks, on lines on which others may open behind it. A closer is escaped where it starts as some opener
    /// does: others stand in every sentence.
    pub(crate) fn with_closers<'f>(mut self, closers: impl IntoIterator<Item = &'f First>) -> Self {
        for first in closers {
            self.closers.iter_mut().zip(first.bytes).for_each(|(byte, may)| *byte |= may);
            let mut start = Start::new(first, false);
            start.bytes.iter_mut().zip(self.openers).for_each(|(byte, opens)| *byte &= opens);
            self.starts.push(start);
        }
        self
    }

    /// With these dialects.
    pub(crate) fn with_guards(self, guards: Vec<(String, Arc<dyn Guarding>)>) -> Self {
        Self { guards, ..self }
    }

    /// With what an author's words and values could form together.
    pub(crate) fn with_marks(self, marks: Vec<Arc<dyn Marking>>) -> Self {
        Self { marks, ..self }
    }

    /// Whether values could form a mark with the end of an author's words, or without any.
    pub(super) fn joins(&self, words: &str) -> bool {
        self.marks.iter().any(|marking| marking.is_open(words))
    }

    /// `text` without a mark that a value at one of these places helps to form.
    pub(super) fn settled(&self, text: String, places: &Places) -> String {
        let values = places.values.as_slice();
        if values.is_empty() {
            return text;
        }
        let mut changed: Vec<usize> = Vec::new();
        let is_raw = |at: usize| {
            let next = places.raw.partition_point(|raw| raw.end <= at);
            places.raw.get(next).is_some_and(|raw| raw.start <= at)
        };
        let marks = self.marks.iter().flat_map(|marking| marking.marks(&text, values));
        for mark in marks.filter(|mark| !is_raw(mark.start)) {
            let first = values.partition_point(|value| value.end <= mark.start);
            let mut parts = values.iter().skip(first).take_while(|value| value.start < mark.end).peekable();
            match parts.peek() {
                // Without its start there is no mark.
                Some(value) if value.start <= mark.start => {
                    let before = text.get(value.start..mark.start).unwrap_or_default();
                    let in_reference = before.rfind('&') > before.rfind(';');
                    changed.extend(Some(mark.start).filter(|_| !in_reference));
                }
                // An author who writes the whole tag around a value has it opened, whatever the value is.
                _ => parts
                    .filter(|value| !is_attribute(text.get(mark.start..value.start).unwrap_or_default()))
                    .for_each(|value| changed.extend(telling(&text, value.start..value.end.min(mark.end)))),
            }
        }
        if changed.is_empty() {
            return text;
        }
        changed.sort_unstable();
        changed.dedup();
        let (mut out, mut from) = (String::with_capacity(text.len() + 4 * changed.len()), 0);
        for at in changed {
            let rest = text.get(at..).unwrap_or_default();
            let Some(c) = rest.chars().next() else { continue };
            out.push_str(text.get(from..at).unwrap_or_default());
            // The name of an entity may be what a dialect takes for a name: the number of its character stands for it.
            let (c, length) = named(rest).unwrap_or((c, c.len_utf8()));
            let _ = write!(out, "&#{};", c as u32);
            from = at + length;
        }
        out.push_str(text.get(from..).unwrap_or_default());
        out
    }

    /// The names of the dialects whose structure is told line by line.
    pub(super) fn guards(&self) -> impl Iterator<Item = &str> {
        self.guards.iter().map(|(name, _)| name.as_str())
    }

    /// `text` as it is, but for the lines that the dialect of this name would take for structure.
    pub(super) fn guarded(&self, dialect: &str, text: &str) -> Option<String> {
        self.guards.iter().find(|(name, _)| name == dialect).map(|(_, guard)| guard.guarded(text))
    }

    /// `text`, escaped for a slot, added to `out`. Whoever puts it beside other text sees to it that it is
    /// [settled](Escape::settled).
    pub(super) fn write(&self, text: &str, slot: Slot, out: &mut String) {
        self.put(text, slot, false, out);
    }

    /// The same of a value of which it is known that nothing goes on behind it where it is `whole`.
    fn put(&self, text: &str, slot: Slot, whole: bool, out: &mut String) {
        out.reserve(text.len());
        let mut from = 0;
        let mut before = Before::LINE;
        for (at, c) in text.char_indices() {
            let stands = match c {
                '&' | '<' | '>' | '\r' => false,
                '"' | '\'' | '\n' | '\t' if slot == Slot::Quoted => false,
                c if c.is_ascii() => !self.opens(text, at, before, whole) && (c >= ' ' || c == '\n' || c == '\t'),
                c => !is_left_out(c),
            };
            let first = text.as_bytes().get(at).copied().unwrap_or_default();
            before.pass(c, stands && self.closers.get(usize::from(first)) == Some(&true));
            if stands {
                continue;
            }
            out.push_str(text.get(from..at).unwrap_or_default());
            from = at + c.len_utf8();
            match entity(c) {
                Some(entity) => out.push_str(entity),
                None if text.get(at..).is_some_and(|rest| rest.starts_with("\r\n")) => {}
                None if is_spaced(c) => out.push(' '),
                // Nothing stands for what XML has no character for.
                None if is_left_out(c) => {}
                None => {
                    let _ = write!(out, "&#{};", c as u32);
                }
            }
        }
        out.push_str(text.get(from..).unwrap_or_default());
    }

    /// Whether an opener may start at a place of a value.
    fn opens(&self, text: &str, at: usize, before: Before, whole: bool) -> bool {
        let rest = text.get(at..).unwrap_or_default();
        let first = rest.as_bytes().first().is_some_and(|byte| self.openers.get(usize::from(*byte)) == Some(&true));
        first && self.starts.iter().any(|start| (before.leads() || !start.by_line) && start.fits(rest, whole))
    }

    /// `text`, escaped for a place between tags where nothing stands beside it.
    pub(crate) fn text(&self, text: &str) -> String {
        let mut out = String::new();
        self.write(text, Slot::Text, &mut out);
        let places = Places::of(0..out.len());
        if self.joins("") { self.settled(out, &places) } else { out }
    }

    /// `text`, escaped and between frames, for a template that does not tell where its values stand. Whoever renders it takes
    /// the frames [off](Escape::unframed), and then sees what goes on behind it.
    pub(crate) fn framed(&self, text: &str) -> String {
        let mut out = String::from(FRAME[0]);
        self.put(text, Slot::Text, true, &mut out);
        out.push(FRAME[1]);
        out
    }

    /// A rendered text without its frames, and without a mark that what stood in one helps to form.
    pub(crate) fn unframed(&self, text: &str) -> String {
        let (mut out, mut places) = (String::with_capacity(text.len()), Places::default());
        for (number, piece) in text.split(FRAME[0]).enumerate() {
            let (value, words) = piece.split_once(FRAME[1]).unwrap_or((piece, ""));
            let start = out.len();
            out.push_str(value);
            if number > 0 {
                places.add(start..out.len(), false);
            }
            out.extend(words.chars().filter(|c| *c != FRAME[1]));
        }
        self.settled(out, &places)
    }

    /// A text with escaped values at these places, which form nothing with each other or with what is said next.
    pub(crate) fn apart(&self, mut text: String, values: Vec<Range<usize>>) -> String {
        if values.is_empty() || !self.joins("") {
            return text;
        }
        text.push_str(NEXT);
        let mut said = self.settled(text, &Places { values, raw: Vec::new() });
        said.truncate(said.len().saturating_sub(NEXT.len()));
        said
    }

    /// As [`Escape::text`], and for a place behind the words of an author besides.
    pub(crate) fn behind(&self, words: &str, text: &str) -> String {
        let said = self.text(text);
        if !self.joins(words) {
            return said;
        }
        let places = Places::of(words.len()..words.len() + said.len());
        self.settled([words, &said].concat(), &places).split_off(words.len())
    }
}

/// The character that the entity stands for with which a text starts, and how long the entity is.
fn named(text: &str) -> Option<(char, usize)> {
    let entities = ['&', '<', '>', '"', '\''].into_iter().filter_map(|c| Some((c, entity(c)?)));
    entities.filter(|_| text.starts_with('&')).find_map(|(c, name)| text.starts_with(name).then_some((c, name.len())))
}

/// Where the characters of a part of an escaped value stand without which it forms nothing: its first, and all its
/// punctuation. Of a value that has none of these but entities, the entities.
fn telling(text: &str, part: Range<usize>) -> Vec<usize> {
    let (mut found, mut reference) = (Vec::new(), false);
    let mut first = true;
    let said = text.get(part.clone()).unwrap_or_default();
    for (at, c) in said.char_indices() {
        let starts = std::mem::take(&mut first);
        reference |= c == '&';
        if !reference && (starts || c.is_ascii_punctuation()) {
            found.push(part.start + at);
        }
        reference &= c != ';';
        first = starts && c.is_whitespace();
    }
    if found.is_empty() && !said.contains("&#") {
        let entities = said.match_indices('&').map(|(at, _)| part.start + at);
        found.extend(entities.filter(|at| text.get(*at..).and_then(named).is_some()));
    }
    found
}

/// Whether a space stands for it, for XML has no such white space.
fn is_spaced(c: char) -> bool {
    matches!(c, '\u{b}' | '\u{c}')
}

/// Whether XML has no character for it.
fn is_left_out(c: char) -> bool {
    matches!(c, '\u{fffe}' | '\u{ffff}') || (c < ' ' && !matches!(c, '\t' | '\n' | '\r'))
}

#[cfg(test)]
impl Start {
    /// Openers that start with this byte, anywhere.
    pub(crate) fn byte(byte: u8) -> Self {
        let bytes = std::array::from_fn(|other| byte.is_ascii_punctuation() && other == usize::from(byte));
        Self { literals: Vec::new(), bytes, by_line: false }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check(openers: &str, slot: Slot, text: &str, expected: &str) {
        let mut out = String::new();
        Escape::new(openers.bytes().map(Start::byte)).write(text, slot, &mut out);
        assert_eq!(out, expected);
    }

    /// Openers of one literal, at the start of a line alone, which `"` closes.
    #[track_caller]
    fn check_led(literal: &str, by_line: bool, text: &str, expected: &str) {
        let first = |literal: &str| First {
            literals: vec![literal.to_owned()],
            bytes: std::array::from_fn(|byte| literal.as_bytes().first() == Some(&(byte as u8))),
            empty: false,
        };
        let escape = Escape::new([Start::new(&first(literal), by_line)]).with_closers(&[first("\"")]);
        let mut out = String::new();
        escape.write(text, Slot::Text, &mut out);
        assert_eq!(out, expected);
    }

    #[test]
    fn an_opener_is_more_than_its_first_byte() {
        check_led("::", false, "10:30, a::b", "10:30, a&#58;:b");
        check_led("::", false, ":::", "&#58;&#58;&#58;");
        // What is left out stands between nothing, and what follows the value is unknown.
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
        // Behind a closer another block may open.
        check_led("@", true, "\"@a\n@b\"@c", "\"&#64;a\n&#64;b\"&#64;c");
    }

    #[test]
    fn markup_cannot_be_made_of_values() {
        check("<", Slot::Text, "<b a='1'>&amp;\"\r\n\r", "&lt;b a='1'&gt;&amp;amp;\"\n&#13;");
        check("<", Slot::Quoted, "<b a='1'>\"\t\r\n", "&lt;b a=&apos;1&apos;&gt;&quot;&#9;&#10;");
        check("[", Slot::Text, "[DO_X]{}", "&#91;DO_X]{}");
        check("a1", Slot::Text, "a1", "a1");
    }

    #[test]
    fn what_xml_cannot_hold_is_left_out() {
        check("<", Slot::Text, "a\0b\u{1f}c\u{fffe}d\u{7f}\u{10ffff}", "abcd\u{7f}\u{10ffff}");
        check("<", Slot::Text, "one\u{b}two\u{c}\nthree", "one two \nthree");
    }

    /// Takes every `[x` for the start of a block.
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
    fn a_framed_value_forms_nothing_with_the_words_around_it() {
        let escape = Escape::new([]).with_marks(vec![Arc::new(Bracketed)]);
        let (open, value) = (escape.framed("["), escape.framed("x\u{ffff}]"));
        assert_eq!(escape.unframed(&format!("[{value} [y {value}")), "[&#120;] [y x]");
        assert_eq!(escape.unframed(&format!("{open}x, {open}{value}")), "&#91;x, &#91;x]");
        assert_eq!(escape.unframed("[x of an author"), "[x of an author");
        // What ends as a mark begins is escaped where one is made of it, and nowhere else.
        let first = First {
            literals: vec!["[x".to_owned()],
            bytes: std::array::from_fn(|byte| byte == usize::from(b'[')),
            empty: false,
        };
        let starting = Escape::new([Start::new(&first, false)]).with_marks(vec![Arc::new(Bracketed)]);
        let end = starting.framed("an [");
        assert_eq!(starting.unframed(&format!("{end}, {end}x, {}", starting.framed("[x"))), "an [, an &#91;x, &#91;x");
        // A filter may have cut the value, and its frame with it.
        assert_eq!(escape.unframed(&format!("[{}", value.trim_end_matches(FRAME[1]))), "[&#120;]");
    }
}
