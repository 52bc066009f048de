//! Literals: which patterns could match a text?
//!
//! In: patterns, and a text.
//! Out: the patterns whose literals the text contains, found in one pass for all patterns.
//! Never: leaves out a pattern that matches; a pattern without a literal is always included.
//!
//! The patterns of guardrails contain phrases, and most texts contain none of them. An automaton reads a text byte by
//! byte, and each step depends on the one before. A look-up of four bytes depends on nothing before it. If every
//! literal has at least five bytes, looking at every second offset is enough.

use crate::text::Slice;
use regex_syntax::hir::{Class, Hir, HirKind};
use std::sync::Arc;

/// The least length of a literal, and the number of its bytes that are looked up.
const GRAM: usize = 4;
/// The most literals that are stored for one expression.
const MAX_LITERALS: usize = 64;
/// The most characters of a class that is expanded into literals.
const MAX_CLASS_CHARACTERS: usize = 4;
/// The bits of a gram's hash: few enough that the table fits into the first-level cache.
const BITS: u32 = 13;
/// How many groups of eight bytes are looked up together.
const EIGHTS: usize = 5;
/// The bytes that these groups cover.
const WINDOW: usize = 32;

/// The literals of several patterns.
#[derive(Debug)]
pub(super) struct Literals {
    /// Whether a literal has a gram with this hash. Other grams may have the same hash.
    has_hash: Box<Hashes>,
    /// The first literal for each hash.
    first: Box<[u32; 1 << BITS]>,
    /// The literals, sorted by the hashes of their grams.
    literals: Vec<Literal>,
    /// Whether only every second offset of a text is looked up: each literal then has two adjacent grams.
    in_pairs: bool,
}

#[derive(Debug)]
struct Literal {
    /// Four of its bytes.
    gram: u32,
    /// The offset of the gram in the literal.
    at: usize,
    text: Arc<[u8]>,
    /// The pattern of the literal, by index.
    pattern: usize,
}

impl Literals {
    /// Builds the table from patterns, each given as its index and the texts of which every match contains one.
    pub(super) fn new(patterns: Vec<(usize, Vec<Vec<u8>>)>) -> Self {
        let in_pairs = patterns.iter().flat_map(|(_, texts)| texts).all(|text| text.len() > GRAM);
        let mut literals = Vec::new();
        for (pattern, texts) in patterns {
            for text in texts.into_iter().map(Arc::<[u8]>::from) {
                let length = if in_pairs { GRAM + 1 } else { GRAM };
                let rarest = text.windows(length).enumerate().max_by_key(|(_, window)| rarity(window));
                let (start, window) = rarest.unwrap_or((0, &[]));
                let grams = window.windows(GRAM).enumerate().filter_map(|(at, gram)| Some((at, gram.first_chunk()?)));
                literals.extend(grams.map(|(at, gram)| Literal {
                    gram: small(*gram),
                    at: start + at,
                    text: Arc::clone(&text),
                    pattern,
                }));
            }
        }
        literals.sort_by_key(|literal| hash(literal.gram));
        let (mut has_hash, mut first) = (Box::new([false; 1 << BITS]), Box::new([0; 1 << BITS]));
        for (number, literal) in literals.iter().enumerate().rev() {
            let hash = hash(literal.gram);
            if let (Some(has_hash), Some(first)) = (has_hash.get_mut(hash), first.get_mut(hash)) {
                (*has_hash, *first) = (true, number as u32);
            }
        }
        Self { has_hash, first, literals, in_pairs }
    }

    /// The patterns, by index, that have a literal in the text.
    pub(super) fn find(&self, text: &str) -> Vec<usize> {
        match self.literals.is_empty() {
            true => Vec::new(),
            false if self.in_pairs => self.find_at::<2>(text.as_bytes()),
            false => self.find_at::<1>(text.as_bytes()),
        }
    }

    /// Like [`find`](Self::find), but looks only at offsets that are multiples of `STEP`.
    fn find_at<const STEP: usize>(&self, text: &[u8]) -> Vec<usize> {
        let mut found = Vec::new();
        let stride = STEP * EIGHTS * grams_in_eight(STEP);
        let last = text.len().checked_sub(WINDOW);
        // Hits are rare, so many offsets are tested at once. The last window overlaps the one before it.
        for at in (0..last.unwrap_or_default()).step_by(stride).chain(last) {
            let window = text.get(at..).and_then(|rest| rest.first_chunk());
            let mut places = window.map_or(0, |window| may_hold_in::<STEP>(&self.has_hash, window));
            while places != 0 {
                self.look_up(text, at + STEP * places.trailing_zeros() as usize, &mut found);
                places &= places - 1;
            }
        }
        for at in (last.map_or(0, |last| last + stride)..text.len()).step_by(STEP) {
            self.look_up(text, at, &mut found);
        }
        found
    }

    /// Adds the patterns that have a literal whose gram is at this offset of the text.
    fn look_up(&self, text: &[u8], at: usize, found: &mut Vec<usize>) {
        let Some(gram) = text.get(at..).and_then(|rest| rest.first_chunk()) else { return };
        let gram = small(*gram);
        let place = hash(gram);
        if !self.has_hash.get(place).is_some_and(|has_hash| *has_hash) {
            return;
        }
        let first = self.first.get(place).map_or(0, |first| *first as usize);
        let alike = self.literals.slice(first..).iter();
        for literal in alike.take_while(|literal| hash(literal.gram) == place) {
            if literal.gram != gram || found.contains(&literal.pattern) {
                continue;
            }
            let start = at.checked_sub(literal.at);
            let has_hash = start.and_then(|start| text.get(start..start + literal.text.len()));
            if has_hash.is_some_and(|has_hash| has_hash.eq_ignore_ascii_case(&literal.text)) {
                found.push(literal.pattern);
            }
        }
    }
}

/// Texts, in lower case and long enough to be looked up, of which every match of the pattern contains one; none if
/// there are no such texts.
pub(super) fn required_texts(pattern: &Hir) -> Option<Vec<Vec<u8>>> {
    let mut texts = RequiredTexts::of(pattern).best()?;
    texts.sort_by_key(Vec::len);
    // A text that contains the longer literal also contains the shorter one inside it: the shorter one is enough.
    let mut shortest: Vec<Vec<u8>> = Vec::new();
    for text in texts {
        if !shortest.iter().any(|has_hash| memchr::memmem::find(&text, has_hash).is_some()) {
            shortest.push(text);
        }
    }
    Some(shortest)
}

/// The bit that distinguishes lower case from upper case, in each of eight bytes.
const SMALL: u64 = 0x2020_2020_2020_2020;

type Hashes = [bool; 1 << BITS];

/// The offsets in the window whose gram may be that of a literal: one bit for each offset that is looked up.
fn may_hold_in<const STEP: usize>(has_hash: &Hashes, window: &[u8; WINDOW]) -> u32 {
    let may_hold = |gram: u32| has_hash.get(hash(gram)).copied().unwrap_or_default();
    let each = grams_in_eight(STEP);
    (0..EIGHTS).fold(0, |places, eight| {
        let bytes = window.get(STEP * each * eight..).and_then(|rest| rest.first_chunk()).copied().unwrap_or_default();
        let bytes = u64::from_le_bytes(bytes) | SMALL;
        (0..each).fold(places, |places, index| {
            places | u32::from(may_hold((bytes >> (8 * STEP * index)) as u32)) << (each * eight + index)
        })
    })
}

/// How many grams in eight bytes are looked up.
const fn grams_in_eight(step: usize) -> usize {
    (8 - GRAM) / step + 1
}

/// Four bytes in lower case. Some bytes that are not letters also become equal; the full comparison sorts them out.
fn small(bytes: [u8; GRAM]) -> u32 {
    u32::from_le_bytes(bytes) | SMALL as u32
}

/// How rare these bytes are in English text: the rarer each letter, the higher.
fn rarity(bytes: &[u8]) -> usize {
    let rank = |byte: &u8| memchr::memchr(byte.to_ascii_lowercase(), b" etaoinshrdlcumwfgypbvkjxqz").unwrap_or(26);
    bytes.iter().map(rank).sum()
}

fn hash(gram: u32) -> usize {
    (gram.wrapping_mul(0x9E37_79B1) >> (u32::BITS - BITS)) as usize
}

/// What every match of an expression contains, in lower case.
struct RequiredTexts {
    /// All texts that the expression matches, if they are few.
    all: Option<Vec<Vec<u8>>>,
    /// Texts of which every match contains one.
    some: Option<Vec<Vec<u8>>>,
}

impl RequiredTexts {
    const ANYTHING: Self = Self { all: None, some: None };

    fn of(hir: &Hir) -> Self {
        match hir.kind() {
            HirKind::Empty | HirKind::Look(_) => Self { all: Some(vec![Vec::new()]), some: None },
            HirKind::Literal(literal) => Self { all: Some(vec![literal.0.to_ascii_lowercase()]), some: None },
            HirKind::Class(class) => Self { all: characters(class), some: None },
            HirKind::Capture(capture) => Self::of(&capture.sub),
            HirKind::Repetition(repetition) => {
                let inner = Self::of(&repetition.sub);
                match (repetition.min, repetition.max) {
                    (1, Some(1)) => inner,
                    (0, Some(1)) => {
                        let with_none = |mut all: Vec<Vec<u8>>| {
                            all.push(Vec::new());
                            all
                        };
                        Self { all: inner.all.map(with_none), some: None }
                    }
                    (0, _) => Self::ANYTHING,
                    _ => Self { all: None, some: inner.best() },
                }
            }
            HirKind::Concat(parts) => Self::in_a_row(parts),
            HirKind::Alternation(parts) => {
                let inner: Vec<Self> = parts.iter().map(Self::of).collect();
                let all = inner.iter().map(|one| one.all.clone()).collect::<Option<Vec<_>>>().map(|all| all.concat());
                let best = inner.into_iter().map(Self::best).collect::<Option<Vec<_>>>().map(|best| best.concat());
                Self { all: all.and_then(few), some: best.and_then(few) }
            }
        }
    }

    /// For a sequence: texts are joined as long as they are few.
    fn in_a_row(parts: &[Hir]) -> Self {
        let mut whole = true;
        let mut row = vec![Vec::new()];
        let mut best = None;
        for part in parts {
            let part = Self::of(part);
            let longer = part.all.as_ref().and_then(|all| joined(&row, all));
            match longer {
                Some(longer) => row = longer,
                None => {
                    whole = false;
                    best = better(best, Some(std::mem::replace(&mut row, vec![Vec::new()])));
                    if let Some(all) = part.all {
                        row = all;
                    } else {
                        best = better(best, part.some);
                    }
                }
            }
        }
        if whole { Self { all: Some(row), some: None } } else { Self { all: None, some: better(best, Some(row)) } }
    }

    /// The better of the two lists, if all of its texts are long enough to be looked up.
    fn best(self) -> Option<Vec<Vec<u8>>> {
        better(self.all, self.some)
    }
}

/// Each of `first` followed by each of `others`, if they are few.
fn joined(first: &[Vec<u8>], others: &[Vec<u8>]) -> Option<Vec<Vec<u8>>> {
    let pairs = (first.len() * others.len() <= MAX_LITERALS)
        .then(|| first.iter().flat_map(|start| others.iter().map(|end| [start.as_slice(), end].concat())));
    pairs.map(Iterator::collect)
}

/// The list whose shortest text is longer: fewer texts contain one of its entries.
fn better(one: Option<Vec<Vec<u8>>>, other: Option<Vec<Vec<u8>>>) -> Option<Vec<Vec<u8>>> {
    let shortest = |texts: &Vec<Vec<u8>>| texts.iter().map(Vec::len).min().unwrap_or_default();
    let usable = [one, other].into_iter().flatten().filter(|texts| shortest(texts) >= GRAM);
    usable.max_by_key(shortest)
}

fn few(texts: Vec<Vec<u8>>) -> Option<Vec<Vec<u8>>> {
    (texts.len() <= MAX_LITERALS).then_some(texts)
}

/// The characters of a small class, in lower case.
fn characters(class: &Class) -> Option<Vec<Vec<u8>>> {
    let Class::Unicode(class) = class else { return None };
    let mut characters: Vec<char> = Vec::new();
    for range in class.iter() {
        for character in range.start()..=range.end() {
            let small = character.to_ascii_lowercase();
            if !characters.contains(&small) {
                characters.push(small);
            }
            if characters.len() > MAX_CLASS_CHARACTERS {
                return None;
            }
        }
    }
    Some(characters.into_iter().map(|character| character.to_string().into_bytes()).collect())
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The literals of one pattern, if there are any.
    #[track_caller]
    fn check(pattern: &str, expected: Option<&[&str]>) {
        let texts = regex_syntax::parse(pattern).ok().and_then(|hir| required_texts(&hir));
        let texts = texts.map(|texts| texts.iter().map(|text| String::from_utf8_lossy(text).into_owned()).collect());
        assert_eq!(texts, expected.map(|texts| texts.iter().map(ToString::to_string).collect::<Vec<_>>()), "{pattern}");
    }

    #[test]
    fn a_match_holds_one_of_the_literals() {
        check("circl(?:e|ing)\\s+back", Some(&["circle", "circling"]));
        check("leverages?|leverag(?:ed|ing)", Some(&["leverage", "leveraging"]));
        check("(?i)Maybe", Some(&["maybe"]));
        check("low[- ]hanging\\s+fruit", Some(&["low hanging", "low-hanging"]));
        check("(?:\\w+ly\\s+)?(?:said|asked)\\b", Some(&["said", "asked"]));
        check("(?:abcd)+", Some(&["abcd"]));
        check("abcdx?e", Some(&["abcde", "abcdxe"]));
        check("(?:abcd)*", None);
        check("abcd|\\w+", None);
        check("a.b.c", None);
        check("", None);
    }

    /// The patterns, by index, that have a literal in a text; those without literals are left out.
    #[track_caller]
    fn check_found(patterns: &[&str], text: &str, expected: &[usize]) {
        let has_hash = |pattern: &&str| regex_syntax::parse(pattern).ok().and_then(|hir| required_texts(&hir));
        let literals = patterns.iter().enumerate().filter_map(|(number, pattern)| Some((number, has_hash(pattern)?)));
        let literals = Literals::new(literals.collect());
        // The offset of a match must not matter.
        for before in ["", "-", "--", "---"] {
            let mut found = literals.find(&[before, text].concat());
            found.sort_unstable();
            assert_eq!(found, expected, "{before:?} {text:?}");
        }
    }

    #[test]
    fn only_patterns_that_could_match_are_found() {
        let patterns = ["(?i)perhaps", "harbour", "(?i)\\bstraße", "x"];
        check_found(&patterns, "pERHAPS the HARBOUR", &[0, 1]);
        check_found(&patterns, "perhap", &[]);
        check_found(&patterns, "the \u{17f}traße, the STRAßE", &[2]);
        check_found(&patterns, "", &[]);
        let patterns = ["said", "perhaps", "(?i:said|asked)"];
        check_found(&patterns, "perhaps he said, and perhaps he said so behind her back, she ASKED", &[0, 1, 2]);
        check_found(&patterns, "she asked whether that could be so, and nothing was answered to it", &[2]);
    }
}
