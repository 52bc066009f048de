//! Coverage: what of the pack did no case exercise?
//!
//! In: a program and what came of its cases.
//! Out: [`Coverage`], one row for each declaration.
//! Never: judges; a row without a hit is a fact, not a fault.

use super::talk::Told;
use crate::outcome::{Effect, EffectRecord, Outcome, Verdict};
use crate::program::{Permission, Program};
use std::sync::Arc;

/// How often the cases exercised each declaration of a pack.
#[derive(Debug, Clone, Default)]
pub struct Coverage {
    /// One row for each declaration, kind by kind.
    pub rows: Vec<Covered>,
}

/// How often the cases exercised one declaration.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Covered {
    /// `dialect`, `action`, `permit`, `guardrail`, `effect`, `input`, `rule`, `exit`, `message` or `degradation`.
    pub kind: &'static str,
    /// What the pack calls it.
    pub name: String,
    /// Where it stands.
    pub rule: Option<Arc<str>>,
    /// How often it counted.
    pub hits: usize,
}

impl Coverage {
    /// Counts what cases exercised: what came of everything that was said in them, each with its trace.
    pub fn of(program: &Program, told: &[&Told]) -> Self {
        let outcomes: Vec<&Outcome> = told
            .iter()
            .filter_map(|told| match told {
                Told::Outcome(outcome) => Some(outcome),
                Told::Heard(_) => None,
            })
            .collect();
        let findings = || told.iter().flat_map(|told| told.diagnostics());
        let steps =
            |what: &'static str| told.iter().flat_map(|told| told.trace()).filter(move |step| step.step == what);
        let mut rows = Vec::new();
        let mut row = |kind, name: String, rule: Option<Arc<str>>, hits| rows.push(Covered { kind, name, rule, hits });
        for dialect in program.dialects() {
            let hits = outcomes.iter().filter(|outcome| outcome.dialect.as_deref() == Some(dialect)).count();
            row("dialect", dialect.to_owned(), None, hits);
        }
        for action in program.actions() {
            row("action", action.to_owned(), None, count_accepted(&outcomes, action, None));
        }
        for cell in program.permit_table() {
            let (Permission::Always { rule } | Permission::When { rule, .. }) = cell.permission else { continue };
            let hits = count_accepted(&outcomes, &cell.action, Some(&cell.mode));
            row("permit", format!("{} in {}", cell.action, cell.mode), Some(rule), hits);
        }
        for (id, rule) in program.guardrail_table() {
            let hits = findings().filter(|finding| finding.id.as_deref() == Some(&id)).count();
            row("guardrail", id, Some(rule), hits);
        }
        for (name, rule) in program.effect_table() {
            let causes = told.iter().flat_map(|told| told.effects()).filter(|effect| effect.cause == rule);
            // A remark is no effect for the host: its finding names the place. Neither is a change of mode.
            let remarks = findings().filter(|finding| finding.rule.as_deref() == Some(&rule));
            let modes = steps("mode").filter(|step| step.rule.as_deref() == Some(&rule));
            let hits = causes.count() + remarks.count() + modes.count();
            row("effect", name, Some(rule), hits);
        }
        for (class, rule) in program.input_table() {
            let hits = steps("input").filter(|step| step.rule.as_deref() == Some(&rule)).count();
            row("input", class, Some(rule), hits);
        }
        for (id, rule) in program.rule_table() {
            let hits = steps("rule").filter(|step| step.rule.as_deref() == Some(&rule)).count();
            row("rule", id, Some(rule), hits);
        }
        for (way, rule) in program.exit_table() {
            let hits = steps("mode").filter(|step| step.found == way).count();
            row("exit", way, Some(rule), hits);
        }
        for (id, rule) in program.message_table() {
            let said = |effect: &&EffectRecord| matches!(&effect.effect, Effect::Say { id: said, .. } if *said == id);
            let hits = told.iter().flat_map(|told| told.effects()).filter(said).count();
            row("message", id, Some(rule), hits);
        }
        for answer in program.degradation_table() {
            // What the pack does not say itself is the engine's to test.
            let Some(rule) = answer.rule else { continue };
            for strategy in answer.strategies {
                let code = format!("response/{}", answer.defect);
                let hits = findings()
                    .filter(|finding| finding.code == code && finding.strategy.as_deref() == Some(strategy.name()))
                    .count();
                row(
                    "degradation",
                    format!("{} = {strategy} ({})", answer.defect, answer.place),
                    Some(rule.clone()),
                    hits,
                );
            }
        }
        Self { rows }
    }
}

fn count_accepted(outcomes: &[&Outcome], action: &str, mode: Option<&str>) -> usize {
    outcomes
        .iter()
        .filter(|outcome| mode.is_none_or(|mode| outcome.mode == mode))
        .flat_map(|outcome| &outcome.calls)
        .filter(|call| call.verdict == Verdict::Accepted && call.action == action)
        .count()
}
