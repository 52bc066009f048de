//! Dialects, compiled: which grammar rules open, close and fill which blocks?
//!
//! In: a checked dialect of the surface and its grammars.
//! Out: [`Dialect`] with its families of rules, its blocks by number and the look-up of names.
//! Never: reads a response.

use super::Schema;
use super::outline::Outline;
use super::structure::Structure;
use crate::expression::Template;
use crate::grammar::{Grammar, RuleId, shipped};
use crate::surface::{Anchor, Between, Decoding, Ending, Payload, Role, Trim};
use crate::text::{Location, SourceId, glob};
use std::cmp::Ordering;
use std::sync::{Arc, LazyLock};

/// One way a response may be written.
#[derive(Debug)]
pub(crate) struct Dialect {
    pub(crate) name: String,
    pub(crate) families: Vec<Family>,
    /// Instead of families: how an answer is read that is one object.
    pub(crate) outline: Option<Outline>,
    pub(crate) blocks: Vec<Block>,
    pub(crate) names: Arc<Names>,
    /// Where openers and closers count at the start of a line alone: how a line of them is told.
    pub(crate) structure: Option<Arc<Structure>>,
    /// What may start with which byte.
    pub(crate) starts: Starts,
    pub(crate) fences: bool,
    pub(crate) spans: bool,
    pub(crate) wrapper: bool,
    /// Whether any of its blocks wraps others.
    pub(crate) wraps: bool,
    /// Whether it matters for any of its blocks where on a line something stands.
    pub(crate) by_line: bool,
    pub(crate) text: Outside,
    /// What may stand around and between blocks without being text.
    pub(crate) between: Vec<Between>,
    /// Names of blocks, of which any one claims an answer; empty for a dialect that claims with any block.
    pub(crate) needs: Vec<String>,
    /// The number of the dialect that differs in nothing but that.
    pub(crate) like: Option<usize>,
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
    /// Where a block that it opens may end, where the pack does not say.
    pub(crate) ends: Vec<Vec<Ending>>,
    pub(crate) empty: Option<RuleId>,
    /// Whether every block that it may open counts at the start of a line alone.
    pub(crate) leads_line: bool,
    /// The block that it spells and that opens where an answer starts, and whether it spells no other.
    pub(crate) prelude: Option<BlockId>,
    pub(crate) only_prelude: bool,
    /// The rules called `fault_…`: a match of one in an opener is a remark.
    pub(crate) faults: Vec<RuleId>,
    /// What every opener starts with, up to the name where the name follows at once.
    pub(crate) open_lead: Lead,
    pub(crate) close_lead: Lead,
}

/// The literal that a rule starts with, and whether the name follows it at once; or whether it holds one further on.
#[derive(Debug, Clone, Default)]
pub(crate) struct Lead {
    pub(crate) literal: String,
    pub(crate) name_follows: bool,
    pub(crate) holds_name: bool,
}

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

impl Dialect {
    /// Whether a block that is opened by this name claims an answer for it.
    pub(crate) fn is_claimed_by(&self, name: &str) -> bool {
        self.needs.is_empty() || {
            let name = self.names.fold(name);
            self.needs.iter().any(|need| glob(need, &name))
        }
    }

    /// The block that wraps others and bears this name.
    pub(crate) fn wrapper_called(&self, name: &str, family: usize) -> Option<BlockId> {
        let is_wrapper = |id: &BlockId| self.block(*id).is_some_and(|block| block.role == Role::Wrapper);
        let found = if self.wraps { self.names.find(name, Some(family)) } else { None };
        found.filter(is_wrapper)
    }

    /// The block that may open without an opener and has a closer of this name.
    pub(crate) fn started_by(&self, name: &str) -> Option<BlockId> {
        let closes = |block: &Block| {
            block.close.iter().any(|closer| match closer {
                Closer::Own => self.names.same(&block.name, name),
                Closer::Word(word) => self.names.same(word, name),
                Closer::Attribute(_) | Closer::Pattern(_) => false,
            })
        };
        let started = self.blocks.iter().position(|block| block.starts && closes(block))?;
        Some(BlockId(started as u16))
    }

    /// Where a block may end that a family opened.
    pub(crate) fn ladder<'d>(&'d self, block: &'d Block, family: usize) -> &'d [Vec<Ending>] {
        match self.families.get(family) {
            Some(family) if block.ends.is_empty() => &family.ends,
            _ => &block.ends,
        }
    }

    /// The block of this number.
    pub(crate) fn block(&self, id: BlockId) -> Option<&Block> {
        self.blocks.get(usize::from(id.0))
    }
}

/// What one block means and where it ends.
#[derive(Debug)]
pub(crate) struct Block {
    /// The bound name, as the pack writes it.
    pub(crate) name: String,
    /// The names that open it.
    pub(crate) names: Vec<String>,
    pub(crate) role: Role,
    /// How its opener should be written.
    pub(crate) spelled: Option<String>,
    /// Whether it opens where the answer starts, with its opener or without it.
    pub(crate) starts: bool,
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
    /// What its text is decoded from.
    pub(crate) decode: Option<Decoding>,
    pub(crate) holds: Vec<BlockId>,
    pub(crate) anchor: Anchor,
    pub(crate) close: Vec<Closer>,
    /// The tier of the surest of them.
    pub(crate) surest: usize,
    /// Where it may end; none where its grammar says so.
    pub(crate) ends: Vec<Vec<Ending>>,
    pub(crate) trim: Vec<Trim>,
    pub(crate) at: Location,
}

impl Dialect {
    /// The grammar of a block's family.
    pub(crate) fn grammar(&self, family: usize) -> Option<&Grammar> {
        match &self.outline {
            Some(outline) => Some(&outline.grammar),
            None => self.families.get(family).map(|family| &*family.grammar),
        }
    }
}

impl Block {
    /// Whether entities in it stand for characters.
    pub(crate) fn entities(&self) -> bool {
        self.decode == Some(Decoding::Entities)
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
            holds_name: grammar.holds_one(rule, name),
        };
        let payload = grammar.rule("payload");
        let ends = match (close, payload) {
            (Some(_), _) => vec![vec![Ending::Closer], vec![Ending::NextBlock], vec![Ending::End]],
            (None, Some(_)) => vec![vec![Ending::Payload], vec![Ending::NextBlock], vec![Ending::End]],
            // Nothing but what follows can end a block: it was not cut off.
            (None, None) => vec![vec![Ending::NextBlock, Ending::End]],
        };
        Some(Self {
            open,
            close,
            name,
            ends,
            payload,
            attribute: grammar.rule("attribute"),
            empty: grammar.rule("empty"),
            leads_line: false,
            prelude: None,
            only_prelude: false,
            faults: grammar.rules().filter(|rule| grammar.rule_name(*rule).starts_with("fault_")).collect(),
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
    /// An attribute of the wrapper of this name that it stands in.
    Around(String, String),
    Word(String),
}

/// A name that closes a block.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Closer {
    Own,
    /// What an attribute of its opener says.
    Attribute(String),
    Word(String),
    /// Names with `*`, which close it where no other name does.
    Pattern(String),
}

impl Closer {
    /// The tier of patterns: of what fits one the last closes the block.
    pub(crate) const LAST_TIER: usize = 2;

    /// How surely it closes the block: one that names it before one that names its kind, and a pattern last.
    pub(crate) fn tier(&self) -> usize {
        match self {
            Closer::Own | Closer::Attribute(_) => 0,
            Closer::Word(_) => 1,
            Closer::Pattern(_) => Self::LAST_TIER,
        }
    }
}

/// The look-up from a name in a response to the block that it is bound to.
#[derive(Debug, Default)]
pub(crate) struct Names {
    insensitive: bool,
    /// Sorted by their length.
    exact: Vec<(String, Bound)>,
    /// Names with `*`, in the order of the pack.
    wild: Vec<(String, Bound)>,
    /// Of those, the ones that are a star and an ending, such as `*.md`: sorted by the length of the ending, each with its place in `wild`.
    endings: Vec<(String, usize)>,
    /// The places of all others.
    others: Vec<usize>,
    /// Names that close a block though they open none.
    closers: Vec<String>,
    /// Such names with `*`.
    wild_closers: Vec<String>,
    /// Whether what closes a block is only known once its opener has been read.
    any_closes: bool,
    /// How the names start that open a block of each family, and at last of any other.
    openers: Vec<Heads>,
    /// How the names start that close one.
    enders: Heads,
}

/// How names may start; none where a name with `*` may start with anything.
#[derive(Debug, Default)]
struct Heads(Option<ByFirst>);

/// Names by their first byte.
#[derive(Debug)]
struct ByFirst {
    /// For each byte the list of those that start with it, of which the first is empty.
    list: Box<[u8; 256]>,
    lists: Vec<Vec<String>>,
}

impl Heads {
    fn new<'n>(names: impl Iterator<Item = &'n String>, insensitive: bool) -> Self {
        let mut heads = ByFirst { list: Box::new([0; 256]), lists: vec![Vec::new()] };
        for name in names {
            if name.contains(['*', '?']) || heads.lists.len() > usize::from(u8::MAX) {
                return Self(None);
            }
            let first = name.bytes().next().unwrap_or_default();
            let cases = [first, if insensitive { first.to_ascii_uppercase() } else { first }];
            let known = heads.list.get(usize::from(first)).copied().filter(|list| *list > 0).map(usize::from);
            let list = known.unwrap_or(heads.lists.len());
            heads.lists.resize_with(heads.lists.len().max(list + 1), Vec::new);
            heads.lists.iter_mut().skip(list).take(1).for_each(|names| names.push(name.clone()));
            for byte in cases {
                heads.list.iter_mut().skip(usize::from(byte)).take(1).for_each(|slot| *slot = list as u8);
            }
        }
        Self(Some(heads))
    }

    /// Whether one of them may start with `bytes`; unknown while too few have come. A guess that is never wrong with `false`.
    fn fit(&self, bytes: &[u8], insensitive: bool) -> Option<bool> {
        let Some(heads) = &self.0 else { return Some(true) };
        // A few bytes, of which the first ones tell: a comparison of slices would be a call.
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
}

/// What a name is bound to: a block, in one family or in all.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Bound {
    pub(crate) id: BlockId,
    pub(crate) family: Option<usize>,
}

impl Bound {
    fn fits(self, family: Option<usize>) -> bool {
        family.is_none() || self.fits_in(family)
    }

    /// Whether it may open in this family; in one that no name has to itself, if none.
    fn fits_in(self, family: Option<usize>) -> bool {
        self.family.is_none() || self.family == family
    }
}

impl Names {
    pub(crate) fn new<'n>(
        insensitive: bool,
        names: impl Iterator<Item = (&'n str, Bound)>,
        closers: impl Iterator<Item = &'n Closer>,
    ) -> Self {
        let fold = |name: &str| if insensitive { name.to_ascii_lowercase() } else { name.to_owned() };
        let mut table = Self { insensitive, ..Self::default() };
        for closer in closers {
            match closer {
                Closer::Own => {}
                Closer::Attribute(_) => table.any_closes = true,
                Closer::Word(word) => table.closers.push(fold(word)),
                Closer::Pattern(pattern) => table.wild_closers.push(fold(pattern)),
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
        // Of names that are the same but for their case, the last has it.
        table.exact.reverse();
        table.exact.sort_by(|(one, _), (other, _)| by_length(one, other));
        table.exact.dedup_by(|(one, bound), (other, before)| one == other && bound.family == before.family);
        let bound = || table.exact.iter().chain(&table.wild);
        let families = bound().filter_map(|(_, bound)| Some(bound.family? + 1)).max().unwrap_or_default();
        let opening = |family| bound().filter(move |(_, bound)| bound.fits_in(family)).map(|(name, _)| name);
        table.openers =
            (0..families).map(Some).chain([None]).map(|family| Heads::new(opening(family), insensitive)).collect();
        let closing = table.closers.iter().chain(&table.wild_closers);
        table.enders = Heads::new(bound().map(|(name, _)| name).chain(closing), insensitive);
        table
    }

    /// Whether a name that opens a block of this family may start with `bytes`; unknown while too few have come.
    pub(crate) fn may_open(&self, bytes: &[u8], family: usize) -> Option<bool> {
        self.openers.get(family).or(self.openers.last())?.fit(bytes, self.insensitive)
    }

    /// Whether what closes a block is only known once its opener has been read.
    pub(crate) fn any_closes(&self) -> bool {
        self.any_closes
    }

    /// Whether a name that closes a block may start with `bytes`. Any may that stands where it counts for an attribute.
    pub(crate) fn may_close(&self, bytes: &[u8], leads_line: bool) -> Option<bool> {
        if leads_line && self.any_closes { Some(true) } else { self.enders.fit(bytes, self.insensitive) }
    }

    /// Whether a closer of this name may close a block.
    pub(crate) fn closes(&self, name: &str) -> bool {
        self.any_closes || self.is_closer(name)
    }

    /// Whether a closer of this name closes a block, whatever its opener says.
    pub(crate) fn is_closer(&self, name: &str) -> bool {
        self.closers.iter().any(|closer| self.same(closer, name))
            || self.find(name, None).is_some()
            || (!self.wild_closers.is_empty() && self.wild_closers.iter().any(|pattern| self.fits(pattern, name)))
    }

    /// Whether a name fits a folded pattern.
    pub(crate) fn fits(&self, pattern: &str, name: &str) -> bool {
        glob(pattern, &self.fold(name))
    }

    /// The name as it is compared.
    pub(crate) fn fold<'n>(&self, name: &'n str) -> std::borrow::Cow<'n, str> {
        if self.insensitive && name.bytes().any(|byte| byte.is_ascii_uppercase()) {
            return name.to_ascii_lowercase().into();
        }
        name.into()
    }

    /// The block that `name` is bound to in a family: an exact name before one with `*`, and of those the first.
    pub(crate) fn find(&self, name: &str, family: Option<usize>) -> Option<BlockId> {
        if self.insensitive && name.bytes().any(|byte| byte.is_ascii_uppercase()) {
            return self.find_folded(&name.to_ascii_lowercase(), family);
        }
        self.find_folded(name, family)
    }

    fn find_folded(&self, name: &str, family: Option<usize>) -> Option<BlockId> {
        let first = self.exact.partition_point(|(known, _)| by_length(known, name).is_lt());
        let mut same = self.exact.iter().skip(first).take_while(|(known, _)| known == name);
        if let Some((_, bound)) = same.find(|(_, bound)| bound.fits(family)) {
            return Some(bound.id);
        }
        let ending = name.rfind('.').and_then(|dot| name.get(dot..)).unwrap_or_default();
        let first = self.endings.partition_point(|(known, _)| by_length(known, ending).is_lt());
        let endings = self.endings.iter().skip(first).take_while(|(known, _)| known == ending).map(|(_, place)| *place);
        let ours = |place: usize| self.wild.get(place).filter(|(_, bound)| bound.fits(family));
        let others = self.others.iter().copied();
        let others = others.filter(|place| ours(*place).is_some_and(|(pattern, _)| glob(pattern, name)));
        let found = endings.chain(others).filter_map(|place| Some((place, ours(place)?.1.id)));
        found.min_by_key(|(place, _)| *place).map(|(_, id)| id)
    }

    /// Whether two names are the same.
    pub(crate) fn same(&self, one: &str, other: &str) -> bool {
        if self.insensitive { one.eq_ignore_ascii_case(other) } else { one == other }
    }

    /// An order in which names that are the same stand together.
    pub(crate) fn order(&self, one: &str, other: &str) -> Ordering {
        if !self.insensitive {
            return by_length(one, other);
        }
        let lower = |byte: u8| byte.to_ascii_lowercase();
        one.len().cmp(&other.len()).then_with(|| one.bytes().map(lower).cmp(other.bytes().map(lower)))
    }
}

/// The order of names: most differ in their length, which is the quicker question.
fn by_length(one: &str, other: &str) -> Ordering {
    one.len().cmp(&other.len()).then_with(|| one.cmp(other))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_fold_only_where_the_dialect_says_so() {
        let bound = |number| Bound { id: BlockId(number), family: None };
        let names = Names::new(true, [("message", bound(0)), ("action", bound(1))].into_iter(), [].iter());
        assert_eq!(names.find("Message", None), Some(BlockId(0)));
        assert_eq!(
            [names.may_open(b"MESSAGE>", 0), names.may_open(b"mess", 0), names.may_close(b"b", false)],
            [Some(true), None, Some(false)]
        );
        let names = Names::new(false, [("message", bound(0)), ("*_x", bound(1))].into_iter(), [].iter());
        assert_eq!((names.find("Message", None), names.find("a_x", None)), (None, Some(BlockId(1))));
    }

    #[test]
    fn a_name_may_belong_to_one_family() {
        let bound = |number, family| Bound { id: BlockId(number), family };
        let entries = [("a", bound(0, Some(0))), ("a", bound(1, Some(1))), ("*", bound(2, Some(2)))];
        let names = Names::new(false, entries.into_iter(), [].iter());
        let found = [("a", 0), ("a", 1), ("a", 2), ("b", 0)].map(|(name, family)| names.find(name, Some(family)));
        assert_eq!(found, [Some(BlockId(0)), Some(BlockId(1)), Some(BlockId(2)), None]);
        assert_eq!([0, 2, 3].map(|family| names.may_open(b"b", family)), [Some(false), Some(true), Some(false)]);
    }
}
