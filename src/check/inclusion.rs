//! Inclusion: does one pattern match in every text in which another one does?
//!
//! In: patterns of the `regex` crate.
//! Out: [`Matched`], the texts in which one of some patterns matches, and whether they include all texts of another
//! one.
//! Never: guesses: an inclusion that cannot be proved within a few thousand steps is not reported.
//!
//! Both automata run side by side over all possible texts, and are built as they are explored. A text on which the
//! other automaton has matched and this one has not proves that there is no inclusion.

use regex_automata::hybrid::dfa::{Cache, DFA};
use regex_automata::hybrid::{CacheError, LazyStateID};
use regex_automata::util::start::Config as Start;
use regex_automata::{Anchored, Input, MatchKind};
use regex_syntax::hir::{Class, Hir, HirKind};
use std::cell::RefCell;
use std::collections::HashSet;
use std::sync::LazyLock;

/// The most pairs of states that are explored.
const MAX_STATES: usize = 2_000;
/// The most bytes of an automaton.
const MAX_AUTOMATON_BYTES: usize = 1 << 20;
/// The most steps to write an example.
const MAX_EXAMPLE_STEPS: usize = 256;

/// The texts in which one of some patterns matches.
pub(crate) struct Matched {
    dfa: DFA,
    /// The length in bytes of the shortest match.
    least: usize,
    /// Whether a pattern uses Unicode word boundaries. Automata do not support them, so only ASCII texts are explored.
    bounded: bool,
    /// Whether a result for all ASCII texts is also true for all other texts.
    ascii_is_enough: bool,
    /// A short text in which a pattern matches, if one is easy to construct.
    example: Option<Vec<u8>>,
    cache: RefCell<Cache>,
}

/// The automaton for valid UTF-8: texts are never anything else.
static TEXTS: LazyLock<Option<DFA>> = LazyLock::new(|| automaton(&[r"\A(?s:.)*\z"]));

fn automaton(patterns: &[&str]) -> Option<DFA> {
    let config = DFA::config()
        .match_kind(MatchKind::All)
        .unicode_word_boundary(true)
        .cache_capacity(MAX_AUTOMATON_BYTES)
        .skip_cache_capacity_check(true)
        .minimum_cache_clear_count(Some(0));
    let nfa = regex_automata::nfa::thompson::Config::new().nfa_size_limit(Some(MAX_AUTOMATON_BYTES));
    DFA::builder().configure(config).thompson(nfa).build_many(patterns).ok()
}

impl Matched {
    /// The texts in which one of the patterns matches; none if there are no patterns, or if they are too large.
    pub(crate) fn by(patterns: &[&str]) -> Option<Self> {
        let parsed: Vec<Hir> = patterns.iter().map(|text| regex_syntax::parse(text).ok()).collect::<Option<_>>()?;
        let least = parsed.iter().map(|hir| hir.properties().minimum_len().unwrap_or(usize::MAX)).min()?;
        let dfa = automaton(patterns)?;
        let mut example = Vec::new();
        let written = write_example(parsed.first()?, &mut example, &mut MAX_EXAMPLE_STEPS.clone());
        let mut matched = Self {
            cache: RefCell::new(dfa.create_cache()),
            dfa,
            example: None,
            least,
            bounded: parsed.iter().any(|hir| hir.properties().look_set().contains_word_unicode()),
            ascii_is_enough: parsed.iter().all(treats_others_as_letters),
        };
        matched.example = Some(example).filter(|text| written.is_some() && matched.finds(text) == Some(true));
        Some(matched)
    }

    /// Whether it is certain that all texts of the other are among these.
    pub(crate) fn includes(&self, other: &Self) -> bool {
        let ascii = self.bounded || other.bounded;
        let comparable = !ascii || (self.ascii_is_enough && other.ascii_is_enough);
        // Cheap test first, since most patterns are unrelated: the example of the other must match here, too.
        let refuted = || other.example.as_ref().is_some_and(|text| self.finds(text) == Some(false));
        comparable
            && self.least <= other.least
            && !refuted()
            && ProductWalk::new(self, other, ascii).is_some_and(|walk| walk.finds_all())
    }

    /// Whether one of the patterns matches in a text; none if that cannot be decided.
    fn finds(&self, text: &[u8]) -> Option<bool> {
        let mut cache = self.cache.try_borrow_mut().ok()?;
        let found = self.dfa.try_search_fwd(&mut cache, &Input::new(text));
        found.ok().map(|end| end.is_some())
    }
}

/// Appends a text that the expression matches, apart from its anchors and boundaries; none if that takes too many
/// steps.
fn write_example(hir: &Hir, out: &mut Vec<u8>, steps: &mut usize) -> Option<()> {
    *steps = steps.checked_sub(1)?;
    match hir.kind() {
        HirKind::Empty | HirKind::Look(_) => {}
        HirKind::Literal(literal) => out.extend_from_slice(&literal.0),
        HirKind::Class(Class::Unicode(class)) => {
            out.extend_from_slice(class.ranges().first()?.start().encode_utf8(&mut [0; 4]).as_bytes());
        }
        HirKind::Class(Class::Bytes(class)) => out.push(class.ranges().first()?.start()),
        HirKind::Repetition(repetition) => {
            (0..repetition.min).try_for_each(|_| write_example(&repetition.sub, out, steps))?;
        }
        HirKind::Capture(capture) => write_example(&capture.sub, out, steps)?,
        HirKind::Concat(parts) => parts.iter().try_for_each(|part| write_example(part, out, steps))?,
        HirKind::Alternation(parts) => write_example(parts.first()?, out, steps)?,
    }
    Some(())
}

/// Both automata and the one for valid UTF-8, run side by side.
struct ProductWalk<'a> {
    automata: [&'a DFA; 3],
    caches: [Cache; 3],
    /// One byte of each class of bytes that all automata treat alike.
    bytes: Vec<u8>,
}

/// The states of the three automata, and whether the other pattern has matched.
type At = ([LazyStateID; 3], bool);

impl<'a> ProductWalk<'a> {
    fn new(own: &'a Matched, other: &'a Matched, ascii: bool) -> Option<Self> {
        let automata = [&own.dfa, &other.dfa, TEXTS.as_ref()?];
        let mut classes = HashSet::new();
        let last = if ascii { 0x7F } else { 0xFF };
        let mut new = |byte: &u8| classes.insert(automata.map(|dfa| dfa.byte_classes().get(*byte)));
        Some(Self {
            bytes: (0..=last).filter(|byte| new(byte)).collect(),
            caches: automata.map(DFA::create_cache),
            automata,
        })
    }

    fn finds_all(mut self) -> bool {
        self.search().unwrap_or(false)
    }

    /// Whether the search proves that no text matches only the other pattern; none if that takes too many states.
    fn search(&mut self) -> Option<bool> {
        let start = Start::new().anchored(Anchored::No);
        let starts = self.each(|dfa, cache| dfa.start_state(cache, &start).ok())?;
        let mut seen: HashSet<At> = HashSet::from([(starts, false)]);
        let mut left: Vec<At> = vec![(starts, false)];
        while let Some((at, matched)) = left.pop() {
            let [own, other, text] = self.step(at, |dfa, cache, state| dfa.next_eoi_state(cache, state))?;
            if text.is_match() && (matched || other.is_match()) && !own.is_match() {
                return Some(false);
            }
            for byte in self.bytes.clone() {
                let to = self.step(at, |dfa, cache, state| dfa.next_state(cache, state, byte))?;
                let [own, other, text] = to;
                if to.iter().any(LazyStateID::is_quit) {
                    return None;
                }
                let matched = matched || other.is_match();
                let over = own.is_match() || text.is_dead() || (other.is_dead() && !matched);
                if !over && seen.insert((to, matched)) {
                    left.push((to, matched));
                }
            }
            if seen.len() > MAX_STATES {
                return None;
            }
        }
        Some(true)
    }

    fn each<T: Copy>(&mut self, act: impl Fn(&DFA, &mut Cache) -> Option<T>) -> Option<[T; 3]> {
        let ([one, other, text], [a, b, c]) = (self.automata, &mut self.caches);
        Some([act(one, a)?, act(other, b)?, act(text, c)?])
    }

    fn step(
        &mut self,
        at: [LazyStateID; 3],
        act: impl Fn(&DFA, &mut Cache, LazyStateID) -> Result<LazyStateID, CacheError>,
    ) -> Option<[LazyStateID; 3]> {
        let ([one, other, text], [a, b, c], [x, y, z]) = (self.automata, &mut self.caches, at);
        Some([act(one, a, x).ok()?, act(other, b, y).ok()?, act(text, c, z).ok()?])
    }
}

/// Whether a pattern treats every character beyond ASCII like some ASCII letter or punctuation mark.
fn treats_others_as_letters(hir: &Hir) -> bool {
    // Case folding makes `ſ` equal to `s`, and the Kelvin sign equal to `k`.
    let folded = |first: char, last: char| first == last && matches!(first, '\u{17F}' | '\u{212A}');
    match hir.kind() {
        HirKind::Empty | HirKind::Look(_) => true,
        HirKind::Literal(literal) => literal.0.is_ascii(),
        HirKind::Class(Class::Unicode(class)) => {
            let ranges = class.ranges();
            let beyond = ranges.iter().filter(|range| !range.end().is_ascii());
            let holds = |c: char| ranges.iter().any(|range| (range.start()..=range.end()).contains(&c));
            let wide = holds('\u{10FFFF}') || (holds('a') && holds('Z')) || (holds(' ') && holds('\u{2003}'));
            wide || beyond.into_iter().all(|range| folded(range.start(), range.end()))
        }
        HirKind::Class(Class::Bytes(class)) => class.is_ascii(),
        HirKind::Repetition(repetition) => treats_others_as_letters(&repetition.sub),
        HirKind::Capture(capture) => treats_others_as_letters(&capture.sub),
        HirKind::Concat(parts) | HirKind::Alternation(parts) => parts.iter().all(treats_others_as_letters),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check(earlier: &[&str], later: &[&str], expected: bool) {
        let holds = Matched::by(earlier).zip(Matched::by(later)).map(|(earlier, later)| earlier.includes(&later));
        assert_eq!(holds, Some(expected), "{earlier:?} {later:?}");
    }

    #[test]
    fn a_pattern_includes_another_if_it_matches_wherever_that_does() {
        check(&["hello|hi"], &["hi"], true);
        check(&["hi"], &["hello|hi"], false);
        check(&["hello", "hi"], &["(hello|hi)!*"], true);
        check(&["a"], &["ba*b"], false);
        check(&["a"], &["ba+b"], true);
        check(&["^hi"], &["hi"], false);
        check(&["hi"], &["^hi$"], true);
        check(&[r"(?i)\bhi\b"], &[r"\b(hi|HI)\b"], true);
        check(&[r"\bhi\b"], &["hi"], false);
        check(&[r"(?i)^\W*(done|exit)\W*$"], &[r"(?i)^\s*exit[.!]*\s*$"], true);
        check(&[r"(?i)^\s*(done|exit)\s*$"], &[r"(?i)^\W*exit\W*$"], false);
        check(&[r"(?s)^.*hi"], &["hi"], true);
        check(&["[^x]"], &["ä"], true);
        check(&[r"\w"], &["é"], true);
    }

    #[test]
    fn what_ascii_cannot_decide_is_not_reported() {
        check(&[r"\bhi\b"], &["hié|hi!"], false);
        check(&[r"\bhi\b"], &[r"hi\b"], false);
        check(&["é"], &[r"\bé"], false);
        check(&["x"], &["a{9,}|x"], false);
        check(&[r"\bé"], &["é"], false);
        // Too many states to explore.
        check(&["a.{60}b"], &["[ab]{3}(a|b).{60}b"], false);
    }
}
