//! Program: what is it that runs?
//!
//! In: a checked [`Pack`].
//! Out: [`Program`]: names resolved to numbers, expressions, patterns and look-ups compiled.
//! Never: reads a response, or changes once it is made.

mod action;
mod block;
mod compile;
mod degradation;
mod dialect;
mod effect;
mod example;
mod family;
mod flow;
mod gates;
mod guardrail;
mod inclusion;
mod lacking;
mod limits;
mod literals;
mod mode;
mod names;
mod outline;
mod part;
mod pattern;
mod prompt;
mod sample;
mod schema;
mod slip;
mod starts;
mod state;
mod structure;
mod tables;
mod transitions;
mod types;
mod usable;

pub(crate) use action::{Action, ActionId, Param};
pub(crate) use block::{Block, BlockId, Called, Closer, FieldName};
pub(crate) use degradation::{Chosen, Degradation, Near};
pub use degradation::{DegradationRow, SaidBy};
pub(crate) use dialect::{Dialect, DialectId, Outside};
pub(crate) use effect::{Effect, Verb};
pub(crate) use example::{Members, example};
pub(crate) use family::{Family, Lead, tag_family};
pub(crate) use flow::{Event, Exit, Flows, Input, Message, Rule, Speakers};
pub(crate) use guardrail::{Guardrail, Guardrails, Target, TargetPatterns};
pub(crate) use inclusion::Matched;
pub use limits::Limits;
pub(crate) use mode::{Mode, ModeId, Modes, Permit};
pub(crate) use outline::{LevelId, Outline};
pub(crate) use pattern::{Pattern, PatternSet, most_matches};
pub(crate) use prompt::{Body, Layer, LayerSource, Model, Prompt, Prompts, Text, Variant};
pub(crate) use schema::{Schema, misfit_at, properties, requires};
pub(crate) use starts::{Margin, Starts};
pub(crate) use state::Slot;
pub(crate) use structure::{Braces, Structure};
pub use tables::{Permission, PermitCell};
pub(crate) use types::{Kind, Types};

use crate::diagnostic::{Code, Diagnostic, Faults};
use crate::expression::{Constant, Record, Template};
use crate::pack::{self, Pack};
use crate::surface::{self, Folder, Role};
use crate::text::{Location, SourceId, Sources, Spanned, excerpt};
use crate::value::{Table, Value};
use foldhash::fast::RandomState;
use std::collections::HashMap;
use std::sync::Arc;

/// A pack, ready to run: immutable, for all threads. Once it exists nothing fails: any response gives an outcome.
#[derive(Debug)]
pub struct Program {
    pub(crate) name: String,
    pub(crate) sources: Sources,
    pub(crate) dialects: Vec<Dialect>,
    pub(crate) actions: Table<String, Action>,
    pub(crate) modes: Table<String, Mode>,
    pub(crate) start: ModeId,
    pub(crate) contents: Table<String, Content>,
    pub(crate) guardrails: Guardrails,
    pub(crate) flows: Flows,
    pub(crate) messages: Table<String, Message>,
    pub(crate) degradation: Degradation,
    pub(crate) ask_again: AskAgain,
    pub(crate) slots: Table<String, Slot>,
    pub(crate) initial: Record,
    pub(crate) data: Value,
    pub(crate) prompts: Prompts,
    pub(crate) limits: Limits,
    /// What effects read of `reply`.
    pub(crate) effects_read: Vec<Vec<String>>,
    /// Constants that are compared with what never is one of them.
    pub(crate) idle_comparisons: Vec<IdleComparison>,
    /// The place of each declaration that an outcome may name, as `pack/file:line:column`.
    pub(crate) places: PlaceNames,
    /// What the pack's `[check]` says of each code that it names.
    pub(crate) levels: Table<String, surface::Level>,
}

/// What expressions see of `reply`.
pub(crate) const REPLY_MEMBERS: [&str; 7] =
    ["dialect", "message", "thinking", "calls", "sections", "contents", "utterances"];

/// A text that is compared with what may be none but others.
#[derive(Debug)]
pub(crate) struct IdleComparison {
    /// What it is compared with, as a pack would write it.
    pub(crate) path: String,
    pub(crate) constant: Spanned<Constant>,
    pub(crate) why: Never,
}

impl IdleComparison {
    /// That it is never so.
    pub(crate) fn message(&self) -> String {
        match &self.constant.value {
            Constant::Text(text) => format!("`{}` is never `{}`", self.path, excerpt(text, 60)),
            Constant::Number(number) => format!("`{}` is never {number}", self.path),
            Constant::Truth(truth) => format!("`{}` is never {truth}", self.path),
        }
    }

    /// A finding about it, with what it may be.
    pub(crate) fn explain(&self, finding: Diagnostic) -> Diagnostic {
        let (kind, constant) = match (&self.why, &self.constant.value) {
            (Never::Texts(known), Constant::Text(text)) => {
                return finding.with_nearest(text, known.iter().map(String::as_str));
            }
            (Never::Texts(_), _) => ("string", &self.constant.value),
            (Never::Kind(kind), constant) => (*kind, constant),
        };
        let is_number = |text: &str| text.parse::<f64>().is_ok_and(f64::is_finite);
        finding.with_help(match (kind, constant) {
            ("string", Constant::Number(number)) => format!("it is a text: say `'{number}'`"),
            ("string", _) => "it is a text".to_owned(),
            ("integer" | "number", Constant::Text(text)) if is_number(text) => {
                format!("it is a number: say `{}`, without quotes", excerpt(text, 60))
            }
            ("integer" | "number", _) => "it is a number".to_owned(),
            ("boolean", Constant::Text(text)) if matches!(text.as_str(), "true" | "false") => {
                format!("it is a truth value: say `{text}`, without quotes")
            }
            ("boolean", _) => "it is `true` or `false`".to_owned(),
            ("array", _) => format!("it is a list: say `… in {}` for one of its entries", self.path),
            _ => "it is a table: compare one of its members".to_owned(),
        })
    }
}

/// Why a value is never what it is compared with.
#[derive(Debug, Clone)]
pub(crate) enum Never {
    /// It is one of these texts.
    Texts(Vec<String>),
    /// It is of another kind: this type of JSON Schema.
    Kind(&'static str),
}

/// What content blocks point to.
#[derive(Debug)]
pub(crate) struct Content {
    /// Whether its key is a path below a root.
    pub(crate) path: bool,
    /// Whether a key stands once.
    pub(crate) unique: bool,
    /// A key, for those who are told how an answer is written.
    pub(crate) example: Option<Spanned<String>>,
    /// Whether the author gave that.
    pub(crate) exemplified: bool,
    pub(crate) effects: Vec<Effect>,
}

/// The shape of a good reply.
#[derive(Debug, Default)]
pub(crate) struct Reply {
    pub(crate) counts: Vec<Count>,
    /// The blocks of each place in the order.
    pub(crate) order: Vec<Vec<(DialectId, BlockId)>>,
    pub(crate) order_at: Option<Location>,
    /// The most calls, and where that stands.
    pub(crate) calls: Option<(usize, Location)>,
    /// The section whose text is the message.
    pub(crate) shows: Option<String>,
}

impl Reply {
    /// How often a block may stand, where the pack says so.
    pub(crate) fn count_of(&self, dialect: DialectId, block: BlockId) -> Option<&Count> {
        self.counts.iter().find(|count| count.blocks.contains(&(dialect, block)))
    }

    /// The most blocks like this one that may stand, which is counted so.
    pub(crate) fn most(&self, block: &Block, count: Option<&Count>) -> Option<usize> {
        match block.role {
            Role::Call => self.calls.map(|(most, _)| most),
            _ => count?.most,
        }
    }

    /// Where a block stands in the order, if that names it.
    pub(crate) fn rank(&self, dialect: DialectId, block: BlockId) -> Option<usize> {
        self.order.iter().position(|blocks| blocks.contains(&(dialect, block)))
    }
}

/// How often a block may stand in a reply.
#[derive(Debug)]
pub(crate) struct Count {
    pub(crate) name: String,
    pub(crate) blocks: Vec<(DialectId, BlockId)>,
    pub(crate) message: bool,
    pub(crate) required: bool,
    pub(crate) most: Option<usize>,
    /// Of contents: the keys that they may have, with `*`; any if there are none.
    pub(crate) keys: Vec<String>,
    /// Of a section: the contents whose keys it lists.
    pub(crate) lists: Option<String>,
    pub(crate) at: Location,
}

/// How a model is asked again.
#[derive(Debug)]
pub(crate) struct AskAgain {
    /// How often about one answer.
    pub(crate) most: usize,
    /// How long the text may be.
    pub(crate) tokens: usize,
    /// The pack's own words.
    pub(crate) words: Option<Template>,
}

/// The names of the places that outcomes may cite.
pub(crate) type PlaceNames = HashMap<Location, Arc<str>, RandomState>;

/// What became of loading a pack: its sources are there in any case, so that diagnostics can be drawn.
#[derive(Debug)]
#[non_exhaustive]
pub struct Loaded {
    /// The files that were read.
    pub sources: Sources,
    /// The program, unless an error stood in its way.
    pub program: Option<Program>,
    /// Everything that was found, in the order of files and places.
    pub diagnostics: Vec<Diagnostic>,
}

impl Loaded {
    /// The program, for who has no use for warnings.
    ///
    /// ```
    /// use rulebook::{Folder, Program};
    ///
    /// let pack = "[pack]\nname = \"lamp\"\n[modes.home]\npermits = [\"dim\"]\n";
    /// let faults = Program::load(&Folder::new("lamp", [("pack.toml", pack)])).into_result().unwrap_err();
    /// let last = faults.to_string().lines().last().unwrap().to_owned();
    /// assert_eq!(last, "lamp/pack.toml:4:12: error[pack/unknown-action]: no table declares the action `dim`");
    /// ```
    ///
    /// # Errors
    ///
    /// Each error that stood in its way.
    pub fn into_result(self) -> Result<Program, Faults> {
        self.program.ok_or_else(|| Faults::new(self.diagnostics, &self.sources))
    }
}

impl Program {
    /// Reads, checks and compiles a pack. All faults are found in one go; nothing is half-loaded.
    ///
    /// Schemas compile on first use; [`Program::check`] compiles them all.
    ///
    /// ```
    /// use rulebook::{Folder, Program};
    ///
    /// let pack = r#"
    /// [pack]
    /// name = "greeter"
    /// [dialects.plain]
    /// grammar = "tags"
    /// blocks.message = { role = "message" }
    /// "#;
    /// let program = Program::load(&Folder::new("greeter", [("pack.toml", pack)])).program.unwrap();
    /// let outcome = program.run(&program.session(), "<message>Hello!</message>");
    /// assert_eq!(outcome.message, "Hello!");
    /// ```
    pub fn load(folder: &Folder) -> Loaded {
        let (program, _, diagnostics) = Self::build(folder);
        program.loaded(diagnostics)
    }

    /// As [`Program::load`], and everything that is compiled on first use is compiled now; then every expression is run
    /// once with sample values.
    pub fn check(folder: &Folder) -> Loaded {
        let (program, pack, mut diagnostics) = Self::build(folder);
        diagnostics.extend(program.compile_schemas(&pack::schemas::misspelt(&pack.surface)));
        // What fails in a pack that has other faults may be their doing.
        if !diagnostics.iter().any(Diagnostic::is_error) {
            diagnostics.extend(program.run_samples());
            diagnostics.extend(program.check_gates());
            diagnostics.extend(program.check_transitions(&pack.surface));
        }
        program.loaded(diagnostics)
    }

    fn build(folder: &Folder) -> (Self, Pack, Vec<Diagnostic>) {
        let (program, pack, diagnostics) = Self::build_once(folder);
        let again = |folder: &Folder| {
            let (program, _, diagnostics) = Self::build_once(folder);
            (program.sources, diagnostics)
        };
        let diagnostics = slip::told_once(folder, &program.sources, diagnostics, again);
        (program, pack, diagnostics)
    }

    fn build_once(folder: &Folder) -> (Self, Pack, Vec<Diagnostic>) {
        let (surface, mut diagnostics) = surface::read(folder);
        let mut found = Vec::new();
        let pack = pack::check(surface, &mut found);
        let program = compile::compile(&pack, &mut found);
        lacking::told_once(&pack.surface, &mut found);
        let broken: Vec<SourceId> = diagnostics
            .iter()
            .filter(|one| one.code == Code::PACK_SYNTAX)
            .filter_map(|one| Some(one.at?.source))
            .collect();
        if broken.is_empty() && !pack.surface.partial {
            diagnostics.extend(found);
        } else {
            // What does not follow TOML, or cannot be read, says nothing reliable about names: only its own faults are news,
            // and those that no name has a part in.
            let of_broken = |one: &Diagnostic| one.at.is_some_and(|at| broken.contains(&at.source));
            diagnostics.retain(|one| one.code == Code::PACK_SYNTAX || !of_broken(one));
            let in_table = |one: &Diagnostic| {
                let source = one.at.and_then(|at| program.sources.get(at.source));
                source.is_some_and(|source| source.name().ends_with(".toml"))
            };
            diagnostics.extend(found.into_iter().filter(|one| is_by_itself(one) && in_table(one) && !of_broken(one)));
        }
        (program, pack, diagnostics)
    }

    fn loaded(self, mut diagnostics: Vec<Diagnostic>) -> Loaded {
        diagnostics.sort_by_key(|diagnostic| diagnostic.at);
        diagnostics.dedup();
        let broken = diagnostics.iter().any(Diagnostic::is_error);
        let sources = self.sources.clone();
        Loaded { sources, program: Some(self).filter(|_| !broken), diagnostics }
    }

    /// The same program with other limits. A limit may be set to the most that its type holds: what cannot be granted is cut
    /// to what can, as [`Limits`] says.
    #[must_use]
    pub fn with_limits(mut self, limits: Limits) -> Self {
        self.limits = limits.granted();
        self
    }

    /// The pack's name.
    pub fn name(&self) -> &str {
        &self.name
    }

    /// The pack's files, for places.
    pub fn sources(&self) -> &Sources {
        &self.sources
    }

    /// The names of the modes, in the order of their declaration.
    pub fn modes(&self) -> impl Iterator<Item = &str> {
        self.modes.keys().map(String::as_str)
    }

    /// The names of the dialects, in the order of their declaration.
    pub fn dialects(&self) -> impl Iterator<Item = &str> {
        self.dialects.iter().map(|dialect| dialect.name.as_str())
    }

    /// The classes of words, in the order of their first input.
    pub fn classes(&self) -> impl Iterator<Item = &str> {
        self.flows.classes.iter().map(String::as_str)
    }

    /// The names of the actions, in the order of their declaration.
    pub fn actions(&self) -> impl Iterator<Item = &str> {
        self.actions.keys().map(String::as_str)
    }

    pub(crate) fn place(&self, at: Location) -> Option<Arc<str>> {
        self.places.get(&at).cloned().or_else(|| self.sources.place_name(at).map(Arc::from))
    }
}

/// Whether a finding is wrong with what stands at its place, whatever else a pack declares.
fn is_by_itself(one: &Diagnostic) -> bool {
    let codes = [
        Code::PACK_EXPRESSION,
        Code::PACK_PATTERN,
        Code::PACK_SCHEMA,
        Code::PACK_REMOTE_REF,
        Code::PACK_UNFIT_STRATEGY,
    ];
    one.is_error() && codes.contains(&one.code)
}
