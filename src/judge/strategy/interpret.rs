//! `interpret`: which value is in a text that has more around it?
//!
//! In: a text where the schema asks for a number, a boolean or a word of a closed list.
//! Out: the only one in it, without separators, units and words around it.
//! Never: guesses between two.

use crate::judge::converting;
use crate::judge::mending::{Mend, MisfitPart};

pub(super) fn mend(part: &MisfitPart<'_>) -> Option<Mend> {
    Some((part.pointer.to_vec(), Some(converting::interpreted(part.value?, part.types)?)))
}
