//! Names: which block does a name in the response open?
//!
//! In: the names that open the blocks of a dialect, and those that close them.
//! Out: [`BlockNames`], a look-up for names, also for names of which only the start has arrived.
//! Never: prefers a name with `*` to an exact one.

use super::block::{BlockId, Closer};
use crate::surface::Anchor;
use crate::text::{glob, same};
use std::cmp::Ordering;

/// The look-up from names in a response to blocks.
#[derive(Debug, Default)]
pub(crate) struct BlockNames {
    insensitive: bool,
    /// Exact names, sorted by length.
    exact: Vec<(String, Binding)>,
    /// Names with `*`, in the order of the pack.
    wild: Vec<(String, Binding)>,
    /// Names of the form `*.md`, sorted by the length of the suffix, each with its index in `wild`.
    endings: Vec<(String, usize)>,
    /// The indexes in `wild` of all other names with `*`.
    others: Vec<usize>,
    /// Names that close a block but open none, each with the family of the block, if the block has a family of its own.
    closers: Vec<(String, Option<usize>)>,
    /// Names of closers with `*`.
    wild_closers: Vec<(String, Option<usize>)>,
    /// Whether some closers are known only after their opener has been read.
    any_closes: bool,
    /// Whether closers known only from their opener count anywhere on a line.
    anywhere: bool,
    /// The prefixes of the names that open a block, by family; the last entry is for all other families.
    openers: Vec<NameHeads>,
    /// The prefixes of the names that close a block.
    enders: NameHeads,
}

/// The prefixes of names; none if a name with `*` may start with anything.
#[derive(Debug, Default)]
struct NameHeads(Option<ByFirst>);

/// Prefixes by their first byte.
#[derive(Debug)]
struct ByFirst {
    /// For each byte, the index of its list in `lists`; the list at 0 is empty.
    list: Box<[u8; 256]>,
    lists: Vec<Vec<String>>,
}

impl NameHeads {
    fn new<'n>(names: impl Iterator<Item = &'n String>, insensitive: bool) -> Self {
        let mut heads = ByFirst { list: Box::new([0; 256]), lists: vec![Vec::new()] };
        for name in names {
            // Of a pattern, only the text before its first wildcard is certain.
            let head = name.split(['*', '?']).next().unwrap_or_default();
            let Some(first) = head.bytes().next().filter(|_| heads.lists.len() <= usize::from(u8::MAX)) else {
                return Self(None);
            };
            let cases = [first, if insensitive { first.to_ascii_uppercase() } else { first }];
            let known = heads.list.get(usize::from(first)).copied().filter(|list| *list > 0).map(usize::from);
            let list = known.unwrap_or(heads.lists.len());
            heads.lists.resize_with(heads.lists.len().max(list + 1), Vec::new);
            heads.lists.iter_mut().skip(list).take(1).for_each(|heads| heads.push(head.to_owned()));
            for byte in cases {
                heads.list.iter_mut().skip(usize::from(byte)).take(1).for_each(|slot| *slot = list as u8);
            }
        }
        Self(Some(heads))
    }

    /// Whether one of the names may start with `bytes`; none while too few bytes are known. `false` is certain, `true`
    /// is not.
    fn fit(&self, bytes: &[u8], insensitive: bool) -> Option<bool> {
        let Some(heads) = &self.0 else { return Some(true) };
        // Names are a few bytes long, and differ in the first ones: comparing them in place avoids a call of `memcmp`.
        let same = |byte: u8, known: u8| byte == known || (insensitive && byte.to_ascii_lowercase() == known);
        let equal = |head: &[u8], known: &[u8]| head.iter().zip(known).all(|(byte, known)| same(*byte, *known));
        let names = heads.lists.get(usize::from(*heads.list.get(usize::from(*bytes.first()?))?))?;
        let mut short = false;
        for name in names {
            match bytes.get(..name.len()) {
                Some(head) if equal(head, name.as_bytes()) => return Some(true),
                Some(_) => {}
                None => short |= name.as_bytes().get(..bytes.len()).is_some_and(|known| equal(bytes, known)),
            }
        }
        if short { None } else { Some(false) }
    }

    /// The bytes that a name may have at `place`; any byte if a name may end before that.
    fn bytes_at(&self, place: usize, insensitive: bool) -> [bool; 256] {
        let Some(heads) = &self.0 else { return [true; 256] };
        let mut bytes = [false; 256];
        for name in heads.lists.iter().flatten() {
            let Some(byte) = name.as_bytes().get(place).copied() else { return [true; 256] };
            for byte in [byte, if insensitive { byte.to_ascii_uppercase() } else { byte }] {
                bytes.iter_mut().skip(usize::from(byte)).take(1).for_each(|slot| *slot = true);
            }
        }
        bytes
    }
}

/// The block that a name opens, in one family or in all.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Binding {
    pub(crate) id: BlockId,
    pub(crate) family: Option<usize>,
}

impl Binding {
    fn is_in(self, family: Option<usize>) -> bool {
        family.is_none() || self.may_be_in(family)
    }

    /// Whether the name opens the block in this family. Without a family: in the families that have no names of their
    /// own.
    fn may_be_in(self, family: Option<usize>) -> bool {
        self.family.is_none() || self.family == family
    }
}

impl BlockNames {
    pub(crate) fn new<'n>(
        insensitive: bool,
        names: impl Iterator<Item = (&'n str, Binding)>,
        closers: impl Iterator<Item = (&'n Closer, Anchor, Option<usize>)>,
    ) -> Self {
        let fold = |name: &str| if insensitive { name.to_ascii_lowercase() } else { name.to_owned() };
        let mut table = Self { insensitive, ..Self::default() };
        for (closer, anchor, family) in closers {
            match closer {
                Closer::Own => {}
                Closer::Attribute(_) => {
                    table.any_closes = true;
                    table.anywhere |= anchor == Anchor::Anywhere;
                }
                Closer::Word(word) => table.closers.push((fold(word), family)),
                Closer::Pattern(pattern) => table.wild_closers.push((fold(pattern), family)),
            }
        }
        for (name, bound) in names {
            let list = if name.contains(['*', '?']) { &mut table.wild } else { &mut table.exact };
            list.push((fold(name), bound));
        }
        for (place, (pattern, _)) in table.wild.iter().enumerate() {
            match pattern.strip_prefix('*').filter(|ending| ending.rfind('.') == Some(0)) {
                Some(ending) if !ending.contains(['*', '?']) => table.endings.push((ending.to_owned(), place)),
                _ => table.others.push(place),
            }
        }
        table.endings.sort_by(|(one, _), (other, _)| by_length(one, other));
        // Of names that differ only in case, the last one counts.
        table.exact.reverse();
        table.exact.sort_by(|(one, _), (other, _)| by_length(one, other));
        table.exact.dedup_by(|(one, bound), (other, before)| one == other && bound.family == before.family);
        let bound = || table.exact.iter().chain(&table.wild);
        let families = bound().filter_map(|(_, bound)| Some(bound.family? + 1)).max().unwrap_or_default();
        let opening = |family| bound().filter(move |(_, bound)| bound.may_be_in(family)).map(|(name, _)| name);
        table.openers =
            (0..families).map(Some).chain([None]).map(|family| NameHeads::new(opening(family), insensitive)).collect();
        let closing = table.closers.iter().chain(&table.wild_closers).map(|(name, _)| name);
        table.enders = NameHeads::new(bound().map(|(name, _)| name).chain(closing), insensitive);
        table
    }

    /// Whether a name that opens a block of this family may start with `bytes`; none while too few bytes are known.
    pub(crate) fn may_open(&self, bytes: &[u8], family: usize) -> Option<bool> {
        self.openers.get(family).or(self.openers.last())?.fit(bytes, self.insensitive)
    }

    /// The bytes that the name of an opener of this family may have at `place`.
    pub(super) fn opener_bytes(&self, place: usize, family: usize) -> [bool; 256] {
        let heads = self.openers.get(family).or(self.openers.last());
        heads.map_or([true; 256], |heads| heads.bytes_at(place, self.insensitive))
    }

    /// Whether some closers are known only after their opener has been read.
    pub(super) fn any_closes(&self) -> bool {
        self.any_closes
    }

    /// Whether a name that closes a block may start with `bytes`. Where closers known only from their opener count, any
    /// bytes may.
    pub(crate) fn may_close(&self, bytes: &[u8], at_line_start: bool) -> Option<bool> {
        if self.any_closes && (at_line_start || self.anywhere) {
            Some(true)
        } else {
            self.enders.fit(bytes, self.insensitive)
        }
    }

    /// The bytes that the name of a closer may have at `place`.
    pub(super) fn closer_bytes(&self, place: usize) -> [bool; 256] {
        if self.any_closes { [true; 256] } else { self.enders.bytes_at(place, self.insensitive) }
    }

    /// Whether a closer of this name, read by this family, may close some block.
    pub(crate) fn closes(&self, name: &str, family: Option<usize>) -> bool {
        self.any_closes || self.is_closer(name, family)
    }

    /// Whether a closer of this name, read by this family, closes some block, no matter which openers were read. A
    /// block that has a family of its own is closed by no other family.
    pub(crate) fn is_closer(&self, name: &str, family: Option<usize>) -> bool {
        let may = |own: Option<usize>| own.is_none() || family.is_none() || own == family;
        self.closers.iter().any(|(closer, own)| may(*own) && self.same(closer, name))
            || self.find(name, family).is_some()
            || self.wild_closers.iter().any(|(pattern, own)| may(*own) && self.matches_name(pattern, name))
    }

    /// Whether a name matches a pattern whose case is already folded.
    pub(crate) fn matches_name(&self, pattern: &str, name: &str) -> bool {
        glob(pattern, &self.fold(name))
    }

    /// Whether names are compared without regard to case.
    pub(crate) fn in_any_case(&self) -> bool {
        self.insensitive
    }

    /// The name in the case in which names are compared.
    pub(crate) fn fold<'n>(&self, name: &'n str) -> std::borrow::Cow<'n, str> {
        if self.insensitive && name.bytes().any(|byte| byte.is_ascii_uppercase()) {
            return name.to_ascii_lowercase().into();
        }
        name.into()
    }

    /// The block that `name` opens in a family: exact names precede names with `*`, and of the latter the first counts.
    pub(crate) fn find(&self, name: &str, family: Option<usize>) -> Option<BlockId> {
        if let Some(id) = self.find_exact(name, family) {
            return Some(id);
        }
        if self.wild.is_empty() {
            return None;
        }
        let name = &*self.fold(name);
        let dot = if self.endings.is_empty() { None } else { name.rfind('.') };
        let ending = dot.and_then(|dot| name.get(dot..)).unwrap_or_default();
        let first = self.endings.partition_point(|(known, _)| by_length(known, ending).is_lt());
        let endings = self.endings.iter().skip(first).take_while(|(known, _)| known == ending).map(|(_, place)| *place);
        let ours = |place: usize| self.wild.get(place).filter(|(_, bound)| bound.is_in(family));
        let others = self.others.iter().copied();
        let others = others.filter(|place| ours(*place).is_some_and(|(pattern, _)| glob(pattern, name)));
        let found = endings.chain(others).filter_map(|place| Some((place, ours(place)?.1.id)));
        found.min_by_key(|(place, _)| *place).map(|(_, id)| id)
    }

    /// The block whose exact name is `name`. The search starts at the names of the same length, which are few.
    fn find_exact(&self, name: &str, family: Option<usize>) -> Option<BlockId> {
        let first = self.exact.partition_point(|(known, _)| known.len() < name.len());
        let mut as_long = self.exact.iter().skip(first).take_while(|(known, _)| known.len() == name.len());
        as_long.find(|(known, bound)| bound.is_in(family) && self.same(known, name)).map(|(_, bound)| bound.id)
    }

    /// Whether two names are equal.
    pub(crate) fn same(&self, one: &str, other: &str) -> bool {
        // Fast path: most names are spelt exactly like the declared one.
        same(one, other) || (self.insensitive && one.eq_ignore_ascii_case(other))
    }

    /// An order in which equal names are adjacent.
    pub(crate) fn order(&self, one: &str, other: &str) -> Ordering {
        if !self.insensitive {
            return by_length(one, other);
        }
        let lower = |byte: u8| byte.to_ascii_lowercase();
        one.len().cmp(&other.len()).then_with(|| one.bytes().map(lower).cmp(other.bytes().map(lower)))
    }
}

/// Orders names by length first: most differ in length, which is fast to compare.
fn by_length(one: &str, other: &str) -> Ordering {
    one.len().cmp(&other.len()).then_with(|| one.cmp(other))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_fold_only_where_the_dialect_says_so() {
        let bound = |number| Binding { id: BlockId(number), family: None };
        let names =
            BlockNames::new(true, [("message", bound(0)), ("action", bound(1))].into_iter(), std::iter::empty());
        assert_eq!(names.find("Message", None), Some(BlockId(0)));
        assert_eq!(
            [names.may_open(b"MESSAGE>", 0), names.may_open(b"mess", 0), names.may_close(b"b", false)],
            [Some(true), None, Some(false)]
        );
        let names = BlockNames::new(false, [("message", bound(0)), ("*_x", bound(1))].into_iter(), std::iter::empty());
        assert_eq!((names.find("Message", None), names.find("a_x", None)), (None, Some(BlockId(1))));
    }

    #[test]
    fn a_pattern_is_sought_by_the_text_before_its_first_wildcard() {
        let bound = |number| Binding { id: BlockId(number), family: None };
        let patterns = [("END_*", bound(0)), ("end?of", bound(1))];
        let names = BlockNames::new(false, patterns.into_iter(), std::iter::empty());
        let found = [&b"END_TEXT"[..], b"END", b"end of", b"ended", b"message"].map(|bytes| names.may_open(bytes, 0));
        assert_eq!(found, [Some(true), None, Some(true), Some(true), Some(false)]);
        let all = BlockNames::new(false, [("*", bound(0))].into_iter(), std::iter::empty());
        assert_eq!(all.may_open(b"message", 0), Some(true));
    }

    #[test]
    fn a_name_may_belong_to_one_family() {
        let bound = |number, family| Binding { id: BlockId(number), family };
        let entries = [("a", bound(0, Some(0))), ("a", bound(1, Some(1))), ("*", bound(2, Some(2)))];
        let names = BlockNames::new(false, entries.into_iter(), std::iter::empty());
        let found = [("a", 0), ("a", 1), ("a", 2), ("b", 0)].map(|(name, family)| names.find(name, Some(family)));
        assert_eq!(found, [Some(BlockId(0)), Some(BlockId(1)), Some(BlockId(2)), None]);
        assert_eq!([0, 2, 3].map(|family| names.may_open(b"b", family)), [Some(false), Some(true), Some(false)]);
    }
}
