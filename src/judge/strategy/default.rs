//! `default`: which value does the schema declare for this case?
//!
//! In: a value that does not fit its schema, or is absent.
//! Out: the schema's `default` for it, or for the nearest value around it that has one.
//! Never: invents a value.

use crate::judge::mending::{Change, Part};

pub(super) fn mend(part: &Part<'_>) -> Option<Change> {
    let (way, default) = part.schema.default_at(part.way)?;
    Some((way.to_vec(), Some(default.clone())))
}
