//! Flow: can every input, rule, exit and message take effect?
//!
//! In: the flows of a program.
//! Out: a finding for each that an earlier one always prevents, or that nothing ever triggers; and for speakers without
//! a name.
//! Never: reports anything that is not certain.

use super::gates::Changes;
use super::inclusion::Matched;
use crate::diagnostic::{Code, Diagnostic};
use crate::expression::Scope;
use crate::program::{EffectRule, EventRule, Input, MessageId, Mode, ModeId, Program, RuleEvent, Verb};
use crate::surface::Role;
use crate::text::{Location, excerpt};
use crate::value::Value;

pub(super) fn check(program: &Program, found: &mut Vec<Diagnostic>) {
    inputs(program, found);
    exits(program, found);
    rules(program, found);
    messages(program, found);
    speakers(program, found);
}

fn inputs(program: &Program, found: &mut Vec<Diagnostic>) {
    let inputs = &program.flows.inputs;
    let matched: Vec<Option<Matched>> = inputs.iter().map(matched).collect();
    for (number, (later, all)) in inputs.iter().zip(&matched).enumerate() {
        let takers = || inputs.iter().zip(&matched).take(number);
        let takes = |(one, its): &(&Input, &Option<Matched>)| {
            takes_all(one, later)
                || (one.unless.is_empty() && its.as_ref().zip(all.as_ref()).is_some_and(|(its, all)| its.includes(all)))
        };
        let taker =
            |mode: ModeId| takers().filter(|(one, _)| one.modes.include(Some(mode))).find(takes).map(|(one, _)| one);
        // Another input may match first in each mode of the later one.
        let takers: Option<Vec<&Input>> =
            modes(program).filter(|mode| later.modes.include(Some(*mode))).map(taker).collect();
        let Some(taker) = takers.as_ref().and_then(|takers| takers.first()) else { continue };
        let class = program.flows.class_name(later.class);
        let message =
            format!("this input of the class `{class}` never matches: an earlier one matches everything it would");
        found.push(
            Diagnostic::new(Code::PACK_SHADOWED_INPUT, later.at, message)
                .with_place(taker.at, "this one comes first")
                .with_help("put it before that one, or take one of them out"),
        );
    }
}

/// The texts that the patterns of an input match.
fn matched(input: &Input) -> Option<Matched> {
    let patterns: Vec<&str> = input.matches.iter().map(|one| one.source()).collect();
    Matched::by(&patterns)
}

/// Checks that the speakers of a new session have names.
fn speakers(program: &Program, found: &mut Vec<Diagnostic>) {
    let Some(from) = program.flows.speakers.as_ref().and_then(|speakers| speakers.from.as_ref()) else { return };
    let (mode, now) = (Value::from(program.mode_name(program.start)), Value::Null);
    let mut scope = Scope::new().with("data", &program.data).with("mode", &mode).with("now", &now);
    scope.add_record("state", &program.initial);
    let all: Vec<Value> = match from.value(&scope) {
        Err(_) | Ok(Value::Null) => return,
        Ok(Value::Array(items)) => items.to_vec(),
        Ok(Value::Object(members)) => members.values().cloned().collect(),
        Ok(other) => {
            let message = format!("`{}` must be a list of speakers, but is `{}`", from.source(), displayed(&other));
            found.push(misshapen(from.at(), message, "use a list or a table of speakers, each with a `name`"));
            return;
        }
    };
    let text = |speaker: &Value, key: &str| speaker.get(key).and_then(Value::as_str).map(str::to_owned);
    for (number, speaker) in (1..).zip(&all) {
        let Some(name) = text(speaker, "name") else {
            let message =
                format!("entry {number} of `{}` has no text as its `name`: `{}`", from.source(), displayed(speaker));
            let help = match speaker.as_str() {
                Some(name) => format!("say `{{ name = \"{}\" }}`", excerpt(name, 40)),
                None => "a speaker is a table with a `name`, and maybe a `label`".to_owned(),
            };
            return found.push(misshapen(from.at(), message, &help));
        };
        if speaker.get("label").is_some_and(|label| !label.is_null()) && text(speaker, "label").is_none() {
            let message = format!("the `label` of `{}` is not a text, so every label is accepted", excerpt(&name, 40));
            return found.push(misshapen(from.at(), message, "put it in quotes, or take it out"));
        }
        let is_list =
            |names: &Value| names.as_array().is_some_and(|names| names.iter().all(|one| one.as_str().is_some()));
        if speaker.get("names").is_some_and(|names| !names.is_null() && !is_list(names)) {
            let message = format!("the `names` of `{}` are not a list of texts, and are ignored", excerpt(&name, 40));
            return found.push(misshapen(from.at(), message, "list other spellings of the name, each in quotes"));
        }
    }
}

fn misshapen(at: Location, message: String, help: &str) -> Diagnostic {
    Diagnostic::new(Code::PACK_WRONG_TYPE, at, message).with_help(help).into_warning()
}

fn displayed(value: &Value) -> String {
    excerpt(&value.to_string(), 60).into_owned()
}

fn modes(program: &Program) -> impl Iterator<Item = ModeId> {
    (0..program.modes.len()).map(ModeId)
}

/// Whether `earlier` certainly matches every message that `later` matches: it matches any message, or includes all
/// patterns of `later` and has no exception that `later` lacks.
fn takes_all(earlier: &Input, later: &Input) -> bool {
    let any = earlier.matches.is_empty() || earlier.matches.iter().any(|one| one.matches_everything());
    let has = |pattern: &str| earlier.matches.iter().any(|one| one.source() == pattern);
    let same = !later.matches.is_empty() && later.matches.iter().all(|one| has(one.source()));
    let excluded = |pattern: &str| later.unless.iter().any(|one| one.source() == pattern);
    (any && earlier.unless.is_empty()) || (same && earlier.unless.iter().all(|one| excluded(one.source())))
}

/// Reports a second exit to the same mode: only the first is ever used.
fn exits(program: &Program, found: &mut Vec<Diagnostic>) {
    for mode in program.modes.values() {
        for (number, later) in mode.exits.iter().enumerate() {
            let Some(first) = mode.exits.iter().take(number).find(|exit| exit.to == later.to) else { continue };
            let message =
                format!("this exit is never used: another one to `{}` comes before it", program.mode_name(later.to));
            found.push(
                Diagnostic::new(Code::PACK_SHADOWED_EXIT, later.at, message)
                    .with_place(first.at, "the first one is here")
                    .with_help("make one exit of them, with `or` between their gates"),
            );
        }
    }
}

fn rules(program: &Program, found: &mut Vec<Diagnostic>) {
    let (rules, changes) = (&program.flows.rules, program.changes());
    for (number, rule) in rules.iter().enumerate() {
        if let Some(why) = idle(program, &changes, rule) {
            let message = format!("the rule `{}` never follows: {why}", rule.id);
            found.push(
                Diagnostic::new(Code::PACK_IDLE_RULE, rule.at, message)
                    .with_help("fix its `on`, `in` or `when`, or take it out"),
            );
            continue;
        }
        if rule.effects.is_empty() {
            let message = format!("nothing follows from the rule `{}`", rule.id);
            found.push(
                Diagnostic::new(Code::PACK_IDLE_RULE, rule.at, message).with_help("give it `effects`, or take it out"),
            );
            continue;
        }
        let earlier = rules.iter().take(number).find(|earlier| goes_first(program, earlier, rule));
        let go =
            EffectRule::walk(&rule.effects).into_iter().find(|effect| matches!(effect.verb, Some(Verb::Go { .. })));
        let (Some(earlier), Some(go)) = (earlier, go) else { continue };
        let message = format!("this change of mode never happens: the rule `{}` always makes one first", earlier.id);
        found.push(
            Diagnostic::new(Code::PACK_SHADOWED_RULE, go.at, message)
                .with_place(earlier.at, "this rule comes first")
                .with_help("give the first a `when`, or put this one before it"),
        );
    }
}

/// Why a rule can never act; none if it can.
fn idle(program: &Program, changes: &Changes<'_>, rule: &EventRule) -> Option<&'static str> {
    let utterances =
        || program.dialects.iter().flat_map(|one| one.blocks.iter()).any(|block| block.role == Role::Utterance);
    let happens = |on: &RuleEvent| match on {
        RuleEvent::Utterance => utterances(),
        on => modes(program).any(|mode| program.may_happen(&rule.modes, *on, mode)),
    };
    if !rule.on.iter().any(happens) {
        return Some("none of its events happens in the modes where it applies");
    }
    let when = rule.when.as_ref()?;
    program.is_never_true(changes, when, None).map(|_| "its condition is false for every value that is ever set")
}

/// Whether `earlier` always changes the mode before `later` can. This is only certain for the first event of an
/// occasion: at a later event the mode may have been entered already, and then the earlier rule does nothing.
fn goes_first(program: &Program, earlier: &EventRule, later: &EventRule) -> bool {
    let to = earlier.effects.iter().find_map(|effect| match &effect.verb {
        Some(Verb::Go { to, .. }) if effect.when.is_none() && effect.each.is_none() => Some(*to),
        _ => None,
    });
    let open = |mode: &Mode| {
        let exit = mode.exits.iter().find(|exit| Some(exit.to) == to);
        exit.is_some_and(|exit| exit.gate.is_none())
    };
    let goes = |mode: ModeId| {
        let exit = program.modes.get_index(mode.0).is_some_and(|(_, mode)| open(mode));
        exit && Some(mode) != to && earlier.modes.include(Some(mode))
    };
    earlier.when.is_none()
        && later.on.iter().all(|on| {
            matches!(on, RuleEvent::Input(_) | RuleEvent::Start)
                && earlier.on.contains(on)
                && modes(program).filter(|mode| program.may_happen(&later.modes, *on, *mode)).all(goes)
        })
}

fn messages(program: &Program, found: &mut Vec<Diagnostic>) {
    let used_messages = program.messages_in_use();
    let is_unused = |(number, _): &(usize, _)| !used_messages.contains(&MessageId(*number));
    for (_, (name, message)) in program.messages.iter().enumerate().filter(is_unused) {
        found.push(
            Diagnostic::new(Code::PACK_UNSAID_MESSAGE, message.at, format!("nothing uses the message `{name}`"))
                .with_help("say it in a rule, ask it with an input, or take it out"),
        );
    }
}
