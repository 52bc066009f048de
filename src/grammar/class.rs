//! Classes of characters: which single characters does an expression match?
//!
//! In: characters, ranges and properties.
//! Out: [`Class`], with union and difference if they can be expressed.
//! Never: reads text.

/// A set of characters.
#[derive(Debug, Clone)]
pub(super) struct Class {
    /// Bit `n` is the ASCII character `n`.
    pub(super) ascii: u128,
    /// The characters beyond ASCII.
    pub(super) wide: Wide,
}

/// A set of characters beyond ASCII.
#[derive(Debug, Clone)]
pub(super) enum Wide {
    /// None of them.
    None,
    /// All of them.
    All,
    /// Those that pass at least one of the tests.
    Some(Vec<CharTest>),
    /// Those that pass none of the tests.
    AllBut(Vec<CharTest>),
}

/// A test of one character.
#[derive(Debug, Clone, Copy)]
pub(super) enum CharTest {
    /// In a range, both ends included.
    Range(char, char),
    /// The characters with a Unicode property.
    Property(fn(char) -> bool),
}

impl CharTest {
    fn contains(self, character: char) -> bool {
        match self {
            CharTest::Range(first, last) => first <= character && character <= last,
            CharTest::Property(test) => test(character),
        }
    }
}

impl Wide {
    /// Whether the set contains `character`, which is not ASCII.
    pub(super) fn contains(&self, character: char) -> bool {
        match self {
            Wide::None => false,
            Wide::All => true,
            Wide::Some(tests) => tests.iter().any(|test| test.contains(character)),
            Wide::AllBut(tests) => !tests.iter().any(|test| test.contains(character)),
        }
    }
}

impl Class {
    pub(super) const EMPTY: Class = Class { ascii: 0, wide: Wide::None };
    pub(super) const ANY: Class = Class { ascii: u128::MAX, wide: Wide::All };

    /// The characters from `first` to `last`, both included.
    pub(super) fn range(first: char, last: char) -> Self {
        // A mask of the characters below `end`.
        let below = |end: u32| 1u128.checked_shl(end).map_or(u128::MAX, |bit| bit - 1);
        let wide = if last.is_ascii() { Wide::None } else { Wide::Some(vec![CharTest::Range(first, last)]) };
        Self { ascii: below(u32::from(last) + 1) & !below(u32::from(first)), wide }
    }

    /// The characters of a Unicode property.
    pub(super) fn property(test: fn(char) -> bool) -> Self {
        let ascii = (0..128u8).filter(|byte| test(char::from(*byte))).fold(0, |bits, byte| bits | 1 << byte);
        Self { ascii, wide: Wide::Some(vec![CharTest::Property(test)]) }
    }

    /// The characters of either set, if that can be expressed.
    pub(super) fn or(self, other: Self) -> Option<Self> {
        let wide = match (self.wide, other.wide) {
            (Wide::None, wide) | (wide, Wide::None) => wide,
            (Wide::All, _) | (_, Wide::All) => Wide::All,
            (Wide::Some(one), Wide::Some(more)) => Wide::Some(one.into_iter().chain(more).collect()),
            (Wide::AllBut(_), _) | (_, Wide::AllBut(_)) => return None,
        };
        Some(Self { ascii: self.ascii | other.ascii, wide })
    }

    /// The characters of this set that are not in the other, if that can be expressed.
    pub(super) fn but(self, other: Self) -> Option<Self> {
        let wide = match (self.wide, other.wide) {
            (Wide::None, _) | (_, Wide::All) => Wide::None,
            (wide, Wide::None) => wide,
            (Wide::All, Wide::Some(tests)) => Wide::AllBut(tests),
            (Wide::All, Wide::AllBut(tests)) => Wide::Some(tests),
            (Wide::AllBut(tests), Wide::Some(more)) => Wide::AllBut(tests.into_iter().chain(more).collect()),
            (Wide::Some(_) | Wide::AllBut(_), _) => return None,
        };
        Some(Self { ascii: self.ascii & !other.ascii, wide })
    }

    /// The part of the set for which the first byte decides: ASCII, and either all other characters or none.
    pub(super) fn of_bytes(self) -> Self {
        match self.wide {
            Wide::All => self,
            _ => Self { ascii: self.ascii, wide: Wide::None },
        }
    }

    /// A character of the set: a space, or else a letter, or else the first printable one.
    pub(super) fn sample(&self) -> Option<char> {
        let ascii = |byte: &u8| self.ascii >> byte & 1 == 1;
        let one = Some(b' ').filter(ascii).or_else(|| (b'a'..=b'z').find(ascii)).or_else(|| (b'!'..=b'~').find(ascii));
        let wide = || ('\u{a1}'..='\u{ffff}').find(|character| self.wide.contains(*character));
        one.or_else(|| (0..=127).find(ascii)).map(char::from).or_else(wide)
    }

    pub(super) fn is_empty(&self) -> bool {
        self.ascii == 0 && matches!(self.wide, Wide::None)
    }

    /// The bytes that the characters of the set start with.
    pub(super) fn first_bytes(&self) -> ByteSet {
        let wide = if matches!(self.wide, Wide::None) { 0 } else { u128::MAX };
        ByteSet([self.ascii, wide])
    }
}

/// A set of bytes.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Default)]
pub(super) struct ByteSet(pub(super) [u128; 2]);

impl ByteSet {
    pub(super) const ALL: ByteSet = ByteSet([u128::MAX; 2]);

    pub(super) fn one(byte: u8) -> Self {
        let bit = 1u128 << (byte & 0x7F);
        ByteSet(if byte < 0x80 { [bit, 0] } else { [0, bit] })
    }

    pub(super) fn or(self, other: Self) -> Self {
        let (ByteSet([a, b]), ByteSet([c, d])) = (self, other);
        ByteSet([a | c, b | d])
    }

    pub(super) fn and(self, other: Self) -> Self {
        let (ByteSet([a, b]), ByteSet([c, d])) = (self, other);
        ByteSet([a & c, b & d])
    }

    /// The bytes of this set that are not in the other.
    pub(super) fn but(self, other: Self) -> Self {
        let (ByteSet([a, b]), ByteSet([c, d])) = (self, other);
        ByteSet([a & !c, b & !d])
    }

    pub(super) fn is_empty(self) -> bool {
        self == ByteSet::default()
    }

    pub(super) fn contains(self, byte: u8) -> bool {
        let ByteSet([ascii, wide]) = self;
        let half = if byte < 0x80 { ascii } else { wide };
        half >> (byte & 0x7F) & 1 == 1
    }

    /// The characters that start with none of these bytes.
    pub(super) fn others(self) -> Class {
        let ByteSet([ascii, wide]) = self;
        Class { ascii: !ascii, wide: if wide == 0 { Wide::All } else { Wide::None } }
    }

    /// The bytes of the set, ascending.
    pub(super) fn iter(self) -> impl Iterator<Item = u8> {
        (0..=u8::MAX).filter(move |byte| self.contains(*byte))
    }
}
