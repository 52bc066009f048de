//! Guardrails: can each of them trip, and does it say something of its own?
//!
//! In: the guardrails of a program.
//! Out: a finding for each pattern that can match nothing, each text that no dialect has, each repetition.
//! Never: searches a text.

use crate::diagnostic::{Code, Diagnostic};
use crate::program::{Guardrail, Program, Target};
use crate::surface::Role;

pub(super) fn check(program: &Program, found: &mut Vec<Diagnostic>) {
    let rules = &program.guardrails.rules;
    for (number, rule) in rules.iter().enumerate() {
        if let Some(why) = idle(program, rule) {
            let message = format!("the guardrail `{}` cannot trip: {why}", rule.id);
            found.push(Diagnostic::new(Code::PACK_IDLE_GUARDRAIL, rule.at, message));
        }
        let same = |other: &&Guardrail| says_the_same(rule, other);
        if let Some(first) = rules.iter().take(number).find(same) {
            found.push(
                Diagnostic::new(
                    Code::PACK_REPEATED_GUARDRAIL,
                    rule.at,
                    format!("the guardrail `{}` looks for what `{}` looks for", rule.id, first.id),
                )
                .with_place(first.at, "the first stands here")
                .with_help("take one of them out"),
            );
        }
    }
}

/// Why a guardrail can never trip.
fn idle(program: &Program, rule: &Guardrail) -> Option<String> {
    let bound = |role| program.dialects.iter().flat_map(|dialect| &dialect.blocks).any(|block| block.role == role);
    match (&rule.target, &rule.pattern) {
        // Without a block for it, the message may still be what stands outside all blocks.
        (Target::Role(role), _) if *role != Role::Message && *role != Role::Section && !bound(*role) => {
            Some(format!("no block is a {}", role.word()))
        }
        (_, Some(pattern)) if !rule.inverted && pattern.matches_nothing() => {
            Some("its pattern matches no text".to_owned())
        }
        (_, Some(pattern)) if rule.inverted && pattern.matches_everything() => {
            Some("its pattern matches every text".to_owned())
        }
        _ => None,
    }
}

fn says_the_same(one: &Guardrail, other: &Guardrail) -> bool {
    let pattern = |rule: &Guardrail| rule.pattern.as_ref().map(|pattern| pattern.source().to_owned());
    let when = |rule: &Guardrail| rule.when.as_ref().map(|when| when.source().to_owned());
    let together =
        one.modes.is_empty() || other.modes.is_empty() || one.modes.iter().any(|mode| other.modes.contains(mode));
    together
        && (&one.target, one.inverted, pattern(one), when(one))
            == (&other.target, other.inverted, pattern(other), when(other))
}
