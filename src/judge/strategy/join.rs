//! `join`: can several blocks be read as one?
//!
//! In: blocks of one name.
//! Out: all of them count, and are reported as one text in the place of the first, with blank lines between them.
//! Never: joins calls, which are not texts, or contents, which have keys of their own.

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
