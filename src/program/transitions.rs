//! Transitions: can a session reach every mode, and leave it again?
//!
//! In: a program: its exits with their gates, and each effect with the modes and conditions in which it may happen.
//! Out: `pack/shut-gate` for a gate that needs something which cannot happen before it; `pack/unreachable-mode` and
//! `pack/dead-end` for a mode that no `go` can enter or leave, because a condition before it never holds.
//! Never: repeats a finding of the surface or of a single gate; guesses: what is not known may happen.

use super::{Effect, Event, ModeId, Modes, Program, Verb};
use crate::diagnostic::{Code, Defect, Diagnostic, Strategy};
use crate::expression::Expression;
use crate::surface::Surface;

/// An effect, and when it may happen.
struct Happening<'p> {
    effect: &'p Effect,
    /// The conditions around it, all of which must hold.
    conditions: Vec<&'p Expression>,
    modes: Vec<ModeId>,
    /// Whether it happens while its mode is being left, so that it cannot change the mode.
    leaving: bool,
}

/// A change from one mode to another by an effect.
struct Transition {
    from: ModeId,
    to: ModeId,
    /// Whether a session can ever make it.
    open: bool,
    /// Whether its gate is to be reported.
    told: bool,
}

/// What can happen in a session.
struct Course<'p> {
    /// By mode: whether a session can reach it.
    reached: Vec<bool>,
    /// The modes that a session can leave.
    left: Vec<ModeId>,
    /// By the index of the happening: whether it can happen.
    passes: Vec<bool>,
    /// The effects of those that can.
    effects: Vec<&'p Effect>,
    /// Whether a shut gate may still be passed.
    lenient: bool,
}

impl Course<'_> {
    /// Whether a session can reach a mode where an effect may happen.
    fn comes(&self, one: &Happening<'_>) -> bool {
        one.modes.iter().any(|mode| if one.leaving { self.left.contains(mode) } else { self.reaches(*mode) })
    }

    fn reaches(&self, mode: ModeId) -> bool {
        self.reached.get(mode.0).copied().unwrap_or_default()
    }
}

impl Program {
    /// Reports the modes that no session can enter or leave, although the surface has ways to do so.
    pub(super) fn check_transitions(&self, surface: &Surface) -> Vec<Diagnostic> {
        let mut found = Vec::new();
        if self.modes.values().all(|mode| mode.exits.is_empty()) {
            return found;
        }
        let happenings = self.happenings();
        let course = self.course(&happenings);
        let reached = self.modes.iter().enumerate().filter(|(number, _)| course.reaches(ModeId(*number)));
        let gates = reached.flat_map(|(_, (name, mode))| {
            mode.exits.iter().filter_map(move |exit| Some((name.as_str(), exit.gate.as_ref()?)))
        });
        for (name, gate) in gates {
            let shut = self.never_holds_after(&course.effects, gate, Some(name)).is_some();
            if shut && self.never_holds(gate, Some(name)).is_none() {
                let message = "this gate never opens: nothing that happens before it sets what it waits for";
                let help = "let an effect that happens without it, or the host (`from = \"host\"`), set that";
                found.push(Diagnostic::new(Code::PACK_SHUT_GATE, gate.at(), message).with_help(help));
            }
        }
        let taken = self.transitions(&happenings, &course);
        for (number, (name, _)) in self.modes.iter().enumerate() {
            let Some(declared) = surface.modes.get(name) else { continue };
            let mode = ModeId(number);
            let all_shut = |mut taken: Vec<&Transition>| {
                let some = !taken.is_empty();
                taken.retain(|way| way.open || way.told);
                some && taken.is_empty()
            };
            let help =
                "the condition before each is false for every value that is ever set: mend one, or add another way";
            let mut finding = |code, message| found.push(Diagnostic::new(code, declared.at, message).with_help(help));
            if !course.reaches(mode) && all_shut(taken.iter().filter(|way| way.to == mode).collect()) {
                finding(Code::PACK_UNREACHABLE, format!("no `go` to the mode `{name}` ever happens"));
            }
            // Ways to a mode that is never reached were told with that mode.
            let out: Vec<&Transition> = taken.iter().filter(|way| way.from == mode).collect();
            if !declared.value.last && out.iter().all(|way| course.reaches(way.to)) && all_shut(out) {
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
            for from in one.modes.iter().copied().filter(|from| course.reaches(*from)) {
                if let Some(shut) = self.is_shut(one, from, to, course) {
                    taken.push(Transition { from, to, open: *passes && !shut, told: shut });
                }
            }
        }
        taken
    }

    /// What can happen, from the start on: each thing may make others possible, until nothing new is found.
    fn course<'p>(&'p self, happenings: &[Happening<'p>]) -> Course<'p> {
        let reached = (0..self.modes.len()).map(|mode| ModeId(mode) == self.start).collect();
        let lenient = self
            .degradation_table()
            .iter()
            .any(|row| row.defect == Defect::GateClosed && row.strategies.contains(&Strategy::Keep));
        let mut course =
            Course { reached, left: Vec::new(), passes: vec![false; happenings.len()], effects: Vec::new(), lenient };
        loop {
            let mut news = false;
            for (number, one) in happenings.iter().enumerate() {
                let known = course.passes.get(number).copied().unwrap_or_default();
                let may = |when: &&Expression| self.never_holds_after(&course.effects, when, None).is_none();
                if !known && course.comes(one) && one.conditions.iter().all(may) {
                    course.passes.iter_mut().skip(number).take(1).for_each(|passes| *passes = true);
                    course.effects.push(one.effect);
                    news = true;
                }
            }
            for way in self.transitions(happenings, &course).iter().filter(|way| way.open) {
                if !course.left.contains(&way.from) {
                    course.left.push(way.from);
                    news = true;
                }
                let reached = course.reached.iter_mut().skip(way.to.0).take(1);
                reached.filter(|reached| !**reached).for_each(|reached| {
                    *reached = true;
                    news = true;
                });
            }
            if !news {
                return course;
            }
        }
    }

    /// Whether the gate between two modes stops an effect; none if there is no exit.
    fn is_shut(&self, one: &Happening<'_>, from: ModeId, to: ModeId, course: &Course<'_>) -> Option<bool> {
        let (name, mode) = self.modes.get_index(from.0)?;
        let gate = mode.exits.iter().find(|exit| exit.to == to)?.gate.as_ref();
        let insists = matches!(&one.effect.verb, Some(Verb::Go { insist: Some(_), .. }));
        let shut = |gate| self.never_holds_after(&course.effects, gate, Some(name)).is_some();
        Some(!insists && !course.lenient && gate.is_some_and(shut))
    }

    /// Every effect, with the modes in which it may happen.
    fn happenings(&self) -> Vec<Happening<'_>> {
        let mut found = Vec::new();
        let all: Vec<ModeId> = (0..self.modes.len()).map(ModeId).collect();
        for (name, action) in &self.actions {
            for (mode, declared) in all.iter().zip(self.modes.values()) {
                for permit in declared.permits_for(name) {
                    let conditions: Vec<&Expression> = permit.when.iter().collect();
                    collect(&action.effects, &conditions, &[*mode], false, &mut found);
                }
            }
        }
        for content in self.contents.values() {
            collect(&content.effects, &[], &all, false, &mut found);
        }
        for rule in &self.flows.rules {
            let conditions: Vec<&Expression> = rule.when.iter().collect();
            for on in &rule.on {
                let modes: Vec<ModeId> =
                    all.iter().copied().filter(|mode| self.may_happen(&rule.modes, *on, *mode)).collect();
                collect(&rule.effects, &conditions, &modes, matches!(on, Event::Leave(_)), &mut found);
            }
        }
        found
    }

    /// Whether a rule can get an event in a mode.
    pub(crate) fn may_happen(&self, looks: &Modes, on: Event, mode: ModeId) -> bool {
        looks.include(Some(mode))
            && match on {
                Event::Input(class) => {
                    self.flows.inputs.iter().any(|input| input.class == class && input.modes.include(Some(mode)))
                }
                Event::Enter(of) | Event::Leave(of) => of == mode,
                Event::Start | Event::Utterance | Event::Reply => true,
            }
    }
}

impl Happening<'_> {
    /// The mode that it changes to.
    fn goes(&self) -> Option<ModeId> {
        match &self.effect.verb {
            Some(Verb::Go { to, .. }) if !self.leaving => Some(*to),
            _ => None,
        }
    }
}

/// Adds the effects of a list, and those nested in them.
fn collect<'p>(
    effects: &'p [Effect],
    around: &[&'p Expression],
    modes: &[ModeId],
    leaving: bool,
    found: &mut Vec<Happening<'p>>,
) {
    for effect in effects {
        let conditions: Vec<&Expression> = around.iter().copied().chain(&effect.when).collect();
        collect(&effect.nested, &conditions, modes, leaving, found);
        found.push(Happening { effect, conditions, modes: modes.to_vec(), leaving });
    }
}
