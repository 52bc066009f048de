//! Dialects, compiled: which grammar rules open, close and fill which blocks?
//!
//! In: a checked dialect of the surface and its grammars.
//! Out: [`Dialect`] with its families of rules, its blocks by number and the look-up of names.
//! Never: reads a response.

use super::Schema;
use super::outline::Outline;
use crate::expression::Template;
use crate::grammar::{Grammar, RuleId, shipped};
use crate::surface::{Anchor, Decoding, Ending, Payload, Role, Trim};
use crate::text::{Location, SourceId, glob};
use std::sync::{Arc, LazyLock};

/// One way a response may be written.
#[derive(Debug)]
pub(crate) struct Dialect {
    pub(crate) name: String,
    pub(crate) families: Vec<Family>,
    /// Instead of families: how an answer is read that is one object.
    pub(crate) outline: Option<Outline>,
    pub(crate) blocks: Vec<Block>,
    pub(crate) names: Names,
    /// The bytes that an opener or a closer may start with.
    pub(crate) needles: Needles,
    pub(crate) fences: bool,
    pub(crate) spans: bool,
    pub(crate) wrapper: bool,
    pub(crate) text: Outside,
    /// Blocks of which any one claims an answer; empty for a dialect that claims with any block.
    pub(crate) needs: Vec<BlockId>,
    pub(crate) at: Location,
}

/// The number of a block within its dialect.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub(crate) struct BlockId(pub(crate) u16);

/// What text outside every block is.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Outside {
    Stray,
    Message,
    Section(String),
}

/// One grammar of a dialect and the rules that the reader knows.
#[derive(Debug)]
pub(crate) struct Family {
    pub(crate) grammar: Arc<Grammar>,
    pub(crate) open: RuleId,
    pub(crate) close: Option<RuleId>,
    pub(crate) payload: Option<RuleId>,
    pub(crate) name: RuleId,
    pub(crate) attribute: Option<RuleId>,
    pub(crate) empty: Option<RuleId>,
    /// What every opener starts with, up to the name where the name follows at once.
    pub(crate) open_lead: Lead,
    pub(crate) close_lead: Lead,
}

/// The literal that a rule starts with, and whether the name follows it at once.
#[derive(Debug, Clone, Default)]
pub(crate) struct Lead {
    pub(crate) literal: String,
    pub(crate) name_follows: bool,
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
    pub(crate) fn new(families: &[Family]) -> Self {
        let mut set = [false; 256];
        for family in families {
            for rule in [Some(family.open), family.close].into_iter().flatten() {
                for (slot, starts) in set.iter_mut().zip(family.grammar.first(rule).bytes) {
                    *slot |= starts;
                }
            }
        }
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

/// What one block means and where it ends.
#[derive(Debug)]
pub(crate) struct Block {
    /// The bound name, as the pack writes it.
    pub(crate) name: String,
    pub(crate) role: Role,
    /// What belongs into it, in a sentence.
    pub(crate) about: Option<String>,
    pub(crate) called: Called,
    pub(crate) key: Option<Called>,
    /// Of an object: the member that is its body.
    pub(crate) body: Option<String>,
    /// The text that is made of its value.
    pub(crate) text: Option<Template>,
    /// What its value is, for those who write it, and whether they must.
    pub(crate) schema: Option<Schema>,
    pub(crate) required: bool,
    pub(crate) payload: Vec<Payload>,
    pub(crate) entities: bool,
    pub(crate) holds: Vec<BlockId>,
    pub(crate) anchor: Anchor,
    pub(crate) close: Vec<Closer>,
    pub(crate) ends: Vec<Vec<Ending>>,
    pub(crate) trim: Vec<Trim>,
    pub(crate) at: Location,
}

impl Dialect {
    /// The grammar of a block's family.
    pub(crate) fn grammar(&self, family: usize) -> Option<&Grammar> {
        let object = self.outline.as_ref().map(|outline| &outline.grammar);
        Some(object.or_else(|| Some(&self.families.get(family)?.grammar))?)
    }
}

impl Block {
    pub(crate) fn decodes(decode: Option<Decoding>) -> bool {
        matches!(decode, Some(Decoding::Entities))
    }
}

impl Family {
    /// The family of a grammar, if it has the rules that every dialect needs.
    pub(crate) fn new(grammar: Arc<Grammar>) -> Option<Self> {
        let (open, name) = (grammar.rule("open")?, grammar.rule("name")?);
        let close = grammar.rule("close");
        let lead = |rule| Lead {
            literal: grammar.literal_before(rule, name).unwrap_or_default().to_owned(),
            name_follows: grammar.literal_before(rule, name).is_some(),
        };
        Some(Self {
            open,
            close,
            name,
            payload: grammar.rule("payload"),
            attribute: grammar.rule("attribute"),
            empty: grammar.rule("empty"),
            open_lead: lead(open),
            close_lead: close.map(lead).unwrap_or_default(),
            grammar,
        })
    }
}

static TAGS: LazyLock<Option<Family>> = LazyLock::new(|| {
    let grammar = Grammar::parse(SourceId::RESPONSE, shipped("tags")?).value?;
    Family::new(Arc::new(grammar))
});

/// The shipped `tags`: how fields are spelt where a dialect has no closers of its own.
pub(crate) fn tag_family() -> Option<&'static Family> {
    TAGS.as_ref()
}

/// Where a name comes from.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Called {
    /// The block's own name in the response.
    Own,
    /// An attribute of its opener.
    Attribute(String),
    Word(String),
}

/// A name that closes a block.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Closer {
    Own,
    Any,
    Word(String),
}

/// The look-up from a name in a response to the block that it is bound to.
#[derive(Debug, Default)]
pub(crate) struct Names {
    insensitive: bool,
    /// Sorted.
    exact: Vec<(String, BlockId)>,
    /// Names with `*`, in the order of the pack.
    wild: Vec<(String, BlockId)>,
    /// Names that close a block though they open none.
    closers: Vec<String>,
    /// Whether any name closes some block.
    any_closes: bool,
    /// All names by their first byte, folded; empty where a name with `*` makes the look worthless.
    starts: Vec<(u8, Vec<String>)>,
}

impl Names {
    pub(crate) fn new<'n>(
        insensitive: bool,
        names: impl Iterator<Item = &'n str>,
        closers: impl Iterator<Item = &'n str>,
        any_closes: bool,
    ) -> Self {
        let fold = |name: &str| if insensitive { name.to_ascii_lowercase() } else { name.to_owned() };
        let mut table = Self { insensitive, any_closes, closers: closers.map(fold).collect(), ..Self::default() };
        for (index, name) in names.enumerate() {
            let id = BlockId(index as u16);
            let name = fold(name);
            if name.contains(['*', '?']) {
                table.wild.push((name, id));
            } else {
                table.exact.push((name, id));
            }
        }
        table.exact.sort_by(|(one, _), (other, _)| one.cmp(other));
        // Of names that are the same but for their case, the last has it.
        table.exact.reverse();
        table.exact.dedup_by(|(one, _), (other, _)| one == other);
        table.exact.reverse();
        if table.wild.is_empty() && !any_closes {
            let mut all: Vec<&String> = table.exact.iter().map(|(name, _)| name).chain(&table.closers).collect();
            all.sort_unstable();
            for name in all {
                let first = name.bytes().next().unwrap_or_default();
                match table.starts.last_mut() {
                    Some((byte, names)) if *byte == first => names.push(name.clone()),
                    _ => table.starts.push((first, vec![name.clone()])),
                }
            }
        }
        table
    }

    /// Whether a bound name may start with `bytes`; unknown while too few have come. A guess that is never wrong with `false`.
    pub(crate) fn may_be(&self, bytes: &[u8]) -> Option<bool> {
        if self.starts.is_empty() {
            return Some(true);
        }
        let first = *bytes.first()?;
        let first = if self.insensitive { first.to_ascii_lowercase() } else { first };
        let Some((_, names)) = self.starts.iter().find(|(byte, _)| *byte == first) else { return Some(false) };
        let mut short = false;
        for name in names {
            match bytes.get(..name.len()) {
                Some(head) if self.equal(head, name.as_bytes()) => return Some(true),
                Some(_) => {}
                None => short |= name.as_bytes().get(..bytes.len()).is_some_and(|head| self.equal(head, bytes)),
            }
        }
        if short { None } else { Some(false) }
    }

    fn equal(&self, one: &[u8], other: &[u8]) -> bool {
        if self.insensitive { one.eq_ignore_ascii_case(other) } else { one == other }
    }

    /// Whether a closer of this name may close a block.
    pub(crate) fn closes(&self, name: &str) -> bool {
        self.any_closes || self.closers.iter().any(|closer| self.same(closer, name)) || self.find(name).is_some()
    }

    /// The name as it is compared.
    pub(crate) fn fold<'n>(&self, name: &'n str) -> std::borrow::Cow<'n, str> {
        if self.insensitive && name.bytes().any(|byte| byte.is_ascii_uppercase()) {
            return name.to_ascii_lowercase().into();
        }
        name.into()
    }

    /// The block that `name` is bound to: an exact name before one with `*`, and of those the first.
    pub(crate) fn find(&self, name: &str) -> Option<BlockId> {
        if self.insensitive && name.bytes().any(|byte| byte.is_ascii_uppercase()) {
            return self.find_folded(&name.to_ascii_lowercase());
        }
        self.find_folded(name)
    }

    fn find_folded(&self, name: &str) -> Option<BlockId> {
        if let Ok(index) = self.exact.binary_search_by(|(known, _)| known.as_str().cmp(name)) {
            return self.exact.get(index).map(|(_, id)| *id);
        }
        self.wild.iter().find(|(pattern, _)| glob(pattern, name)).map(|(_, id)| *id)
    }

    /// Whether two names are the same.
    pub(crate) fn same(&self, one: &str, other: &str) -> bool {
        if self.insensitive { one.eq_ignore_ascii_case(other) } else { one == other }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_fold_only_where_the_dialect_says_so() {
        let names = Names::new(true, ["message", "action"].into_iter(), [].into_iter(), false);
        assert_eq!(names.find("Message"), Some(BlockId(0)));
        assert_eq!(
            [names.may_be(b"MESSAGE>"), names.may_be(b"mess"), names.may_be(b"b")],
            [Some(true), None, Some(false)]
        );
        let names = Names::new(false, ["message", "*_x"].into_iter(), [].into_iter(), false);
        assert_eq!((names.find("Message"), names.find("a_x")), (None, Some(BlockId(1))));
    }
}
