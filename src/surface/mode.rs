//! Modes: what does a session permit, and what is a good reply?
//!
//! In: `[modes.NAME]` and `[reply]`, as TOML.
//! Out: [`Mode`] and [`ReplyTable`].
//! Never: knows whether the things they name are declared.

use super::action::Permit;
#[cfg(feature = "schema")]
use super::declare::ORDER;
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
        /// What people call it.
        title: Option<String>,
        /// What it is for, in a sentence.
        about: Option<String>,
        /// What it permits: names of actions, with `*` and `?`, `@GROUP`, or tables; everything else is forbidden.
        permits: Vec<Permit> as "name",
        /// What it forbids although a permit allows it, in the same forms.
        denies: Vec<Permit> as "name",
        /// The ways to other modes: names, or tables with a gate.
        exits: Vec<Exit> as "mode",
        /// Whether a session may end in it: it needs no exit.
        last = "final": bool,
        /// Its own dialects. Default: the pack's.
        dialects: Option<Vec<Spanned<String>>> as "dialect",
        /// Its own shape of a good reply; each key takes precedence over that of the pack. Default: the pack's.
        reply: ReplyTable,
        /// Which sections of the state prompts show in this mode. Default: `offered` for each.
        sections: Named<Showing>,
        /// The strategies for defects in this mode. Default: the pack's.
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
        /// Nothing: a text is emitted once it is certain how it is read. The answer may still be refused, or lose it.
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
        /// For a block: its absence is a `missing-block`, or a `missing-message` for the message. Default: `false`.
        required: Option<Spanned<bool>>,
        /// For `calls`: how many must be accepted; fewer are a `missing-block`. Default: 0.
        least: Option<Spanned<usize>>,
        /// For `calls`: whether nothing may follow the last of them. Default: `false`.
        last: Option<Spanned<bool>>,
        /// For a block or `calls`: any more are `duplicate-block` or `extra-call`; with 0, the block is a
        /// `forbidden-block`. Default: no limit.
        most: Option<Spanned<usize>>,
        /// For a content: the keys that it may have, with `*` and `?`. Default: any.
        keys: OneOrMany as "key",
        /// For a section with a value: it lists the keys of the contents of this name.
        lists: Option<Spanned<String>> as "content",
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
            // Anything else here is the table of a block.
            let meant = match value.get_ref() {
                DeValue::Table(_) => None,
                _ => nearest(key.get_ref(), KEYS.into_iter().filter(|known| !table.contains_key(*known))),
            };
            if let Some(meant) = meant {
                reading.unknown_key(key, &[meant]);
            }
            let is_guess = meant.is_some();
            match meant.unwrap_or(key.get_ref().as_ref()) {
                "order" => reply.order = read(value, is_guess, reading),
                "shows" => reply.shows = read(value, is_guess, reading),
                "separator" => reply.separator = read(value, is_guess, reading),
                "refused" => reply.refused = read(value, is_guess, reading),
                "hold" => reply.hold = read(value, is_guess, reading),
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

/// The value of a key, or that under a misspelt key which probably means this one.
fn read<T: Decode>(node: &TomlNode<'_>, is_guess: bool, reading: &mut Decoder<'_>) -> Option<T> {
    if is_guess { reading.guessed(node) } else { T::decode(node, reading) }
}

#[cfg(feature = "schema")]
impl schemars::JsonSchema for ReplyTable {
    fn schema_name() -> std::borrow::Cow<'static, str> {
        "Reply".into()
    }
    fn json_schema(generator: &mut schemars::SchemaGenerator) -> schemars::Schema {
        let (count, hold) = (generator.subschema_for::<Count>(), generator.subschema_for::<Hold>());
        let mut hold = hold.to_value();
        if let Some(keywords) = hold.as_object_mut() {
            let about = "What a stream holds back. Default: `answer` if a strategy or a guardrail may refuse an answer \
                         or ask for it again, `settled` elsewhere.";
            keywords.insert("description".into(), about.into());
        }
        schemars::json_schema!({
            "description": "The shape of a good reply, by block name and `calls`.",
            "type": "object",
            "properties": {
                "order": {
                    "type": "array",
                    "items": { "type": "string", "format": "block" },
                    "description": "The order in which blocks must come; any other is `out-of-order`."
                },
                "shows": {
                    "type": "string",
                    "format": "section",
                    "description": "The section whose text is the message; if it is required, its absence is a \
                                    `missing-message`."
                },
                "separator": {
                    "type": "string",
                    "description": "What separates the parts of the message. Default: a blank line."
                },
                "refused": {
                    "type": "string",
                    "format": "template",
                    "description": "The message of an answer that is refused. It sees `state`, `data`, `mode` and `now`."
                },
                "hold": hold
            },
            "additionalProperties": count,
            (ORDER): KEYS
        })
    }
}
