//! Grammars: how is a dialect written?
//!
//! In: the text of a grammar in pest's language, either shipped or from a pack.
//! Out: a checked [`Grammar`], and a [`Machine`] that runs its rules on a text that may still be growing.
//! Never: interprets the name of a rule, except `fault_…`, or knows which names a pack binds.
//!
//! The text becomes a tree with places ([`tree`]), which is checked ([`check`]) before pest's optimiser sees it. The
//! result is resolved ([`expression`]), analysed ([`analysis`]) and compiled ([`code`]) for the machine ([`machine`]).
//! The captures are the same as those of `pest_derive` for the same file. In the other direction, [`spell`] writes a
//! text that a rule matches.

mod analysis;
mod check;
mod class;
mod code;
mod cost;
mod doubts;
mod expression;
mod limits;
mod machine;
mod shipped;
mod spell;
mod tree;
mod unicode;

pub use machine::{Capture, Machine, Progress, inside};
pub(crate) use shipped::compiled;
pub use shipped::{shipped, shipped_names};
pub(crate) use spell::INSIDE;
pub use spell::SpelledCapture;

use crate::diagnostic::{Checked, Diagnostic, is_fault};
use crate::text::{Location, SourceId, Sources, Span, starts_fence};
use expression::Expr;
use pest_meta::ast::RuleType;
use std::collections::{HashMap, HashSet};
use std::sync::OnceLock;

/// A rule of a [`Grammar`]; only valid with that grammar.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct RuleId(u16);

/// How all matches of a rule start, with which a search skips text.
#[derive(Debug, Clone)]
pub struct First {
    /// Texts such that every match starts with one of them, none of which starts with another; empty if unknown.
    pub literals: Vec<String>,
    /// For each byte, whether a match that is not empty can start with it.
    pub bytes: [bool; 256],
    /// Whether a match can be empty.
    pub empty: bool,
    /// For each byte, whether it may be the second one of a match, judged by the literals.
    second_bytes: [bool; 256],
}

impl First {
    pub(crate) fn new(literals: Vec<String>, bytes: [bool; 256], empty: bool) -> Self {
        let may_follow =
            |byte: u8| literals.iter().any(|one| one.as_bytes().get(1).is_none_or(|second| *second == byte));
        let second_bytes = std::array::from_fn(|byte| may_follow(byte as u8));
        Self { literals, bytes, empty, second_bytes }
    }

    /// Whether a match can start with `bytes`, which may be only the beginning of one of its literals.
    pub(crate) fn may_start(&self, bytes: &[u8]) -> bool {
        self.starts(bytes) != Some(false)
    }

    /// Whether a match can start with `bytes`; `None` if that depends on the bytes that follow.
    pub(crate) fn starts(&self, bytes: &[u8]) -> Option<bool> {
        if self.literals.is_empty() {
            return Some(true);
        }
        // Fast path: of a grammar with many literals, all start with the same byte.
        if bytes.get(1).is_some_and(|second| self.second_bytes.get(usize::from(*second)) == Some(&false)) {
            return Some(false);
        }
        // Literals are short, so they are compared in place.
        let agrees = |literal: &&String| literal.bytes().zip(bytes).all(|(one, other)| one == *other);
        // None starts with another, so that all that agree with incomplete bytes are longer than these.
        let agreeing = self.literals.iter().find(agrees).map(|literal| literal.len() <= bytes.len());
        agreeing.map_or(Some(false), |is_whole| is_whole.then_some(true))
    }

    /// The literal that every match starts with, if there is only one.
    pub(crate) fn only_literal(&self) -> Option<&str> {
        if let [literal] = self.literals.as_slice() { Some(literal) } else { None }
    }

    /// The byte that every match starts with, if it is always the same.
    pub(crate) fn only_first_byte(&self) -> Option<u8> {
        let mut first_bytes = self.literals.iter().filter_map(|literal| literal.bytes().next());
        let first_byte = first_bytes.next()?;
        first_bytes.all(|other| other == first_byte).then_some(first_byte)
    }

    /// Whether every match starts with a code fence.
    pub(crate) fn is_fence(&self) -> bool {
        let fenced = |literal: &String| starts_fence(literal.as_bytes());
        !self.literals.is_empty() && self.literals.iter().all(fenced)
    }
}

/// A checked grammar. Only [`Grammar::parse`] makes one.
#[derive(Debug)]
pub struct Grammar {
    source: SourceId,
    rules: Vec<NamedRules>,
    index: HashMap<String, RuleId>,
    code: code::RuleCode,
    /// The resolved rules, from which texts are spelled.
    resolved: Vec<expression::ResolvedRule>,
    /// The rules as typed, and the doubts about them, which are found on first use.
    typed: Vec<tree::TypedRule>,
    doubts: OnceLock<Vec<Diagnostic>>,
}

#[derive(Debug)]
struct NamedRules {
    name: String,
    at: Span,
    first: First,
    /// The bytes before which a match can be empty.
    before: class::ByteSet,
    /// The literal that every match starts with, and the rule directly after it.
    prefix: Option<(String, RuleId)>,
}

/// More steps than a match of two characters costs.
const MAX_STEPS: i64 = 1 << 20;

impl Grammar {
    /// Reads and compiles a grammar. Every fault becomes a `pack/bad-grammar` with its place in `source`. If the text
    /// can be parsed, all faults are found in one run.
    ///
    /// The notation is that of pest, without a stack, implicit white space and anchors, and with limits: 64 KiB, 512
    /// rules, repetitions up to 64.
    pub fn parse(source: SourceId, text: &str) -> Checked<Grammar> {
        let (rules, mut diagnostics) = tree::read(source, text);
        // If an error left no rule at all, do not report missing rules as well.
        if diagnostics.is_empty() || !rules.is_empty() {
            diagnostics.extend(check::check(source, &rules));
        }
        if !diagnostics.is_empty() {
            diagnostics.sort_by_key(|diagnostic| diagnostic.at.map(|at| at.span));
            return Checked::new(None, diagnostics, Sources::default());
        }
        let resolved = expression::resolve(&rules);
        let mut analysis = analysis::Analysis::of(&resolved);
        let Some(code) = code::compile(&resolved, &mut analysis) else {
            let diagnostic = tree::fault(source, Span::default(), "more parts than a grammar may have");
            return Checked::new(
                None,
                vec![diagnostic.with_help("split the dialect into several grammars")],
                Sources::default(),
            );
        };
        let index = rules.iter().zip(0..).map(|(rule, id)| (rule.name.clone(), RuleId(id))).collect();
        let named = rules.iter().zip(&resolved).map(|(rule, resolved)| {
            let start = analysis.match_start(&resolved.expr);
            let mut bytes = [false; 256];
            bytes.iter_mut().zip(0..=u8::MAX).for_each(|(slot, byte)| *slot = start.bytes.contains(byte));
            let literals = analysis.literals(&resolved.expr).filter(|_| !start.empty).unwrap_or_default();
            let before = if start.empty { analysis.ahead(&resolved.expr) } else { class::ByteSet::default() };
            let first = First::new(literals, bytes, start.empty);
            let prefix = expression::literal_prefix(&resolved.expr).map(|(text, rule)| (text, RuleId(rule as u16)));
            NamedRules { name: rule.name.clone(), at: rule.at, first, before, prefix }
        });
        let named = named.collect();
        let doubts = OnceLock::new();
        let grammar = Grammar { source, rules: named, index, code, resolved, typed: rules, doubts };
        Checked::new(Some(grammar), diagnostics, Sources::default())
    }

    /// Rules or parts of rules that can never match, or could take more than linear time. These are warnings, not
    /// faults.
    pub fn doubts(&self) -> &[Diagnostic] {
        self.doubts.get_or_init(|| doubts::doubts(self.source, &self.typed))
    }

    /// The rules whose names `known` accepts, and all rules that they call, at any depth.
    pub(crate) fn called_from(&self, known: impl Fn(&str) -> bool) -> HashSet<RuleId> {
        self.reached(self.rules().filter(|rule| known(self.rule_name(*rule))).collect())
    }

    fn reached(&self, mut rest: Vec<RuleId>) -> HashSet<RuleId> {
        let mut called: HashSet<RuleId> = rest.iter().copied().collect();
        while let Some(rule) = rest.pop() {
            let Some(resolved) = self.resolved.get(usize::from(rule.0)) else { continue };
            resolved.expr.calls(&mut |callee| {
                let callee = RuleId(callee as u16);
                if called.insert(callee) {
                    rest.push(callee);
                }
                false
            });
        }
        called
    }

    /// Whether a match of `rule` may capture `inner`: outside of lookaheads, and of rules that make no captures inside
    /// themselves.
    pub(crate) fn may_capture(&self, rule: RuleId, inner: RuleId) -> bool {
        let mut seen = HashSet::new();
        let mut rest = vec![(rule, true)];
        while let Some((rule, visible)) = rest.pop() {
            let Some(resolved) = self.resolved.get(usize::from(rule.0)).filter(|_| seen.insert((rule, visible))) else {
                continue;
            };
            let visible = match resolved.kind {
                RuleType::Atomic => false,
                RuleType::CompoundAtomic | RuleType::NonAtomic => true,
                RuleType::Silent | RuleType::Normal => visible,
            };
            let captures = resolved.expr.takes(&mut |callee| {
                let callee = RuleId(callee as u16);
                let kind = self.resolved.get(usize::from(callee.0)).map_or(RuleType::Silent, |rule| rule.kind);
                let always = matches!(kind, RuleType::CompoundAtomic | RuleType::NonAtomic);
                rest.push((callee, visible));
                callee == inner && (always || (visible && kind != RuleType::Silent))
            });
            if captures {
                return true;
            }
        }
        false
    }

    /// Whether every match of `rule` contains exactly one `inner`, at a position that depends only on the text before
    /// it.
    pub(crate) fn contains_one(&self, rule: RuleId, inner: RuleId) -> bool {
        let Some(Expr::Sequence(parts)) = self.resolved.get(usize::from(rule.0)).map(|rule| &rule.expr) else {
            return false;
        };
        let is_inner = |part: &&Expr| matches!(part, Expr::Call(callee) if *callee == usize::from(inner.0));
        let mut others = Vec::new();
        for part in parts.iter().filter(|part| !is_inner(part)) {
            part.calls(&mut |callee| {
                others.push(RuleId(callee as u16));
                false
            });
        }
        parts.iter().filter(is_inner).count() == 1 && !self.reached(others).contains(&inner)
    }

    /// Whether every match of `rule` starts with a literal, and only optional parts come between it and `inner`.
    pub(crate) fn starts_up_to(&self, rule: RuleId, inner: RuleId) -> bool {
        let Some(Expr::Sequence(parts)) = self.resolved.get(usize::from(rule.0)).map(|rule| &rule.expr) else {
            return false;
        };
        let mut behind = parts.iter().skip(1).skip_while(|part| matches!(part, Expr::Optional(_) | Expr::Repeat(_)));
        let is_literal = matches!(parts.first(), Some(Expr::Text(_)));
        is_literal && matches!(behind.next(), Some(Expr::Call(callee)) if *callee == usize::from(inner.0))
    }

    /// Whether a literal that `is` accepts is in `rule`, or in a rule that it calls.
    pub(crate) fn contains_text(&self, rule: RuleId, is: impl Fn(&str) -> bool) -> bool {
        let rules = self.reached(vec![rule]);
        let texts = |rule: &RuleId| self.resolved.get(usize::from(rule.0)).is_some_and(|rule| rule.expr.has_text(&is));
        rules.iter().any(texts)
    }

    /// The rule called `name`, if there is one.
    pub fn rule(&self, name: &str) -> Option<RuleId> {
        self.index.get(name).copied()
    }

    /// The name of `rule`.
    pub fn rule_name(&self, rule: RuleId) -> &str {
        self.rules.get(usize::from(rule.0)).map_or("", |rule| rule.name.as_str())
    }

    /// The faults in a match: the rules called `fault_…`, and where they matched.
    pub fn faults<'c>(&'c self, captures: &'c [Capture]) -> impl Iterator<Item = (RuleId, Span)> + use<'c> {
        let faults = captures.iter().filter(|capture| self.is_fault(capture.rule()));
        faults.map(|capture| (capture.rule(), capture.span()))
    }

    /// Whether a match of `rule` is a fault.
    pub fn is_fault(&self, rule: RuleId) -> bool {
        is_fault(self.rule_name(rule))
    }

    /// Whether a match of `rule` makes no capture.
    pub(crate) fn is_silent(&self, rule: RuleId) -> bool {
        self.resolved.get(usize::from(rule.0)).is_none_or(|rule| rule.kind == RuleType::Silent)
    }

    /// All rules, in the order of the file.
    pub fn rules(&self) -> impl Iterator<Item = RuleId> {
        (0..self.rules.len() as u16).map(RuleId)
    }

    /// The place of the name of `rule` in the grammar's file.
    pub(crate) fn rule_at(&self, rule: RuleId) -> Location {
        let span = self.rules.get(usize::from(rule.0)).map_or(Span::default(), |rule| rule.at);
        Location { source: self.source, span }
    }

    /// The literal between the start of every match of `rule` and `inner`, if nothing else is between them.
    pub(crate) fn literal_before(&self, rule: RuleId, inner: RuleId) -> Option<&str> {
        let (literal, first) = self.rules.get(usize::from(rule.0))?.prefix.as_ref()?;
        self.begins_with(*first, inner).then_some(literal.as_str())
    }

    /// Whether `rule` is `inner`, or calls it before anything else: `fault_x = { name }`.
    pub(crate) fn begins_with(&self, rule: RuleId, inner: RuleId) -> bool {
        let mut rule = rule;
        // A rule that calls itself first is refused, so the loop ends.
        while rule != inner {
            let first = match self.resolved.get(usize::from(rule.0)).map(|rule| &rule.expr) {
                Some(Expr::Sequence(parts)) => parts.first(),
                expr => expr,
            };
            let Some(Expr::Call(callee)) = first else { return false };
            rule = RuleId(*callee as u16);
        }
        true
    }

    /// Whether `rule` may match before this byte, even without consuming it.
    pub(crate) fn may_match_before(&self, rule: RuleId, byte: u8) -> bool {
        let before = || self.rules.get(usize::from(rule.0)).is_some_and(|rule| rule.before.contains(byte));
        self.first(rule).bytes.get(usize::from(byte)) == Some(&true) || before()
    }

    /// Whether `rule` may match nothing, and does so before every character.
    pub(crate) fn matches_anywhere(&self, rule: RuleId) -> bool {
        let matches = |character: char| {
            let text = format!("{character}{character}");
            Machine::new().match_at(self, rule, &text, 0, &mut MAX_STEPS.clone()).is_some()
        };
        self.first(rule).empty && ('\t'..='~').all(matches)
    }

    /// How all matches of `rule` start.
    pub fn first(&self, rule: RuleId) -> &First {
        const NOTHING: &First =
            &First { literals: Vec::new(), bytes: [false; 256], empty: false, second_bytes: [false; 256] };
        self.rules.get(usize::from(rule.0)).map_or(NOTHING, |rule| &rule.first)
    }
}

#[cfg(test)]
mod tests;
