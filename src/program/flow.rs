//! Flow, compiled: which words have which class, and what follows on which event?
//!
//! In: the inputs, rules, messages, speakers and exits of the surface.
//! Out: the same by number, their patterns and expressions compiled.
//! Never: hears a word, or changes a mode.

use super::pattern::Pattern;
use super::{Effect, ModeId, Modes};
use crate::expression::{Expression, Template};
use crate::text::Location;
use indexmap::IndexSet;

/// What words mean and what follows from them.
#[derive(Debug, Default)]
pub(crate) struct Flows {
    pub(crate) classes: IndexSet<String>,
    pub(crate) inputs: Vec<Input>,
    pub(crate) rules: Vec<Rule>,
    pub(crate) speakers: Option<Speakers>,
}

impl Flows {
    /// Whether anything depends on what is said in a reply, utterance by utterance.
    pub(crate) fn listen_to_utterances(&self) -> bool {
        self.rules.iter().any(|rule| rule.on.contains(&Event::Utterance))
            || self.speakers.as_ref().is_some_and(|speakers| speakers.limit.is_some())
    }
}

/// One row of the table of inputs.
#[derive(Debug)]
pub(crate) struct Input {
    /// The number of its class.
    pub(crate) class: usize,
    /// The modes in which it is tried.
    pub(crate) modes: Modes,
    /// One of them must match; any words will do if empty.
    pub(crate) matches: Vec<Pattern>,
    /// A match that overlaps one of theirs does not count.
    pub(crate) unless: Vec<Pattern>,
    /// The number of the message that asks back.
    pub(crate) ask: Option<usize>,
    pub(crate) at: Location,
}

/// What follows on events.
#[derive(Debug)]
pub(crate) struct Rule {
    pub(crate) id: String,
    pub(crate) on: Vec<Event>,
    /// The modes in which it looks.
    pub(crate) modes: Modes,
    pub(crate) when: Option<Expression>,
    pub(crate) effects: Vec<Effect>,
    pub(crate) at: Location,
}

/// Something on which rules follow.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Event {
    Start,
    /// Words of the class of this number.
    Input(usize),
    Utterance,
    Reply,
    Enter(ModeId),
    Leave(ModeId),
}

/// Words of the pack to its user.
#[derive(Debug)]
pub(crate) struct Message {
    pub(crate) text: Template,
    /// The names that it is given.
    pub(crate) takes: Vec<String>,
    pub(crate) at: Location,
}

/// Who may speak in a reply, and for how long.
#[derive(Debug)]
pub(crate) struct Speakers {
    pub(crate) from: Option<Expression>,
    pub(crate) order: Option<Expression>,
    pub(crate) limit: Option<Expression>,
    pub(crate) at: Location,
}

/// A way to another mode.
#[derive(Debug)]
pub(crate) struct Exit {
    pub(crate) to: ModeId,
    pub(crate) gate: Option<Expression>,
    /// The number of the message that is said where the gate is shut.
    pub(crate) shut: Option<usize>,
    pub(crate) at: Location,
}
