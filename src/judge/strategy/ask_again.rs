//! `ask-again`: may the model try again?
//!
//! In: anything, as long as the model has not been asked about this answer as often as the pack allows.
//! Out: no effects, as for `refuse`; [`prompt`](crate::prompt) writes the correction text.
//! Never: writes the correction text itself.

use crate::judge::{Judgement, Subject};

pub(super) fn apply(judgement: &Judgement<'_>, _: &Subject) -> bool {
    judgement.may_ask_again
}
