//! Program: what is executed?
//!
//! In: a checked [pack](crate::pack::Pack).
//! Out: [`Program`]: names resolved to ids; expressions, patterns and tables compiled.
//! Never: reads a response, or changes once it is made.

mod action;
mod block;
mod builders;
mod compile;
mod declared;
mod degradation;
mod dialect;
mod effect;
mod example;
mod family;
mod flow;
mod guardrail;
mod idle_comparisons;
mod limits;
mod literals;
mod loading;
mod mode;
mod names;
mod native_dialect;
mod object_shape;
mod one_mistake;
mod params;
mod path;
mod pattern;
mod permit;
mod plain;
mod prefilter;
mod prompt;
mod reply;
mod schema;
mod schema_compiles;
mod shape;
mod state;
mod stream_waits;
mod structure;
mod subschema;
mod tables;
mod tools;
mod types;
mod watch;

use action::ActionSpellings;
pub(crate) use action::{Action, ActionId, Param};
pub(crate) use block::{BlockBinding, BlockId, Closer, FieldName, NameSource};
pub(crate) use builders::Builders;
pub use declared::DeclarationKind;
pub(crate) use degradation::{DeclarationContext, DegradationTable, ResolvedStrategy};
pub use degradation::{DeclaredBy, DegradationRow};
pub(crate) use dialect::{Dialect, DialectId, MaskKinds, TextRole};
pub(crate) use effect::{EffectRule, StateWrite, Verb};
pub(crate) use example::{ExampleMembers, example};
pub(crate) use family::{CloserStarts, Family, Prefix, tag_family};
pub(crate) use flow::{CannedMessage, ClassId, EventRule, Exit, Flows, Input, MessageId, RuleEvent, Speakers};
pub(crate) use guardrail::{Guardrail, GuardrailTarget, Guardrails, TargetPatterns};
pub(crate) use idle_comparisons::{IdleComparison, IdleReason};
pub use limits::Limits;
pub(crate) use mode::{Mode, ModeId, Modes};
pub(crate) use names::BlockNames;
pub(crate) use object_shape::{LevelId, ObjectShape};
pub(crate) use params::ParamNames;
pub(crate) use path::{Keys, PathKey, PathTemplate};
pub(crate) use pattern::{Pattern, PatternSet, most_matches};
pub(crate) use permit::{MatchingEntries, ModePermits, Permit, PermitList};
pub(crate) use prefilter::{Margin, Prefilter};
pub(crate) use prompt::{
    FileContent, LayerPlan, LayerSource, ModeView, Model, PromptFile, PromptPlan, Prompts, Variant,
};
pub(crate) use reply::{Count, ReplyShape};
pub(crate) use schema::{Schema, misfit_at, properties, requires};
pub(crate) use shape::Shape;
pub(crate) use state::StateSlot;
pub use stream_waits::WaitRow;
pub(crate) use stream_waits::{Wait, WaitReason, WaitsUntil};
pub(crate) use structure::{ObjectStarts, Structure};
pub use tables::{Permission, PermitCell};
pub(crate) use types::{Types, ValueKind};
pub(crate) use watch::{Watch, Watching};

use crate::expression::Template;
use crate::surface::{self, files::PackFiles};
use crate::text::{FilePlace, Location, Sources, Spanned, below};
use crate::value::Record;
use crate::value::{Table, Value};
use foldhash::fast::RandomState;
use std::borrow::Cow;
use std::collections::HashMap;
use std::sync::{Arc, OnceLock};

/// A compiled pack: immutable, and shared by all threads. Running it cannot fail: every response gives an outcome.
/// Clones share all compiled parts.
#[derive(Debug, Clone)]
pub struct Program {
    pub(crate) name: String,
    pub(crate) version: Option<String>,
    pub(crate) sources: Sources,
    /// The texts and grammars among the pack's files.
    pub(crate) files: Arc<PackFiles>,
    pub(crate) dialects: Arc<Vec<Dialect>>,
    /// How the parts of a structured reply are read that have no dialect.
    pub(crate) native: Dialect,
    pub(crate) actions: Table<String, Arc<Action>>,
    /// The actions whose name is a pattern. Tools that a host adds come after them in `actions`, and are never
    /// patterns.
    pub(crate) tool_patterns: Arc<[ActionId]>,
    spellings: Arc<OnceLock<ActionSpellings>>,
    pub(crate) modes: Arc<Table<String, Mode>>,
    /// What is derived from each mode when first needed, by the index of the mode.
    pub(crate) views: Vec<ModeView>,
    pub(crate) start: ModeId,
    /// Whether the permits of a call see the state as changed by the calls before it.
    pub(crate) in_turn: bool,
    /// Whether pending calls stay pending after the next answer has been judged.
    pub(crate) keeps_pending: bool,
    /// Whether the host has declared its tools: then no other tool matches a pattern.
    pub(crate) knows_tools: bool,
    /// The folders to which absolute paths are relative, each with a slash at its end.
    pub(crate) roots: Arc<Vec<String>>,
    pub(crate) contents: Arc<Table<String, Content>>,
    pub(crate) guardrails: Arc<Guardrails>,
    pub(crate) flows: Arc<Flows>,
    pub(crate) messages: Arc<Table<String, CannedMessage>>,
    pub(crate) degradation: DegradationTable,
    pub(crate) ask_again: Arc<AskAgain>,
    pub(crate) slots: Arc<Table<String, StateSlot>>,
    pub(crate) initial: Record,
    /// The first state of a session with its computed values; computed for the first session.
    pub(crate) computed: OnceLock<Record>,
    /// The values of the state with which `check` judges examples, each with its place.
    pub(crate) sample: Arc<Vec<(String, Value, Location)>>,
    pub(crate) data: Value,
    pub(crate) prompts: Arc<Prompts>,
    pub(crate) limits: Limits,
    /// The paths in `reply` and `attributes` that effects read.
    pub(crate) effects_read: Arc<Vec<Vec<String>>>,
    /// Comparisons with constants that never succeed.
    pub(crate) idle_comparisons: Arc<Vec<IdleComparison>>,
    /// The place of each declaration that an outcome may cite, as `pack/file:line:column`.
    pub(crate) places: Arc<PlaceNames>,
    /// The level that `[check]` gives each code.
    pub(crate) levels: Arc<Table<String, surface::Level>>,
}

/// The members of `reply` that expressions can read.
pub(crate) const REPLY_MEMBERS: [&str; 7] =
    ["dialect", "message", "thinking", "calls", "sections", "contents", "utterances"];

/// How content blocks of one name are stored.
#[derive(Debug)]
pub(crate) struct Content {
    /// Whether the key of a content is checked as a path below a root.
    pub(crate) path: bool,
    /// Whether each key occurs only once.
    pub(crate) unique: bool,
    /// An example of a key, for prompts.
    pub(crate) example: Option<Spanned<String>>,
    /// Whether the author gave `example`.
    pub(crate) exemplified: bool,
    pub(crate) effects: Vec<EffectRule>,
}

/// How a model is asked to correct an answer.
#[derive(Debug)]
pub(crate) struct AskAgain {
    /// How many times a model is asked about one answer.
    pub(crate) most: usize,
    /// The most tokens of the correction text.
    pub(crate) tokens: usize,
    /// The pack's own correction text.
    pub(crate) words: Option<Template>,
}

/// The names of the places that outcomes may cite.
pub(crate) type PlaceNames = HashMap<Location, FilePlace, RandomState>;

impl Program {
    /// A path in an answer, relative to the root: with `/` as separator, and without the declared root.
    pub(crate) fn below_root<'p>(&self, path: &'p str) -> Cow<'p, str> {
        below(&self.roots, path)
    }

    /// The pack's files, by which places are resolved.
    #[doc(hidden)]
    pub fn sources(&self) -> &Sources {
        &self.sources
    }

    /// Whether a pending call stays pending when the next answer is judged.
    #[doc(hidden)]
    pub fn keeps_pending(&self) -> bool {
        self.keeps_pending
    }

    /// The implementation of [`Program::modes`].
    pub(crate) fn mode_names(&self) -> impl Iterator<Item = &str> {
        self.modes.keys().map(String::as_str)
    }

    /// The names of the dialects, in the order of declaration.
    #[doc(hidden)]
    pub fn dialects(&self) -> impl Iterator<Item = &str> {
        self.dialects.iter().map(|dialect| dialect.name.as_str())
    }

    /// A message of the pack, with its name.
    pub(crate) fn message(&self, message: MessageId) -> Option<(&String, &CannedMessage)> {
        self.messages.get_index(message.0)
    }

    /// The classes of user messages, in the order of their first input.
    #[doc(hidden)]
    pub fn classes(&self) -> impl Iterator<Item = &str> {
        self.flows.classes.iter().map(String::as_str)
    }

    /// The names of the prompts, in the order of declaration.
    #[doc(hidden)]
    pub fn prompts(&self) -> impl Iterator<Item = &str> {
        self.prompts.prompts.keys().map(String::as_str)
    }

    /// The implementation of [`Program::actions`].
    pub(crate) fn action_names(&self) -> impl Iterator<Item = &str> {
        self.actions.keys().map(String::as_str)
    }

    pub(crate) fn place(&self, at: Location) -> Option<FilePlace> {
        self.places.get(&at).cloned().or_else(|| self.sources.place(at))
    }
}
