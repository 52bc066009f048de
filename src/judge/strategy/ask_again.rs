//! `ask-again`: may the model try again?
//!
//! In: anything, while the model has not been asked about this answer as often as the pack says.
//! Out: no effects, as for `refuse`, and a mark; the correction text is the prompt side's to write.
//! Never: writes a word for the model.

use crate::judge::{Judgement, Subject};

pub(super) fn apply(judgement: &mut Judgement<'_>, subject: &Subject) -> bool {
    if !judgement.may_ask_again {
        return false;
    }
    judgement.asks_again = true;
    super::refuse::apply(judgement, subject)
}
