//! `interpret`: which value does a text with other words around it mean?
//!
//! In: a text where the schema requires a number, a boolean or a word of a closed list.
//! Out: the only such value in the text, without the separators, units and words around it.
//! Never: chooses between several values.

use crate::judge::converting;
use crate::judge::invalid_values::{MisfitPart, Replacement};

pub(super) fn replace(part: &MisfitPart<'_>) -> Option<Replacement> {
    Some((part.pointer.to_vec(), Some(converting::interpreted(part.value?, part.types)?)))
}
