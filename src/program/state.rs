//! State, compiled: where does each value of the state come from?
//!
//! In: the state of the surface.
//! Out: [`StateSlot`]s, and the rules by which some of them are computed.
//! Never: computes a value: the session does, when it is first read.

use super::Schema;
use crate::expression::{FailureKind, Scope, Template};
use crate::text::Location;
use crate::value::{ComputeRule, Value};

/// One value of the state.
#[derive(Debug)]
pub(crate) struct StateSlot {
    pub(crate) schema: Schema,
    pub(crate) compute: Option<Template>,
    /// How the value is computed, if it is the same in all sessions.
    pub(crate) rule: Option<ComputeRule>,
    /// Whether only the host sets it.
    pub(crate) host: bool,
    /// What the pack's expressions read of the value: the path inside it, and the place.
    pub(crate) reads: Vec<(Vec<String>, Location)>,
    /// Whether it can get a value: from a default, a computation, the host, or an effect.
    pub(crate) given: bool,
    /// Whether an effect changes it.
    pub(crate) changed: bool,
    pub(crate) at: Location,
    /// The place of its initial value.
    pub(crate) default: Option<Location>,
}

impl StateSlot {
    /// How the value called `name` is computed, if it is the same in all sessions.
    pub(super) fn rule_for_all(name: &str, compute: &Template, data: &Value) -> Option<ComputeRule> {
        let of_session = |read: &Vec<String>| read.first().is_some_and(|name| matches!(name.as_str(), "mode" | "now"));
        let same = !compute.reads().iter().any(of_session);
        same.then(|| Self::rule(name, compute, data, Value::Null, Value::Null))
    }

    /// How the value called `name` is computed in a mode and at a time. It can read the values declared before it.
    pub(crate) fn rule(name: &str, compute: &Template, data: &Value, mode: Value, now: Value) -> ComputeRule {
        let (name, compute, data) = (name.to_owned(), compute.clone(), data.clone());
        let makes = compute.reads_at().path().is_none();
        ComputeRule::new(members_read(&compute), makes, move |state, budget| {
            let before = state.before(&name);
            let mut scope = Scope::new().with("data", &data).with("mode", &mode).with("now", &now);
            scope.add_view("state", &before);
            scope.limit(budget);
            match compute.render(&scope) {
                Err(failure) if failure.kind == FailureKind::Budget => None,
                value => Some(value.unwrap_or_default()),
            }
        })
    }
}

/// The members of the state that a template reads, each once; none if it may be any.
fn members_read(compute: &Template) -> Option<Vec<String>> {
    let of_state = compute.reads().iter().filter(|path| path.first().is_some_and(|name| name == "state"));
    // A number may be an index into the state, and then the whole state is read.
    let member = |path: &Vec<String>| path.get(1).filter(|name| name.parse::<usize>().is_err()).cloned();
    let mut members: Vec<String> = of_state.map(member).collect::<Option<_>>()?;
    members.sort_unstable();
    members.dedup();
    Some(members)
}
