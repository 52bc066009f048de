//! Cost: may a rule read the same text many times?
//!
//! In: the rules of a grammar, as typed and without faults.
//! Out: [`RepeatedPart`]s: each part that may read ahead without limit, fail, and be tried again one character later.
//! Never: reports a part that cannot start again inside the text that it has read, or that consumes that text.
//!
//! There is no backtracking into a match, so one repetition after another is cheap. Costly is a repetition whose rounds
//! look far ahead and then consume little: because of a lookahead, or of an alternative that fails late.

use super::analysis::Analysis;
use super::class::{ByteSet, Class};
use super::expression::built_in;
use super::tree::{NodeKind, RuleNode, Times, TypedRule};
use crate::text::Slice;
use std::collections::HashMap;

/// A part that is read again in each round of the repetition around it.
pub(super) struct RepeatedPart<'r> {
    pub(super) part: &'r RuleNode,
    pub(super) around: &'r RuleNode,
}

/// The parts of the rules that may be read once for each character. `recursive` decides whether a rule calls itself.
pub(super) fn again<'r>(rules: &'r [TypedRule], recursive: impl Fn(&'r TypedRule) -> bool) -> Vec<RepeatedPart<'r>> {
    let costs = Costs::of(rules, &recursive);
    let mut found: Vec<RepeatedPart<'r>> = Vec::new();
    for rule in rules {
        let comes_back = recursive(rule);
        let mut rest = vec![&rule.body];
        while let Some(node) = rest.pop() {
            let again = match &node.what {
                NodeKind::Repeat(round, Times::Any | Times::Some | Times::AtLeast(_)) => {
                    costs.wasted(round).map(|part| RepeatedPart { part, around: node })
                }
                NodeKind::And(ahead) | NodeKind::Not(ahead) if comes_back && costs.facts(ahead).starts_within() => {
                    Some(RepeatedPart { part: ahead, around: &rule.body })
                }
                _ => None,
            };
            found.extend(again.filter(|new| !found.iter().any(|known| std::ptr::eq(known.part, new.part))));
            rest.extend(node.parts());
        }
    }
    found
}

/// The facts about a part.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
struct CostFacts {
    /// The bytes that a match may start with.
    first: ByteSet,
    /// The bytes of the characters that a match may contain.
    takes: ByteSet,
    /// Those of `takes` that it may read without limit; empty if its length is limited.
    runs: ByteSet,
    /// Whether a match can be empty.
    empty: bool,
    /// Whether it can fail, and whether it can fail after reading without limit.
    fails: bool,
    fails_late: bool,
    /// Whether it always consumes one of these characters.
    single: bool,
    /// For a negative lookahead: the ASCII characters that the text after it cannot start with.
    bars: ByteSet,
}

impl CostFacts {
    fn one(bytes: ByteSet) -> Self {
        Self { first: bytes, takes: bytes, fails: true, single: true, ..Self::default() }
    }

    fn text(text: &str, any_case: bool) -> Self {
        let mut bytes = text.bytes().map(|byte| match any_case {
            true => ByteSet::one(byte.to_ascii_lowercase()).or(ByteSet::one(byte.to_ascii_uppercase())),
            false => ByteSet::one(byte),
        });
        let first = bytes.next().unwrap_or_default();
        let (empty, single) = (text.is_empty(), text.len() == 1);
        Self { first, takes: bytes.fold(first, ByteSet::or), empty, fails: !empty, single, ..Self::default() }
    }

    /// Whether it can start again inside the text that it has read without limit.
    fn starts_within(&self) -> bool {
        !self.first.and(self.runs).is_empty()
    }

    fn is_bounded(&self) -> bool {
        self.runs.is_empty()
    }
}

struct Costs<'r> {
    rules: HashMap<&'r str, CostFacts>,
    /// For rules that may read much, give up a part and consume little: that part.
    wasteful: HashMap<&'r str, &'r RuleNode>,
}

impl<'r> Costs<'r> {
    fn of(rules: &'r [TypedRule], recursive: impl Fn(&'r TypedRule) -> bool) -> Self {
        let mut costs = Self { rules: HashMap::new(), wasteful: HashMap::new() };
        // Fixed point: each pass carries the costs through one more level of calls.
        for _ in 0..=2 * rules.len() {
            let facts = |rule: &'r TypedRule| {
                let mut facts = costs.facts(&rule.body);
                if recursive(rule) {
                    facts.runs = facts.runs.or(facts.takes);
                }
                (rule.name.as_str(), facts)
            };
            let new: HashMap<&str, CostFacts> = rules.iter().map(facts).collect();
            if new == costs.rules {
                break;
            }
            costs.rules = new;
        }
        loop {
            let rest = rules.iter().filter(|rule| !costs.wasteful.contains_key(rule.name.as_str()));
            let new: Vec<_> = rest.filter_map(|rule| Some((rule.name.as_str(), costs.wasted(&rule.body)?))).collect();
            if new.is_empty() {
                return costs;
            }
            costs.wasteful.extend(new);
        }
    }

    fn facts(&self, node: &RuleNode) -> CostFacts {
        match &node.what {
            NodeKind::Text(text) => CostFacts::text(text, false),
            NodeKind::AnyCase(text) => CostFacts::text(text, true),
            NodeKind::Range(first, last) => CostFacts::one(Class::range(*first, *last).first_bytes()),
            NodeKind::Name(name) => self
                .rules
                .get(name.as_str())
                .copied()
                .unwrap_or_else(|| CostFacts::one(Analysis::of(&[]).match_start(&built_in(name)).bytes)),
            NodeKind::Sequence(parts) => together(&self.each(parts)),
            NodeKind::Choice(choices) => {
                let either = |one: CostFacts, other: CostFacts| CostFacts {
                    first: one.first.or(other.first),
                    takes: one.takes.or(other.takes),
                    runs: one.runs.or(other.runs),
                    empty: one.empty || other.empty,
                    fails: one.fails && other.fails,
                    fails_late: one.fails_late || other.fails_late,
                    single: one.single && other.single,
                    bars: ByteSet::default(),
                };
                let all = self.each(choices).into_iter().reduce(either).unwrap_or_default();
                CostFacts { fails_late: all.fails_late && all.fails, ..all }
            }
            NodeKind::Optional(inner) => {
                CostFacts { empty: true, fails: false, fails_late: false, single: false, ..self.facts(inner) }
            }
            NodeKind::Repeat(inner, times) => {
                let (least, bounded) = match times {
                    Times::Any => (0, false),
                    Times::Some => (1, false),
                    Times::AtLeast(least) => (*least, false),
                    Times::AtMost(_) => (0, true),
                    Times::Exactly(least) | Times::Between(least, _) => (*least, true),
                };
                let facts = self.facts(inner);
                let runs = if bounded { facts.runs } else { facts.runs.or(facts.takes) };
                let fails = least > 0 && facts.fails;
                let empty = least == 0 || facts.empty;
                CostFacts { runs, empty, fails, fails_late: fails && facts.fails_late, single: false, ..facts }
            }
            NodeKind::And(inner) | NodeKind::Not(inner) => {
                let CostFacts { runs, takes, single, .. } = self.facts(inner);
                // The first byte identifies the character only in ASCII.
                let bars = takes
                    .and(ByteSet([if single && matches!(node.what, NodeKind::Not(_)) { u128::MAX } else { 0 }, 0]));
                CostFacts { runs, empty: true, fails: true, fails_late: !runs.is_empty(), bars, ..CostFacts::default() }
            }
            NodeKind::Refused => CostFacts::one(ByteSet::ALL),
        }
    }

    fn each(&self, parts: &[RuleNode]) -> Vec<CostFacts> {
        parts.iter().map(|part| self.facts(part)).collect()
    }

    /// The part of a round that reads ahead without limit and is given up, if the round then consumes little of the
    /// text that was read.
    fn wasted(&self, round: &'r RuleNode) -> Option<&'r RuleNode> {
        let given_up = |part: &'r RuleNode, takes: ByteSet| {
            let facts = self.facts(part);
            (facts.starts_within() && !facts.runs.and(takes).is_empty()).then_some(part)
        };
        match &round.what {
            NodeKind::Name(name) => self.wasteful.get(name.as_str()).copied(),
            NodeKind::Choice(choices) => {
                let all = self.each(choices);
                choices.iter().zip(&all).enumerate().find_map(|(number, (choice, facts))| {
                    let later = all.iter().skip(number + 1).filter(|_| facts.fails_late);
                    let mut instead =
                        later.filter(|other| other.is_bounded() && !other.first.and(facts.first).is_empty());
                    instead.find_map(|other| given_up(choice, other.takes)).or_else(|| self.wasted(choice))
                })
            }
            NodeKind::Sequence(parts) => {
                let all = self.each(parts);
                let takes = together(&all).takes;
                parts.iter().enumerate().find_map(|(number, part)| {
                    let mut others = all.iter().enumerate().filter(|(other, _)| *other != number);
                    if !others.all(|(_, other)| other.is_bounded()) {
                        return None;
                    }
                    let ahead = match &part.what {
                        NodeKind::And(ahead) | NodeKind::Not(ahead) => ahead,
                        NodeKind::Optional(inner) | NodeKind::Repeat(inner, _) if self.facts(inner).fails_late => inner,
                        _ => return self.wasted(part),
                    };
                    // The remaining parts must be able to match from the position at which this part was given up.
                    let rest = together(all.slice(number + 1..));
                    let follows = rest.empty || !rest.first.and(self.facts(ahead).first).is_empty();
                    given_up(ahead, takes).filter(|_| follows)
                })
            }
            _ => None,
        }
    }
}

/// The facts about a sequence of parts. A lookahead excludes characters from the start of the next part.
fn together(all: &[CostFacts]) -> CostFacts {
    let mut whole = CostFacts { empty: true, ..CostFacts::default() };
    let mut barred = ByteSet::default();
    for facts in all {
        let mut facts = *facts;
        if whole.takes.is_empty() && facts.single {
            facts.takes = facts.takes.but(barred);
        }
        if whole.empty {
            whole.first = whole.first.or(facts.first.but(barred));
        }
        whole.fails_late |= facts.fails_late || (facts.fails && !whole.runs.is_empty());
        whole.takes = whole.takes.or(facts.takes);
        whole.runs = whole.runs.or(facts.runs);
        whole.empty &= facts.empty;
        whole.fails |= facts.fails;
        barred = barred.or(facts.bars);
    }
    whole
}
