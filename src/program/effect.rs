//! Effects, compiled: what does an accepted call or content, or a rule, do?
//!
//! In: the effects of the surface.
//! Out: [`EffectRule`] with one verb each, its expressions compiled.
//! Never: performs one.

use super::{MessageId, ModeId, Schema};
use crate::diagnostic::Remark;
use crate::expression::{Expression, Template};
use crate::program::{PathTemplate, Shape};
use crate::surface::Matching;
use crate::text::Location;
use std::sync::Arc;

/// One effect, with its conditions.
#[derive(Debug)]
pub(crate) struct EffectRule {
    pub(crate) verb: Option<Verb>,
    pub(crate) when: Option<Expression>,
    pub(crate) each: Option<Expression>,
    pub(crate) lets: Vec<(String, Shape)>,
    pub(crate) new: Option<Arc<str>>,
    pub(crate) nested: Vec<EffectRule>,
    pub(crate) at: Location,
}

/// How an effect changes the state: the path, and what is written there.
pub(crate) enum StateWrite<'e> {
    Value(&'e PathTemplate, &'e Shape),
    Entry(&'e PathTemplate, &'e Shape),
    Removal(&'e PathTemplate),
}

// Each `match` has an arm for every verb, so that the compiler asks what a new one does.
impl Verb {
    /// How it changes the state, if it does.
    fn state_write(&self) -> Option<StateWrite<'_>> {
        match self {
            Verb::Set { path, value } => Some(StateWrite::Value(path, value)),
            Verb::Append { path, value, .. } => Some(StateWrite::Entry(path, value)),
            Verb::Remove { path } => Some(StateWrite::Removal(path)),
            Verb::Emit { .. } | Verb::Write { .. } | Verb::Remark { .. } | Verb::Say { .. } | Verb::Go { .. } => None,
            Verb::Amend { .. } | Verb::Record { .. } | Verb::Edit { .. } | Verb::Patch { .. } => None,
            Verb::Delete { .. } | Verb::Move { .. } => None,
        }
    }

    /// The files that it names, each with the word for what it does to them.
    pub(crate) fn files(&self) -> Vec<(&'static str, &Template)> {
        match self {
            Verb::Write { key, .. } => vec![("write", key)],
            Verb::Amend { key, .. } => vec![("amend", key)],
            Verb::Record { key, .. } => vec![("record", key)],
            Verb::Edit { key, .. } => vec![("edit", key)],
            Verb::Patch { file, .. } => file.iter().map(|key| ("patch", key)).collect(),
            Verb::Delete { key } => vec![("delete", key)],
            Verb::Move { key, to } => vec![("move", key), ("move", to)],
            Verb::Set { .. } | Verb::Append { .. } | Verb::Remove { .. } | Verb::Emit { .. } => Vec::new(),
            Verb::Remark { .. } | Verb::Say { .. } | Verb::Go { .. } => Vec::new(),
        }
    }

    /// Whether it edits a file, so that the effect may fail to match the file.
    pub(crate) fn may_miss(&self) -> bool {
        match self {
            Verb::Edit { .. } | Verb::Patch { .. } | Verb::Delete { .. } | Verb::Move { .. } => true,
            Verb::Set { .. } | Verb::Append { .. } | Verb::Remove { .. } | Verb::Emit { .. } => false,
            Verb::Write { .. } | Verb::Amend { .. } | Verb::Record { .. } => false,
            Verb::Remark { .. } | Verb::Say { .. } | Verb::Go { .. } => false,
        }
    }
}

impl EffectRule {
    /// How it changes the state, if it does.
    pub(crate) fn state_write(&self) -> Option<StateWrite<'_>> {
        self.verb.as_ref().and_then(Verb::state_write)
    }

    /// The effects and all nested ones; each before the effects inside it.
    pub(crate) fn walk(effects: &[EffectRule]) -> Vec<&EffectRule> {
        let mut all = Vec::new();
        let mut rest: Vec<&EffectRule> = effects.iter().rev().collect();
        while let Some(effect) = rest.pop() {
            all.push(effect);
            rest.extend(effect.nested.iter().rev());
        }
        all
    }
}

/// What an effect does.
#[derive(Debug)]
pub(crate) enum Verb {
    Set {
        path: PathTemplate,
        value: Shape,
    },
    Append {
        path: PathTemplate,
        unique: Vec<String>,
        value: Shape,
    },
    Remove {
        path: PathTemplate,
    },
    Emit {
        event: Template,
        value: Option<Shape>,
    },
    Write {
        key: Template,
        value: Shape,
        /// Whether a new file that begins with `#!` becomes executable.
        executable: bool,
    },
    Remark {
        remark: Remark,
        text: Option<Template>,
    },
    /// Emits a message, with values for the names that it takes.
    Say {
        message: MessageId,
        with: Vec<(String, Shape)>,
    },
    Go {
        to: ModeId,
        insist: Option<Expression>,
    },
    Amend {
        key: Template,
        section: Template,
        marker: Option<Template>,
        otherwise: Option<Template>,
        done: Option<Template>,
        missing: Option<Template>,
        value: Shape,
    },
    Record {
        key: Template,
        path: PathTemplate,
        value: Shape,
        /// The schema that the value must satisfy.
        schema: Option<Box<Schema>>,
    },
    Edit {
        key: Template,
        find: Template,
        put: Template,
        /// Whether every occurrence is replaced.
        all: Option<Shape>,
        matching: Vec<Matching>,
    },
    Patch {
        text: Template,
        /// The key of the file for hunks that name no file.
        file: Option<Template>,
        matching: Vec<Matching>,
        executable: bool,
    },
    Delete {
        key: Template,
    },
    Move {
        key: Template,
        to: Template,
    },
}
