//! `ask-again`: may the model try again?
//!
//! In: anything, as long as the model has not been asked about this answer as often as the pack allows.
//! Out: no effects, as for `refuse`, and a mark to ask again; [`prompt`](crate::prompt) writes the correction text.
//! Never: writes a word for the model.

use crate::judge::{Judgement, Subject};

pub(super) fn apply(judgement: &mut Judgement<'_>, subject: &Subject) -> bool {
    if !judgement.may_ask_again {
        return false;
    }
    judgement.asks_again = true;
    super::refuse::apply(judgement, subject)
}
