//! Dialects, compiled: which families open which blocks, and what is the text around them?
//!
//! In: a checked dialect of the surface and its grammars.
//! Out: [`Dialect`] with its families of rules and its blocks by number.
//! Never: reads a response.

use super::action::Action;
use super::block::{BlockBinding, BlockId, Closer, NameSource};
use super::family::Family;
use super::names::BlockNames;
use super::object_shape::ObjectShape;
use super::params::ParamNames;
use super::prefilter::{Needles, Prefilter};
use super::structure::Structure;
use crate::grammar::Grammar;
use crate::surface::{Between, Ending, Role};
use crate::text::{Location, glob};
use memchr::memmem;
use std::sync::Arc;

/// The index of a dialect in its program.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub(crate) struct DialectId(pub(crate) usize);

impl DialectId {
    /// The dialect with this id, from the dialects of its program.
    pub(crate) fn of(self, dialects: &[Dialect]) -> Option<&Dialect> {
        dialects.get(self.0)
    }
}

/// The masks that a dialect has.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub(crate) struct MaskKinds {
    pub(crate) fences: bool,
    pub(crate) spans: bool,
    pub(crate) comments: bool,
    pub(crate) cdata: bool,
    /// Quotation marks around a block.
    pub(crate) marks: bool,
    /// Whether a fence around the whole answer is removed.
    pub(crate) wrapper: bool,
    /// Whether a fence may be the opener of a block.
    pub(crate) openers: bool,
}

impl MaskKinds {
    /// What a mask may start with, in a dialect with these openers.
    pub(crate) fn starts(self, starts: &Prefilter) -> Needles {
        let marked = if self.marks { starts.openers.as_slice() } else { &[] };
        let quotes =
            [(self.fences || self.spans, "`"), (self.fences || self.spans, "~"), (self.comments || self.cdata, "<!")];
        let quotes = quotes.into_iter().filter(|(has, _)| *has).map(|(_, quote)| quote.as_bytes().to_vec());
        Needles::new(&quotes.chain(marked.iter().cloned()).collect::<Vec<_>>())
    }
}

/// One way to write a response. Clones share the grammars and blocks.
#[derive(Debug, Clone)]
pub(crate) struct Dialect {
    pub(crate) id: DialectId,
    pub(crate) name: String,
    pub(crate) families: Arc<Vec<Family>>,
    /// If answers are one object: how the object is read. There are then no families.
    pub(crate) outline: Option<Arc<ObjectShape>>,
    pub(crate) blocks: Arc<Vec<BlockBinding>>,
    pub(crate) names: Arc<BlockNames>,
    /// If openers and closers count only at the start of a line: how such a line is recognised.
    pub(crate) structure: Option<Arc<Structure>>,
    /// What each byte can start.
    pub(crate) starts: Prefilter,
    pub(crate) masks: MaskKinds,
    /// What a mask may start with. For quotation marks this is what an opener may start with, directly behind the mark.
    pub(crate) mask_starts: Needles,
    /// Whether any of its blocks is a wrapper.
    pub(crate) wraps: bool,
    /// Whether it matters for any block where on a line something is.
    pub(crate) by_line: bool,
    pub(crate) text: Outside,
    /// What may be around and between blocks without counting as text.
    pub(crate) between: Vec<Between>,
    /// Names of blocks, any of which claims an answer; if empty, any block does.
    pub(crate) needs: Vec<String>,
    /// The names that may be keys in the payloads of its calls.
    pub(crate) params: Arc<ParamNames>,
    /// What the closers of its blocks begin with, each once. To make a searcher takes longer than to search a short text.
    pub(crate) closer_prefixes: Arc<Vec<memmem::Finder<'static>>>,
    /// The dialect that differs only in `needs`.
    pub(crate) like: Option<DialectId>,
    /// For a dialect that reads only what no other can: the one that it is like but for what is quoted.
    pub(crate) fallback: Option<DialectId>,
    pub(crate) at: Location,
}

/// What text outside every block is.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Outside {
    Stray,
    Message,
    Section(String),
}

impl Dialect {
    /// Whether a block opened by this name claims an answer for the dialect.
    pub(crate) fn is_claimed_by(&self, name: &str) -> bool {
        self.needs.is_empty() || {
            let name = self.names.fold(name);
            self.needs.iter().any(|need| glob(need, &name))
        }
    }

    /// The wrapper that a closer of this name leaves: one that has the name, unless its `close` says otherwise, or one
    /// that has it in its `close`. A name that opens another block is a closer of that block.
    pub(crate) fn wrapper_closed_by(&self, name: &str, family: usize) -> Option<BlockId> {
        if !self.wraps {
            return None;
        }
        let own = |block: &BlockBinding| block.close.contains(&Closer::Own);
        if let Some(id) = self.names.find(name, Some(family)) {
            return self.block(id).is_some_and(|block| block.role == Role::Wrapper && own(block)).then_some(id);
        }
        let closes = |closer: &Closer| match closer {
            Closer::Word(word) => self.names.same(word, name),
            Closer::Pattern(pattern) => self.names.matches_name(pattern, name),
            Closer::Own | Closer::Attribute(_) => false,
        };
        let mut wrappers = self.blocks_by_id().filter(|(_, block)| block.role == Role::Wrapper);
        wrappers.find(|(_, block)| block.close.iter().any(closes)).map(|(id, _)| id)
    }

    /// Where a block opened by a family may end.
    pub(crate) fn ladder<'d>(&'d self, block: &'d BlockBinding, family: usize) -> &'d [Vec<Ending>] {
        match self.families.get(family) {
            Some(family) => family.ladder(block),
            None => &block.ends,
        }
    }

    /// Whether a block can be a call of this action, by its name or another spelling of that.
    pub(crate) fn may_call(&self, block: &BlockBinding, name: &str, action: &Action) -> bool {
        action.spellings(name).any(|name| self.may_be_called(block, name))
    }

    /// Whether a block can be a call of this name: the block's name allows it, and its grammar reads the name.
    pub(crate) fn may_be_called(&self, block: &BlockBinding, action: &str) -> bool {
        // `name[]` is each of a list.
        fn plain(name: &str) -> &str {
            name.trim_end_matches("[]")
        }
        block.role == Role::Call
            && match &block.called {
                // What opens a block is compared as the dialect says, and names the action as it is written.
                NameSource::Own => {
                    let takes = |name: &String| self.names.matches_name(&self.names.fold(plain(name)), action);
                    block.names.iter().any(takes) && self.spells(action)
                }
                NameSource::Word(word) => plain(word) == action,
                NameSource::Attribute(_) | NameSource::Around(..) | NameSource::Payload { .. } => true,
            }
    }

    /// The name of an action in the form of those that a block can be a call of: `ACTION_TIDY_UP` for `tidy-up`, where
    /// the block's names are `ACTION_*`. None if its names have no form, or its grammar does not read such a name.
    pub(crate) fn called_like(&self, block: &BlockBinding, action: &str) -> Option<String> {
        let wild = |c: char| matches!(c, '*' | '?');
        block.names.iter().filter(|_| !block.hidden).find_map(|pattern| {
            let (start, end) = (pattern.split(wild).next()?, pattern.rsplit(wild).next()?);
            if !pattern.contains(wild) || (start.is_empty() && end.is_empty()) {
                return None;
            }
            let loud = !format!("{start}{end}").contains(|c: char| c.is_lowercase());
            let word = if loud { action.to_uppercase() } else { action.to_owned() };
            let words = [word.replace('-', "_"), word].map(|word| format!("{start}{word}{end}"));
            words.into_iter().find(|word| self.may_be_called(block, word))
        })
    }

    /// Whether some grammar of the dialect reads this as the name of a block, in any case that counts.
    fn spells(&self, name: &str) -> bool {
        self.outline.is_some() || self.reads_in_some_case(name, |family, name| family.grammar.reads(family.name, name))
    }

    /// The names of a block that no grammar of the dialect can read.
    pub(crate) fn unread_names<'b>(&self, block: &'b BlockBinding) -> impl Iterator<Item = &'b str> {
        let names = block.names.iter().filter(|name| self.outline.is_none() && !name.contains(['*', '?']));
        let reads =
            |name: &str| self.reads_in_some_case(name, |family, name| family.grammar.may_read(family.name, name));
        names.map(String::as_str).filter(move |name| !reads(name))
    }

    fn reads_in_some_case(&self, name: &str, reads: impl Fn(&Family, &str) -> bool) -> bool {
        let cases = [name.to_owned(), name.to_ascii_lowercase(), name.to_ascii_uppercase()];
        let written = if self.names.in_any_case() { cases.as_slice() } else { cases.get(..1).unwrap_or_default() };
        self.families.iter().any(|family| written.iter().any(|name| reads(family, name)))
    }

    /// Its blocks, each with its id.
    pub(crate) fn blocks_by_id(&self) -> impl Iterator<Item = (BlockId, &BlockBinding)> {
        (0..).map(BlockId).zip(self.blocks.iter())
    }

    /// The block with this id.
    pub(crate) fn block(&self, id: BlockId) -> Option<&BlockBinding> {
        self.blocks.get(usize::from(id.0))
    }

    /// The grammar of a block's family.
    pub(crate) fn grammar(&self, family: usize) -> Option<&Grammar> {
        match &self.outline {
            Some(outline) => Some(&outline.grammar),
            None => self.families.get(family).map(|family| &*family.grammar),
        }
    }
}
