//! Replies: what does a good one consist of?
//!
//! In: what a mode says of the blocks of an answer, its own or the pack's.
//! Out: [`ReplyShape`], with the [`Count`] of each block that it names.
//! Never: looks at an answer.

use super::{BlockBinding, BlockId, DialectId};
use crate::expression::Template;
use crate::surface::{Hold, Role};
use crate::text::Location;

/// The shape of a good reply.
#[derive(Debug, Default)]
pub(crate) struct ReplyShape {
    pub(crate) counts: Vec<Count>,
    /// The blocks at each position of the order.
    pub(crate) order: Vec<Vec<(DialectId, BlockId)>>,
    pub(crate) order_at: Option<Location>,
    /// The least calls that must count, and where that is declared.
    pub(crate) least_calls: Option<(usize, Location)>,
    /// The most calls, and where that is declared.
    pub(crate) calls: Option<(usize, Location)>,
    /// If nothing may be behind the last call: where that is declared.
    pub(crate) calls_last: Option<Location>,
    /// The section whose text is the message.
    pub(crate) shows: Option<String>,
    /// What is between the parts of the message, if not a blank line.
    pub(crate) separator: Option<String>,
    /// What a stream holds back, if the pack says so, and where.
    pub(crate) hold: Option<(Hold, Location)>,
    /// The message of an answer that is refused.
    pub(crate) refused: Option<Template>,
}

impl ReplyShape {
    /// How often a block may occur, if the pack says so.
    pub(crate) fn count_of(&self, dialect: DialectId, block: BlockId) -> Option<&Count> {
        self.counts.iter().find(|count| count.blocks.contains(&(dialect, block)))
    }

    /// The most blocks of this kind, given its count.
    pub(crate) fn most(&self, block: &BlockBinding, count: Option<&Count>) -> Option<usize> {
        match block.role {
            Role::Call => self.calls.map(|(most, _)| most),
            _ => count?.most,
        }
    }

    /// The position of a block in the order, if it has one.
    pub(crate) fn rank(&self, dialect: DialectId, block: BlockId) -> Option<usize> {
        self.order.iter().position(|blocks| blocks.contains(&(dialect, block)))
    }
}

/// How often a block may occur in a reply.
#[derive(Debug)]
pub(crate) struct Count {
    pub(crate) name: String,
    pub(crate) blocks: Vec<(DialectId, BlockId)>,
    pub(crate) message: bool,
    pub(crate) required: bool,
    pub(crate) most: Option<usize>,
    /// For contents: the keys that they may have, with `*`; any if empty.
    pub(crate) keys: Vec<String>,
    /// For a section: the contents whose keys it lists.
    pub(crate) lists: Option<String>,
    pub(crate) at: Location,
}
