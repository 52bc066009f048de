//! Prefilter: where in a response may an opener or closer of a dialect begin?
//!
//! In: the rules of its families that open and close.
//! Out: [`Prefilter`]: the bytes that each of them may start with, and how to skip to the next one.
//! Never: decides that one begins: the recogniser does.

use super::family::{Family, Prefix};
use super::names::BlockNames;
use crate::text::Slice;
use aho_corasick::packed;
use std::collections::{BTreeMap, BTreeSet};

/// Which openers and closers each byte may start. Their numbers are twice that of the family, plus one for closers.
#[derive(Debug, Clone)]
pub(crate) struct Prefilter {
    /// By the first byte, their numbers: at the start of a line, and elsewhere.
    first: [Vec<Vec<u8>>; 2],
    /// By the second byte, and by the third: a bit for each group of openers and closers that may have the byte there.
    /// Numbers that differ by a multiple of [`GROUPS`] are in the same group. First bytes with the same bytes behind
    /// them share a pair of tables.
    behind: Vec<[[u8; 256]; 2]>,
    /// For each of these tables, the groups that every byte belongs to.
    any_behind: Vec<[u8; 2]>,
    /// The tables of each first byte.
    tables: [u8; 256],
    /// What each byte means in the margin of a line.
    margin: [Margin; 256],
    /// Whether spaces in the margin can be skipped.
    indents: bool,
    /// Whether some of them can only start in the margin, so that lines have to be examined one by one.
    pub(crate) by_line: bool,
    /// The texts that may start one elsewhere than in the margin; with `by_line` also the line break.
    pub(crate) elsewhere: Needles,
    /// The texts that may start an opener that counts anywhere in an answer.
    pub(super) openers: Vec<Vec<u8>>,
}

/// The number of groups; most dialects have fewer openers and closers.
const GROUPS: u8 = 8;

impl Prefilter {
    pub(crate) fn new(families: &[Family], names: &BlockNames) -> Self {
        let mut first = [vec![Vec::new(); 256], vec![Vec::new(); 256]];
        let mut by_first = vec![[[0; 256]; 2]; 256];
        let [mut all, mut anywhere, mut openers] = std::array::from_fn(|_| OpeningBytes::default());
        for (number, family) in families.iter().enumerate() {
            for (closes, rule) in [Some(family.open), family.close].into_iter().enumerate() {
                let Some(rule) = rule else { continue };
                let mark = (2 * number + closes) as u8;
                // Openers that count only at the start of a line are not searched for elsewhere.
                let at_line_start = closes == 0 && family.starts_line;
                let prefix = if closes == 0 { &family.open_prefix } else { &family.close_prefix };
                let of_name = |place: usize| match closes {
                    0 => names.opener_bytes(place - prefix.literal.len(), number),
                    _ => names.closer_bytes(place - prefix.literal.len()),
                };
                let literals = &family.grammar.first(rule).literals;
                let named = prefix.name_first.then(|| of_name(0));
                let may_begin = |byte: u8| {
                    family.grammar.may_match_before(rule, byte)
                        && named.is_none_or(|named| named.get(usize::from(byte)) == Some(&true))
                };
                for (behind, byte) in by_first.iter_mut().zip(0..=u8::MAX) {
                    if !may_begin(byte) {
                        continue;
                    }
                    let is_known = prefix.name_first || prefix.name_follows || !prefix.literal.is_empty();
                    let behind_it = [1, 2].map(|place| match is_known {
                        true => bytes_at(place, prefix, || of_name(place)),
                        false => bytes_behind(byte, place, literals),
                    });
                    for (groups, may_stand) in behind.iter_mut().zip(&behind_it) {
                        for (groups, may_stand) in groups.iter_mut().zip(may_stand) {
                            *groups |= u8::from(*may_stand) << (mark % GROUPS);
                        }
                    }
                    all.add(byte, &behind_it);
                    if !at_line_start {
                        anywhere.add(byte, &behind_it);
                    }
                    if closes == 0 {
                        openers.add(byte, &behind_it);
                    }
                }
                for (elsewhere, numbers) in first.iter_mut().enumerate() {
                    if elsewhere == 1 && at_line_start {
                        continue;
                    }
                    for (numbers, byte) in numbers.iter_mut().zip(0..=u8::MAX) {
                        if may_begin(byte) {
                            numbers.push(mark);
                        }
                    }
                }
            }
        }
        let [leading, elsewhere] = first.each_ref().map(|numbers| {
            std::array::from_fn::<bool, 256, _>(|byte| numbers.get(byte).is_some_and(|some| !some.is_empty()))
        });
        const BREAK: usize = b'\n' as usize;
        let by_line = leading != elsewhere && leading.get(BREAK) == Some(&false);
        let mut needles = if by_line { anywhere.texts() } else { all.texts() };
        needles.extend(by_line.then(|| vec![b'\n']));
        let elsewhere = Needles::new(&needles);
        let margin = std::array::from_fn(|byte| match byte as u8 {
            _ if leading.get(byte) == Some(&true) => Margin::Start,
            b' ' | b'\t' | b'\r' => Margin::Blank,
            b'\n' => Margin::Break,
            // Words may follow these marks, or a byte order mark.
            b'`' | b'~' | 0xEF => Margin::Mark,
            _ => Margin::Text,
        });
        let indents = leading.get(usize::from(b' ')) == Some(&false);
        let mut behind = Vec::new();
        let tables = by_first.into_iter().map(|tables| match behind.iter().position(|known| *known == tables) {
            Some(known) => known as u8,
            None => {
                behind.push(tables);
                (behind.len() - 1) as u8
            }
        });
        let tables: Vec<u8> = tables.collect();
        let tables = std::array::from_fn(|byte| tables.get(byte).copied().unwrap_or_default());
        let common = |table: &[u8; 256]| table.iter().fold(u8::MAX, |all, groups| all & groups);
        let any_behind = behind.iter().map(|tables| tables.each_ref().map(common)).collect();
        Self { first, behind, any_behind, tables, margin, indents, by_line, elsewhere, openers: openers.texts() }
    }

    /// How many spaces `bytes` starts with, if spaces start nothing. Skips the indentation of code quickly.
    pub(crate) fn indent(&self, bytes: &[u8]) -> usize {
        const SPACES: u64 = u64::from_le_bytes(*b"        ");
        let mut at = 0;
        while let Some(next) = bytes.get(at..).and_then(<[u8]>::first_chunk).filter(|_| self.indents) {
            let spaces = (u64::from_le_bytes(*next) ^ SPACES).trailing_zeros() as usize / 8;
            at += spaces;
            if spaces < next.len() {
                break;
            }
        }
        at
    }

    /// What `byte` means in the margin of a line.
    pub(crate) fn margin(&self, byte: u8) -> Margin {
        self.margin.get(usize::from(byte)).copied().unwrap_or(Margin::Text)
    }

    /// What may start with these bytes, at the start of a line or elsewhere. Bytes that have not arrived may be any.
    pub(crate) fn with(&self, bytes: &[u8], at_line_start: bool) -> impl Iterator<Item = u8> {
        let [leading, elsewhere] = &self.first;
        let numbers = if at_line_start { leading } else { elsewhere };
        let numbers = bytes.first().and_then(|first| numbers.get(usize::from(*first)));
        let groups = self.groups(bytes);
        numbers.into_iter().flatten().copied().filter(move |mark| groups & (1 << (mark % GROUPS)) != 0)
    }

    /// Whether no bytes that have not arrived can take this number from those of [`with`](Self::with).
    pub(crate) fn is_certain(&self, number: u8, bytes: &[u8]) -> bool {
        bytes.len() > 2
            || self.groups_of(bytes, |table| self.any_behind.get(table).copied()) & (1 << (number % GROUPS)) != 0
    }

    /// Whether the bytes after the first may belong to an opener or closer.
    pub(crate) fn may_go_on(&self, bytes: &[u8]) -> bool {
        self.groups(bytes) != 0
    }

    fn groups(&self, bytes: &[u8]) -> u8 {
        self.groups_of(bytes, |_| Some([u8::MAX; 2]))
    }

    /// The groups that the bytes after the first belong to. `missing` returns, for the tables with this number, those
    /// of bytes that have not arrived.
    fn groups_of(&self, bytes: &[u8], missing: impl Fn(usize) -> Option<[u8; 2]>) -> u8 {
        let number = bytes.first().and_then(|first| self.tables.get(usize::from(*first))).copied().map(usize::from);
        let tables = number.and_then(|number| self.behind.get(number).zip(missing(number)));
        let Some(([second, third], missing)) = tables else { return 0 };
        let groups = |table: &[u8; 256], byte: Option<&u8>, missing: u8| {
            byte.and_then(|byte| table.get(usize::from(*byte))).copied().unwrap_or(missing)
        };
        groups(second, bytes.get(1), missing[0]) & groups(third, bytes.get(2), missing[1])
    }
}

/// The bytes that may be at a place of an opener or closer that starts like `prefix`; `of_name` returns those of the
/// name.
fn bytes_at(place: usize, prefix: &Prefix, of_name: impl FnOnce() -> [bool; 256]) -> [bool; 256] {
    match prefix.literal.as_bytes().get(place) {
        Some(known) => std::array::from_fn(|byte| byte == usize::from(*known)),
        None if prefix.name_follows || prefix.name_first => of_name(),
        None => [true; 256],
    }
}

/// The bytes that may be at a place of an opener or closer that starts with `first` and with one of the `literals`.
fn bytes_behind(first: u8, place: usize, literals: &[String]) -> [bool; 256] {
    let known: Vec<&[u8]> =
        literals.iter().map(|literal| literal.as_bytes()).filter(|literal| literal.first() == Some(&first)).collect();
    if literals.is_empty() || known.iter().any(|literal| literal.len() <= place) {
        return [true; 256];
    }
    std::array::from_fn(|byte| {
        known.iter().any(|literal| literal.get(place).map(|one| usize::from(*one)) == Some(byte))
    })
}

/// What a byte means at the start of a line.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Margin {
    /// Something may start with it.
    Start,
    Blank,
    Break,
    /// A mark of a fence or a byte order mark: words may follow.
    Mark,
    Text,
}

/// The first bytes of openers or closers.
#[derive(Default)]
struct OpeningBytes(BTreeMap<u8, [ByteTable; 2]>);

/// Which bytes may be at a place.
type ByteTable = [bool; 256];

impl OpeningBytes {
    /// The most texts with the same first byte: they are not extended by a byte if that would make more of them.
    const MAX_TEXTS: usize = 8;

    /// Adds a first byte, and the bytes that may be the second and the third behind it.
    fn add(&mut self, first: u8, behind: &[ByteTable; 2]) {
        let known = self.0.entry(first).or_insert([[false; 256]; 2]);
        for (known, behind) in known.iter_mut().flatten().zip(behind.iter().flatten()) {
            *known |= behind;
        }
    }

    /// Texts of up to three bytes, one of which each of these openers or closers starts with.
    fn texts(&self) -> Vec<Vec<u8>> {
        let heads = self.0.iter().flat_map(|(first, behind)| {
            let mut heads = vec![vec![*first]];
            for may_stand in behind {
                let next: Vec<u8> =
                    (0..=u8::MAX).filter(|byte| may_stand.get(usize::from(*byte)) == Some(&true)).collect();
                if heads.len() * next.len() > Self::MAX_TEXTS {
                    break;
                }
                let longer = |head: &Vec<u8>, byte: &u8| [head.as_slice(), &[*byte]].concat();
                heads = heads.iter().flat_map(|head| next.iter().map(move |byte| longer(head, byte))).collect();
            }
            heads
        });
        heads.collect()
    }
}

/// Some short texts to search for.
#[derive(Debug, Clone)]
pub(crate) enum Needles {
    None,
    One(u8),
    Two(u8, u8),
    Three(u8, u8, u8),
    Many(Box<NeedleSet>),
}

impl Needles {
    pub(crate) fn new(texts: &[Vec<u8>]) -> Self {
        let first: BTreeSet<u8> = texts.iter().filter_map(|text| text.first().copied()).collect();
        let first: Vec<u8> = first.into_iter().collect();
        // A search for at most three bytes is so fast that comparing more bytes would not pay.
        Self::few(&first).unwrap_or_else(|| Needles::Many(Box::new(NeedleSet::new(&first, texts))))
    }

    /// At most three bytes.
    fn few(bytes: &[u8]) -> Option<Self> {
        match bytes {
            [] => Some(Needles::None),
            [one] => Some(Needles::One(*one)),
            [one, two] => Some(Needles::Two(*one, *two)),
            [one, two, three] => Some(Needles::Three(*one, *two, *three)),
            _ => None,
        }
    }

    /// The first place where one of the texts starts, or may start: what has not arrived may be any byte.
    pub(crate) fn find(&self, bytes: &[u8]) -> Option<usize> {
        match self {
            Needles::None => None,
            Needles::One(one) => memchr::memchr(*one, bytes),
            Needles::Two(one, two) => memchr::memchr2(*one, *two, bytes),
            Needles::Three(one, two, three) => memchr::memchr3(*one, *two, *three, bytes),
            Needles::Many(set) => set.find(bytes),
        }
    }
}

/// Texts with more first bytes than `memchr` can search for.
#[derive(Debug, Clone)]
pub(crate) struct NeedleSet {
    /// The first bytes.
    table: ByteTable,
    /// The texts of a single byte, if they are searched for apart from the others.
    single: Needles,
    /// Searches for the others with vector instructions; none if the machine or the number of texts does not allow it.
    searcher: Option<packed::Searcher>,
    /// How many bytes at the end may be the start of a text whose rest has not arrived.
    open: usize,
}

impl NeedleSet {
    fn new(first: &[u8], texts: &[Vec<u8>]) -> Self {
        let table = std::array::from_fn(|byte| first.iter().any(|one| usize::from(*one) == byte));
        let built = |texts: &[&[u8]]| packed::Config::new().builder().extend(texts).build();
        // The searcher distinguishes texts by as many bytes as all of them have, and puts them into eight buckets. Of
        // more texts, those of a single byte are searched for apart: they would stop it at each first byte of the rest.
        // So are they if one of the rest starts with a letter, since every text has many of those.
        let is_word = |text: &Vec<u8>| text.len() > 1 && text.first().is_some_and(u8::is_ascii_alphabetic);
        let together = texts.len() <= 8 && !texts.iter().any(is_word);
        let (single, longer): (Vec<&[u8]>, Vec<&[u8]>) =
            texts.iter().map(Vec::as_slice).partition(|text| !together && text.len() == 1);
        let single = Needles::few(&single.concat());
        let open = longer.iter().map(|text| text.len()).max().unwrap_or_default().saturating_sub(1);
        match single.and_then(|single| Some((single, built(&longer)?))) {
            Some((single, searcher)) => Self { table, single, searcher: Some(searcher), open },
            None => {
                Self { table, single: Needles::None, searcher: built(&first.chunks(1).collect::<Vec<_>>()), open: 0 }
            }
        }
    }

    /// The first place where one of the texts starts, or may start.
    fn find(&self, bytes: &[u8]) -> Option<usize> {
        if matches!(self.single, Needles::None) {
            return self.find_longer(bytes, bytes.len());
        }
        // Two searches take turns in windows that double: neither reads far beyond what the other finds.
        let (mut from, mut window) = (0, FIRST_WINDOW_BYTES);
        while let Some(rest) = bytes.get(from..).filter(|rest| !rest.is_empty()) {
            let within = rest.get(..window).unwrap_or(rest);
            let single = self.single.find(within);
            if let Some(found) = self.find_longer(rest, single.unwrap_or(within.len())).or(single) {
                return Some(from + found);
            }
            from += within.len();
            window *= 2;
        }
        None
    }

    /// The first place before `until` where one of the texts for the searcher starts, or may start.
    ///
    /// The searcher takes 0.4 instructions for a byte, and the table 6. Texts that are too short for the searcher are
    /// left to the table.
    fn find_longer(&self, bytes: &[u8], until: usize) -> Option<usize> {
        // A text that starts before the end may reach further.
        let before = bytes.get(..until + self.open).unwrap_or(bytes);
        let by_table = |from: usize| {
            let rest = before.slice(from..);
            let found = rest.iter().position(|byte| self.table.get(usize::from(*byte)) == Some(&true));
            found.map(|found| from + found)
        };
        let found = match self.searcher.as_ref().filter(|searcher| before.len() >= searcher.minimum_len()) {
            Some(searcher) => {
                let found = searcher.find(before).map(|found| found.start());
                let open = if before.len() == bytes.len() { self.open } else { 0 };
                found.or_else(|| by_table(before.len() - open))
            }
            None => by_table(0),
        };
        found.filter(|found| *found < until)
    }
}

/// The bytes of the first window of two searches.
const FIRST_WINDOW_BYTES: usize = 128;

#[cfg(test)]
mod tests {
    use super::super::block::BlockId;
    use super::super::family::Family;
    use super::super::names::Binding;
    use super::*;
    use crate::grammar::{Grammar, shipped};
    use crate::text::SourceId;
    use std::sync::Arc;

    #[test]
    fn the_first_of_some_bytes_is_found() {
        let text = [b"-".repeat(70), b"<".to_vec(), b"-".repeat(30), b"|[".to_vec()].concat();
        for (few, expected) in
            [("", None), ("[", Some(102)), ("|[", Some(101)), ("<|[~", Some(70)), ("abcdefgABCDEFG<", Some(70))]
        {
            let few: Vec<Vec<u8>> = few.bytes().map(|byte| vec![byte]).collect();
            assert_eq!(Needles::new(&few).find(&text), expected, "{few:?}");
        }
        for (texts, expected) in [
            (["<a", "-|", "~", "+"], Some(100)),
            (["<--", "-|[", "~", "+"], Some(70)),
            (["<a", "-<-", "[a", "+"], Some(69)),
            // What follows the last byte has not arrived.
            (["<a", "~", "[a", "+"], Some(102)),
            (["<a", "~", "[ab", "+"], Some(102)),
            (["<a", "~", "-x", "+"], None),
        ] {
            let needles = Needles::new(&texts.map(|text| text.as_bytes().to_vec()));
            assert_eq!(needles.find(&text), expected, "{texts:?}");
        }
    }

    #[test]
    fn an_opener_without_a_known_name_is_skipped() {
        let grammar = shipped("tags").and_then(|text| Grammar::parse(SourceId::RESPONSE, text).value);
        let families: Vec<Family> = grammar.and_then(|grammar| Family::new(Arc::new(grammar))).into_iter().collect();
        let bound = Binding { id: BlockId(0), family: None };
        let names = BlockNames::new(true, ["message", "b"].into_iter().map(|name| (name, bound)), std::iter::empty());
        let starts = Prefilter::new(&families, &names);
        // An opener has the number 0 here, and a closer 1.
        let check = |text: &str, expected: &[u8]| {
            assert_eq!(starts.with(text.as_bytes(), true).collect::<Vec<_>>(), expected, "{text}");
            assert!(starts.may_go_on(text.as_bytes()) || expected.is_empty(), "{text}");
        };
        check("<message>", &[0]);
        check("<ME", &[0]);
        check("<", &[0, 1]);
        check("<m", &[0]);
        check("<b>", &[0]);
        check("</", &[1]);
        check("</Message>", &[1]);
        check("</title>", &[]);
        check("<title>", &[]);
        check("< message>", &[]);
        check("message", &[]);
    }
}
