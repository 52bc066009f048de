//! Fences: which lines open or close one?
//!
//! In: the bytes of a response, and the offset of a run of fence characters.
//! Out: [`FenceLine`], as in CommonMark 0.31 §4.5, [`BeforeFence`], the text before it, and a fence that directly
//! follows a tag.
//! Never: pairs fences.

use crate::text::{Slice, beginning};
use std::task::{Poll, ready};

/// A line that starts with a run of fence characters.
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
    /// The marker of a list item.
    Item,
}

impl BeforeFence {
    /// The text before the run at `at`, if the run may be a fence.
    pub(super) fn of(bytes: &[u8], at: usize) -> Option<Self> {
        if fence_start(bytes, at).is_some() {
            return Some(BeforeFence::Margin);
        }
        let from = at.saturating_sub(MAX_BEFORE);
        let before = bytes.get(from..at)?;
        let mut line = match memchr::memrchr(b'\n', before) {
            Some(offset) => before.get(offset + 1..)?,
            None if from == 0 => before,
            None => return None,
        };
        let mut found = BeforeFence::Indent;
        loop {
            line = line.trim_ascii_start();
            let digits = line.iter().take_while(|byte| byte.is_ascii_digit()).count();
            let marker = match line.get(digits..)? {
                [] if digits == 0 => return Some(found),
                [b'-' | b'+' | b'*', b' ' | b'\t', ..] if digits == 0 => 1,
                [b'.' | b')', b' ' | b'\t', ..] if (1..=9).contains(&digits) => digits + 1,
                _ => return None,
            };
            line = line.get(marker..)?;
            found = BeforeFence::Item;
        }
    }

    /// Whether a fence with this text before it may be closed by one with `closer` before it. The closer of a fence in
    /// a list item may be indented too little; an indented fence outside a list item may be a quotation, which no fence
    /// at the margin closes.
    pub(super) fn is_closed_by(self, closer: Self) -> bool {
        match self {
            BeforeFence::Margin => closer == BeforeFence::Margin,
            BeforeFence::Indent => closer == BeforeFence::Indent,
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
    (length >= 3 && (opens || closes)).then_some(FenceLine { length, bare: info.is_empty(), opens, closes, marks, end })
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

/// A fence that opens after other text on its line: after a tag, or with backticks and a word joined to the text
/// before. The word may be missing; only white space follows it on the line.
pub(super) fn glued_fence(bytes: &[u8], at: usize, marks: usize, word: usize, end: usize) -> Option<FenceLine> {
    let before = bytes.slice(at.saturating_sub(MAX_BEFORE)..at);
    let before = before.iter().rev().find(|byte| !matches!(byte, b' ' | b'\t'));
    let bare = word == marks;
    let is_glued = (!bare && bytes.get(at) == Some(&b'`')) || matches!(before, Some(b'>' | b']'));
    let ends = bytes.get(end) == Some(&b'\n');
    (is_glued && ends).then_some(FenceLine { length: marks - at, bare, opens: true, closes: false, marks, end })
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
