//! Coverage: which declarations of the pack did no case exercise, and why?
//!
//! In: a program and the results of its cases.
//! Out: [`Coverage`], one row for each declaration, with a [`Reason`] if no case exercised it. A declaration of a
//! used pack has a row only if a case exercised it, since that pack has cases of its own.
//! Never: judges; a declaration without a hit is not a fault.

use super::talk::TurnResult;
use crate::diagnostic::Code;
use crate::outcome::{Call, Effect, EffectRecord, Finding, Outcome, StepKind, TraceStep, Verdict};
use crate::program::{MessageId, Permission, PermitList, Program};
use crate::text::{FilePlace, Location};
use std::collections::BTreeSet;
use std::fmt;

/// How often the cases exercised each declaration of a pack.
#[derive(Debug, Clone, Default)]
#[non_exhaustive]
pub struct Coverage {
    /// One row for each declaration, sorted by kind.
    pub rows: Vec<Covered>,
}

/// How often the cases exercised one declaration.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct Covered {
    /// `dialect`, `action`, `permit`, `denial`, `guardrail`, `effect`, `input`, `rule`, `exit`, `message` or
    /// `degradation`.
    pub kind: &'static str,
    /// Its name in the pack.
    pub name: String,
    /// Its place, as `pack/file:line:column`.
    pub rule: Option<FilePlace>,
    /// How often it took effect.
    pub hits: usize,
    /// Why it never took effect; none if it did.
    pub reason: Option<Reason>,
}

/// Why no case exercised a declaration.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub enum Reason {
    /// No case caused it to be considered.
    Never,
    /// Cases caused it to be considered, but its condition, gate or exception was never met.
    Unmet,
    /// Calls caused it to be considered, but each was dropped for another reason.
    Dropped,
    /// Cases caused it to be considered, but the declaration named here took precedence each time.
    Shadowed(String),
}

impl fmt::Display for Reason {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Reason::Never => f.write_str("never reached"),
            Reason::Unmet => f.write_str("reached, but its condition was false"),
            Reason::Dropped => f.write_str("reached, but no call was accepted"),
            Reason::Shadowed(by) => write!(f, "reached, but {by} came first each time"),
        }
    }
}

impl Coverage {
    /// Counts what cases exercised, from the results of all their turns. Each result needs its trace.
    pub fn of(program: &Program, results: &[&TurnResult]) -> Self {
        let used = program.sources().iter().filter(|(id, _)| !program.files.is_own(*id));
        let used = used.map(|(_, source)| source.name()).collect();
        let mut counting = Counting { program, results, used, rows: Vec::new() };
        counting.dialects();
        counting.calls();
        counting.denials();
        counting.guardrails();
        counting.effects();
        counting.flow();
        counting.degradation();
        Self { rows: counting.rows }
    }

    /// The percentage of declarations that were exercised, rounded down.
    pub fn percent(&self) -> usize {
        let hit = self.rows.iter().filter(|row| row.hits > 0).count();
        (hit * 100).checked_div(self.rows.len()).unwrap_or(100)
    }
}

/// The rows so far.
struct Counting<'c> {
    program: &'c Program,
    results: &'c [&'c TurnResult],
    /// The files of the packs that it uses.
    used: BTreeSet<&'c str>,
    rows: Vec<Covered>,
}

impl<'c> Counting<'c> {
    /// Adds a row; `reason` is called if there were no hits.
    fn row(
        &mut self,
        kind: &'static str,
        name: impl Into<String>,
        rule: FilePlace,
        hits: usize,
        reason: impl FnOnce(&Self, &FilePlace) -> Option<Reason>,
    ) {
        if hits == 0 && self.used.contains(&*rule.file) {
            return;
        }
        let reason = (hits == 0).then(|| reason(self, &rule).unwrap_or(Reason::Never));
        self.rows.push(Covered { kind, name: name.into(), rule: Some(rule), hits, reason });
    }

    fn place(&self, at: Location) -> FilePlace {
        self.program.place(at).unwrap_or_default()
    }

    fn dialects(&mut self) {
        for declared in self.program.dialects.iter() {
            let dialect = declared.name.as_str();
            let hits = self.outcomes().filter(|outcome| outcome.dialect.as_deref() == Some(dialect)).count();
            self.row("dialect", dialect, self.place(declared.at), hits, |this, _| {
                let mode = |outcome: &Outcome| this.program.modes.get(&outcome.mode);
                let tried = |outcome: &&Outcome| mode(outcome).is_some_and(|mode| mode.dialects.contains(&declared.id));
                let mut others: Vec<&str> =
                    this.outcomes().filter(tried).filter_map(|one| one.dialect.as_deref()).collect();
                others.sort_unstable();
                others.dedup();
                (!others.is_empty()).then(|| Reason::Shadowed(others.join(", ")))
            });
        }
    }

    fn calls(&mut self) {
        for (action, declared) in &self.program.actions {
            let hits = self.accepted(action, None);
            self.row("action", action, self.place(declared.at), hits, |this, _| {
                this.calls_of(action, None).next().map(|_| Reason::Dropped)
            });
        }
        for cell in self.program.permit_table() {
            let (Permission::Always { rule } | Permission::When { rule, .. }) = cell.permission else { continue };
            let hits = self.accepted(&cell.name, Some(&cell.mode));
            self.row("permit", format!("{} in {}", cell.name, cell.mode), rule, hits, |this, rule| {
                let denies = |one: &Finding| one.code == "response/forbidden-call" && one.rule.as_ref() == Some(rule);
                let dropped = this.calls_of(&cell.name, Some(&cell.mode)).next().map(|_| Reason::Dropped);
                if this.findings().any(denies) { Some(Reason::Unmet) } else { dropped }
            });
        }
    }

    fn denials(&mut self) {
        for (mode, declared) in self.program.modes.iter() {
            let denials = [&declared.actions.denies, &declared.contents.denies].map(PermitList::named);
            for (name, denial) in denials.into_iter().flatten() {
                let rule = self.place(denial.at);
                let hits = self.findings().filter(|finding| finding.rule.as_ref() == Some(&rule)).count();
                self.row("denial", format!("{name} in {mode}"), rule, hits, Self::unmet);
            }
        }
    }

    fn guardrails(&mut self) {
        for guardrail in &self.program.guardrails.rules {
            let hits = self.findings().filter(|finding| finding.id.as_deref() == Some(&guardrail.id)).count();
            self.row("guardrail", &guardrail.id, self.place(guardrail.at), hits, Self::unmet);
        }
    }

    fn effects(&mut self) {
        for (name, effect) in self.program.effects().into_iter().filter(|(_, effect)| effect.verb.is_some()) {
            let rule = self.place(effect.at);
            let causes = self
                .results
                .iter()
                .flat_map(|results| results.effects())
                .filter(|effect| effect.cause.as_ref() == Some(&rule));
            // A remark is not an effect for the host: its finding contains the place. The same is true of a change of
            // mode.
            let remarks = self.findings().filter(|finding| finding.rule.as_ref() == Some(&rule));
            let hits = causes.count()
                + remarks.count()
                + self.steps(&rule, |kind| matches!(kind, StepKind::Mode { .. })).count();
            self.row("effect", name, rule, hits, Self::unmet);
        }
    }

    fn flow(&mut self) {
        let program = self.program;
        for input in &program.flows.inputs {
            let rule = self.place(input.at);
            let hits = self.steps(&rule, |kind| *kind == StepKind::Input).count();
            self.row("input", program.flows.class_name(input.class), rule, hits, |this, rule| {
                let mut shadowed = this.steps(rule, |kind| *kind == StepKind::Shadowed);
                shadowed.next().map(|step| Reason::Shadowed(step.found.clone()))
            });
        }
        for declared in &program.flows.rules {
            let rule = self.place(declared.at);
            let hits = self.steps(&rule, |kind| *kind == StepKind::Rule).count();
            self.row("rule", &declared.id, rule, hits, Self::unmet);
        }
        for (left, exit) in
            program.modes.iter().flat_map(|(left, mode)| mode.exits.iter().map(move |exit| (left, exit)))
        {
            let entered = program.mode_name(exit.to);
            let goes =
                |kind: &StepKind| matches!(kind, StepKind::Mode { from, to } if **from == **left && **to == *entered);
            let hits = self.results.iter().flat_map(|results| results.trace()).filter(|step| goes(&step.step)).count();
            self.row("exit", format!("{left} to {entered}"), self.place(exit.at), hits, |this, rule| {
                let shut = |one: &Finding| one.code == "response/gate-closed" && one.rule.as_ref() == Some(rule);
                this.findings().any(shut).then_some(Reason::Unmet)
            });
        }
        // Only the host emits the other messages.
        let used = program.messages_in_use();
        for (number, (id, message)) in program.messages.iter().enumerate() {
            if !used.contains(&MessageId(number)) {
                continue;
            }
            let says_it =
                |effect: &&EffectRecord| matches!(&effect.effect, Effect::Say { id: says_it, .. } if says_it == id);
            let hits = self.results.iter().flat_map(|results| results.effects()).filter(says_it).count();
            self.row("message", id, self.place(message.at), hits, |_, _| None);
        }
    }

    fn degradation(&mut self) {
        for answer in self.program.degradation_table() {
            // Defaults of the engine are tested with the engine.
            let Some(rule) = answer.rule else { continue };
            let code = Code::Defect(answer.defect);
            let mut earlier = None;
            for strategy in answer.strategies {
                let acted = |one: &&Finding| one.code == code && one.strategy == Some(strategy);
                let hits = self.findings().filter(acted).count();
                let name = format!("{} = {strategy} ({})", answer.defect, answer.declared_by);
                let shadow = earlier.clone();
                self.row("degradation", name, rule.clone(), hits, |_, _| shadow.map(Reason::Shadowed));
                earlier = earlier.or((hits > 0).then(|| strategy.to_string()));
            }
        }
    }

    fn outcomes(&self) -> impl Iterator<Item = &'c Outcome> + use<'c> {
        self.results.iter().filter_map(|results| match results {
            TurnResult::Outcome(outcome) => Some(&**outcome),
            TurnResult::Heard(_) => None,
        })
    }

    fn findings(&self) -> impl Iterator<Item = &'c Finding> + use<'c> {
        self.results.iter().flat_map(|results| results.diagnostics())
    }

    /// The steps of this kind that name the declaration at `rule`.
    fn steps<F: Fn(&StepKind) -> bool>(
        &self,
        rule: &FilePlace,
        of_kind: F,
    ) -> impl Iterator<Item = &'c TraceStep> + use<'c, F> {
        let rule = rule.clone();
        let of_rule = move |step: &&TraceStep| of_kind(&step.step) && step.rule.as_ref() == Some(&rule);
        self.results.iter().flat_map(|results| results.trace()).filter(of_rule)
    }

    /// [`Reason::Unmet`] if the condition of a declaration without hits was evaluated: it was never true.
    fn unmet(&self, rule: &FilePlace) -> Option<Reason> {
        self.steps(rule, |kind| *kind == StepKind::Condition).next().map(|_| Reason::Unmet)
    }

    fn calls_of(&self, action: &str, mode: Option<&str>) -> impl Iterator<Item = &'c Call> {
        let in_mode = move |outcome: &&Outcome| mode.is_none_or(|mode| outcome.mode == mode);
        self.outcomes().filter(in_mode).flat_map(|outcome| &outcome.calls).filter(move |call| call.action == action)
    }

    fn accepted(&self, action: &str, mode: Option<&str>) -> usize {
        self.calls_of(action, mode).filter(|call| call.verdict == Verdict::Accepted).count()
    }
}
