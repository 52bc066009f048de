//! Modes: which mode is meant, and what does it permit?
//!
//! In: the modes and actions of a program.
//! Out: [`Mode`], found by name or id, and the actions that it permits.
//! Never: evaluates a condition: the judge does.

use super::permit::{MatchingEntries, ModePermits};
use super::{Action, ActionId, DegradationTable, Dialect, DialectId, Exit, Program, ReplyShape};
use crate::diagnostic::KnownNames;
use crate::surface::is_pattern;
use crate::text::{Location, Present};
use crate::value::Value;
use std::sync::Arc;

/// The index of a mode.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub(crate) struct ModeId(pub(crate) usize);

/// A named state of the session.
#[derive(Debug)]
pub(crate) struct Mode {
    /// The title for users, as a text.
    pub(crate) title: Value,
    /// The texts of its `sections`, by name.
    pub(crate) sections: Value,
    /// The permits and denials of actions; an action without a permit is forbidden.
    pub(crate) actions: ModePermits,
    /// The permits and denials of contents.
    pub(crate) contents: ModePermits,
    /// Where its permits are declared.
    pub(crate) at: Location,
    /// Whether the pack declares the mode. A pack without modes has an implicit one, which permits nothing.
    pub(crate) declared: bool,
    /// Its dialects, in the order in which they are tried.
    pub(crate) dialects: Vec<DialectId>,
    pub(crate) reply: ReplyShape,
    pub(crate) exits: Vec<Exit>,
    pub(crate) degradation: DegradationTable,
}

/// The modes in which something applies; all of them if it names none.
#[derive(Debug)]
pub(crate) struct Modes(pub(crate) Vec<ModeId>);

impl Modes {
    /// Whether it applies in this mode. In a mode that the pack does not declare, only what applies in all modes does.
    pub(crate) fn include(&self, mode: Option<ModeId>) -> bool {
        self.0.is_empty() || mode.is_some_and(|mode| self.0.contains(&mode))
    }

    /// Whether there is a mode in which both apply.
    pub(crate) fn meet(&self, other: &Self) -> bool {
        self.0.is_empty() || other.0.is_empty() || self.0.iter().any(|mode| other.0.contains(mode))
    }
}

impl Mode {
    /// Whether a call of this action may be permitted. The name of a pattern for tools means all of these tools.
    pub(crate) fn may_permit(&self, action: &str) -> bool {
        !self.permits_for(action).is_empty()
    }

    /// The permits that may allow a call of this action; for a pattern, those that may match one of its tools.
    pub(crate) fn permits_for(&self, action: &str) -> MatchingEntries<'_> {
        if !is_pattern(action) {
            return self.actions.possible(action);
        }
        let denied = self.actions.denies.of(action).into_iter().any(|denial| denial.when.is_none());
        if denied { MatchingEntries::new() } else { self.actions.permits.meeting(action) }
    }
}

impl Program {
    /// Whether a content of this name needs a permit: some mode has one for it.
    pub(crate) fn needs_permit(&self, content: &str) -> bool {
        self.modes
            .values()
            .any(|mode| !mode.contents.permits.is_empty() && !mode.contents.permits.of(content).is_empty())
    }

    /// Whether a mode forbids every content of this name.
    pub(crate) fn forbids_content(&self, mode: &Mode, content: &str) -> bool {
        let denied = mode.contents.denies.of(content).into_iter().any(|denial| denial.when.is_none());
        denied || (self.needs_permit(content) && mode.contents.permits.of(content).is_empty())
    }

    /// The names of these modes; empty for all modes.
    pub(crate) fn names_of(&self, modes: &Modes) -> Vec<String> {
        modes.0.iter().map(|mode| self.mode_name(*mode).to_owned()).collect()
    }

    /// The id of the mode with this name.
    pub(crate) fn mode_id(&self, name: &str) -> Option<ModeId> {
        self.modes.get_index_of(name).map(ModeId)
    }

    /// The name of a mode.
    pub(crate) fn mode_name(&self, mode: ModeId) -> &str {
        self.modes.get_index(mode.0).map(|(name, _)| name.as_str()).present()
    }

    /// The dialects of a mode, in the order in which they are tried.
    pub(crate) fn dialects_of<'p>(&'p self, mode: &'p Mode) -> impl Iterator<Item = &'p Dialect> + Clone {
        mode.dialects.iter().filter_map(|id| id.of(&self.dialects))
    }

    /// The dialects that the prompts of a mode describe: all except its fallbacks.
    pub(crate) fn asked_dialects_of<'p>(&'p self, mode: &'p Mode) -> impl Iterator<Item = &'p Dialect> + Clone {
        self.dialects_of(mode).filter(|dialect| dialect.fallback.is_none())
    }

    /// The dialect in which the prompts of a mode ask for an answer like one read by `dialect`; none if they do not ask
    /// for such an answer. For a fallback, it is the dialect that the fallback is derived from.
    pub(crate) fn asked_like<'p>(&'p self, mode: &'p Mode, dialect: &Dialect) -> Option<&'p Dialect> {
        let asked = dialect.fallback.unwrap_or(dialect.id);
        mode.dialects.iter().find(|id| **id == asked)?.of(&self.dialects)
    }

    /// The actions that a mode permits, in the order of declaration, with their permits; without patterns for tools.
    pub(crate) fn permitted<'p>(
        &'p self,
        mode: &'p Mode,
    ) -> impl Iterator<Item = (&'p String, &'p Action, MatchingEntries<'p>)> {
        let named = self.named_in(mode).filter_map(|id| self.action(id)).filter(|(_, action)| !action.is_pattern);
        let all = named.map(|(name, action)| (name, action, mode.actions.possible(name)));
        all.filter(|(.., permits)| !permits.is_empty())
    }

    /// The actions that a mode may permit, and the patterns for tools, in the order of declaration, with their permits.
    pub(crate) fn permits_in<'p>(&'p self, mode: &'p Mode) -> impl Iterator<Item = (ActionId, MatchingEntries<'p>)> {
        let all = self.named_in(mode).filter_map(|id| Some((id, mode.permits_for(self.action(id)?.0))));
        all.filter(|(_, permits)| !permits.is_empty())
    }

    /// The actions and patterns for tools that a permit of a mode may match, in the order of declaration. If the mode
    /// permits no pattern, these are the names in its permits: a pack with thousands of modes has far more other
    /// actions.
    fn named_in<'p>(&'p self, mode: &'p Mode) -> impl Iterator<Item = ActionId> + use<'p> {
        let names = mode.actions.permits.exact_names();
        let mut named: Option<Vec<usize>> = names.map(|names| {
            let patterns = self.tool_patterns.iter().map(|id| id.0);
            names.filter_map(|name| self.actions.get_index_of(name)).chain(patterns).collect()
        });
        named.iter_mut().for_each(|named| {
            named.sort_unstable();
            named.dedup();
        });
        let all = if named.is_none() { 0..self.actions.len() } else { 0..0 };
        named.into_iter().flatten().chain(all).map(ActionId)
    }

    /// The names of the permitted actions, to be compared with a name that is not among them.
    pub(crate) fn permitted_names(&self, id: ModeId) -> Option<&KnownNames> {
        let (_, mode) = self.modes.get_index(id.0)?;
        let view = self.views.get(id.0)?;
        Some(view.names.get_or_init(|| Arc::new(self.permitted(mode).map(|(name, ..)| name.as_str().into()).collect())))
    }
}
