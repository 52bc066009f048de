//! Blocks, compiled: what does a block mean, where does its name come from, and where does it end?
//!
//! In: a checked block of the surface.
//! Out: [`BlockBinding`] with its [`BlockId`], the sources of its name, and what closes it.
//! Never: knows how an opener or a closer is written: its family does.

use super::{DegradationTable, Family, Mode, Schema};
use crate::expression::Template;
use crate::surface::{Anchor, BlockLayout, Decoding, Ending, Payload, Role, Trim};
use crate::text::{Location, glob};
use std::sync::Arc;

/// The number of a block within its dialect.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub(crate) struct BlockId(pub(crate) u16);

/// The meaning of one block, and where it ends.
#[derive(Debug)]
pub(crate) struct BlockBinding {
    /// The name of the block in the pack.
    pub(crate) name: String,
    /// The names in a response that open the block.
    pub(crate) names: Vec<String>,
    pub(crate) role: Role,
    /// How prompts write its opener.
    pub(crate) spelled: Option<String>,
    /// How prompts write the whole block, if the pack declares that.
    pub(crate) layout: Option<BlockLayout>,
    /// Whether the block opens at the start of the answer, with or without its opener.
    pub(crate) starts: bool,
    /// Whether prompts leave the block out.
    pub(crate) hidden: bool,
    /// What belongs in the block, in one sentence.
    pub(crate) about: Option<String>,
    pub(crate) called: NameSource,
    /// Other sources of its name, in order, for when the first one is absent.
    pub(crate) other_names: Vec<NameSource>,
    pub(crate) key: Option<NameSource>,
    /// If blocks are members of an object: the path to the member that is the body.
    pub(crate) body: Option<String>,
    /// Other members that may be the body, in order, for when the first one is absent.
    pub(crate) other_bodies: Vec<String>,
    /// The template that renders its value as text.
    pub(crate) text: Option<Template>,
    /// The schema of its value, for prompts and exports, and whether the value is required.
    pub(crate) schema: Option<Schema>,
    pub(crate) required: bool,
    pub(crate) payload: Vec<Payload>,
    /// For a call: the tag of a field, and the attribute with the field's name.
    pub(crate) field: Option<FieldName>,
    /// The grammar of its fields, if the pack names one.
    pub(crate) fields: Option<Arc<Family>>,
    /// Whether a value without a schema is read as a JSON literal where it is one.
    pub(crate) literals: bool,
    /// The syntax faults of a JSON payload that are reported as remarks only.
    pub(crate) forgives: Vec<&'static str>,
    /// The encoding that its text is decoded from.
    pub(crate) decode: Option<Decoding>,
    pub(crate) holds: Vec<BlockId>,
    pub(crate) anchor: Anchor,
    /// Whether the pack, and not a default, declares that it counts anywhere: then even in the middle of a word.
    pub(crate) inside_words: bool,
    pub(crate) close: Vec<Closer>,
    /// The lowest tier of its closers. After a closer of this tier, later closers are ignored.
    pub(crate) surest: usize,
    /// The places where the block may end, in order of preference; empty if its grammar decides.
    pub(crate) ends: Vec<Vec<Ending>>,
    pub(crate) trim: Vec<Trim>,
    /// The part of `trim` that also applies to fields. Code fences and horizontal rules are left out: they are part of
    /// a field.
    pub(crate) field_trim: Vec<Trim>,
    /// Whether the pack does not set `trim`: texts of several lines then lose only the white space around them.
    pub(crate) trims_lines: bool,
    pub(crate) degradation: DegradationTable,
    pub(crate) at: Location,
}

impl BlockBinding {
    /// Whether a response may give the block this name.
    pub(crate) fn may_be_named(&self, name: &str) -> bool {
        match &self.called {
            NameSource::Own => glob(&self.name, name),
            NameSource::Word(word) => word == name,
            NameSource::Attribute(_) | NameSource::Around(..) | NameSource::Payload { .. } => true,
        }
    }

    /// The role as which a stream emits the text of the block: the section that the mode displays (`shows`) is the
    /// message.
    pub(crate) fn streamed_role(&self, mode: &Mode) -> Role {
        let name = match &self.called {
            NameSource::Own => Some(&self.name),
            NameSource::Word(word) => Some(word),
            NameSource::Attribute(_) | NameSource::Around(..) | NameSource::Payload { .. } => None,
        };
        let is_displayed =
            self.role == Role::Section && mode.reply.shows.is_some() && mode.reply.shows.as_ref() == name;
        if is_displayed { Role::Message } else { self.role }
    }

    /// The path in the payload to the action's name, and whether the payload is a list of calls.
    pub(crate) fn named_within(&self) -> Option<(&[String], bool)> {
        match &self.called {
            NameSource::Payload { pointer, each } => Some((pointer, *each)),
            _ => None,
        }
    }

    /// The sources of its name, in order; the first that is present counts.
    pub(crate) fn sources(&self) -> impl Iterator<Item = &NameSource> {
        std::iter::once(&self.called).chain(&self.other_names)
    }

    /// The attributes, or members, that may contain its name.
    pub(crate) fn naming(&self) -> impl Iterator<Item = &str> {
        self.sources().filter_map(|source| match source {
            NameSource::Attribute(name) => Some(name.as_str()),
            _ => None,
        })
    }

    /// The paths in the payload that may end at its name, each with whether the path starts in an entry of a list of
    /// calls.
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

    /// Whether its payload may be a single call that contains its own name.
    pub(crate) fn takes_lone_call(&self) -> bool {
        self.name_pointers().any(|(_, each)| !each)
    }

    /// The members that may be its body, in order; the first that is present counts.
    pub(crate) fn bodies(&self) -> impl Iterator<Item = &str> {
        self.body.iter().chain(&self.other_bodies).map(String::as_str)
    }

    /// The name of the parameter that a payload read as text is assigned to.
    pub(crate) fn text_param(&self) -> Option<&str> {
        let named = self.body.as_deref().filter(|_| self.named_within().is_none());
        self.payload.contains(&Payload::Text).then(|| named.unwrap_or("text"))
    }

    /// Whether entities in its text are decoded.
    pub(crate) fn entities(&self) -> bool {
        self.decode == Some(Decoding::Entities)
    }
}

/// A tag whose attribute names a field: `<parameter name="x">`.
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
    /// The tier of patterns. If several closers match one, the last of them closes the block.
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
