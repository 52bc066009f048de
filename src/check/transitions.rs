//! Transitions: can a session reach every mode, and leave it again?
//!
//! In: a program: its exits with their gates, and each effect with the modes and conditions in which it may happen.
//! Out: `pack/shut-gate` for a gate that needs something which cannot happen before it; `pack/unreachable-mode` and
//! `pack/dead-end` for a mode that no `go` can enter or leave, because a condition before it is never true.
//! Never: repeats a finding of the surface or of a single gate. Never guesses: anything unknown counts as possible.

use super::gates::Changes;
use crate::diagnostic::{Code, Defect, Diagnostic, Strategy};
use crate::expression::Expression;
use crate::program::{ActionId, EffectRule, ModeId, Modes, Program, RuleEvent, Verb};
use crate::surface::Surface;
use std::rc::Rc;

/// An effect, and when it may happen.
struct Happening<'p> {
    effect: &'p EffectRule,
    /// The conditions around it, all of which must be true.
    conditions: Vec<&'p Expression>,
    place: EffectPlace,
}

/// Where effects may happen. The effects of one declaration share it.
#[derive(Clone)]
struct EffectPlace {
    modes: Rc<[ModeId]>,
    /// Whether they may happen in each of these modes separately, and not just in one of them.
    each: bool,
    /// Whether they happen while a mode is being left, so that they cannot change the mode.
    leaving: bool,
}

/// A change from one mode to another by an effect.
struct Transition {
    from: ModeId,
    to: ModeId,
    /// Whether a session can ever make it.
    open: bool,
    /// Whether a closed gate on it is to be reported.
    reported: bool,
}

/// Everything that can happen in a session.
struct Course<'p> {
    /// By mode: whether a session can reach it, and whether it can leave it.
    reached: Vec<bool>,
    left: Vec<bool>,
    /// By the index of the happening: whether it can happen.
    passes: Vec<bool>,
    /// What the effects that can happen can do.
    changes: Changes<'p>,
    /// Whether a transition may happen although its gate is shut.
    lenient: bool,
}

impl Course<'_> {
    fn reaches(&self, mode: ModeId) -> bool {
        is_set(&self.reached, mode.0)
    }
}

fn is_set(flags: &[bool], number: usize) -> bool {
    flags.get(number).copied().unwrap_or_default()
}

/// Sets a flag. Returns whether it was not set before.
fn set(flags: &mut [bool], number: usize) -> bool {
    flags.get_mut(number).is_some_and(|flag| !std::mem::replace(flag, true))
}

impl Program {
    /// Reports the modes that no session can enter or leave, although the tables have transitions that do so.
    pub(super) fn check_transitions(&self, surface: &Surface) -> Vec<Diagnostic> {
        let mut found = Vec::new();
        if self.modes.values().all(|mode| mode.exits.is_empty()) {
            return found;
        }
        let happenings = self.happenings();
        let course = self.course(&happenings);
        let all = self.changes();
        let reached = self.modes.iter().enumerate().filter(|(number, _)| course.reaches(ModeId(*number)));
        let gates = reached.flat_map(|(_, (name, mode))| {
            mode.exits.iter().filter_map(move |exit| Some((name.as_str(), exit.gate.as_ref()?)))
        });
        for (name, gate) in gates {
            let shut = self.is_never_true(&course.changes, gate, Some(name)).is_some();
            if shut && self.is_never_true(&all, gate, Some(name)).is_none() {
                let message = "this gate never opens: nothing that happens before it sets what it requires";
                let help = "let an effect that happens without it, or the host (`from = \"host\"`), set that";
                found.push(Diagnostic::new(Code::PACK_SHUT_GATE, gate.at(), message).with_help(help));
            }
        }
        let taken = self.transitions(&happenings, &course);
        let mut into: Vec<Vec<&Transition>> = self.modes.iter().map(|_| Vec::new()).collect();
        let mut out_of = into.clone();
        for route in &taken {
            into.get_mut(route.to.0).into_iter().for_each(|list| list.push(route));
            out_of.get_mut(route.from.0).into_iter().for_each(|list| list.push(route));
        }
        let by_mode = into.into_iter().zip(out_of);
        for ((number, (name, _)), (into, out)) in self.modes.iter().enumerate().zip(by_mode) {
            let Some(declared) = surface.modes.get(name) else { continue };
            let mode = ModeId(number);
            let all_shut = |mut taken: Vec<&Transition>| {
                let some = !taken.is_empty();
                taken.retain(|route| route.open || route.reported);
                some && taken.is_empty()
            };
            let help =
                "the condition before each is false for every value that is ever set: fix one, or add another way";
            let mut finding = |code, message| found.push(Diagnostic::new(code, declared.at, message).with_help(help));
            if !course.reaches(mode) && all_shut(into) {
                finding(Code::PACK_UNREACHABLE, format!("no `go` to the mode `{name}` ever happens"));
            }
            // Transitions to a mode that is never reached were reported with that mode.
            if !declared.value.last && out.iter().all(|route| course.reaches(route.to)) && all_shut(out) {
                finding(Code::PACK_DEAD_END, format!("no `go` out of the mode `{name}` ever happens"));
            }
        }
        found
    }

    /// The transitions out of the modes that a session can reach.
    fn transitions(&self, happenings: &[Happening<'_>], course: &Course<'_>) -> Vec<Transition> {
        let mut taken = Vec::new();
        for (one, passes) in happenings.iter().zip(&course.passes) {
            let Some(to) = one.goes() else { continue };
            for from in one.place.modes.iter().copied().filter(|from| course.reaches(*from)) {
                if let Some(shut) = self.is_shut(one, from, to, course) {
                    taken.push(Transition { from, to, open: *passes && !shut, reported: shut });
                }
            }
        }
        taken
    }

    /// Everything that can happen, from the start on. Each happening may make others possible, until nothing new is
    /// found. Each is visited once; only conditions that are not true yet are tried again, when effects can do more.
    fn course<'p>(&'p self, happenings: &[Happening<'p>]) -> Course<'p> {
        let lenient = self
            .degradation_table()
            .iter()
            .any(|row| row.defect == Defect::GateClosed && row.strategies.contains(&Strategy::Keep));
        let (reached, left) = (vec![false; self.modes.len()], vec![false; self.modes.len()]);
        let passes = vec![false; happenings.len()];
        let mut course = Course { reached, left, passes, changes: Changes::default(), lenient };
        let [entered, leaving] = [false, true].map(|leaving| {
            let all = happenings.iter().enumerate();
            by_mode(self.modes.len(), all.filter(|(_, one)| one.place.leaving == leaving))
        });
        // The work lists: happenings in reached modes, their changes of mode, and those of either kind that were
        // stopped.
        let (mut next, mut changing) = (Vec::new(), Vec::new());
        let (mut stopped, mut shut) = (Vec::new(), Vec::new());
        // How often the effects have become able to do more, and the value of that when each happening was last tried.
        let (mut news, mut tried) = (1, vec![0; happenings.len()]);
        set(&mut course.reached, self.start.0);
        next.extend(here(&entered, self.start));
        loop {
            let before = news;
            loop {
                if let Some((number, mode)) = next.pop() {
                    let Some(one) = happenings.get(number) else { continue };
                    if !is_set(&course.passes, number) {
                        let last = tried.get_mut(number).map(|tried| std::mem::replace(tried, news));
                        let may = |when: &&Expression| self.is_never_true(&course.changes, when, None).is_none();
                        if last == Some(news) || !one.conditions.iter().all(may) {
                            stopped.push((number, mode));
                            continue;
                        }
                    }
                    if set(&mut course.passes, number) || one.place.each {
                        news += usize::from(course.changes.add(one.effect));
                    }
                    changing.extend(one.goes().map(|to| (number, mode, to)));
                } else if let Some((number, mode, to)) = changing.pop() {
                    match happenings.get(number).and_then(|one| self.is_shut(one, mode, to, &course)) {
                        None => {}
                        Some(true) => shut.push((number, mode, to)),
                        Some(false) => {
                            if set(&mut course.left, mode.0) {
                                next.extend(here(&leaving, mode));
                            }
                            if set(&mut course.reached, to.0) {
                                next.extend(here(&entered, to));
                            }
                        }
                    }
                } else {
                    break;
                }
            }
            if news == before || (stopped.is_empty() && shut.is_empty()) {
                return course;
            }
            next.append(&mut stopped);
            changing.append(&mut shut);
        }
    }

    /// Whether the gate between two modes stops an effect; none if there is no exit between them.
    fn is_shut(&self, one: &Happening<'_>, from: ModeId, to: ModeId, course: &Course<'_>) -> Option<bool> {
        let (name, mode) = self.modes.get_index(from.0)?;
        let gate = mode.exits.iter().find(|exit| exit.to == to)?.gate.as_ref();
        let insists = matches!(&one.effect.verb, Some(Verb::Go { insist: Some(_), .. }));
        let shut = |gate| self.is_never_true(&course.changes, gate, Some(name)).is_some();
        Some(!insists && !course.lenient && gate.is_some_and(shut))
    }

    /// Every effect, with the modes in which it may happen.
    fn happenings(&self) -> Vec<Happening<'_>> {
        let mut found = Vec::new();
        // For each action the modes with a permit that has no condition, and all other permits.
        let mut free: Vec<Vec<ModeId>> = self.actions.iter().map(|_| Vec::new()).collect();
        let mut gated: Vec<Vec<(ModeId, &Expression)>> = self.actions.iter().map(|_| Vec::new()).collect();
        for (mode, declared) in self.modes.values().enumerate() {
            for (ActionId(action), permits) in self.permits_in(declared) {
                for permit in permits {
                    match &permit.when {
                        None => free.get_mut(action).into_iter().for_each(|modes| modes.push(ModeId(mode))),
                        Some(when) => gated.get_mut(action).into_iter().for_each(|all| all.push((ModeId(mode), when))),
                    }
                }
            }
        }
        for ((action, free), gated) in self.actions.values().zip(free).zip(gated) {
            let place = EffectPlace { modes: free.into(), each: true, leaving: false };
            collect(&action.effects, &[], &place, &mut found);
            for (mode, when) in gated {
                let place = EffectPlace { modes: Rc::from([mode]), each: true, leaving: false };
                collect(&action.effects, &[when], &place, &mut found);
            }
        }
        let all: Rc<[ModeId]> = (0..self.modes.len()).map(ModeId).collect();
        for content in self.contents.values() {
            let place = EffectPlace { modes: Rc::clone(&all), each: false, leaving: false };
            collect(&content.effects, &[], &place, &mut found);
        }
        for rule in &self.flows.rules {
            let conditions: Vec<&Expression> = rule.when.iter().collect();
            for on in &rule.on {
                let modes = all.iter().copied().filter(|mode| self.may_happen(&rule.modes, *on, *mode)).collect();
                let place = EffectPlace { modes, each: false, leaving: matches!(on, RuleEvent::Leave(_)) };
                collect(&rule.effects, &conditions, &place, &mut found);
            }
        }
        found
    }

    /// Whether a rule can receive an event in a mode.
    pub(crate) fn may_happen(&self, modes: &Modes, on: RuleEvent, mode: ModeId) -> bool {
        modes.include(Some(mode))
            && match on {
                RuleEvent::Input(class) => {
                    self.flows.inputs.iter().any(|input| input.class == class && input.modes.include(Some(mode)))
                }
                RuleEvent::Enter(of) | RuleEvent::Leave(of) => of == mode,
                RuleEvent::Start | RuleEvent::Utterance | RuleEvent::Reply => true,
            }
    }
}

impl Happening<'_> {
    /// The mode that the effect changes to.
    fn goes(&self) -> Option<ModeId> {
        match &self.effect.verb {
            Some(Verb::Go { to, .. }) if !self.place.leaving => Some(*to),
            _ => None,
        }
    }

    /// Whether another effect can depend on it: it changes the mode or the state.
    fn matters(&self) -> bool {
        matches!(self.effect.verb, Some(Verb::Go { .. })) || self.effect.state_write().is_some()
    }
}

/// For each mode the indexes of the happenings there that matter. There may be as many as actions times modes.
fn by_mode<'h>(modes: usize, happenings: impl Iterator<Item = (usize, &'h Happening<'h>)> + Clone) -> Vec<Box<[u32]>> {
    let places = happenings.filter(|(_, one)| one.matters());
    let places = places.flat_map(|(number, one)| one.place.modes.iter().map(move |mode| (number as u32, mode.0)));
    let mut counts = vec![0; modes];
    places.clone().for_each(|(_, mode)| counts.get_mut(mode).into_iter().for_each(|count| *count += 1));
    let mut lists: Vec<Vec<u32>> = counts.into_iter().map(Vec::with_capacity).collect();
    places.for_each(|(number, mode)| lists.get_mut(mode).into_iter().for_each(|list| list.push(number)));
    lists.into_iter().map(Vec::into_boxed_slice).collect()
}

/// The happenings of a mode, each with the mode.
fn here(lists: &[Box<[u32]>], mode: ModeId) -> impl Iterator<Item = (usize, ModeId)> {
    lists.get(mode.0).into_iter().flatten().map(move |number| (*number as usize, mode))
}

/// Adds the effects of a list, and those nested in them.
fn collect<'p>(
    effects: &'p [EffectRule],
    around: &[&'p Expression],
    place: &EffectPlace,
    found: &mut Vec<Happening<'p>>,
) {
    if place.modes.is_empty() {
        return;
    }
    for effect in effects {
        let conditions: Vec<&Expression> = around.iter().copied().chain(&effect.when).collect();
        collect(&effect.nested, &conditions, place, found);
        found.push(Happening { effect, conditions, place: place.clone() });
    }
}
