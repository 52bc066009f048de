//! Checks: can these rules be run?
//!
//! In: the rules of a grammar, as typed.
//! Out: a diagnostic for every rule or part that cannot be run, or might never end.
//! Never: changes a rule, or stops at the first fault.

use super::limits;
use super::tree::{NO_STACK, NodeKind, RuleNode, Times, TypedRule, fault};
use super::unicode::property;
use crate::diagnostic::{Diagnostic, Message};
use crate::text::{Location, SourceId, Span};
use std::collections::{HashMap, VecDeque};

/// The built-in names of pest.
const BUILT_IN: [&str; 13] = [
    "ANY",
    "ASCII",
    "ASCII_ALPHA",
    "ASCII_ALPHANUMERIC",
    "ASCII_ALPHA_LOWER",
    "ASCII_ALPHA_UPPER",
    "ASCII_BIN_DIGIT",
    "ASCII_DIGIT",
    "ASCII_HEX_DIGIT",
    "ASCII_NONZERO_DIGIT",
    "ASCII_OCT_DIGIT",
    "NEWLINE",
    "_",
];

/// All faults of the rules.
pub(super) fn check(source: SourceId, rules: &[TypedRule]) -> Vec<Diagnostic> {
    let mut checker = Checker { source, rules, facts: RuleFacts::of(rules), diagnostics: Vec::new() };
    if rules.is_empty() {
        checker.report(Span::default(), "this grammar has no rules", "write at least `open = { … }`");
    }
    if let Some(extra) = rules.get(limits::MAX_RULES) {
        checker.report(
            extra.at,
            format!("more than {} rules", limits::MAX_RULES),
            "split the dialect into several grammars",
        );
        return checker.diagnostics;
    }
    checker.names();
    for rule in rules {
        checker.node(&rule.body);
    }
    if !checker.left_recursion() {
        checker.sizes();
    }
    checker.diagnostics
}

struct Checker<'r> {
    source: SourceId,
    rules: &'r [TypedRule],
    facts: RuleFacts<'r>,
    diagnostics: Vec<Diagnostic>,
}

impl Checker<'_> {
    fn report(&mut self, at: Span, message: impl Into<Message>, help: &str) {
        self.diagnostics.push(fault(self.source, at, message).with_help(help));
    }

    fn names(&mut self) {
        for (index, rule) in self.rules.iter().enumerate() {
            let name = rule.name.as_str();
            if let Some(refused) = refusal_of(name) {
                self.report(rule.at, format!("a rule cannot be called `{name}`"), refused);
            } else if BUILT_IN.contains(&name) || property(name).is_some() {
                self.report(rule.at, format!("`{name}` is built in"), "give the rule another name");
            }
            let first = self.facts.index.get(name).copied().unwrap_or(index);
            if let Some(other) = self.rules.get(first).filter(|_| first != index) {
                let place = Location { source: self.source, span: other.at };
                let diagnostic = fault(self.source, rule.at, format!("a second rule called `{name}`"));
                self.diagnostics
                    .push(diagnostic.with_place(place, "the first one").with_help("join them with `|`, or rename one"));
            }
        }
    }

    fn node(&mut self, node: &RuleNode) {
        match &node.what {
            NodeKind::Name(name) => self.name(name, node.at),
            NodeKind::Choice(choices) => {
                let stop = choices.iter().position(|choice| self.facts.always(choice));
                if let Some(next) = stop.and_then(|stop| choices.get(stop + 1)) {
                    self.report(
                        next.at,
                        "this alternative is never tried: the one before it matches whatever comes",
                        "put it first, or make the other one fail somewhere",
                    );
                }
            }
            // Report nested repetitions once, for the inner one.
            NodeKind::Repeat(inner, Times::Any | Times::Some | Times::AtLeast(_))
                if self.facts.empty(inner) && !self.repeats_nothing(inner) =>
            {
                self.report(
                    node.at,
                    "what repeats here can match nothing, so it would repeat for ever",
                    "let it take at least one character",
                );
            }
            _ => {}
        }
        for inner in node.parts() {
            self.node(inner);
        }
    }

    /// Whether the part is a repetition that might never end.
    fn repeats_nothing(&self, node: &RuleNode) -> bool {
        let repeated = match &node.what {
            NodeKind::Repeat(inner, Times::Any | Times::Some | Times::AtLeast(_)) => inner,
            _ => return false,
        };
        self.facts.empty(repeated)
    }

    fn name(&mut self, name: &str, at: Span) {
        if self.facts.index.contains_key(name) || BUILT_IN.contains(&name) || property(name).is_some() {
            return;
        }
        if let Some(refused) = refusal_of(name) {
            self.report(at, format!("`{name}` cannot be used here"), refused);
            return;
        }
        let names = self.rules.iter().map(|rule| rule.name.as_str()).chain(BUILT_IN);
        let diagnostic = fault(self.source, at, format!("there is no rule `{name}`")).with_nearest(name, names);
        self.diagnostics.push(diagnostic);
    }

    /// Reports rules that call themselves before they consume anything: these would never end.
    fn left_recursion(&mut self) -> bool {
        let edges: Vec<Vec<usize>> = self
            .rules
            .iter()
            .map(|rule| {
                let mut names = Vec::new();
                self.facts.first_names(&rule.body, &mut names);
                let mut targets: Vec<usize> =
                    names.iter().filter_map(|name| self.facts.index.get(name).copied()).collect();
                targets.sort_unstable();
                targets.dedup();
                targets
            })
            .collect();
        let mut reported = vec![false; self.rules.len()];
        for start in 0..self.rules.len() {
            let Some(call_chain) = cycle_from(&edges, start) else { continue };
            let known = call_chain.iter().any(|rule| reported.get(*rule).copied().unwrap_or_default());
            call_chain
                .iter()
                .for_each(|rule| reported.iter_mut().skip(*rule).take(1).for_each(|reported| *reported = true));
            let Some(rule) = self.rules.get(start).filter(|_| !known) else { continue };
            let names = call_chain.iter().chain([&start]).filter_map(|rule| self.rules.get(*rule)).take(6);
            let names: Vec<String> = names.map(|rule| format!("`{}`", rule.name)).collect();
            let help = format!("it goes {}; let it read something first, or write a repetition", names.join(" → "));
            self.report(rule.at, format!("`{}` calls itself before it has read anything", rule.name), &help);
        }
        reported.contains(&true)
    }

    /// Reports rules that become too large when their repetitions are unrolled.
    fn sizes(&mut self) {
        let mut sum = 0usize;
        for rule in self.rules {
            let (size, depth) = unrolled(&rule.body);
            sum = sum.saturating_add(size);
            if size > limits::MAX_SIZE || depth > limits::MAX_UNROLLED_DEPTH {
                self.report(rule.at, "repetitions that multiply to too many parts", "use `*` or `+` for one of them");
                return;
            }
        }
        if let Some(rule) = self.rules.last().filter(|_| sum > limits::MAX_SIZE) {
            self.report(rule.at, "more parts than a grammar may have", "split the dialect into several grammars");
        }
    }
}

/// Why a built-in name of pest may not be used; `None` if it may.
fn refusal_of(name: &str) -> Option<&'static str> {
    match name {
        "PUSH" | "PUSH_LITERAL" | "PEEK" | "PEEK_ALL" | "POP" | "POP_ALL" | "DROP" => Some(NO_STACK),
        "WHITESPACE" | "COMMENT" => Some("nothing is skipped silently: name white space wherever it is allowed"),
        "SOI" | "EOI" => Some("a block may be anywhere: the reader knows where a text starts and ends"),
        _ => None,
    }
}

/// The shortest path from `start` along the edges back to `start`.
fn cycle_from(edges: &[Vec<usize>], start: usize) -> Option<Vec<usize>> {
    let mut came_from: Vec<Option<usize>> = vec![None; edges.len()];
    let mut waiting = VecDeque::from([start]);
    while let Some(rule) = waiting.pop_front() {
        for next in edges.get(rule)? {
            if *next == start {
                let mut call_chain = vec![rule];
                while let Some(before) = call_chain.last().and_then(|last| came_from.get(*last).copied().flatten()) {
                    call_chain.push(before);
                }
                call_chain.reverse();
                return Some(call_chain);
            }
            if let Some(unseen @ None) = came_from.get_mut(*next) {
                *unseen = Some(rule);
                waiting.push_back(*next);
            }
        }
    }
    None
}

/// The number of parts of a node and the depth of their nesting, when its repetitions are unrolled.
fn unrolled(node: &RuleNode) -> (usize, usize) {
    let (sizes, depth) = node.parts().enumerate().fold((0usize, 0usize), |(sum, deepest), (index, part)| {
        let (size, depth) = unrolled(part);
        (sum.saturating_add(size), deepest.max(depth + index))
    });
    let times = match node.what {
        NodeKind::Repeat(_, Times::Some) => 2,
        NodeKind::Repeat(_, Times::Exactly(count) | Times::AtMost(count) | Times::Between(_, count)) => count as usize,
        NodeKind::Repeat(_, Times::AtLeast(count)) => (count as usize).saturating_add(1),
        _ => 1,
    };
    (sizes.saturating_mul(times).saturating_add(times), depth + times)
}

/// Facts about whole rules.
struct RuleFacts<'r> {
    index: HashMap<&'r str, usize>,
    /// By rule: whether a match can be empty.
    empty: Vec<bool>,
    /// By rule: whether it matches any text.
    always: Vec<bool>,
}

impl<'r> RuleFacts<'r> {
    fn of(rules: &'r [TypedRule]) -> Self {
        let mut index = HashMap::new();
        for (at, rule) in rules.iter().enumerate().take(limits::MAX_RULES) {
            index.entry(rule.name.as_str()).or_insert(at);
        }
        let no = vec![false; rules.len()];
        let mut facts = Self { index, empty: no.clone(), always: no };
        // Fixed point: facts only ever become true, so the loop ends.
        loop {
            let empty: Vec<bool> = rules.iter().map(|rule| facts.empty(&rule.body)).collect();
            let always: Vec<bool> = rules.iter().map(|rule| facts.always(&rule.body)).collect();
            if (&empty, &always) == (&facts.empty, &facts.always) {
                return facts;
            }
            (facts.empty, facts.always) = (empty, always);
        }
    }

    fn fact(&self, facts: &[bool], name: &str) -> bool {
        self.index.get(name).and_then(|index| facts.get(*index)).copied().unwrap_or_default()
    }

    fn empty(&self, node: &RuleNode) -> bool {
        match &node.what {
            NodeKind::Text(text) | NodeKind::AnyCase(text) => text.is_empty(),
            NodeKind::Range(..) | NodeKind::Refused => false,
            NodeKind::Name(name) => self.fact(&self.empty, name),
            NodeKind::Sequence(parts) => parts.iter().all(|part| self.empty(part)),
            NodeKind::Choice(choices) => choices.iter().any(|choice| self.empty(choice)),
            NodeKind::Repeat(inner, Times::Some | Times::Exactly(_)) => self.empty(inner),
            NodeKind::Repeat(inner, Times::AtLeast(count) | Times::Between(count, _)) => {
                *count == 0 || self.empty(inner)
            }
            NodeKind::Optional(_) | NodeKind::Repeat(..) | NodeKind::And(_) | NodeKind::Not(_) => true,
        }
    }

    fn always(&self, node: &RuleNode) -> bool {
        match &node.what {
            NodeKind::Text(text) | NodeKind::AnyCase(text) => text.is_empty(),
            NodeKind::Range(..) | NodeKind::Refused | NodeKind::Not(_) => false,
            NodeKind::Name(name) => self.fact(&self.always, name),
            NodeKind::Sequence(parts) => parts.iter().all(|part| self.always(part)),
            NodeKind::Choice(choices) => choices.iter().any(|choice| self.always(choice)),
            NodeKind::And(inner) | NodeKind::Repeat(inner, Times::Some | Times::Exactly(_)) => self.always(inner),
            NodeKind::Repeat(inner, Times::AtLeast(count) | Times::Between(count, _)) => {
                *count == 0 || self.always(inner)
            }
            NodeKind::Optional(_) | NodeKind::Repeat(..) => true,
        }
    }

    /// Adds the names of the rules that may be called before anything has been consumed.
    fn first_names<'n>(&self, node: &'n RuleNode, names: &mut Vec<&'n str>) {
        match &node.what {
            NodeKind::Name(name) => names.push(name),
            NodeKind::Sequence(parts) => {
                for part in parts {
                    self.first_names(part, names);
                    if !self.empty(part) {
                        break;
                    }
                }
            }
            _ => node.parts().for_each(|part| self.first_names(part, names)),
        }
    }
}

impl RuleNode {
    /// The direct parts.
    pub(super) fn parts(&self) -> impl Iterator<Item = &RuleNode> {
        match &self.what {
            NodeKind::Sequence(parts) | NodeKind::Choice(parts) => parts.as_slice(),
            NodeKind::Optional(inner) | NodeKind::Repeat(inner, _) | NodeKind::And(inner) | NodeKind::Not(inner) => {
                std::slice::from_ref(&**inner)
            }
            NodeKind::Text(_) | NodeKind::AnyCase(_) | NodeKind::Range(..) | NodeKind::Name(_) | NodeKind::Refused => {
                &[]
            }
        }
        .iter()
    }
}
