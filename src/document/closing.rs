//! Closing: which block is it, and what is in it, once its end is known?
//!
//! In: an open block and its end.
//! Out: the block with its body, or a block for each call that its payload lists; the blocks inside it; the faults of
//! its opener and closer.
//! Never: searches for an end: the ladder does.

use super::call_list::{self, CallList, ListedCall};
use super::enclosing::Enclosing;
use super::mark::MarkKind;
use super::open_block::{BlockEnd, FoundCloser, OpenBlock, PayloadState};
use super::pairs::Tagged;
use super::payload::{FieldSyntax, PayloadSource, Tag, ends_response};
use super::reader_findings::{FindingKind, ReaderFinding};
use super::scanner::DialectScanner;
use super::trim::{trimmed, trimmed_within};
use super::{Attribute, AttributeKey, Block, BodyEncoding, Ended, Quoted, ReadContext, TextEncoding};
use crate::diagnostic::{Defect, Remark};
use crate::json::{self, JsonFault};
use crate::program;
use crate::surface::{Ending, Payload, Role};
use crate::text::Span;
use std::cell::Cell;
use std::collections::BTreeSet;
use std::num::NonZeroU32;

impl DialectScanner {
    /// Adds a block whose end is known, and the blocks inside it.
    pub(super) fn close(
        &mut self,
        open: &mut OpenBlock,
        end: BlockEnd,
        context: &ReadContext<'_>,
        parent: Option<usize>,
        depth: usize,
    ) {
        let Some(block) = context.block(open.id) else { return };
        let (index, role) = (self.blocks.len(), block.role);
        if end.ending == Ending::Fence {
            self.fences.end(index);
        }
        let inner = end.inner(open);
        let span = Span::new(open.opener.start, end.at);
        let ended = match block.role {
            Role::Wrapper if open.empty || open.leaves => Ended::Bare,
            _ if open.empty => Ended::Whole,
            _ if end.ending == Ending::Fence && open.unsure_fence => Ended::Unsure,
            _ if self.breaks_off(open, &end, block, context) => Ended::Torn,
            _ => end.ended(),
        };
        let (mut around, mut named, mut written) = (None, None, BodyEncoding::Bound);
        let mut body = end.body(inner, block, |inner| {
            let (body, tag) = self.trimmed(inner, open.family, block, context);
            around = tag;
            body
        });
        let lists = block.lists_calls();
        if block.named_within().is_some()
            && let Some(listed) = self.listed(open.family, body, block, ended, context)
        {
            if lists && parent.is_none() {
                if !listed.calls.is_empty() {
                    self.note_edge_faults(context, open, &end, index);
                    self.note_enclosing_tag(around, index);
                }
                self.push_listed_calls(open, listed, (span, ended), block);
                self.advance_past(span);
                return;
            }
            if let (false, [call]) = (lists, listed.calls.as_slice()) {
                self.note_members_beside(call, index);
                named = call.named();
                body = call.params;
                written = call.written();
                self.note_payload_faults(&listed.faults);
            }
        }
        if ended.is_cut() {
            let what = if matches!(open.payload, PayloadState::Bottomless) {
                Defect::MalformedPayload
            } else {
                Defect::UnclosedBlock
            };
            self.found.push(ReaderFinding::of(what, span, index));
        }
        self.note_edge_faults(context, open, &end, index);
        self.note_enclosing_tag(around, index);
        // Only the marks in a content or call have to be noted here; those in other blocks are handled one by one.
        if end.ending == Ending::BalancedCloser && matches!(block.role, Role::Content | Role::Call) {
            self.note_own_quotes(open, inner, context);
        }
        let mut attributes = std::mem::take(&mut open.attributes);
        attributes.extend(named);
        let parent_number = parent.and_then(|parent| NonZeroU32::new(parent as u32 + 1));
        let block = Block { attributes, written, parent: parent_number, ..open.block(span, inner, body, ended) };
        if role == Role::Wrapper {
            self.wrapping.pass(&block, ());
        }
        self.blocks.push(block);
        if end.payload.is_none() && !open.empty {
            self.handle_inside(open, index, inner, context, depth);
        }
        if parent.is_none() {
            self.advance_past(span);
        }
    }

    /// The text of a block after its `trim`, and the opener of the tag around the text, if a tag was removed.
    pub(super) fn trimmed(
        &self,
        inner: Span,
        family: usize,
        block: &program::BlockBinding,
        context: &ReadContext<'_>,
    ) -> (Span, Option<Span>) {
        if !Enclosing::counts(block) {
            return (trimmed(inner, context.text, &block.trim), None);
        }
        let enclosing = Enclosing::new(context, family, self.masks.found(), &self.limits);
        let body = trimmed_within(inner, context.text, &block.trim, &|span| enclosing.inside(span));
        (body, enclosing.opener())
    }

    /// Notes that a tag around the text of a block was removed.
    pub(super) fn note_enclosing_tag(&mut self, tag: Option<Span>, index: usize) {
        if let Some(tag) = tag {
            self.add_finding(ReaderFinding::of(Remark::FieldForm, tag, index));
        }
    }

    /// The calls that a payload names itself, as fields or as JSON.
    fn listed(
        &self,
        family: usize,
        body: Span,
        block: &program::BlockBinding,
        ended: Ended,
        context: &ReadContext<'_>,
    ) -> Option<CallList> {
        let source = PayloadSource {
            text: context.text,
            masks: self.masks.found(),
            dialect: context.dialect,
            spelled: FieldSyntax::of(family, block),
            spelling: TextEncoding::Plain,
            within: body,
            declared: program::Types::unknown(),
            limits: &self.limits,
            values: &Cell::new(self.limits.values),
            bound: block,
            cut: ended.is_cut() || ends_response(context.text, body.end),
            bounded: true,
        };
        let fields = block.payload.contains(&Payload::Tags);
        match !fields || (block.payload.len() > 1 && body.of(context.text).trim_start().starts_with(['{', '['])) {
            true => call_list::read(&source, body, block),
            false => call_list::of_fields(&source, body, block),
        }
    }

    /// Whether another block interrupted this one in the middle of a value: a content, a text, or an incomplete field
    /// or JSON value of a call.
    fn breaks_off(
        &self,
        open: &OpenBlock,
        end: &BlockEnd,
        block: &program::BlockBinding,
        context: &ReadContext<'_>,
    ) -> bool {
        let ended = end.ended();
        // The opener of a wrapper also ends the region around the block.
        if end.ending != Ending::NextBlock && !open.ends_with_region || !ended.is_cut() {
            return false;
        }
        let body = Span::new(open.opener.end, end.at);
        let holds = |payload: &Payload| match payload {
            Payload::Json => json::breaks_off(body.of(context.text)),
            Payload::Tags => self.tags(open, body, context).iter().any(Tag::is_left_open),
            Payload::Text => true,
            Payload::Attributes | Payload::Bullets => false,
        };
        match block.role {
            // The next content of the same kind may be an example in this one: later closers decide that.
            Role::Content => ended != Ended::Alike,
            Role::Call => block.payload.iter().any(holds),
            _ => false,
        }
    }

    fn advance_past(&mut self, span: Span) {
        self.at = span.end;
        self.next = self.marker.first_at(self.next, span.end);
    }

    /// Adds a block for each call of a payload that is a list of calls; the text around the calls is markup.
    fn push_listed_calls(
        &mut self,
        open: &OpenBlock,
        listed: CallList,
        (span, ended): (Span, Ended),
        block: &program::BlockBinding,
    ) {
        self.note_payload_faults(&listed.faults);
        let mut at = span.start;
        for (number, call) in listed.calls.into_iter().enumerate() {
            if number > 0 && (self.blocks.len() >= self.limits.blocks || self.calls >= self.limits.calls) {
                self.found.push(ReaderFinding::new(Defect::TooLarge, call.span));
                self.stopped = true;
                break;
            }
            self.calls += usize::from(number > 0);
            let index = self.blocks.len();
            if ended.is_cut() {
                self.found.push(ReaderFinding::of(Defect::UnclosedBlock, call.span, index));
            }
            if !listed.is_list && !block.takes_lone_call() {
                self.found.push(ReaderFinding::of(Remark::FieldForm, call.span, index));
            }
            self.note_members_beside(&call, index);
            self.markup.push(Span::new(at, call.span.start));
            at = call.span.end;
            let (attributes, written) = (call.named().into_iter().collect(), call.written());
            self.blocks.push(Block { attributes, written, ..open.block(call.span, call.span, call.params, ended) });
        }
        self.markup.push(Span::new(at, span.end));
    }

    /// Notes the members of a call other than its name and parameters.
    fn note_members_beside(&mut self, call: &ListedCall, index: usize) {
        for member in &call.beside {
            self.add_finding(ReaderFinding::of(Remark::FieldForm, *member, index));
        }
        for key in &call.repeated {
            self.add_finding(ReaderFinding::new(Remark::DuplicateKey, *key));
        }
    }

    fn note_payload_faults(&mut self, faults: &[JsonFault]) {
        for fault in faults {
            self.add_finding(ReaderFinding::new(FindingKind::PayloadFault(fault.id()), fault.span));
        }
    }

    /// Notes the defects of an opener and of a closer.
    fn note_edge_faults(&mut self, context: &ReadContext<'_>, open: &OpenBlock, end: &BlockEnd, index: usize) {
        if let Some(FoundCloser { span, is_first: false, .. }) = end.closer {
            self.found.push(ReaderFinding::of(Defect::WrongCloser, span, index));
        }
        self.note_opener_faults(context, open.family, &open.attributes, index);
        self.note_closer_faults(context, open.family, end.closer.map(|closer| closer.span), index);
        self.note_repeated_attributes(&open.attributes, index, context);
    }

    /// Notes the faults in the closer, as its grammar defines them.
    fn note_closer_faults(&mut self, context: &ReadContext<'_>, family: usize, closer: Option<Span>, index: usize) {
        let family = context.dialect.families.get(family).filter(|family| family.closes_with_faults);
        let Some((closer, family)) = closer.zip(family) else { return };
        let Some((close, within)) = family.close.zip(context.text.get(..closer.end)) else { return };
        let mut steps = self.limits.steps(closer.len());
        if self.machine.match_at(&family.grammar, close, within, closer.start, &mut steps).is_none() {
            return;
        }
        for capture in self.machine.captures().iter().filter(|capture| family.faults.contains(&capture.rule())) {
            self.found.push(ReaderFinding::of(FindingKind::Fault(capture.rule()), capture.span(), index));
        }
    }

    /// Notes the faults in the opener, as its grammar defines them.
    pub(super) fn note_opener_faults(
        &mut self,
        context: &ReadContext<'_>,
        family: usize,
        attributes: &[Attribute],
        index: usize,
    ) {
        let Some(family) = context.dialect.families.get(family).filter(|family| !family.faults.is_empty()) else {
            return;
        };
        for attribute in attributes {
            if let AttributeKey::Rule(rule) = attribute.key
                && family.faults.contains(&rule)
            {
                self.found.push(ReaderFinding::of(FindingKind::Fault(rule), attribute.value.span(), index));
            }
        }
    }

    /// Notes the attributes that the opener repeats; of each name, the first counts.
    pub(super) fn note_repeated_attributes(
        &mut self,
        attributes: &[Attribute],
        index: usize,
        context: &ReadContext<'_>,
    ) {
        if attributes.len() < 2 {
            return;
        }
        let mut known = BTreeSet::new();
        for attribute in attributes {
            if let AttributeKey::Typed(key) = attribute.key
                && !known.insert(context.dialect.names.fold(key.span().of(context.text)))
            {
                self.add_finding(ReaderFinding::of(Remark::DuplicateKey, key.span(), index));
            }
        }
    }

    /// Handles the marks inside the closed block number `index`: blocks that it `holds` are read, all else remains
    /// text.
    fn handle_inside(&mut self, open: &OpenBlock, index: usize, inner: Span, context: &ReadContext<'_>, depth: usize) {
        let Some(block) = context.block(open.id) else { return };
        // Contents and the payloads of calls are opaque.
        if matches!(block.role, Role::Content | Role::Call) {
            return;
        }
        let mut next = open.first;
        let last = self.marker.first_at(next, inner.end);
        let mut at = inner.start;
        let mut tags = Tagged::new(at);
        while next < last && !self.stopped {
            let Some(mark) = self.marker.mark(next) else { return };
            next += 1;
            if mark.start() < at {
                continue;
            }
            tags.pass(at);
            if let Quoted::Until(end) = self.in_attribute(&mut tags, &mark, context, Some(inner.end)) {
                self.note_quoted_opener(&mark);
                at = end;
                continue;
            }
            match mark.kind {
                _ if mark.masked => self.note_quoted_opener(&mark),
                // An opener that does not count is prose that mentions the block.
                MarkKind::Open { .. } if !self.counts(context, &mark) => {}
                MarkKind::Open { id, .. } if block.holds.contains(&id) && depth < self.limits.depth => {
                    let opened = self.begin(&mark, next, context);
                    let Some((mut open, end)) = self.end_within(opened, inner, last, context) else { return };
                    at = end.at;
                    let span = Span::new(mark.start(), end.at);
                    self.found.push(ReaderFinding::of(Defect::NestedBlock, span, self.blocks.len()));
                    self.close(&mut open, end, context, Some(index), depth + 1);
                }
                MarkKind::Open { id, .. } => {
                    self.add_finding(ReaderFinding::inside(Defect::NestedBlock, mark.span(), index));
                    at = mark.span().end;
                    // The block remains text, but nothing inside reasoning or a content may count: skip all of it.
                    let closed =
                        context.block(id).is_some_and(|block| matches!(block.role, Role::Thinking | Role::Content));
                    if closed {
                        let opened = self.begin(&mark, next, context);
                        let Some((_, end)) = self.end_within(opened, inner, last, context) else { return };
                        at = end.at;
                    }
                }
                MarkKind::Close { .. } | MarkKind::Broken { .. } => {}
            }
        }
    }

    /// The end of a block that opened inside another one; `None` if a limit forbade it.
    fn end_within(
        &mut self,
        opened: Option<Box<OpenBlock>>,
        inner: Span,
        last: usize,
        context: &ReadContext<'_>,
    ) -> Option<(Box<OpenBlock>, BlockEnd)> {
        let mut open = opened?;
        let end = self.find_end(&mut open, context, Some(inner.end), last)?;
        Some((open, end))
    }
}
