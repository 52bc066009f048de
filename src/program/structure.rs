//! Structure: would this line open or close a block?
//!
//! In: the rules and names of a dialect whose openers and closers count at the start of a line alone.
//! Out: whether a line is shaped like one, and any text with a guard before each such line.
//! Never: reads a response; the reader asks the same rules, but at every place.

use super::dialect::{Family, Names};
use crate::expression::Guarding;
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

    /// Whether a text starts with a line that opens or closes a block.
    fn shapes(&self, text: &str) -> bool {
        let line = text.split('\n').next().unwrap_or_default().as_bytes();
        let mut machine = Machine::new().capturing(CAPTURES);
        line.iter().enumerate().any(|(at, byte)| {
            let mut families = self.families.iter().filter(|rules| rules.starts(*byte));
            let leads = || line.get(..at).is_some_and(is_margin);
            families.any(|rules| leads() && self.marks(rules, text, at, &mut machine))
        })
    }

    fn marks(&self, rules: &Rules, text: &str, at: usize, machine: &mut Machine) -> bool {
        rules.marks.iter().any(|mark| {
            machine.start(&rules.grammar, *mark, at);
            // What is unknown as long as nobody knows what follows may become structure.
            match machine.run(&rules.grammar, text, false, &mut STEPS.clone()) {
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
        self.guard.put_on(text, |rest| self.shapes(rest)).into_owned()
    }
}
