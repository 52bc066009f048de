//! Ladder: where does an open block end?
//!
//! In: the marks after its opener, the masks, the text so far, and the block's own rungs.
//! Out: [`BlockEnd`], once more text cannot change it.
//! Never: opens a block, or looks beyond the next opener of the same block, unless a field or a fence quotes that
//! opener.
//!
//! No rung searches beyond the next opener of the block, so each mark is examined at most once for each declared name.

use super::braces::BraceCount;
use super::mark::{Mark, MarkKind};
use super::open_block::{BlockEnd, FoundCloser, OpenBlock, PayloadState, blank_line};
use super::payload::ends_response;
use super::scanner::{Closerless, DialectScanner};
use super::trim::fence_end;
use super::{AttributeKey, Quoted, ReadContext, ready_if};
use crate::grammar::{Capture, Progress};
use crate::program::{BlockBinding, BlockId, Closer, NameSource};
use crate::surface::{Anchor, Ending, Role};
use crate::text::{Slice, Span, boundary};
use std::task::Poll;

/// The most openers inside a block with which its closers are compared.
const MAX_INNER: usize = 32;

/// The constant inputs of the search for the end of a block.
#[derive(Debug, Clone, Copy)]
pub(super) struct EndSearch<'s> {
    pub(super) context: &'s ReadContext<'s>,
    pub(super) block: &'s BlockBinding,
    /// Where the region around the block ends, if that is known.
    pub(super) region: Option<usize>,
}

impl<'s> EndSearch<'s> {
    /// The part of the response that the block may reach.
    pub(super) fn within(&self) -> &'s str {
        self.region.and_then(|region| self.context.text.get(..region)).unwrap_or(self.context.text)
    }

    /// Whether all of that part has arrived.
    pub(super) fn is_complete(&self) -> bool {
        self.region.is_some()
    }

    /// The response up to where the block may reach, and whether all of that has arrived.
    fn so_far(&self) -> (&'s str, bool) {
        (self.within(), self.is_complete())
    }
}

/// How much is known about the text after an opener.
#[derive(Debug, Clone, Copy)]
struct Lookahead {
    /// Whether no closer that may still arrive can take the place of those found.
    closers: bool,
    /// The latest offset at which the block can end, if that is known.
    end: Option<usize>,
}

impl DialectScanner {
    /// Where the block ends, if the text so far determines that. `region` is where the region around the block ends, if
    /// known; `last` is the number of the first mark after that region.
    pub(super) fn find_end(
        &mut self,
        open: &mut OpenBlock,
        context: &ReadContext<'_>,
        region: Option<usize>,
        last: usize,
    ) -> Option<BlockEnd> {
        let block = context.block(open.id)?;
        let search = EndSearch { context, block, region };
        if open.empty || block.role == Role::Wrapper {
            let at = open.opener.end;
            return Some(BlockEnd { at, closer: None, rung: 0, ending: Ending::Closer, payload: None, alike: false });
        }
        if !self.look_ahead(open, &search, last) {
            return None;
        }
        let known = Lookahead {
            closers: open.sure(block) || open.bound.is_some() || region.is_some(),
            end: region.map(|region| open.bound.map_or(region, |bound| bound.min(region))).or(open.bound),
        };
        let ladder = context.dialect.ladder(block, open.family);
        for (rung, endings) in ladder.iter().enumerate() {
            let mut best: Option<(usize, Ending)> = None;
            for ending in endings.iter().copied() {
                // A closer that balances the opener takes precedence over all other endings of this rung.
                if best.is_some_and(|(_, best)| best == Ending::BalancedCloser) {
                    break;
                }
                // `end` applies only if no other ending of this rung does.
                if ending == Ending::End && best.is_some() {
                    continue;
                }
                let Poll::Ready(place) = self.place(ending, open, &search, known) else { return None };
                let within = |at: usize| ending == Ending::Payload || known.end.is_none_or(|end| at <= end);
                if let Some(at) = place.filter(|at| within(*at))
                    && best.is_none_or(|(best, _)| at < best)
                {
                    best = Some((at, ending));
                }
            }
            if let Some((at, ending)) = best {
                let end = open.end_at(at, ending, rung, block, context.text);
                return Some(end.or_in_closer(|| cut_closer(open, block, at, context)));
            }
        }
        // Even without the rung `end`, a block ends at the end of the region around it.
        let at = known.end?;
        let end = BlockEnd { at, closer: None, rung: ladder.len(), ending: Ending::End, payload: None, alike: false };
        Some(end.or_in_closer(|| cut_closer(open, block, at, context)))
    }

    /// The place of this ending, if it applies; pending while the text so far does not determine that.
    fn place(
        &mut self,
        ending: Ending,
        open: &mut OpenBlock,
        search: &EndSearch<'_>,
        known: Lookahead,
    ) -> Poll<Option<usize>> {
        let EndSearch { context, region, .. } = *search;
        let met = |found: Option<usize>, all: bool| ready_if(found.is_some() || all, found);
        match ending {
            Ending::Payload => {
                self.fill(open, search);
                match open.payload {
                    // Whether anything follows a payload that names its calls decides how certain its repairs are.
                    PayloadState::Whole { end, .. }
                        if search.block.named_within().is_some()
                            && !search.is_complete()
                            && ends_response(search.within(), end) =>
                    {
                        Poll::Pending
                    }
                    PayloadState::Whole { end, .. } => Poll::Ready(Some(end)),
                    PayloadState::Absent => Poll::Ready(Some(open.opener.end)),
                    PayloadState::Broken | PayloadState::Bottomless => Poll::Ready(None),
                    PayloadState::Unknown | PayloadState::Running | PayloadState::TooDeep(_) => Poll::Pending,
                }
            }
            Ending::Closer | Ending::BalancedCloser | Ending::LastLooseCloser if !known.closers => Poll::Pending,
            Ending::BalancedCloser => {
                let closer = open.balanced.or(open.closer().filter(|_| !open.unbalanced));
                Poll::Ready(closer.map(|closer| closer.span.start))
            }
            Ending::Closer => Poll::Ready(open.closer().map(|closer| closer.span.start)),
            // A closer that satisfies the anchor wins over one that does not.
            Ending::LooseCloser => {
                // Every closer that may still arrive comes after a loose one that has arrived. But it may have a better
                // name than a closer before that one, and take its place.
                let first = open.loose_closer();
                let is_known = known.closers || (first.is_some() && first == open.first_loose);
                ready_if(is_known, first.map(|closer| closer.span.start))
            }
            Ending::LastLooseCloser => Poll::Ready(open.closer().or(open.loose).map(|closer| closer.span.start)),
            Ending::QuotedCloser => met(open.masked_closer.map(|closer| closer.span.start), known.closers),
            Ending::Fence => {
                let Some(end) = known.end else { return Poll::Pending };
                let start = self.masks.outer_fence().map_or(0, |(fence, _)| fence.end);
                let around = self.fences.around(open.opener.start, start, context.text, &self.blocks);
                let closed = fence_end(open.opener, end, context.text, around);
                open.unsure_fence = closed.is_some_and(|(_, is_only)| !is_only);
                Poll::Ready(closed.map(|(at, _)| at))
            }
            Ending::NextBlock => met(open.next_block, region.is_some()),
            Ending::BlankLine => {
                let until = open.next_block.or(region).unwrap_or(self.marker.at.min(self.masks.decided()));
                blank_line(open, context.text, until);
                met(open.blank, open.next_block.is_some() || region.is_some())
            }
            Ending::End => ready_if(known.end.is_some(), known.end),
        }
    }

    /// Goes through the marks after the opener, up to the block's closer or the next opener of the same block. False if
    /// all of them have arrived, but classifying one needs more text, which also allows more steps.
    fn look_ahead(&mut self, open: &mut OpenBlock, search: &EndSearch<'_>, last: usize) -> bool {
        let EndSearch { context, block, region } = *search;
        if open.waits && region.is_none() {
            return true;
        }
        let mut is_known = false;
        while !open.sure(block) && open.bound.is_none() && open.balanced.is_none() && open.search < last {
            // After the next opener only closers matter; an earlier search may have found that there are none.
            if !is_known && open.next_block.is_some() {
                is_known = true;
                if region.is_some_and(|region| self.is_closerless(open, search, region)) {
                    return true;
                }
            }
            let Some(mark) = self.marker.mark(open.search).filter(|mark| !self.is_around(mark, context)) else { break };
            open.search += 1;
            // A mark inside the opener is quoted by an attribute.
            if mark.start() < open.opener.end {
                open.first = open.search;
            } else if !self.take_mark(open, search, &mark) {
                open.search -= 1;
                return region.is_none();
            }
        }
        let met = open.closer().or(open.loose).or(open.masked_closer);
        if let Some(region) = region.filter(|_| is_known && met.is_none() && open.bound.is_none()) {
            self.closerless.retain(|one| one.id != open.id);
            self.closerless.push(Closerless { id: open.id, name: open.name, first: open.first, region });
        }
        true
    }

    /// Whether no closer follows, because none followed an earlier block like it. Without this, each opener that is
    /// text because it has no key would search all text after it.
    fn is_closerless(
        &self,
        open: &OpenBlock,
        &EndSearch { context, block, .. }: &EndSearch<'_>,
        region: usize,
    ) -> bool {
        let own =
            block.close.iter().any(|closer| matches!(closer, Closer::Attribute(_))) && !open.attributes.is_empty();
        let fence = || block.ends.iter().flatten().any(|ending| *ending == Ending::Fence);
        let known = self.closerless.iter().find(|one| one.id == open.id);
        known.is_some_and(|one| {
            let same = || context.dialect.names.same(one.name.of(context.text), open.name.of(context.text));
            one.first <= open.first && region <= one.region && !own && !fence() && same()
        })
    }

    /// Handles one mark after the opener; false if classifying it needs more text.
    fn take_mark(&mut self, open: &mut OpenBlock, search: &EndSearch<'_>, mark: &Mark) -> bool {
        let EndSearch { context, block, .. } = *search;
        let quoted = match self.in_data(open, search, mark.start()) {
            Quoted::No => self.in_text(open, search, mark),
            quoted => quoted,
        };
        match quoted {
            Quoted::No => {}
            Quoted::Until(end) => {
                open.search = self.marker.first_at(open.search, end);
                return true;
            }
            Quoted::Unknown => return false,
        }
        let Poll::Ready(closer) = self.as_closer(open, search, mark) else { return false };
        let closes = closer.and_then(|closer| Some((closer, closes(open, search, &closer)?)));
        let closes = match mark.kind {
            // A mark may be the closer of both a wrapper and this block: if it has the name of the block, or a name in
            // its `close`, it closes the block.
            MarkKind::Open { leaves: true, .. } => closes.filter(|(_, (tier, _))| *tier != Closer::LAST_TIER),
            _ => closes,
        };
        if closes.is_some() {
            match self.in_field(open, search, mark) {
                Quoted::No => {}
                Quoted::Until(end) => {
                    open.search = self.marker.first_at(open.search, end);
                    open.fields = end;
                    return true;
                }
                Quoted::Unknown => {
                    open.waits = true;
                    return false;
                }
            }
        }
        match (closes, mark.kind) {
            (Some((closer, closes)), _) => {
                let same =
                    |inner: &Span| context.dialect.names.same(inner.of(context.text), closer.name().of(context.text));
                let closes_inner = open.inner.iter().rposition(same);
                let before = open.closer();
                let (tier, is_first) = closes;
                let found =
                    FoundCloser { span: closer.span(), is_first, is_inner: !is_first && closes_inner.is_some() };
                let known = open.take_closer(block, &closer, (tier, found), context.text, search.is_complete());
                if known {
                    open.found_outer_closer |= closes_inner.is_none() && before != open.closer();
                    open.inner.truncate(closes_inner.unwrap_or(open.inner.len()));
                }
                known
            }
            (None, MarkKind::Open { id, .. }) => {
                open.contains_opener = true;
                let counts = !mark.masked && self.counts(context, mark);
                !counts || self.take_opener(open, search, mark, id)
            }
            (None, _) => true,
        }
    }

    /// The mark as a closer of the open block's grammar, if that grammar reads a closer there; pending while more text
    /// is needed to decide. If closers of two grammars look alike, or an opener looks like a closer, there is only one
    /// mark, of the first grammar or of the opener.
    fn as_closer(&mut self, open: &OpenBlock, search: &EndSearch<'_>, mark: &Mark) -> Poll<Option<Mark>> {
        let own = search.context.dialect.families.get(open.family);
        let Some((own, close)) = own.and_then(|own| Some((own, own.close?))) else { return Poll::Ready(None) };
        let asks = match mark.kind {
            MarkKind::Close { family } | MarkKind::Open { family, leaves: true, .. }
                if usize::from(family) == open.family =>
            {
                return Poll::Ready(Some(*mark));
            }
            MarkKind::Close { .. } | MarkKind::Open { leaves: true, .. } => true,
            MarkKind::Open { family, .. } => own.may_be_both && usize::from(family) == open.family,
            MarkKind::Broken { .. } => false,
        };
        if !asks || mark.start() < open.opener.end {
            return Poll::Ready(None);
        }
        let opens = matches!(mark.kind, MarkKind::Open { leaves: false, .. });
        let rule = (open.family, own, close);
        match self.closer.run(mark.start(), rule, search.so_far(), self.arrived) {
            Progress::Matched(end) => {
                let name = self.closer.machine().captures().iter().find(|capture| capture.rule() == own.name);
                let (span, name) = (Span::new(mark.start(), end), name.map(|name| name.span()));
                let name = name.unwrap_or(Span::new(end, end));
                let kind = MarkKind::Close { family: open.family as u8 };
                Poll::Ready(Some(Mark { span: span.into(), name: name.into(), kind, ..*mark }))
            }
            Progress::Pending => Poll::Pending,
            // A named closer is decided by its name, whichever grammar reads it.
            Progress::Failed | Progress::TooDeep | Progress::Spent => {
                Poll::Ready(Some(*mark).filter(|mark| !opens && !mark.name().is_empty()))
            }
        }
    }

    /// Handles an opener that counts; false if more text is needed to decide whether a field quotes it.
    fn take_opener(&mut self, open: &mut OpenBlock, search: &EndSearch<'_>, mark: &Mark, id: BlockId) -> bool {
        let EndSearch { context, block, .. } = *search;
        if !open.unbalanced && self.may_balance(open, search, mark) {
            let Some(region) = search.region else {
                open.waits = true;
                return false;
            };
            open.balanced = self.find_balancing_closer(open, search, region);
            open.unbalanced = open.balanced.is_none();
            if open.balanced.is_some() {
                return true;
            }
        }
        // Contents are opaque: the opener of a content that has no key is text in another content.
        if block.role == Role::Content && self.has_no_key(mark, context) {
            return true;
        }
        // Reasoning is opaque: its own opener in it is text, unless another block has opened before.
        if id == open.id && block.role == Role::Thinking && open.next_block.is_none() {
            open.repeated = true;
            return true;
        }
        // The nearest closer counts, because a block that may have ended must not extend past another opener.
        let ladder = context.dialect.ladder(block, open.family);
        let closes_first = || ladder.iter().flatten().next().is_some_and(|first| first.is_closer());
        if open.found_outer_closer && closes_first() {
            open.closer_is_certain = true;
            return true;
        }
        if open.inner.len() < MAX_INNER {
            open.inner.push(mark.name());
        }
        if id == open.id {
            match self.quoted(open, search, mark) {
                Quoted::No => open.bound = Some(mark.start()),
                Quoted::Until(end) => {
                    open.search = self.marker.first_at(open.search, end);
                    open.fields = end;
                    return true;
                }
                Quoted::Unknown => {
                    open.waits = true;
                    return false;
                }
            }
        }
        if open.next_block.is_none() {
            open.next_block = Some(mark.start());
            open.ends_with_region = context.block(id).is_some_and(|block| block.role == Role::Wrapper);
        }
        true
    }

    /// Whether an opener of a content has no key, which makes it text in another content.
    fn has_no_key(&mut self, mark: &Mark, context: &ReadContext<'_>) -> bool {
        let MarkKind::Open { family, id, .. } = mark.kind else { return false };
        let Some(BlockBinding { role: Role::Content, key: Some(NameSource::Attribute(key)), .. }) = context.block(id)
        else {
            return false;
        };
        let Some(rules) = context.dialect.families.get(usize::from(family)) else { return false };
        let attributes = self.opener(rules, mark, context).attributes;
        !attributes.iter().any(|attribute| match attribute.key {
            AttributeKey::Typed(name) => context.dialect.names.same(name.span().of(context.text), key),
            AttributeKey::Rule(rule) => rules.grammar.rule_name(rule) == key,
            AttributeKey::Payload => false,
        })
    }

    /// Matches the payload after the opener and white space.
    fn fill(&mut self, open: &mut OpenBlock, search: &EndSearch<'_>) {
        let Some((family, rule)) =
            search.context.dialect.families.get(open.family).and_then(|family| Some((family, family.payload?)))
        else {
            open.payload = PayloadState::Absent;
            return;
        };
        let (within, complete) = (search.within(), search.is_complete());
        let first = family.grammar.first(rule);
        let behind = within.slice(open.payload_from..);
        // A payload that may be empty, such as the rest of the line, starts directly after the opener.
        let payload = if first.empty { behind } else { behind.trim_start() };
        let start = within.len() - payload.len();
        if matches!(open.payload, PayloadState::Unknown) {
            if !first.empty {
                let Some(byte) = payload.bytes().next() else {
                    open.payload_from = open.payload_from.max(within.len());
                    if complete {
                        open.payload = PayloadState::Absent;
                    }
                    return;
                };
                if first.bytes.get(usize::from(byte)) != Some(&true) {
                    open.payload = PayloadState::Absent;
                    return;
                }
            }
            self.machine.start(&family.grammar, rule, start);
            open.payload = PayloadState::Running;
        }
        if matches!(open.payload, PayloadState::Running) {
            open.payload = match self.payloads.run(&mut self.machine, family, (within, complete), self.arrived) {
                Progress::Matched(end) => {
                    let body = |capture: &Capture| family.body == Some(capture.rule());
                    let body = self.machine.captures().iter().find(|capture| body(capture)).map(|body| body.span());
                    PayloadState::Whole { end, body: body.unwrap_or(Span::new(open.opener.end, end)) }
                }
                Progress::TooDeep if payload.starts_with('{') => PayloadState::TooDeep(BraceCount::new(start)),
                Progress::TooDeep => PayloadState::Bottomless,
                Progress::Failed | Progress::Spent => PayloadState::Broken,
                Progress::Pending => PayloadState::Running,
            };
        }
        if let PayloadState::TooDeep(braces) = &mut open.payload {
            let counts = braces.may_count(self.counted, within);
            let end = if counts { braces.count(within, &mut self.counted) } else { None };
            match end {
                Some(end) => open.payload = PayloadState::Whole { end, body: Span::new(open.opener.end, end) },
                None if complete => open.payload = PayloadState::Bottomless,
                None => {}
            }
        }
    }
}

/// Whether the mark counts where it is, and closes the block by the name of the block or of its kind.
pub(super) fn closes_surely(open: &OpenBlock, search: &EndSearch<'_>, mark: &Mark) -> bool {
    let MarkKind::Close { family } = mark.kind else { return false };
    let counts = search.block.anchor == Anchor::Anywhere || mark.starts_line();
    // A named closer is decided by its name, whichever grammar reads it.
    let own = usize::from(family) == open.family || !mark.name().is_empty();
    counts && own && closes(open, search, mark).is_some_and(|(tier, _)| tier != Closer::LAST_TIER)
}

/// The tier with which the mark, of the block's family, closes the block, and whether by the first of its closers;
/// `None` if it does not close the block.
fn closes(open: &OpenBlock, search: &EndSearch<'_>, mark: &Mark) -> Option<(usize, bool)> {
    let EndSearch { context, block, .. } = *search;
    let text = context.text;
    let name = mark.name().of(text);
    // A closer without a name closes any block that its grammar has opened.
    if name.is_empty() {
        return Some((0, true));
    }
    let names = &context.dialect.names;
    let mut found: Option<(usize, bool)> = None;
    let mut is_first = true;
    for closer in &block.close {
        let closes = match closer {
            Closer::Own => {
                let repeated = || open.repeated && names.find(name, Some(open.family)) == Some(open.id);
                names.same(name, open.name.of(text)) || repeated()
            }
            Closer::Attribute(key) => {
                let mut values = values_of(open, key, context).peekable();
                // If the opener lacks the attribute, the next closer of the list is used instead.
                if values.peek().is_none() {
                    continue;
                }
                values.any(|value| names.same(value, name))
            }
            Closer::Word(word) => names.same(name, word),
            Closer::Pattern(pattern) => names.matches_name(pattern, name),
        };
        if closes {
            // The first of `close` is the declared one, even if another names the block with a better tier.
            let (tier, first) = found.unwrap_or((closer.tier(), is_first));
            found = Some((tier.min(closer.tier()), first));
        }
        is_first = false;
    }
    found
}

/// How much white space at the end of an answer may follow a closer in which it was cut off.
const MAX_BLANK: usize = 512;

/// The values of the opener's attributes with this key.
fn values_of<'t>(open: &OpenBlock, key: &str, context: &ReadContext<'t>) -> impl Iterator<Item = &'t str> {
    let names = &context.dialect.names;
    let grammar = context.dialect.grammar(open.family);
    let called = move |known: AttributeKey| match known {
        AttributeKey::Typed(known) => names.same(known.span().of(context.text), key),
        AttributeKey::Rule(rule) => grammar.is_some_and(|grammar| names.same(grammar.rule_name(rule), key)),
        AttributeKey::Payload => false,
    };
    let attributes = open.attributes.iter().filter(move |attribute| called(attribute.key));
    attributes.map(|attribute| attribute.value.span().of(context.text).trim())
}

/// The block's closer, if the answer was cut off inside it: the answer ends with the first part of the closer, and
/// perhaps with white space.
pub(super) fn cut_closer(open: &OpenBlock, block: &BlockBinding, at: usize, context: &ReadContext<'_>) -> Option<Span> {
    let text = context.text.get(open.opener.end..)?;
    let tail = boundary(text, text.len().saturating_sub(MAX_BLANK));
    let text = text.get(..tail + text.get(tail..)?.trim_end().len())?;
    if at < open.opener.end + text.len() {
        return None;
    }
    let names = &context.dialect.names;
    let starts = |name: &str, rest: &str| name.get(..rest.len()).is_some_and(|start| names.same(start, rest));
    let prefixes =
        context.dialect.families.iter().filter(|family| family.close.is_some()).map(|family| &family.close_prefix);
    // No name is longer than the opener, which has it, or the longest word that closes the block.
    let words = block.close.iter().map(|closer| if let Closer::Word(word) = closer { word.len() } else { 0 });
    let longest = words.max().unwrap_or_default().max(open.opener.len());
    prefixes.filter(|prefix| prefix.name_follows).find_map(|prefix| {
        let from = text.len().saturating_sub(prefix.literal.len() + longest);
        let first = *prefix.literal.as_bytes().first()?;
        let tail = text.get(from + memchr::memrchr(first, text.as_bytes().slice(from..))?..)?;
        let is_one = match tail.strip_prefix(prefix.literal.as_str()) {
            None => prefix.literal.starts_with(tail),
            Some(rest) => block.close.iter().any(|closer| match closer {
                Closer::Own => starts(open.name.of(context.text), rest),
                Closer::Attribute(key) => values_of(open, key, context).any(|value| starts(value, rest)),
                Closer::Word(word) => starts(word, rest),
                Closer::Pattern(_) => rest.is_empty(),
            }),
        };
        let (before, end) = (text.strip_suffix(tail)?, open.opener.end + text.len());
        // A closer directly after its opener counts as at the start of a line.
        let at_line_start = || before.rsplit_once('\n').is_none_or(|(_, line)| line.trim().is_empty());
        (is_one && (block.anchor == Anchor::Anywhere || at_line_start())).then(|| Span::new(end - tail.len(), end))
    })
}
