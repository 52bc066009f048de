//! Replies: which blocks must, and may, a reply contain?
//!
//! In: the limits on the blocks of an answer, of a mode or of the pack.
//! Out: [`ReplyShape`], with the [`Count`] of each block that it names.
//! Never: reads an answer.

use super::{BlockBinding, BlockId, DialectId};
use crate::expression::Template;
use crate::surface::{Hold, Role};
use crate::text::Location;

/// The shape of a valid reply.
#[derive(Debug, Default)]
pub(crate) struct ReplyShape {
    pub(crate) counts: Vec<Count>,
    /// The blocks at each position of the order.
    pub(crate) order: Vec<Vec<(DialectId, BlockId)>>,
    pub(crate) order_at: Option<Location>,
    /// The least number of accepted calls, and where that is declared.
    pub(crate) least_calls: Option<(usize, Location)>,
    /// The most calls, and where that is declared.
    pub(crate) calls: Option<(usize, Location)>,
    /// Where the pack declares that nothing may follow the last call, if it does.
    pub(crate) calls_last: Option<Location>,
    /// The section whose text becomes the message.
    pub(crate) shows: Option<String>,
    /// The text between the parts of the message, if not a blank line.
    pub(crate) separator: Option<String>,
    /// What a stream holds back, if the pack sets it, and where.
    pub(crate) hold: Option<(Hold, Location)>,
    /// The message of an answer that is refused.
    pub(crate) refused: Option<Template>,
}

impl ReplyShape {
    /// How often a block may occur, if the pack limits it.
    pub(crate) fn count_of(&self, dialect: DialectId, block: BlockId) -> Option<&Count> {
        self.counts.iter().find(|count| count.blocks.contains(&(dialect, block)))
    }

    /// The most blocks of this kind, given its [`Count`].
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
