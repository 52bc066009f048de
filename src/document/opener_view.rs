//! Opener view: what does the opener of a block contain?
//!
//! In: an opener that was read, and the declared source of a name.
//! Out: [`OpenerView`]: the attributes by their names, decoded, and the name of the block.
//! Never: looks beyond the opener.

use super::{Attribute, AttributeKey, Block, decode_entities, unquoted};
use crate::json::{decode_quoted, decode_string};
use crate::program::{self, Dialect, NameSource};
use crate::text::Span;
use std::borrow::Cow;

/// A view of the opener of a block, in a response read by a dialect.
pub(crate) struct OpenerView<'t, 'b> {
    pub(super) text: &'t str,
    pub(super) dialect: &'t Dialect,
    pub(super) family: usize,
    pub(super) name: Span,
    pub(super) attributes: &'b [Attribute],
}

impl<'t, 'b> OpenerView<'t, 'b> {
    /// The view of the opener of this block.
    pub(crate) fn of(text: &'t str, dialect: &'t Dialect, block: &'b Block) -> Self {
        Self { text, dialect, family: block.family(), name: block.name(), attributes: &block.attributes }
    }

    /// The name of the block from its declared source; `None` if that is not in the opener.
    pub(crate) fn called(&self, called: &'t NameSource) -> Option<Cow<'t, str>> {
        match called {
            NameSource::Own => Some(self.name.of(self.text).into()),
            NameSource::Word(word) => Some(word.into()),
            NameSource::Attribute(name) => self.attribute(name).map(|attribute| self.value_of(attribute)),
            NameSource::Around(..) | NameSource::Payload { .. } => None,
        }
    }

    /// The title of a block with this declaration: its key, or its name if it has no key.
    pub(super) fn title(&self, block: &'t program::BlockBinding) -> Option<String> {
        let title = match &block.key {
            Some(key) => self.called(key),
            None => block.sources().find_map(|source| self.called(source)),
        }?;
        (!title.is_empty()).then(|| title.into_owned())
    }

    /// The attribute of this name. If it is repeated, the first counts.
    pub(crate) fn attribute(&self, name: &str) -> Option<&'b Attribute> {
        let says = |key| if self.is_member() { decode_string(key) } else { Cow::Borrowed(key) };
        let same = |one: &&Attribute| self.key_of(one).is_some_and(|key| self.dialect.names.same(&says(key), name));
        self.attributes.iter().find(same)
    }

    /// The key of an attribute, as written.
    pub(crate) fn key_of(&self, attribute: &Attribute) -> Option<&'t str> {
        match attribute.key {
            AttributeKey::Typed(key) => Some(key.span().of(self.text)),
            AttributeKey::Rule(rule) => Some(self.dialect.grammar(self.family)?.rule_name(rule)),
            AttributeKey::Payload => None,
        }
    }

    /// The value of an attribute, without the white space around it.
    pub(crate) fn value_of(&self, attribute: &Attribute) -> Cow<'t, str> {
        match self.whole_value_of(attribute) {
            Cow::Borrowed(value) => value.trim().into(),
            Cow::Owned(value) => value.trim().to_owned().into(),
        }
    }

    /// The value of an attribute, with the white space around it.
    pub(crate) fn whole_value_of(&self, attribute: &Attribute) -> Cow<'t, str> {
        let raw = attribute.value.span().of(self.text);
        match matches!(attribute.key, AttributeKey::Payload) || self.is_member() {
            // A member that is `null` exists, but has no text.
            true if raw == "null" => Cow::Borrowed(""),
            true if raw.starts_with('\'') => decode_quoted(unquoted(raw), '\''),
            true => decode_string(unquoted(raw)),
            false => decode_entities(raw),
        }
    }

    /// Whether the blocks of the dialect are members of an object.
    fn is_member(&self) -> bool {
        self.dialect.outline.is_some()
    }
}
