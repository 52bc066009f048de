//! Tables: which declarations does a program have, and which permits?
//!
//! In: a [`Program`].
//! Out: rows for `explain`, coverage and comparisons.
//! Never: formats them.

use super::{EffectRule, MatchingEntries, MessageId, Permit, PermitList, Program, Verb};
use crate::text::FilePlace;
use std::collections::HashSet;
use std::iter;

/// Whether, and under which condition, a mode permits an action or a content.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Permission {
    /// No permit allows it.
    Forbidden,
    /// It is permitted.
    Always {
        /// The place of the permit.
        rule: FilePlace,
    },
    /// It is permitted under a condition, or once a person has confirmed it.
    When {
        /// The condition; one of several is enough. `confirmed` in it means that a person has to confirm each call.
        condition: String,
        /// The place of the first permit.
        rule: FilePlace,
    },
}

/// One cell of the matrix of actions and modes, or of contents and modes.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct PermitCell {
    /// The action, or the content.
    pub name: String,
    /// The mode.
    pub mode: String,
    /// Whether the mode permits it.
    pub permission: Permission,
}

impl PermitCell {
    /// Whether it is forbidden, or permitted on a condition only.
    pub fn is_restricted(&self) -> bool {
        !matches!(self.permission, Permission::Always { .. })
    }
}

impl Program {
    /// The matrix of actions and modes, action by action.
    #[doc(hidden)]
    pub fn permit_table(&self) -> Vec<PermitCell> {
        let mut cells = Vec::new();
        // If the host has declared its tools, they are listed instead of the pattern.
        for (action, _) in self.actions.iter().filter(|(_, action)| !(action.is_pattern && self.knows_tools)) {
            for (name, mode) in self.modes.iter() {
                // A pattern stands for the tools that match it.
                let permission = self.permission(action, &mode.permits_for(action), &mode.actions.denies);
                cells.push(PermitCell { name: action.clone(), mode: name.clone(), permission });
            }
        }
        cells
    }

    /// The matrix of contents and modes, content by content. A content needs a permit only if some mode has one for it.
    #[doc(hidden)]
    pub fn content_permit_table(&self) -> Vec<PermitCell> {
        let mut cells = Vec::new();
        for content in self.contents.keys() {
            let needs_permit = self.needs_permit(content);
            for (name, mode) in self.modes.iter() {
                let free = Permit { when: None, about: None, advice: None, confirm: None, at: mode.at };
                let is_free = !needs_permit && !self.forbids_content(mode, content);
                let permits = if is_free { iter::once(&free).collect() } else { mode.contents.possible(content) };
                let permission = self.permission(content, &permits, &mode.contents.denies);
                cells.push(PermitCell { name: content.clone(), mode: name.clone(), permission });
            }
        }
        cells
    }

    /// Whether these permits and denials of a mode allow an action or a content.
    fn permission(&self, name: &str, permits: &MatchingEntries<'_>, denies: &PermitList) -> Permission {
        let free = permits.iter().find(|permit| permit.is_free());
        let Some(first) = free.or(permits.first()) else { return Permission::Forbidden };
        let rule = self.place(first.at).unwrap_or_default();
        let denials = denies.of(name);
        let denials: Vec<&str> = denials.into_iter().filter_map(|one| Some(one.when.as_ref()?.source())).collect();
        if free.is_some() && denials.is_empty() {
            return Permission::Always { rule };
        }
        let conditions = permits.iter().map(|permit| match (&permit.when, &permit.confirm) {
            (Some(when), None) => when.source().to_owned(),
            (Some(when), Some(_)) => format!("({}) and confirmed", when.source()),
            (None, _) => "confirmed".to_owned(),
        });
        let conditions = conditions.collect::<Vec<_>>().join(" or ");
        let condition = match denials.as_slice() {
            [] => conditions,
            denials if free.is_some() => format!("not ({})", denials.join(" or ")),
            denials => format!("({conditions}) and not ({})", denials.join(" or ")),
        };
        Permission::When { condition, rule }
    }

    /// Every effect with the name of its owner; each before those nested in it.
    pub(crate) fn effects(&self) -> Vec<(&str, &EffectRule)> {
        let actions = self.actions.iter().map(|(name, action)| (name, &*action.effects));
        let contents = self.contents.iter().map(|(name, content)| (name, &content.effects));
        let rules = self.flows.rules.iter().map(|rule| (&rule.id, &rule.effects));
        let owners = actions.chain(contents).chain(rules);
        owners
            .flat_map(|(name, effects)| EffectRule::walk(effects).into_iter().map(move |one| (name.as_str(), one)))
            .collect()
    }

    /// The messages that an effect, an input or an exit emits.
    pub(crate) fn messages_in_use(&self) -> HashSet<MessageId> {
        let used = self.effects().into_iter().filter_map(|(_, effect)| match &effect.verb {
            Some(Verb::Say { message, .. }) => Some(*message),
            _ => None,
        });
        let asked = self.flows.inputs.iter().filter_map(|input| input.ask);
        let shut = self.modes.values().flat_map(|mode| &mode.exits).filter_map(|exit| exit.shut);
        used.chain(asked).chain(shut).collect()
    }
}
