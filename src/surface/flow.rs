//! Flow: what do the words of a user mean, and what follows from them?
//!
//! In: `[[inputs]]`, `[[rules]]`, `[messages.NAME]`, `[speakers]` and the exits of modes, as TOML.
//! Out: [`Input`], [`Rule`], [`Message`], [`Speakers`] and [`Exit`].
//! Never: knows whether a mode, a class or a message that they name is declared.

use super::action::Effect;
use super::declare::table;
use super::decode::{OneOrMany, OneOrMore};
use crate::diagnostic::nearest;
use crate::text::Spanned;

table! {
    /// What some words of a user mean. The first input that matches decides their class.
    Input {
        /// The class, which rules call `input.CLASS`.
        class: Spanned<String>,
        /// The modes in which it is tried; all by default.
        modes = "in": OneOrMany,
        /// Patterns, one of which must match; `{{ … }}` inserts values of `data`. By default, any words match.
        matches: OneOrMany,
        /// Patterns: a match that overlaps a match of one of these does not count.
        unless: OneOrMore<Spanned<String>>,
        /// The message to say before any rule follows, to ask back.
        ask: Option<Spanned<String>>,
    }
}

table! {
    /// What follows from an event.
    Rule {
        /// Its name.
        id: Spanned<String>,
        /// The events: `start`, `input.CLASS`, `utterance`, `reply`, `enter.MODE`, `leave.MODE`.
        on: OneOrMany,
        /// The modes in which it applies; all by default.
        modes = "in": OneOrMany,
        /// The condition; always true by default.
        when: Option<Spanned<String>>,
        /// What follows, in order.
        effects: Vec<Effect>,
        /// Whether it replaces the rule with the same `id` in a used pack.
        replace: bool,
    }
}

table! {
    /// A text that the pack says to its user.
    Message {
        /// The text, a template.
        says: Option<Spanned<String>>,
        /// A file of the pack with the template.
        template: Option<Spanned<String>>,
        /// The names that its template uses besides `state`, `data`, `mode` and `now`: every `say` must give their
        /// values.
        takes = "with": Vec<Spanned<String>>,
        /// Whether it replaces the message of the same name in a used pack.
        replace: bool,
    }
}

table! {
    /// Who may speak in a reply, and for how long.
    Speakers {
        /// An expression: a list of speakers, each with a `name`, and optionally a `label` and
        /// `names`, which are other spellings of it.
        from: Spanned<String>,
        /// An expression: the names in the order in which they should speak; the first should open the reply.
        order: Option<Spanned<String>>,
        /// A condition that is checked before each utterance: if it holds, the utterance exceeds the limit.
        limit: Option<Spanned<String>>,
    }
}

/// What rules can follow on.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Event<'e> {
    /// A session begins.
    Start,
    /// Words of this class were said by the user.
    Input(&'e str),
    /// A speaker said something in the reply.
    Utterance,
    /// The reply is complete.
    Reply,
    /// The session has entered this mode.
    Enter(&'e str),
    /// The session is about to leave this mode.
    Leave(&'e str),
}

impl<'e> Event<'e> {
    /// The words for events in packs.
    pub const WORDS: &'static [&'static str] =
        &["start", "input.CLASS", "utterance", "reply", "enter.MODE", "leave.MODE"];

    /// The first part of the event that was probably meant by the unknown `word`.
    pub(crate) fn meant(word: &str) -> Option<&'static str> {
        let (first, inside) = word.split_once('.').map_or((word, false), |(first, _)| (first, true));
        let known = Self::WORDS.iter().filter_map(|known| match known.split_once('.') {
            Some((known, _)) => inside.then_some(known),
            None => (!inside).then_some(*known),
        });
        nearest(first, known)
    }

    /// The event that `word` names, if there is one.
    pub fn parse(word: &'e str) -> Option<Self> {
        match word.split_once('.') {
            Some(("input", class)) => Some(Event::Input(class)),
            Some(("enter", mode)) => Some(Event::Enter(mode)),
            Some(("leave", mode)) => Some(Event::Leave(mode)),
            Some(_) => None,
            None => match word {
                "start" => Some(Event::Start),
                "utterance" => Some(Event::Utterance),
                "reply" => Some(Event::Reply),
                _ => None,
            },
        }
    }
}

table! {
    /// A way to another mode: its name, or a table with a gate.
    Exit or to ("the name of a mode, or `{ to = …, gate = … }`") {
        /// The mode that it leads to.
        to: Spanned<String>,
        /// The condition to pass it; always open by default.
        gate: Option<Spanned<String>>,
        /// The message to say if the gate is shut.
        shut: Option<Spanned<String>>,
    }
}
