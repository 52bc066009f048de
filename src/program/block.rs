//! Blocks, compiled: what does a block mean, what is it called, and where does it end?
//!
//! In: a checked block of the surface.
//! Out: [`BlockBinding`] with its [`BlockId`], the sources of its names, and what closes it.
//! Never: knows how an opener or a closer is written: its family does.

use super::{DegradationTable, Family, Schema};
use crate::expression::Template;
use crate::surface::{Anchor, BlockLayout, Decoding, Ending, Payload, Role, Trim};
use crate::text::Location;
use std::sync::Arc;

/// The number of a block within its dialect.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub(crate) struct BlockId(pub(crate) u16);

/// The meaning of one block, and where it ends.
#[derive(Debug)]
pub(crate) struct BlockBinding {
    /// Its name in the pack.
    pub(crate) name: String,
    /// The names that open it.
    pub(crate) names: Vec<String>,
    pub(crate) role: Role,
    /// How its opener should be written.
    pub(crate) spelled: Option<String>,
    /// How the whole block should be written, if the pack says that.
    pub(crate) layout: Option<BlockLayout>,
    /// Whether it opens at the start of the answer, with or without its opener.
    pub(crate) starts: bool,
    /// Whether no prompt asks for it.
    pub(crate) hidden: bool,
    /// What belongs in it, in a sentence.
    pub(crate) about: Option<String>,
    pub(crate) called: NameSource,
    /// Other sources of its name that count in its place if that is absent, in order.
    pub(crate) other_names: Vec<NameSource>,
    pub(crate) key: Option<NameSource>,
    /// If blocks are members of an object: the path to the member that is its body.
    pub(crate) body: Option<String>,
    /// Other members that count in its place if it is absent, in order.
    pub(crate) other_bodies: Vec<String>,
    /// The template that makes its text from its value.
    pub(crate) text: Option<Template>,
    /// The schema of its value, for prompts and exports, and whether the value is required.
    pub(crate) schema: Option<Schema>,
    pub(crate) required: bool,
    pub(crate) payload: Vec<Payload>,
    /// For a call: the tag of a field, and the attribute with the field's name.
    pub(crate) field: Option<FieldName>,
    /// The grammar of its fields, if the pack names one.
    pub(crate) fields: Option<Arc<Family>>,
    /// Whether a value that no schema describes is a JSON literal if it is one.
    pub(crate) literals: bool,
    /// The faults of a JSON payload that are only remarks.
    pub(crate) forgives: Vec<&'static str>,
    /// What its text is decoded from.
    pub(crate) decode: Option<Decoding>,
    pub(crate) holds: Vec<BlockId>,
    pub(crate) anchor: Anchor,
    /// Whether the pack itself says that it counts anywhere.
    pub(crate) inside_words: bool,
    pub(crate) close: Vec<Closer>,
    /// The tier of its surest closers. Once one of these has been found, later closers are ignored.
    pub(crate) surest: usize,
    /// Where it may end; empty if its grammar decides.
    pub(crate) ends: Vec<Vec<Ending>>,
    pub(crate) trim: Vec<Trim>,
    /// The part of `trim` that also applies to fields: not fences and rules, which belong to the field.
    pub(crate) field_trim: Vec<Trim>,
    /// Whether the pack says nothing of trimming: texts of several lines then lose only what is around them.
    pub(crate) trims_lines: bool,
    pub(crate) degradation: DegradationTable,
    pub(crate) at: Location,
}

impl BlockBinding {
    /// The path in the payload to the action's name, and whether the payload is a list of calls.
    pub(crate) fn named_within(&self) -> Option<(&[String], bool)> {
        match &self.called {
            NameSource::Payload { pointer, each } => Some((pointer, *each)),
            _ => None,
        }
    }

    /// The sources of its name, of which the first that is there counts.
    pub(crate) fn sources(&self) -> impl Iterator<Item = &NameSource> {
        std::iter::once(&self.called).chain(&self.other_names)
    }

    /// The attributes, or members, that may say its name.
    pub(crate) fn naming(&self) -> impl Iterator<Item = &str> {
        self.sources().filter_map(|source| match source {
            NameSource::Attribute(name) => Some(name.as_str()),
            _ => None,
        })
    }

    /// The paths in the payload that may lead to its name, each with whether it starts in an entry of a list of calls.
    pub(crate) fn name_pointers(&self) -> impl Iterator<Item = (&[String], bool)> {
        self.sources().filter_map(|source| match source {
            NameSource::Payload { pointer, each } => Some((pointer.as_slice(), *each)),
            _ => None,
        })
    }

    /// Whether its payload may be a list of calls.
    pub(crate) fn lists_calls(&self) -> bool {
        self.name_pointers().any(|(_, each)| each)
    }

    /// Whether its payload may be one call that it names itself.
    pub(crate) fn takes_lone_call(&self) -> bool {
        self.name_pointers().any(|(_, each)| !each)
    }

    /// The members that may be its body, the first that is there counts.
    pub(crate) fn bodies(&self) -> impl Iterator<Item = &str> {
        self.body.iter().chain(&self.other_bodies).map(String::as_str)
    }

    /// The parameter that a payload read as text is.
    pub(crate) fn text_param(&self) -> Option<&str> {
        let named = self.body.as_deref().filter(|_| self.named_within().is_none());
        self.payload.contains(&Payload::Text).then(|| named.unwrap_or("text"))
    }

    /// Whether entities in it are decoded.
    pub(crate) fn entities(&self) -> bool {
        self.decode == Some(Decoding::Entities)
    }
}

/// A tag that is a field named by an attribute: `<parameter name="x">`.
#[derive(Debug, Clone)]
pub(crate) struct FieldName {
    pub(crate) tag: String,
    pub(crate) attribute: String,
}

/// The source of a name.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum NameSource {
    /// The block's own name in the response.
    Own,
    /// An attribute of the opener.
    Attribute(String),
    /// An attribute of the wrapper around it: the wrapper's name, then the attribute's.
    Around(String, String),
    /// The member at the end of a path in the payload, or in each entry if the payload is a list of calls.
    Payload {
        pointer: Vec<String>,
        each: bool,
    },
    Word(String),
}

/// A name that closes a block.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Closer {
    Own,
    /// The value of an attribute of the opener.
    Attribute(String),
    Word(String),
    /// A pattern with `*`. It closes the block only if no other name does.
    Pattern(String),
}

impl Closer {
    /// The tier of names that identify the block itself.
    pub(crate) const FIRST_TIER: usize = 0;
    /// The tier of patterns: the last closer that matches one closes the block.
    pub(crate) const LAST_TIER: usize = 2;

    /// How specific the closer is, lowest first: names of this very block, then words for its kind, then patterns.
    pub(crate) fn tier(&self) -> usize {
        match self {
            Closer::Own | Closer::Attribute(_) => Self::FIRST_TIER,
            Closer::Word(_) => 1,
            Closer::Pattern(_) => Self::LAST_TIER,
        }
    }
}
