//! Fences: which lines open or close one?
//!
//! In: the bytes of a response, and the offset of a run of fence characters.
//! Out: [`FenceLine`], as in CommonMark 0.31 §4.5, [`BeforeFence`], the text before it, and a fence behind other text.
//! Never: pairs fences.

use crate::text::{Slice, beginning};
use std::task::{Poll, ready};

/// A run of fence characters, and what is behind it on its line.
#[derive(Debug, Clone, Copy)]
pub(super) struct FenceLine {
    pub(super) length: usize,
    pub(super) bare: bool,
    /// Whether it may open a fence: no backtick follows the run.
    pub(super) opens: bool,
    /// Whether it may close a fence: nothing, or a tag, follows.
    pub(super) closes: bool,
    /// The end of the run of fence characters.
    pub(super) marks: usize,
    /// The end of the line, without its line break.
    pub(super) end: usize,
    pub(super) joined: JoinedTo,
}

/// How many bytes before a fence are examined.
const MAX_BEFORE: usize = 64;

/// The text before a run of fence characters on its line.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum BeforeFence {
    /// At most three spaces.
    Margin,
    /// More white space, as inside a list item.
    Indent,
    /// The marker of a list item, or blanks that Markdown does not take for an indentation.
    Item,
    /// The marker of a block quote.
    Quote,
}

/// What is between the margin and a fence on its line, except for the markers of lists and block quotes.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum JoinedTo {
    Nothing,
    /// A tag, or text that a fence of backticks with a word follows.
    Opener,
    /// Other text: the fence may only be mentioned.
    Text,
}

/// The markers of list items: those of Markdown, and others that models write.
const BULLETS: [char; 13] = ['-', '+', '*', '•', '‣', '◦', '▪', '●', '○', '■', '·', '–', '—'];

/// Whether a character is not visible at the start of a line.
fn is_blank(character: char) -> bool {
    character.is_whitespace() || matches!(character, '\u{200B}'..='\u{200D}' | '\u{2060}' | '\u{FEFF}')
}

impl BeforeFence {
    /// The text before the run at `at`, if the run may be a fence.
    pub(super) fn of(bytes: &[u8], at: usize) -> Option<Self> {
        if fence_start(bytes, at).is_some() {
            return Some(BeforeFence::Margin);
        }
        let (found, rest) = Self::markers(bytes, at)?;
        rest.is_empty().then_some(found)
    }

    /// What text that goes on from the start of the line up to `at` begins with, and the rest of the text.
    fn markers(bytes: &[u8], at: usize) -> Option<(Self, &str)> {
        let from = at.saturating_sub(MAX_BEFORE);
        let before = bytes.get(from..at)?;
        let line = match memchr::memrchr(b'\n', before) {
            Some(offset) => before.get(offset + 1..)?,
            None if from == 0 => before,
            None => return None,
        };
        let mut line = std::str::from_utf8(line).ok()?;
        let mut found = BeforeFence::Indent;
        loop {
            let rest = line.trim_start_matches(is_blank);
            if !line.slice(..line.len() - rest.len()).is_ascii() {
                found = BeforeFence::Item;
            }
            line = rest;
            let digits = line.bytes().take_while(u8::is_ascii_digit).count();
            let behind = match digits {
                0 => line.strip_prefix(BULLETS),
                1..=9 => line.slice(digits..).strip_prefix(['.', ')']),
                _ => None,
            };
            if let Some(behind) = behind.filter(|behind| behind.starts_with(is_blank)) {
                (line, found) = (behind, BeforeFence::Item);
            } else if let Some(quoted) = line.strip_prefix('>') {
                (line, found) = (quoted, if found == BeforeFence::Item { found } else { BeforeFence::Quote });
            } else {
                return Some((found, line));
            }
        }
    }

    /// What is before other text on the line of a fence. The closer of an indented fence may be indented too little.
    fn of_text(bytes: &[u8], at: usize) -> Self {
        match Self::markers(bytes, at) {
            None => BeforeFence::Margin,
            Some((BeforeFence::Indent, rest)) if fence_start(bytes, at - rest.len()).is_some() => BeforeFence::Margin,
            Some((BeforeFence::Indent, _)) => BeforeFence::Item,
            Some((found, _)) => found,
        }
    }

    /// Whether a fence with this text before it may be closed by one with `closer` before it. The closer of a fence in
    /// a list item may be indented too little, and one in a block quote may lack the marker; an indented fence outside a
    /// list item may be a quotation, which no fence at the margin closes.
    pub(super) fn is_closed_by(self, closer: Self) -> bool {
        match self {
            BeforeFence::Margin => closer == BeforeFence::Margin,
            BeforeFence::Indent => closer == BeforeFence::Indent,
            BeforeFence::Quote => matches!(closer, BeforeFence::Quote | BeforeFence::Margin),
            BeforeFence::Item => closer != BeforeFence::Item,
        }
    }
}

/// The fence line whose run starts at `at`, if it is one and is complete.
pub(super) fn fence_line(bytes: &[u8], at: usize, complete: bool) -> Option<FenceLine> {
    let mark = bytes.get(at).copied().filter(|byte| matches!(byte, b'`' | b'~'))?;
    let marks = run_end(bytes, at);
    let length = marks - at;
    let line = memchr::memchr(b'\n', bytes.slice(marks..)).map(|offset| marks + offset);
    let end = line.or_else(|| complete.then_some(bytes.len()))?;
    let info = bytes.slice(marks..end).trim_ascii_start();
    let opens = mark == b'~' || !info.contains(&b'`');
    let closes = matches!(info.first(), None | Some(b'<' | b'['));
    let joined = JoinedTo::Nothing;
    (length >= 3 && (opens || closes)).then_some(FenceLine {
        length,
        bare: info.is_empty(),
        opens,
        closes,
        marks,
        end,
        joined,
    })
}

/// How many bytes at the start of a response are searched for an opening fence and the text in it.
const MAX_OPENING: usize = 4096;

/// If a response begins with a fence, where the first text inside that fence starts; pending while that is not known.
pub(in crate::document) fn opening_fence(text: &str) -> Poll<Option<usize>> {
    let bytes = text.as_bytes();
    let head = bytes.get(..MAX_OPENING).unwrap_or(bytes);
    match first_in_fence(head, beginning(text)) {
        Poll::Pending if head.len() < bytes.len() => Poll::Ready(None),
        known => known,
    }
}

fn first_in_fence(bytes: &[u8], from: usize) -> Poll<Option<usize>> {
    let text_from = |at: usize| {
        let offset = bytes.slice(at..).iter().position(|byte| !byte.is_ascii_whitespace());
        offset.map_or(Poll::Pending, |offset| Poll::Ready(at + offset))
    };
    let first = ready!(text_from(from));
    let run = run_end(bytes, first);
    let is_mark = matches!(bytes.get(first), Some(b'`' | b'~'));
    if !is_mark || (run - first < 3 && run < bytes.len()) {
        return Poll::Ready(None);
    }
    if memchr::memchr(b'\n', bytes.slice(run..)).is_none() {
        return Poll::Pending;
    }
    let line = BeforeFence::of(bytes, first).and_then(|_| fence_line(bytes, first, false));
    match line.filter(|line| line.opens) {
        Some(line) => text_from(line.end).map(Some),
        None => Poll::Ready(None),
    }
}

/// A fence that opens after other text on its line, with a word or without; only white space follows it on the line.
/// After a tag, or with backticks and a word, it is certain to be one.
pub(super) fn glued_fence(
    bytes: &[u8],
    at: usize,
    marks: usize,
    word: usize,
    end: usize,
) -> Option<(BeforeFence, FenceLine)> {
    let before = bytes.slice(at.saturating_sub(MAX_BEFORE)..at);
    let before = before.iter().rev().find(|byte| !matches!(byte, b' ' | b'\t'));
    let bare = word == marks;
    let (before, joined) = match before {
        Some(b'>' | b']') => (BeforeFence::Margin, JoinedTo::Opener),
        _ if !bare && bytes.get(at) == Some(&b'`') => (BeforeFence::of_text(bytes, at), JoinedTo::Opener),
        _ => (BeforeFence::of_text(bytes, at), JoinedTo::Text),
    };
    let ends = bytes.get(end) == Some(&b'\n');
    ends.then_some((before, FenceLine { length: marks - at, bare, opens: true, closes: false, marks, end, joined }))
}

pub(super) fn run_end(bytes: &[u8], at: usize) -> usize {
    let mark = bytes.get(at);
    at + bytes.slice(at..).iter().take_while(|byte| Some(*byte) == mark).count()
}

/// The start of the line, if at most three spaces come before `at`.
pub(super) fn fence_start(bytes: &[u8], at: usize) -> Option<usize> {
    let before = bytes.slice(at.saturating_sub(4)..at);
    let spaces = before.iter().rev().take_while(|byte| **byte == b' ').count();
    let start = at - spaces;
    // A byte order mark is not text.
    let starts_line = matches!(bytes.get(..start), Some([] | [.., b'\n'] | [0xEF, 0xBB, 0xBF]));
    (spaces <= 3 && starts_line).then_some(start)
}

pub(super) fn line_break(bytes: &[u8], at: usize) -> usize {
    usize::from(bytes.get(at) == Some(&b'\n'))
}
