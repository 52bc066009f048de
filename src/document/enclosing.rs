//! Enclosing: is one tag around a whole body?
//!
//! In: a body, and the grammars of the dialect that reads it.
//! Out: the text inside the tag, and the tag's opener.
//! Never: removes a tag that opens a block of the dialect, or one next to other text.
//!
//! Models copy the tags in which a prompt contained a file, and write them around the file that they return.

use super::payload::{TagSource, field_family};
use super::{Mask, ReadContext};
use crate::program::{BlockBinding, Dialect, Family, Limits};
use crate::surface::{Payload, Role, Trim};
use crate::text::Span;
use std::cell::Cell;

/// A search for the tag around the bodies of a block.
pub(crate) struct Enclosing<'e> {
    context: &'e ReadContext<'e>,
    family: usize,
    masks: &'e [Mask],
    limits: &'e Limits,
    /// The opener of the tag that was removed last.
    opener: Cell<Option<Span>>,
}

impl<'e> Enclosing<'e> {
    pub(super) fn new(context: &'e ReadContext<'e>, family: usize, masks: &'e [Mask], limits: &'e Limits) -> Self {
        Self { context, family, masks, limits, opener: Cell::new(None) }
    }

    /// Whether a tag around the body of a block is removed. In a call, tags are fields.
    pub(crate) fn counts(block: &BlockBinding) -> bool {
        let has_fields = || block.role == Role::Call && block.payload.contains(&Payload::Tags);
        block.trim.contains(&Trim::EnclosingTag) && !has_fields()
    }

    /// Whether a body that starts like `text` may turn out to be enclosed in a tag.
    pub(super) fn may_begin(text: &str, dialect: &Dialect, family: usize) -> bool {
        let text = text.trim_start();
        let may = |family: &Family| family.close.is_some() && family.may_open(text.as_bytes()) != Some(false);
        text.is_empty() || field_family(dialect, family).is_some_and(may) || dialect.families.iter().any(may)
    }

    /// The opener of the tag that was removed, if there was one.
    pub(super) fn opener(&self) -> Option<Span> {
        self.opener.get()
    }

    /// The text inside the tag around all of `span`.
    pub(super) fn inside(&self, span: Span) -> Option<Span> {
        let dialect = self.context.dialect;
        let own = field_family(dialect, self.family).into_iter();
        let (opener, closer) = own.chain(dialect.families.iter()).find_map(|family| self.edges(span, family))?;
        self.opener.set(Some(opener));
        Some(Span::new(opener.end, closer.start))
    }

    /// The opener and the closer of the tag, as this grammar reads them.
    fn edges(&self, span: Span, family: &Family) -> Option<(Span, Span)> {
        let ReadContext { text, dialect, .. } = *self.context;
        let body = span.trimmed(text);
        family.close?;
        if family.may_open(body.of(text).as_bytes()) == Some(false) {
            return None;
        }
        let tags = TagSource { text, body, masks: self.masks, dialect, family, limits: self.limits }.tags(&[]);
        let opener = tags.first().filter(|tag| tag.span().start == body.start)?;
        let closer = tags.get(opener.closer()?).filter(|tag| tag.span().end == body.end)?;
        let opens = (0..dialect.families.len())
            .any(|number| dialect.names.find(opener.name().of(text), Some(number)).is_some());
        (!opens).then(|| (opener.span(), closer.span()))
    }
}
