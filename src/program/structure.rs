//! Structure: would this line open or close a block?
//!
//! In: the rules and names of a dialect whose openers and closers count at the start of a line alone, or of one whose
//! answers are one object.
//! Out: whether a line is shaped like one, and any text with a guard before each such line; where an object may start.
//! Never: reads a response; the reader asks the same rules, but at every place.

use super::dialect::{Family, Names};
use super::outline::Outline;
use crate::expression::{At, Guarding, Opening};
use crate::grammar::{Grammar, Machine, Progress, RuleId};
use crate::text::{Guard, is_margin};
use std::sync::Arc;

/// Steps that one line may take; one that takes more is taken for structure.
const STEPS: u64 = 20_000;
/// Captures among which a name is looked for.
const CAPTURES: usize = 16;

/// How openers and closers of one dialect are told.
#[derive(Debug)]
pub(crate) struct Structure {
    families: Vec<Rules>,
    names: Arc<Names>,
    pub(crate) guard: Guard,
}

#[derive(Debug)]
struct Rules {
    grammar: Arc<Grammar>,
    name: RuleId,
    /// What opens, and what closes.
    marks: Vec<RuleId>,
}

impl Structure {
    pub(crate) fn new(families: &[Family], names: Arc<Names>) -> Self {
        let families: Vec<Rules> = families
            .iter()
            .map(|family| Rules {
                grammar: family.grammar.clone(),
                name: family.name,
                marks: std::iter::once(family.open).chain(family.close).collect(),
            })
            .collect();
        let starts = |byte: &u8| families.iter().any(|rules| rules.starts(*byte));
        let guard = Guard::new((0..=u8::MAX).filter(starts));
        Self { families, names, guard }
    }

    /// Whether an opener may start with a word, which no escaping of single bytes could keep from being one.
    pub(crate) fn starts_with_words(&self) -> bool {
        let is_word = |byte: &u8| byte.is_ascii_alphanumeric() || !byte.is_ascii();
        (0..=u8::MAX).filter(is_word).any(|byte| self.families.iter().any(|rules| rules.starts(byte)))
    }

    /// Whether a text starts with a line that opens or closes a block. What is unknown as long as nobody knows what follows
    /// may do so, unless it is `complete`.
    fn shapes(&self, text: &str, complete: bool) -> bool {
        let line = text.split('\n').next().unwrap_or_default().as_bytes();
        let mut machine = Machine::new().capturing(CAPTURES);
        line.iter().enumerate().any(|(at, byte)| {
            let mut families = self.families.iter().filter(|rules| rules.starts(*byte));
            let leads = || line.get(..at).is_some_and(is_margin);
            families.any(|rules| leads() && self.marks(rules, (text, complete), at, &mut machine))
        })
    }

    fn marks(&self, rules: &Rules, (text, complete): (&str, bool), at: usize, machine: &mut Machine) -> bool {
        rules.marks.iter().any(|mark| {
            machine.start(&rules.grammar, *mark, at);
            match machine.run(&rules.grammar, text, complete, &mut STEPS.clone()) {
                Progress::Matched(_) => {
                    let name = machine.captures().iter().find(|capture| capture.rule() == rules.name);
                    name.is_none_or(|name| self.names.closes(name.span().of(text)))
                }
                Progress::Pending | Progress::Spent => true,
                Progress::Failed | Progress::TooDeep => false,
            }
        })
    }
}

impl Rules {
    fn starts(&self, byte: u8) -> bool {
        self.marks.iter().any(|mark| self.grammar.first(*mark).bytes.get(usize::from(byte)) == Some(&true))
    }
}

impl Guarding for Structure {
    fn guarded(&self, text: &str) -> String {
        self.guard.put_on(text, |rest| self.shapes(rest, false)).into_owned()
    }
}

impl Opening for Structure {
    fn opens(&self, rest: &str, at: At) -> bool {
        at >= At::LineStart && self.shapes(rest, true)
    }
}

/// Where an answer that is one object may start.
#[derive(Debug)]
pub(crate) struct Braces {
    grammar: Arc<Grammar>,
    open: RuleId,
    name: RuleId,
}

impl Braces {
    pub(crate) fn new(outline: &Outline) -> Self {
        Self { grammar: outline.grammar.clone(), open: outline.open, name: outline.name }
    }
}

impl Opening for Braces {
    fn opens(&self, rest: &str, at: At) -> bool {
        let matches = |rule| {
            let mut machine = Machine::with_depth(16);
            machine.start(&self.grammar, rule, 0);
            !matches!(machine.run(&self.grammar, rest, true, &mut STEPS.clone()), Progress::Failed)
        };
        // At the very start the brace may be missing before a name in quotes.
        (rest.starts_with(['{', '`', '~']) && matches(self.open))
            || (at == At::Start && rest.starts_with(['"', '\'']) && matches(self.name))
    }
}
