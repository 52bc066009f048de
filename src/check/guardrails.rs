//! Guardrails: can each of them trip, and does it differ from all others?
//!
//! In: the guardrails of a program.
//! Out: a finding for each pattern that can match nothing, for each target that no dialect has, and for each
//! repetition.
//! Never: searches a text.

use super::conditions::is_never_true;
use super::gates::Changes;
use super::inclusion::Matched;
use crate::diagnostic::{Code, Diagnostic};
use crate::program::{BlockBinding, Guardrail, GuardrailTarget, Mode, ModeId, Pattern, Program, ValueKind};
use crate::surface::Role;
use crate::text::Location;

pub(super) fn check(program: &Program, found: &mut Vec<Diagnostic>) {
    let (rules, changes) = (&program.guardrails.rules, program.changes());
    let matched: Vec<Option<Matched>> =
        rules.iter().map(|rule| Matched::by(&[rule.pattern.as_ref()?.source()])).collect();
    for (number, (rule, own)) in rules.iter().zip(&matched).enumerate() {
        if let Some(why) = idle(program, &changes, rule) {
            let message = format!("the guardrail `{}` cannot trip: {why}", rule.id);
            found.push(
                Diagnostic::new(Code::PACK_IDLE_GUARDRAIL, rule.at, message)
                    .with_help("fix what it looks for or where, or take it out"),
            );
        } else if let Some((why, at)) = in_vain(program, rule) {
            let message = format!("the guardrail `{}` can never trip for one of its targets: {why}", rule.id);
            found.push(Diagnostic::new(Code::PACK_IDLE_GUARDRAIL, at, message).with_help("fix its `on`, or its `in`"));
        }
        let same = |(other, its): &(&Guardrail, &Option<Matched>)| {
            look_alike(rule, other)
                && (text(&rule.pattern) == text(&other.pattern)
                    || own.as_ref().zip(its.as_ref()).is_some_and(|(own, its)| own.includes(its) && its.includes(own)))
        };
        if let Some((first, _)) = rules.iter().zip(&matched).take(number).find(same) {
            found.push(
                Diagnostic::new(
                    Code::PACK_REPEATED_GUARDRAIL,
                    rule.at,
                    format!("the guardrail `{}` looks for the same as `{}`", rule.id, first.id),
                )
                .with_place(first.at, "the first one is here")
                .with_help("take one of them out"),
            );
        }
    }
}

/// Why a guardrail can never trip; none if it can.
fn idle(program: &Program, changes: &Changes<'_>, rule: &Guardrail) -> Option<String> {
    let why: Vec<String> = rule.targets.iter().map_while(|target| textless(program, rule, target)).collect();
    if let Some(why) = why.first().filter(|_| why.len() == rule.targets.len()) {
        return Some(why.clone());
    }
    if rule.when.as_ref().is_some_and(|when| is_never_true(program, changes, when, None)) {
        return Some("its condition is false for every value that is ever set".to_owned());
    }
    match &rule.pattern {
        Some(_) if rule.excuse.is_some() && text(&rule.excuse) == text(&rule.pattern) => {
            Some("`unless` excuses all that `matches` finds".to_owned())
        }
        Some(pattern) if !rule.inverted && pattern.matches_nothing() => Some("its pattern matches no text".to_owned()),
        Some(pattern) if rule.inverted && pattern.matches_everything() => {
            Some("its pattern matches every text".to_owned())
        }
        _ => None,
    }
}

/// Why a guardrail that can trip never does for one of its targets, and the place of that target.
fn in_vain(program: &Program, rule: &Guardrail) -> Option<(String, Location)> {
    let mut targets = rule.targets.iter().zip(&rule.on);
    targets.find_map(|(target, at)| Some((textless(program, rule, target)?, *at)))
}

/// Why a target never has a text; none if it may have one.
fn textless(program: &Program, rule: &Guardrail, target: &GuardrailTarget) -> Option<String> {
    let bound =
        |role| program.dialects.iter().flat_map(|dialect| dialect.blocks.iter()).any(|block| block.role == role);
    match target {
        // Without a block for it, the text outside all blocks may still be the message.
        GuardrailTarget::Role(Role::Message | Role::Section) => None,
        // In a mode without dialects, an API returns reasoning separately from the text.
        GuardrailTarget::Role(Role::Thinking)
            if program.modes.values().any(|mode| program.dialects_of(mode).next().is_none()) =>
        {
            None
        }
        GuardrailTarget::Role(role) => (!bound(*role)).then(|| format!("no block has the role `{}`", role.word())),
        GuardrailTarget::Key(name) => {
            let mut blocks = program.dialects.iter().flat_map(|dialect| dialect.blocks.iter());
            let gives =
                |block: &BlockBinding| block.role == Role::Content && (block.may_be_named(name) || block.name == *name);
            (!blocks.any(gives)).then(|| format!("no content is called `{name}`, and nothing else has a key"))
        }
        GuardrailTarget::Param(action, param) => {
            let permits = |mode: &Mode| program.actions.contains_key(action) && mode.may_permit(action);
            // An action that no mode permits is reported by itself.
            let applies = |number: usize| rule.modes.include(Some(ModeId(number)));
            let mut modes = program.modes.values().enumerate().filter(|(_, mode)| permits(mode)).peekable();
            if modes.peek().is_some() && !modes.any(|(number, _)| applies(number)) {
                return Some(format!("no mode in which it looks permits `{action}`"));
            }
            let (_, types) = program.actions.get(action)?.schema.types().member(param)?;
            let textless = matches!(types.kind, ValueKind::Boolean | ValueKind::Integer | ValueKind::Number);
            (types.wants_value && textless)
                .then(|| format!("`{action}.{param}` holds no text; a condition on `reply` can look at it"))
        }
        _ => None,
    }
}

/// Whether two guardrails check the same texts in the same way, except for their patterns.
fn look_alike(one: &Guardrail, other: &Guardrail) -> bool {
    let when = |rule: &Guardrail| rule.when.as_ref().map(|when| when.source().to_owned());
    let pointer = |rule: &Guardrail| (rule.inverted, text(&rule.excuse).map(str::to_owned), when(rule));
    let shared = one.targets.iter().any(|target| other.targets.contains(target));
    one.modes.meet(&other.modes) && shared && pointer(one) == pointer(other)
}

fn text(pattern: &Option<Pattern>) -> Option<&str> {
    pattern.as_ref().map(Pattern::source)
}
