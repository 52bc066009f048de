//! Code: which instructions does the grammar machine execute?
//!
//! In: resolved rules and their analysis.
//! Out: [`RuleCode`]: one flat list of instructions, and the tables that they refer to.
//! Never: reads text.

use super::analysis::{Analysis, CaptureMode};
use super::class::{ByteSet, Class, Wide};
use super::expression::{Expr, ResolvedRule};
use super::limits;
use super::machine::steps_of_short;
use std::collections::HashMap;

/// An instruction. Numbers called `to` are indexes into the list of instructions, all others into a table.
#[derive(Debug, Clone, Copy)]
pub(super) enum Instruction {
    /// Matches this ASCII byte.
    Byte(u8),
    /// Matches a literal.
    Text(u32),
    /// Matches a literal in any case.
    AnyCase(u32),
    /// Matches one character of a set.
    One(u32),
    /// Matches one character of a set, or nothing.
    Maybe(u32),
    /// Consumes all characters of a set that follow.
    Span(u32),
    /// Consumes the text up to one of several texts.
    Until(u32),
    /// Fails unless the next character is in a set; consumes nothing.
    Is(u32),
    /// Fails if the next character is in a set; consumes nothing.
    IsNot(u32),
    /// Jumps if the next byte is not in a set; otherwise like `Try`.
    TryIf { set: u32, to: u32 },
    /// `Span` followed by `TryIf`: the head of a loop.
    SpanTryIf { run: u32, set: u32, to: u32 },
    /// Pushes a frame: where to continue after a failure.
    Try { to: u32 },
    /// Jumps depending on the next byte, or fails.
    Switch(u32),
    /// Pops the last `Try` and jumps.
    Commit { to: u32 },
    /// Pops the last `Try`, resets the position in the text to where it was pushed, and jumps.
    Return { to: u32 },
    /// Pops the last `Try` and fails.
    Refuse,
    /// Fails.
    Fail,
    /// Jumps.
    Jump { to: u32 },
    /// Calls a rule, up to its `End`.
    Call { to: u32 },
    /// Starts a capture.
    Open(u16),
    /// Ends the innermost capture.
    Close,
    /// Ends a rule.
    End,
}

/// A set of characters, as a table by first byte.
#[derive(Debug)]
pub(super) struct CharSet {
    /// Whether a character that starts with this byte is in the set, if the byte alone decides.
    pub(super) bytes: [bool; 256],
    /// Decides about each character beyond ASCII; `None` if the first byte decides.
    pub(super) wide: Option<Wide>,
    /// The bytes outside the set, if they are few or contiguous, so that the next one is found eight bytes at a time.
    pub(super) stops: Stops,
}

/// The few bytes at which a run over a set stops.
#[derive(Debug, Clone, Copy)]
pub(super) enum Stops {
    Many,
    None,
    One(u8),
    Two(u8, u8),
    Three(u8, u8, u8),
    /// Every byte below a limit, and two others: what stops a run inside a JSON string.
    Below(u8, u8, u8),
}

impl CharSet {
    pub(super) fn contains(&self, byte: u8) -> bool {
        self.bytes.get(usize::from(byte)).copied().unwrap_or_default()
    }
}

/// Texts at which a run stops.
#[derive(Debug)]
pub(super) struct StopTexts {
    /// The set of bytes that none of them starts with.
    pub(super) others: u32,
    pub(super) texts: Vec<Box<str>>,
}

/// Where to continue, depending on the next byte.
#[derive(Debug)]
pub(super) struct Switch {
    /// One more than an index into `targets`; 0 to fail.
    pub(super) branch: [u8; 256],
    pub(super) targets: Vec<u32>,
}

impl Switch {
    /// The instruction to continue with before this byte; `None` to fail.
    pub(super) fn target(&self, next: u8) -> Option<u32> {
        let branch = self.branch.get(usize::from(next)).copied().unwrap_or_default();
        self.targets.get(usize::from(branch).checked_sub(1)?).copied()
    }
}

/// The short form of a rule or of its first alternative, which most matches take: a literal, then a rule that consumes
/// a run of characters, then one byte. It is matched without executing instructions.
#[derive(Debug)]
pub(super) struct Short {
    pub(super) rule: u16,
    pub(super) literal: Box<str>,
    /// The rule after the literal, and the sets for its first character and for all others.
    pub(super) name: u16,
    pub(super) first: u32,
    pub(super) rest: u32,
    pub(super) end: u8,
    /// The steps that executing the rule would take, besides those for a long name.
    pub(super) steps: i64,
}

/// The first instruction of a rule, and its short form, if it has one.
#[derive(Debug)]
pub(super) struct RuleEntry {
    pub(super) op: u32,
    pub(super) short: Option<Short>,
}

/// A compiled grammar.
#[derive(Debug, Default)]
pub(super) struct RuleCode {
    pub(super) ops: Vec<Instruction>,
    pub(super) sets: Vec<CharSet>,
    pub(super) texts: Vec<Box<str>>,
    pub(super) untils: Vec<StopTexts>,
    pub(super) switches: Vec<Switch>,
    /// By the index of the rule.
    pub(super) entries: Vec<RuleEntry>,
}

impl RuleCode {
    pub(super) fn set(&self, number: u32) -> Option<&CharSet> {
        self.sets.get(number as usize)
    }

    pub(super) fn literal(&self, number: u32) -> &[u8] {
        self.texts.get(number as usize).map_or(&[], |text| text.as_bytes())
    }
}

/// Compiles `rules`; `None` if that makes too many instructions.
pub(super) fn compile(rules: &[ResolvedRule], analysis: &mut Analysis<'_>) -> Option<RuleCode> {
    let weights = weights(rules);
    let mut compiler = CodeCompiler {
        rules,
        analysis,
        weights,
        code: RuleCode::default(),
        places: HashMap::new(),
        calls: Vec::new(),
        known: HashMap::new(),
        full: false,
    };
    for rule in 0..rules.len() {
        let op = compiler.place(rule, CaptureMode::Visible);
        let short = compiler.short(rule);
        compiler.code.entries.push(RuleEntry { op, short });
    }
    // Calls name rules in modes that may not have been compiled yet; compiling them may add more calls.
    let mut done = 0;
    while let Some((at, rule, mode)) = compiler.calls.get(done).copied() {
        let to = compiler.place(rule, mode);
        compiler.set(at, Instruction::Call { to });
        done += 1;
        if compiler.full {
            return None;
        }
    }
    shorten(&mut compiler.code.ops);
    let mut code = compiler.code;
    let steps = |entry: &RuleEntry| entry.short.as_ref().map_or(0, |short| steps_of_short(&code, entry.op, short));
    let steps: Vec<i64> = code.entries.iter().map(steps).collect();
    for (entry, steps) in code.entries.iter_mut().zip(steps) {
        if let Some(short) = &mut entry.short {
            short.steps = steps;
        }
    }
    Some(code).filter(|_| !compiler.full)
}

/// Replaces jumps to jumps, and jumps to the end of a loop, by direct ones. A call directly before an end becomes a
/// jump, so that the end of the called rule is also the end of the caller.
fn shorten(ops: &mut [Instruction]) {
    for at in 0..ops.len() {
        let Some(op) = ops.get(at).copied() else { continue };
        // Follow only forward jumps, so that the loop ends.
        let follow = |mut to: u32| {
            while let Some(Instruction::Jump { to: next }) = ops.get(to as usize)
                && *next > to
            {
                to = *next;
            }
            to
        };
        let ends = |to: u32| matches!(ops.get(follow(to) as usize), Some(Instruction::End));
        let short = match op {
            Instruction::Jump { to } if ends(to) => Instruction::End,
            Instruction::Jump { to } => match ops.get(follow(to) as usize) {
                Some(Instruction::Commit { to: round }) if *round < to => Instruction::Commit { to: *round },
                _ => Instruction::Jump { to: follow(to) },
            },
            Instruction::Commit { to } => Instruction::Commit { to: follow(to) },
            Instruction::Call { to } if ends(at as u32 + 1) => Instruction::Jump { to },
            op => op,
        };
        if let Some(slot) = ops.get_mut(at) {
            *slot = short;
        }
    }
}

/// Rules of at most this weight are inlined.
const MAX_INLINED_WEIGHT: usize = 24;

/// The size of each rule with the small rules that it calls inlined; `usize::MAX` for a recursive one.
fn weights(rules: &[ResolvedRule]) -> Vec<usize> {
    let mut weights: Vec<Option<usize>> = vec![None; rules.len()];
    // Each round determines the rules whose callees are determined. Chains of small rules are short.
    for _ in 0..8 {
        for (at, rule) in rules.iter().enumerate() {
            let weight = weight(&rule.expr, &weights);
            if let Some(slot) = weights.get_mut(at) {
                *slot = slot.or(weight);
            }
        }
    }
    weights.into_iter().map(|weight| weight.unwrap_or(usize::MAX)).collect()
}

fn weight(expr: &Expr, weights: &[Option<usize>]) -> Option<usize> {
    match expr {
        Expr::Call(rule) => {
            let weight = weights.get(*rule).copied().flatten()?;
            Some(if weight <= MAX_INLINED_WEIGHT { weight + 1 } else { 1 })
        }
        Expr::Sequence(parts) | Expr::Choice(parts) => {
            parts.iter().try_fold(1usize, |sum, part| Some(sum.saturating_add(weight(part, weights)?)))
        }
        Expr::Optional(inner) | Expr::Repeat(inner) | Expr::And(inner) | Expr::Not(inner) => {
            Some(weight(inner, weights)?.saturating_add(1))
        }
        Expr::Text(_) | Expr::AnyCase(_) | Expr::One(_) | Expr::Until(_) => Some(1),
    }
}

/// The literal, the rule and the rest of an expression that starts with a literal and a rule. If several alternatives
/// start with the same literal, the rest is that of the first.
fn named_tag(expr: &Expr) -> Option<(&str, &usize, &[Expr])> {
    let Expr::Sequence(parts) = expr else { return None };
    match parts.as_slice() {
        [Expr::Text(literal), Expr::Call(name), tail @ ..] => Some((literal, name, tail)),
        // The optimiser factors a common start out of alternatives.
        [Expr::Text(literal), Expr::Choice(choices)] => match choices.first()? {
            Expr::Sequence(parts) => match parts.as_slice() {
                [Expr::Call(name), tail @ ..] => Some((literal, name, tail)),
                _ => None,
            },
            _ => None,
        },
        _ => None,
    }
}

struct CodeCompiler<'c, 'r> {
    rules: &'c [ResolvedRule],
    analysis: &'c mut Analysis<'r>,
    weights: Vec<usize>,
    code: RuleCode,
    /// Where each rule starts, by the mode in which it was compiled.
    places: HashMap<(usize, CaptureMode), u32>,
    /// Calls whose target is not known yet.
    calls: Vec<(u32, usize, CaptureMode)>,
    /// Sets for which the first byte decides, to reuse equal ones.
    known: HashMap<ByteSet, u32>,
    full: bool,
}

impl CodeCompiler<'_, '_> {
    fn here(&self) -> u32 {
        self.code.ops.len() as u32
    }

    fn add(&mut self, op: Instruction) -> u32 {
        let at = self.here();
        self.full |= self.code.ops.len() >= limits::MAX_SIZE;
        if !self.full {
            self.code.ops.push(op);
        }
        at
    }

    fn set(&mut self, at: u32, op: Instruction) {
        if let Some(slot) = self.code.ops.get_mut(at as usize) {
            *slot = op;
        }
    }

    /// The first instruction of `rule` in `mode`; compiles the rule if that has not been done.
    fn place(&mut self, rule: usize, mode: CaptureMode) -> u32 {
        let mode = self.analysis.effective(rule, mode);
        if let Some(place) = self.places.get(&(rule, mode)) {
            return *place;
        }
        let place = self.here();
        self.places.insert((rule, mode), place);
        self.rule(rule, mode);
        self.add(Instruction::End);
        place
    }

    /// Compiles the body of a rule, with its capture.
    fn rule(&mut self, rule: usize, mode: CaptureMode) {
        let rules = self.rules;
        let Some(body) = rules.get(rule) else { return };
        let (captured, inside) = self.analysis.capture(rule, mode);
        if captured {
            self.add(Instruction::Open(rule as u16));
        }
        self.expr(&body.expr, inside);
        if captured {
            self.add(Instruction::Close);
        }
    }

    /// The short form of a rule, if it has one that makes exactly two captures: the rule, and the one inside.
    fn short(&mut self, rule: usize) -> Option<Short> {
        let mode = self.analysis.effective(rule, CaptureMode::Visible);
        let (true, mode) = self.analysis.capture(rule, mode) else { return None };
        let (literal, name, tail) = match &self.rules.get(rule)?.expr {
            Expr::Choice(choices) => named_tag(choices.first()?)?,
            expr => named_tag(expr)?,
        };
        let (true, inside) = self.analysis.capture(*name, mode) else { return None };
        let Expr::Sequence(parts) = &self.rules.get(*name)?.expr else { return None };
        let [first, Expr::Repeat(rest)] = parts.as_slice() else { return None };
        let ascii = |class: &Class| matches!(class.wide, Wide::None);
        let first = self.analysis.class(first, inside).filter(ascii)?;
        let rest = self.analysis.class(rest, inside).filter(ascii)?;
        let end = self.analysis.end(tail).filter(|end| !rest.first_bytes().contains(*end))?;
        let (first, rest) = (self.set_of(first), self.set_of(rest));
        let (rule, name, literal) = (rule as u16, *name as u16, literal.into());
        Some(Short { rule, literal, name, first, rest, end, steps: 0 })
    }

    fn expr(&mut self, expr: &Expr, mode: CaptureMode) {
        if self.full {
            return;
        }
        // A literal is compiled to a comparison, even one of a single character.
        let is_text = matches!(expr, Expr::Text(_));
        if let Some(class) = self.analysis.class(expr, mode).filter(|_| !is_text) {
            return self.one(class);
        }
        match expr {
            Expr::Text(text) => self.text(text),
            Expr::AnyCase(text) => {
                let text = self.literal(text);
                self.add(Instruction::AnyCase(text));
            }
            Expr::One(class) => self.one(class.clone()),
            Expr::Call(rule) if self.weights.get(*rule).is_some_and(|weight| *weight <= MAX_INLINED_WEIGHT) => {
                self.rule(*rule, mode);
            }
            Expr::Call(rule) => {
                let at = self.add(Instruction::Call { to: 0 });
                self.calls.push((at, *rule, mode));
            }
            Expr::Sequence(parts) => parts.iter().for_each(|part| self.expr(part, mode)),
            Expr::Choice(choices) => self.choice(choices, mode),
            Expr::Optional(inner) => self.optional(inner, mode),
            Expr::Repeat(inner) => self.repeat(inner, mode),
            Expr::And(inner) => self.and(inner),
            Expr::Not(inner) => self.not(inner),
            Expr::Until(texts) => self.until(texts),
        }
    }

    fn optional(&mut self, inner: &Expr, mode: CaptureMode) {
        if let Some(set) = self.single(inner, mode) {
            self.add(Instruction::Maybe(set));
            return;
        }
        let start = self.attempt(inner);
        self.expr(inner, mode);
        let to = self.here() + 1;
        self.add(Instruction::Commit { to });
        self.land(start);
    }

    fn and(&mut self, inner: &Expr) {
        if let Some(set) = self.single(inner, CaptureMode::Quiet) {
            self.add(Instruction::Is(set));
            return;
        }
        let start = self.add(Instruction::Try { to: 0 });
        self.expr(inner, CaptureMode::Quiet);
        let to = self.here() + 2;
        self.add(Instruction::Return { to });
        self.land(start);
        self.add(Instruction::Fail);
    }

    fn not(&mut self, inner: &Expr) {
        if let Some(set) = self.single(inner, CaptureMode::Quiet) {
            self.add(Instruction::IsNot(set));
            return;
        }
        let start = self.attempt(inner);
        self.expr(inner, CaptureMode::Quiet);
        self.add(Instruction::Refuse);
        self.land(start);
    }

    /// The set of the characters that `expr` consumes, if it always consumes exactly one.
    fn single(&mut self, expr: &Expr, mode: CaptureMode) -> Option<u32> {
        self.analysis.class(expr, mode).map(|class| self.set_of(class))
    }

    fn text(&mut self, text: &str) {
        match text.as_bytes() {
            [] => {}
            [byte @ ..0x80] => {
                self.add(Instruction::Byte(*byte));
            }
            _ => {
                let text = self.literal(text);
                self.add(Instruction::Text(text));
            }
        }
    }

    fn literal(&mut self, text: &str) -> u32 {
        self.code.texts.push(text.into());
        self.code.texts.len() as u32 - 1
    }

    fn one(&mut self, class: Class) {
        if let Class { ascii, wide: Wide::None } = class
            && ascii.count_ones() == 1
        {
            self.add(Instruction::Byte(ascii.trailing_zeros() as u8));
            return;
        }
        let set = self.set_of(class);
        self.add(Instruction::One(set));
    }

    /// Writes the start of an attempt at `expr`, which skips it if the next byte rules it out.
    fn attempt(&mut self, expr: &Expr) -> u32 {
        let match_start = self.analysis.match_start(expr);
        if match_start.empty {
            return self.add(Instruction::Try { to: 0 });
        }
        let set = self.bytes(match_start.bytes);
        self.add(Instruction::TryIf { set, to: 0 })
    }

    /// Makes the attempt at `start` continue here after a failure.
    fn land(&mut self, start: u32) {
        let to = self.here();
        if let Some(
            Instruction::Try { to: slot }
            | Instruction::TryIf { to: slot, .. }
            | Instruction::SpanTryIf { to: slot, .. }
            | Instruction::Commit { to: slot }
            | Instruction::Jump { to: slot },
        ) = self.code.ops.get_mut(start as usize)
        {
            *slot = to;
        }
    }

    fn repeat(&mut self, inner: &Expr, mode: CaptureMode) {
        if let Some(set) = self.single(inner, mode) {
            self.add(Instruction::Span(set));
            return;
        }
        if let Expr::Sequence(parts) = inner
            && let [Expr::Not(stop), Expr::One(Class { ascii: u128::MAX, wide: Wide::All })] = parts.as_slice()
            && let Some(texts) = self.texts_of(stop, 4)
        {
            self.until(&texts);
            return;
        }
        let start = self.here();
        let singles = self.analysis.singles(inner, mode);
        let match_start = self.analysis.match_start(inner);
        let attempt = if singles.is_empty() {
            self.attempt(inner)
        } else {
            let run = self.set_of(singles);
            let set = self.bytes(match_start.bytes);
            self.add(Instruction::SpanTryIf { run, set, to: 0 })
        };
        self.expr(inner, mode);
        self.add(Instruction::Commit { to: start });
        self.land(attempt);
    }

    fn until(&mut self, texts: &[String]) {
        let mut starting_bytes = ByteSet::default();
        for text in texts {
            starting_bytes = starting_bytes.or(text.bytes().next().map_or(ByteSet::ALL, ByteSet::one));
        }
        let ByteSet([ascii, wide]) = starting_bytes;
        let others = self.bytes(ByteSet([!ascii, !wide]));
        self.code.untils.push(StopTexts { others, texts: texts.iter().map(|text| text.as_str().into()).collect() });
        self.add(Instruction::Until(self.code.untils.len() as u32 - 1));
    }

    /// Compiles a choice. Alternatives that can start with the same byte form a group, in their order, and the next
    /// byte selects a group. Groups have no byte in common, so their order does not matter.
    fn choice(&mut self, choices: &[Expr], mode: CaptureMode) {
        let starts: Vec<_> = choices.iter().map(|choice| self.analysis.match_start(choice)).collect();
        let mut groups: Vec<(ByteSet, Vec<usize>)> = Vec::new();
        for (at, match_start) in starts.iter().enumerate() {
            let (mut bytes, mut members) = (match_start.bytes, vec![at]);
            groups.retain(|(others, group)| {
                let apart = others.and(bytes).is_empty();
                if !apart {
                    bytes = bytes.or(*others);
                    members.extend(group);
                }
                apart
            });
            members.sort_unstable();
            groups.push((bytes, members));
        }
        let mut ends = Vec::new();
        if groups.len() < 2 || groups.len() > 255 || starts.iter().any(|match_start| match_start.empty) {
            let all: Vec<&Expr> = choices.iter().collect();
            self.chain(&all, mode, &mut ends);
        } else {
            let table = self.code.switches.len();
            self.code.switches.push(Switch { branch: [0; 256], targets: Vec::new() });
            self.add(Instruction::Switch(table as u32));
            for (bytes, members) in groups {
                let target = self.here();
                if let Some(Switch { branch, targets }) = self.code.switches.get_mut(table) {
                    targets.push(target);
                    bytes.iter().for_each(|byte| {
                        branch.iter_mut().skip(usize::from(byte)).take(1).for_each(|slot| *slot = targets.len() as u8);
                    });
                }
                let group: Vec<&Expr> = members.iter().filter_map(|member| choices.get(*member)).collect();
                self.chain(&group, mode, &mut ends);
                ends.push(self.add(Instruction::Jump { to: 0 }));
            }
            // The jump at the end of the last group would go to the next instruction: omit it.
            if ends.last().is_some_and(|last| *last + 1 == self.here()) && !self.full {
                ends.pop();
                self.code.ops.pop();
            }
        }
        for end in ends {
            self.land(end);
        }
    }

    /// Compiles alternatives to be tried one after the other; if the last one fails, so does the choice.
    fn chain(&mut self, choices: &[&Expr], mode: CaptureMode, ends: &mut Vec<u32>) {
        let Some((last, before)) = choices.split_last() else { return };
        for choice in before {
            let start = self.attempt(choice);
            self.expr(choice, mode);
            ends.push(self.add(Instruction::Commit { to: 0 }));
            self.land(start);
        }
        self.expr(last, mode);
    }

    /// The index of a set for which the first byte decides.
    fn bytes(&mut self, bytes: ByteSet) -> u32 {
        if let Some(known) = self.known.get(&bytes) {
            return *known;
        }
        let set = self.add_set(bytes, None);
        self.known.insert(bytes, set);
        set
    }

    fn set_of(&mut self, class: Class) -> u32 {
        match class.wide {
            Wide::None | Wide::All => self.bytes(class.first_bytes()),
            ref wide => {
                let wide = Some(wide.clone());
                self.add_set(class.first_bytes(), wide)
            }
        }
    }

    fn add_set(&mut self, members: ByteSet, wide: Option<Wide>) -> u32 {
        let mut bytes = [false; 256];
        bytes.iter_mut().zip(0..=u8::MAX).for_each(|(slot, byte)| *slot = members.contains(byte));
        let mut outside = (0..=u8::MAX).filter(|byte| !members.contains(*byte));
        let stops = match (outside.next(), outside.next(), outside.next(), outside.next()) {
            _ if wide.is_some() => Stops::Many,
            (None, ..) => Stops::None,
            (Some(one), None, ..) => Stops::One(one),
            (Some(one), Some(two), None, _) => Stops::Two(one, two),
            (Some(one), Some(two), Some(three), None) => Stops::Three(one, two, three),
            _ => {
                let limit = (0..128).find(|byte| members.contains(*byte)).unwrap_or_default();
                let mut others = (limit..=u8::MAX).filter(|byte| !members.contains(*byte));
                match (others.next(), others.next(), others.next()) {
                    (Some(one), Some(two), None) if limit > 0 => Stops::Below(limit, one, two),
                    _ => Stops::Many,
                }
            }
        };
        self.code.sets.push(CharSet { bytes, wide, stops });
        self.code.sets.len() as u32 - 1
    }

    /// The texts of a choice of literals, after replacing names down to a `depth`.
    fn texts_of(&self, expr: &Expr, depth: usize) -> Option<Vec<String>> {
        const MAX_TEXTS: usize = 32;
        match expr {
            Expr::Text(text) => Some(vec![text.clone()]),
            Expr::Call(rule) if depth > 0 => self.texts_of(&self.rules.get(*rule)?.expr, depth - 1),
            Expr::Choice(choices) => {
                let mut texts = Vec::new();
                for choice in choices {
                    texts.extend(self.texts_of(choice, depth)?);
                    if texts.len() > MAX_TEXTS {
                        return None;
                    }
                }
                Some(texts)
            }
            _ => None,
        }
    }
}
