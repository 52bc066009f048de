//! Cursor: what comes next in a faulty object, and where does that part end?
//!
//! In: a response, an offset in it, and the rules for the parts.
//! Out: bytes, the ends of parts, and lists of the faults and junk that were skipped.
//! Never: knows which containers are open, or skips anything but white space without noting it.

use super::whitespace::{skip_whitespace, wide};
use crate::grammar::{Machine, RuleId};
use crate::program::{Limits, ObjectShape};
use crate::text::{Slice, Span, boundary};

pub(super) struct Cursor<'r, 'm> {
    pub(super) text: &'r str,
    pub(super) bytes: &'r [u8],
    pub(super) outline: &'r ObjectShape,
    pub(super) limits: &'r Limits,
    pub(super) at: usize,
    pub(super) faults: Vec<(RuleId, Span)>,
    /// The number of faults that are not stored.
    pub(super) left_out: usize,
    /// How many parts were read otherwise than they are written.
    pub(super) repaired: usize,
    /// Text that is not part of any value.
    pub(super) junk: Vec<Span>,
    machine: &'m mut Machine,
    steps: i64,
    /// False once a comment without an end has been found, because no later comment can end then.
    comments: bool,
    /// The next quote without a backslash before it, if it has been searched for.
    next_quote: usize,
}

impl<'r, 'm> Cursor<'r, 'm> {
    pub(super) fn new(
        text: &'r str,
        at: usize,
        outline: &'r ObjectShape,
        limits: &'r Limits,
        machine: &'m mut Machine,
    ) -> Self {
        Self {
            text,
            bytes: text.as_bytes(),
            outline,
            limits,
            at,
            faults: Vec::new(),
            left_out: 0,
            repaired: 0,
            junk: Vec::new(),
            machine,
            steps: limits.steps(text.len()),
            comments: true,
            next_quote: 0,
        }
    }

    /// Whether the steps are spent, so that no more rules can be run.
    pub(super) fn is_spent(&self) -> bool {
        self.steps <= 0
    }

    pub(super) fn byte(&self) -> u8 {
        self.byte_at(self.at)
    }

    pub(super) fn byte_at(&self, at: usize) -> u8 {
        self.bytes.get(at).copied().unwrap_or_default()
    }

    /// The first byte after the one at `at` that is not white space.
    pub(super) fn byte_behind(&self, at: usize) -> u8 {
        self.byte_at(skip_whitespace(self.bytes, at + 1))
    }

    /// Skips white space and comments.
    pub(super) fn pass_space(&mut self) {
        if !matches!(self.byte(), b' ' | b'\t' | b'\r' | b'\n' | b'/' | 0x80..) {
            return;
        }
        let before = self.at;
        self.at = skip_whitespace(self.bytes, before);
        if let Some(first) = (before..self.at).find(|at| wide(self.bytes, *at) > 0) {
            self.record(self.outline.faults.blank, Span::new(first, first + wide(self.bytes, first)));
        }
        if self.byte() != b'/' || !self.comments {
            return;
        }
        let start = self.at;
        if let Some(end) = self.run(self.outline.space) {
            self.take_faults();
            self.at = end;
        }
        // A comment that is never closed is not a comment, and neither is any after it.
        self.comments = self.at > start || self.byte_at(start + 1) != b'*';
    }

    /// Notes punctuation that does not belong here, and skips it; if the grammar has no name for the fault, it is junk.
    pub(super) fn step_over(&mut self, rule: Option<RuleId>) {
        match rule.and_then(|rule| self.run(rule)).filter(|end| *end > self.at) {
            Some(end) => {
                self.record(rule, Span::new(self.at, end));
                self.at = end;
            }
            None => self.skip_junk(),
        }
    }

    /// Skips junk up to the next punctuation or quote.
    pub(super) fn skip_junk(&mut self) {
        let start = self.at;
        self.repaired += 1;
        let rest = self.bytes.slice(start + 1..);
        let length = rest.iter().position(|byte| matches!(byte, b'{' | b'}' | b'[' | b']' | b',' | b'"'));
        self.at = length.map_or(self.bytes.len(), |length| start + 1 + length);
        match self.junk.last_mut() {
            Some(last) if last.end == start => last.end = self.at,
            _ => self.junk.push(Span::new(start, self.at)),
        }
    }

    /// The end of a match of this rule here, if the rule matches.
    pub(super) fn run(&mut self, rule: RuleId) -> Option<usize> {
        self.run_within(rule, self.text.len())
    }

    /// Like `run`, within the text up to `end`.
    pub(super) fn run_within(&mut self, rule: RuleId, end: usize) -> Option<usize> {
        let within = self.text.slice(..boundary(self.text, end));
        self.machine.match_at(&self.outline.grammar, rule, within, self.at, &mut self.steps)
    }

    /// The span that a rule of this name captured in the last run.
    pub(super) fn captured(&self, rule: &str) -> Option<Span> {
        let captures = self.machine.captures().iter();
        let mut named = captures.filter(|capture| self.outline.grammar.rule_name(capture.rule()) == rule);
        named.next().map(|capture| capture.span())
    }

    /// Notes the faults of the last run.
    pub(super) fn take_faults(&mut self) {
        for fault in self.outline.grammar.faults(self.machine.captures()) {
            self.repaired += 1;
            if self.faults.len() >= self.limits.diagnostics {
                self.left_out += 1;
            } else {
                self.faults.push(fault);
            }
        }
    }

    /// Notes that a token is missing here.
    pub(super) fn miss(&mut self, rule: Option<RuleId>) {
        self.miss_at(rule, self.at);
    }

    pub(super) fn miss_at(&mut self, rule: Option<RuleId>, at: usize) {
        self.record(rule, Span::new(at, at));
    }

    /// Notes a fault, unless the grammar has no name for it.
    pub(super) fn record(&mut self, rule: Option<RuleId>, span: Span) {
        let Some(rule) = rule else { return };
        self.repaired += 1;
        if self.faults.len() >= self.limits.diagnostics {
            self.left_out += 1;
        } else if self.faults.last() != Some(&(rule, span)) {
            self.faults.push((rule, span));
        }
    }

    /// The next quote without a backslash before it. It is searched for only once.
    pub(super) fn find_quote(&mut self) -> usize {
        let mut at = self.at;
        while self.next_quote < self.at {
            let rest = self.bytes.get(at..).unwrap_or_default();
            match memchr::memchr2(b'"', b'\\', rest) {
                Some(offset) if rest.get(offset) == Some(&b'\\') => at += offset + 2,
                Some(offset) => self.next_quote = at + offset,
                None => self.next_quote = self.bytes.len(),
            }
        }
        self.next_quote
    }
}
