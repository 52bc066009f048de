//! Gates: can each of them ever open?
//!
//! In: a program: its exits, and the values that effects and the host can give its state.
//! Out: `pack/shut-gate` for each gate that holds in none of these states; the same test for any other condition.
//! Never: guesses: if the values are not all known, a condition counts as one that may hold.

use super::{Effect, Program, Verb};
use crate::diagnostic::{Code, Diagnostic};
use crate::expression::{Expression, Scope};
use crate::text::Location;
use crate::value::Record;
use crate::value::Value;

/// The most states that are tried. A condition that needs more counts as one that may hold.
const MOST: usize = 256;

impl Program {
    /// Reports the gates that never open.
    pub(super) fn check_gates(&self) -> Vec<Diagnostic> {
        let mut found = Vec::new();
        for (name, mode) in self.modes.iter() {
            for gate in mode.exits.iter().filter_map(|exit| exit.gate.as_ref()) {
                let Some(tried) = self.never_holds(gate, Some(name)) else { continue };
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

    /// If a condition holds in no possible state: how many states were tried. `mode` is the mode, if known.
    pub(crate) fn never_holds(&self, condition: &Expression, mode: Option<&str>) -> Option<usize> {
        let effects: Vec<&Effect> = self.effects().into_iter().map(|(_, effect)| effect).collect();
        self.never_holds_after(&effects, condition, mode)
    }

    /// The same if only these effects ever happen.
    pub(super) fn never_holds_after(
        &self,
        effects: &[&Effect],
        condition: &Expression,
        mode: Option<&str>,
    ) -> Option<usize> {
        let (states, mode) = (self.states(effects, condition.reads(), mode)?, Value::from(mode));
        let holds = |state: &Record| {
            let mut scope = Scope::new().with("data", &self.data).with("mode", &mode);
            scope.add_record("state", state);
            condition.holds(&scope) == Ok(true)
        };
        (!states.iter().any(holds)).then_some(states.len())
    }

    /// The states that differ in the values read; none if they are not all known.
    fn states(&self, effects: &[&Effect], reads: &[Vec<String>], mode: Option<&str>) -> Option<Vec<Record>> {
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
                    for value in self.values(effects, name)? {
                        states.extend(before.iter().cloned().map(|mut state| {
                            state.entry(name).clone_from(&value);
                            state
                        }));
                    }
                }
            }
            if states.len() > MOST {
                return None;
            }
        }
        states.iter_mut().for_each(|state| self.compute_all(state, mode));
        Some(states)
    }

    /// The values that effects can give a value of the state; none if they may be any.
    fn values(&self, effects: &[&Effect], name: &str) -> Option<Vec<Value>> {
        if self.slots.get(name).is_none_or(|slot| slot.host) {
            return None;
        }
        let mut values = Vec::new();
        for effect in effects {
            let (path, value) = match &effect.verb {
                Some(Verb::Set { path, value }) => (path, Some(value)),
                Some(Verb::Append { path, .. } | Verb::Remove { path }) => (path, None),
                _ => continue,
            };
            if path.head().next()? == name {
                let constant = value.filter(|value| path.len() == 1 && value.templates().is_empty())?;
                values.push(constant.render(&Scope::new()).ok()?);
            }
        }
        Some(values)
    }

    /// Updates the computed values of a state. A computed value sees those before it.
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
