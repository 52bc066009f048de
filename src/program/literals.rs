//! Literals: which patterns could match a text at all?
//!
//! In: patterns, and a text.
//! Out: those of which the text holds a literal that every match holds, found in one pass for all patterns.
//! Never: leaves a pattern out that matches; a pattern without such a literal always could.
//!
//! Patterns of guardrails name phrases, and most texts hold none of them. An automaton walks through a text byte after byte,
//! each step waiting for the one before; four bytes that a literal may hold are looked up without waiting for anything.

use regex_syntax::hir::{Class, Hir, HirKind};

/// A literal has at least so many bytes, and is looked up by so many of them.
const GRAM: usize = 4;
/// More literals than these are not kept of one expression.
const MOST: usize = 64;
/// A class of more characters than these is none of literals.
const CHARACTERS: usize = 4;
/// Grams are told apart by so many bits of their hashes: few enough to stay in the nearest cache.
const BITS: u32 = 13;
/// So many grams are asked together.
const GRAMS: usize = 15;
/// The bytes that hold them.
const WINDOW: usize = GRAMS + GRAM - 1;

/// The literals of some patterns.
#[derive(Debug)]
pub(super) struct Literals {
    /// Whether a literal has a gram of this hash; wrong with some others.
    held: Box<Hashes>,
    /// By their grams.
    literals: Vec<Literal>,
}

#[derive(Debug)]
struct Literal {
    gram: u32,
    /// Where its gram stands in it.
    at: usize,
    text: Vec<u8>,
    /// The number of the pattern that holds it.
    pattern: usize,
}

impl Literals {
    pub(super) fn new() -> Self {
        Self { held: Box::new([false; 1 << BITS]), literals: Vec::new() }
    }

    /// Takes a pattern in; `false` if it has no literals.
    pub(super) fn add(&mut self, number: usize, pattern: &str) -> bool {
        let Some(texts) = regex_syntax::parse(pattern).ok().and_then(|hir| Holds::of(&hir).best()) else {
            return false;
        };
        for text in texts {
            let grams = text.windows(GRAM).enumerate().max_by_key(|(_, window)| rarity(window));
            let gram = grams.and_then(|(at, window)| Some((at, small(*window.first_chunk()?))));
            let Some((at, gram)) = gram else { continue };
            if let Some(held) = self.held.get_mut(hash(gram)) {
                *held = true;
            }
            let index = self.literals.partition_point(|literal| literal.gram < gram);
            self.literals.insert(index, Literal { gram, at, text, pattern: number });
        }
        true
    }

    /// The patterns of which the text holds a literal, by number.
    pub(super) fn find(&self, text: &str) -> Vec<usize> {
        let bytes = text.as_bytes();
        let mut found = Vec::new();
        let mut at = 0;
        // Grams are seldom any of the literals', so many are asked at once.
        while let Some(window) = bytes.get(at..).and_then(|rest| rest.first_chunk::<WINDOW>()) {
            let mut places = may_hold_in(&self.held, window);
            while places != 0 {
                self.look_up(bytes, at + places.trailing_zeros() as usize, &mut found);
                places &= places - 1;
            }
            at += GRAMS;
        }
        for at in at..bytes.len() {
            self.look_up(bytes, at, &mut found);
        }
        found
    }

    /// Looks for the literals whose gram stands at this place of the text.
    fn look_up(&self, text: &[u8], at: usize, found: &mut Vec<usize>) {
        let gram = text.get(at..).and_then(|rest| rest.first_chunk()).copied().map(small);
        let Some(gram) = gram.filter(|gram| may_hold(&self.held, *gram)) else { return };
        let first = self.literals.partition_point(|literal| literal.gram < gram);
        for literal in self.literals.iter().skip(first).take_while(|literal| literal.gram == gram) {
            let start = at.checked_sub(literal.at);
            let held = start.and_then(|start| text.get(start..start + literal.text.len()));
            let stands = held.is_some_and(|held| held.eq_ignore_ascii_case(&literal.text));
            if stands && !found.contains(&literal.pattern) {
                found.push(literal.pattern);
            }
        }
    }
}

/// The bit by which small letters differ from capital ones, in each byte.
const SMALL: u64 = 0x2020_2020_2020_2020;

type Hashes = [bool; 1 << BITS];

/// Whether a gram is that of a literal, or of the same hash.
fn may_hold(held: &Hashes, gram: u32) -> bool {
    held.get(hash(gram)).copied().unwrap_or_default()
}

/// Where in the window a gram starts that may be that of a literal: a bit for each.
fn may_hold_in(held: &Hashes, window: &[u8; WINDOW]) -> u32 {
    let eight = |at: usize| {
        let bytes = window.get(at..).and_then(|rest| rest.first_chunk()).copied().unwrap_or_default();
        u64::from_le_bytes(bytes) | SMALL
    };
    let five = |eight: u64| {
        (0..5).fold(0, |places, index| places | (u32::from(may_hold(held, (eight >> (8 * index)) as u32)) << index))
    };
    five(eight(0)) | (five(eight(5)) << 5) | (five(eight(10)) << 10)
}

/// Four bytes, in small letters; other bytes may fall together, too.
fn small(bytes: [u8; GRAM]) -> u32 {
    u32::from_le_bytes(bytes) | SMALL as u32
}

/// How seldom English text holds these bytes: the rarer each letter, the more.
fn rarity(bytes: &[u8]) -> usize {
    let rank = |byte: &u8| memchr::memchr(byte.to_ascii_lowercase(), b" etaoinshrdlcumwfgypbvkjxqz").unwrap_or(26);
    bytes.iter().map(rank).sum()
}

fn hash(gram: u32) -> usize {
    (gram.wrapping_mul(0x9E37_79B1) >> (u32::BITS - BITS)) as usize
}

/// What the matches of an expression hold, in small letters.
struct Holds {
    /// All texts that it matches, if they are few.
    all: Option<Vec<Vec<u8>>>,
    /// Texts of which each match holds one.
    some: Option<Vec<Vec<u8>>>,
}

impl Holds {
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

    /// One behind the other: texts grow as long as they are few.
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

    /// Texts of which each match holds one, all of them long enough to be looked up.
    fn best(self) -> Option<Vec<Vec<u8>>> {
        better(self.all, self.some)
    }
}

/// Each of the first with each of the others behind it, if they are few.
fn joined(first: &[Vec<u8>], others: &[Vec<u8>]) -> Option<Vec<Vec<u8>>> {
    let pairs = (first.len() * others.len() <= MOST)
        .then(|| first.iter().flat_map(|start| others.iter().map(|end| [start.as_slice(), end].concat())));
    pairs.map(Iterator::collect)
}

/// Those whose shortest text is the longer one: it is held by fewer texts.
fn better(one: Option<Vec<Vec<u8>>>, other: Option<Vec<Vec<u8>>>) -> Option<Vec<Vec<u8>>> {
    let shortest = |texts: &Vec<Vec<u8>>| texts.iter().map(Vec::len).min().unwrap_or_default();
    let usable = [one, other].into_iter().flatten().filter(|texts| shortest(texts) >= GRAM);
    usable.max_by_key(shortest)
}

fn few(texts: Vec<Vec<u8>>) -> Option<Vec<Vec<u8>>> {
    (texts.len() <= MOST).then_some(texts)
}

/// The characters of a small class, in small letters.
fn characters(class: &Class) -> Option<Vec<Vec<u8>>> {
    let Class::Unicode(class) = class else { return None };
    let mut characters: Vec<char> = Vec::new();
    for range in class.iter() {
        for character in range.start()..=range.end() {
            let small = character.to_ascii_lowercase();
            if !characters.contains(&small) {
                characters.push(small);
            }
            if characters.len() > CHARACTERS {
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
        let texts = regex_syntax::parse(pattern).ok().and_then(|hir| Holds::of(&hir).best());
        let texts = texts.map(|texts| texts.iter().map(|text| String::from_utf8_lossy(text).into_owned()).collect());
        assert_eq!(texts, expected.map(|texts| texts.iter().map(ToString::to_string).collect::<Vec<_>>()), "{pattern}");
    }

    #[test]
    fn a_match_holds_one_of_the_literals() {
        check("circl(?:e|ing)\\s+back", Some(&["circle", "circling"]));
        check("(?i)Maybe", Some(&["maybe"]));
        check("low[- ]hanging\\s+fruit", Some(&["low hanging", "low-hanging"]));
        check("(?:\\w+ly\\s+)?(?:said|asked)\\b", Some(&["said", "asked"]));
        check("(?:abcd)+", Some(&["abcd"]));
        check("abcdx?e", Some(&["abcdxe", "abcde"]));
        check("(?:abcd)*", None);
        check("abcd|\\w+", None);
        check("a.b.c", None);
        check("", None);
    }

    #[test]
    fn only_patterns_that_could_match_are_found() {
        let mut literals = Literals::new();
        let taken = ["(?i)perhaps", "harbour", "(?i)\\bstraße", "x"].map(|text| literals.add(text.len(), text));
        assert_eq!(taken, [true, true, true, false]);
        let find = |text| {
            let mut found = literals.find(text);
            found.sort_unstable();
            found
        };
        assert_eq!(find("pERHAPS the HARBOUR"), [7, 11]);
        assert_eq!(find("perhap"), [0; 0]);
        assert_eq!(find("the \u{17f}traße, the STRAßE"), [13]);
        assert_eq!(find(""), [0; 0]);
    }
}
