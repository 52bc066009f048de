//! Flow, compiled: which class does a user message have, and what follows from which event?
//!
//! In: the inputs, rules, messages, speakers and exits of the surface.
//! Out: the same with ids in place of names, their patterns and expressions compiled.
//! Never: classifies a message, or changes a mode.

use super::pattern::Pattern;
use super::{EffectRule, ModeId, Modes};
use crate::expression::{Expression, Template};
use crate::text::{Location, Present};
use indexmap::IndexSet;

/// The index of a class of user messages.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct ClassId(pub(crate) usize);

/// The index of a message of the pack.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub(crate) struct MessageId(pub(crate) usize);

/// The classes of user messages, and what follows from each event.
#[derive(Debug, Default)]
pub(crate) struct Flows {
    pub(crate) classes: IndexSet<String>,
    pub(crate) inputs: Vec<Input>,
    pub(crate) rules: Vec<EventRule>,
    pub(crate) speakers: Option<Speakers>,
}

impl Flows {
    /// The name of a class.
    pub(crate) fn class_name(&self, class: ClassId) -> &str {
        self.classes.get_index(class.0).map(String::as_str).present()
    }

    /// Whether anything depends on the utterances of a reply.
    pub(crate) fn listen_to_utterances(&self) -> bool {
        self.rules.iter().any(|rule| rule.on.contains(&RuleEvent::Utterance))
            || self.speakers.as_ref().is_some_and(|speakers| speakers.limit.is_some())
    }
}

/// One entry of `[[inputs]]`.
#[derive(Debug)]
pub(crate) struct Input {
    pub(crate) class: ClassId,
    /// The modes in which it is tried.
    pub(crate) modes: Modes,
    /// Patterns, one of which must match; if empty, every message matches.
    pub(crate) matches: Vec<Pattern>,
    /// A match that overlaps a match of one of these does not count.
    pub(crate) unless: Vec<Pattern>,
    /// The message that asks the user back.
    pub(crate) ask: Option<MessageId>,
    pub(crate) at: Location,
}

/// What follows from events.
#[derive(Debug)]
pub(crate) struct EventRule {
    pub(crate) id: String,
    pub(crate) on: Vec<RuleEvent>,
    /// The modes in which it applies.
    pub(crate) modes: Modes,
    pub(crate) when: Option<Expression>,
    pub(crate) effects: Vec<EffectRule>,
    pub(crate) at: Location,
}

/// An event that a rule reacts to.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum RuleEvent {
    Start,
    /// A message of a user, with its class.
    Input(ClassId),
    Utterance,
    Reply,
    Enter(ModeId),
    Leave(ModeId),
}

/// A fixed text that the pack sends to its user.
#[derive(Debug)]
pub(crate) struct CannedMessage {
    pub(crate) text: Template,
    /// The names of the values that the text takes.
    pub(crate) takes: Vec<String>,
    pub(crate) at: Location,
}

/// Who may speak in a reply, and how much.
#[derive(Debug)]
pub(crate) struct Speakers {
    pub(crate) from: Option<Expression>,
    pub(crate) order: Option<Expression>,
    pub(crate) limit: Option<Expression>,
    pub(crate) at: Location,
}

/// A transition to another mode.
#[derive(Debug)]
pub(crate) struct Exit {
    pub(crate) to: ModeId,
    pub(crate) gate: Option<Expression>,
    /// The message that is emitted if the gate is shut.
    pub(crate) shut: Option<MessageId>,
    pub(crate) at: Location,
}
