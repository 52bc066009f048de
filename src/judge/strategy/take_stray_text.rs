//! `take-stray-text`: is the text outside all blocks the message?
//!
//! In: a reply without a message.
//! Out: its text outside all blocks, as the message.
//! Never: takes text that stands inside a block.

use crate::judge::{Judgement, Subject};

pub(super) fn apply(judgement: &mut Judgement<'_>, subject: &Subject) -> bool {
    match subject {
        Subject::Reply => {
            judgement.texts.takes_stray = true;
            true
        }
        _ => false,
    }
}
