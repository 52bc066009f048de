//! Reasoning: what may only have been part of the model's reasoning?
//!
//! In: closers of reasoning that close nothing, and the text before them.
//! Out: the places where reasoning may be outside its blocks; calls, contents and utterances there, answered by
//! strategies.
//! Never: decides what is reasoning: everything is reported as it was read, and needs a strategy from the pack to
//! count.
//!
//! An inference server may remove the opener of reasoning, and a model that quotes an opener or closer in its
//! reasoning closes it once too often. Both leave a closer without an opener.

use super::{Judgement, Subject, defect, head};
use crate::diagnostic::{Defect, message};
use crate::document::{Block, is_masked};
use crate::grammar::Machine;
use crate::program::{Closer, Dialect};
use crate::surface::Role;
use crate::text::{Span, excerpt};

/// Where reasoning may be outside its blocks: from the last such block, or the start of the answer, to a closer.
#[derive(Debug, Clone, Copy)]
pub(super) struct Reasoning {
    from: usize,
    closer: Span,
}

impl Judgement<'_> {
    /// The places where reasoning may be outside its blocks, in order.
    pub(super) fn reasoning_outside(&self) -> Vec<Reasoning> {
        let Some(dialect) = self.dialect else { return Vec::new() };
        if dialect.blocks.iter().all(|block| block.role != Role::Thinking) {
            return Vec::new();
        }
        let mut closers = self.stray_closers_of_reasoning(dialect);
        closers.sort_unstable_by_key(|closer| closer.start);
        let is_thinking = |block: &&Block| self.bound(block).is_some_and(|bound| bound.role == Role::Thinking);
        let written = self.document.blocks.iter().take(self.document.text_blocks());
        let mut ends = written.filter(is_thinking).map(|block| block.span().end).peekable();
        let mut from = 0;
        let mut found: Vec<Reasoning> = Vec::new();
        for closer in closers {
            while let Some(end) = ends.next_if(|end| *end <= closer.start) {
                from = from.max(end);
            }
            match found.last_mut().filter(|last| last.from == from) {
                Some(last) => last.closer = closer,
                None => found.push(Reasoning { from, closer }),
            }
        }
        found
    }

    /// Closers of reasoning that close nothing: outside every block, or inside a block that extends over them because
    /// it is never closed. Utterances have no closers, so in an utterance they only count at the start or end of a
    /// line.
    fn stray_closers_of_reasoning(&self, dialect: &Dialect) -> Vec<Span> {
        let mut machine = Machine::new();
        let mut closer_at = |start: usize, within: Span| {
            let mut steps = self.program.limits.steps(within.len());
            let text = self.text.get(..within.end)?;
            dialect.families.iter().find_map(|family| {
                let end = machine.match_at(&family.grammar, family.close?, text, start, &mut steps)?;
                let name = machine.captures().iter().find(|capture| capture.rule() == family.name)?.span();
                let name = name.of(self.text);
                let own = dialect.names.find(name, None).and_then(|id| dialect.block(id));
                let word = |closer: &Closer| matches!(closer, Closer::Word(word) if dialect.names.same(word, name));
                let mut thoughts = dialect.blocks.iter().filter(|block| block.role == Role::Thinking);
                let closes = match own {
                    Some(own) => own.role == Role::Thinking,
                    None => thoughts.any(|block| block.close.iter().any(word)),
                };
                closes.then(|| Span::new(start, end))
            })
        };
        let stray = self.document.stray_closers();
        let mut found: Vec<Span> = stray.filter_map(|span| closer_at(span.start, span)).collect();
        let masked = |at: usize| is_masked(&self.document.masks, at);
        let speaks = |block: &Block| self.bound(block).is_some_and(|bound| bound.role == Role::Utterance);
        for block in self.document.blocks.iter().filter(|block| block.ended.is_cut() || speaks(block)) {
            let (inner, speaks) = (block.inner(), speaks(block));
            let counts = |closer: &Span| !speaks || self.edges_line(*closer);
            let body = inner.of(self.text).as_bytes();
            let starts = dialect.closer_starts.iter().flat_map(|starts| starts.find_all(body));
            let places = starts.map(|at| inner.start + at).filter(|at| !masked(*at));
            found.extend(places.filter_map(|at| closer_at(at, inner)).filter(counts));
        }
        found
    }

    /// Whether nothing else is on the line before a place, or nothing else after it.
    pub(super) fn edges_line(&self, place: Span) -> bool {
        let blank = |c: char| c.is_whitespace() && c != '\n';
        let before = self.text.get(..place.start).map(|before| before.trim_end_matches(blank));
        let behind = self.text.get(place.end..).map(|behind| behind.trim_start_matches(blank));
        before.is_some_and(|before| before.is_empty() || before.ends_with('\n'))
            || behind.is_some_and(|behind| behind.is_empty() || behind.starts_with('\n'))
    }

    /// Whether a block may be part of reasoning outside its blocks.
    pub(super) fn may_be_reasoning(&self, block: &Block) -> bool {
        self.reasoning_around(block).is_some()
    }

    fn reasoning_around(&self, block: &Block) -> Option<&Reasoning> {
        // Reasoning in the text cannot extend into native parts of a structured reply.
        if block.is_native() {
            return None;
        }
        let span = block.span();
        let next = self.reasoning.partition_point(|one| one.from <= span.start);
        let around = self.reasoning.get(next.checked_sub(1)?)?;
        // An utterance ends only at the next one, so it may extend over the closer: its start decides.
        let speaks = self.bound(block).is_some_and(|bound| bound.role == Role::Utterance);
        (span.end <= around.closer.start || (speaks && span.start < around.closer.start)).then_some(around)
    }

    /// Answers a call, a content or an utterance that may be part of reasoning.
    pub(super) fn judge_in_reasoning(&mut self, index: usize, subject: &Subject) {
        let Some((block, bound)) = self.block(index) else { return };
        let Some(closer) = self.reasoning_around(block).map(|around| around.closer) else { return };
        let (closer, kind) = (excerpt(closer.of(self.text), 40), bound.role.word());
        let message = message!("`{}` ends reasoning that never opened, and this {} may be part of it", &closer, &kind);
        let mut finding = defect(Defect::StrayCloser, head(block), message).with_rule(Some(bound.at));
        finding.help = self.withheld(Defect::StrayCloser, Some(index));
        self.answer(Defect::StrayCloser, subject, finding);
    }
}
