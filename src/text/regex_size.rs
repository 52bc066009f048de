//! Size of a regex: how large can it become when it is compiled?
//!
//! In: the syntax tree of a pattern.
//! Out: a bound, in bytes, on what the `regex` crate compares with its size limit.
//! Never: compiles a pattern, or returns less than compiling takes: a pattern whose bound is below a limit is within
//! the limit.

use regex_automata::nfa::thompson::{Compiler, Config, State, WhichCaptures};
use regex_syntax::hir::{Class, ClassUnicode, Hir, HirKind};
use regex_syntax::utf8::Utf8Sequences;

/// The bytes of a state of the automaton, besides its transitions.
const BYTES_PER_STATE: usize = 32;
/// The most bytes of a state with the transitions out of it: up to 8 for each transition.
const BYTES_PER_LINKED_STATE: usize = 48;
/// The most bytes for a byte of a literal. Alternatives of literals become a tree, with a fork after any byte.
const BYTES_PER_LITERAL_BYTE: usize = 80;
/// A class with fewer ranges is always counted by its ranges.
const FEW_RANGES: usize = 64;

/// The most bytes that the automaton of a pattern can take, forwards or backwards. If a cheap bound is above `limit`, a
/// tighter one: it compiles each large class of characters once, however often the pattern has it.
pub(crate) fn largest_size(pattern: &Hir, limit: usize) -> usize {
    // The crate adds a loop over any text, a group and a match around the pattern.
    let around = 16 * BYTES_PER_LINKED_STATE;
    let with_class_sizes = Sizes { classes: None }.of(pattern).saturating_add(around);
    if with_class_sizes <= limit {
        with_class_sizes
    } else {
        Sizes { classes: Some(Vec::new()) }.of(pattern).saturating_add(around)
    }
}

struct Sizes<'h> {
    /// The sizes of the large classes so far; `None` for the cheap bound, which compiles no class.
    classes: Option<Vec<(&'h ClassUnicode, usize)>>,
}

impl<'h> Sizes<'h> {
    fn of(&mut self, hir: &'h Hir) -> usize {
        match hir.kind() {
            HirKind::Empty | HirKind::Look(_) => BYTES_PER_LINKED_STATE,
            HirKind::Literal(literal) => literal.0.len().saturating_mul(BYTES_PER_LITERAL_BYTE),
            HirKind::Class(class) => self.of_class(class),
            HirKind::Capture(capture) => self.of(&capture.sub).saturating_add(2 * BYTES_PER_LINKED_STATE),
            HirKind::Repetition(repetition) => {
                let copies = repetition.max.unwrap_or(repetition.min).max(repetition.min).max(1);
                let copy = self.of(&repetition.sub).saturating_add(BYTES_PER_LINKED_STATE);
                copy.saturating_mul(copies as usize).saturating_add(4 * BYTES_PER_LINKED_STATE)
            }
            HirKind::Concat(parts) | HirKind::Alternation(parts) => {
                parts.iter().fold(2 * BYTES_PER_LINKED_STATE, |sum, part| {
                    sum.saturating_add(self.of(part)).saturating_add(BYTES_PER_LINKED_STATE)
                })
            }
        }
    }

    fn of_class(&mut self, class: &'h Class) -> usize {
        match class {
            Class::Bytes(class) => (2 + class.ranges().len()) * BYTES_PER_LINKED_STATE,
            Class::Unicode(class) => match &mut self.classes {
                Some(known) if class.ranges().len() >= FEW_RANGES => {
                    if let Some((_, size)) = known.iter().find(|(one, _)| *one == class) {
                        return *size;
                    }
                    let size = compiled(class).unwrap_or_else(|| spelled(class));
                    known.push((class, size));
                    size
                }
                _ => spelled(class),
            },
        }
    }
}

/// A class of characters is compiled to the sequences of bytes that spell them; some of these share states.
fn spelled(class: &ClassUnicode) -> usize {
    class.ranges().iter().fold(2 * BYTES_PER_LINKED_STATE, |sum, range| {
        let sequences = Utf8Sequences::new(range.start(), range.end());
        sequences.fold(sum, |sum, sequence| sum + sequence.len() * BYTES_PER_LINKED_STATE)
    })
}

/// The compiled size of a class, in the larger of both directions. The position of a class does not change it.
fn compiled(class: &ClassUnicode) -> Option<usize> {
    let hir = Hir::class(Class::Unicode(class.clone()));
    let size = |reverse: bool| {
        let config = Config::new().reverse(reverse).which_captures(WhichCaptures::None);
        let automaton = Compiler::new().configure(config).build_from_hir(&hir).ok()?;
        let links = automaton.states().iter().map(|state| match state {
            State::Sparse(sparse) => sparse.transitions.len(),
            State::Union { alternates } => alternates.len(),
            State::Dense(_) => 256,
            _ => 2,
        });
        Some(links.map(|links| BYTES_PER_STATE + 8 * links).sum::<usize>() + 4 * BYTES_PER_LINKED_STATE)
    };
    Some(size(false)?.max(size(true)?))
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    /// Checks that the automaton of a pattern stays within the bound, in both directions.
    fn check(pattern: &str) {
        let hir = regex_syntax::parse(pattern).unwrap();
        for (reverse, with_class_sizes) in [(false, false), (true, false), (false, true), (true, true)] {
            let limit = largest_size(&hir, if with_class_sizes { usize::MAX } else { 0 });
            let captures = if reverse { WhichCaptures::None } else { WhichCaptures::All };
            let config = Config::new().reverse(reverse).which_captures(captures).nfa_size_limit(Some(limit));
            let built = Compiler::new().configure(config).build_from_hir(&hir);
            assert!(built.is_ok(), "{pattern}, {reverse}: more than {limit}");
        }
    }

    #[test]
    fn the_bound_holds_for_every_kind_of_expression() {
        let all = [
            "",
            "a",
            "\\b",
            "(?i)straße",
            "(?:a|b|c)",
            "x|abc|abd|xyz|xy",
            "(a)(?<name>b)",
            "\\w",
            "\\W",
            "\\d\\s",
            "[^a]",
            ".",
            "(?s).",
            "(?-u:\\w)",
            "\\p{L}",
            "\\p{Greek}+",
            "(?:\\w+\\s+){0,5}",
            "(?:a?){3,}",
            "(?:|a|bc|)*?",
            "[a&&b]",
            "(?:a{0}b){2}",
            "[\\u{0}-\\u{10FFFF}]",
            "[\\u{7F}-\\u{801}]",
            "[aä-ü€-₿😀-🙏]",
        ];
        all.iter().for_each(|pattern| check(pattern));
    }

    fn expression() -> impl Strategy<Value = String> {
        let atom =
            prop::sample::select(vec!["", "a", "ab", "ac", "abd", "b", "é", "[a-c]", "\\s", "\\w", ".", "^", "(?i:s)"]);
        atom.prop_map(str::to_owned).prop_recursive(5, 24, 4, |inner| {
            let joined = |by: &'static str| {
                prop::collection::vec(inner.clone(), 1..6).prop_map(move |parts| format!("(?:{})", parts.join(by)))
            };
            let times = prop::sample::select(vec!["?", "*", "+", "{2}", "{0,3}", "{3,}", "*?", "{1,2}?"]);
            let repeated = (inner.clone(), times).prop_map(|(inner, times)| format!("({inner}){times}"));
            prop_oneof![joined(""), joined("|"), repeated]
        })
    }

    proptest! {
        #[test]
        fn the_bound_holds(pattern in expression()) {
            check(&pattern);
        }

        #[test]
        fn the_bound_holds_for_ranges_of_characters(one: char, other: char) {
            check(&format!("[\\u{{{:x}}}-\\u{{{:x}}}]", u32::from(one.min(other)), u32::from(one.max(other))));
        }
    }
}
