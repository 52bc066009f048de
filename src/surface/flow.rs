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
        /// What the words are called: rules call it `input.CLASS`. Several inputs may give the same class.
        class: Spanned<String> as "word",
        /// The modes in which it is tried. Default: all.
        modes = "in": OneOrMany as "mode",
        /// One of them must match; of several matches, the one that starts first counts. `{{ … }}` inserts values of
        /// `data`. Default: any words.
        matches: OneOrMany as "pattern",
        /// A match that overlaps a match of one of these does not count.
        unless: OneOrMore<Spanned<String>> as "pattern",
        /// A message to say before any rule acts, to ask back.
        ask: Option<Spanned<String>> as "message",
    }
}

table! {
    /// What follows from an event.
    Rule {
        /// Its name, in traces.
        id: Spanned<String> as "word",
        /// The events that it responds to: `start`, `input.CLASS`, `utterance`, `reply`, `enter.MODE`, `leave.MODE`.
        /// Default: none; one is required.
        on: OneOrMany as "event",
        /// The modes in which it applies. Default: all.
        modes = "in": OneOrMany as "mode",
        /// The rule acts only if it holds. Default: always.
        when: Option<Spanned<String>> as "condition",
        /// What follows, in order.
        effects: Vec<Effect>,
        /// Whether it replaces the rule with the same `id` in a used pack.
        replace: bool,
    }
}

table! {
    /// A text that the pack says to its user.
    Message {
        /// Its words, in place of a `template`.
        says: Option<Spanned<String>> as "template",
        /// A file of the pack that holds them; its last line break is not part of the message.
        template: Option<Spanned<String>> as "file",
        /// The names that it takes besides `state`, `data`, `mode` and `now`: every `say` must give their values.
        takes = "with": Vec<Spanned<String>> as "name",
        /// Whether it replaces the message of the same name in a used pack.
        replace: bool,
    }
}

table! {
    /// Who may speak in a reply, and for how long.
    Speakers {
        /// A list, or a table, of speakers with a `name`, and optionally a `label` and `names`, which are other
        /// spellings of it.
        from: Spanned<String> as "expression",
        /// The names in the order in which they should speak; the first should open the reply.
        order: Option<Spanned<String>> as "expression",
        /// Checked before each utterance: if it holds, the utterance is a `turn-limit`.
        limit: Option<Spanned<String>> as "condition",
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
        /// The mode that it goes to.
        to: Spanned<String> as "mode",
        /// What must hold for the exit to be taken. Default: open.
        gate: Option<Spanned<String>> as "condition",
        /// What to say if the condition of the gate does not hold.
        shut: Option<Spanned<String>> as "message",
    }
}
