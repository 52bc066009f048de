//! `take-stray-text`: is the text outside all blocks the message?
//!
//! In: a reply without a message, or without any block.
//! Out: its text outside all blocks as the message; if it has none, the next strategy is tried.
//! Never: takes text from inside a block.

use crate::judge::{Judgement, OutsideFate, Subject};

pub(super) fn apply(judgement: &mut Judgement<'_>, subject: &Subject) -> bool {
    match subject {
        Subject::Reply | Subject::Unread if judgement.has_stray_text() => {
            judgement.texts.strays = OutsideFate::Message;
            true
        }
        _ => false,
    }
}
