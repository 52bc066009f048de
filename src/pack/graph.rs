//! Graph: can every mode be reached and left, and does every change of mode end?
//!
//! In: the modes with their exits, and every `go` with the modes in which it may happen.
//! Out: diagnostics for a `go` without an exit, a mode that cannot be reached or left, and modes that pass a session on
//! for ever.
//! Never: evaluates a condition: each counts as one that may hold, except where it would have to hold always.
//! Declarations with faults or unknown names count as leading anywhere: only the fault is reported, not what follows
//! from it.

use crate::diagnostic::{Code, Diagnostic};
use crate::surface::{Effect, Event, Exit, Permit, Surface};
use crate::text::Spanned;
use std::collections::HashSet;

pub(super) fn check(surface: &Surface, diagnostics: &mut Vec<Diagnostic>) {
    let gone = goes(surface);
    let told: Vec<(&str, &str)> = gone.iter().filter_map(|go| check_exit(surface, go, diagnostics)).collect();
    let doubtful: HashSet<&str> =
        surface.modes.keys().map(String::as_str).filter(|mode| is_doubtful(surface, mode)).collect();
    let exits = surface.modes.iter().flat_map(|(from, mode)| mode.value.exits.iter().map(move |exit| (from, exit)));
    let ways = exits.map(|(from, exit)| (from.as_str(), exit.to.value.as_str()));
    let goes = |(from, to): &(&str, &str)| {
        gone.iter().any(|go| go.to.is_none_or(|goes| goes.value == *to) && go.from.contains(from))
    };
    let ways: HashSet<(&str, &str)> = ways.filter(goes).collect();
    let leads = |from: &str, to: &str| doubtful.contains(from) || ways.contains(&(from, to));
    let flows = surface.modes.values().any(|mode| !mode.value.exits.is_empty() || mode.value.last);
    // A pack without exits leaves its modes to the host.
    if flows {
        check_reach(surface, leads, |from, to| told.contains(&(from, to)), diagnostics);
    }
    check_end(surface, &gone, diagnostics);
}

/// A `go`, and where it may happen.
#[derive(Clone)]
struct Go<'g> {
    /// The mode to change to; none if it cannot be told.
    to: Option<&'g Spanned<String>>,
    /// The modes in which it may happen.
    from: Vec<&'g str>,
    /// Whether it has a condition.
    conditional: bool,
    /// The mode on whose entering it happens, if that is its only event.
    entering: Option<&'g str>,
    /// Advice on how its author can limit it to some modes.
    kept: &'static str,
}

/// Whether the permits or exits of a mode have faults.
fn is_doubtful(surface: &Surface, mode: &str) -> bool {
    surface.modes.get(mode).is_some_and(|mode| {
        let lost = |exit: &Exit| is_lost(surface, &exit.to);
        let none = |permit: &Permit| !concerns_any(surface, permit);
        surface.torn.contains(&mode.at) || mode.value.exits.iter().any(lost) || mode.value.permits.iter().any(none)
    })
}

/// Whether a permit is about anything that the pack declares.
fn concerns_any(surface: &Surface, permit: &Permit) -> bool {
    let is_declared = permit.names().iter().any(|name| surface.actions.contains_key(&name.value));
    let is_known = || surface.actions.keys().any(|action| surface.may_concern(permit, action));
    permit.is_of_contents() || is_declared || is_known()
}

/// Every `go` of the pack.
fn goes<'g>(surface: &'g Surface) -> Vec<Go<'g>> {
    let all: Vec<&str> = surface.mode_names().collect();
    let mut found = Vec::new();
    let mut collect = |torn: bool, effects, around: Go<'g>| match torn {
        true => found.push(Go { conditional: true, entering: None, ..around }),
        false => collect(surface, effects, &around, &mut found),
    };
    for rule in &surface.rules {
        let torn = surface.torn.contains(&rule.at);
        for on in &rule.on.0 {
            let event = Event::parse(&on.value);
            let entering = match event {
                Some(Event::Enter(mode)) => Some(mode),
                // The mode is being left already.
                Some(Event::Leave(_)) => continue,
                _ => None,
            };
            let (mut from, vague) = happens(surface, event, &all);
            let lost = rule.modes.0.iter().any(|name| is_lost(surface, name));
            let looks = |mode: &&str| rule.modes.0.iter().any(|named| named.value == **mode);
            from.retain(|mode| lost || rule.modes.0.is_empty() || looks(mode));
            let kept = "say `in = …` for the modes that have it, ";
            let conditional = rule.when.is_some() || vague || lost;
            collect(torn, &rule.effects, Go { to: None, from, conditional, entering, kept });
        }
    }
    // A mode may permit an action under a wrong name.
    let none = |permit: &Permit| !concerns_any(surface, permit);
    let vague = surface.modes.values().flat_map(|mode| &mode.value.permits).any(none);
    for (name, action) in &surface.actions {
        let permits = |mode: &str| {
            let permits = surface.modes.get(mode).map(|mode| mode.value.permits.as_slice()).unwrap_or_default();
            permits.iter().any(|permit| surface.may_concern(permit, name))
        };
        let from: Vec<&str> = all.iter().copied().filter(|mode| permits(mode)).collect();
        let kept = "permit the action in no mode without it, ";
        let around = Go { to: None, from, conditional: vague, entering: None, kept };
        collect(surface.torn.contains(&action.at), &action.value.effects, around);
    }
    for content in surface.contents.values() {
        let around = Go { to: None, from: all.clone(), conditional: false, entering: None, kept: "" };
        collect(surface.torn.contains(&content.at), &content.value.effects, around);
    }
    found
}

/// The modes in which an event may happen for a rule, and whether that is uncertain: the inputs that give words a class
/// may not all have been read.
fn happens<'g>(surface: &Surface, event: Option<Event<'g>>, all: &[&'g str]) -> (Vec<&'g str>, bool) {
    match event {
        Some(Event::Enter(mode) | Event::Leave(mode)) => (vec![mode], false),
        Some(Event::Start | Event::Utterance | Event::Reply) => (all.to_vec(), false),
        None => (all.to_vec(), true),
        Some(Event::Input(class)) => {
            let inputs = || surface.inputs.iter().filter(|input| input.class.value == class);
            let named = || inputs().flat_map(|input| &input.modes.0);
            let lost = inputs().next().is_none() || named().any(|name| is_lost(surface, name));
            let in_all = lost || inputs().any(|input| input.modes.0.is_empty());
            let heard = |mode: &&str| in_all || named().any(|named| named.value == **mode);
            let torn = inputs().any(|input| surface.torn.contains(&input.at));
            (all.iter().copied().filter(heard).collect(), lost || torn)
        }
    }
}

/// Whether the mode is undeclared.
fn is_lost(surface: &Surface, name: &Spanned<String>) -> bool {
    !surface.mode_names().any(|mode| mode == name.value)
}

fn collect<'g>(surface: &Surface, effects: &'g [Effect], around: &Go<'g>, found: &mut Vec<Go<'g>>) {
    for effect in effects {
        let conditional = around.conditional || effect.when.is_some() || effect.each.is_some();
        let around = Go { conditional, ..around.clone() };
        if let Some(to) = &effect.go {
            let to = Some(to).filter(|to| !is_lost(surface, to));
            found.push(Go { to, ..around.clone() });
        }
        collect(surface, &effect.effects, &around, found);
    }
}

fn has_exit(surface: &Surface, from: &str, to: &str) -> bool {
    surface.modes.get(from).is_some_and(|mode| mode.value.exits.iter().any(|exit| exit.to.value == to))
}

/// Reports a missing exit. Without a condition, every mode in which the `go` happens needs the exit; with one, some
/// mode does. Returns the mode without the exit, and the mode that it should lead to.
fn check_exit<'g>(surface: &Surface, go: &Go<'g>, diagnostics: &mut Vec<Diagnostic>) -> Option<(&'g str, &'g str)> {
    let to = go.to?;
    let without = |mode: &&&str| !has_exit(surface, mode, &to.value) && !is_doubtful(surface, mode);
    let lacking = go.from.iter().find(without);
    let some = go.from.iter().any(|mode| !without(&mode));
    let mode = *lacking.filter(|_| !go.conditional || !some)?;
    let help = match some {
        true => format!("add the exit, {}or give the effect a `when`", go.kept),
        false => format!("add `\"{}\"` to the `exits` of `{mode}`", to.value),
    };
    let message = format!("the mode `{mode}` has no exit to `{}`", to.value);
    diagnostics.push(Diagnostic::new(Code::PACK_NO_EXIT, to.at, message).with_help(help));
    Some((mode, &to.value))
}

/// Reports modes that cannot be reached from the start, and modes that are not final and cannot be left. Exits that
/// were already reported as missing (`lacks`) count as present.
fn check_reach(
    surface: &Surface,
    leads: impl Fn(&str, &str) -> bool,
    lacks: impl Fn(&str, &str) -> bool,
    diagnostics: &mut Vec<Diagnostic>,
) {
    let leads = |from: &str, to: &str| leads(from, to) || lacks(from, to);
    let start = surface.about.as_ref().and_then(|about| about.start.as_ref()).map(|start| start.value.as_str());
    let Some(start) = start.or(surface.modes.keys().next().map(String::as_str)) else { return };
    let mut reached = vec![start];
    let mut next = 0;
    while let Some(from) = reached.get(next).copied() {
        next += 1;
        for to in surface.modes.keys() {
            if !reached.contains(&to.as_str()) && leads(from, to) {
                reached.push(to);
            }
        }
    }
    // If the start itself is undeclared, that is told, and not what follows from it.
    let starts = surface.modes.contains_key(start);
    // A lost mode that another lost mode leads to is not told: it is reached once that one is. Of a circle of lost modes
    // the first is told.
    let lost: Vec<&str> = surface.modes.keys().map(String::as_str).filter(|name| !reached.contains(name)).collect();
    let behind = |first: &str| {
        let mut behind: Vec<&str> = lost.iter().copied().filter(|to| leads(first, to)).collect();
        let mut next = 0;
        while let Some(from) = behind.get(next).copied() {
            next += 1;
            let more: Vec<&str> = lost.iter().copied().filter(|to| leads(from, to) && !behind.contains(to)).collect();
            behind.extend(more);
        }
        behind
    };
    let behind: Vec<(&str, Vec<&str>)> = lost.iter().map(|name| (*name, behind(name))).collect();
    let follows = |number: usize, name: &str| {
        let leads_back = |other: &str| behind.iter().any(|(from, to)| *from == name && to.contains(&other));
        let mut others = behind.iter().enumerate().filter(|(_, (from, to))| *from != name && to.contains(&name));
        others.any(|(before, (from, _))| before < number || !leads_back(from))
    };
    for (name, mode) in &surface.modes {
        let told = lost.iter().position(|one| one == name).is_some_and(|number| !follows(number, name));
        if starts && told {
            let message = format!("no `go` leads from `{start}` to the mode `{name}`");
            diagnostics.push(
                Diagnostic::new(Code::PACK_UNREACHABLE, mode.at, message)
                    .with_help("add an exit to it, and a rule or an action that goes there"),
            );
        }
        if !mode.value.last && !surface.modes.keys().any(|to| leads(name, to)) {
            let message = match mode.value.exits.first() {
                None => format!("the mode `{name}` has no exit"),
                Some(exit) => format!("nothing goes from `{name}` to `{}`", exit.to.value),
            };
            diagnostics.push(
                Diagnostic::new(Code::PACK_DEAD_END, mode.at, message)
                    .with_help("let a rule or an action go through an exit, or say `final = true`"),
            );
        }
    }
}

/// Reports modes that always change to another as soon as they are entered, in a circle.
fn check_end(surface: &Surface, gone: &[Go<'_>], diagnostics: &mut Vec<Diagnostic>) {
    let gated = |from: &str, to: &str| {
        let exits = surface.modes.get(from).into_iter().flat_map(|mode| &mode.value.exits);
        exits.filter(|exit| exit.to.value == to).any(|exit| exit.gate.is_some())
    };
    let always = |go: &Go<'_>, from: &str, to: &str| {
        go.entering == Some(from) && go.from.contains(&from) && !go.conditional && !gated(from, to)
    };
    for first in surface.modes.keys() {
        let mut way = vec![first.as_str()];
        while let Some(to) =
            way.last().and_then(|from| gone.iter().find_map(|go| go.to.filter(|to| always(go, from, &to.value))))
        {
            if to.value == *first {
                let message = format!("`{}` and back without end", way.join("` leads to `"));
                diagnostics.push(
                    Diagnostic::new(Code::PACK_ENDLESS, to.at, message)
                        .with_help("give one of these rules a `when`: a mode is entered once on each occasion"),
                );
                break;
            }
            if way.contains(&to.value.as_str()) {
                break;
            }
            way.push(&to.value);
        }
    }
}
