//! Schema compilation: can each schema be compiled, and is each default valid against its own schema?
//!
//! In: a program, and the schemas whose faults have been reported already.
//! Out: `pack/bad-schema` for each schema that cannot be used.
//! Never: validates a value of an answer.

use super::{Param, Program, Schema, Verb, misfit_at};
use crate::diagnostic::{Code, Diagnostic};
use crate::text::{Location, excerpt};
use std::collections::HashSet;

impl Program {
    /// Compiles every schema, and reports those that fail, except the `misspelt` ones, which have been reported
    /// already.
    pub(super) fn compile_schemas(&self, misspelt: &HashSet<Location>) -> Vec<Diagnostic> {
        let mut faults = Vec::new();
        let mut fault = |what: String, at: Location, error: &str| {
            let message = format!("{what}: {}", excerpt(error, 160));
            faults.push(Diagnostic::new(Code::PACK_SCHEMA, at, message));
        };
        let spelt = |at: &Location| !misspelt.contains(at);
        for (name, action) in &self.actions {
            if let Some(error) = action.returns.as_ref().filter(|_| spelt(&action.at)).and_then(Schema::fault) {
                fault(format!("the schema of what `{name}` returns cannot be used"), action.at, error);
            }
            let Some(error) = action.schema.fault() else { continue };
            // Compile each parameter by itself, to find the one that is wrong.
            let mut found = action.params.iter().any(|param| !spelt(&param.at));
            for Param { name: param, at, .. } in action.params.iter().filter(|param| spelt(&param.at)) {
                if let Some(error) = action.schema.of_property(param).fault() {
                    found = true;
                    fault(format!("the schema of `{param}` cannot be used"), *at, error);
                }
            }
            if !found {
                fault(format!("the schema of `{name}` cannot be used"), action.at, error);
            }
        }
        for (_, effect) in self.effects().into_iter().filter(|(_, effect)| spelt(&effect.at)) {
            if let Some(Verb::Record { schema: Some(schema), .. }) = &effect.verb
                && let Some(error) = schema.fault()
            {
                fault("the schema of what is recorded cannot be used".to_owned(), effect.at, error);
            }
        }
        for (name, slot) in self.slots.iter().filter(|(_, slot)| spelt(&slot.at)) {
            match (slot.schema.fault(), self.initial.get(name)) {
                (Some(error), _) => fault(format!("the schema of `{name}` cannot be used"), slot.at, error),
                (None, Some(value)) if slot.compute.is_none() && !value.is_null() => {
                    if let Some(error) = slot.schema.first_fault(value) {
                        let place = misfit_at(&format!("state.{name}"), &error);
                        fault(
                            format!("the default of `{name}` does not match its schema"),
                            slot.default.unwrap_or(slot.at),
                            &place,
                        );
                    }
                }
                _ => {}
            }
        }
        faults
    }
}
