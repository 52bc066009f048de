//! `interpret`: which value does a text with other words around it mean?
//!
//! In: a text where the schema requires a number, a boolean or a word of a closed list.
//! Out: the only such value in the text, without the separators, units and words around it.
//! Never: chooses between several values.

use crate::judge::converting;
use crate::judge::mending::{Mend, MisfitPart};

pub(super) fn mend(part: &MisfitPart<'_>) -> Option<Mend> {
    Some((part.pointer.to_vec(), Some(converting::interpreted(part.value?, part.types)?)))
}
