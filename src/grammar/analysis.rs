//! Analysis: what is known about an expression before any text is read?
//!
//! In: resolved rules.
//! Out: the bytes that a match can start with, the characters that are consumed one at a time, the literals that every
//! match starts with.
//! Never: changes what an expression matches.

use super::class::{ByteSet, Class};
use super::expression::{Expr, ResolvedRule};
use pest_meta::ast::RuleType;
use std::cell::RefCell;
use std::collections::HashMap;
use std::rc::Rc;

/// Which captures a part of a grammar makes.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub(super) enum CaptureMode {
    /// Every rule makes a capture, unless it is silent.
    Visible,
    /// Inside an atomic rule: only rules marked `$` or `!` make a capture, and rules inside these.
    Atomic,
    /// Inside a lookahead: no rule makes a capture.
    Quiet,
}

/// How matches of an expression start.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub(super) struct MatchStart {
    /// The first bytes of all matches that are not empty.
    pub(super) bytes: ByteSet,
    /// Whether a match can be empty.
    pub(super) empty: bool,
}

/// How many levels of calls are followed to find the characters that rules consume.
const MAX_CALL_DEPTH: usize = 4;

/// If an expression has more beginnings than this, they count as unknown.
const MAX_BEGINNINGS: usize = 64;

/// A text that a match may start with.
#[derive(Debug, Clone)]
struct Beginning {
    text: String,
    /// Whether a match consists of exactly this text.
    whole: bool,
}

impl Beginning {
    const NOTHING: Self = Self { text: String::new(), whole: true };
    const UNKNOWN: Self = Self { text: String::new(), whole: false };

    /// Whether the text after it is known, and useful: a few bytes distinguish most texts.
    fn goes_on(&self) -> bool {
        const ENOUGH_BYTES: usize = 4;
        self.whole && self.text.len() < ENOUGH_BYTES
    }

    /// The beginnings of a text whose case does not matter: two letters in every case distinguish most texts.
    fn in_any_case(text: &str) -> Vec<Self> {
        const ENOUGH_LETTERS: usize = 2;
        let whole = text.chars().count() <= ENOUGH_LETTERS;
        let mut all = vec![Self { text: String::new(), whole }];
        for letter in text.chars().take(ENOUGH_LETTERS) {
            let mut cases = vec![letter.to_ascii_lowercase(), letter.to_ascii_uppercase()];
            cases.dedup();
            let longer = |one: &Self| {
                cases.iter().map(|case| Self { text: format!("{}{case}", one.text), whole }).collect::<Vec<_>>()
            };
            all = all.iter().flat_map(longer).collect();
        }
        all
    }

    /// This beginning, followed by each of `rest`.
    fn followed_by(&self, rest: &[Self]) -> Vec<Self> {
        let joined = |behind: &Self| Self { text: format!("{}{}", self.text, behind.text), whole: behind.whole };
        match self.goes_on() {
            true => rest.iter().map(joined).collect(),
            false => vec![Self { whole: false, ..self.clone() }],
        }
    }

    /// The beginning that satisfies both this one and the text `ahead`, if there is one.
    fn narrowed(&self, ahead: &Self) -> Option<Self> {
        match self.text.starts_with(&ahead.text) {
            true => Some(self.clone()),
            false => ahead.text.starts_with(&self.text).then(|| Self { whole: false, ..ahead.clone() }),
        }
    }
}

/// The rules, and the facts about them.
pub(super) struct Analysis<'r> {
    rules: &'r [ResolvedRule],
    starts: Vec<MatchStart>,
    /// By rule: whether it is marked `$` or `!`, or calls a rule that is, at any depth.
    reveals: Vec<bool>,
    /// By rule: whether it calls a rule marked `$` or `!`, at any depth.
    reveals_inside: Vec<bool>,
    classes: HashMap<(usize, CaptureMode), Option<Class>>,
    singles: HashMap<(usize, CaptureMode), Class>,
    /// A cache: many rules call the same ones, and following them each time took 28 of the 160 million instructions to
    /// load a pack with five grammars.
    beginnings: RefCell<Beginnings>,
}

/// The beginnings of the matches of a rule, by the rule and the number of levels of calls that are followed.
type Beginnings = HashMap<(usize, usize), Rc<[Beginning]>>;

impl<'r> Analysis<'r> {
    pub(super) fn of(rules: &'r [ResolvedRule]) -> Self {
        let starts = vec![MatchStart::default(); rules.len()];
        let reveals =
            rules.iter().map(|rule| matches!(rule.kind, RuleType::CompoundAtomic | RuleType::NonAtomic)).collect();
        let reveals_inside = vec![false; rules.len()];
        let (classes, singles, beginnings) = Default::default();
        let mut analysis = Self { rules, starts, reveals, reveals_inside, classes, singles, beginnings };
        // Fixed point: facts are only ever added, so the loop ends.
        loop {
            let starts: Vec<MatchStart> = rules.iter().map(|rule| analysis.match_start(&rule.expr)).collect();
            let inside: Vec<bool> =
                rules.iter().map(|rule| rule.expr.calls(&mut |callee| analysis.reveals(callee))).collect();
            let reveals: Vec<bool> = analysis.reveals.iter().zip(&inside).map(|(one, other)| *one || *other).collect();
            analysis.reveals_inside = inside;
            if (&starts, &reveals) == (&analysis.starts, &analysis.reveals) {
                return analysis;
            }
            (analysis.starts, analysis.reveals) = (starts, reveals);
        }
    }

    fn reveals(&self, rule: usize) -> bool {
        self.reveals.get(rule).copied().unwrap_or_default()
    }

    /// Whether a rule makes a capture in this mode, and the mode inside it.
    pub(super) fn capture(&self, rule: usize, mode: CaptureMode) -> (bool, CaptureMode) {
        let kind = self.rules.get(rule).map_or(RuleType::Silent, |rule| rule.kind);
        let (captured, inside) = match (kind, mode) {
            (_, CaptureMode::Quiet) => (false, CaptureMode::Quiet),
            (RuleType::Silent, mode) => (false, mode),
            (RuleType::Normal, mode) => (mode == CaptureMode::Visible, mode),
            (RuleType::Atomic, mode) => (mode == CaptureMode::Visible, CaptureMode::Atomic),
            (RuleType::CompoundAtomic | RuleType::NonAtomic, _) => (true, CaptureMode::Visible),
        };
        let reveals = self.reveals_inside.get(rule).copied().unwrap_or_default();
        (captured, if inside == CaptureMode::Atomic && !reveals { CaptureMode::Quiet } else { inside })
    }

    /// The mode in which to compile a rule called in `mode`: modes in which it makes the same captures become one.
    pub(super) fn effective(&self, rule: usize, mode: CaptureMode) -> CaptureMode {
        if mode == CaptureMode::Atomic && !self.reveals(rule) { CaptureMode::Quiet } else { mode }
    }

    /// How matches of `expr` start.
    pub(super) fn match_start(&self, expr: &Expr) -> MatchStart {
        match expr {
            Expr::Text(text) => match text.bytes().next() {
                Some(byte) => MatchStart { bytes: ByteSet::one(byte), empty: false },
                None => MatchStart { bytes: ByteSet::default(), empty: true },
            },
            Expr::AnyCase(text) => match text.bytes().next() {
                Some(byte) => {
                    let bytes = ByteSet::one(byte.to_ascii_lowercase()).or(ByteSet::one(byte.to_ascii_uppercase()));
                    MatchStart { bytes, empty: false }
                }
                None => MatchStart { bytes: ByteSet::default(), empty: true },
            },
            Expr::One(class) => MatchStart { bytes: class.first_bytes(), empty: false },
            Expr::Call(rule) => self.starts.get(*rule).copied().unwrap_or_default(),
            Expr::Sequence(parts) => {
                let mut match_start = MatchStart { bytes: ByteSet::default(), empty: true };
                let (mut refused, mut asked) = (ByteSet::default(), ByteSet::ALL);
                for part in parts {
                    // A `!` before anything has been consumed excludes characters from the start of the match.
                    if let Expr::Not(inner) = part
                        && match_start.bytes.is_empty()
                    {
                        refused = refused.or(self.taken(inner, MAX_CALL_DEPTH));
                    }
                    // A `&` limits how the rest can start.
                    if let Expr::And(inner) = part {
                        let ahead = self.match_start(inner);
                        asked = if ahead.empty { asked } else { asked.and(ahead.bytes) };
                    }
                    let next = self.match_start(part);
                    match_start = MatchStart { bytes: match_start.bytes.or(next.bytes.and(asked)), empty: next.empty };
                    if !next.empty {
                        break;
                    }
                }
                MatchStart { bytes: match_start.bytes.but(refused), ..match_start }
            }
            Expr::Choice(choices) => {
                choices.iter().map(|choice| self.match_start(choice)).fold(MatchStart::default(), |one, other| {
                    MatchStart { bytes: one.bytes.or(other.bytes), empty: one.empty || other.empty }
                })
            }
            Expr::Optional(inner) | Expr::Repeat(inner) => MatchStart { empty: true, ..self.match_start(inner) },
            Expr::And(_) | Expr::Not(_) => MatchStart { bytes: ByteSet::default(), empty: true },
            Expr::Until(_) => MatchStart { bytes: ByteSet::ALL, empty: true },
        }
    }

    /// The bytes before which `expr` may match without consuming any: all of them, unless it looks ahead.
    pub(super) fn ahead(&self, expr: &Expr) -> ByteSet {
        self.ahead_within(expr, MAX_CALL_DEPTH)
    }

    fn ahead_within(&self, expr: &Expr, calls: usize) -> ByteSet {
        match expr {
            Expr::And(inner) => {
                let match_start = self.match_start(inner);
                if match_start.empty { ByteSet::ALL } else { match_start.bytes }
            }
            Expr::Call(rule) if calls > 0 => {
                self.rules.get(*rule).map_or(ByteSet::ALL, |rule| self.ahead_within(&rule.expr, calls - 1))
            }
            Expr::Sequence(parts) => {
                parts.iter().fold(ByteSet::ALL, |before, part| before.and(self.ahead_within(part, calls)))
            }
            Expr::Choice(choices) => {
                let empty = choices.iter().filter(|choice| self.match_start(choice).empty);
                empty.fold(ByteSet::default(), |all, choice| all.or(self.ahead_within(choice, calls)))
            }
            _ => ByteSet::ALL,
        }
    }

    /// ASCII bytes, each of which `expr` matches on its own.
    fn taken(&self, expr: &Expr, calls: usize) -> ByteSet {
        match expr {
            Expr::Text(text) => match text.as_bytes() {
                [byte @ ..0x80] => ByteSet::one(*byte),
                _ => ByteSet::default(),
            },
            Expr::One(class) => ByteSet([class.ascii, 0]),
            Expr::Call(rule) if calls > 0 => {
                self.rules.get(*rule).map_or(ByteSet::default(), |rule| self.taken(&rule.expr, calls - 1))
            }
            Expr::Choice(choices) => {
                choices.iter().fold(ByteSet::default(), |all, choice| all.or(self.taken(choice, calls)))
            }
            _ => ByteSet::default(),
        }
    }

    /// An ASCII byte that `parts` are certain to match as their last one, without making a capture.
    pub(super) fn end(&self, parts: &[Expr]) -> Option<u8> {
        let (last, before) = parts.split_last()?;
        let choices = if let Expr::Choice(choices) = last { choices.as_slice() } else { std::slice::from_ref(last) };
        let fails = |expr: &Expr, byte: u8| {
            let match_start = self.match_start(expr);
            !match_start.empty && !match_start.bytes.contains(byte)
        };
        let passed = |part: &Expr, byte: u8| match part {
            Expr::Optional(inner) | Expr::Repeat(inner) => fails(inner, byte),
            _ => false,
        };
        choices.iter().enumerate().find_map(|(number, choice)| {
            let Expr::Text(text) = choice else { return None };
            let [byte @ ..0x80] = *text.as_bytes() else { return None };
            let refused = choices.iter().take(number).all(|choice| fails(choice, byte));
            (refused && before.iter().all(|part| passed(part, byte))).then_some(byte)
        })
    }

    /// The class of `expr`, if it always consumes exactly one character and makes no capture.
    pub(super) fn class(&mut self, expr: &Expr, mode: CaptureMode) -> Option<Class> {
        match expr {
            Expr::Text(text) => {
                let mut chars = text.chars();
                let only = chars.next().filter(|_| chars.next().is_none())?;
                Some(Class::range(only, only))
            }
            Expr::AnyCase(text) if text.len() == 1 => {
                let only = text.chars().next()?;
                let (lower, upper) = (only.to_ascii_lowercase(), only.to_ascii_uppercase());
                Class::range(lower, lower).or(Class::range(upper, upper))
            }
            Expr::One(class) => Some(class.clone()),
            Expr::Call(rule) => {
                let (captured, inside) = self.capture(*rule, mode);
                if captured {
                    return None;
                }
                if let Some(known) = self.classes.get(&(*rule, inside)) {
                    return known.clone();
                }
                // For a rule that calls itself: such a rule consumes more than one character, or fails.
                self.classes.insert((*rule, inside), None);
                let class = self.rules.get(*rule).and_then(|rule| self.class(&rule.expr, inside));
                self.classes.insert((*rule, inside), class.clone());
                class
            }
            Expr::Sequence(parts) => {
                let (last, lookaheads) = parts.split_last()?;
                let mut class = self.class(last, mode)?;
                for lookahead in lookaheads.iter().rev() {
                    let Expr::Not(inner) = lookahead else { return None };
                    class = class.but(self.class(inner, CaptureMode::Quiet)?)?;
                }
                Some(class)
            }
            Expr::Choice(choices) => {
                let mut class = Class::EMPTY;
                for choice in choices {
                    class = class.or(self.class(choice, mode)?)?;
                }
                Some(class)
            }
            _ => None,
        }
    }

    /// Characters that `expr` is certain to consume one at a time, whatever follows: a repetition may skip all of them
    /// at once.
    pub(super) fn singles(&mut self, expr: &Expr, mode: CaptureMode) -> Class {
        if let Some(class) = self.class(expr, mode) {
            return class.of_bytes();
        }
        match expr {
            Expr::Call(rule) => {
                let (captured, inside) = self.capture(*rule, mode);
                if captured {
                    return Class::EMPTY;
                }
                if let Some(known) = self.singles.get(&(*rule, inside)) {
                    return known.clone();
                }
                self.singles.insert((*rule, inside), Class::EMPTY);
                let singles = self.rules.get(*rule).map_or(Class::EMPTY, |rule| self.singles(&rule.expr, inside));
                self.singles.insert((*rule, inside), singles.clone());
                singles
            }
            Expr::Sequence(parts) => {
                let Some((last, lookaheads)) = parts.split_last() else { return Class::EMPTY };
                let mut singles = self.singles(last, mode);
                for lookahead in lookaheads {
                    let Expr::Not(inner) = lookahead else { return Class::EMPTY };
                    let match_start = self.match_start(inner);
                    if match_start.empty {
                        return Class::EMPTY;
                    }
                    singles = meet(singles, match_start.bytes.others());
                }
                singles
            }
            Expr::Choice(choices) => {
                let mut singles = Class::EMPTY;
                let mut tried = ByteSet::default();
                for choice in choices {
                    let found = meet(self.singles(choice, mode), tried.others());
                    singles = singles.or(found).unwrap_or(Class::EMPTY);
                    let match_start = self.match_start(choice);
                    if match_start.empty {
                        break;
                    }
                    tried = tried.or(match_start.bytes);
                }
                singles
            }
            _ => Class::EMPTY,
        }
    }

    /// Texts such that every match starts with one of them, if they are known.
    pub(super) fn literals(&self, expr: &Expr) -> Option<Vec<String>> {
        let mut found: Vec<String> = self.beginnings(expr, MAX_CALL_DEPTH).into_iter().map(|one| one.text).collect();
        found.sort();
        // A text that starts with another one is redundant.
        found.dedup_by(|next, shorter| next.starts_with(shorter.as_str()));
        Some(found).filter(|found| !found.iter().any(String::is_empty))
    }

    /// The beginnings of matches: every match starts with one of these.
    fn beginnings(&self, expr: &Expr, depth: usize) -> Vec<Beginning> {
        match expr {
            Expr::Text(text) => vec![Beginning { text: text.clone(), whole: true }],
            Expr::AnyCase(text) => Beginning::in_any_case(text),
            Expr::One(class) if class.ascii.count_ones() <= 4 && class.first_bytes() == (ByteSet([class.ascii, 0])) => {
                let one = |byte| Beginning { text: char::from(byte).to_string(), whole: true };
                class.first_bytes().iter().map(one).collect()
            }
            Expr::Call(rule) if depth > 0 => {
                let known = self.beginnings.borrow().get(&(*rule, depth)).cloned();
                let found = known.unwrap_or_else(|| {
                    let inside = self.rules.get(*rule).map(|rule| self.beginnings(&rule.expr, depth - 1));
                    let found: Rc<[Beginning]> = inside.unwrap_or_else(|| vec![Beginning::UNKNOWN]).into();
                    self.beginnings.borrow_mut().insert((*rule, depth), Rc::clone(&found));
                    found
                });
                found.to_vec()
            }
            Expr::Sequence(parts) => self.beginnings_of(parts, depth),
            Expr::Choice(choices) => {
                let found: Vec<_> = choices.iter().flat_map(|choice| self.beginnings(choice, depth)).collect();
                if found.len() > MAX_BEGINNINGS { vec![Beginning::UNKNOWN] } else { found }
            }
            Expr::Optional(inner) => [vec![Beginning::NOTHING], self.beginnings(inner, depth)].concat(),
            Expr::Repeat(inner) => {
                let first = self.beginnings(inner, depth).into_iter().map(|one| Beginning { whole: false, ..one });
                std::iter::once(Beginning::NOTHING).chain(first).collect()
            }
            Expr::And(_) | Expr::Not(_) => vec![Beginning::NOTHING],
            _ => vec![Beginning::UNKNOWN],
        }
    }

    /// The beginnings of a sequence of parts.
    fn beginnings_of(&self, parts: &[Expr], depth: usize) -> Vec<Beginning> {
        let mut all = vec![Beginning::NOTHING];
        let mut rest = parts.iter();
        while let Some(part) = rest.next().filter(|_| all.iter().any(|one| one.goes_on())) {
            let next = match part {
                // The lookahead may be narrower than the parts that consume the text, or wider.
                Expr::And(inner) => {
                    let (ahead, taken) = (
                        self.beginnings(inner, depth),
                        self.beginnings_of(std::mem::take(&mut rest).as_slice(), depth),
                    );
                    ahead.iter().flat_map(|ahead| taken.iter().filter_map(|one| one.narrowed(ahead))).collect()
                }
                part => self.beginnings(part, depth),
            };
            let joined: Vec<_> = all.iter().flat_map(|one| one.followed_by(&next)).collect();
            if joined.len() > MAX_BEGINNINGS {
                return all.into_iter().map(|one| Beginning { whole: false, ..one }).collect();
            }
            all = joined;
        }
        all
    }
}

fn meet(one: Class, other: Class) -> Class {
    use super::class::Wide;
    let wide = if matches!((&one.wide, &other.wide), (Wide::All, Wide::All)) { Wide::All } else { Wide::None };
    Class { ascii: one.ascii & other.ascii, wide }
}

impl Expr {
    /// Whether it contains a literal that `is` accepts, outside of negative lookaheads.
    pub(super) fn has_text(&self, is: &dyn Fn(&str) -> bool) -> bool {
        match self {
            Expr::Text(text) | Expr::AnyCase(text) => is(text),
            Expr::Sequence(parts) | Expr::Choice(parts) => parts.iter().any(|part| part.has_text(is)),
            Expr::Optional(inner) | Expr::Repeat(inner) | Expr::And(inner) => inner.has_text(is),
            Expr::Call(_) | Expr::One(_) | Expr::Not(_) | Expr::Until(_) => false,
        }
    }

    /// Whether it calls a rule for which `test` is true, outside of lookaheads, which consume nothing.
    pub(super) fn takes(&self, test: &mut dyn FnMut(usize) -> bool) -> bool {
        match self {
            Expr::Call(rule) => test(*rule),
            Expr::Sequence(parts) | Expr::Choice(parts) => parts.iter().any(|part| part.takes(test)),
            Expr::Optional(inner) | Expr::Repeat(inner) => inner.takes(test),
            Expr::And(_) | Expr::Not(_) | Expr::Text(_) | Expr::AnyCase(_) | Expr::One(_) | Expr::Until(_) => false,
        }
    }

    /// Whether it calls a rule for which `test` is true.
    pub(super) fn calls(&self, test: &mut dyn FnMut(usize) -> bool) -> bool {
        match self {
            Expr::Call(rule) => test(*rule),
            Expr::Sequence(parts) | Expr::Choice(parts) => parts.iter().any(|part| part.calls(test)),
            Expr::Optional(inner) | Expr::Repeat(inner) | Expr::And(inner) | Expr::Not(inner) => inner.calls(test),
            Expr::Text(_) | Expr::AnyCase(_) | Expr::One(_) | Expr::Until(_) => false,
        }
    }
}
