//! `default`: which value does the schema declare for this case?
//!
//! In: a value that is not valid against its schema, or is absent.
//! Out: the schema's `default` for the value, or for the nearest value around it that has one.
//! Never: invents a value.

use crate::judge::invalid_values::{MisfitPart, Replacement};

pub(super) fn replace(part: &MisfitPart<'_>) -> Option<Replacement> {
    let (pointer, default) = part.schema.default_at(part.pointer)?;
    Some((pointer.to_vec(), Some(default.clone())))
}
