//! Quotation: which block is in a pair of quotation marks?
//!
//! In: a quotation mark, and a dialect whose blocks quotation marks may quote.
//! Out: the text from the opening to the closing mark, if a block opens directly after the first and ends directly
//! before the second, in one paragraph.
//! Never: pairs quotation marks around anything else, or searches the rest of a paragraph twice in vain.

use super::opener::Openers;
use super::{Mask, MaskSearch, Masks, Quotes};
use crate::document::mark::opener;
use crate::document::ready_if;
use crate::grammar::{Machine, Progress, RuleId};
use crate::program::{Dialect, Family};
use crate::text::{Slice, Span, boundary};
use std::task::{Poll, ready};

/// Each opening quotation mark, and the marks that may close it.
const PAIRS: [(&str, &[&str]); 24] = [
    ("\"", &["\""]),
    ("'", &["'"]),
    ("`", &["`"]),
    ("“", &["”"]),
    ("”", &["”"]),
    ("‟", &["”"]),
    ("„", &["“", "”", "‟"]),
    ("‘", &["’"]),
    ("’", &["’"]),
    ("‛", &["’"]),
    ("‚", &["‘", "’", "‛"]),
    ("«", &["»"]),
    ("»", &["«"]),
    ("‹", &["›"]),
    ("›", &["‹"]),
    ("「", &["」"]),
    ("『", &["』"]),
    ("《", &["》"]),
    ("〈", &["〉"]),
    ("〝", &["〞", "〟"]),
    ("﹁", &["﹂"]),
    ("﹃", &["﹄"]),
    ("｢", &["｣"]),
    ("＂", &["＂"]),
];

/// Whether a quotation mark may start with this byte.
pub(super) fn may_start(byte: u8) -> bool {
    matches!(byte, b'"' | b'\'' | b'`' | 0xC2 | 0xE2 | 0xE3 | 0xEF)
}

/// The length in bytes of a quotation mark with this first byte.
fn length(start: u8) -> usize {
    match start {
        0xE2 | 0xE3 | 0xEF => 3,
        0xC2 => 2,
        _ => 1,
    }
}

/// Whether this byte may be the last one of a quotation mark or of a space of several bytes, or part of either.
fn may_end(byte: u8) -> bool {
    matches!(byte, b'"' | b'\'' | b'`' | 0x80..)
}

/// The start, not before `from`, of a possible quotation mark that ends at `end`, if only with the bytes that follow; a
/// space may be between the mark and `end`.
fn mark_before(bytes: &[u8], from: usize, end: usize) -> Option<usize> {
    // Fast path: before most openers there is a line break, or a space after a word.
    let before = |back: usize| end.checked_sub(back).and_then(|at| bytes.get(at)).copied().unwrap_or_default();
    if !may_end(before(1)) && (before(1) != b' ' || !may_end(before(2))) {
        return None;
    }
    let starts = |end: usize| (1..=3).filter_map(move |back| end.checked_sub(back));
    let mark = |end: usize| {
        let is_mark = |byte: u8, at: usize| may_start(byte) && at + length(byte) >= end;
        starts(end).find(|at| *at >= from && bytes.get(*at).is_some_and(|byte| is_mark(*byte, *at)))
    };
    let is_blank = |at: &usize| {
        let behind = bytes.slice(*at..end);
        BLANKS.iter().any(|blank| blank.encode_utf8(&mut [0; 4]).as_bytes().starts_with(behind))
    };
    starts(end).filter(is_blank).find_map(mark).or_else(|| mark(end))
}

/// The longest payload, in bytes, that quotation marks quote: before each of many marks, another payload could start
/// that never ends.
const MAX_PAYLOAD_BYTES: usize = 4096;

/// The search for the block after a quotation mark.
#[derive(Debug)]
pub(super) struct Quoting {
    machine: Machine,
    /// The offset of the quotation mark.
    at: usize,
    family: usize,
    runs: bool,
    /// The end of the opener after the mark, once that is known.
    opened: Option<usize>,
    empty: bool,
    /// The end of the payload or closer that was read last, while the text after it is not known.
    ended: Option<usize>,
    /// How far closers have been searched for.
    seen: usize,
    /// Whether the text ended where the partner of the mark could still follow.
    cut: bool,
    /// By kind of quotation mark and family: no closer directly precedes a closing mark before this offset.
    absent: Vec<((usize, usize), usize)>,
}

impl Default for Quoting {
    fn default() -> Self {
        Self {
            // A payload may contain any number of values.
            machine: Machine::new(),
            at: usize::MAX,
            family: 0,
            runs: false,
            opened: None,
            empty: false,
            ended: None,
            seen: 0,
            cut: false,
            absent: Vec::new(),
        }
    }
}

/// The kind of the quotation mark at `at`, if there is one.
fn kind_at(text: &str, at: usize) -> Option<usize> {
    let rest = text.get(at..)?;
    PAIRS.iter().position(|(open, _)| rest.starts_with(open))
}

/// The opening quotation mark of this kind, and the marks that close it.
fn pair(kind: usize) -> (&'static str, &'static [&'static str]) {
    PAIRS.get(kind).copied().unwrap_or_default()
}

/// The spaces that French puts inside its quotation marks.
const BLANKS: [char; 3] = [' ', '\u{a0}', '\u{202f}'];

/// The length of such a space at the start of a text, if this kind of quotation mark has one inside.
fn blank(kind: usize, text: &str) -> usize {
    let is_spaced = matches!(pair(kind).0, "«" | "‹");
    text.chars().next().filter(|first| is_spaced && BLANKS.contains(first)).map_or(0, char::len_utf8)
}

/// The punctuation of a sentence that many put inside its quotation marks.
const PUNCTUATION: [char; 12] = ['.', ',', ';', ':', '!', '?', '…', '。', '，', '、', '！', '？'];

/// The length of what may be between the end of a block and a closing mark of this kind.
fn inside_closer(kind: usize, text: &str) -> usize {
    let sign = text.chars().next().filter(|first| PUNCTUATION.contains(first)).map_or(0, char::len_utf8);
    sign + blank(kind, text.slice(sign..))
}

/// The start of the quotation mark directly before a text of one paragraph, and the end of its partner directly after
/// the text, if both are there.
pub(crate) fn marks_around(text: &str, quoted: Span) -> Option<(usize, usize)> {
    let (kind, start) = kind_before(text, quoted)?;
    let Poll::Ready(Some(behind)) = partner_at(kind, text, quoted.end, true) else { return None };
    Some((start, behind))
}

/// The start of the quotation mark directly before a text of one paragraph, if all text ends before its partner.
pub(crate) fn open_mark(text: &str, quoted: Span) -> Option<usize> {
    let (kind, start) = kind_before(text, quoted)?;
    let rest = text.slice(quoted.end..);
    (rest.len() == inside_closer(kind, rest)).then_some(start)
}

/// The kind and the start of the quotation mark directly before a text of one paragraph.
fn kind_before(text: &str, quoted: Span) -> Option<(usize, usize)> {
    let before = text.get(..quoted.start)?;
    let opens = |before: &str| PAIRS.iter().position(|(open, _)| before.ends_with(open));
    let spaced = || {
        let before = before.strip_suffix(BLANKS)?;
        let kind = opens(before).filter(|kind| blank(*kind, " ") > 0)?;
        Some((kind, before.len()))
    };
    let (kind, end) = opens(before).map(|kind| (kind, before.len())).or_else(spaced)?;
    (!contains_blank_line(quoted.of(text))).then_some((kind, end - pair(kind).0.len()))
}

/// Whether a paragraph ends in this text.
fn contains_blank_line(text: &str) -> bool {
    let mut lines = text.split('\n').skip(1).peekable();
    std::iter::from_fn(|| lines.next().filter(|_| lines.peek().is_some())).any(|line| line.trim().is_empty())
}

/// The end of the closing mark of this kind at `at`, if there is one; pending while no text has arrived there.
fn partner_at(kind: usize, text: &str, at: usize, complete: bool) -> Poll<Option<usize>> {
    let at = at + inside_closer(kind, text.slice(at..));
    let rest = text.slice(at..);
    if rest.is_empty() {
        return ready_if(complete, None);
    }
    Poll::Ready(pair(kind).1.iter().find(|close| rest.starts_with(**close)).map(|close| at + close.len()))
}

impl Masks {
    /// The first offset before `limit` at which a mask may start. Quotation marks count only before a possible opener:
    /// most of them are apostrophes, or before a word.
    pub(super) fn next_mark_or_quotation(&self, bytes: &[u8], limit: usize, dialect: &Dialect) -> Option<usize> {
        let before = bytes.slice(..limit);
        let mut from = self.decided;
        while let Some(offset) = dialect.mask_starts.find(before.get(from..)?) {
            let at = from + offset;
            if let Some(mark) = mark_before(bytes, self.decided, at) {
                return Some(mark);
            }
            if self.kinds.may_start(*before.get(at)?) {
                return Some(at);
            }
            from = at + 1;
        }
        // A possible opener may follow the last quotation mark.
        mark_before(bytes, self.decided, limit)
    }

    /// The text that the quotation mark at `at` quotes, if it quotes any.
    pub(super) fn quotation_at(
        &mut self,
        text: &str,
        at: usize,
        complete: bool,
        openers: Option<&mut Openers<'_>>,
    ) -> MaskSearch {
        let Some((kind, openers)) = kind_at(text, at).zip(openers) else { return MaskSearch::Absent };
        let Some(mut quoting) = self.quoting.take() else { return MaskSearch::Absent };
        if quoting.at != at {
            quoting.at = at;
            (quoting.family, quoting.runs, quoting.opened, quoting.ended) = (0, false, None, None);
        }
        quoting.cut = false;
        let end = quoting.end(kind, text, complete, openers);
        if quoting.cut && matches!(end, Poll::Ready(None)) {
            self.cut_quotations.push(at);
        }
        self.quoting = Some(quoting);
        match end {
            Poll::Ready(Some(end)) => MaskSearch::Found(Mask::new(Span::new(at, end), Quotes::Marks)),
            Poll::Ready(None) => MaskSearch::Absent,
            Poll::Pending => MaskSearch::Pending,
        }
    }
}

impl Quoting {
    /// The end of the quotation, if there is one; pending while more text is needed.
    fn end(&mut self, kind: usize, text: &str, complete: bool, openers: &mut Openers<'_>) -> Poll<Option<usize>> {
        let Some(opened) = ready!(self.open(kind, text, complete, openers)) else { return Poll::Ready(None) };
        let Some(family) = openers.dialect.families.get(self.family) else { return Poll::Ready(None) };
        match (self.empty, family.close, family.payload) {
            (true, ..) => self.partner_at(kind, text, opened, complete),
            (_, Some(_), _) => self.closer(kind, family, text, complete, openers),
            (_, None, Some(payload)) => {
                let rest = text.slice(opened..).trim_start();
                if rest.is_empty() && !complete {
                    return Poll::Pending;
                }
                let start = text.len() - rest.len();
                let end = boundary(text, start + MAX_PAYLOAD_BYTES);
                let (quoted, complete) = (text.get(..end).unwrap_or(text), complete || end < text.len());
                match ready!(self.read(family, payload, start, quoted, complete, openers)) {
                    Some(end) if !contains_blank_line(Span::new(opened, end).of(text)) => {
                        self.partner_at(kind, text, end, complete)
                    }
                    _ => Poll::Ready(None),
                }
            }
            (_, None, None) => Poll::Ready(None),
        }
    }

    /// The end of the opener of a block directly after the quotation mark, if there is one.
    fn open(&mut self, kind: usize, text: &str, complete: bool, openers: &mut Openers<'_>) -> Poll<Option<usize>> {
        if self.opened.is_some() {
            return Poll::Ready(self.opened);
        }
        let behind = self.at + pair(kind).0.len();
        let start = behind + blank(kind, text.slice(behind..));
        if start == text.len() {
            return ready_if(complete, None);
        }
        while let Some(family) = openers.dialect.families.get(self.family) {
            // Fast path: most quotation marks are before words.
            let behind = text.as_bytes().slice(start..);
            match family.may_open(behind) {
                Some(true) => {}
                None if complete => {}
                None => return Poll::Pending,
                Some(false) => {
                    self.family += 1;
                    continue;
                }
            }
            if let Some(end) = ready!(self.read(family, family.open, start, text, complete, openers))
                && openers.dialect.names.find(self.name(family, text), Some(self.family)).is_some()
            {
                self.empty = opener(family, self.machine.captures()).empty;
                (self.opened, self.seen, self.ended) = (Some(end), end, None);
                return Poll::Ready(self.opened);
            }
            self.ended = None;
            self.family += 1;
        }
        Poll::Ready(None)
    }

    /// The end of the match of a rule at `start`, if there is one; pending while more text is needed.
    /// The end is stored until `ended` is taken.
    fn read(
        &mut self,
        family: &Family,
        rule: RuleId,
        start: usize,
        text: &str,
        complete: bool,
        openers: &mut Openers<'_>,
    ) -> Poll<Option<usize>> {
        if self.ended.is_some() {
            return Poll::Ready(self.ended);
        }
        if !std::mem::replace(&mut self.runs, true) {
            self.machine.start(&family.grammar, rule, start);
        }
        let progress = openers.budget.run(&mut self.machine, family, (text, complete), openers.arrived);
        if progress == Progress::Pending {
            return Poll::Pending;
        }
        self.runs = false;
        self.ended = if let Progress::Matched(end) = progress { Some(end) } else { None };
        Poll::Ready(self.ended)
    }

    /// The name in the text that was read last.
    fn name<'t>(&self, family: &Family, text: &'t str) -> &'t str {
        let name = self.machine.captures().iter().find(|capture| capture.rule() == family.name);
        name.map(|name| name.span().of(text)).unwrap_or_default()
    }

    /// The end of the closing mark after the first closer that directly precedes one, in this paragraph.
    fn closer(
        &mut self,
        kind: usize,
        family: &Family,
        text: &str,
        complete: bool,
        openers: &mut Openers<'_>,
    ) -> Poll<Option<usize>> {
        let (prefix, bytes) = (family.close_prefix.literal.as_bytes(), text.as_bytes());
        let (Some(close), Some(first)) = (family.close, prefix.first().copied()) else { return Poll::Ready(None) };
        let own = (kind, self.family);
        if let Some((_, until)) = self.absent.iter().find(|(kinds, until)| *kinds == own && self.opened < Some(*until))
        {
            self.cut = *until == bytes.len() && complete;
            return Poll::Ready(None);
        }
        while let Some(offset) = memchr::memchr2(first, b'\n', bytes.slice(self.seen..)) {
            let hit = self.seen + offset;
            self.seen = hit;
            let rest = bytes.slice(hit..);
            if rest.first() == Some(&b'\n') && first != b'\n' {
                let blank = rest.iter().skip(1).find(|byte| !matches!(byte, b' ' | b'\t' | b'\r'));
                match blank {
                    Some(b'\n') => break,
                    None if !complete => return Poll::Pending,
                    _ => self.seen += 1,
                }
                continue;
            }
            if !rest.starts_with(prefix) {
                if !complete && prefix.starts_with(rest) {
                    return Poll::Pending;
                }
                self.seen += 1;
                continue;
            }
            if let Some(end) = ready!(self.read(family, close, hit, text, complete, openers)) {
                let name = self.name(family, text);
                let closes = name.is_empty() || openers.dialect.names.is_closer(name, Some(self.family));
                if closes && let Some(end) = ready!(partner_at(kind, text, end, complete)) {
                    return Poll::Ready(Some(end));
                }
            }
            self.ended = None;
            self.seen += 1;
        }
        // A paragraph ends at a line break, or with the text.
        let until = if bytes.get(self.seen) == Some(&b'\n') { self.seen } else { bytes.len() };
        if until == bytes.len() && !complete {
            self.seen = until;
            return Poll::Pending;
        }
        self.absent.retain(|(kinds, _)| *kinds != own);
        self.absent.push((own, until));
        self.cut = until == bytes.len();
        Poll::Ready(None)
    }

    /// Like [`partner_at`]; notes whether the text ends before the partner.
    fn partner_at(&mut self, kind: usize, text: &str, at: usize, complete: bool) -> Poll<Option<usize>> {
        let partner = partner_at(kind, text, at, complete);
        let rest = text.slice(at..);
        self.cut = rest.len() == inside_closer(kind, rest);
        partner
    }
}
