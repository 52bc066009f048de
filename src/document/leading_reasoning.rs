//! Leading reasoning: does the answer start with reasoning, with or without an opener?
//!
//! In: the response so far, its masks, and the block of the dialect that opens at the start of an answer.
//! Out: that block, once its closer has arrived; and until then, up to where the text cannot be read otherwise.
//! Never: looks after the first block of another kind: there the answer has started.

use super::budget::{Arrived, StepBudget};
use super::mark::{Opener, most_captures, opener};
use super::masks::{Masks, Openers, Quotes};
use super::trim::ends_line;
use super::{AttributeKey, Block, BodyEncoding, Ended};
use crate::grammar::{Machine, Progress, RuleId};
use crate::program::{BlockId, Closer, CloserStarts, Dialect, Family, Limits};
use crate::surface::Anchor;
use crate::text::{Slice, Span, is_margin};

/// The answer so far.
#[derive(Debug, Clone, Copy)]
pub(super) struct AnswerSoFar<'a> {
    pub(super) dialect: &'a Dialect,
    pub(super) text: &'a str,
    /// The offset at which it starts in the text.
    pub(super) start: usize,
    pub(super) complete: bool,
}

impl AnswerSoFar<'_> {
    fn arrived(&self) -> Arrived {
        Arrived { bytes: self.text.len(), complete: self.complete }
    }
}

/// The search for the block that opens at the start of the answer.
#[derive(Debug)]
pub(super) struct LeadingReasoning {
    id: BlockId,
    family: usize,
    machine: Machine,
    budget: StepBudget,
    running: bool,
    /// Whether its opener was in the prompt, if the host knows.
    left_open: Option<bool>,
    opener: OpenerState,
    /// The start of the first line with text.
    begins: usize,
    /// A closer of which it is not known yet whether it counts, with its rank.
    met: Option<(Span, usize)>,
    /// The closer with the lowest rank so far, after an opener: it ends the block unless a better one follows.
    best: Option<(Span, usize)>,
    /// The start of the line of the last closer, and how far line breaks have been searched for.
    line: usize,
    lines: usize,
    mask_cursor: usize,
    /// Where the search for its closer continues.
    from: usize,
}

/// The block that is searched for.
pub(super) struct SoughtBlock {
    pub(super) id: BlockId,
    family: usize,
    opened: Option<LeadingOpener>,
}

/// Whether the answer starts with an opener.
#[derive(Debug)]
enum OpenerState {
    /// More text may decide.
    Unknown,
    Absent,
    Found(LeadingOpener),
}

impl OpenerState {
    fn found(&self) -> Option<&LeadingOpener> {
        if let Self::Found(opener) = self { Some(opener) } else { None }
    }
}

/// An opener at the start of the answer.
#[derive(Debug)]
struct LeadingOpener {
    span: Span,
    name: Span,
    opener: Opener,
}

impl SoughtBlock {
    pub(super) fn family(&self) -> usize {
        self.family
    }

    /// The block from `start` to its closer.
    pub(super) fn end(self, start: usize, closer: Span, ended: Ended, trim: impl FnOnce(Span) -> Span) -> Block {
        let start = Span::new(start, start);
        let opened = self.opened.unwrap_or(LeadingOpener { span: start, name: start, opener: Opener::default() });
        let LeadingOpener { span: opener, name, opener: says } = opened;
        let inner = Span::new(opener.end, closer.start);
        Block {
            id: self.id,
            family: self.family as u8,
            name: name.into(),
            span: Span::new(opener.start, closer.end).into(),
            inner: inner.into(),
            body: trim(inner).into(),
            attributes: says.attributes,
            ended,
            parent: None,
            written: BodyEncoding::Bound,
            value: None,
        }
    }
}

/// The state of the search.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum LeadingState {
    Over,
    /// The text after this offset may not be read before more text has arrived.
    Waits(usize),
    /// There is a closer here. It ends the block unless another block has opened before it.
    Closer(Span),
    /// The block has an opener; it ends with this closer, or with the answer.
    Opened(Option<Span>),
}

impl LeadingReasoning {
    /// The search, if the dialect has such a block. `left_open`: whether the prompt ended inside reasoning, if the host
    /// knows.
    pub(super) fn new(dialect: &Dialect, limits: &Limits, left_open: Option<bool>) -> Option<Box<Self>> {
        let (id, _) = dialect.blocks_by_id().find(|(_, block)| block.starts)?;
        let family = dialect.families.iter().position(|family| family.leading == Some(id))?;
        Some(Box::new(Self {
            id,
            family,
            machine: Machine::new().capturing(most_captures(dialect, limits)),
            budget: StepBudget::new(limits),
            running: false,
            left_open,
            opener: OpenerState::Unknown,
            begins: 0,
            met: None,
            best: None,
            line: 0,
            lines: 0,
            mask_cursor: 0,
            from: 0,
        }))
    }

    /// The block that is searched for.
    pub(super) fn into_block(self) -> SoughtBlock {
        let opened = if let OpenerState::Found(opener) = self.opener { Some(opener) } else { None };
        SoughtBlock { id: self.id, family: self.family, opened }
    }

    /// Continues the search. `budget` is the budget of the masks.
    pub(super) fn advance(
        &mut self,
        answer: &AnswerSoFar<'_>,
        masks: &mut Masks,
        budget: &mut StepBudget,
    ) -> LeadingState {
        let AnswerSoFar { dialect, text, start, complete } = *answer;
        let family = dialect.families.get(self.family);
        let parts = family.and_then(|family| Some((family, family.close?, family.closer_starts.as_ref()?)));
        let Some((family, close, starts)) = parts else { return LeadingState::Over };
        if matches!(self.opener, OpenerState::Unknown) && !self.seek_opener(answer, family) {
            return LeadingState::Waits(start);
        }
        let opened = match self.opener.found() {
            Some(LeadingOpener { span, opener: says, .. }) if says.empty => {
                return LeadingState::Opened(Some(Span::new(span.end, span.end)));
            }
            // Without an opener, only the name in a closer identifies the block.
            None if !family.closes_by_name || self.left_open == Some(false) => return LeadingState::Over,
            opened => opened.is_some(),
        };
        loop {
            if let Some((closer, rank)) = self.met {
                match self.counts(answer, masks, closer, budget) {
                    Some(true) if opened && rank == 0 => return LeadingState::Opened(Some(closer)),
                    Some(true) if !opened => return LeadingState::Closer(closer),
                    Some(counts) => {
                        let is_better = counts && self.best.is_none_or(|(_, best)| rank < best);
                        self.best = if is_better { self.met } else { self.best };
                        (self.met, self.from) = (None, closer.start + 1);
                    }
                    None => return LeadingState::Waits(if opened { start } else { closer.start }),
                }
            }
            let Some(hit) = self.next_start(starts, text, complete) else {
                return match (complete, opened) {
                    (true, true) => LeadingState::Opened(self.best.map(|(closer, _)| closer)),
                    (true, false) => LeadingState::Over,
                    (false, true) => LeadingState::Waits(start),
                    (false, false) => LeadingState::Waits(self.from),
                };
            };
            match self.run(answer, family, close, hit) {
                Progress::Pending => return LeadingState::Waits(if opened { start } else { hit }),
                Progress::Matched(end) => match self.rank(answer, family) {
                    Some(rank) => self.met = Some((Span::new(hit, end), rank)),
                    None => self.from = hit + 1,
                },
                _ => self.from = hit + 1,
            }
            self.running = false;
        }
    }

    /// Determines whether the answer starts with an opener; false if more text is needed.
    fn seek_opener(&mut self, answer: &AnswerSoFar<'_>, family: &Family) -> bool {
        let AnswerSoFar { dialect, text, start, complete } = *answer;
        let rest = text.slice(start..).trim_start();
        if rest.is_empty() && !complete {
            return false;
        }
        self.begins = text.len() - rest.len();
        (self.line, self.lines) = (start, start);
        let mut opened = None;
        match self.run(answer, family, family.open, self.begins) {
            Progress::Pending => return false,
            Progress::Matched(end) => {
                let is_own = |name: &Span| dialect.names.find(name.of(text), Some(self.family)) == Some(self.id);
                let span = Span::new(self.begins, end);
                let says = || opener(family, self.machine.captures());
                opened = self.name(family).filter(is_own).map(|name| LeadingOpener { span, name, opener: says() });
            }
            _ => {}
        }
        if opened.is_none() && self.left_open == Some(true) {
            let nowhere = Span::new(start, start);
            opened = Some(LeadingOpener { span: nowhere, name: nowhere, opener: Opener::default() });
        }
        self.from = opened.as_ref().map_or(start, |opened| opened.span.end);
        self.opener = opened.map_or(OpenerState::Absent, OpenerState::Found);
        self.running = false;
        true
    }

    /// The next offset at which a closer may start. If there is none, the search continues after the text that has
    /// arrived.
    fn next_start(&mut self, starts: &CloserStarts, text: &str, complete: bool) -> Option<usize> {
        let found = starts.find_all(text.as_bytes().slice(self.from..)).next();
        // The last bytes may be the start of a closer that has not arrived completely.
        let coming = if complete { 0 } else { starts.longest().saturating_sub(1) };
        let searched = text.len().saturating_sub(coming).max(self.from);
        self.from = found.map_or(searched, |offset| self.from + offset);
        found.map(|_| self.from)
    }

    fn run(&mut self, answer: &AnswerSoFar<'_>, family: &Family, rule: RuleId, at: usize) -> Progress {
        if !self.running {
            self.machine.start(&family.grammar, rule, at);
        }
        self.running = true;
        self.budget.run(&mut self.machine, family, (answer.text, answer.complete), answer.arrived())
    }

    fn name(&self, family: &Family) -> Option<Span> {
        let captures = self.machine.captures();
        captures.iter().find(|capture| capture.rule() == family.name).map(|capture| capture.span())
    }

    /// Whether a closer counts where it is, by the same rule as that of any block; `None` while the text after it is
    /// not known.
    fn counts(
        &mut self,
        answer: &AnswerSoFar<'_>,
        masks: &mut Masks,
        closer: Span,
        budget: &mut StepBudget,
    ) -> Option<bool> {
        let AnswerSoFar { dialect, text, complete, .. } = *answer;
        masks.advance(
            text,
            complete,
            closer.start + 1,
            Some(&mut Openers { dialect, budget, arrived: answer.arrived() }),
        );
        if masks.decided() <= closer.start {
            return None;
        }
        if let Some(mask) = masks.covering(closer.start, &mut self.mask_cursor) {
            // Reasoning may end in a line of a block quote, unless the line also shows how it begins.
            let quotes_opener = || {
                self.opener.found().is_none_or(|opened| {
                    Span::new(mask.span().start, closer.start).of(text).contains(opened.span.of(text))
                })
            };
            if mask.by != Quotes::Line || quotes_opener() {
                return Some(false);
            }
        }
        if dialect.block(self.id).is_none_or(|block| block.anchor == Anchor::Anywhere) {
            return Some(true);
        }
        let bytes = text.as_bytes();
        if let Some(offset) = memchr::memrchr(b'\n', bytes.slice(self.lines..closer.start)) {
            self.line = self.lines + offset + 1;
        }
        self.lines = self.lines.max(closer.start);
        if bytes.get(self.line..closer.start).is_some_and(is_margin) {
            return Some(true);
        }
        // After the line on which the block begins, a closer in the middle of a line is only mentioned in prose.
        if self.line > self.begins { Some(false) } else { ends_line(closer.end, text, complete) }
    }

    /// The rank of the closer that was read; `None` if it does not close the block. One with the name of the opener has
    /// rank 0, any other the rank of its entry in `close`: reasoning may speak of the closers of other openers. Without
    /// an opener, all have rank 0.
    fn rank(&self, answer: &AnswerSoFar<'_>, family: &Family) -> Option<usize> {
        let AnswerSoFar { dialect, text, .. } = *answer;
        let opened = self.opener.found();
        let block = dialect.block(self.id)?;
        // A closer without a name closes any block that its grammar has opened.
        let Some(name) = self.name(family) else { return opened.map(|_| 0) };
        let same = |known: &str| dialect.names.same(known, name.of(text));
        let says = |key: &str| {
            let attributes = opened.map(|opened| opened.opener.attributes.as_slice()).unwrap_or_default();
            attributes.iter().any(|attribute| {
                let called = match attribute.key {
                    AttributeKey::Typed(known) => known.span().of(text),
                    AttributeKey::Rule(rule) => family.grammar.rule_name(rule),
                    AttributeKey::Payload => return false,
                };
                dialect.names.same(called, key) && same(attribute.value.span().of(text).trim())
            })
        };
        let own = opened.map(|opened| opened.name).filter(|name| !name.is_empty());
        let entry = block.close.iter().position(|closer| match closer {
            Closer::Own => match own {
                Some(own) => same(own.of(text)),
                None => block.names.iter().any(|known| same(known)),
            },
            Closer::Word(word) => same(word),
            Closer::Attribute(key) => says(key),
            Closer::Pattern(_) => false,
        });
        entry.map(|entry| if own.is_some_and(|own| !same(own.of(text))) { entry } else { 0 })
    }
}
