//! `drop`: can the prompt do without this layer?
//!
//! In: a draft.
//! Out: the draft without its text.
//! Never: leaves a part of the text.

use super::TrimReason;
use crate::prompt::draft::LayerDraft;
use crate::surface::Trimming;

pub(super) fn trim(draft: &mut LayerDraft<'_>, why: TrimReason) {
    draft.give_up();
    draft.note(Trimming::Drop, format!("left out, {why}"));
}
