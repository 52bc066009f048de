//! Patterns, compiled: which of them match a text?
//!
//! In: patterns of the `regex` crate.
//! Out: [`Pattern`] and [`PatternSet`], which give the same results as the patterns themselves.
//! Never: changes what a pattern means: a faster form is used only where it means the same.
//!
//! The automaton of `regex` does not support Unicode `\b` in texts that are not ASCII, so a single curly quote makes a
//! search fifty times slower. If no word in a text has a letter beyond ASCII, Unicode `\b` and ASCII `\b` mean the
//! same, and the automaton supports the latter. Otherwise a set of the patterns without `\b`, which match in at least
//! as many texts, selects the patterns to try one by one. Each form is compiled when a text first needs it: an answer
//! needs few.

use super::literals::{self, Literals};
use crate::text::LazyRegex;
use crate::value::Object;
use regex::{Error, Match, Regex, RegexBuilder, RegexSet, RegexSetBuilder};
use regex_syntax::ast::parse::Parser;
use regex_syntax::ast::{self, AssertionKind, Ast};
use regex_syntax::hir::{Hir, Look, LookSet};
use std::convert::Infallible;
use std::ops::Range;
use std::sync::{Arc, OnceLock};

/// The size limit of a compiled pattern, in bytes.
const MAX_PATTERN_BYTES: usize = 1 << 20;
/// The size limit of all compiled patterns of a set together, in bytes.
const MAX_SET_BYTES: usize = 16 << 20;

/// How many matches of a pattern are examined in any text.
const MAX_MATCHES: usize = 64;
/// The total bytes to search for further matches: each match may take a search to the end of the text.
const MAX_SEARCHED_BYTES: usize = 16 << 20;

/// The most matches of a pattern that are examined in a text. In texts of a few thousand bytes, these are all matches.
pub(crate) fn most_matches(text: &str) -> usize {
    MAX_MATCHES.max(MAX_SEARCHED_BYTES / text.len().max(1))
}

/// The most patterns that are tried one by one rather than as a set.
const FEW_PATTERNS: usize = 3;

/// An ASCII word boundary, as a pattern writes it.
const ASCII: &str = r"(?-u:\b)";
const NONE: &str = "(?:)";

/// One pattern.
#[derive(Debug, Clone)]
pub(crate) struct Pattern {
    exact: LazyRegex,
    /// What a text must contain for the pattern to match.
    needs: Arc<Needs>,
    /// The pattern with ASCII word boundaries, if it has word boundaries.
    ascii: Arc<OnceLock<Option<Regex>>>,
    /// For each named group that is only a list of `data`: the words of the list.
    words: Vec<(String, Vec<String>)>,
}

/// What a text must contain for a pattern to match. Extracted when the pattern is parsed: parsing it again took 8 of
/// the 199 million instructions of a process that judges one answer.
#[derive(Debug, Default)]
struct Needs {
    /// Whether a match can only be at the start of the text.
    anchored: bool,
    /// The bytes of the shortest match.
    least: usize,
    /// Texts of which every match contains one; none if unknown.
    literals: Option<Vec<Vec<u8>>>,
}

impl Needs {
    fn of(hir: &Hir) -> Self {
        let properties = hir.properties();
        Self {
            anchored: properties.look_set_prefix().contains(Look::Start),
            least: properties.minimum_len().unwrap_or_default(),
            literals: literals::required_texts(hir),
        }
    }
}

impl Pattern {
    pub(crate) fn new(text: &str) -> Result<Self, Error> {
        let (exact, hir) = LazyRegex::with_hir(text, MAX_PATTERN_BYTES)?;
        let needs = Arc::new(hir.map(|hir| Needs::of(&hir)).unwrap_or_default());
        Ok(Self { exact, needs, ascii: Arc::default(), words: Vec::new() })
    }

    /// Sets the words of `data` for its named groups.
    pub(super) fn with_words(self, words: Vec<(String, Vec<String>)>) -> Self {
        Self { words, ..self }
    }

    /// Its matches at or after an offset in the text, in order, up to [`most_matches`].
    pub(crate) fn find_all<'t>(&'t self, text: &'t str, from: usize) -> impl Iterator<Item = Match<'t>> {
        self.find_from(text, from).take(most_matches(text))
    }

    /// All its matches at or after an offset in the text.
    fn find_from<'t>(&'t self, text: &'t str, from: usize) -> impl Iterator<Item = Match<'t>> {
        let pattern = self.fitting(text);
        let (mut at, mut last) = (Some(from), None);
        std::iter::from_fn(move || {
            loop {
                let found = pattern?.find_at(text, at.filter(|at| *at <= text.len())?)?;
                // After an empty match, go on at the next character. An empty match at the end of the previous match
                // does not count.
                let next = text.get(found.end()..).and_then(|rest| rest.chars().next());
                at = if found.is_empty() { next.map(|next| found.end() + next.len_utf8()) } else { Some(found.end()) };
                if !(found.is_empty() && last == Some(found.end())) {
                    last = Some(found.end());
                    return Some(found);
                }
            }
        })
    }

    /// Its matches at or after an offset in the text that overlap no match of `others`.
    pub(crate) fn find_apart<'t>(
        &'t self,
        text: &'t str,
        from: usize,
        others: &'t [Pattern],
    ) -> impl Iterator<Item = Range<usize>> + 't {
        let most = most_matches(text);
        // All matches come in order, so the excusing patterns are searched only as far as this one.
        let mut theirs: Vec<_> = others.iter().map(|other| other.find_all(text, from).peekable()).collect();
        let own = self.find_from(text, from).map(|found| found.range()).enumerate();
        let own = own.filter(move |(number, found)| {
            let end = found.end.max(found.start + 1);
            let mut overlapped = false;
            for theirs in &mut theirs {
                while theirs.next_if(|other| other.end() <= found.start).is_some() {}
                overlapped |= theirs.peek().is_some_and(|other| other.start() < end && found.start < other.end());
            }
            // Beyond the limit no match is excused, since looking would take too long.
            *number >= most || !overlapped
        });
        own.map(|(_, found)| found)
    }

    /// The texts of its named groups in the first match at or after `start`. A word of a list of `data` is returned as
    /// the pack writes it, anything else as the text has it.
    pub(crate) fn captured(&self, text: &str, start: usize) -> Object {
        let mut members = Object::new();
        let mut groups = self.groups().peekable();
        if groups.peek().is_none() {
            return members;
        }
        let captures = self.fitting(text).and_then(|pattern| pattern.captures_at(text, start));
        let Some(captures) = captures else { return members };
        for name in groups {
            let Some(matched_text) = captures.name(name) else { continue };
            let words = self.words.iter().find(|(group, _)| group == name).map(|(_, words)| words.as_slice());
            let same = |word: &&String| word.to_lowercase() == matched_text.as_str().to_lowercase();
            let declared = words.unwrap_or_default().iter().find(same).map(String::as_str);
            members.insert(name, declared.unwrap_or(matched_text.as_str()).into());
        }
        members
    }

    /// The names of its capture groups.
    pub(crate) fn groups(&self) -> impl Iterator<Item = &str> {
        self.exact.groups()
    }

    /// The pattern, as the pack writes it.
    pub(crate) fn source(&self) -> &str {
        self.exact.source()
    }

    /// Whether it matches in no text at all.
    pub(crate) fn matches_nothing(&self) -> bool {
        regex_syntax::parse(self.source()).is_ok_and(|hir| hir.properties().minimum_len().is_none())
    }

    /// Whether it matches in every text: it requires nothing, not even a position.
    pub(crate) fn matches_everything(&self) -> bool {
        let asks_nothing =
            |hir: Hir| hir.properties().minimum_len() == Some(0) && hir.properties().look_set().is_empty();
        regex_syntax::parse(self.source()).is_ok_and(asks_nothing)
    }

    /// The first match in the text.
    pub(crate) fn find<'t>(&self, text: &'t str) -> Option<Match<'t>> {
        self.fitting(text)?.find(text)
    }

    /// The fastest form that gives the same result in this text.
    fn fitting(&self, text: &str) -> Option<&Regex> {
        self.spelled(has_plain_boundaries(self.exact.assertions()) && words_are_ascii(text))
    }

    /// The fastest form for a text whose words are all ASCII, or are not all ASCII.
    fn spelled(&self, ascii: bool) -> Option<&Regex> {
        if ascii { self.ascii() } else { None }.or_else(|| self.exact.get())
    }

    /// The form for texts whose words are all ASCII.
    fn ascii(&self) -> Option<&Regex> {
        if !has_plain_boundaries(self.exact.assertions()) {
            return None;
        }
        let build = || {
            let text = with_boundaries(self.source(), ASCII)?;
            RegexBuilder::new(&text).size_limit(MAX_PATTERN_BYTES).build().ok()
        };
        self.ascii.get_or_init(build).as_ref()
    }
}

/// Several patterns that are searched for in one pass.
///
/// Most texts match none of them, and it is faster to ask whether any pattern can match than which ones do.
#[derive(Debug)]
pub(crate) struct PatternSet {
    patterns: Vec<Pattern>,
    sorted: OnceLock<Sorted>,
}

/// The patterns of a set, grouped by how they are searched for.
#[derive(Debug)]
struct Sorted {
    /// Patterns that can only match at the start of a text, by index: trying them takes little time.
    anchored: Vec<usize>,
    /// The literals of the patterns that have some and are not anchored.
    literals: Literals,
    /// Patterns that may match any text, by index.
    rest: Vec<usize>,
    /// The patterns in `rest` with ASCII boundaries, and without boundaries.
    ascii: OnceLock<Option<RegexSet>>,
    loose: OnceLock<Option<RegexSet>>,
}

impl PatternSet {
    pub(crate) fn new<'p>(patterns: impl Iterator<Item = &'p Pattern>) -> Result<Self, Error> {
        let set = Self { patterns: patterns.cloned().collect(), sorted: OnceLock::new() };
        let size = |patterns: &mut dyn Iterator<Item = &Pattern>| {
            patterns.fold(0, |sum: usize, pattern| sum.saturating_add(pattern.exact.size()))
        };
        // Compile the set now only if it may be too large: that must be reported.
        if size(&mut set.patterns.iter()) > MAX_SET_BYTES {
            let sorted = set.sorted();
            if size(&mut set.rest(sorted)) > MAX_SET_BYTES {
                _ = sorted.ascii.set(Some(set.joined(sorted, ASCII)?));
                _ = sorted.loose.set(Some(set.joined(sorted, NONE)?));
            }
        }
        Ok(set)
    }

    fn sorted(&self) -> &Sorted {
        self.sorted.get_or_init(|| {
            let (mut anchored, mut literals, mut rest) = (Vec::new(), Vec::new(), Vec::new());
            for (number, pattern) in self.patterns.iter().enumerate() {
                if pattern.needs.anchored {
                    anchored.push(number);
                } else if let Some(texts) = &pattern.needs.literals {
                    literals.push((number, texts.clone()));
                } else {
                    rest.push(number);
                }
            }
            let literals = Literals::new(literals);
            Sorted { anchored, literals, rest, ascii: OnceLock::new(), loose: OnceLock::new() }
        })
    }

    fn rest<'s>(&'s self, sorted: &'s Sorted) -> impl Iterator<Item = &'s Pattern> {
        sorted.rest.iter().filter_map(|number| self.patterns.get(*number))
    }

    /// The set of all patterns that may match any text, with `boundary` in place of each `\b`.
    fn joined(&self, sorted: &Sorted, boundary: &str) -> Result<RegexSet, Error> {
        let texts = self.rest(sorted).map(|pattern| {
            let text = pattern.source();
            with_boundaries(text, boundary).unwrap_or_else(|| text.to_owned())
        });
        RegexSetBuilder::new(texts).size_limit(MAX_SET_BYTES).build()
    }

    /// The indexes of the patterns that match the text, in order.
    pub(crate) fn matches(&self, text: &str) -> Vec<usize> {
        let sorted = self.sorted();
        let mut found = sorted.literals.find(text);
        let ascii = (!found.is_empty() || !sorted.rest.is_empty()) && words_are_ascii(text);
        match sorted.rest.as_slice() {
            // A few patterns are as fast one by one as in a set: each stops at its first match.
            few if few.len() <= FEW_PATTERNS => found.extend(few),
            rest => {
                let (set, boundary) = if ascii { (&sorted.ascii, ASCII) } else { (&sorted.loose, NONE) };
                match set.get_or_init(|| self.joined(sorted, boundary).ok()) {
                    Some(set) => found.extend(set.matches(text).iter().filter_map(|number| rest.get(number))),
                    None => found.extend(rest),
                }
            }
        }
        found.extend(&sorted.anchored);
        found.sort_unstable();
        // A text that is too short for a match needs no compiled pattern.
        let matches = |pattern: &Pattern| {
            text.len() >= pattern.needs.least && pattern.spelled(ascii).is_some_and(|pattern| pattern.is_match(text))
        };
        found.retain(|number| self.patterns.get(*number).is_some_and(matches));
        found
    }
}

/// The pattern without its Unicode word boundaries, which matches at least as much.
pub(super) fn without_boundaries(pattern: &str) -> String {
    with_boundaries(pattern, NONE).unwrap_or_else(|| pattern.to_owned())
}

/// The pattern with `boundary` in place of each `\b`; none if it has no `\b`, or other Unicode boundaries.
fn with_boundaries(pattern: &str, boundary: &str) -> Option<String> {
    if !has_plain_boundaries(regex_syntax::parse(pattern).ok()?.properties().look_set()) {
        return None;
    }
    let tree = Parser::new().parse(pattern).ok()?;
    let (mut text, mut done) = (String::with_capacity(pattern.len() + 64), 0);
    for place in ast::visit(&tree, Boundaries::default()).ok()? {
        text += pattern.get(done..place.start)?;
        text += boundary;
        done = place.end;
    }
    Some(text + pattern.get(done..)?)
}

/// Whether a pattern has a Unicode `\b`, and no other Unicode boundary.
fn has_plain_boundaries(assertions: LookSet) -> bool {
    assertions.contains(Look::WordUnicode) && !assertions.remove(Look::WordUnicode).contains_word_unicode()
}

/// The places of every `\b`, in order.
#[derive(Default)]
struct Boundaries(Vec<Range<usize>>);

impl ast::Visitor for Boundaries {
    type Output = Vec<Range<usize>>;
    type Err = Infallible;

    fn finish(self) -> Result<Self::Output, Infallible> {
        Ok(self.0)
    }

    fn visit_pre(&mut self, ast: &Ast) -> Result<(), Infallible> {
        if let Ast::Assertion(assertion) = ast
            && assertion.kind == AssertionKind::WordBoundary
        {
            self.0.push(assertion.span.start.offset..assertion.span.end.offset);
        }
        Ok(())
    }
}

/// Whether it is certain that no word in the text has a character beyond ASCII, by Unicode's definition of a word.
fn words_are_ascii(text: &str) -> bool {
    let bytes = text.as_bytes();
    let mut at = 0;
    while let Some(chunk) = bytes.get(at..).filter(|rest| !rest.is_empty()) {
        let chunk = chunk.get(..64).unwrap_or(chunk);
        if !chunk.is_ascii() {
            let first_bytes = chunk.iter().enumerate().filter(|(_, byte)| **byte >= 0xC0);
            for (offset, _) in first_bytes {
                let character = text.get(at + offset..).and_then(|rest| rest.chars().next());
                if character.is_none_or(|character| !is_mark(character)) {
                    return false;
                }
            }
        }
        at += chunk.len();
    }
    true
}

/// Whether a character beyond ASCII is certainly not part of a word: quotes, dashes, spaces, arrows, pictures.
fn is_mark(character: char) -> bool {
    match character {
        'ª' | 'µ' | 'º' => false,
        '\u{80}'..='\u{BF}' | '×' | '÷' => true,
        '\u{2000}'..='\u{200B}' | '\u{200E}'..='\u{203E}' | '\u{20A0}'..='\u{20C0}' => true,
        '\u{2190}'..='\u{23FF}' | '\u{2500}'..='\u{2BFF}' | '\u{3001}'..='\u{3003}' | '\u{FEFF}' | '\u{FFFD}' => true,
        '\u{1F300}'..='\u{1FAFF}' => true,
        _ => false,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[track_caller]
    fn check(patterns: &[&str], text: &str) {
        let made: Vec<Pattern> = patterns.iter().filter_map(|text| Pattern::new(text).ok()).collect();
        assert_eq!(made.len(), patterns.len());
        let expected: Vec<usize> = made
            .iter()
            .enumerate()
            .filter(|(_, pattern)| pattern.exact.is_match(text))
            .map(|(number, _)| number)
            .collect();
        let set = PatternSet::new(made.iter()).map(|set| set.matches(text));
        assert_eq!(set.ok(), Some(expected), "{text:?}");
        for pattern in &made {
            let exact = pattern.exact.get().and_then(|pattern| pattern.find(text)).map(|found| found.range());
            assert_eq!(pattern.find(text).map(|found| found.range()), exact, "{text:?}");
        }
    }

    #[test]
    fn optimized_patterns_match_the_same_texts() {
        let patterns = [
            r"\bI\b",
            r"(?i)\bmaybe\b",
            r"(?i:\bé)",
            r"x\B",
            r"\\b",
            r"a.c",
            r"\b{start}I",
            r"(?x) \b I # \b",
            r"\bwrap(?:\s+)?up\b",
            r"(?:(?:a|\b){0,2})?",
        ];
        for text in [
            "", "I", "wrapup", "wrap up", "“I” am", "éI", "Ié", "MAYBE…", "maybé", "\u{8}", "xx I", "\\b a\u{301}c",
            "I\u{301}", "a—c I",
        ] {
            check(&patterns, text);
        }
    }

    /// Patterns for short texts, some with literals that can be looked up.
    fn expression() -> impl Strategy<Value = String> {
        let atom =
            prop::sample::select(vec!["abca", "Bcab", "aé“c", "b", "[ac]", "(?i:cabb)", r"\b", r"\A", ".", r"\s"]);
        atom.prop_map(str::to_owned).prop_recursive(4, 16, 3, |inner| {
            let joined = |by: &'static str| {
                prop::collection::vec(inner.clone(), 1..4).prop_map(move |parts| format!("(?:{})", parts.join(by)))
            };
            let times = prop::sample::select(vec!["?", "*", "+", "{2}", "{0,2}"]);
            let repeated = (inner.clone(), times).prop_map(|(inner, times)| format!("(?:{inner}){times}"));
            prop_oneof![joined(""), joined("|"), repeated]
        })
    }

    proptest! {
        #[test]
        fn a_set_finds_what_each_of_its_patterns_finds(
            patterns in prop::collection::vec(expression(), 1..4),
            text in prop::collection::vec(prop::sample::select(vec!["abca", "bcab", "aé“c", "CABB", "a", "b", " ", "é"]), 0..8),
        ) {
            let patterns: Vec<&str> = patterns.iter().map(String::as_str).collect();
            check(&patterns, &text.concat());
        }
    }

    #[test]
    fn a_match_that_another_overlaps_does_not_count() {
        let (Ok(own), Ok(other)) = (Pattern::new("b+"), Pattern::new("ab")) else { panic!("patterns") };
        let apart = |text: &str| own.find_apart(text, 0, std::slice::from_ref(&other)).next();
        assert_eq!(apart("ab abb"), None);
        assert_eq!(apart("ab cb"), Some(4..5));
        // However many matches are excused, the one that is not is still found.
        assert!(apart(&format!("{}cb", "ab ".repeat(2 * MAX_MATCHES))).is_some());
        assert_eq!(apart(&"ab ".repeat(MAX_MATCHES)), None);
    }

    #[test]
    fn non_ascii_marks_are_no_word_characters() {
        let word = Regex::new(r"\w").ok();
        let wrong =
            (0x80..=0x10FFFF).filter_map(char::from_u32).filter(|character| is_mark(*character)).find(|character| {
                let mut buffer = [0; 4];
                word.as_ref().is_none_or(|word| word.is_match(character.encode_utf8(&mut buffer)))
            });
        assert_eq!(wrong, None);
    }
}
