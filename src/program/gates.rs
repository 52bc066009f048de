//! Gates: can each of them ever open?
//!
//! In: a program: its exits, and which values of the state anything can change.
//! Out: `pack/shut-gate` for each gate that reads nothing but what never changes, and does not hold.
//! Never: guesses: a gate that reads anything that may change is taken to open some day.

use super::Program;
use crate::diagnostic::{Code, Diagnostic};
use crate::expression::Scope;
use serde_json::Value;

impl Program {
    /// Says which gates never open.
    pub(super) fn check_gates(&self) -> Vec<Diagnostic> {
        let changing = self.changing();
        let mut found = Vec::new();
        for (name, mode) in &self.modes {
            for exit in &mode.exits {
                let Some(gate) = &exit.gate else { continue };
                if gate.reads().iter().any(|read| self.may_change(read, &changing)) {
                    continue;
                }
                let (mode, now) = (Value::from(name.as_str()), Value::Null);
                let mut scope = Scope::new().with("data", &self.data).with("mode", &mode).with("now", &now);
                scope.add_record("state", &self.initial);
                if gate.holds(&scope) != Ok(true) {
                    let message = "this gate never opens: nothing changes what it reads";
                    found.push(
                        Diagnostic::new(Code::PACK_SHUT_GATE, gate.at(), message)
                            .with_help("let an effect or the host (`from = \"host\"`) set what it waits for"),
                    );
                }
            }
        }
        found
    }

    /// The values of the state that an effect or the host changes, and those computed from them.
    fn changing(&self) -> Vec<String> {
        let changed = self.slots.iter().filter(|(_, slot)| slot.host || slot.changed);
        let mut changing: Vec<String> = changed.map(|(name, _)| name.clone()).collect();
        // A computed value sees those before it.
        for (name, slot) in &self.slots {
            let reads = slot.compute.as_ref().map(|compute| compute.reads()).unwrap_or_default();
            if reads.iter().any(|read| self.may_change(read, &changing)) {
                changing.push(name.clone());
            }
        }
        changing
    }

    fn may_change(&self, read: &[String], changing: &[String]) -> bool {
        match read {
            [name, member, ..] if name == "state" => changing.contains(member),
            [name] if name == "state" => true,
            [name, ..] => name == "now" || name == "mode",
            [] => false,
        }
    }
}
