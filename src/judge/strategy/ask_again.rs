//! `ask-again`: may the model try again?
//!
//! In: anything.
//! Out: no effects, as for `refuse`; the correction text is the prompt side's to write.
//! Never: writes a word for the model.

use crate::judge::{Judgement, Subject};

pub(super) fn apply(judgement: &mut Judgement<'_>, subject: &Subject) -> bool {
    super::refuse::apply(judgement, subject)
}
