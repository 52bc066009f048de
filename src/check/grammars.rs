//! Grammars: is every rule used, and can each be read in linear time?
//!
//! In: the grammars of a program's dialects.
//! Out: a finding for each rule that is never called, matches nothing or is always shadowed by another, and for each
//! that may read its text many times.
//! Never: reads a text.

use crate::diagnostic::{Code, Diagnostic, is_fault};
use crate::program::Program;
use std::sync::Arc;

/// The rules that the reader calls by name.
const KNOWN: &[&str] = &["open", "close", "payload", "name", "attribute", "key", "value", "empty"];

pub(super) fn check(program: &Program, found: &mut Vec<Diagnostic>) {
    let families = program.dialects.iter().filter(|dialect| dialect.outline.is_none());
    let mut seen = Vec::new();
    for grammar in families.flat_map(|dialect| dialect.families.iter()).map(|family| &family.grammar) {
        if seen.iter().any(|one| Arc::ptr_eq(one, grammar)) {
            continue;
        }
        seen.push(grammar.clone());
        found.extend(grammar.doubts().iter().cloned());
        let known = |name: &str| KNOWN.contains(&name) || is_fault(name);
        let used = grammar.called_from(|name| known(name));
        for rule in grammar.rules() {
            let (name, first) = (grammar.rule_name(rule), grammar.first(rule));
            let idle = if !used.contains(&rule) {
                "nothing calls it, and the reader does not know it"
            } else if !first.empty && !first.bytes.contains(&true) {
                "it matches no text"
            } else {
                continue;
            };
            let message = format!("the rule `{name}` never counts: {idle}");
            found.push(
                Diagnostic::new(Code::PACK_IDLE_SPELLING, grammar.rule_at(rule), message)
                    .with_help("call it from `open`, `close` or `payload`, or take it out"),
            );
        }
    }
}
