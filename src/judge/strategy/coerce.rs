//! `coerce`: what is the value in the declared type?
//!
//! In: a value that is not valid against its schema.
//! Out: the value converted without loss; it is left out if `null`, or its word, stands for a missing value.
//! Never: loses any information in a value.

use crate::judge::invalid_values::{MisfitPart, Replacement};
use crate::judge::{Judgement, converting};

pub(super) fn replace(judgement: &Judgement<'_>, part: &MisfitPart<'_>) -> Option<Replacement> {
    let value = part.value?;
    if converting::means_absent(value, part.types) {
        return Some((part.pointer.to_vec(), None));
    }
    let converted = judgement.reading_quoted_json(|parse| converting::coerced(value, part.types, parse));
    Some((part.pointer.to_vec(), Some(converted)))
}
