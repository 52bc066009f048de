//! Blocks, compiled: what does a block mean, what is it called, and where does it end?
//!
//! In: a checked block of the surface.
//! Out: [`Block`], known by its [`BlockId`], with where its names come from and what closes it.
//! Never: spells an opener or a closer: its family does.

use super::{Degradation, Family, Schema};
use crate::expression::Template;
use crate::surface::{Anchor, Decoding, Ending, Payload, Role, Trim};
use crate::text::Location;
use std::sync::Arc;

/// The number of a block within its dialect.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub(crate) struct BlockId(pub(crate) u16);

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
    /// What belongs in it, in a sentence.
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
    /// The grammar that spells its fields, if the pack says one.
    pub(crate) fields: Option<Arc<Family>>,
    /// What its text is decoded from.
    pub(crate) decode: Option<Decoding>,
    pub(crate) holds: Vec<BlockId>,
    pub(crate) anchor: Anchor,
    pub(crate) close: Vec<Closer>,
    /// The tier of the surest of them: where one has been met, none behind it counts.
    pub(crate) surest: usize,
    /// Where it may end; none where its grammar says so.
    pub(crate) ends: Vec<Vec<Ending>>,
    pub(crate) trim: Vec<Trim>,
    /// What of that is taken off fields, too: fences and rules in them are theirs.
    pub(crate) field_trim: Vec<Trim>,
    pub(crate) degradation: Degradation,
    pub(crate) at: Location,
}

impl Block {
    /// The way in the payload to the action's name, and whether the payload is a list of calls.
    pub(crate) fn named_within(&self) -> Option<(&[String], bool)> {
        match &self.called {
            Called::Payload { way, each } => Some((way, *each)),
            _ => None,
        }
    }

    /// The parameter that a payload is which is read as text.
    pub(crate) fn text_param(&self) -> Option<&str> {
        let named = self.body.as_deref().filter(|_| self.named_within().is_none());
        self.payload.contains(&Payload::Text).then(|| named.unwrap_or("text"))
    }

    /// Whether entities in it stand for characters.
    pub(crate) fn entities(&self) -> bool {
        self.decode == Some(Decoding::Entities)
    }
}

/// A tag that is a field called by what its opener says: `<parameter name="x">`.
#[derive(Debug, Clone)]
pub(crate) struct FieldName {
    pub(crate) tag: String,
    pub(crate) attribute: String,
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
    /// The tier of what names the block itself.
    pub(crate) const FIRST_TIER: usize = 0;
    /// The tier of patterns: of what fits one the last closes the block.
    pub(crate) const LAST_TIER: usize = 2;

    /// How surely it closes the block: one that names it before one that names its kind, and a pattern last.
    pub(crate) fn tier(&self) -> usize {
        match self {
            Closer::Own | Closer::Attribute(_) => Self::FIRST_TIER,
            Closer::Word(_) => 1,
            Closer::Pattern(_) => Self::LAST_TIER,
        }
    }
}
