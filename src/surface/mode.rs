//! Modes: what does a session permit, and what is a good reply?
//!
//! In: `[modes.NAME]` and `[reply]`, as TOML.
//! Out: [`Mode`] and [`Reply`].
//! Never: knows whether what they name is declared.

use super::action::Permit;
use super::declare::{table, words};
use super::decode::{Decode, Decoder, Named, Names, Node};
use super::degradation::Degradation;
use super::flow::Exit;
use crate::diagnostic::nearest;
use crate::text::Spanned;
use toml::de::DeValue;

/// The mode of a pack that declares none: it permits every action.
pub(crate) const ONLY_MODE: &str = "default";

table! {
    /// A named state of the session.
    Mode {
        /// What people call it.
        title: Option<String>,
        /// What it is for, in a sentence.
        about: Option<String>,
        /// The actions it permits; what no permit allows is forbidden.
        permits: Vec<Permit>,
        /// The ways to other modes: names, or tables with a gate.
        exits: Vec<Exit>,
        /// Whether a session may end here: it needs no exit.
        last = "final": bool,
        /// Its own dialects instead of the pack's.
        dialects: Option<Vec<Spanned<String>>>,
        /// Its own shape of a good reply, over the pack's.
        reply: Reply,
        /// Which sections of a state the templates of prompts show in this mode; others show when there is something in them.
        sections: Named<Showing>,
        /// What answers defects in this mode.
        degradation: Degradation,
        /// Whether it stands in for the one of the same name in a used pack.
        replace: bool,
    }
}

words! {
    /// Whether a section of the state is shown.
    Showing {
        /// Also where there is nothing in it.
        Always = "always",
        /// Where there is something in it.
        Offered = "offered",
        /// In brief, as the template has it.
        Summary = "summary",
        /// Never.
        Hidden = "hidden",
    }
}

table! {
    /// How often one block may stand in a reply.
    Count {
        /// Whether it must be there.
        required: Option<Spanned<bool>>,
        /// The most there may be; 0 forbids it.
        most: Option<Spanned<usize>>,
        /// Of a content: the keys that it may have, with `*` and `?`; others are forbidden.
        keys: Names,
        /// Of a section: it lists the keys of these contents.
        lists: Option<Spanned<String>>,
    }
}

/// The shape of a good reply: an order, what its message is, and a count by block name or `calls`.
#[derive(Debug, Clone, Default)]
pub struct Reply {
    /// The names of blocks in the order in which they should come.
    pub order: Option<Vec<Spanned<String>>>,
    /// The section whose text is the message.
    pub shows: Option<Spanned<String>>,
    /// Counts by the name of the block; `calls` counts every call.
    pub counts: Named<Count>,
}

/// The keys of a reply that are no block's.
const KEYS: [&str; 2] = ["order", "shows"];

impl Decode for Reply {
    fn decode(node: &Node<'_>, reading: &mut Decoder<'_>) -> Option<Self> {
        let table = reading.table(node)?;
        let mut reply = Reply::default();
        for (key, value) in table {
            let at = reading.at(key.span());
            // Whatever else stands here is the table of a block.
            let meant = match value.get_ref() {
                DeValue::Table(_) => None,
                _ => nearest(key.get_ref(), KEYS.into_iter().filter(|known| !table.contains_key(*known))),
            };
            if let Some(meant) = meant {
                reading.unknown_key(key, &[meant]);
            }
            match meant.unwrap_or(key.get_ref().as_ref()) {
                "order" if meant.is_some() => reply.order = reading.guessed(value),
                "shows" if meant.is_some() => reply.shows = reading.guessed(value),
                "order" => reply.order = Vec::decode(value, reading),
                "shows" => reply.shows = Spanned::decode(value, reading),
                name => {
                    if let Some(count) = Count::decode(value, reading) {
                        reply.counts.insert(name.to_owned(), Spanned::new(count, at));
                    }
                }
            }
        }
        Some(reply)
    }

    fn absent() -> Option<Self> {
        Some(Self::default())
    }
}

#[cfg(feature = "schema")]
impl schemars::JsonSchema for Reply {
    fn schema_name() -> std::borrow::Cow<'static, str> {
        "Reply".into()
    }
    fn json_schema(generator: &mut schemars::SchemaGenerator) -> schemars::Schema {
        let count = generator.subschema_for::<Count>();
        schemars::json_schema!({
            "description": "The shape of a good reply, by block name and `calls`.",
            "type": "object",
            "properties": {
                "order": { "type": "array", "items": { "type": "string" } },
                "shows": { "type": "string", "description": "The section whose text is the message." }
            },
            "additionalProperties": count
        })
    }
}
