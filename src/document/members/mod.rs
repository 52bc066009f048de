//! Members: which blocks are in an answer that is one object?
//!
//! In: a response, whole or in chunks, and a dialect whose members are blocks.
//! Out: the parts of a [`Document`]: the blocks, the markup around them, and the findings.
//! Never: judges a block, or tolerates a fault without noting it.
//!
//! A valid object is read strictly: it is scanned, and its values are decoded when they are used. Only an invalid one
//! is read part by part. Both readers produce an [`ObjectTape`], from which the names of the dialect take their blocks.
//! Whether an object is valid is known only at its end. So everything is read once the response is complete; until
//! then, only its first texts are known ([`live`]), and up to where no block can have started.

mod bind;
mod cursor;
mod example_or_answer;
mod keys;
mod lenient;
mod live;
mod quote_end;
mod quotes;
mod stack;
mod stray_marks;
mod strict;
mod tape;
mod whitespace;

use super::announce::{EventDraft, StreamEvent};
use super::budget::StepBudget;
use super::leading_reasoning::{AnswerSoFar, LeadingReasoning, LeadingState};
use super::masks::Masks;
use super::{
    Block, BodyEncoding, ChunkedVec, Document, Ended, FindingKind, LeftOut, ReadContext, ReaderFinding, trimmed,
};
use crate::diagnostic::{Defect, Remark};
use crate::grammar::{Machine, RuleId};
use crate::json::{self, JsonFault};
use crate::program::{BlockId, Dialect, Limits, MaskKinds, ObjectShape};
use crate::surface::Role;
use crate::text::{SearchState, Slice, Span, beginning};
use example_or_answer::ObjectSurroundings;
use lenient::ObjectReading;
use live::Live;
use std::cell::Cell;
use tape::ObjectTape;
use whitespace::skip_whitespace;

/// The objects of one response, as far as they are known.
#[derive(Debug)]
pub(super) struct Objects {
    /// Where the first member that is a block may start.
    named: SearchState,
    complete: bool,
    live: Live,
    emitted: Emitted,
    /// Whether the prompt ended inside reasoning, if the host knows.
    left_open: Option<bool>,
    pub(super) read: Document,
}

/// How much has been announced so far.
#[derive(Debug, Default)]
struct Emitted {
    all: bool,
    /// The number of blocks that have opened, and how many of them have closed.
    opened: usize,
    closed: usize,
    /// Up to which offset the text of the last block has been announced, and how many bytes of it, decoded.
    at: usize,
    text: usize,
}

/// The most bytes that may be read in vain, as a multiple of the length of the response.
const MAX_IN_VAIN: usize = 8;

/// Reads the objects of one response for one dialect.
struct ObjectReader<'p> {
    /// Whether the prompt ended inside reasoning, if the host knows.
    left_open: Option<bool>,
    /// The opener of reasoning that is never closed.
    open_reasoning: Option<usize>,
    text: &'p str,
    dialect: &'p Dialect,
    outline: &'p ObjectShape,
    limits: &'p Limits,
    machine: Machine,
    /// No object starts before this offset.
    at: usize,
    blocks: ChunkedVec<Block>,
    found: ChunkedVec<ReaderFinding>,
    left_out: usize,
    /// Values with faults that were read as JSON, and their faults.
    reread: Vec<(Span, Vec<JsonFault>)>,
    /// Spans that are not text outside blocks: the objects, except for parts of them that belong to no block.
    markup: Vec<Span>,
    values: Cell<usize>,
    calls: usize,
    /// The last quotes, if they have been searched for.
    last: Option<quote_end::LastQuotes>,
    /// How many more bytes may be read strictly without finding a valid object: a hostile text has a brace every few
    /// bytes, each of which is known to be invalid only at the end of the text.
    wasted_budget: usize,
    surroundings: ObjectSurroundings,
    /// The end of the last entry, if a list that is the answer is open.
    list: Option<usize>,
    /// Whether objects in fences are only examples, because one outside fences is the answer.
    fences_are_examples: bool,
    stopped: bool,
}

/// An object that was read: its tape, its end, and its faults.
struct ReadObject {
    tape: ObjectTape,
    end: usize,
    /// Text inside the object that is not part of it.
    junk: Vec<Span>,
}

impl Objects {
    pub(super) fn new(left_open: Option<bool>) -> Self {
        let (live, emitted, read) = Default::default();
        Self { named: SearchState::NotBefore(0), complete: false, live, emitted, left_open, read }
    }

    pub(super) fn advance(
        &mut self,
        context: &ReadContext<'_>,
        outline: &ObjectShape,
        limits: &Limits,
        complete: bool,
    ) {
        if self.complete {
            return;
        }
        self.complete = complete;
        if complete {
            let reader = || ObjectReader::new(context, outline, limits, self.left_open);
            // Only the end may decide which object is the answer: then read once more with that knowledge.
            let again = || ObjectReader { fences_are_examples: true, ..reader() }.read_all();
            self.read = reader().read_all().or_else(again).unwrap_or_default();
            return;
        }
        self.live.advance(context, outline, limits, self.left_open);
        if let SearchState::NotBefore(known) = self.named {
            self.named = match outline.find_member(context.text.as_bytes().slice(known..)) {
                SearchState::FoundAt(at) => SearchState::FoundAt(known + at),
                SearchState::NotBefore(at) => SearchState::NotBefore(known + at),
            };
        }
    }

    /// The start of the first block that claims the answer.
    pub(super) fn claim(&self, dialect: &Dialect) -> Option<usize> {
        let is_needed = |name: &str| dialect.needs.iter().any(|need| dialect.names.matches_name(need, name));
        let needs = |id| {
            dialect.block(id).is_some_and(|block| !block.starts && (dialect.needs.is_empty() || is_needed(&block.name)))
        };
        let read = self.read.blocks.iter().find(|block| needs(block.id)).map(|block| block.span().start);
        // The text before the first needed block is emitted for every dialect, so an earlier block waits for the end.
        let first = self.live.members.first().filter(|_| self.live.before.is_none());
        read.or(first.filter(|first| needs(first.id)).map(|first| first.start))
    }

    /// Whether words are before `place`: text that is neither an object nor reasoning. Before the answer is complete,
    /// only an object at its start is known.
    pub(super) fn follows_words(&self, place: usize, text: &str) -> bool {
        self.complete && self.outside(Span::new(0, place)).any(|gap| !gap.of(text).trim().is_empty())
    }

    /// Whether `place` is outside every object.
    pub(super) fn is_outside(&self, place: usize, text: &str) -> bool {
        self.outside(Span::new(0, text.len())).any(|gap| gap.contains(place))
    }

    /// The text in `whole` that belongs to no object and no block.
    fn outside(&self, whole: Span) -> impl Iterator<Item = Span> {
        let mut taken: Vec<Span> = self.read.blocks.iter().map(Block::span).chain(self.read.markup.clone()).collect();
        taken.sort_unstable_by_key(|span| span.start);
        whole.without(&taken).collect::<Vec<_>>().into_iter()
    }

    /// Every block that starts before this offset is known.
    pub(super) fn certain_until(&self) -> usize {
        let (SearchState::FoundAt(named) | SearchState::NotBefore(named)) = self.named;
        let live = self.live.members.first().filter(|_| self.live.before.is_none()).map_or(0, |first| first.start + 1);
        if self.complete { usize::MAX } else { named.max(live) }
    }

    /// Announces what is certain so far, and everything once the response is complete.
    pub(super) fn announce(&mut self, context: &ReadContext<'_>, complete: bool, out: &mut Vec<EventDraft>) {
        if self.emitted.all {
            return;
        }
        if !complete {
            return self.announce_live(context, out);
        }
        self.emitted.all = true;
        let (mut at, mut answers) = (0, false);
        for (number, block) in self.read.blocks.iter().enumerate() {
            if number >= self.emitted.opened {
                for gap in Span::new(at, block.span().start).without(&self.read.markup) {
                    emit_outside(context, answers, gap, out);
                }
            }
            let Some(bound) = context.block(block.id) else { continue };
            answers |= bound.role.is_answer();
            if number >= self.emitted.opened {
                out.extend(context.opened(number, block));
            }
            if number >= self.emitted.closed {
                let before = if number + 1 == self.emitted.opened { self.emitted.text } else { 0 };
                // The result of a template is known only once the value has been judged.
                if bound.text.is_none() {
                    let text = block.encoding_of_member(context.text).decode(block.body().of(context.text));
                    let rest = text.slice(before..);
                    emit_text(context, (number, block.id, block.body().start), rest, out);
                }
                out.push(EventDraft::closed(number, block));
            }
            at = block.span().end;
        }
        for gap in Span::new(at, context.text.len()).without(&self.read.markup) {
            emit_outside(context, answers, gap, out);
        }
    }

    /// Announces the texts that are certain.
    fn announce_live(&mut self, context: &ReadContext<'_>, out: &mut Vec<EventDraft>) {
        let Self { live, emitted, .. } = self;
        let Some(first) = live.members.first() else { return };
        if emitted.opened == 0 {
            let mut at = beginning(context.text);
            if let Some(block) = &live.before {
                emit_outside(context, false, Span::new(at, block.span().start), out);
                out.extend(context.opened(0, block));
                emit_text(context, (0, block.id, block.body().start), block.body().of(context.text), out);
                out.push(EventDraft::closed(0, block));
                (emitted.opened, emitted.closed) = (1, 1);
                at = block.span().end;
            }
            emit_outside(context, false, Span::new(at, live.brace.min(first.start)), out);
        }
        let before = usize::from(live.before.is_some());
        for (number, member) in (before..).zip(&live.members).skip(emitted.closed.saturating_sub(before)) {
            if number >= emitted.opened {
                out.extend(context.opened_as(number, member.id, member.start, member.name));
                (emitted.opened, emitted.at, emitted.text) = (number + 1, 0, 0);
            }
            let fresh = member.text_from(emitted.at, emitted.text, context.text);
            emit_text(context, (number, member.id, emitted.at.max(member.sure.start)), &fresh, out);
            (emitted.at, emitted.text) = (member.sure.end, emitted.text + fresh.len());
            if let Some(end) = member.end {
                let event = StreamEvent::Closed { block: number, span: Span::new(member.start, end).into() };
                out.push(EventDraft { event, id: Some(member.id), start: member.start, whole: true, cut: false });
                emitted.closed = number + 1;
            }
        }
    }
}

/// Announces the text of a block, if there is any. The block is given as its number, its declaration, and its start.
fn emit_text(
    context: &ReadContext<'_>,
    (number, id, start): (usize, BlockId, usize),
    text: &str,
    out: &mut Vec<EventDraft>,
) {
    if !text.is_empty() {
        out.push(EventDraft::text(Some(number), Some(id), context.role_of(id), start, text.to_owned()));
    }
}

/// Announces text outside every block, if there is any: before the first block of an answer or, if `behind`, after it.
fn emit_outside(context: &ReadContext<'_>, behind: bool, gap: Span, out: &mut Vec<EventDraft>) {
    if !gap.is_empty() {
        out.push(EventDraft::text(
            None,
            None,
            context.role_outside(behind),
            gap.start,
            gap.of(context.text).to_owned(),
        ));
    }
}

impl<'p> ObjectReader<'p> {
    fn new(context: &ReadContext<'p>, outline: &'p ObjectShape, limits: &'p Limits, left_open: Option<bool>) -> Self {
        Self {
            left_open,
            open_reasoning: None,
            text: context.text,
            dialect: context.dialect,
            outline,
            limits,
            machine: Machine::with_depth(256),
            at: 0,
            blocks: ChunkedVec::default(),
            found: ChunkedVec::default(),
            left_out: 0,
            reread: Vec::new(),
            markup: Vec::new(),
            values: Cell::new(limits.values),
            calls: 0,
            last: None,
            wasted_budget: MAX_IN_VAIN * context.text.len(),
            surroundings: ObjectSurroundings::default(),
            list: None,
            fences_are_examples: false,
            stopped: false,
        }
    }

    /// Reads all objects. None if an object outside fences is found after objects in fences have been read as blocks:
    /// those are only examples.
    fn read_all(mut self) -> Option<Document> {
        let text = self.text;
        if beginning(text) > 0 {
            self.markup.push(Span::new(0, beginning(text)));
        }
        self.handle_leading_reasoning();
        self.surroundings = ObjectSurroundings::new(if self.at == 0 {
            start_of(text)
        } else {
            skip_whitespace(text.as_bytes(), self.at)
        });
        while !self.stopped
            && let Some((start, brace)) = self.find_start()
        {
            self.read(start, brace);
        }
        if self.surroundings.has_examples() {
            return None;
        }
        if let (Some(end), Some(rule)) = (self.list, self.outline.faults.missing_bracket) {
            self.find(ReaderFinding::new(FindingKind::Fault(rule), Span::new(end, end)));
        }
        Some(Document {
            blocks: self.blocks,
            markup: self.markup,
            found: self.found,
            left_out: LeftOut { count: self.left_out, ..LeftOut::default() },
            open_reasoning: self.open_reasoning,
            cut_quotations: self.surroundings.cut_quotations,
            ..Document::default()
        })
    }

    /// Skips reasoning before the answer. It is recognised by its opener, or because an object with a name that the
    /// dialect declares follows its closer.
    fn handle_leading_reasoning(&mut self) {
        let text = self.text;
        // Without an object behind it, only its opener makes a text reasoning. Most texts without one have none of these
        // bytes: that spares a fifth of the instructions of a run on plain text.
        let may_hold_object = memchr::memchr3(b'{', b'`', b'~', text.as_bytes()).is_some()
            || quote_end::names_member(self.outline, text, start_of(text), [ObjectShape::ROOT]);
        let left_open = self.left_open.or((!may_hold_object).then_some(false));
        let Some(mut leading) = LeadingReasoning::new(self.dialect, self.limits, left_open) else { return };
        let mut budget = StepBudget::new(self.limits);
        // An answer that is one object has no masks.
        let mut masks = Masks::new(MaskKinds::default());
        masks.find_outer_fence(text, true);
        let answer = AnswerSoFar { dialect: self.dialect, text, start: 0, complete: true };
        let closer = match leading.advance(&answer, &mut masks, &mut budget) {
            LeadingState::Opened(closer) => {
                self.open_reasoning = closer.is_none().then(|| start_of(text));
                closer
            }
            LeadingState::Closer(closer) => Some(closer).filter(|closer| {
                self.at = closer.end;
                let next = self.find_start();
                self.at = 0;
                next.is_some_and(|(start, brace)| {
                    let between = text.slice(closer.end..start);
                    between.trim().is_empty() && quote_end::opens_answer(self.outline, text, brace)
                })
            }),
            LeadingState::Over | LeadingState::Waits(_) => None,
        };
        let sought = leading.into_block();
        let Some((closer, bound)) = closer.zip(self.dialect.block(sought.id)) else { return };
        self.blocks.push(sought.end(start_of(text), closer, Ended::Whole, |inner| trimmed(inner, text, &bound.trim)));
        self.at = closer.end;
    }

    /// The next offset at which an object starts, and the offset at which its brace is, or is missing.
    fn find_start(&mut self) -> Option<(usize, usize)> {
        let text = self.text;
        let bytes = text.as_bytes();
        if self.at == 0 {
            self.at = start_of(text);
            // At the very start the brace may be missing; then a declared name shows that there is an object.
            if quote_end::names_member(self.outline, text, self.at, [ObjectShape::ROOT]) {
                return Some((self.at, self.at));
            }
        }
        loop {
            let offset = memchr::memchr3(b'{', b'`', b'~', bytes.get(self.at..)?)?;
            self.at += offset;
            if self.outline.grammar.first(self.outline.open).may_start(bytes.get(self.at..)?) {
                let (outline, mut steps) = (self.outline, self.limits.steps(text.len()));
                if let Some(brace) = self.machine.match_at(&outline.grammar, outline.open, text, self.at, &mut steps) {
                    let opens = match bytes.get(brace) {
                        // After a comment, a declared name is required, too.
                        Some(b'{') if bytes.get(skip_whitespace(bytes, brace + 1)) == Some(&b'/') => {
                            quote_end::opens_answer(self.outline, text, brace)
                        }
                        Some(b'{') => true,
                        _ => quote_end::names_member(self.outline, text, brace, [ObjectShape::ROOT]),
                    };
                    if opens {
                        return Some((self.at, brace));
                    }
                }
            }
            // A brace whose first key is damaged also opens an object, if the key has a name that the dialect declares.
            if bytes.get(self.at) == Some(&b'{') && quote_end::opens_damaged(self.outline, text, self.at) {
                return Some((self.at, self.at));
            }
            self.at += 1;
        }
    }

    /// Reads the object whose brace is at `brace`; the text from `start` to the brace belongs to it.
    fn read(&mut self, start: usize, brace: usize) {
        let text = self.text;
        let fenced = brace > start;
        let mut faults: Vec<(RuleId, Span)> = if fenced { self.faults_of_last_run() } else { Vec::new() };
        let around = self.surroundings.pass(text, start, brace);
        let strictly = match self.wasted_budget {
            0 => Err(0),
            _ => strict::read(text, brace, self.outline, self.limits),
        };
        let end = strictly.as_ref().map_or(brace + 1, |object| object.end);
        if let Some(object) = strictly.as_ref().ok().filter(|_| self.dialect.masks.marks)
            && let Some(behind) = self.surroundings.marks_end(text, Span::new(brace, end))
        {
            let bound = self.is_bound(object);
            return self.skip_example(Span::new(brace, end), bound, behind);
        }
        if let Some(end) = self.surroundings.span_end(text, brace, end) {
            let (object_end, bound) = match &strictly {
                Ok(object) => (object.end, self.is_bound(object)),
                Err(_) => (end, quote_end::opens_answer(self.outline, text, brace)),
            };
            self.wasted_budget = self.wasted_budget.saturating_sub(strictly.err().unwrap_or_default());
            return self.skip_example(Span::new(brace, object_end), bound, end);
        }
        self.surroundings.note_cut_quotation(text, Span::new(brace, end), self.dialect.masks.marks && strictly.is_ok());
        let reading = match strictly {
            Ok(object) => ObjectReading::whole(object),
            Err(vain) => self.read_leniently(brace, vain),
        };
        let object = reading.object;
        faults.extend(reading.faults);
        let first = self.blocks.len();
        let mut outside = object.junk.clone();
        // An object at the start of the answer is not an example.
        let sketched = is_sketched(text, &faults) && !self.surroundings.begins(brace);
        if self.fences_are_examples && around.has_example {
            let bound = !sketched && self.is_bound(&object);
            self.skip_example(Span::new(brace, object.end), bound, object.end.max(brace + 1));
        } else if !sketched {
            self.bind(&object, &mut outside);
        }
        self.at = object.end.max(brace + 1);
        self.surroundings.at = self.at;
        if let Some(what) = reading.stopped {
            self.found.push(ReaderFinding::new(what, Span::new(object.end, object.end)));
            self.stopped = true;
        }
        if self.blocks.len() == first {
            // No name binds a part of the object, so it is text.
            return;
        }
        self.doubt_calls(&faults, &object.junk, first);
        self.surroundings.note(around);
        self.left_out += reading.left_out;
        let mark = Span::new(start, if fenced { brace } else { (brace + 1).min(text.len()) });
        self.report_more_objects(mark, first);
        self.find_faults(faults, reading.nested, first);
        let end = if fenced { self.end_of_fence(object.end) } else { object.end };
        let (start, end) = if self.outline.entries { self.with_marks(start, end) } else { (start, end) };
        self.at = end.max(self.at);
        self.mark_up(Span::new(start, end), outside);
    }

    /// Notes which calls may have been cut short by missing or superfluous punctuation directly before or after them.
    fn doubt_calls(&mut self, faults: &[(RuleId, Span)], junk: &[Span], first: usize) {
        let guessed = |rule: RuleId| !json::is_certain(self.outline.grammar.rule_name(rule));
        let faults = faults.iter().filter(|(rule, _)| guessed(*rule)).map(|(_, at)| *at);
        let doubts: Vec<Span> = faults.chain(junk.iter().copied()).collect();
        if doubts.is_empty() {
            return;
        }
        for index in first..self.blocks.len() {
            let span = |index: usize| self.blocks.get(index).map(Block::span);
            let Some(own) = span(index) else { continue };
            let before = index.checked_sub(1).filter(|before| *before >= first).and_then(span).map_or(0, |one| one.end);
            let behind = span(index + 1).map_or(self.text.len(), |one| one.start);
            let beside =
                |at: &Span| (before <= at.start && at.end <= own.start) || (own.end <= at.start && at.end <= behind);
            let is_call = |block: &&mut Block| {
                let bound = self.dialect.block(block.id);
                bound.is_some_and(|bound| bound.role == Role::Call)
            };
            if doubts.iter().any(beside)
                && let Some(block) = self.blocks.get_mut(index).filter(is_call)
            {
                block.written = BodyEncoding::Salvaged;
            }
        }
    }

    /// Reads an invalid object leniently, after `vain` bytes were read to find that it is invalid.
    fn read_leniently(&mut self, brace: usize, vain: usize) -> ObjectReading {
        self.wasted_budget = self.wasted_budget.saturating_sub(vain);
        let last = *self.last.get_or_insert_with(|| quote_end::LastQuotes::of(self.text));
        lenient::read(self.text, brace, self.outline, self.limits, &mut self.machine, last)
    }

    /// Reports an object, with its first block, that is not the first of the answer, and its blocks from which something
    /// would follow: only one object is the answer.
    fn report_more_objects(&mut self, mark: Span, first: usize) {
        // Reasoning before the answer does not count as its first object.
        let begins =
            self.blocks.get(0).and_then(|block| self.dialect.block(block.id)).is_some_and(|block| block.starts);
        if first > usize::from(begins) && !self.outline.entries {
            self.find(ReaderFinding::of(Remark::FieldForm, mark, first));
            for index in first..self.blocks.len() {
                let Some(block) = self.blocks.get(index) else { continue };
                let role = self.dialect.block(block.id).map(|bound| bound.role);
                if matches!(role, Some(Role::Call | Role::Content)) {
                    let whole = block.span();
                    // Beyond the limit of findings, too, nothing may follow from it.
                    self.found.push(ReaderFinding::of(Defect::ForbiddenBlock, whole, index));
                }
            }
        }
    }

    /// Notes the faults of an object whose first block is `first`, and the objects in its strings.
    fn find_faults(&mut self, faults: Vec<(RuleId, Span)>, nested: Vec<Span>, first: usize) {
        let reread = std::mem::take(&mut self.reread);
        let is_inside = |at: &Span| reread.iter().any(|(value, _)| value.start <= at.start && at.end <= value.end);
        for (rule, span) in faults.into_iter().filter(|(_, span)| !is_inside(span)) {
            self.find(ReaderFinding::new(FindingKind::Fault(rule), span));
        }
        for fault in reread.into_iter().flat_map(|(_, faults)| faults) {
            self.find(ReaderFinding::new(FindingKind::PayloadFault(fault.id()), fault.span));
        }
        for span in nested {
            let holds = |block: &Block| block.span().start <= span.start && span.end <= block.span().end;
            let around = self.blocks.iter().skip(first).position(holds).map(|at| first + at);
            let what = FindingKind::Defect(Defect::NestedBlock);
            self.find(
                around.map_or(ReaderFinding::new(what, span), |around| ReaderFinding::inside(what, span, around)),
            );
        }
    }

    /// The span of an entry of a list that is the answer, with the bracket or comma before it, and the bracket after it
    /// if that closes the list.
    fn with_marks(&mut self, start: usize, end: usize) -> (usize, usize) {
        let before = self.text.slice(..start).trim_end();
        let start = if before.ends_with(['[', ',']) { before.len() - 1 } else { start };
        if before.ends_with('[') {
            self.list = Some(end);
        }
        let rest = self.text.slice(end..);
        let mark = rest.trim_start();
        let closes = mark.starts_with(']') && self.list.is_some();
        self.list = self.list.filter(|_| !closes).map(|_| end);
        (start, if closes { end + rest.len() - mark.len() + 1 } else { end })
    }

    /// The end of the fence around an object that ends at `end`; `end` if there is no fence.
    fn end_of_fence(&mut self, end: usize) -> usize {
        let Some(close) = self.outline.close else { return end };
        let mut steps = self.limits.steps(self.text.len());
        self.machine.match_at(&self.outline.grammar, close, self.text, end, &mut steps).unwrap_or(end)
    }

    /// Notes everything in an object that is not `outside` as markup.
    fn mark_up(&mut self, object: Span, mut outside: Vec<Span>) {
        let mut at = object.start;
        outside.sort_by_key(|span| span.start);
        for span in outside {
            if span.start >= at {
                self.markup.push(Span::new(at, span.start));
                at = span.end;
            }
        }
        self.markup.push(Span::new(at, object.end));
    }

    /// Skips an object that is only an example: it is text, up to `end`.
    fn skip_example(&mut self, object: Span, bound: bool, end: usize) {
        if bound {
            self.find(ReaderFinding::new(Remark::QuotedBlock, object));
        }
        self.at = end;
        self.surroundings.at = end;
    }

    fn faults_of_last_run(&self) -> Vec<(RuleId, Span)> {
        self.outline.grammar.faults(self.machine.captures()).collect()
    }

    fn find(&mut self, found: ReaderFinding) {
        if self.found.len() < self.limits.diagnostics {
            self.found.push(found);
        } else {
            self.left_out += 1;
        }
    }
}

/// Whether dots replace a value, so that the object is only a sketch.
fn is_sketched(text: &str, faults: &[(RuleId, Span)]) -> bool {
    let dots = |span: Span| !span.is_empty() && span.of(text).chars().all(|c| matches!(c, '.' | '…'));
    faults.iter().any(|(_, span)| dots(*span))
}

/// The start of a response, after a byte order mark and white space.
fn start_of(text: &str) -> usize {
    text.len() - text.slice(beginning(text)..).trim_start().len()
}
