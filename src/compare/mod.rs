//! Compare: what does a change to a pack mean?
//!
//! In: two versions of a pack, each as its folder and its program.
//! Out: [`Comparison`]: what widened, narrowed, changed, appeared or disappeared, and the size of prompts before and
//! after.
//! Never: guesses: if it cannot tell whether more is allowed than before, it reports `changed`.

mod conditions;
mod constraint;
mod declared;
mod degradation;
mod effects;
mod permissions;
mod prompts;
mod rows;
mod schema;
mod shape;

use crate::program::Program;
use crate::surface::Folder;
use crate::text::FilePlace;
use serde::{Deserialize, Serialize};
use std::cmp::Ordering;

/// A version of a pack.
#[derive(Debug, Clone, Copy)]
pub struct Version<'v> {
    /// Its files.
    pub folder: &'v Folder,
    /// The program compiled from them.
    pub program: &'v Program,
}

/// What a change to a pack means.
#[derive(Debug, Clone, Default)]
pub struct Comparison {
    /// The changes, by kind.
    pub changes: Vec<DeclarationChange>,
    /// The prompts whose size changed.
    pub prompts: Vec<PromptChange>,
}

/// In which direction something changed.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "lowercase")]
pub enum Direction {
    /// More is allowed than before; maybe less in other places.
    Widened,
    /// Less is allowed than before.
    Narrowed,
    /// Neither, or it cannot be decided.
    Changed,
    /// It is new.
    Appeared,
    /// It no longer exists.
    Gone,
}

impl Direction {
    /// The name of the direction.
    pub fn name(self) -> &'static str {
        match self {
            Direction::Widened => "widened",
            Direction::Narrowed => "narrowed",
            Direction::Changed => "changed",
            Direction::Appeared => "appeared",
            Direction::Gone => "gone",
        }
    }

    /// The direction of a change of an amount that allows more if it is larger; `now` is how it compares with before.
    fn of(now: Ordering) -> Self {
        match now {
            Ordering::Greater => Direction::Widened,
            Ordering::Less => Direction::Narrowed,
            Ordering::Equal => Direction::Changed,
        }
    }

    /// Combines two directions. If one of them widens, the result widens.
    fn and(self, other: Self) -> Self {
        match (self, other) {
            (Direction::Widened, _) | (_, Direction::Widened) => Direction::Widened,
            (one, other) if one == other => one,
            _ => Direction::Changed,
        }
    }
}

/// A declaration that changed.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct DeclarationChange {
    /// The kind of declaration: `permit`, `parameters`, `exit`, `guardrail`, `effect`, `insist`, `block`, `thinking`,
    /// `limit`, `mask`, `path`, `degradation`, `file`, or the word for one entry of a table of the pack.
    pub kind: String,
    /// Its name in the pack.
    pub name: String,
    /// In which direction it changed.
    pub direction: Direction,
    /// The differences, in phrases.
    pub how: Vec<String>,
    /// Its place now, or in the old version if it no longer exists, as `pack/file:line:column`.
    pub rule: Option<FilePlace>,
    /// Whether it no longer exists; `rule` is then a place in the old version.
    pub gone: bool,
}

/// A prompt whose size changed.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct PromptChange {
    /// The name of the prompt.
    pub prompt: String,
    /// The mode of the session.
    pub mode: String,
    /// The tier of the model.
    pub tier: String,
    /// Its tokens before; none if the prompt did not exist.
    pub before: Option<usize>,
    /// Its tokens now; none if the prompt no longer exists.
    pub after: Option<usize>,
}

impl Comparison {
    /// The meaning of the change from `old` to `new`.
    pub fn of(old: Version<'_>, new: Version<'_>) -> Self {
        let mut changes = permissions::changes(old.program, new.program);
        changes.extend(effects::changes(old.program, new.program));
        changes.extend(shape::changes(old.program, new.program));
        changes.extend(degradation::changes(old.program, new.program));
        changes.extend(declared::changes(old.folder, new.folder));
        Self { changes, prompts: prompts::changes(old.program, new.program) }
    }

    /// The number of changes in this direction.
    pub fn count(&self, direction: Direction) -> usize {
        self.changes.iter().filter(|change| change.direction == direction).count()
    }
}
