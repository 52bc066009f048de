//! Replies: of what is a good one made?
//!
//! In: what a mode says of the blocks of an answer, its own or the pack's.
//! Out: [`Reply`], with the [`Count`] of each block that it names.
//! Never: looks at an answer.

use super::{Block, BlockId, DialectId};
use crate::surface::Role;
use crate::text::Location;

/// The shape of a good reply.
#[derive(Debug, Default)]
pub(crate) struct Reply {
    pub(crate) counts: Vec<Count>,
    /// The blocks of each place in the order.
    pub(crate) order: Vec<Vec<(DialectId, BlockId)>>,
    pub(crate) order_at: Option<Location>,
    /// The most calls, and where that stands.
    pub(crate) calls: Option<(usize, Location)>,
    /// The section whose text is the message.
    pub(crate) shows: Option<String>,
}

impl Reply {
    /// How often a block may stand, where the pack says so.
    pub(crate) fn count_of(&self, dialect: DialectId, block: BlockId) -> Option<&Count> {
        self.counts.iter().find(|count| count.blocks.contains(&(dialect, block)))
    }

    /// The most blocks like this one that may stand, which is counted so.
    pub(crate) fn most(&self, block: &Block, count: Option<&Count>) -> Option<usize> {
        match block.role {
            Role::Call => self.calls.map(|(most, _)| most),
            _ => count?.most,
        }
    }

    /// Where a block stands in the order, if that names it.
    pub(crate) fn rank(&self, dialect: DialectId, block: BlockId) -> Option<usize> {
        self.order.iter().position(|blocks| blocks.contains(&(dialect, block)))
    }
}

/// How often a block may stand in a reply.
#[derive(Debug)]
pub(crate) struct Count {
    pub(crate) name: String,
    pub(crate) blocks: Vec<(DialectId, BlockId)>,
    pub(crate) message: bool,
    pub(crate) required: bool,
    pub(crate) most: Option<usize>,
    /// Of contents: the keys that they may have, with `*`; any if there are none.
    pub(crate) keys: Vec<String>,
    /// Of a section: the contents whose keys it lists.
    pub(crate) lists: Option<String>,
    pub(crate) at: Location,
}
