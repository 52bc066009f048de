//! Modes: what does a session permit, and what is a good reply?
//!
//! In: `[modes.NAME]` and `[reply]`, as TOML.
//! Out: [`Mode`] and [`Reply`].
//! Never: knows whether the things they name are declared.

use super::action::Permit;
use super::declare::{table, words};
use super::decode::{Decode, Decoder, Named, OneOrMany, TomlNode, in_order};
use super::degradation::Degradation;
use super::flow::Exit;
use crate::diagnostic::nearest;
use crate::text::Spanned;
use toml::de::DeValue;

/// The mode of a pack that declares none: it permits no action.
pub(crate) const ONLY_MODE: &str = "default";

table! {
    /// A named state of the session.
    Mode {
        /// Its name for people.
        title: Option<String>,
        /// What it is for, in a sentence.
        about: Option<String>,
        /// The actions that it permits; all others are forbidden.
        permits: Vec<Permit>,
        /// What it forbids although a permit allows it.
        denies: Vec<Permit>,
        /// The ways to other modes: names, or tables with a gate.
        exits: Vec<Exit>,
        /// Whether a session may end in it: it needs no exit.
        last = "final": bool,
        /// Its own dialects, instead of the pack's.
        dialects: Option<Vec<Spanned<String>>>,
        /// Its own shape of a good reply, on top of the pack's.
        reply: ReplyTable,
        /// Which sections of the state the templates of prompts show in this mode; by default, those that are not
        /// empty.
        sections: Named<Showing>,
        /// The strategies for defects in this mode.
        degradation: Degradation,
        /// Whether it replaces the mode of the same name in a used pack.
        replace: bool,
    }
}

words! {
    /// What of an answer a stream holds back.
    Hold {
        /// All of it, until it has been judged.
        Answer = "answer",
        /// What a strategy or a guardrail may still take away or change.
        Settled = "settled",
        /// Nothing that is certain to be read like this: an answer may still be refused, or lose a text.
        None = "none",
    }
}

words! {
    /// Whether a section of the state is shown.
    Showing {
        /// Always, even if it is empty.
        Always = "always",
        /// If it is not empty.
        Offered = "offered",
        /// In brief, as the template defines it.
        Summary = "summary",
        /// Never.
        Hidden = "hidden",
    }
}

table! {
    /// How often a block may be in a reply.
    Count {
        /// Whether it must be there.
        required: Option<Spanned<bool>>,
        /// For `calls`: the least there must be.
        least: Option<Spanned<usize>>,
        /// For `calls`: whether nothing may be behind the last of them.
        last: Option<Spanned<bool>>,
        /// The most there may be; 0 forbids the block.
        most: Option<Spanned<usize>>,
        /// For a content: the keys that it may have, with `*` and `?`; others are forbidden.
        keys: OneOrMany,
        /// For a section: it lists the keys of these contents.
        lists: Option<Spanned<String>>,
    }
}

/// The shape of a good reply: an order, the section shown as message, and a count by block name or `calls`.
#[derive(Debug, Clone, Default)]
pub struct ReplyTable {
    /// The names of blocks, in the order in which they should come.
    pub order: Option<Vec<Spanned<String>>>,
    /// The section whose text is the message.
    pub shows: Option<Spanned<String>>,
    /// What is between the parts of the message; by default a blank line.
    pub separator: Option<Spanned<String>>,
    /// The message of an answer that is refused: a template; by default there is none.
    pub refused: Option<Spanned<String>>,
    /// What a stream holds back; by default the whole answer if it may be refused, and else what is not settled.
    pub hold: Option<Spanned<Hold>>,
    /// Counts by the name of the block; `calls` counts all calls.
    pub counts: Named<Count>,
}

/// The keys of a reply that are not names of blocks.
const KEYS: [&str; 5] = ["order", "shows", "separator", "refused", "hold"];

impl Decode for ReplyTable {
    fn decode(node: &TomlNode<'_>, reading: &mut Decoder<'_>) -> Option<Self> {
        let table = reading.table(node)?;
        let mut reply = ReplyTable::default();
        for (key, value) in in_order(table) {
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
                "separator" if meant.is_some() => reply.separator = reading.guessed(value),
                "hold" if meant.is_some() => reply.hold = reading.guessed(value),
                "refused" if meant.is_some() => reply.refused = reading.guessed(value),
                "order" => reply.order = Vec::decode(value, reading),
                "shows" => reply.shows = Spanned::decode(value, reading),
                "separator" => reply.separator = Spanned::decode(value, reading),
                "refused" => reply.refused = Spanned::decode(value, reading),
                "hold" => reply.hold = Spanned::decode(value, reading),
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
impl schemars::JsonSchema for ReplyTable {
    fn schema_name() -> std::borrow::Cow<'static, str> {
        "Reply".into()
    }
    fn json_schema(generator: &mut schemars::SchemaGenerator) -> schemars::Schema {
        let (count, hold) = (generator.subschema_for::<Count>(), generator.subschema_for::<Hold>());
        schemars::json_schema!({
            "description": "The shape of a good reply, by block name and `calls`.",
            "type": "object",
            "properties": {
                "order": { "type": "array", "items": { "type": "string" } },
                "shows": { "type": "string", "description": "The section whose text is the message." },
                "separator": {
                    "type": "string",
                    "description": "What stands between the parts of the message; by default a blank line."
                },
                "refused": {
                    "type": "string",
                    "description": "The message of an answer that is refused: a template; by default there is none."
                },
                "hold": hold
            },
            "additionalProperties": count
        })
    }
}
