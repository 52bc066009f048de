//! Actions: what may a response ask for?
//!
//! In: the checked actions of a pack.
//! Out: [`Action`] with its parameters and effects, and [`ActionId`], by which the program refers to it.
//! Never: decides who may ask for it: the modes do.

use super::{DegradationTable, EffectRule, Program, Schema};
use crate::surface::{Tree, literal_start};
use crate::text::{Location, Spanned, glob};
use foldhash::fast::RandomState;
use smallvec::SmallVec;
use std::collections::HashMap;
use std::sync::Arc;

/// The number of an action within its program.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub(crate) struct ActionId(pub(crate) usize);

/// Something that a response may ask for.
#[derive(Debug)]
pub(crate) struct Action {
    /// What the action does, in one sentence.
    pub(crate) about: Option<String>,
    /// Other spellings of the action's name.
    pub(crate) names: Vec<String>,
    pub(crate) schema: Schema,
    /// The schema of the value that the host returns.
    pub(crate) returns: Option<Schema>,
    /// The parameters one by one, so that a fault in a schema is reported at its parameter.
    pub(crate) params: Vec<Param>,
    pub(crate) effects: Arc<Vec<EffectRule>>,
    pub(crate) degradation: DegradationTable,
    /// Whether the name is a pattern: the action then declares every tool whose name matches.
    pub(crate) is_pattern: bool,
    pub(crate) at: Location,
}

/// Where a parameter is declared in the pack.
#[derive(Debug, Clone)]
pub(crate) struct Param {
    pub(crate) name: String,
    pub(crate) at: Location,
    /// Where its example is, or the first of several examples.
    pub(crate) example: Option<Location>,
    /// Where its default is.
    pub(crate) default: Option<Location>,
}

impl Param {
    pub(super) fn of(name: &str, param: &Spanned<Tree>) -> Self {
        let place = |key: &str| param.value.get(key).map(Tree::at);
        let example = place("example").or_else(|| place("examples"));
        Self { name: name.to_owned(), at: param.at, example, default: place("default") }
    }
}

impl Action {
    /// The `name` of the action, then its other spellings.
    pub(crate) fn spellings<'a>(&'a self, name: &'a str) -> impl Iterator<Item = &'a str> {
        std::iter::once(name).chain(self.names.iter().map(String::as_str))
    }
}

/// The actions by every spelling of their names, in lower case; the actions of one spelling are in the order of
/// declaration.
#[derive(Debug, Default)]
pub(crate) struct ActionSpellings(HashMap<String, SmallVec<[ActionId; 1]>, RandomState>);

impl Program {
    /// The action with this name, or else the first one with this other spelling; `same` compares names.
    pub(crate) fn action_spelled(&self, name: &str, same: impl Fn(&str, &str) -> bool) -> Option<ActionId> {
        let alike = self.spellings().0.get(&name.to_ascii_lowercase())?.iter().filter_map(|id| {
            let (declared, action) = self.action(*id)?;
            Some((*id, declared, action))
        });
        let named = alike.clone().find(|(_, declared, _)| same(declared, name));
        let spelled = || { alike }.find(|(.., action)| action.names.iter().any(|other| same(other, name)));
        named.or_else(spelled).map(|(id, ..)| id)
    }

    /// Built when a response first contains a name that is not declared.
    fn spellings(&self) -> &ActionSpellings {
        self.spellings.get_or_init(|| {
            let mut spellings = ActionSpellings::default();
            for (id, declared, action) in self.actions_by_id().filter(|(.., action)| !action.is_pattern) {
                for spelling in action.spellings(declared) {
                    let ids = spellings.0.entry(spelling.to_ascii_lowercase()).or_default();
                    if ids.last() != Some(&id) {
                        ids.push(id);
                    }
                }
            }
            spellings
        })
    }

    /// The id of the action with this name. A pattern for tools has no id of this kind.
    pub(crate) fn action_id(&self, name: &str) -> Option<ActionId> {
        self.actions.get_full(name).filter(|(.., action)| !action.is_pattern).map(|(number, ..)| ActionId(number))
    }

    /// The pattern for tools that matches this name; of several, the one with the longest literal prefix.
    pub(crate) fn pattern_of(&self, name: &str) -> Option<ActionId> {
        let patterns = self.tool_patterns.iter().filter_map(|id| Some((*id, self.action(*id)?.0)));
        let fitting = patterns.filter(|(_, pattern)| glob(pattern, name));
        fitting.max_by_key(|(_, pattern)| literal_start(pattern).len()).map(|(id, _)| id)
    }

    /// The action with this id, and its name.
    pub(crate) fn action(&self, id: ActionId) -> Option<(&String, &Action)> {
        self.actions.get_index(id.0).map(|(name, action)| (name, &**action))
    }

    /// Every action in the order of declaration, with its id and name.
    pub(crate) fn actions_by_id(&self) -> impl Iterator<Item = (ActionId, &String, &Action)> + Clone {
        self.actions.iter().enumerate().map(|(number, (name, action))| (ActionId(number), name, &**action))
    }
}
