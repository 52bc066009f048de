//! Prelude: does the answer begin behind reasoning, told by an opener or not?
//!
//! In: the response as far as it has come, and the dialect's block that opens where an answer starts.
//! Out: that block, once its closer has come; and up to where nothing else may be looked at before.
//! Never: looks behind the first block of another kind: there an answer has begun.

use super::budget::Budget;
use crate::grammar::{Machine, Progress};
use crate::program::{BlockId, Dialect, Family};
use crate::text::Span;

/// The search for the block that opens where the answer starts.
#[derive(Debug)]
pub(super) struct Prelude {
    id: BlockId,
    family: usize,
    machine: Machine,
    running: bool,
    /// Its opener and its name, once it is known whether there are any.
    opener: Option<Option<(Span, Span)>>,
    /// Where the search for its closer goes on.
    from: usize,
    /// The places where each text stands next that a closer may start with.
    next: Vec<usize>,
}

/// The block that is sought.
pub(super) struct Sought {
    pub(super) id: BlockId,
    pub(super) family: usize,
    /// Its opener and its name, if it has any.
    pub(super) opener: Option<(Span, Span)>,
}

/// How the search stands.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Stand {
    Over,
    /// Nothing behind this place may be looked at before more has come.
    Waits(usize),
    /// A closer stands here. It ends the block unless another block opened before.
    Closer(Span),
    /// The block has an opener: it ends with this closer, or with the answer.
    Opened(Option<Span>),
}

impl Prelude {
    /// The search in an answer in a dialect that has such a block.
    pub(super) fn new(dialect: &Dialect) -> Option<Box<Self>> {
        let id = BlockId(dialect.blocks.iter().position(|block| block.starts)? as u16);
        let family = dialect.families.iter().position(|family| family.prelude == Some(id))?;
        let machine = Machine::new();
        Some(Box::new(Self { id, family, machine, running: false, opener: None, from: 0, next: Vec::new() }))
    }

    /// The block that is sought.
    pub(super) fn block(&self) -> Sought {
        Sought { id: self.id, family: self.family, opener: self.opener.flatten() }
    }

    /// Goes on with the search in a text whose answer begins at `start`.
    pub(super) fn advance(
        &mut self,
        dialect: &Dialect,
        text: &str,
        start: usize,
        complete: bool,
        budget: &mut Budget,
    ) -> Stand {
        let (id, number) = (self.id, self.family);
        let Some((family, close)) = dialect.families.get(number).and_then(|family| Some((family, family.close?)))
        else {
            return Stand::Over;
        };
        if self.opener.is_none() {
            let rest = text.get(start..).unwrap_or_default();
            let rest = rest.strip_prefix('\u{feff}').unwrap_or(rest).trim_start();
            let at = text.len() - rest.len();
            if rest.is_empty() && !complete {
                return Stand::Waits(start);
            }
            match self.run(family, family.open, at, text, complete, budget) {
                Progress::Pending => return Stand::Waits(start),
                Progress::Matched(end) => {
                    let name =
                        self.name(family).filter(|name| dialect.names.find(name.of(text), Some(number)) == Some(id));
                    self.opener = Some(name.map(|name| (Span::new(at, end), name)));
                    self.from = if name.is_some() { end } else { start };
                }
                _ => (self.opener, self.from) = (Some(None), start),
            }
            self.running = false;
        }
        let opened = self.opener.flatten().is_some();
        let texts = &family.grammar.first(close).literals;
        self.next.resize(texts.len(), 0);
        loop {
            let bytes = text.as_bytes();
            for (next, literal) in self.next.iter_mut().zip(texts) {
                // Up to where it stood last it is not: either it stands there, or the search ended there.
                let from = self.from.max(*next);
                let rest = bytes.get(from..).unwrap_or_default();
                if !rest.starts_with(literal.as_bytes()) {
                    // The last bytes may be the first of one that is still coming.
                    let open = (text.len() + 1).saturating_sub(literal.len()).max(from);
                    *next = memchr::memmem::find(rest, literal.as_bytes()).map_or(open, |offset| from + offset);
                } else {
                    *next = from;
                }
            }
            let hit = self.next.iter().copied().min().unwrap_or(text.len());
            let starts = |literal: &String| bytes.get(hit..).is_some_and(|rest| rest.starts_with(literal.as_bytes()));
            if !texts.iter().any(starts) {
                self.from = hit.min(text.len());
                return match (complete, opened) {
                    (true, true) => Stand::Opened(None),
                    (true, false) => Stand::Over,
                    (false, true) => Stand::Waits(start),
                    (false, false) => Stand::Waits(self.from),
                };
            }
            match self.run(family, close, hit, text, complete, budget) {
                Progress::Pending => return Stand::Waits(if opened { start } else { hit }),
                Progress::Matched(end) if self.closes(dialect, family, id, text) => {
                    let closer = Span::new(hit, end);
                    return if opened { Stand::Opened(Some(closer)) } else { Stand::Closer(closer) };
                }
                _ => self.from = hit + 1,
            }
            self.running = false;
        }
    }

    fn run(
        &mut self,
        family: &Family,
        rule: crate::grammar::RuleId,
        at: usize,
        text: &str,
        complete: bool,
        budget: &mut Budget,
    ) -> Progress {
        if !self.running {
            self.machine.start(&family.grammar, rule, at);
        }
        self.running = true;
        budget.run(&mut self.machine, family, text, complete)
    }

    fn name(&self, family: &Family) -> Option<Span> {
        let captures = self.machine.captures();
        captures.iter().find(|capture| capture.rule() == family.name).map(|capture| capture.span())
    }

    fn closes(&self, dialect: &Dialect, family: &Family, id: BlockId, text: &str) -> bool {
        self.name(family).is_some_and(|name| dialect.started_by(name.of(text)) == Some(id))
    }
}
