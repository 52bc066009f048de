//! The reader: which blocks does a response hold, and where does each end?
//!
//! In: a response, whole or in pieces, and the dialects that are read side by side.
//! Out: [`Document`].
//! Never: judges a block: what it means is the binding's to say, and what becomes of a defect the degradation table's.
//!
//! A block's end is looked for with its own ladder among the marks behind its opener. No rung looks beyond the next
//! opener of the same block, so that each mark is looked at once for each bound name at the most.

use super::announce::Told;
use super::marks::{Budget, Kind, Look, Mark, Marker, Opener, opener};
use super::masks::{Kinds, Masks};
use super::{Attribute, Block, Document, Ended, Found, Key, What};
use crate::diagnostic::{Defect, Remark};
use crate::grammar::{Machine, Progress};
use crate::program::{BlockId, Closer, Dialect, Family, Limits};
use crate::surface::{Anchor, Ending, Role, Trim};
use crate::text::Span;

/// One dialect reading one response.
#[derive(Debug)]
pub(super) struct Scanner<'p> {
    pub(super) dialect: &'p Dialect,
    limits: &'p Limits,
    pub(super) masks: Masks,
    pub(super) marker: Marker,
    machine: Machine,
    budget: Budget,
    /// The first mark that is not dealt with.
    pub(super) next: usize,
    /// Everything before this place belongs to blocks or lies outside them for good.
    at: usize,
    pub(super) open: Option<Open>,
    pub(super) blocks: Vec<Block>,
    pub(super) found: Vec<Found>,
    /// How often each kind was found that is about no block, and how many of them were left out.
    tally: Vec<(What, Option<usize>, usize)>,
    left_out: usize,
    calls: usize,
    /// Set when a limit is reached: the rest is text.
    stopped: bool,
    pub(super) told: Told,
}

/// A block whose end is being looked for.
#[derive(Debug, Clone)]
pub(super) struct Open {
    family: usize,
    pub(super) id: BlockId,
    name: Span,
    pub(super) opener: Span,
    attributes: Vec<Attribute>,
    empty: bool,
    /// The first mark behind the opener.
    pub(super) first: usize,
    /// Where the search among the marks goes on, and what it met on its way.
    search: usize,
    closer: Option<(Span, bool)>,
    masked_closer: Option<(Span, bool)>,
    next_block: Option<usize>,
    /// The next opener of the same block: no rung looks beyond it.
    bound: Option<usize>,
    payload: Fill,
    /// Up to where only white space stands behind the opener, before a payload.
    payload_from: usize,
    blank: Option<usize>,
    blank_from: usize,
    /// Up to where only blanks stand behind the line break at `blank_from`.
    blank_seen: usize,
}

/// What is known of a block's payload.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Fill {
    Unknown,
    Running,
    Whole(Span),
    Absent,
    Broken,
}

/// Where a block ends.
struct End {
    at: usize,
    closer: Option<(Span, bool)>,
    rung: usize,
    ending: Ending,
    payload: Option<Span>,
}

impl<'p> Scanner<'p> {
    pub(super) fn new(dialect: &'p Dialect, limits: &'p Limits) -> Self {
        let kinds = Kinds { fences: dialect.fences, spans: dialect.spans, wrapper: dialect.wrapper };
        Self {
            dialect,
            limits,
            masks: Masks::new(kinds),
            marker: Marker::new(limits),
            // A few places to come back to for each level of nesting.
            machine: Machine::with_depth(4 * limits.depth).capturing(captures(limits)),
            budget: Budget { used: 0, per_byte: limits.steps_per_byte },
            next: 0,
            at: 0,
            open: None,
            blocks: Vec::new(),
            found: Vec::new(),
            tally: Vec::new(),
            left_out: 0,
            calls: 0,
            stopped: false,
            told: Told::default(),
        }
    }

    /// Reads on as far as the text so far decides.
    pub(super) fn advance(&mut self, text: &str, complete: bool) {
        self.masks.advance(text, complete);
        if let Some((opener, _)) = self.masks.wrapper() {
            self.at = self.at.max(opener.end);
            self.marker.at = self.marker.at.max(opener.end);
        }
        loop {
            // Marks are made a few at a time and forgotten when they are dealt with: they are larger than what they mark.
            let most = self.marker.marks.len() + 4096;
            let look = Look { dialect: self.dialect, text, masks: &self.masks, complete };
            self.marker.advance(&look, &mut self.budget, most);
            let full = self.marker.marks.len() >= most;
            self.resolve(text, complete && !full);
            if !full || self.stopped {
                break;
            }
            if self.open.is_none() {
                self.marker.forget(self.next);
                self.next = 0;
            }
        }
        if self.marker.spent && !self.stopped {
            self.stopped = true;
            self.found.push(Found::new(What::Defect(Defect::TooCostly), Span::new(self.marker.at, self.marker.at)));
        }
    }

    fn end(&self, text: &str) -> usize {
        self.masks.wrapper().map_or(text.len(), |(_, closer)| closer.start)
    }

    fn resolve(&mut self, text: &str, complete: bool) {
        while !self.stopped {
            if let Some(mut open) = self.open.take() {
                let region = if complete { Some(self.end(text)) } else { None };
                match self.find_end(&mut open, text, region, usize::MAX) {
                    Some(end) => self.close(open, end, text, None, 0),
                    None => {
                        self.open = Some(open);
                        return;
                    }
                }
                continue;
            }
            let Some(mark) = self.marker.marks.get(self.next).copied() else { return };
            self.next += 1;
            if mark.start() < self.at {
                continue;
            }
            match mark.kind {
                _ if mark.masked => self.masked(&mark),
                Kind::Close => self.finds(Found::new(What::Defect(Defect::StrayCloser), mark.span())),
                Kind::Broken { .. } => {
                    self.finds(Found::new(What::Defect(Defect::MalformedOpener), mark.span()));
                }
                Kind::Open { family, id } if self.counts(&mark, id) => {
                    self.open = self.begin(&mark, usize::from(family), id, self.next, text);
                }
                Kind::Open { .. } => {}
            }
        }
    }

    fn masked(&mut self, mark: &Mark) {
        if matches!(mark.kind, Kind::Open { .. }) {
            self.finds(Found::new(What::Remark(Remark::MaskedBlock), mark.span()));
        }
    }

    /// Whether an opener counts where it stands.
    fn counts(&self, mark: &Mark, id: BlockId) -> bool {
        let anchor = self.block(id).map_or(Anchor::Anywhere, |block| block.anchor);
        anchor == Anchor::Anywhere || mark.leads_line
    }

    pub(super) fn block(&self, id: BlockId) -> Option<&'p crate::program::Block> {
        self.dialect.blocks.get(usize::from(id.0))
    }

    /// Begins the block that opens at `mark`, unless a limit forbids it.
    fn begin(&mut self, mark: &Mark, family: usize, id: BlockId, first: usize, text: &str) -> Option<Open> {
        let call = self.block(id).is_some_and(|block| block.role == Role::Call);
        if self.blocks.len() >= self.limits.blocks || (call && self.calls >= self.limits.calls) {
            self.found.push(Found::new(What::Defect(Defect::TooLarge), mark.span()));
            self.stopped = true;
            return None;
        }
        self.calls += usize::from(call);
        let rules = self.dialect.families.get(family)?;
        let Opener { attributes, empty } = self.opener(rules, mark, text);
        Some(Open {
            family,
            id,
            name: mark.name(),
            opener: mark.span(),
            attributes,
            empty,
            first,
            search: first,
            closer: None,
            masked_closer: None,
            next_block: None,
            bound: None,
            payload: Fill::Unknown,
            payload_from: mark.span().end,
            blank: None,
            blank_from: mark.span().end,
            blank_seen: 0,
        })
    }

    /// What the opener says beside its name: as it was kept, else read once more.
    fn opener(&mut self, family: &Family, mark: &Mark, text: &str) -> Opener {
        if let Some(opener) = self.marker.opener_of(mark) {
            return opener;
        }
        let mut machine = Machine::new();
        machine.start(&family.grammar, family.open, mark.start());
        // It has matched before, within the budget.
        let mut steps = u64::MAX;
        match machine.run(&family.grammar, text, true, &mut steps) {
            Progress::Matched(_) => opener(family, machine.captures()),
            _ => Opener::default(),
        }
    }

    /// Where the block ends, if the text so far says so. `region` is where its surroundings end, once that is known;
    /// `last` is the mark behind them.
    fn find_end(&mut self, open: &mut Open, text: &str, region: Option<usize>, last: usize) -> Option<End> {
        let block = self.block(open.id)?;
        if open.empty {
            return Some(End { at: open.opener.end, closer: None, rung: 0, ending: Ending::Closer, payload: None });
        }
        self.look_ahead(open, block, text, last);
        let seen = open.closer.is_some() || open.bound.is_some() || region.is_some();
        let region_end = region.map(|region| open.bound.map_or(region, |bound| bound.min(region))).or(open.bound);
        for (rung, endings) in block.ends.iter().enumerate() {
            let mut best: Option<(usize, Ending)> = None;
            for ending in endings {
                let place = match *ending {
                    Ending::Payload => {
                        self.fill(open, text, region);
                        match open.payload {
                            Fill::Whole(span) => Some(span.end),
                            Fill::Absent => {
                                let at = open.opener.end;
                                return Some(End { at, closer: None, rung: 0, ending: Ending::Payload, payload: None });
                            }
                            Fill::Broken => None,
                            Fill::Unknown | Fill::Running => return None,
                        }
                    }
                    Ending::Closer => match open.closer {
                        Some((closer, _)) => Some(closer.start),
                        None if seen => None,
                        None => return None,
                    },
                    Ending::MaskedCloser => match open.masked_closer {
                        Some((closer, _)) => Some(closer.start),
                        None if seen => None,
                        None => return None,
                    },
                    Ending::NextBlock => match open.next_block {
                        Some(start) => Some(start),
                        None if region.is_some() => None,
                        None => return None,
                    },
                    Ending::BlankLine => {
                        let known = open.next_block.or(region).unwrap_or(self.marker.at.min(self.masks.decided()));
                        blank_line(open, text, known);
                        match open.blank {
                            Some(at) => Some(at),
                            None if open.next_block.is_some() || region.is_some() => None,
                            None => return None,
                        }
                    }
                    Ending::End => Some(region_end?),
                };
                let within = |at: usize| *ending == Ending::Payload || region_end.is_none_or(|end| at <= end);
                if let Some(at) = place.filter(|at| within(*at))
                    && best.is_none_or(|(best, _)| at < best)
                {
                    best = Some((at, *ending));
                }
            }
            let Some((at, ending)) = best else { continue };
            return Some(match ending {
                Ending::Closer | Ending::MaskedCloser => {
                    let closer = if ending == Ending::Closer { open.closer } else { open.masked_closer };
                    End { at: closer.map_or(at, |(span, _)| span.end), closer, rung, ending, payload: None }
                }
                Ending::Payload => {
                    let Fill::Whole(payload) = open.payload else { return None };
                    End { at: payload.end, closer: None, rung, ending, payload: Some(payload) }
                }
                // White space before the place where it was cut belongs to what follows.
                _ => {
                    let body = Span::new(open.opener.end, at);
                    let end = body.start + body.of(text).trim_end().len();
                    End { at: end, closer: None, rung, ending, payload: None }
                }
            });
        }
        // A ladder without `end` ends where its surroundings do, all the same.
        region_end.map(|at| End { at, closer: None, rung: block.ends.len(), ending: Ending::End, payload: None })
    }

    /// Looks through the marks behind the opener, up to its closer or the next opener of the same block.
    fn look_ahead(&self, open: &mut Open, block: &crate::program::Block, text: &str, last: usize) {
        while open.closer.is_none() && open.bound.is_none() && open.search < last {
            let Some(mark) = self.marker.marks.get(open.search) else { return };
            open.search += 1;
            // What an attribute quotes opens and closes nothing.
            if mark.start() < open.opener.end {
                open.first = open.search;
                continue;
            }
            let anchored = block.anchor == Anchor::Anywhere || mark.leads_line;
            match mark.kind {
                Kind::Open { id, .. } if !mark.masked && self.counts(mark, id) => {
                    open.next_block = open.next_block.or(Some(mark.start()));
                    if id == open.id {
                        open.bound = Some(mark.start());
                    }
                }
                Kind::Close if anchored => {
                    let Some(first) = self.closes(block, open, mark, text) else { continue };
                    if !mark.masked {
                        open.closer = Some((mark.span(), first));
                    } else if open.masked_closer.is_none() {
                        open.masked_closer = Some((mark.span(), first));
                    }
                }
                _ => {}
            }
        }
    }

    /// Whether the mark closes the block, and with the first of its closers.
    fn closes(&self, block: &crate::program::Block, open: &Open, mark: &Mark, text: &str) -> Option<bool> {
        let name = mark.name().of(text);
        // A closer without a name closes whatever is open.
        if name.is_empty() {
            return Some(true);
        }
        let position = block.close.iter().position(|closer| match closer {
            Closer::Any => true,
            Closer::Own => self.dialect.names.same(name, open.name.of(text)),
            Closer::Word(word) => self.dialect.names.same(name, word),
        })?;
        Some(position == 0)
    }

    /// Runs the payload's rule right behind the opener.
    fn fill(&mut self, open: &mut Open, text: &str, region: Option<usize>) {
        let Some((family, rule)) =
            self.dialect.families.get(open.family).and_then(|family| Some((family, family.payload?)))
        else {
            open.payload = Fill::Absent;
            return;
        };
        let complete = region.is_some();
        let within = region.and_then(|region| text.get(..region)).unwrap_or(text);
        if open.payload == Fill::Unknown {
            let rest = within.get(open.payload_from..).unwrap_or_default();
            let Some(first) = rest.trim_start().bytes().next() else {
                open.payload_from = open.payload_from.max(within.len());
                if complete {
                    open.payload = Fill::Absent;
                }
                return;
            };
            if family.grammar.first(rule).bytes.get(usize::from(first)) != Some(&true) {
                open.payload = Fill::Absent;
                return;
            }
            self.machine.start(&family.grammar, rule, open.opener.end);
            open.payload = Fill::Running;
        }
        if open.payload == Fill::Running {
            open.payload = match self.budget.run(&mut self.machine, family, within, complete) {
                Progress::Matched(end) => Fill::Whole(Span::new(open.opener.end, end)),
                Progress::Failed | Progress::TooDeep | Progress::Spent => Fill::Broken,
                Progress::Pending => Fill::Running,
            };
        }
    }

    /// Takes in a block whose end is known, and what stands inside it.
    fn close(&mut self, open: Open, end: End, text: &str, parent: Option<usize>, depth: usize) {
        let Some(block) = self.block(open.id) else { return };
        let index = self.blocks.len();
        let closer = end.closer.map_or(Span::new(end.at, end.at), |(span, _)| span);
        let inner = Span::new(open.opener.end, closer.start.max(open.opener.end));
        let body = match end.payload {
            Some(payload) => payload,
            None => trimmed(inner, text, &block.trim),
        };
        let span = Span::new(open.opener.start, end.at);
        let ended = if open.empty || (end.rung == 0 && (end.ending != Ending::Payload || end.payload.is_some())) {
            Ended::Whole
        } else if end.rung == 0 {
            Ended::Bare
        } else if end.ending == Ending::End {
            Ended::Open
        } else {
            Ended::Cut
        };
        if ended.is_cut() {
            self.found.push(Found::of(What::Defect(Defect::UnclosedBlock), span, index));
        }
        if let Some((closer, false)) = end.closer {
            self.found.push(Found::of(What::Defect(Defect::WrongCloser), closer, index));
        }
        self.faults(&open, index);
        self.blocks.push(Block {
            id: open.id,
            family: open.family,
            name: open.name,
            span,
            opener: open.opener,
            inner,
            body,
            attributes: open.attributes,
            ended,
            parent,
        });
        if end.payload.is_none() && !open.empty {
            self.inside(index, block, inner, open.first, text, depth);
        }
        if parent.is_none() {
            self.at = span.end;
            while self.marker.marks.get(self.next).is_some_and(|mark| mark.start() < span.end) {
                self.next += 1;
            }
        }
    }

    /// What the grammar itself calls a fault of the opener.
    fn faults(&mut self, open: &Open, index: usize) {
        let Some(family) = self.dialect.families.get(open.family).filter(|family| !family.faults.is_empty()) else {
            return;
        };
        for attribute in &open.attributes {
            if let Key::Rule(rule) = attribute.key
                && family.faults.contains(&rule)
            {
                self.found.push(Found::of(What::Fault(rule), attribute.value, index));
            }
        }
    }

    /// Looks at the marks inside a closed block: what it holds is read, what else looks like a block stays its text.
    fn inside(
        &mut self,
        index: usize,
        block: &'p crate::program::Block,
        inner: Span,
        first: usize,
        text: &str,
        depth: usize,
    ) {
        // Contents are opaque, and so are the payloads of calls.
        if matches!(block.role, Role::Content | Role::Call) {
            return;
        }
        let last =
            first + self.marker.marks.get(first..).unwrap_or_default().partition_point(|mark| mark.start() < inner.end);
        let mut next = first;
        let mut at = inner.start;
        while next < last && !self.stopped {
            let Some(mark) = self.marker.marks.get(next).copied() else { return };
            next += 1;
            if mark.start() < at {
                continue;
            }
            match mark.kind {
                _ if mark.masked => self.masked(&mark),
                Kind::Open { family, id } if block.holds.contains(&id) && depth < self.limits.depth => {
                    let Some(mut open) = self.begin(&mark, usize::from(family), id, next, text) else { return };
                    let Some(end) = self.find_end(&mut open, text, Some(inner.end), last) else { return };
                    at = end.at;
                    let child = self.blocks.len();
                    self.found.push(Found::of(
                        What::Defect(Defect::NestedBlock),
                        Span::new(mark.start(), end.at),
                        child,
                    ));
                    self.close(open, end, text, Some(index), depth + 1);
                }
                Kind::Open { family, id } => {
                    self.finds(Found::inside(What::Defect(Defect::NestedBlock), mark.span(), index));
                    at = mark.span().end;
                    // It is text here, but nothing inside thinking or content counts, wherever that stands.
                    let closed =
                        self.block(id).is_some_and(|block| matches!(block.role, Role::Thinking | Role::Content));
                    if closed {
                        let Some(mut open) = self.begin(&mark, usize::from(family), id, next, text) else { return };
                        let Some(end) = self.find_end(&mut open, text, Some(inner.end), last) else { return };
                        at = end.at;
                    }
                }
                Kind::Close | Kind::Broken { .. } => {}
            }
        }
    }

    /// Whether the block at `index` claims the answer for this dialect.
    pub(super) fn claims(&self, id: BlockId) -> bool {
        self.dialect.needs.is_empty() || self.dialect.needs.contains(&id)
    }

    /// Where the first block that claims the answer opens, if one did.
    pub(super) fn claim(&self) -> Option<usize> {
        let closed = self.blocks.iter().find(|block| block.parent.is_none() && self.claims(block.id));
        let open = self.open.as_ref().filter(|open| self.claims(open.id)).map(|open| open.opener.start);
        closed.map(|block| block.span.start).or(open)
    }

    /// Notes what is about no block of its own. What has been found often enough at one level is answered alike, so that
    /// it is counted from there on.
    fn finds(&mut self, found: Found) {
        let same =
            |(what, around, _): &&mut (What, Option<usize>, usize)| (*what, *around) == (found.what, found.around);
        match self.tally.iter_mut().find(same) {
            Some((.., count)) if *count >= self.limits.diagnostics => self.left_out += 1,
            Some((.., count)) => {
                *count += 1;
                self.found.push(found);
            }
            None => {
                // Levels follow each other: the oldest will not come again.
                if self.tally.len() >= 16 {
                    self.tally.retain(|(_, around, _)| around.is_none());
                }
                self.tally.push((found.what, found.around, 1));
                self.found.push(found);
            }
        }
    }

    /// Every block that opens before this place is known.
    pub(super) fn settled_until(&self) -> usize {
        // What stands behind an open block is known once its end is.
        let open = self.open.as_ref().map_or(usize::MAX, |open| open.opener.end);
        self.marker.at.min(self.masks.decided()).min(open)
    }

    /// What was read.
    pub(super) fn into_document(self, dialect: Option<usize>, bytes: usize) -> Document {
        let wrapper = self.masks.wrapper();
        Document {
            dialect,
            bytes,
            wrapper,
            blocks: self.blocks,
            found: self.found,
            left_out: self.left_out,
            masks: self.masks.into_found(&self.marker.void),
        }
    }
}

/// The most captures of an opener: a name, and an attribute, its key and its value as often as they may stand.
pub(super) fn captures(limits: &Limits) -> usize {
    8 + 3 * limits.fields
}

/// The part of `span` that its trims leave.
fn trimmed(span: Span, text: &str, trims: &[Trim]) -> Span {
    trims.iter().fold(span, |span, trim| match trim {
        Trim::WhiteSpace => span.trimmed(text),
        Trim::BlankLines => without_blank_lines(span, text),
    })
}

/// The part of `span` without lines that hold nothing but white space, at both ends.
fn without_blank_lines(span: Span, text: &str) -> Span {
    let body = span.of(text);
    let blank = body.len() - body.trim_start().len();
    let start = body.get(..blank).and_then(|blank| blank.rfind('\n')).map_or(0, |at| at + 1);
    let last = body.trim_end().len().max(start);
    let rest = body.get(last..).unwrap_or_default();
    let line = rest.split('\n').next().unwrap_or_default();
    let end = last + line.strip_suffix('\r').unwrap_or(line).len();
    Span::new(span.start + start, span.start + end)
}

/// Looks for the first blank line behind the opener, up to `known`.
fn blank_line(open: &mut Open, text: &str, known: usize) {
    let bytes = text.as_bytes();
    while open.blank.is_none() {
        let rest = bytes.get(open.blank_from..known).unwrap_or_default();
        let Some(offset) = memchr::memchr(b'\n', rest) else {
            open.blank_from = open.blank_from.max(known);
            return;
        };
        let line = open.blank_from + offset;
        let after = bytes.get(open.blank_seen.max(line + 1)..known).unwrap_or_default();
        match after.iter().find(|byte| !matches!(byte, b' ' | b'\t' | b'\r')) {
            Some(b'\n') => open.blank = Some(line),
            Some(_) => open.blank_from = line + 1,
            // The next line has not come whole.
            None => {
                open.blank_from = line;
                open.blank_seen = known;
                return;
            }
        }
    }
}
