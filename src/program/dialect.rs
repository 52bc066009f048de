//! Dialects, compiled: which grammar rules open, close and fill which blocks?
//!
//! In: a checked dialect of the surface and its grammars.
//! Out: [`Dialect`] with its families of rules and its blocks by number.
//! Never: reads a response.

use super::Schema;
use super::names::Names;
use super::outline::Outline;
use super::starts::Starts;
use super::structure::Structure;
use crate::expression::Template;
use crate::grammar::{Grammar, RuleId, shipped};
use crate::surface::{Anchor, Between, Decoding, Ending, Payload, Role, Trim};
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

impl Outside {
    /// What the text is, where that does not depend on what else there is.
    pub(crate) fn role(&self) -> Option<Role> {
        (*self == Outside::Message).then_some(Role::Message)
    }
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

/// A tag that is a field called by what its opener says: `<parameter name="x">`.
#[derive(Debug, Clone)]
pub(crate) struct FieldName {
    pub(crate) tag: String,
    pub(crate) attribute: String,
}

/// The literal that a rule starts with, and whether the name follows it at once; or whether it holds one further on.
#[derive(Debug, Clone, Default)]
pub(crate) struct Lead {
    pub(crate) literal: String,
    pub(crate) name_follows: bool,
    pub(crate) holds_name: bool,
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
    /// Of an object: the member that is its body, or the way to it.
    pub(crate) body: Option<String>,
    /// The text that is made of its value.
    pub(crate) text: Option<Template>,
    /// What its value is, for those who write it, and whether they must.
    pub(crate) schema: Option<Schema>,
    pub(crate) required: bool,
    pub(crate) payload: Vec<Payload>,
    /// The tag that is a field of the call, where its opener says which.
    pub(crate) field: Option<FieldName>,
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
    /// The way in the payload to the action's name, and whether the payload is a list of calls.
    pub(crate) fn named_within(&self) -> Option<(&[String], bool)> {
        match &self.called {
            Called::Payload { way, each } => Some((way, *each)),
            _ => None,
        }
    }

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
    /// The member of its payload at the end of this way; or of each entry, where the payload is a list of calls.
    Payload {
        way: Vec<String>,
        each: bool,
    },
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
