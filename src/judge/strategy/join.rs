//! `join`: do several read as one?
//!
//! In: blocks of one name.
//! Out: all of them stand, and are told as one text at the first, with a blank line between two of them.
//! Never: joins what asks for something: calls are no text, and contents stand under keys of their own.

use crate::judge::{Judgement, Subject};
use crate::surface::Role;

pub(super) fn apply(judgement: &mut Judgement<'_>, subject: &Subject) -> bool {
    let Subject::Blocks(blocks, _) = subject else { return false };
    let joins = |role: Role| matches!(role, Role::Message | Role::Thinking | Role::Section);
    let applies = blocks.iter().all(|block| judgement.block(*block).is_some_and(|(_, bound)| joins(bound.role)));
    if applies {
        judgement.joined.push(blocks.clone());
    }
    applies
}
