//! Compare: what does a change of a pack mean?
//!
//! In: two versions of a pack, each as its folder and its program.
//! Out: [`Comparison`]: what widened, narrowed, changed, appeared or went, and what the prompts cost before and after.
//! Never: guesses: where it cannot be decided whether more is allowed than before, it says `changed`.

mod conditions;
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
use serde::Serialize;
use std::cmp::Ordering;
use std::sync::Arc;

/// A version of a pack.
#[derive(Debug, Clone, Copy)]
pub struct Version<'v> {
    /// Its files.
    pub folder: &'v Folder,
    /// What they compile to.
    pub program: &'v Program,
}

/// What a change of a pack means.
#[derive(Debug, Clone, Default)]
#[non_exhaustive]
pub struct Comparison {
    /// What changed, kind by kind.
    pub changes: Vec<Change>,
    /// The prompts whose size changed.
    pub prompts: Vec<PromptChange>,
}

/// In which way something changed.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "lowercase")]
#[non_exhaustive]
pub enum Way {
    /// More is allowed than before, and maybe less elsewhere.
    Widened,
    /// Less is allowed than before.
    Narrowed,
    /// Something else, or it cannot be decided.
    Changed,
    /// It was not there before.
    Appeared,
    /// It is there no more.
    Gone,
}

impl Way {
    /// The word for it.
    pub fn name(self) -> &'static str {
        match self {
            Way::Widened => "widened",
            Way::Narrowed => "narrowed",
            Way::Changed => "changed",
            Way::Appeared => "appeared",
            Way::Gone => "gone",
        }
    }

    /// The way of what is now more or less than it was, where more of it allows more.
    fn of(now: Ordering) -> Self {
        match now {
            Ordering::Greater => Way::Widened,
            Ordering::Less => Way::Narrowed,
            Ordering::Equal => Way::Changed,
        }
    }

    /// Both at once: what widens here has widened, whatever it does there.
    fn and(self, other: Self) -> Self {
        match (self, other) {
            (Way::Widened, _) | (_, Way::Widened) => Way::Widened,
            (one, other) if one == other => one,
            _ => Way::Changed,
        }
    }
}

/// One declaration that is not what it was.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[cfg_attr(feature = "schema", schemars(deny_unknown_fields))]
#[non_exhaustive]
pub struct Change {
    /// What kind of declaration: `permit`, `parameters`, `exit`, `guardrail`, `effect`, `insist`, `block`, `thinking`,
    /// `limit`, `mask`, `path`, `degradation`, `file`, or the pack's table of it.
    pub kind: String,
    /// What the pack calls it.
    pub name: String,
    /// In which way it changed.
    pub way: Way,
    /// What about it, phrase by phrase.
    pub how: Vec<String>,
    /// Where it stands now, or stood, `pack/file:line:column`.
    pub rule: Option<Arc<str>>,
    /// Whether it is there no more: then `rule` is a place of the version before.
    pub gone: bool,
}

/// A prompt whose size changed.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[cfg_attr(feature = "schema", schemars(deny_unknown_fields))]
#[non_exhaustive]
pub struct PromptChange {
    /// The prompt.
    pub prompt: String,
    /// The mode in which a session asks for it.
    pub mode: String,
    /// The tier.
    pub tier: String,
    /// Its tokens before; none if there was no such prompt.
    pub before: Option<usize>,
    /// Its tokens now; none if there is no such prompt any more.
    pub after: Option<usize>,
}

impl Comparison {
    /// What the change from `old` to `new` means.
    pub fn of(old: Version<'_>, new: Version<'_>) -> Self {
        let mut changes = permissions::changes(old.program, new.program);
        changes.extend(effects::changes(old.program, new.program));
        changes.extend(shape::changes(old.program, new.program));
        changes.extend(degradation::changes(old.program, new.program));
        changes.extend(declared::changes(old.folder, new.folder));
        Self { changes, prompts: prompts::changes(old.program, new.program) }
    }

    /// How many changes are of this way.
    pub fn count(&self, way: Way) -> usize {
        self.changes.iter().filter(|change| change.way == way).count()
    }
}
