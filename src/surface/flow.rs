//! Flow: what do the words of a user mean, and what follows from them?
//!
//! In: `[[inputs]]`, `[[rules]]`, `[messages.NAME]`, `[speakers]` and the exits of modes, as TOML.
//! Out: [`Input`], [`Rule`], [`Message`], [`Speakers`] and [`Exit`].
//! Never: knows whether a mode, a class or a message that they name is declared.

use super::action::Effect;
use super::declare::table;
use super::decode::{Names, OneOrMore};
use crate::diagnostic::nearest;
use crate::text::Spanned;

table! {
    /// What some words of a user mean: the first input that matches gives them their class.
    Input {
        /// What rules call them: they follow on `input.CLASS`.
        class: Spanned<String>,
        /// The modes in which it is tried; without it all.
        modes = "in": Names,
        /// Patterns of which one must match; `{{ … }}` puts values of `data` in. Without it any words will do.
        matches: Names,
        /// Patterns: a match that overlaps one of theirs does not count.
        unless: OneOrMore<Spanned<String>>,
        /// The message that asks back, before any rule.
        ask: Option<Spanned<String>>,
    }
}

table! {
    /// What follows on an event.
    Rule {
        /// Its name.
        id: Spanned<String>,
        /// The events: `start`, `input.CLASS`, `utterance`, `reply`, `enter.MODE`, `leave.MODE`.
        on: Names,
        /// The modes in which it looks; without it all.
        modes = "in": Names,
        /// Without it, it always follows.
        when: Option<Spanned<String>>,
        /// What follows, in order.
        effects: Vec<Effect>,
        /// Whether it stands in for a used pack's of the same `id`.
        replace: bool,
    }
}

table! {
    /// Words of the pack to its user.
    Message {
        /// Its words, a template.
        says: Option<Spanned<String>>,
        /// A file of the pack that is the template of its words.
        template: Option<Spanned<String>>,
        /// The names that its template may use beside `state`, `data`, `mode` and `now`: every `say` must give them.
        takes = "with": Vec<Spanned<String>>,
        /// Whether it stands in for the one of the same name in a used pack.
        replace: bool,
    }
}

table! {
    /// Who may speak in a reply, and for how long.
    Speakers {
        /// An expression: a list of speakers, each with a `name` and maybe a `label`.
        from: Spanned<String>,
        /// An expression: the names in the order in which they should speak; the first opens the reply.
        order: Option<Spanned<String>>,
        /// A condition: an utterance is beyond the limit where it holds before it.
        limit: Option<Spanned<String>>,
    }
}

/// What rules can follow on.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Event<'e> {
    /// A session begins.
    Start,
    /// Words of this class were heard.
    Input(&'e str),
    /// Somebody spoke in the reply.
    Utterance,
    /// The reply is whole.
    Reply,
    /// The session has come into this mode.
    Enter(&'e str),
    /// The session is about to leave this mode.
    Leave(&'e str),
}

impl<'e> Event<'e> {
    /// The words for events, as packs write them.
    pub const WORDS: &'static [&'static str] =
        &["start", "input.CLASS", "utterance", "reply", "enter.MODE", "leave.MODE"];

    /// The first part of the event that was probably meant by `word`, which names none.
    pub(crate) fn meant(word: &str) -> Option<&'static str> {
        let (first, inside) = word.split_once('.').map_or((word, false), |(first, _)| (first, true));
        let known = Self::WORDS.iter().filter_map(|known| match known.split_once('.') {
            Some((known, _)) => inside.then_some(known),
            None => (!inside).then_some(*known),
        });
        nearest(first, known)
    }

    /// The event that `word` names.
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
        /// What must hold; without it always open.
        gate: Option<Spanned<String>>,
        /// The message that is said where the gate is shut.
        shut: Option<Spanned<String>>,
    }
}
