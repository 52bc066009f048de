//! Starts: where in a response may a mark of a dialect begin?
//!
//! In: the rules of its families that open and close.
//! Out: [`Starts`]: the bytes that each of them may start with, and how to skip to the next.
//! Never: says that one begins: the recogniser does.

use super::family::Family;

/// Which openers and closers a byte may start: by the number of each, twice that of its family, and one more for a closer.
#[derive(Debug)]
pub(crate) struct Starts {
    /// Where a line starts, and elsewhere.
    first: [Vec<Vec<u8>>; 2],
    /// What each byte is in the margin of a line.
    margin: [Margin; 256],
    /// Whether spaces are passed there.
    indents: bool,
    /// Whether some of them start nothing elsewhere, so that lines are looked at one by one.
    pub(crate) by_line: bool,
    /// The bytes that start any elsewhere; then the line break, too.
    pub(crate) elsewhere: Needles,
}

impl Starts {
    pub(crate) fn new(families: &[Family]) -> Self {
        let mut first = [vec![Vec::new(); 256], vec![Vec::new(); 256]];
        for (number, family) in families.iter().enumerate().filter(|(_, family)| !family.only_prelude) {
            for (closes, rule) in [Some(family.open), family.close].into_iter().enumerate() {
                let Some(rule) = rule else { continue };
                for (elsewhere, numbers) in first.iter_mut().enumerate() {
                    // What opens at the start of a line alone is not looked for elsewhere.
                    if elsewhere == 1 && closes == 0 && family.leads_line {
                        continue;
                    }
                    for (numbers, _) in
                        numbers.iter_mut().zip(family.grammar.first(rule).bytes).filter(|(_, first)| *first)
                    {
                        numbers.push((2 * number + closes) as u8);
                    }
                }
            }
        }
        let [leading, elsewhere] = first.each_ref().map(|numbers| {
            std::array::from_fn::<bool, 256, _>(|byte| numbers.get(byte).is_some_and(|some| !some.is_empty()))
        });
        const BREAK: usize = b'\n' as usize;
        let by_line = leading != elsewhere && leading.get(BREAK) == Some(&false);
        let elsewhere = if by_line { elsewhere } else { leading };
        let elsewhere = Needles::new(|byte| elsewhere.get(byte) == Some(&true) || (by_line && byte == BREAK));
        let margin = std::array::from_fn(|byte| match byte as u8 {
            _ if leading.get(byte) == Some(&true) => Margin::Start,
            b' ' | b'\t' | b'\r' => Margin::Blank,
            b'\n' => Margin::Break,
            // Behind these marks, or a byte order mark, words may stand.
            b'`' | b'~' | 0xEF => Margin::Mark,
            _ => Margin::Text,
        });
        let indents = leading.get(usize::from(b' ')) == Some(&false);
        Self { first, margin, indents, by_line, elsewhere }
    }

    /// How many spaces stand at the start of `bytes`, where they start nothing: code is indented, by spaces as a rule.
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

    /// What `byte` is in the margin of a line.
    pub(crate) fn margin(&self, byte: u8) -> Margin {
        self.margin.get(usize::from(byte)).copied().unwrap_or(Margin::Text)
    }

    /// What may start with `byte` where a line starts, or elsewhere.
    pub(crate) fn with(&self, byte: u8, leads_line: bool) -> &[u8] {
        let [leading, elsewhere] = &self.first;
        let numbers = if leads_line { leading } else { elsewhere };
        numbers.get(usize::from(byte)).map(Vec::as_slice).unwrap_or_default()
    }
}

/// What a byte is where a line starts.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Margin {
    /// Something may start with it.
    Start,
    Blank,
    Break,
    /// Behind it words may stand, too.
    Mark,
    Text,
}

/// The bytes that a mark may start with.
#[derive(Debug, Clone, Copy)]
#[expect(clippy::large_enum_variant, reason = "one stands in each dialect, and is asked at every mark")]
pub(crate) enum Needles {
    None,
    One(u8),
    Two(u8, u8),
    Three(u8, u8, u8),
    Many([bool; 256]),
}

impl Needles {
    fn new(starts: impl Fn(usize) -> bool) -> Self {
        let set: [bool; 256] = std::array::from_fn(starts);
        let bytes: Vec<u8> = (0..=255u8).filter(|byte| set.get(usize::from(*byte)) == Some(&true)).collect();
        match bytes.as_slice() {
            [] => Needles::None,
            [one] => Needles::One(*one),
            [one, two] => Needles::Two(*one, *two),
            [one, two, three] => Needles::Three(*one, *two, *three),
            _ => Needles::Many(set),
        }
    }

    pub(crate) fn find(&self, bytes: &[u8]) -> Option<usize> {
        match self {
            Needles::None => None,
            Needles::One(one) => memchr::memchr(*one, bytes),
            Needles::Two(one, two) => memchr::memchr2(*one, *two, bytes),
            Needles::Three(one, two, three) => memchr::memchr3(*one, *two, *three, bytes),
            Needles::Many(set) => bytes.iter().position(|byte| set.get(usize::from(*byte)) == Some(&true)),
        }
    }
}
