//! Dialects, compiled: which families open which blocks, and what is the text around them?
//!
//! In: a checked dialect of the surface and its grammars.
//! Out: [`Dialect`] with its families of rules and its blocks by number.
//! Never: reads a response.

use super::action::Action;
use super::block::{BlockBinding, BlockId, Closer, NameSource};
use super::family::{CloserStarts, Family};
use super::names::BlockNames;
use super::object_shape::ObjectShape;
use super::params::ParamNames;
use super::prefilter::{Needles, Prefilter};
use super::structure::Structure;
use crate::grammar::Grammar;
use crate::surface::{Between, Ending, Role};
use crate::text::{Location, Slice, glob};
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

/// The quoted regions in which a dialect takes markup for plain text.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub(crate) struct MaskKinds {
    pub(crate) fences: bool,
    pub(crate) spans: bool,
    /// The lines of block quotes.
    pub(crate) block_quotes: bool,
    pub(crate) comments: bool,
    pub(crate) cdata: bool,
    /// Quotation marks around a block.
    pub(crate) marks: bool,
    /// Whether a code fence around the whole answer is removed.
    pub(crate) around: bool,
    /// Whether a code fence may be the opener of a block.
    pub(crate) openers: bool,
}

impl MaskKinds {
    /// The texts that a quoted region other than a block quote may start with, in a dialect with these openers.
    pub(crate) fn starts(self, starts: &Prefilter) -> Needles {
        let marked = if self.marks { starts.openers.as_slice() } else { &[] };
        let quotes =
            [(self.fences || self.spans, "`"), (self.fences || self.spans, "~"), (self.comments || self.cdata, "<!")];
        let quotes = quotes.into_iter().filter(|(has, _)| *has).map(|(_, quote)| quote.as_bytes().to_vec());
        Needles::new(&quotes.chain(marked.iter().cloned()).collect::<Vec<_>>())
    }
}

/// One format of a response. Clones share the grammars and blocks.
#[derive(Debug, Clone)]
pub(crate) struct Dialect {
    pub(crate) id: DialectId,
    pub(crate) name: String,
    pub(crate) families: Arc<Vec<Family>>,
    /// If answers are one object: how the object is read. The families then read only what comes before the object.
    pub(crate) outline: Option<Arc<ObjectShape>>,
    pub(crate) blocks: Arc<Vec<BlockBinding>>,
    pub(crate) names: Arc<BlockNames>,
    /// If openers and closers count only at the start of a line: how such a line is recognised.
    pub(crate) structure: Option<Arc<Structure>>,
    /// What each byte can start.
    pub(crate) starts: Prefilter,
    pub(crate) masks: MaskKinds,
    /// The texts that a quoted region may start with. A quotation mark is found by the opener that directly follows it.
    pub(crate) mask_starts: Needles,
    /// Whether any of its blocks is a wrapper.
    pub(crate) wraps: bool,
    /// Whether the position on the line matters for any of its blocks.
    pub(crate) by_line: bool,
    pub(crate) text: TextRole,
    /// What may occur around and between blocks without counting as text.
    pub(crate) between: Vec<Between>,
    /// Blocks that let the dialect claim an answer; if empty, any block does.
    pub(crate) needs: Vec<String>,
    /// The names that may be keys in the payloads of the dialect's calls.
    pub(crate) params: Arc<ParamNames>,
    /// What the closers of its blocks start with: searched for to find a closer of reasoning without an opener.
    pub(crate) closer_starts: Option<Arc<CloserStarts>>,
    /// The dialect from which this one differs only in `needs`.
    pub(crate) like: Option<DialectId>,
    /// For a fallback, which reads only answers that no other dialect can: the dialect that it equals except for what
    /// counts as quoted.
    pub(crate) fallback: Option<DialectId>,
    pub(crate) at: Location,
}

/// What the text outside every block counts as.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum TextRole {
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

    /// The wrapper that a closer of this name ends: one that has the name, unless its `close` lists others, or one that
    /// has the name in its `close`. A name that opens another block is a closer of that block.
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

    /// Whether a block can be a call of this action, by the action's name or another spelling of it.
    pub(crate) fn may_call(&self, block: &BlockBinding, name: &str, action: &Action) -> bool {
        action.spellings(name).any(|name| self.may_be_called(block, name))
    }

    /// Whether a block can be a call of this name: the block's names allow it, and its grammar reads it.
    pub(crate) fn may_be_called(&self, block: &BlockBinding, action: &str) -> bool {
        // `name[]` means each entry of a list.
        fn plain(name: &str) -> &str {
            name.trim_end_matches("[]")
        }
        block.role == Role::Call
            && match &block.called {
                // Names of openers are compared by the dialect's rules, and the action is the name as written.
                NameSource::Own => {
                    let takes = |name: &String| self.names.matches_name(&self.names.fold(plain(name)), action);
                    block.names.iter().any(takes) && self.spells(action)
                }
                NameSource::Word(word) => plain(word) == action,
                NameSource::Attribute(_) | NameSource::Around(..) | NameSource::Payload { .. } => true,
            }
    }

    /// The action's name in the form that a block's names require: `ACTION_TIDY_UP` for `tidy-up`, where the block's
    /// names are `ACTION_*`. None if the names of the block have no form, if they have several, of which each would mean
    /// something else (`read_*`, `write_*`), or if its grammar does not read such a name.
    pub(crate) fn called_like(&self, block: &BlockBinding, action: &str) -> Option<String> {
        let wild = |c: char| matches!(c, '*' | '?');
        if block.names.iter().filter(|name| name.contains(wild)).count() > 1 {
            return None;
        }
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

    /// Whether some grammar of the dialect reads this as the name of a block, in any case that is equal to it.
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
        let written = if self.names.in_any_case() { cases.as_slice() } else { cases.slice(..1) };
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

    /// The grammar of a block's family, or of the object.
    pub(crate) fn grammar(&self, family: usize) -> Option<&Grammar> {
        match &self.outline {
            Some(outline) => Some(&outline.grammar),
            None => self.families.get(family).map(|family| &*family.grammar),
        }
    }
}
