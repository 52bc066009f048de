//! Live: which texts of an object are certain while it is still arriving?
//!
//! In: the response so far, and a dialect whose members are blocks.
//! Out: the first members of an object that begins the answer, as long as they are texts, and how far each is certain.
//! Never: reads past anything that a later fault could turn into another text: that is decided at the end.
//!
//! An object that is valid so far may turn out to be faulty, and is then read leniently from its start. A string that
//! is valid up to a quote is the start of the same string in a lenient reading, except for punctuation before the
//! quote, which may belong to the text after it. It ends at that quote if a comma and the next key follow: there, a
//! lenient reading continues, too.

use super::keys::{self, KeyForm};
use super::start_of;
use super::tape::NONE;
use super::whitespace::skip_whitespace;
use crate::document::budget::StepBudget;
use crate::document::decode::is_escaped_twice;
use crate::document::leading_reasoning::{AnswerSoFar, LeadingReasoning, LeadingState};
use crate::document::masks::Masks;
use crate::document::{Block, Ended, ReadContext, TextEncoding, trimmed};
use crate::program::{BlockId, Limits, MaskKinds, ObjectShape};
use crate::surface::Role;
use crate::text::{Slice, Span};
use std::task::Poll;

/// The texts that are certain so far.
#[derive(Debug, Default)]
pub(super) struct Live {
    stage: Stage,
    /// Reasoning before the object.
    pub(super) before: Option<Block>,
    /// The start of the object.
    pub(super) brace: usize,
    pub(super) members: Vec<LiveMember>,
}

/// A member whose value is a text.
#[derive(Debug)]
pub(super) struct LiveMember {
    pub(super) id: BlockId,
    /// Its key, without quotes.
    pub(super) name: Span,
    /// The start of the member.
    pub(super) start: usize,
    /// The certain part of its text, as written.
    pub(super) sure: Span,
    /// Whether the text has an escaped backslash.
    doubled: bool,
    /// The end of the member, once it is known that its text ends there.
    pub(super) end: Option<usize>,
}

/// The part that is read next.
#[derive(Debug, Default)]
enum Stage {
    /// Nothing has been read yet.
    #[default]
    Begin,
    /// Reasoning, whose closer is searched for.
    Reasoning(Box<LeadingReasoning>, StepBudget),
    /// The object.
    Object(usize),
    /// A key.
    Key(usize),
    /// More of the text of the last member, from here.
    Text(usize),
    /// The text after the quote at this offset, which decides whether the quote ends the text of the last member.
    Behind(usize),
    /// Nothing: the rest is decided at the end.
    Over,
}

impl Live {
    /// Continues reading, as far as the text that has arrived is certain.
    pub(super) fn advance(
        &mut self,
        context: &ReadContext<'_>,
        outline: &ObjectShape,
        limits: &Limits,
        left_open: Option<bool>,
    ) {
        loop {
            let stage = std::mem::replace(&mut self.stage, Stage::Over);
            let (next, goes_on) = match stage {
                Stage::Begin => Self::begin(context, outline, limits, left_open),
                Stage::Reasoning(leading, budget) => self.pass_reasoning(leading, budget, context),
                Stage::Object(at) => self.open(at, context.text),
                Stage::Key(at) => self.read_key(at, context, outline, limits),
                Stage::Text(at) => self.read_text(at, context.text),
                Stage::Behind(quote) => self.read_after_quote(quote, context.text),
                Stage::Over => return,
            };
            self.stage = next;
            if !goes_on {
                return;
            }
        }
    }

    /// If the whole object, or each entry of a list of objects, is one block, none of its members is a text.
    fn begin(
        context: &ReadContext<'_>,
        outline: &ObjectShape,
        limits: &Limits,
        left_open: Option<bool>,
    ) -> (Stage, bool) {
        if outline.entries || outline.level(ObjectShape::ROOT).block.is_some() {
            return (Stage::Over, false);
        }
        match LeadingReasoning::new(context.dialect, limits, left_open) {
            Some(leading) => (Stage::Reasoning(leading, StepBudget::new(limits)), true),
            None => (Stage::Object(0), true),
        }
    }

    /// Without an opener, it is unknown before the end whether the answer starts with reasoning.
    fn pass_reasoning(
        &mut self,
        mut leading: Box<LeadingReasoning>,
        mut budget: StepBudget,
        context: &ReadContext<'_>,
    ) -> (Stage, bool) {
        let ReadContext { text, dialect, .. } = *context;
        let mut masks = Masks::new(MaskKinds::default());
        masks.find_outer_fence(text, true);
        let answer = AnswerSoFar { dialect, text, start: 0, complete: false };
        let closer = match leading.advance(&answer, &mut masks, &mut budget) {
            LeadingState::Opened(Some(closer)) => closer,
            LeadingState::Waits(_) => return (Stage::Reasoning(leading, budget), false),
            // There is no reasoning before the answer.
            LeadingState::Over => return (Stage::Object(0), true),
            LeadingState::Opened(None) | LeadingState::Closer(_) => return (Stage::Over, false),
        };
        let sought = leading.into_block();
        let Some(bound) = dialect.block(sought.id) else { return (Stage::Over, false) };
        let trim = |inner| trimmed(inner, text, &bound.trim);
        self.before = Some(sought.end(start_of(text), closer, Ended::Whole, trim));
        (Stage::Object(closer.end), true)
    }

    fn open(&mut self, at: usize, text: &str) -> (Stage, bool) {
        let bytes = text.as_bytes();
        self.brace = if at == 0 { start_of(text) } else { skip_whitespace(bytes, at) };
        match bytes.get(self.brace) {
            None => (Stage::Object(at), false),
            Some(b'{') => (Stage::Key(self.brace + 1), true),
            Some(_) => (Stage::Over, false),
        }
    }

    /// Reads a key, its colon and the quote that opens its text.
    fn read_key(
        &mut self,
        at: usize,
        context: &ReadContext<'_>,
        outline: &ObjectShape,
        limits: &Limits,
    ) -> (Stage, bool) {
        let text = context.text;
        let key = match key_at(text, at) {
            Poll::Ready(Some(key)) => key,
            Poll::Ready(None) => return (Stage::Over, false),
            Poll::Pending => return (Stage::Key(at), false),
        };
        let quote = skip_whitespace(text.as_bytes(), key.value);
        let rest = text.as_bytes().slice(quote..);
        match rest {
            // A second quote may be the second of three.
            [] | [b'"'] | [b'"', b'"'] => return (Stage::Key(at), false),
            [b'"', b'"', b'"', ..] => return (Stage::Over, false),
            [b'"', ..] => {}
            _ => return (Stage::Over, false),
        }
        let id = outline.member(ObjectShape::ROOT, key.name).and_then(|level| outline.level(level).block);
        let bound = id.and_then(|id| Some((id, context.block(id)?)));
        // The result of a template is known only once the value has been judged.
        let Some((id, _)) = bound.filter(|(_, bound)| bound.role != Role::Call && bound.text.is_none()) else {
            return (Stage::Over, false);
        };
        if self.members.len() + 1 >= limits.blocks {
            return (Stage::Over, false);
        }
        let (name, start, from) = (key.span, key.span.start - 1, quote + 1);
        self.members.push(LiveMember { id, name, start, sure: Span::new(from, from), doubled: false, end: None });
        (Stage::Text(from), true)
    }

    /// Reads the text of the last member, up to its closing quote.
    fn read_text(&mut self, from: usize, text: &str) -> (Stage, bool) {
        let bytes = text.as_bytes();
        let Some(member) = self.members.last_mut() else { return (Stage::Over, false) };
        let mut at = from;
        loop {
            let rest = bytes.slice(at..);
            let length = rest.iter().position(|byte| matches!(byte, b'"' | b'\\' | 0..0x20)).unwrap_or(rest.len());
            // If the closing quote is missing, punctuation before the next quote is outside the text.
            let plain = Span::new(at, at + length).of(text).trim_end_matches(|c: char| c.is_whitespace() || is_mark(c));
            if !plain.is_empty() {
                member.extend_to(at + plain.len(), text);
            }
            at += length;
            if at == bytes.len() {
                return (Stage::Text(at), false);
            }
            match next_of(bytes.slice(at..)) {
                SpecialByte::Quote => return (Stage::Behind(at), true),
                SpecialByte::Escape(length) => {
                    member.doubled |= bytes.get(at + 1) == Some(&b'\\');
                    at += length;
                    // A line break at the end of a text may be trimmed off.
                    if !matches!(bytes.get(at - 1), Some(b'n' | b'r' | b't')) {
                        member.extend_to(at, text);
                    }
                }
                SpecialByte::Waits => return (Stage::Text(at), false),
                SpecialByte::Faulty => return (Stage::Over, false),
            }
        }
    }

    /// Decides whether a quote ends the text: it does if a comma and a key follow, whatever comes after them.
    fn read_after_quote(&mut self, quote: usize, text: &str) -> (Stage, bool) {
        let bytes = text.as_bytes();
        let comma = skip_whitespace(bytes, quote + 1);
        let next = skip_whitespace(bytes, comma + 1);
        match bytes.get(comma) {
            None => return (Stage::Behind(quote), false),
            Some(b',') => {}
            Some(_) => return (Stage::Over, false),
        }
        match key_at(text, next) {
            Poll::Ready(Some(_)) => {}
            Poll::Ready(None) => return (Stage::Over, false),
            Poll::Pending => return (Stage::Behind(quote), false),
        }
        if let Some(member) = self.members.last_mut() {
            member.sure.end = quote;
            member.end = Some(quote + 1);
        }
        (Stage::Key(next), true)
    }
}

impl LiveMember {
    /// Extends the certain part of the text to `end`. After an escaped backslash, only the end decides whether the text
    /// was escaped twice.
    fn extend_to(&mut self, end: usize, text: &str) {
        // If the closing quote is missing, a text such as `null` may stand for no value.
        let may_be_none = NONE.iter().any(|none| none.starts_with(Span::new(self.sure.start, end).of(text)));
        if !self.doubled && !may_be_none {
            self.sure.end = end;
        }
    }

    /// The certain part of the text that has not been emitted yet, decoded. The part before the offset `at` in the
    /// response has been emitted: `taken` decoded bytes.
    pub(super) fn text_from(&self, at: usize, taken: usize, text: &str) -> String {
        if self.end.is_some() && self.doubled {
            let raw = self.sure.of(text);
            let spelling = if is_escaped_twice(raw) { TextEncoding::EscapesTwice } else { TextEncoding::Json };
            return spelling.decode(raw).slice(taken..).to_owned();
        }
        let fresh = Span::new(at.max(self.sure.start), self.sure.end.max(at));
        TextEncoding::Json.decode(fresh.of(text)).into_owned()
    }
}

/// The key at `at`, after white space, with its colon; none if no text after it can make it one.
fn key_at(text: &str, at: usize) -> Poll<Option<keys::MemberKey<'_>>> {
    let bytes = text.as_bytes();
    let start = skip_whitespace(bytes, at);
    let is_word = |byte: &u8| byte.is_ascii_alphanumeric() || matches!(byte, b'_' | b'-' | b'.' | b'$');
    match bytes.get(start) {
        None => return Poll::Pending,
        Some(b'"') => {}
        Some(_) => return Poll::Ready(None),
    }
    let length = bytes.slice(start + 1..).iter().take_while(|byte| is_word(byte)).count();
    let end = start + 1 + length;
    match bytes.get(end) {
        None if length < keys::MAX_NAME_BYTES => return Poll::Pending,
        Some(b'"') if (1..keys::MAX_NAME_BYTES).contains(&length) => {}
        _ => return Poll::Ready(None),
    }
    match bytes.get(skip_whitespace(bytes, end + 1)) {
        None => Poll::Pending,
        Some(b':') => Poll::Ready(keys::whole(text, start).filter(|key| key.form == KeyForm::Whole)),
        Some(_) => Poll::Ready(None),
    }
}

/// The kind of a byte in a string that is not plain text.
enum SpecialByte {
    Quote,
    /// An escape of JSON of this many bytes.
    Escape(usize),
    /// An incomplete escape.
    Waits,
    /// A byte that valid JSON does not allow.
    Faulty,
}

fn next_of(rest: &[u8]) -> SpecialByte {
    let hex = |digits: &[u8]| {
        let digits = std::str::from_utf8(digits).ok().filter(|_| digits.iter().all(u8::is_ascii_hexdigit));
        digits.and_then(|digits| u16::from_str_radix(digits, 16).ok())
    };
    match rest {
        [b'"', ..] => SpecialByte::Quote,
        [b'\\', b'"' | b'\\' | b'/' | b'b' | b'f' | b'n' | b'r' | b't', ..] => SpecialByte::Escape(2),
        [b'\\', b'u', rest @ ..] => {
            let Some(unit) = rest.get(..4) else { return SpecialByte::Waits };
            match hex(unit) {
                None | Some(0xDC00..=0xDFFF) => SpecialByte::Faulty,
                Some(0xD800..=0xDBFF) => match rest.get(4..10) {
                    None => SpecialByte::Waits,
                    Some([b'\\', b'u', low @ ..]) if matches!(hex(low), Some(0xDC00..=0xDFFF)) => {
                        SpecialByte::Escape(12)
                    }
                    Some(_) => SpecialByte::Faulty,
                },
                Some(_) => SpecialByte::Escape(6),
            }
        }
        [b'\\'] => SpecialByte::Waits,
        _ => SpecialByte::Faulty,
    }
}

/// Whether this is punctuation that may belong to the text after a string.
fn is_mark(c: char) -> bool {
    matches!(c, ',' | ':' | '{' | '}' | '[' | ']')
}
