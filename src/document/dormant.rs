//! Dormant fallbacks: from which mark on must a fallback read by itself?
//!
//! In: the response so far, and the events that the other dialects have announced.
//! Out: whether a mark has arrived that starts a quotation for only one of a fallback and its main dialect; the events
//! that a fallback that starts to read then does not announce again.
//! Never: reads a block.
//!
//! A fallback differs from its main dialect only in what is quoted. Most responses have no such mark before their first
//! block, and are not read twice.

use super::announce::{EventDraft, StreamEvent};
use crate::program::{Dialect, DialectId, MaskKinds};
use crate::text::Slice;
use smallvec::SmallVec;
use std::collections::VecDeque;

/// Fallbacks that have not started to read.
#[derive(Debug)]
pub(super) struct Dormant {
    pub(super) dialects: SmallVec<[DialectId; 1]>,
    fences: bool,
    spans: bool,
    /// How far the response has been searched for fence characters.
    searched: usize,
    pub(super) announced: AnnouncedCount,
}

/// How much has been announced: events, and the bytes of text after the last event that is no text.
#[derive(Debug, Default)]
pub(super) struct AnnouncedCount {
    events: usize,
    text: usize,
}

impl Dormant {
    /// These fallbacks, if each differs only in its fences and spans from its main dialect, one of those `asked`.
    pub(super) fn new(fallbacks: &[&Dialect], asked: &[&Dialect]) -> Option<Self> {
        let kinds = |masks: MaskKinds| MaskKinds { fences: false, spans: false, openers: false, ..masks };
        let (mut fences, mut spans) = (false, false);
        for fallback in fallbacks {
            let like = asked.iter().find(|one| Some(one.id) == fallback.fallback)?;
            if kinds(like.masks) != kinds(fallback.masks) {
                return None;
            }
            fences |= like.masks.fences != fallback.masks.fences;
            spans |= like.masks.spans != fallback.masks.spans;
        }
        let dialects = fallbacks.iter().map(|dialect| dialect.id).collect();
        Some(Self { dialects, fences, spans, searched: 0, announced: AnnouncedCount::default() })
    }

    /// Whether the response has a fence or code span that only one of a fallback and its main dialect quotes.
    pub(super) fn wakes(&mut self, text: &str) -> bool {
        let bytes = text.as_bytes();
        while let Some(offset) = memchr::memchr2(b'`', b'~', bytes.slice(self.searched..)) {
            let at = self.searched + offset;
            let marks = bytes.slice(at..);
            let run = marks.iter().take(3).take_while(|mark| Some(*mark) == marks.first()).count();
            if (self.spans && marks.first() == Some(&b'`')) || (self.fences && run == 3) {
                return true;
            }
            // More fence characters may follow the last ones.
            if at + run == bytes.len() {
                self.searched = at;
                return false;
            }
            self.searched = at + run;
        }
        self.searched = bytes.len();
        false
    }
}

impl AnnouncedCount {
    /// Counts these events.
    pub(super) fn add(&mut self, drafts: &[EventDraft]) {
        for draft in drafts {
            match &draft.event {
                StreamEvent::Text { text, .. } => self.text += text.len(),
                _ => (self.events, self.text) = (self.events + 1, 0),
            }
        }
    }

    /// Removes what has been announced from the events of another dialect. Texts may be split at different places.
    pub(super) fn take_out(&mut self, drafts: &mut VecDeque<EventDraft>) {
        while self.events > 0 {
            let Some(draft) = drafts.pop_front() else { return };
            self.events -= usize::from(!matches!(draft.event, StreamEvent::Text { .. }));
        }
        while self.text > 0 {
            let Some(draft) = drafts.front_mut() else { return };
            let StreamEvent::Text { text, .. } = &mut draft.event else {
                debug_assert!(false, "both dialects announce the same texts until one of them quotes");
                return;
            };
            let length = self.text.min(text.len());
            text.drain(..length);
            draft.start += length;
            self.text -= length;
            if draft.is_empty() {
                drafts.pop_front();
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check(marks: (bool, bool), pieces: &[&str], expected: &[bool]) {
        let (fences, spans) = marks;
        let announced = AnnouncedCount::default();
        let mut dormant = Dormant { dialects: SmallVec::new(), fences, spans, searched: 0, announced };
        let mut text = String::new();
        let mut wakes = |piece: &&str| {
            text.push_str(piece);
            dormant.wakes(&text)
        };
        assert_eq!(pieces.iter().map(&mut wakes).collect::<Vec<_>>(), expected);
    }

    #[test]
    fn a_mask_that_both_dialects_read_alike_wakes_no_dialect() {
        check((true, false), &["a `b` ``c``", " `", "`", "`"], &[false, false, false, true]);
        check((true, false), &["~~`", "``"], &[false, true]);
        check((true, false), &["~~", " ~"], &[false, false]);
        check((false, true), &["~~~", " `"], &[false, true]);
    }
}
