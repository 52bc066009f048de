//! `coerce`: what is the value in the declared type?
//!
//! In: a value that does not fit its schema.
//! Out: the same value converted; nothing where `null` says that there is none.
//! Never: loses any information in a value.

use crate::judge::mending::{Mend, MisfitPart};
use crate::judge::{Judgement, converting};

pub(super) fn mend(judgement: &Judgement<'_>, part: &MisfitPart<'_>) -> Option<Mend> {
    let value = part.value?;
    if value.is_null() && part.types.wants_value {
        return Some((part.pointer.to_vec(), None));
    }
    let converted = judgement.reading_quoted_json(|parse| converting::coerced(value, part.types, parse));
    Some((part.pointer.to_vec(), Some(converted)))
}
