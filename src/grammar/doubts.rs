//! Doubts: which parts of a valid grammar can never matter, or may cost too much?
//!
//! In: the rules of a grammar, as typed and without faults.
//! Out: a diagnostic for each alternative that an earlier one always shadows, each choice that reads the same nested
//! text several times, and each repetition that reads the text ahead several times.
//! Never: reports a part that is needed for some text.

use super::cost::{self, RepeatedPart};
use super::tree::{NodeKind, RuleNode, TypedRule};
use crate::diagnostic::{Code, Diagnostic};
use crate::text::{Location, SourceId};
use std::collections::{HashMap, HashSet};

/// All doubtful parts of the rules.
pub(super) fn doubts(source: SourceId, rules: &[TypedRule]) -> Vec<Diagnostic> {
    let mut doubting =
        Doubting { source, rules: rules.iter().map(|rule| (rule.name.as_str(), rule)).collect(), found: Vec::new() };
    for rule in rules {
        let mut rest = vec![&rule.body];
        while let Some(node) = rest.pop() {
            if let NodeKind::Choice(choices) = &node.what {
                doubting.shadowed(choices);
                doubting.repeated(&rule.name, choices);
            }
            rest.extend(node.parts());
        }
    }
    doubting.again(rules);
    doubting.found
}

struct Doubting<'r> {
    source: SourceId,
    rules: HashMap<&'r str, &'r TypedRule>,
    found: Vec<Diagnostic>,
}

impl<'r> Doubting<'r> {
    /// Reports alternatives that can never match, because an earlier one matches whenever they do: the first match
    /// wins.
    fn shadowed(&mut self, choices: &'r [RuleNode]) {
        for (number, later) in choices.iter().enumerate() {
            let covers = |earlier: &&RuleNode| {
                same(earlier, later)
                    || match (self.literal(earlier), self.start(later)) {
                        (Some((earlier, any_case)), Some((later, exact))) => match any_case {
                            true => later.to_ascii_lowercase().starts_with(&earlier.to_ascii_lowercase()),
                            false => exact && later.starts_with(earlier),
                        },
                        _ => false,
                    }
            };
            let Some(earlier) = choices.iter().take(number).find(covers) else { continue };
            let at = |node: &RuleNode| Location { source: self.source, span: node.at };
            let message = "this alternative never matches: an earlier one matches all such texts first";
            let doubt = Diagnostic::new(Code::PACK_IDLE_SPELLING, at(later), message)
                .with_place(at(earlier), "this one is tried first")
                .with_help("put the longer one first, or take it out");
            self.found.push(doubt);
        }
    }

    /// Reports alternatives that start with the same recursive rule: each reads it again, at every level of nesting.
    fn repeated(&mut self, rule: &str, choices: &'r [RuleNode]) {
        for (number, later) in choices.iter().enumerate() {
            for earlier in choices.iter().take(number) {
                let common = parts(earlier).iter().zip(parts(later)).take_while(|(one, other)| same(one, other));
                let Some((nested, _)) = common.into_iter().find(|(one, _)| self.reaches(one, rule)) else { continue };
                let at = Location { source: self.source, span: nested.at };
                let message = "each alternative reads this again, and all that is nested in it: the time doubles with each level of nesting";
                let other = Location { source: self.source, span: later.at };
                let doubt = Diagnostic::new(Code::PACK_COSTLY_RULE, at, message)
                    .with_place(other, "this alternative reads it again")
                    .with_help("write what the alternatives have in common once, and choose after it");
                self.found.push(doubt);
                return;
            }
        }
    }

    /// Reports parts that are read again in each round of a repetition, or at each level of a rule.
    fn again(&mut self, rules: &'r [TypedRule]) {
        let recursive: HashSet<&str> =
            rules.iter().filter(|rule| self.reaches(&rule.body, &rule.name)).map(|rule| rule.name.as_str()).collect();
        for RepeatedPart { part, around } in cost::again(rules, |rule| recursive.contains(rule.name.as_str())) {
            let at = |node: &RuleNode| Location { source: self.source, span: node.at };
            let message = "this reads ahead as far as it can, fails, and is tried again one character later: the time grows with the square of the text";
            let doubt = Diagnostic::new(Code::PACK_COSTLY_RULE, at(part), message)
                .with_place(at(around), "each round of this reads it again")
                .with_help("let the repeated part stop where it could start again, or match the text that it has read");
            self.found.push(doubt);
        }
    }

    /// The text of a part that matches only one text, and whether it ignores case.
    fn literal(&self, node: &'r RuleNode) -> Option<(&'r str, bool)> {
        match &node.what {
            NodeKind::Text(text) => Some((text, false)),
            NodeKind::AnyCase(text) => Some((text, true)),
            NodeKind::Name(name) => match &self.rules.get(name.as_str())?.body.what {
                NodeKind::Text(text) => Some((text, false)),
                NodeKind::AnyCase(text) => Some((text, true)),
                _ => None,
            },
            _ => None,
        }
    }

    /// The text that every match of a part starts with, and whether its case must be the same.
    fn start(&self, node: &'r RuleNode) -> Option<(&'r str, bool)> {
        let first = parts(node).first()?;
        self.literal(first).map(|(text, any_case)| (text, !any_case))
    }

    /// Whether a part calls the rule called `rule`, at any depth.
    fn reaches(&self, node: &'r RuleNode, rule: &str) -> bool {
        let mut seen = HashSet::new();
        let mut rest = vec![node];
        while let Some(node) = rest.pop() {
            if let NodeKind::Name(name) = &node.what {
                if name == rule {
                    return true;
                }
                if seen.insert(name.as_str()) {
                    rest.extend(self.rules.get(name.as_str()).map(|rule| &rule.body));
                }
            }
            rest.extend(node.parts());
        }
        false
    }
}

/// The parts of a sequence; of any other node, the node itself.
fn parts(node: &RuleNode) -> &[RuleNode] {
    match &node.what {
        NodeKind::Sequence(parts) => parts,
        _ => std::slice::from_ref(node),
    }
}

/// Whether two parts are equal.
fn same(one: &RuleNode, other: &RuleNode) -> bool {
    let all = |one: &[RuleNode], other: &[RuleNode]| {
        one.len() == other.len() && one.iter().zip(other).all(|(one, other)| same(one, other))
    };
    match (&one.what, &other.what) {
        (NodeKind::Text(one), NodeKind::Text(other))
        | (NodeKind::AnyCase(one), NodeKind::AnyCase(other))
        | (NodeKind::Name(one), NodeKind::Name(other)) => one == other,
        (NodeKind::Range(first, last), NodeKind::Range(start, end)) => (first, last) == (start, end),
        (NodeKind::Sequence(one), NodeKind::Sequence(other)) | (NodeKind::Choice(one), NodeKind::Choice(other)) => {
            all(one, other)
        }
        (NodeKind::Optional(one), NodeKind::Optional(other))
        | (NodeKind::And(one), NodeKind::And(other))
        | (NodeKind::Not(one), NodeKind::Not(other)) => same(one, other),
        (NodeKind::Repeat(one, times), NodeKind::Repeat(other, often)) => times == often && same(one, other),
        _ => false,
    }
}
