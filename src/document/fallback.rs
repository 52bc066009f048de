//! Fallback: which dialect reads a response in which no other dialect finds a block?
//!
//! In: the response in chunks, the dialects of a mode, and those of them that are fallbacks.
//! Out: [`Readers`], with the document of the dialect that reads the response, and the events that are certain.
//! Never: lets a fallback read a response that another dialect can read, unless the response begins with a quotation in
//! which a block opens.
//!
//! A fallback reads blocks that its main dialect only quotes. Whether it is needed is known once another dialect has
//! found a block that may be an answer, or else at the end. Until then both read, from the first text that they read
//! differently, and the events that both announce are emitted. Models that put a whole answer into a code fence do so
//! from its first line: such a response goes to the fallback at once, so that it can be announced as it arrives.

use super::announce::{EventDraft, StreamEvent};
use super::budget::{Arrived, StepBudget};
use super::dialect_selector::{DialectSelector, FIRST_WINDOW_BYTES, Tried};
use super::dormant::{AnnouncedCount, Dormant};
use super::masks::{Masks, Openers, Quotes, is_masked, opening_fence};
use super::{Document, Mask, Trial};
use crate::program::{Dialect, DialectId, Limits, TextRole};
use crate::text::{Slice, Span};
use smallvec::SmallVec;
use std::collections::VecDeque;
use std::task::{Poll, ready};

/// The dialects that read a response.
#[derive(Debug)]
pub(crate) struct Readers {
    first: DialectSelector,
    /// `None` if the mode has no fallback, if none is needed, or while it is dormant.
    fallback: Option<Box<Fallback>>,
    /// The fallbacks of the mode, while they need not read.
    dormant: Option<Dormant>,
    /// The results of the fallbacks, if none of them reads the response.
    spared: SmallVec<[Tried; 1]>,
    /// The events that the dialect that reads the response had emitted before it was chosen.
    ahead: VecDeque<EventDraft>,
    /// How much of the response the dialects have read.
    read: usize,
    limits: Limits,
    left_open: Option<bool>,
}

/// The fallbacks of a mode that are reading.
#[derive(Debug)]
struct Fallback {
    readers: DialectSelector,
    dialects: SmallVec<[DialectId; 1]>,
    /// The events of each side that the other side has not emitted so far.
    unmatched_events: [VecDeque<EventDraft>; 2],
    /// What was announced before the fallbacks started to read.
    announced: AnnouncedCount,
    /// Once a fallback reads the response: the results of the other dialects.
    passed: Option<SmallVec<[Tried; 1]>>,
}

impl Readers {
    /// Starts to read. `left_open`: whether the prompt ended inside reasoning, if the host knows.
    pub(crate) fn new<'p>(
        dialects: impl Iterator<Item = &'p Dialect> + Clone,
        limits: Limits,
        left_open: Option<bool>,
    ) -> Self {
        let mut fallbacks: SmallVec<[&Dialect; 1]> = dialects.clone().filter(|one| one.fallback.is_some()).collect();
        let asked: SmallVec<[&Dialect; 1]> = dialects.filter(|one| one.fallback.is_none()).collect();
        // A host may choose a fallback as the only dialect.
        let first = if asked.is_empty() { std::mem::take(&mut fallbacks) } else { asked };
        let dormant = if fallbacks.is_empty() { None } else { Dormant::new(&fallbacks, &first) };
        let reads = !fallbacks.is_empty() && dormant.is_none();
        Self {
            first: DialectSelector::new(first, limits, true, left_open),
            fallback: reads.then(|| Fallback::new(fallbacks, AnnouncedCount::default(), limits, left_open)),
            dormant,
            spared: SmallVec::new(),
            ahead: VecDeque::new(),
            read: 0,
            limits,
            left_open,
        }
    }

    /// Continues reading; `dialects` are those of the program, and `text` is the whole response so far.
    pub(crate) fn advance(&mut self, dialects: &[Dialect], text: &str, complete: bool) {
        // Read in windows, because most responses open a block soon, and are read only once from there on.
        let mut window = FIRST_WINDOW_BYTES;
        while text.len() <= self.limits.input && self.is_open() {
            let end = (self.read + window..text.len()).find(|end| text.is_char_boundary(*end)).unwrap_or(text.len());
            self.decide(dialects, text.get(..end).unwrap_or(text), complete && end == text.len());
            self.read = end;
            window *= 2;
            if end == text.len() {
                break;
            }
        }
        match &mut self.fallback {
            Some(fallback) if fallback.passed.is_some() => fallback.readers.advance(dialects, text, complete),
            None if self.dormant.is_none() => self.first.advance(dialects, text, complete),
            _ => {}
        }
    }

    /// Whether it is not known yet which side reads the response.
    fn is_open(&self) -> bool {
        self.dormant.is_some() || self.fallback.as_ref().is_some_and(|fallback| fallback.passed.is_none())
    }

    /// Continues reading with all dialects, and decides which side reads the response once that is certain.
    fn decide(&mut self, dialects: &[Dialect], text: &str, complete: bool) {
        self.first.advance(dialects, text, complete);
        if let Some(dormant) = &mut self.dormant {
            let wakes = dormant.wakes(text);
            if !wakes && self.first.found_answer(dialects) {
                return self.spare_fallback(dialects, Trial::Spared);
            }
            if !wakes && !complete {
                return;
            }
            if !wakes && self.first.found_nothing() {
                return self.spare_fallback(dialects, Trial::Passed);
            }
            self.wake_fallback(dialects);
        }
        let Some(fallback) = &mut self.fallback else { return };
        // If the response begins with a fence, the fallback may get it whatever other dialects find.
        if opening_fence(text) == Poll::Ready(None) && self.first.found_answer(dialects) {
            return self.spare_fallback(dialects, Trial::Spared);
        }
        fallback.readers.advance(dialects, text, complete);
        match fallback.begins(dialects, text) {
            Poll::Ready(Some((dialect, place))) => {
                fallback.readers.take(dialect);
                self.read_by_fallback(dialects, Trial::Begins(place), place);
            }
            Poll::Pending if !complete => {}
            _ if self.first.found_answer(dialects) => self.spare_fallback(dialects, Trial::Spared),
            _ if !complete => {}
            _ if fallback.readers.found_needed(dialects) => {
                self.read_by_fallback(dialects, Trial::Fallback, usize::MAX);
            }
            _ => self.spare_fallback(dialects, Trial::Passed),
        }
    }

    /// Makes the fallbacks read from the start of the response.
    fn wake_fallback(&mut self, dialects: &[Dialect]) {
        let Some(dormant) = self.dormant.take() else { return };
        let fallbacks = dormant.dialects.iter().filter_map(|id| id.of(dialects)).collect();
        self.fallback = Some(Fallback::new(fallbacks, dormant.announced, self.limits, self.left_open));
    }

    /// Gives the response to the fallback; the other dialects have found no block before `place`.
    fn read_by_fallback(&mut self, dialects: &[Dialect], trial: Trial, place: usize) {
        let Some(fallback) = &mut self.fallback else { return };
        let mut passed = self.first.passed(dialects, place);
        let chosen = fallback.readers.chosen();
        passed.extend(
            fallback
                .readers
                .passed(dialects, place)
                .into_iter()
                .map(|one| Tried { trial: if Some(one.dialect) == chosen { trial } else { one.trial }, ..one }),
        );
        fallback.passed = Some(passed);
        let [_, unmatched] = &mut fallback.unmatched_events;
        self.ahead = std::mem::take(unmatched);
    }

    /// Gives the response to the other dialects.
    fn spare_fallback(&mut self, dialects: &[Dialect], trial: Trial) {
        if let Some(dormant) = self.dormant.take() {
            let spared = |dialect| Tried { dialect, trial, seen: None, near: None };
            self.spared = dormant.dialects.into_iter().map(spared).collect();
        }
        let Some(mut fallback) = self.fallback.take() else { return };
        let place = if trial == Trial::Spared { 0 } else { usize::MAX };
        let spared = fallback.dialects.iter().copied().zip(fallback.readers.passed(dialects, place));
        self.spared = spared.map(|(dialect, one)| Tried { dialect, trial, ..one }).collect();
        let [unmatched, _] = &mut fallback.unmatched_events;
        self.ahead = std::mem::take(unmatched);
    }

    /// The side that reads the response, as far as that is known.
    fn side(&self) -> &DialectSelector {
        match &self.fallback {
            Some(fallback) if fallback.passed.is_some() => &fallback.readers,
            _ => &self.first,
        }
    }

    /// The dialect that reads the response, once that is known.
    pub(crate) fn chosen<'d>(&self, dialects: &'d [Dialect]) -> Option<&'d Dialect> {
        self.side().chosen()?.of(dialects)
    }

    /// The offset of the first mark outside every block that a strategy may remove from the text around it.
    pub(crate) fn doubtful(&self) -> Option<usize> {
        self.side().doubtful()
    }

    /// Adds the events that have become certain since the last call; none until the response is claimed, or has ended.
    /// `shows` is the name of the section that is the message.
    pub(crate) fn announce(
        &mut self,
        dialects: &[Dialect],
        text: &str,
        shows: Option<&str>,
        complete: bool,
        out: &mut Vec<EventDraft>,
    ) {
        out.extend(self.ahead.drain(..));
        match &mut self.fallback {
            None => {
                let before = out.len();
                self.first.announce(dialects, text, shows, complete, out);
                if let Some(dormant) = &mut self.dormant {
                    dormant.announced.add(out.slice(before..));
                }
            }
            Some(fallback) if fallback.passed.is_some() => {
                let [_, theirs] = &mut fallback.unmatched_events;
                let mut events = Vec::new();
                fallback.readers.announce(dialects, text, shows, complete, &mut events);
                theirs.extend(events);
                fallback.announced.take_out(theirs);
                out.extend(theirs.drain(..));
            }
            Some(fallback) => {
                let mut events = Vec::new();
                let [ours, theirs] = &mut fallback.unmatched_events;
                self.first.announce(dialects, text, shows, complete, &mut events);
                ours.extend(events.drain(..));
                fallback.readers.announce(dialects, text, shows, complete, &mut events);
                theirs.extend(events);
                fallback.announced.take_out(theirs);
                emit_common(ours, theirs, out);
            }
        }
    }

    /// The document of the whole response. Frees the state of reading.
    pub(crate) fn finish(&mut self, dialects: &[Dialect], text: &str) -> Document {
        self.advance(dialects, text, true);
        let passed = self.fallback.as_mut().and_then(|fallback| fallback.passed.as_mut()).map(std::mem::take);
        let mut document = match (passed, &mut self.fallback) {
            (Some(passed), Some(fallback)) => Document { tried: passed, ..fallback.readers.finish(dialects, text) },
            _ => self.first.finish(dialects, text),
        };
        document.tried.extend(self.spared.drain(..));
        let like = document.dialect.and_then(|id| id.of(dialects)).and_then(|dialect| dialect.fallback);
        if let Some(like) = like.and_then(|id| id.of(dialects)) {
            note_quotations(&mut document, like, text, &self.limits);
        }
        document
    }
}

impl Fallback {
    fn new(
        dialects: SmallVec<[&Dialect; 1]>,
        announced: AnnouncedCount,
        limits: Limits,
        left_open: Option<bool>,
    ) -> Box<Self> {
        Box::new(Self {
            dialects: dialects.iter().map(|dialect| dialect.id).collect(),
            readers: DialectSelector::new(dialects, limits, false, left_open),
            unmatched_events: Default::default(),
            announced,
            passed: None,
        })
    }

    /// The fallback that reads the response because a quotation at its start opens a block, and the place of that
    /// block, if there is such a fallback; pending while that is not known.
    fn begins(&self, dialects: &[Dialect], text: &str) -> Poll<Option<(DialectId, usize)>> {
        for dialect in self.dialects.iter().filter_map(|id| id.of(dialects)) {
            let like = dialect.fallback.and_then(|like| like.of(dialects));
            // A main dialect that removes a fence around the whole answer recognises it only at the end. If text
            // outside blocks is the message, the fence may be part of the message.
            let may = like.is_some_and(|like| like.masks.fences && !like.masks.around)
                && !dialect.masks.fences
                && dialect.text != TextRole::Message;
            if !may {
                continue;
            }
            let Some(first) = ready!(opening_fence(text)) else { continue };
            let Some(opens) = self.readers.opens_at(dialect.id, dialects, first) else { return Poll::Pending };
            if opens {
                return Poll::Ready(Some((dialect.id, first)));
            }
        }
        Poll::Ready(None)
    }
}

/// Notes what the dialect `like` quotes in a response that a fallback has read: blocks in these quotations are only
/// quoted, and the lines of a fence around a block are no text. It is unknown what a quotation that is never closed quotes.
fn note_quotations(document: &mut Document, like: &Dialect, text: &str, limits: &Limits) {
    let mut masks = Masks::new(like.masks);
    let mut budget = StepBudget::new(limits);
    let arrived = Arrived { bytes: text.len(), complete: true };
    if masks.find_outer_fence(text, true) {
        masks.advance(text, true, usize::MAX, Some(&mut Openers { dialect: like, budget: &mut budget, arrived }));
    }
    document.open_fences = masks.take_open_fences();
    document.open_section = masks.open_section();
    document.cut_quotations = masks.take_cut_quotations();
    let own = |mask: &Mask| is_masked(&document.masks, mask.span().start);
    document.fenced = masks.take_found(&[]).into_iter().filter(|mask| !own(mask)).collect();
    if like.text != TextRole::Message {
        document.markup.extend(frames(document, text));
        document.markup.sort_by_key(|span| span.start);
    }
}

/// The first and the last line of each fence in which a block opens.
fn frames(document: &Document, text: &str) -> Vec<Span> {
    let mut starts = document.blocks.iter().map(|block| block.span().start).peekable();
    let mut frames = Vec::new();
    for fence in document.fenced.iter().filter(|mask| mask.by == Quotes::Fence).map(|mask| mask.span()) {
        while starts.next_if(|start| *start < fence.start).is_some() {}
        let body = fence.of(text);
        if let Some((first, last)) = body.find('\n').zip(body.rfind('\n'))
            && starts.peek().is_some_and(|start| *start < fence.end)
        {
            frames.push(Span::new(fence.start, fence.start + first + 1));
            frames.push(Span::new(fence.start + last + 1, fence.end));
        }
    }
    frames
}

/// Emits the events that both sides have announced.
fn emit_common(ours: &mut VecDeque<EventDraft>, theirs: &mut VecDeque<EventDraft>, out: &mut Vec<EventDraft>) {
    while let (Some(one), Some(other)) = (ours.front_mut(), theirs.front_mut()) {
        if one.event == other.event {
            out.extend(ours.pop_front());
            theirs.pop_front();
            continue;
        }
        // Texts may be split at different places.
        let (
            StreamEvent::Text { block, role, text },
            StreamEvent::Text { block: same_block, role: same_role, text: other },
        ) = (&mut one.event, &mut other.event)
        else {
            return;
        };
        if (&*block, &*role) != (&*same_block, &*same_role) {
            return;
        }
        let length = text.len().min(other.len());
        if length == 0 || text.get(..length) != other.get(..length) {
            return;
        }
        let rest = text.split_off(length);
        let common = std::mem::replace(text, rest);
        out.push(EventDraft::text(*block, one.id, *role, one.start, common));
        one.start += length;
        other.drain(..length);
        for side in [&mut *ours, &mut *theirs] {
            if side.front().is_some_and(EventDraft::is_empty) {
                side.pop_front();
            }
        }
    }
}
