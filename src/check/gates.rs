//! Gates: can each of them ever open?
//!
//! In: a program: its exits, and the values that effects and the host can give its state.
//! Out: `pack/shut-gate` for each gate that is false in all of these states; the same test for any other condition.
//! Never: guesses: if the values are not all known, a condition counts as one that may be true.

use crate::diagnostic::{Code, Diagnostic};
use crate::expression::{Expression, Scope};
use crate::program::{EffectRule, Program, Shape, StateWrite};
use crate::text::Location;
use crate::value::Record;
use crate::value::Value;
use std::collections::HashMap;

/// The most states that are tried. A condition that needs more counts as one that may be true.
const MAX_STATES: usize = 256;

/// What effects can do to the values of the state. It is collected once for many conditions, so that the time for a
/// condition does not grow with the number of effects.
#[derive(Debug, Default)]
pub(crate) struct Changes<'p> {
    by_name: HashMap<&'p str, AssignedValues<'p>>,
    /// Whether an effect may change any value.
    any: bool,
}

/// The values that effects assign to one value of the state.
#[derive(Debug, Default)]
struct AssignedValues<'p> {
    /// Each constant, once for every effect that assigns it.
    constants: Vec<&'p Shape>,
    /// Whether the value may be anything else, or there are too many constants to try.
    open: bool,
}

impl<'p> Changes<'p> {
    /// Adds an effect. Returns whether the effect can do anything that those added before cannot.
    pub(super) fn add(&mut self, effect: &'p EffectRule) -> bool {
        let (path, value) = match effect.state_write() {
            Some(StateWrite::Value(path, value)) => (path, Some(value)),
            Some(StateWrite::Entry(path, _) | StateWrite::Removal(path)) => (path, None),
            None => return false,
        };
        let Some(name) = path.head().next() else { return !std::mem::replace(&mut self.any, true) };
        let given = self.by_name.entry(name).or_default();
        if given.open {
            return false;
        }
        match value.filter(|value| path.len() == 1 && value.templates().is_empty()) {
            Some(constant) if given.constants.len() < MAX_STATES => given.constants.push(constant),
            _ => given.open = true,
        }
        true
    }
}

impl Program {
    /// Everything that the effects of the pack can do.
    pub(crate) fn changes(&self) -> Changes<'_> {
        let mut changes = Changes::default();
        self.effects().into_iter().for_each(|(_, effect)| _ = changes.add(effect));
        changes
    }

    /// Reports the gates that never open.
    pub(super) fn check_gates(&self) -> Vec<Diagnostic> {
        let mut found = Vec::new();
        let changes = self.changes();
        for (name, mode) in self.modes.iter() {
            for gate in mode.exits.iter().filter_map(|exit| exit.gate.as_ref()) {
                let Some(tried) = self.is_never_true(&changes, gate, Some(name)) else { continue };
                let inside = |at: Location| at.source == gate.at().source && gate.at().span.covers(at.span);
                if let Some(idle) = self.idle_comparisons.iter().find(|one| inside(one.constant.at)) {
                    let message = format!("this gate never opens: {}", idle.message());
                    found.push(idle.explain(Diagnostic::new(Code::PACK_SHUT_GATE, idle.constant.at, message)));
                    continue;
                }
                let message = match tried {
                    1 => "this gate never opens: nothing changes what it reads",
                    _ => "this gate never opens: it is false for every value that is ever set",
                };
                found.push(
                    Diagnostic::new(Code::PACK_SHUT_GATE, gate.at(), message)
                        .with_help("let an effect or the host (`from = \"host\"`) set what it waits for"),
                );
            }
        }
        found
    }

    /// If a condition is true in no possible state: how many states were tried. `mode` is the mode, if known.
    pub(crate) fn is_never_true(
        &self,
        changes: &Changes<'_>,
        condition: &Expression,
        mode: Option<&str>,
    ) -> Option<usize> {
        let (states, mode) = (self.states(changes, condition.reads(), mode)?, Value::from(mode));
        let holds = |state: &Record| {
            let mut scope = Scope::new().with("data", &self.data).with("mode", &mode);
            scope.add_record("state", state);
            condition.holds(&scope) == Ok(true)
        };
        (!states.iter().any(holds)).then_some(states.len())
    }

    /// The possible states, which differ only in the values read; none if these are not all known.
    fn states(&self, changes: &Changes<'_>, reads: &[Vec<String>], mode: Option<&str>) -> Option<Vec<Record>> {
        let mut left: Vec<&[String]> = reads.iter().map(Vec::as_slice).collect();
        let (mut known, mut states) = (Vec::new(), vec![self.initial.clone()]);
        while let Some(read) = left.pop() {
            let name = match read {
                [name, member, ..] if name == "state" => member,
                [name, ..] if name == "data" || (name == "mode" && mode.is_some()) => continue,
                _ => return None,
            };
            let Some(slot) = self.slots.get(name).filter(|_| !known.contains(&name)) else { continue };
            known.push(name);
            match &slot.compute {
                Some(compute) => left.extend(compute.reads().iter().map(Vec::as_slice)),
                None => {
                    let before = states.clone();
                    for value in self.values(changes, name)? {
                        states.extend(before.iter().cloned().map(|mut state| {
                            state.entry(name).clone_from(&value);
                            state
                        }));
                    }
                }
            }
            if states.len() > MAX_STATES {
                return None;
            }
        }
        states.iter_mut().for_each(|state| self.compute_all(state, mode));
        Some(states)
    }

    /// The values that effects can assign to a value of the state, with repetitions; none if they may assign any.
    fn values(&self, changes: &Changes<'_>, name: &str) -> Option<Vec<Value>> {
        if changes.any || self.slots.get(name).is_none_or(|slot| slot.host) {
            return None;
        }
        let Some(given) = changes.by_name.get(name) else { return Some(Vec::new()) };
        let values = given.constants.iter().map(|constant| constant.render(&Scope::new()).ok());
        values.collect::<Option<_>>().filter(|_| !given.open)
    }

    /// Updates the computed values of a state. A computed value can read the ones declared before it.
    fn compute_all(&self, state: &mut Record, mode: Option<&str>) {
        let mode = Value::from(mode);
        for (name, compute) in self.slots.iter().filter_map(|(name, slot)| Some((name, slot.compute.as_ref()?))) {
            let mut scope = Scope::new().with("data", &self.data).with("mode", &mode).with("now", &Value::Null);
            scope.add_record("state", state);
            let value = compute.render(&scope).unwrap_or_default();
            *state.entry(name) = value;
        }
    }
}
