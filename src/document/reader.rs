//! The reader: which blocks does a response hold, and where does each end?
//!
//! In: a response, whole or in pieces, and the dialects that are read side by side.
//! Out: [`Document`].
//! Never: judges a block: what it means is the binding's to say, and what becomes of a defect the degradation table's.
//!
//! A block's end is looked for with its own ladder among the marks behind its opener. No rung looks beyond the next
//! opener of the same block, so that each mark is looked at once for each bound name at the most.

use super::announce::Told;
use super::edges::{fence_end, trimmed};
use super::marks::{Budget, Kind, Look, Mark, Marker, Opener, opener};
use super::masks::{Kinds, Masks};
use super::prelude::{Prelude, Stand};
use super::{Attribute, Block, Document, Ended, Found, Key, What, Written};
use crate::diagnostic::{Defect, Remark};
use crate::grammar::{Machine, Progress};
use crate::program::{BlockId, Closer, Dialect, Family, Limits};
use crate::surface::{Anchor, Ending, Role};
use crate::text::{Span, glob};

/// One dialect reading one response.
#[derive(Debug)]
pub(super) struct Scanner<'p> {
    pub(super) dialect: &'p Dialect,
    limits: &'p Limits,
    pub(super) masks: Masks,
    pub(super) marker: Marker,
    pub(super) prelude: Prelude,
    machine: Machine,
    budget: Budget,
    /// The first mark that is not dealt with.
    pub(super) next: usize,
    /// Everything before this place belongs to blocks or lies outside them for good.
    at: usize,
    pub(super) open: Option<Open>,
    /// Where the first block that claims the answer opens, if one did.
    pub(super) claim: Option<usize>,
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
    /// The closers that were met, the surest first, each with whether it is the first of `close`.
    closers: [Option<(Span, bool)>; 3],
    /// The last closer that does not stand where closers count.
    loose: Option<(Span, bool)>,
    masked_closer: Option<(Span, bool)>,
    next_block: Option<usize>,
    /// Whether that is where what surrounds the block ends.
    left: bool,
    /// The next opener of the same block: no rung looks beyond it.
    bound: Option<usize>,
    payload: Fill,
    /// Up to where only white space stands behind the opener, before a payload.
    payload_from: usize,
    blank: Option<usize>,
    blank_from: usize,
    /// Up to where only blanks stand behind the line break at `blank_from`.
    blank_seen: usize,
    /// The end of the opener's line, or up to where it was looked for.
    line: Result<usize, usize>,
}

impl Open {
    /// Whether no closer that may yet come is surer than the one that was met.
    fn sure(&self, block: &crate::program::Block) -> bool {
        let surest = block.close.iter().map(Closer::tier).min().unwrap_or_default();
        surest != Closer::LAST_TIER && self.closers.iter().take(surest + 1).any(Option::is_some)
    }

    /// The surest closer so far; of those before the next opener of the same block it is the one.
    fn closer(&self) -> Option<(Span, bool)> {
        self.closers.iter().flatten().next().copied()
    }

    /// Whether a mark stands on the line of the opener.
    fn shares_line(&mut self, at: usize, text: &str) -> bool {
        if let Err(from) = self.line {
            let between = text.as_bytes().get(from..at).unwrap_or_default();
            self.line = memchr::memchr(b'\n', between).map(|offset| from + offset).ok_or(at);
        }
        self.line.is_err()
    }
}

/// What is known of a block's payload.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Fill {
    Unknown,
    Running,
    Whole(Span),
    Absent,
    Broken,
    /// It is nested more deeply than the limits allow.
    TooDeep,
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
            prelude: Prelude::new(dialect),
            // A few places to come back to for each level of nesting.
            machine: Machine::with_depth(4 * limits.depth).capturing(captures(limits)),
            budget: Budget { used: 0, per_byte: limits.steps_per_byte },
            next: 0,
            at: 0,
            open: None,
            claim: None,
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
            let start = self.at;
            let stand = self.prelude.advance(self.dialect, text, start, complete, &mut self.budget);
            let limit = match stand {
                Stand::Over => usize::MAX,
                Stand::Waits(at) => at,
                Stand::Closer(closer) => closer.start,
                Stand::Opened(_) => start,
            };
            self.mark(text, complete, limit);
            if stand == Stand::Over || !self.pass_prelude(stand, text) {
                break;
            }
        }
        if self.marker.spent && !self.stopped {
            self.stopped = true;
            self.found.push(Found::new(What::Defect(Defect::TooCostly), Span::new(self.marker.at, self.marker.at)));
        }
    }

    /// Looks for marks up to `limit`, and deals with them.
    fn mark(&mut self, text: &str, complete: bool, limit: usize) {
        loop {
            // Marks are made a few at a time and forgotten when they are dealt with: they are larger than what they mark.
            let most = self.marker.marks.len() + 4096;
            let look = Look { dialect: self.dialect, text, masks: &self.masks, complete, limit };
            self.marker.advance(&look, &mut self.budget, most);
            let full = self.marker.marks.len() >= most;
            self.resolve(text, complete && !full && limit >= text.len());
            if !full || self.stopped {
                return;
            }
            if self.open.is_none() {
                self.marker.forget(self.next);
                self.next = 0;
            }
        }
    }

    /// Takes in the block that opened where the answer starts, or gives it up; false while neither is certain.
    fn pass_prelude(&mut self, stand: Stand, text: &str) -> bool {
        if self.open.is_some() || !self.blocks.is_empty() || self.stopped {
            self.prelude.give_up();
            return true;
        }
        let closer = match stand {
            Stand::Closer(closer) if self.marker.at >= closer.start => Some(closer),
            Stand::Opened(closer) => closer,
            Stand::Closer(_) | Stand::Waits(_) | Stand::Over => return false,
        };
        let Some((id, family, opener)) = self.prelude.block() else { return false };
        let Some(block) = self.block(id) else { return false };
        let start = Span::new(self.at, self.at);
        let (opener, name) = opener.unwrap_or((start, start));
        let end = closer.map_or(self.end(text), |closer| closer.end);
        let inner = Span::new(opener.end, closer.map_or(end, |closer| closer.start));
        let span = Span::new(opener.start, end);
        let ended = if closer.is_some() { Ended::Whole } else { Ended::Open };
        if closer.is_none() {
            self.found.push(Found::of(What::Defect(Defect::UnclosedBlock), span, self.blocks.len()));
        }
        let body = trimmed(inner, text, &block.trim);
        let attributes = Vec::new();
        self.blocks.push(Block {
            id,
            family,
            name,
            span,
            opener,
            inner,
            body,
            attributes,
            ended,
            parent: None,
            written: Written::Bound,
            value: None,
        });
        self.at = end;
        self.marker.jump(end);
        self.prelude.give_up();
        true
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
                Kind::Close => self.stray(&mark, text),
                Kind::Broken { .. } => {
                    self.finds(Found::new(What::Defect(Defect::MalformedOpener), mark.span()));
                }
                Kind::Open { family, id } if self.counts(&mark, id) => {
                    self.open = self.begin(&mark, usize::from(family), id, self.next, text);
                    if self.claims(mark.name().of(text)) {
                        self.claim.get_or_insert(mark.start());
                    }
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
        let counts = |block: &crate::program::Block| block.anchor == Anchor::Anywhere || mark.leads_line;
        // What opens where an answer starts opens nowhere else.
        self.block(id).is_some_and(|block| !block.starts && counts(block))
    }

    fn stray(&mut self, mark: &Mark, text: &str) {
        let name = mark.name().of(text);
        if name.is_empty() || self.dialect.names.is_closer(name) {
            self.finds(Found::new(What::Defect(Defect::StrayCloser), mark.span()));
        }
    }

    pub(super) fn block(&self, id: BlockId) -> Option<&'p crate::program::Block> {
        self.dialect.block(id)
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
            closers: [None; 3],
            loose: None,
            masked_closer: None,
            next_block: None,
            left: false,
            bound: None,
            payload: Fill::Unknown,
            payload_from: mark.span().end,
            blank: None,
            blank_from: mark.span().end,
            blank_seen: 0,
            line: Err(mark.span().end),
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
        if open.empty || block.role == Role::Wrapper {
            return Some(End { at: open.opener.end, closer: None, rung: 0, ending: Ending::Closer, payload: None });
        }
        self.look_ahead(open, block, text, last);
        let seen = open.sure(block) || open.bound.is_some() || region.is_some();
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
                            Fill::Broken | Fill::TooDeep => None,
                            Fill::Unknown | Fill::Running => return None,
                        }
                    }
                    Ending::Closer if !seen => return None,
                    Ending::Closer => open.closer().map(|(closer, _)| closer.start),
                    // A closer that counts is no loose one, but the last of all.
                    Ending::LastLooseCloser if !seen => return None,
                    Ending::LastLooseCloser => open.closer().or(open.loose).map(|(closer, _)| closer.start),
                    Ending::Fence => {
                        let end = region_end?;
                        fence_end(open.opener, end, open.bound == Some(end), text)
                    }
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
                Ending::Closer | Ending::MaskedCloser | Ending::LastLooseCloser => {
                    let closer = match ending {
                        Ending::Closer => open.closer(),
                        Ending::LastLooseCloser => open.closer().or(open.loose),
                        _ => open.masked_closer,
                    };
                    End { at: closer.map_or(at, |(span, _)| span.end), closer, rung, ending, payload: None }
                }
                Ending::Payload => {
                    let Fill::Whole(payload) = open.payload else { return None };
                    End { at: payload.end, closer: None, rung, ending, payload: Some(payload) }
                }
                // White space before the place where it was cut belongs to what follows.
                _ => {
                    let ending = if open.left && ending == Ending::NextBlock { Ending::End } else { ending };
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
        // What a content holds is opaque: no opener of another block says anything about its end.
        let opaque = block.role == Role::Content;
        while !open.sure(block) && open.bound.is_none() && open.search < last {
            let Some(mark) = self.marker.marks.get(open.search) else { return };
            open.search += 1;
            // What an attribute quotes opens and closes nothing.
            if mark.start() < open.opener.end {
                open.first = open.search;
                continue;
            }
            match mark.kind {
                Kind::Open { id, .. } if !mark.masked && self.counts(mark, id) => {
                    if open.next_block.is_none() {
                        open.next_block = Some(mark.start());
                        open.left = self.block(id).is_some_and(|block| block.role == Role::Wrapper);
                    }
                    if id == open.id {
                        open.bound = Some(mark.start());
                    }
                }
                Kind::Close => {
                    let Some((tier, first)) = self.closes(block, open, mark, text) else { continue };
                    let closer = Some((mark.span(), first));
                    let counts =
                        block.anchor == Anchor::Anywhere || mark.leads_line || open.shares_line(mark.start(), text);
                    let Some(slot) = open.closers.get_mut(tier) else { continue };
                    if mark.masked {
                        open.masked_closer = open.masked_closer.or(closer.filter(|_| counts));
                    } else if !counts {
                        let within = tier != Closer::LAST_TIER && (opaque || open.next_block.is_none());
                        open.loose = closer.filter(|_| within).or(open.loose);
                    } else if slot.is_none() || tier == Closer::LAST_TIER {
                        *slot = closer;
                    }
                }
                _ => {}
            }
        }
    }

    /// How surely the mark closes the block, if at all, and whether with the first of its closers.
    fn closes(&self, block: &crate::program::Block, open: &Open, mark: &Mark, text: &str) -> Option<(usize, bool)> {
        let name = mark.name().of(text);
        // A closer without a name closes whatever is open.
        if name.is_empty() {
            return Some((0, true));
        }
        let names = &self.dialect.names;
        let mut found: Option<(usize, bool)> = None;
        for (position, closer) in block.close.iter().enumerate() {
            let closes = match closer {
                Closer::Own => names.same(name, open.name.of(text)),
                Closer::Attribute(key) => open.attributes.iter().any(|attribute| {
                    matches!(attribute.key, Key::Typed(known) if names.same(known.of(text), key))
                        && names.same(attribute.value.of(text).trim(), name)
                }),
                Closer::Word(word) => names.same(name, word),
                Closer::Pattern(pattern) => names.fits(pattern, name),
            };
            if closes && found.is_none_or(|(tier, _)| closer.tier() < tier) {
                found = Some((closer.tier(), position == 0));
            }
        }
        found
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
                Progress::TooDeep => Fill::TooDeep,
                Progress::Failed | Progress::Spent => Fill::Broken,
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
            let what = if open.payload == Fill::TooDeep { Defect::MalformedPayload } else { Defect::UnclosedBlock };
            self.found.push(Found::of(What::Defect(what), span, index));
        }
        if let Some((closer, false)) = end.closer {
            self.found.push(Found::of(What::Defect(Defect::WrongCloser), closer, index));
        }
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
            written: Written::Bound,
            value: None,
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
                // Prose may speak of a block: where its opener does not count, it is none.
                Kind::Open { id, .. } if !self.counts(&mark, id) => {}
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

    /// Whether a block that is opened by this name claims the answer for this dialect.
    fn claims(&self, name: &str) -> bool {
        let needs = &self.dialect.needs;
        needs.is_empty() || {
            let name = self.dialect.names.fold(name);
            needs.iter().any(|need| glob(need, &name))
        }
    }

    /// Whether it found a block that may be an answer: reasoning alone is none.
    pub(super) fn found_answer(&self) -> bool {
        let is_answer = |role: Role| !matches!(role, Role::Thinking | Role::Wrapper);
        self.blocks.iter().any(|block| self.block(block.id).is_some_and(|block| is_answer(block.role)))
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
            markup: Vec::new(),
        }
    }
}

/// The most captures of an opener: a name, and an attribute, its key and its value as often as they may stand.
pub(super) fn captures(limits: &Limits) -> usize {
    8 + 3 * limits.fields
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
