//! Groups: which actions or contents is a permit about?
//!
//! In: the names, patterns and groups in a permit.
//! Out: its names and patterns, with those of its groups; whether it may be about an action.
//! Never: reports a name or group that nothing declares: the check of names does.

use super::{Permit, Surface};
use crate::text::{Spanned, glob};

/// What comes before the name of a group in a permit.
const GROUP: char = '@';

/// The name of the group that a permit names with `@`.
pub(crate) fn group_named(name: &str) -> Option<&str> {
    name.strip_prefix(GROUP)
}

/// Whether a name is a pattern, with `*` or `?`.
pub(crate) fn is_pattern(name: &str) -> bool {
    name.contains(['*', '?'])
}

/// What a pattern has before its first `*` or `?`.
pub(crate) fn literal_start(pattern: &str) -> &str {
    pattern.split(['*', '?']).next().unwrap_or_default()
}

/// Whether a name may fit both patterns. It is enough that neither start rules the other out.
pub(crate) fn may_meet(one: &str, other: &str) -> bool {
    let (one, other) = (literal_start(one), literal_start(other));
    one.starts_with(other) || other.starts_with(one)
}

/// Whether what a permit names may be about the action `action`: a name, or a pattern for tools.
pub(crate) fn is_about(named: &str, action: &str) -> bool {
    match (is_pattern(named), is_pattern(action)) {
        (true, true) => may_meet(named, action),
        (false, true) => glob(action, named),
        (_, false) => glob(named, action),
    }
}

impl Surface {
    /// The names and patterns that a permit is about: those of groups in the place of the group. A group inside itself
    /// adds nothing.
    pub(crate) fn named_by<'s>(&'s self, permit: &'s Permit) -> Vec<&'s Spanned<String>> {
        let mut named = Vec::new();
        let mut entered: Vec<&str> = Vec::new();
        let mut rest: Vec<&Spanned<String>> = permit.names().iter().rev().collect();
        while let Some(name) = rest.pop() {
            match group_named(&name.value) {
                Some(group) if entered.contains(&group) => {}
                Some(group) => {
                    entered.push(group);
                    rest.extend(self.groups.get(group).iter().flat_map(|names| names.value.0.iter().rev()));
                }
                None => named.push(name),
            }
        }
        named
    }

    /// Whether a permit may be about this action, or this pattern for tools.
    pub(crate) fn may_concern(&self, permit: &Permit, action: &str) -> bool {
        // Most permits name no group.
        let has_groups = permit.names().iter().any(|name| group_named(&name.value).is_some());
        !permit.is_of_contents()
            && match has_groups {
                false => permit.names().iter().any(|name| is_about(&name.value, action)),
                true => self.named_by(permit).into_iter().any(|name| is_about(&name.value, action)),
            }
    }
}
