//! Graph: can every mode be reached and left, and does every change of mode end?
//!
//! In: the modes with their exits, and every `go` with the modes in which it may happen.
//! Out: diagnostics for a `go` without an exit, for a mode that cannot be reached or left, and for modes that change to
//! each other for ever.
//! Never: evaluates a condition: a condition counts as sometimes true, and as sometimes false. Declarations with faults
//! or unknown names count as leading anywhere: only the fault is reported, and not its consequences.

use crate::diagnostic::{Code, Diagnostic};
use crate::surface::{Effect, Event, Exit, Mode, Permit, Surface, is_about, is_pattern};
use crate::text::Spanned;
use indexmap::IndexSet;
use std::collections::{HashMap, HashSet};
use std::sync::Arc;

pub(super) fn check(surface: &Surface, diagnostics: &mut Vec<Diagnostic>) {
    let doubtful: HashSet<&str> =
        surface.modes.keys().map(String::as_str).filter(|mode| is_doubtful(surface, mode)).collect();
    let all_goes = goes(surface);
    let missing = all_goes.iter().filter_map(|go| check_exit(surface, go, &doubtful, diagnostics));
    let missing_exits: HashSet<(&str, &str)> = missing.collect();
    // In a pack without exits, the host changes the mode.
    if surface.modes.values().any(|mode| !mode.value.exits.is_empty() || mode.value.last) {
        let graph = ModeGraph::of(surface, &all_goes, &missing_exits, doubtful);
        check_reach(surface, &all_goes, &graph, diagnostics);
    }
    check_end(surface, &all_goes, diagnostics);
}

/// A `go`, and where it may happen.
#[derive(Clone)]
struct Go<'g> {
    /// The mode to change to; none if it is unknown.
    to: Option<&'g Spanned<String>>,
    /// The modes in which it may happen, in the order of declaration; shared by all `go` with the same modes.
    from: Arc<IndexSet<&'g str>>,
    /// Whether it has a condition.
    conditional: bool,
    /// The mode on whose entering it happens, if that is its only event.
    entering: Option<&'g str>,
    /// The action whose effect it is.
    action: Option<&'g str>,
    /// Advice on how an author can restrict it to some modes.
    advice: &'static str,
}

/// Whether the permits or exits of a mode have faults.
fn is_doubtful(surface: &Surface, mode: &str) -> bool {
    surface.modes.get(mode).is_some_and(|mode| {
        let unreachable = |exit: &Exit| is_unreadable(surface, &exit.to);
        let none = |permit: &Permit| !concerns_any(surface, permit);
        surface.torn.contains(&mode.at)
            || mode.value.exits.iter().any(unreachable)
            || mode.value.permits.iter().any(none)
    })
}

/// Whether a permit matches anything that the pack declares.
fn concerns_any(surface: &Surface, permit: &Permit) -> bool {
    let is_declared = permit.names().iter().any(|name| surface.actions.contains_key(&name.value));
    let is_known = || surface.actions.keys().any(|action| surface.may_concern(permit, action));
    permit.is_of_contents() || is_declared || is_known()
}

/// Every `go` of the pack.
fn goes<'g>(surface: &'g Surface) -> Vec<Go<'g>> {
    let all: Arc<IndexSet<&str>> = Arc::new(surface.mode_names().collect());
    let mut found = Vec::new();
    let mut collect = |torn: bool, effects, around: Go<'g>| match torn {
        true => found.push(Go { conditional: true, entering: None, ..around }),
        false => collect(surface, effects, &around, &mut found),
    };
    for rule in surface.rules.iter().filter(|rule| surface.torn.contains(&rule.at) || goes_anywhere(&rule.effects)) {
        let torn = surface.torn.contains(&rule.at);
        let unreachable = rule.modes.0.iter().any(|name| is_unreadable(surface, name));
        let named: HashSet<&str> = rule.modes.0.iter().map(|named| named.value.as_str()).collect();
        for on in &rule.on.0 {
            let event = Event::parse(&on.value);
            let entering = match event {
                Some(Event::Enter(mode)) => Some(mode),
                // The mode is being left already.
                Some(Event::Leave(_)) => continue,
                _ => None,
            };
            let (mut from, vague) = happens(surface, event, &all);
            if !unreachable && !named.is_empty() {
                from = Arc::new(from.iter().copied().filter(|mode| named.contains(mode)).collect());
            }
            let advice = "say `in = …` for the modes that have it, ";
            let conditional = rule.when.is_some() || vague || unreachable;
            collect(torn, &rule.effects, Go { to: None, from, conditional, entering, action: None, advice });
        }
    }
    // A mode may permit an action under a misspelt name.
    let none = |permit: &Permit| !concerns_any(surface, permit);
    let vague = surface.modes.values().flat_map(|mode| &mode.value.permits).any(none);
    let mut permitting: Option<Permitting<'_>> = None;
    for (name, action) in &surface.actions {
        let torn = surface.torn.contains(&action.at);
        if !torn && !goes_anywhere(&action.value.effects) {
            continue;
        }
        let from = permitting.get_or_insert_with(|| Permitting::of(surface)).modes_for(name);
        let advice = "permit the action in no mode without it, ";
        let around = Go {
            to: None,
            from: Arc::new(from),
            conditional: vague,
            entering: None,
            action: Some(name.as_str()),
            advice,
        };
        collect(torn, &action.value.effects, around);
    }
    for content in surface.contents.values() {
        let around =
            Go { to: None, from: Arc::clone(&all), conditional: false, entering: None, action: None, advice: "" };
        collect(surface.torn.contains(&content.at), &content.value.effects, around);
    }
    found
}

/// Whether one of these effects, or of the effects nested in them, changes the mode.
fn goes_anywhere(effects: &[Effect]) -> bool {
    effects.iter().any(|effect| effect.go.is_some() || goes_anywhere(&effect.effects))
}

/// Which modes permit an action: by the names and patterns of their permits.
struct Permitting<'g> {
    /// The modes by their index.
    modes: Vec<&'g str>,
    named: HashMap<&'g str, Vec<usize>>,
    patterns: HashMap<&'g str, Vec<usize>>,
}

impl<'g> Permitting<'g> {
    fn of(surface: &'g Surface) -> Self {
        let modes = surface.modes.keys().map(String::as_str).collect();
        let mut permitting = Self { modes, named: HashMap::new(), patterns: HashMap::new() };
        for (index, mode) in surface.modes.values().enumerate() {
            for permit in mode.value.permits.iter().filter(|permit| !permit.is_of_contents()) {
                for name in surface.named_by(permit) {
                    let of_kind =
                        if is_pattern(&name.value) { &mut permitting.patterns } else { &mut permitting.named };
                    of_kind.entry(name.value.as_str()).or_default().push(index);
                }
            }
        }
        permitting
    }

    /// The modes with a permit that may match this action, or this pattern for tools.
    fn modes_for(&self, action: &str) -> IndexSet<&'g str> {
        let about = |named: &&str| is_about(named, action);
        let exact = self.named.get(action).into_iter();
        let fitting = self.patterns.iter().filter(|(pattern, _)| about(pattern)).map(|(_, modes)| modes);
        let mut indexes: Vec<usize> = exact.chain(fitting).flatten().copied().collect();
        if is_pattern(action) {
            indexes.extend(self.named.iter().filter(|(name, _)| about(name)).flat_map(|(_, modes)| modes));
        }
        indexes.sort_unstable();
        indexes.dedup();
        indexes.into_iter().filter_map(|index| self.modes.get(index).copied()).collect()
    }
}

/// The modes in which an event may happen for a rule, and whether that is uncertain, because some input that gives a
/// message its class could not be read.
fn happens<'g>(
    surface: &Surface,
    event: Option<Event<'g>>,
    all: &Arc<IndexSet<&'g str>>,
) -> (Arc<IndexSet<&'g str>>, bool) {
    match event {
        Some(Event::Enter(mode) | Event::Leave(mode)) => (Arc::new(IndexSet::from([mode])), false),
        Some(Event::Start | Event::Utterance | Event::Reply) => (Arc::clone(all), false),
        None => (Arc::clone(all), true),
        Some(Event::Input(class)) => {
            let inputs = || surface.inputs.iter().filter(|input| input.class.value == class);
            let named = || inputs().flat_map(|input| &input.modes.0);
            let unreachable = inputs().next().is_none() || named().any(|name| is_unreadable(surface, name));
            let in_all = unreachable || inputs().any(|input| input.modes.0.is_empty());
            let torn = inputs().any(|input| surface.torn.contains(&input.at));
            if in_all {
                return (Arc::clone(all), unreachable || torn);
            }
            let named: HashSet<&str> = named().map(|named| named.value.as_str()).collect();
            (Arc::new(all.iter().copied().filter(|mode| named.contains(mode)).collect()), unreachable || torn)
        }
    }
}

/// Whether the mode is undeclared.
fn is_unreadable(surface: &Surface, name: &Spanned<String>) -> bool {
    !surface.has_mode(&name.value)
}

fn collect<'g>(surface: &Surface, effects: &'g [Effect], around: &Go<'g>, found: &mut Vec<Go<'g>>) {
    for effect in effects {
        let conditional = around.conditional || effect.when.is_some() || effect.each.is_some();
        let around = Go { conditional, ..around.clone() };
        if let Some(to) = &effect.go {
            let to = Some(to).filter(|to| !is_unreadable(surface, to));
            found.push(Go { to, ..around.clone() });
        }
        collect(surface, &effect.effects, &around, found);
    }
}

fn has_exit(surface: &Surface, from: &str, to: &str) -> bool {
    surface.modes.get(from).is_some_and(|mode| mode.value.exits.iter().any(|exit| exit.to.value == to))
}

/// Reports a missing exit. A `go` without a condition needs the exit in every mode in which it happens; one with a
/// condition needs it in some mode. Returns the mode without the exit, and the mode that the exit should lead to.
fn check_exit<'g>(
    surface: &Surface,
    go: &Go<'g>,
    doubtful: &HashSet<&str>,
    diagnostics: &mut Vec<Diagnostic>,
) -> Option<(&'g str, &'g str)> {
    let to = go.to?;
    let without = |mode: &&&str| !has_exit(surface, mode, &to.value) && !doubtful.contains(**mode);
    let lacking = go.from.iter().find(without);
    let some = go.from.iter().any(|mode| !without(&mode));
    let mode = *lacking.filter(|_| !go.conditional || !some)?;
    let help = match some {
        true => format!("add the exit, {}or give the effect a `when`", go.advice),
        false => format!("add `\"{}\"` to the `exits` of `{mode}`", to.value),
    };
    let message = format!("the mode `{mode}` has no exit to `{}`", to.value);
    diagnostics.push(Diagnostic::new(Code::PACK_NO_EXIT, to.at, message).with_help(help));
    Some((mode, &to.value))
}

/// The modes to which a session can change from each mode.
struct ModeGraph<'g> {
    /// The declared modes that a `go` reaches through an exit. An exit that was reported as missing counts, too.
    to: HashMap<&'g str, Vec<&'g str>>,
    /// Modes with faults, which count as leading to every mode.
    doubtful: HashSet<&'g str>,
}

impl<'g> ModeGraph<'g> {
    fn of(
        surface: &'g Surface,
        all_goes: &[Go<'g>],
        missing_exits: &HashSet<(&'g str, &'g str)>,
        doubtful: HashSet<&'g str>,
    ) -> Self {
        let mut by_name: HashMap<&str, Vec<&Go<'_>>> = HashMap::new();
        let mut anywhere: Vec<&Go<'_>> = Vec::new();
        for go in all_goes {
            match go.to {
                Some(to) => by_name.entry(to.value.as_str()).or_default().push(go),
                None => anywhere.push(go),
            }
        }
        let goes = |from: &str, to: &str| {
            let there = by_name.get(to).into_iter().flatten();
            there.chain(&anywhere).any(|go| go.from.contains(from))
        };
        let exits = surface.modes.iter().flat_map(|(from, mode)| mode.value.exits.iter().map(move |exit| (from, exit)));
        let exits = exits.map(|(from, exit)| (from.as_str(), exit.to.value.as_str()));
        let mut to: HashMap<&str, Vec<&str>> = HashMap::new();
        for (from, mode) in exits.filter(|(from, to)| goes(from, to)).chain(missing_exits.iter().copied()) {
            if surface.modes.contains_key(mode) {
                to.entry(from).or_default().push(mode);
            }
        }
        Self { to, doubtful }
    }

    fn out_of(&self, from: &str) -> &[&'g str] {
        self.to.get(from).map(Vec::as_slice).unwrap_or_default()
    }

    /// Whether a mode has an exit to any mode, itself included.
    fn exits_of(&self, from: &str) -> bool {
        self.doubtful.contains(from) || !self.out_of(from).is_empty()
    }

    /// Adds the modes among `all` that can be reached from `start` to `reached`.
    fn reach(&self, start: &'g str, all: &IndexSet<&'g str>, reached: &mut HashSet<&'g str>) {
        let mut left = vec![start];
        reached.insert(start);
        while let Some(from) = left.pop() {
            if self.doubtful.contains(from) {
                return reached.extend(all);
            }
            let to = self.out_of(from).iter().copied().filter(|to| all.contains(to));
            left.extend(to.filter(|to| reached.insert(to)));
        }
    }
}

/// Reports modes that cannot be reached from the start, and modes that are not final and cannot be left.
fn check_reach<'g>(
    surface: &'g Surface,
    all_goes: &[Go<'g>],
    graph: &ModeGraph<'g>,
    diagnostics: &mut Vec<Diagnostic>,
) {
    let start = surface.about.as_ref().and_then(|about| about.start.as_ref()).map(|start| start.value.as_str());
    let Some(start) = start.or(surface.modes.keys().next().map(String::as_str)) else { return };
    let all: IndexSet<&str> = surface.modes.keys().map(String::as_str).collect();
    let mut reached = HashSet::new();
    graph.reach(start, &all, &mut reached);
    // If the start mode is undeclared, that alone is reported.
    let starts = surface.modes.contains_key(start);
    let unreachable: IndexSet<&str> = all.into_iter().filter(|name| !reached.contains(name)).collect();
    let to_report = unreachable_to_report(graph, &unreachable);
    let is_dead_end = |name: &str, mode: &Mode| !mode.last && !graph.exits_of(name);
    // The mode behind an exit of a dead end is not reported as well: it is reached once a `go` takes that exit.
    let dead_ends = surface.modes.iter().filter(|(name, mode)| is_dead_end(name, &mode.value));
    let behind: HashSet<&str> =
        dead_ends.flat_map(|(_, mode)| &mode.value.exits).map(|exit| exit.to.value.as_str()).collect();
    for (name, mode) in &surface.modes {
        if starts && to_report.contains(name.as_str()) && !behind.contains(name.as_str()) {
            let message = format!("no chain of `go` reaches the mode `{name}` from `{start}`");
            diagnostics.push(
                Diagnostic::new(Code::PACK_UNREACHABLE, mode.at, message)
                    .with_help("add an exit to it, and a rule or an action that goes there"),
            );
        }
        if is_dead_end(name, &mode.value) {
            let exit = mode.value.exits.first().map(|exit| exit.to.value.as_str());
            let goes = |go: &&Go<'_>| exit.is_some() && go.to.map(|to| to.value.as_str()) == exit;
            let forbidden = all_goes.iter().filter(goes).find_map(|go| go.action);
            let help = match forbidden {
                Some(action) => format!("`{action}` goes there: permit it in `{name}`, or say `final = true`"),
                None => "let a rule or an action go through an exit, or say `final = true`".to_owned(),
            };
            let message = match exit {
                None => format!("the mode `{name}` has no exit"),
                Some(exit) => format!("nothing goes from `{name}` to `{exit}`"),
            };
            diagnostics.push(Diagnostic::new(Code::PACK_DEAD_END, mode.at, message).with_help(help));
        }
    }
}

/// The unreachable modes to report. A mode that another unreachable mode reaches is not reported, because it is
/// reached once the other one is. Of a cycle of unreachable modes, the first is reported.
fn unreachable_to_report<'g>(graph: &ModeGraph<'g>, unreachable: &IndexSet<&'g str>) -> HashSet<&'g str> {
    // A mode that reaches one found in the first pass comes after it in the list. So the second pass runs backwards,
    // and then only modes of the same cycle lead to those that remain.
    let firsts = unreached_by_earlier(graph, unreachable, unreachable.iter().copied());
    unreached_by_earlier(graph, unreachable, firsts.into_iter().rev()).into_iter().collect()
}

/// The modes, in this order, that no mode before them reaches.
fn unreached_by_earlier<'g>(
    graph: &ModeGraph<'g>,
    unreachable: &IndexSet<&'g str>,
    modes: impl Iterator<Item = &'g str>,
) -> Vec<&'g str> {
    let (mut reached, mut firsts) = (HashSet::new(), Vec::new());
    for mode in modes {
        if !reached.contains(mode) {
            graph.reach(mode, unreachable, &mut reached);
            firsts.push(mode);
        }
    }
    firsts
}

/// Reports modes that change to each other in a cycle as soon as they are entered.
fn check_end(surface: &Surface, all_goes: &[Go<'_>], diagnostics: &mut Vec<Diagnostic>) {
    let gated = |from: &str, to: &str| {
        let exits = surface.modes.get(from).into_iter().flat_map(|mode| &mode.value.exits);
        exits.filter(|exit| exit.to.value == to).any(|exit| exit.gate.is_some())
    };
    let always = |go: &Go<'_>, from: &str, to: &str| {
        go.entering == Some(from) && go.from.contains(&from) && !go.conditional && !gated(from, to)
    };
    let mut on_entering: HashMap<&str, Vec<&Go<'_>>> = HashMap::new();
    for go in all_goes {
        go.entering.iter().for_each(|mode| on_entering.entry(mode).or_default().push(go));
    }
    let next = |from: &str| {
        let mut goes = on_entering.get(from).into_iter().flatten();
        goes.find_map(|go| go.to.filter(|to| always(go, from, &to.value)))
    };
    for first in surface.modes.keys() {
        let mut edge = vec![first.as_str()];
        while let Some(to) = edge.last().and_then(|from| next(from)) {
            if to.value == *first {
                let message = format!("`{}` and back without end", edge.join("` leads to `"));
                diagnostics.push(
                    Diagnostic::new(Code::PACK_ENDLESS, to.at, message)
                        .with_help("give one of these rules a `when`: a mode is entered once on each occasion"),
                );
                break;
            }
            if edge.contains(&to.value.as_str()) {
                break;
            }
            edge.push(&to.value);
        }
    }
}
