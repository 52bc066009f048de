//! Reader: which blocks are in a response, and where does each end?
//!
//! In: a response, whole or in chunks, and the dialect that reads it.
//! Out: [`Document`].
//! Never: judges a block: its declaration decides what it means, and the degradation table how a defect is handled.
//!
//! Blocks open at marks that count where they are; the ladder of each block decides where it ends ([`super::ladder`]).

use super::announce::{EventDraft, ReadSoFar};
use super::budget::Arrived;
use super::ladder::cut_closer;
use super::leading_reasoning::{AnswerSoFar, LeadingState};
use super::mark::{Mark, MarkKind, Opener, opener};
use super::marks::ExaminedText;
use super::masks::Openers;
use super::open_block::OpenBlock;
use super::reader_findings::ReaderFinding;
use super::scanner::DialectScanner;
use super::{Block, Document, Ended, Quoted, ReadContext};
use crate::diagnostic::{Defect, Remark};
use crate::grammar::Machine;
use crate::program::{self, BlockId, Closer, Dialect, DialectId, Family};
use crate::surface::{Anchor, Role};
use crate::text::{Slice, Span, beginning};
use smallvec::SmallVec;

/// How much text is searched for masks before it is searched for marks, so that it is still in the cache.
const BYTES_PER_PASS: usize = 16 << 10;

/// How many marks are made before they are handled and dropped: they are larger than the text that they mark.
const MARKS_PER_PASS: usize = 512;

impl DialectScanner {
    /// Continues reading, as far as the text so far is certain.
    pub(super) fn advance(&mut self, context: &ReadContext<'_>, complete: bool) {
        let text = context.text;
        self.arrived = Arrived { bytes: text.len(), complete };
        // Before that, it is unknown where the answer starts.
        if !self.masks.find_outer_fence(text, complete) {
            return;
        }
        let beginning = beginning(text);
        if self.at < beginning {
            self.at = beginning;
            self.marker.jump(beginning);
            self.markup.push(Span::new(0, beginning));
        }
        if let Some((opener, _)) = self.masks.outer_fence() {
            if !context.dialect.masks.fences && self.opens_block(opener, context) {
                self.masks.treat_outer_fence_as_text();
            } else {
                self.at = self.at.max(opener.end);
                self.marker.at = self.marker.at.max(opener.end);
            }
        }
        loop {
            let start = self.at;
            let state = match &mut self.leading_reasoning {
                Some(leading) => {
                    let answer = AnswerSoFar { dialect: context.dialect, text, start, complete };
                    leading.advance(&answer, &mut self.masks, &mut self.mask_steps)
                }
                None => LeadingState::Over,
            };
            let limit = match state {
                LeadingState::Over => usize::MAX,
                LeadingState::Waits(at) => at,
                LeadingState::Closer(closer) => closer.start,
                LeadingState::Opened(_) => start,
            };
            if state == LeadingState::Over {
                self.leading_reasoning = None;
            }
            self.handle_marks(context, complete, limit);
            if state == LeadingState::Over || !self.handle_leading_reasoning(state, context) {
                break;
            }
        }
        let mut openers = Openers { dialect: context.dialect, budget: &mut self.mask_steps, arrived: self.arrived };
        self.masks.advance(text, complete, usize::MAX, Some(&mut openers));
        if complete && self.open.is_none() && context.dialect.wraps {
            self.markup.extend(self.cut_wrapper(context));
        }
        if self.marker.spent && !self.stopped {
            self.stopped = true;
            self.found.push(ReaderFinding::new(Defect::TooCostly, Span::new(self.marker.at, self.marker.at)));
        }
    }

    /// The start of a wrapper's closer, if the answer was cut off inside the closer.
    fn cut_wrapper(&self, context: &ReadContext<'_>) -> Option<Span> {
        let open = self.last_wrapper(context)?;
        let bound = context.block(open.id)?;
        let rest = Span::new(self.at, self.end(context)).trimmed(context.text);
        let names = &context.dialect.names;
        let starts = |name: &str, rest: &str| name.get(..rest.len()).is_some_and(|start| names.same(start, rest));
        context.dialect.families.iter().filter(|family| family.close_prefix.name_follows).find_map(|family| {
            let prefix = family.close_prefix.literal.as_str();
            // The opener and the closer of a wrapper are each a block.
            if open.opener().of(context.text).starts_with(prefix) {
                return None;
            }
            let at = memchr::memrchr(*prefix.as_bytes().first()?, rest.of(context.text).as_bytes())?;
            let tail = Span::new(rest.start + at, rest.end);
            let name = match tail.of(context.text).strip_prefix(prefix) {
                None if prefix.starts_with(tail.of(context.text)) => "",
                name => name?,
            };
            let closes = |closer: &Closer| match closer {
                Closer::Own => starts(open.name().of(context.text), name),
                Closer::Word(word) => starts(word, name),
                Closer::Attribute(_) | Closer::Pattern(_) => false,
            };
            bound.close.iter().any(closes).then_some(tail)
        })
    }

    /// The last block that is the opener or closer of a wrapper.
    fn last_wrapper(&self, context: &ReadContext<'_>) -> Option<&Block> {
        let is_wrapper = |block: &&Block| context.block(block.id).is_some_and(|bound| bound.role == Role::Wrapper);
        self.blocks.iter().filter(is_wrapper).last()
    }

    /// Whether the fence around the whole answer is the opener of a block.
    fn opens_block(&mut self, fence: Span, context: &ReadContext<'_>) -> bool {
        let text = context.text;
        let look =
            ExaminedText { dialect: context.dialect, text, masks: &self.masks, complete: true, limit: text.len() };
        let blank = fence.of(text).len() - fence.of(text).trim_start().len();
        self.marker.opens_at(&look, fence.start + blank)
    }

    /// Finds marks up to `limit`, and handles them.
    fn handle_marks(&mut self, context: &ReadContext<'_>, complete: bool, limit: usize) {
        let text = context.text;
        loop {
            let most = self.marker.count() + MARKS_PER_PASS;
            let full = loop {
                let from = self.marker.at;
                let mut openers =
                    Openers { dialect: context.dialect, budget: &mut self.mask_steps, arrived: self.arrived };
                self.masks.advance(text, complete, from + BYTES_PER_PASS, Some(&mut openers));
                let look = ExaminedText { dialect: context.dialect, text, masks: &self.masks, complete, limit };
                self.marker.advance(&look, most);
                let full = self.marker.count() >= most;
                if full || self.marker.at == from || self.marker.at >= text.len() {
                    break full;
                }
            };
            self.resolve(context, complete && !full && limit >= context.text.len());
            self.marker.forget(self.open.as_ref().map_or(self.next, |open| open.first));
            if !full || self.stopped {
                return;
            }
        }
    }

    /// Adds the block that opened at the start of the answer, or gives it up; false while neither is certain.
    fn handle_leading_reasoning(&mut self, state: LeadingState, context: &ReadContext<'_>) -> bool {
        if self.open.is_some() || !self.blocks.is_empty() || self.stopped {
            self.leading_reasoning = None;
            return true;
        }
        let closer = match state {
            LeadingState::Closer(closer) if self.marker.at >= closer.start => Some(closer),
            LeadingState::Opened(closer) => closer,
            LeadingState::Closer(_) | LeadingState::Waits(_) | LeadingState::Over => return false,
        };
        let Some(leading) = self.leading_reasoning.take() else { return false };
        let sought = leading.into_block();
        let Some(bound) = context.block(sought.id) else { return false };
        let ended = if closer.is_some() { Ended::Whole } else { Ended::Open };
        let closer = closer.unwrap_or_else(|| Span::new(self.end(context), self.end(context)));
        let (family, mut around) = (sought.family(), None);
        let block = sought.end(self.at, closer, ended, |inner| {
            let (body, tag) = self.trimmed(inner, family, bound, context);
            around = tag;
            body
        });
        let index = self.blocks.len();
        self.found.unread();
        if ended == Ended::Open {
            self.found.push(ReaderFinding::of(Defect::UnclosedBlock, block.span(), index));
        }
        self.note_opener_faults(context, block.family(), &block.attributes, index);
        self.note_repeated_attributes(&block.attributes, index, context);
        self.note_enclosing_tag(around, index);
        self.blocks.push(block);
        self.at = closer.end;
        self.marker.jump(closer.end);
        if ended == Ended::Whole {
            self.note_end_of_reasoning();
        }
        true
    }

    fn end(&self, context: &ReadContext<'_>) -> usize {
        self.masks.outer_fence().map_or(context.text.len(), |(_, closer)| closer.start)
    }

    /// Whether a mark is part of the fence around the whole answer, and therefore neither opens nor closes a block.
    pub(super) fn is_around(&self, mark: &Mark, context: &ReadContext<'_>) -> bool {
        mark.span().end > self.end(context)
    }

    fn resolve(&mut self, context: &ReadContext<'_>, complete: bool) {
        let mut current = self.open.take();
        while !self.stopped {
            if let Some(open) = &mut current {
                let region = if complete { Some(self.end(context)) } else { None };
                let Some(end) = self.find_end(open, context, region, usize::MAX) else { break };
                let id = open.id;
                self.close(open, end, context, None, 0);
                self.note_block_end(id, context);
                current = None;
                continue;
            }
            let Some(mark) = self.marker.mark(self.next) else { break };
            self.next += 1;
            if mark.start() < self.at || self.is_around(&mark, context) {
                continue;
            }
            match self.quoted_outside(&mark, context, complete) {
                Quoted::No => {}
                Quoted::Until(end) => {
                    self.note_quoted_opener(&mark);
                    self.next = self.marker.first_at(self.next, end);
                    continue;
                }
                Quoted::Unknown => {
                    self.next -= 1;
                    break;
                }
            }
            match mark.kind {
                _ if mark.masked => self.note_quoted_opener(&mark),
                MarkKind::Close { family } if self.add_restarted_reasoning(&mark, family, context) => {}
                MarkKind::Close { .. } => self.note_stray_closer(&mark, context),
                MarkKind::Broken { .. } => {
                    self.add_finding(ReaderFinding::new(Defect::MalformedOpener, mark.span()));
                }
                MarkKind::Open { id, .. } if self.counts(context, &mark) || self.opens_again(&mark, id, context) => {
                    self.note_block_start(mark.start(), context);
                    current = self.begin(&mark, self.next, context);
                    let name = mark.name().of(context.text);
                    for (dialect, claim) in self.claims.iter_mut().filter(|(_, claim)| claim.is_none()) {
                        let dialect = dialect.of(context.dialects);
                        *claim = dialect.filter(|dialect| dialect.is_claimed_by(name)).map(|_| mark.start());
                    }
                }
                MarkKind::Open { .. } => {}
            }
        }
        self.open = current;
    }

    /// Whether a tag outside every block quotes this opener.
    fn quoted_outside(&mut self, mark: &Mark, context: &ReadContext<'_>, complete: bool) -> Quoted {
        let mut tags = self.tags;
        tags.pass(self.at);
        let quoted = self.in_attribute(&mut tags, mark, context, complete.then(|| self.end(context)));
        self.tags = tags;
        quoted
    }

    pub(super) fn note_quoted_opener(&mut self, mark: &Mark) {
        if matches!(mark.kind, MarkKind::Open { leaves: false, .. }) {
            self.add_finding(ReaderFinding::new(Remark::QuotedBlock, mark.span()));
        }
    }

    /// Whether an opener counts where it is.
    pub(super) fn counts(&self, context: &ReadContext<'_>, mark: &Mark) -> bool {
        let MarkKind::Open { id, leaves, .. } = mark.kind else { return false };
        // A word that closes a wrapper may be something else if no such wrapper is open.
        if leaves
            && !self.wrapping.contains(id)
            && context.dialect.names.find(mark.name().of(context.text), None) != Some(id)
        {
            return false;
        }
        let counts = |block: &program::BlockBinding| match block.anchor {
            Anchor::Anywhere => true,
            Anchor::Line => mark.starts_line(),
            Anchor::Paragraph => mark.starts_paragraph(),
            Anchor::Wrapper => {
                !self.wrapping.is_empty() && (mark.starts_line() || self.follows_block(mark, context.text))
            }
        };
        // Reasoning that may open the answer has been searched for there. Later, its opener is only mentioned in the
        // middle of a line.
        let starts = |block: &program::BlockBinding| block.role == Role::Thinking && mark.starts_line();
        context.block(id).is_some_and(|block| if block.starts { starts(block) } else { counts(block) })
    }

    /// Whether only white space comes between a mark and the block before it.
    fn follows_block(&self, mark: &Mark, text: &str) -> bool {
        !self.blocks.is_empty() && text.get(self.at..mark.start()).is_some_and(|between| between.trim().is_empty())
    }

    fn note_stray_closer(&mut self, mark: &Mark, context: &ReadContext<'_>) {
        // An empty mark only looks ahead, so it is no stray text.
        if mark.span().is_empty() {
            return;
        }
        // If closers count only at the start of a line, one elsewhere is prose that mentions it.
        let family = match mark.kind {
            MarkKind::Close { family } => context.dialect.families.get(usize::from(family)),
            _ => None,
        };
        if !mark.starts_line() && family.is_some_and(|family| family.closers_start_line) {
            return;
        }
        let name = mark.name().of(context.text);
        if name.is_empty() || self.closes_some(mark, context) {
            self.add_finding(ReaderFinding::new(Defect::StrayCloser, mark.span()));
        }
    }

    /// Whether a closer has a name that closes some block of a grammar that can read it.
    fn closes_some(&mut self, mark: &Mark, context: &ReadContext<'_>) -> bool {
        let MarkKind::Close { family: own } = mark.kind else { return false };
        let name = mark.name().of(context.text);
        let within = context.text.slice(..mark.span().end);
        context.dialect.families.iter().enumerate().any(|(index, family)| {
            context.dialect.names.is_closer(name, Some(index))
                && (index == usize::from(own)
                    || family.close.is_some_and(|close| {
                        let mut steps = self.limits.steps(mark.span().len());
                        let end = self.machine.match_at(&family.grammar, close, within, mark.start(), &mut steps);
                        end == Some(within.len())
                    }))
        })
    }

    /// Starts the block that opens at `mark`, unless a limit forbids it; `first` is the mark after it.
    pub(super) fn begin(&mut self, mark: &Mark, first: usize, context: &ReadContext<'_>) -> Option<Box<OpenBlock>> {
        let MarkKind::Open { family, id, .. } = mark.kind else { return None };
        let family = usize::from(family);
        let call = context.block(id).is_some_and(|block| block.role == Role::Call);
        if self.blocks.len() >= self.limits.blocks || (call && self.calls >= self.limits.calls) {
            self.found.push(ReaderFinding::new(Defect::TooLarge, mark.span()));
            self.stopped = true;
            return None;
        }
        self.calls += usize::from(call);
        let rules = context.dialect.families.get(family)?;
        let Opener { attributes, empty } = self.opener(rules, mark, context);
        Some(Box::new(OpenBlock::new(family, id, mark, attributes, empty, first)))
    }

    /// The parts of the opener besides its name: as stored, or read again.
    pub(super) fn opener(&mut self, family: &Family, mark: &Mark, context: &ReadContext<'_>) -> Opener {
        if let Some(opener) = self.marker.opener_of(mark) {
            return opener;
        }
        let mut machine = Machine::new();
        // No limit is needed: the opener has matched before, within the budget.
        let mut steps = i64::MAX;
        match machine.match_at(&family.grammar, family.open, context.text, mark.start(), &mut steps) {
            Some(_) => opener(family, machine.captures()),
            None => Opener::default(),
        }
    }

    /// Whether a block was found that may be an answer, which reasoning is not. It may still be open.
    pub(super) fn found_answer(&self, dialect: &Dialect) -> bool {
        let mut found = self.blocks.iter().map(|block| block.id).chain(self.open.as_ref().map(|open| open.id));
        found.any(|id| dialect.block(id).is_some_and(|block| block.role.is_answer()))
    }

    /// The start and the declaration of the first block, which may still be open.
    pub(super) fn first_block(&self) -> Option<(usize, BlockId)> {
        let closed = self.blocks.get(0).map(|block| (block.span().start, block.id));
        closed.or_else(|| self.open.as_ref().map(|open| (open.opener.start, open.id)))
    }

    /// Notes a finding that is not about a block, and may occur any number of times.
    pub(super) fn add_finding(&mut self, found: ReaderFinding) {
        self.found.count(found, self.limits.diagnostics);
    }

    /// Adds the events that have become certain since the last call.
    pub(super) fn announce(&mut self, context: &ReadContext<'_>, complete: bool, out: &mut Vec<EventDraft>) {
        let next = match &self.open {
            Some(open) => open.first,
            None => self.next,
        };
        let until = match self.marker.mark(next) {
            _ if complete => context.text.len(),
            // The answer may turn out to start with reasoning whose opener is missing.
            _ if self.open.is_none() && self.leading_reasoning.is_some() => 0,
            Some(mark) if self.open.is_some() => mark.start(),
            Some(mark) => mark.start().min(self.marker.certain_until()).min(self.masks.decided()),
            None => self.marker.certain_until().min(self.masks.decided()),
        };
        let until = if complete { until } else { until.min(self.certain_before_reasoning()) };
        let until = if complete { until } else { until.min(self.cut_closer(context)) };
        let (open, blocks) = (self.open.as_deref(), &self.blocks);
        let read = ReadSoFar { context: *context, blocks, open, markup: &self.markup, until, complete };
        self.announced.emit_more(&read, out);
    }

    /// Where the closer of the open block begins, if the answer may end inside it and in white space. A closer at the very
    /// end is a mark that is not certain yet.
    fn cut_closer(&self, context: &ReadContext<'_>) -> usize {
        if !context.text.ends_with(char::is_whitespace) {
            return usize::MAX;
        }
        let open = self.open.as_deref().and_then(|open| Some((open, context.block(open.id)?)));
        let closer = open.and_then(|(open, block)| cut_closer(open, block, context.text.len(), context));
        closer.map_or(usize::MAX, |closer| closer.start)
    }

    /// Every block that opens before this place is known.
    pub(super) fn certain_until(&self) -> usize {
        // The text after an open block is known once the end of the block is.
        let open = self.open.as_ref().map_or(usize::MAX, |open| open.opener.end);
        // A tag that has not ended yet may quote the next opener.
        let next = self.marker.mark(self.next).filter(|_| self.open.is_none() && !self.stopped);
        let next = next.map_or(usize::MAX, |mark| mark.start());
        self.marker.certain_until().min(self.masks.decided()).min(open).min(next)
    }

    /// Takes the result of reading.
    pub(super) fn take_document(&mut self, dialect: Option<DialectId>, bytes: usize) -> Document {
        let (found, left_out) = self.found.take();
        Document {
            dialect,
            reasoning_of: None,
            tried: SmallVec::new(),
            bytes,
            outer_fence: self.masks.outer_fence(),
            blocks: std::mem::take(&mut self.blocks),
            found,
            left_out,
            masks: self.masks.take_found(&self.marker.void),
            open_fences: self.masks.take_open_fences(),
            open_section: self.masks.open_section(),
            cut_quotations: self.masks.take_cut_quotations(),
            fenced: Vec::new(),
            open_reasoning: None,
            markup: std::mem::take(&mut self.markup),
            natives: None,
        }
    }
}
