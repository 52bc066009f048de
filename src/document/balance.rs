//! Balance: which closer balances the opener of a block that contains openers of its own name?
//!
//! In: the openers and closers of one kind of block, up to the end of the region around it.
//! Out: for each opener its closer, if they pair up like brackets.
//! Never: pairs the marks of one region twice, however many blocks ask for them.
//!
//! A document about answers may contain examples of them, even outside code fences. If their tags balance, the document
//! continues after them.

use super::ladder::EndSearch;
use super::mark::{Mark, MarkKind};
use super::open_block::{FoundCloser, OpenBlock};
use super::scanner::DialectScanner;
use super::{ReadContext, trim::ends_line};
use crate::diagnostic::Remark;
use crate::document::reader_findings::ReaderFinding;
use crate::program::{BlockBinding, BlockId, Closer};
use crate::surface::{Anchor, Ending};
use crate::text::{Slice, Span};
use std::borrow::Cow;
use std::collections::HashMap;

/// The paired openers of one kind of block.
#[derive(Debug)]
pub(super) struct Balance {
    id: BlockId,
    /// The first opener that was paired, and the end of the region.
    from: usize,
    region: usize,
    /// The start of each opener that has a closer, and the closer, in order.
    pairs: Vec<(usize, Span)>,
}

/// An opener whose closer has not been found yet.
struct Unpaired {
    start: usize,
    /// How far its line has been searched for a line break; `None` once one has been found.
    line: Option<usize>,
}

impl DialectScanner {
    /// Whether `mark` opens a block of the same name inside `open`, before any closer, and the block may end at a
    /// balanced closer.
    pub(super) fn may_balance(&self, open: &OpenBlock, search: &EndSearch<'_>, mark: &Mark) -> bool {
        let EndSearch { context, block, .. } = *search;
        let same = || context.dialect.names.same(mark.name().of(context.text), open.name.of(context.text));
        matches!(mark.kind, MarkKind::Open { family, id, leaves: false } if id == open.id && usize::from(family) == open.family)
            && open.closer().is_none()
            && context.dialect.ladder(block, open.family).iter().flatten().any(|one| *one == Ending::BalancedCloser)
            && closes_by_own_name(block, open.name.of(context.text), context).is_some()
            && same()
    }

    /// The closer that balances the opener of `open`.
    pub(super) fn find_balancing_closer(
        &mut self,
        open: &OpenBlock,
        search: &EndSearch<'_>,
        region: usize,
    ) -> Option<FoundCloser> {
        let is_first = closes_by_own_name(search.block, open.name.of(search.context.text), search.context)?;
        let start = open.opener.start;
        let knows = |one: &&Balance| one.id == open.id && one.region == region && one.from <= start;
        if !self.balances.iter().any(|one| knows(&one)) {
            let pairs = self.pair_openers(open, search, region);
            // Only regions that have not ended yet can be asked for again.
            self.balances.retain(|one| one.region > start && (one.id, one.region) != (open.id, region));
            self.balances.push(Balance { id: open.id, from: start, region, pairs });
        }
        let pairs = self.balances.iter().find(knows).map(|one| one.pairs.as_slice()).unwrap_or_default();
        let (opener, closer) = pairs.get(pairs.partition_point(|(opener, _)| *opener < start))?;
        (*opener == start).then_some(FoundCloser { span: *closer, is_first, is_inner: false })
    }

    /// Pairs the openers like `open`, from `open` up to the end of the region.
    fn pair_openers(&mut self, open: &OpenBlock, search: &EndSearch<'_>, region: usize) -> Vec<(usize, Span)> {
        let EndSearch { context, block, .. } = *search;
        let names = &context.dialect.names;
        let fold = |name: Span| names.fold(name.of(context.text));
        let mut pairs = Vec::new();
        let mut unpaired: HashMap<Cow<'_, str>, Vec<Unpaired>> = HashMap::new();
        let line = Some(open.opener.end);
        unpaired.insert(fold(open.name), vec![Unpaired { start: open.opener.start, line }]);
        let mut number = open.first;
        while let Some(mark) = self.marker.mark(number).filter(|mark| mark.start() < region) {
            number += 1;
            if mark.masked || mark.start() < open.opener.end {
                continue;
            }
            let (MarkKind::Open { family, .. } | MarkKind::Close { family }) = mark.kind else { continue };
            if usize::from(family) != open.family {
                continue;
            }
            match mark.kind {
                MarkKind::Open { id, leaves: false, .. } if id == open.id && self.counts(context, &mark) => {
                    let rules = context.dialect.families.get(open.family).filter(|_| !mark.plain);
                    if rules.is_none_or(|rules| !self.opener(rules, &mark, context).empty) {
                        let one = Unpaired { start: mark.start(), line: Some(mark.span().end) };
                        unpaired.entry(fold(mark.name())).or_default().push(one);
                    }
                }
                MarkKind::Close { .. } => {
                    let Some(open) = unpaired.get_mut(&fold(mark.name())) else { continue };
                    let Some(last) = open.last_mut() else { continue };
                    if closes_by_own_name(block, mark.name().of(context.text), context).is_some()
                        && last.is_closed_by(&mark, block, context.text)
                    {
                        pairs.extend(open.pop().map(|opener| (opener.start, mark.span())));
                    }
                }
                _ => {}
            }
        }
        pairs.sort_unstable_by_key(|(opener, _)| *opener);
        pairs
    }

    /// Notes the openers of its own kind that a block quotes, because they are balanced inside it.
    pub(super) fn note_own_quotes(&mut self, open: &OpenBlock, inner: Span, context: &ReadContext<'_>) {
        let mut number = open.first;
        while let Some(mark) = self.marker.mark(number).filter(|mark| mark.start() < inner.end) {
            number += 1;
            let alike = matches!(mark.kind, MarkKind::Open { id, .. } if id == open.id) && mark.start() >= inner.start;
            if alike && !mark.masked && self.counts(context, &mark) {
                self.add_finding(ReaderFinding::new(Remark::QuotedBlock, mark.span()));
            }
        }
    }
}

impl Unpaired {
    /// Whether a closer of its name counts: at the start of a line, or on the line of the opener only at its end.
    fn is_closed_by(&mut self, closer: &Mark, block: &BlockBinding, text: &str) -> bool {
        if block.anchor == Anchor::Anywhere || closer.starts_line() {
            return true;
        }
        let Some(from) = self.line else { return false };
        let between = text.as_bytes().slice(from..closer.start());
        self.line = memchr::memchr(b'\n', between).is_none().then_some(closer.start());
        self.line.is_some() && ends_line(closer.span().end, text, true) == Some(true)
    }
}

/// Whether a block is closed by its own name: if so, whether that is the first of its closers.
fn closes_by_own_name(block: &BlockBinding, name: &str, context: &ReadContext<'_>) -> Option<bool> {
    let own = |closer: &Closer| match closer {
        Closer::Own => true,
        Closer::Word(word) => context.dialect.names.same(word, name),
        Closer::Attribute(_) | Closer::Pattern(_) => false,
    };
    block.close.iter().position(own).map(|place| place == 0)
}
