//! Trace: which line of the pack caused each step?
//!
//! In: a judgement and the effects that followed from it.
//! Out: [`TraceStep`]s: the dialects, what became of each byte, the blocks, the calls and their permits and conditions,
//! the findings with their strategies, the rules and effects.
//! Never: decides anything: every step repeats what the floors above decided.

use super::contract::{Part, TraceStep, Verdict};
use crate::diagnostic::{Code, Defect, Diagnostic, Remark, Strategy};
use crate::document::{FindingKind, Trial, Tried};
use crate::flow::{Effect, Flowed};
use crate::judge::{Fate, JudgeStep, Judgement, Leaf, StepKind};
use crate::program::{Dialect, Program};
use crate::text::{Lines, Location, Span, excerpt};
use std::borrow::Cow;

/// The steps from a response to its outcome, in order.
pub(super) fn trace(judged: &mut Judgement<'_>, flowed: &Flowed) -> Vec<TraceStep> {
    let judge_steps = std::mem::take(&mut judged.steps).into_list();
    let program = judged.program;
    let mut steps = Vec::new();
    dialects(judged, &mut steps);
    bytes(judged, &mut steps);
    for (index, block) in judged.document.blocks.iter().enumerate() {
        let Some(bound) = judged.bound(block) else { continue };
        let name = named(judged, block.name().of(judged.text));
        let mut found = format!("{} `{name}` {}", bound.role.word(), judged.fate(index).word());
        if let Some(cause) = judged.causes.get(&index) {
            found = format!("{found}: {}", cause.bare());
        }
        steps.push(step(program, StepKind::Block, block.span(), found, bound.at));
    }
    for call in &judged.calls {
        let block = judged.span_of(call.block);
        let accepted = call.is_carried_out() && !judged.ruling.is_refused();
        let verdict = match accepted {
            true => Verdict::Accepted,
            false if call.accepted && !judged.ruling.is_refused() => Verdict::Pending,
            false => Verdict::Dropped,
        };
        let action = call.action.and_then(|id| program.action(id));
        let name = if action.is_some() { excerpt(&call.name, 60) } else { named(judged, &call.name) };
        let (kind, at) = (StepKind::Call { accepted }, action.map(|(_, action)| action.at));
        steps.push(step(program, kind, block, format!("{name} {verdict}"), at));
    }
    let conditions = steps.len()..steps.len() + judge_steps.len();
    steps.extend(judge_steps.iter().chain(&flowed.steps).map(|step| trace_step(program, step)));
    for found in &judged.findings.list {
        finding(program, found, &mut steps);
    }
    steps.extend(effects(program, flowed));
    let refused = judged.ruling.is_refused();
    if let Some(quote_filter) = judged.redactions.quote_filter() {
        for step in &mut steps {
            quote_filter.over_text(&mut step.found);
            step.parts.iter_mut().for_each(|part| quote_filter.over_text(&mut part.value));
        }
        // Permits also see what is redacted later, and texts that their conditions make of it cannot be searched for.
        let is_text = |part: &&mut Part| part.value.starts_with(['"', '[', '{']);
        for part in steps.get_mut(conditions).into_iter().flatten().flat_map(|step| &mut step.parts).filter(is_text) {
            "…".clone_into(&mut part.value);
        }
    }
    // For a refused answer, no values are quoted.
    for part in steps.iter_mut().filter(|_| refused).flat_map(|step| &mut step.parts) {
        "…".clone_into(&mut part.value);
    }
    steps
}

/// A name in the response as the trace writes it: nothing of a refused answer is quoted.
fn named<'t>(judged: &Judgement<'_>, name: &'t str) -> Cow<'t, str> {
    if judged.ruling.is_refused() { Cow::Borrowed("…") } else { excerpt(name, 60) }
}

/// The steps for the rules that ran, the conditions evaluated for them, and their effects.
pub(super) fn flowed_steps(program: &Program, flowed: &Flowed) -> Vec<TraceStep> {
    flowed.steps.iter().map(|step| trace_step(program, step)).chain(effects(program, flowed)).collect()
}

fn effects<'f>(program: &'f Program, flowed: &'f Flowed) -> impl Iterator<Item = TraceStep> + 'f {
    flowed.done.iter().map(|done| {
        let kind = match &done.effect {
            Effect::Set { path, .. } => format!("set {path}"),
            Effect::Append { path, .. } => format!("append {path}"),
            Effect::Remove { path, .. } => format!("remove {path}"),
            Effect::Emit { event, .. } => format!("emit {event}"),
            Effect::Write { key, .. } => format!("write {key}"),
            Effect::Say { id, .. } => format!("say {id}"),
            Effect::Amend(amendment) => format!("amend {}", amendment.key),
            Effect::Record { key, path, .. } => format!("record {path} in {key}"),
            Effect::Edit(edit) => format!("edit {}", edit.key),
            Effect::Delete { key, .. } => format!("delete {key}"),
            Effect::Move { key, to } => format!("move {key} to {to}"),
        };
        step(program, StepKind::Effect, done.span, kind, done.cause)
    })
}

/// The steps for a finding and for the strategy that answered it.
fn finding(program: &Program, found: &Diagnostic, steps: &mut Vec<TraceStep>) {
    let kind = match found.code {
        Code::Defect(Defect::Guardrail) => StepKind::Guardrail,
        Code::Defect(_) => StepKind::Defect,
        _ => StepKind::Remark,
    };
    let span = found.at.map(|at| at.span).unwrap_or_default();
    let name = found.id.clone().unwrap_or_else(|| found.code.bare().to_owned());
    let text = format!("{name}: {}", found.message);
    steps.push(step(program, kind, span, text, found.rule));
    if let Some(strategy) = found.strategy {
        let origin = if found.answered_by.is_some() { "" } else { ", the default" };
        steps.push(step(program, StepKind::Strategy, span, format!("{strategy}{origin}"), found.answered_by));
    }
}

/// The step for each dialect of the pack: whether it read the response, and why not.
fn dialects(judged: &Judgement<'_>, steps: &mut Vec<TraceStep>) {
    let program = judged.program;
    let lines = Lines::new(judged.text);
    let tried = &judged.document.tried;
    let claim = tried.iter().find_map(|one| match one.trial {
        Trial::Claims(place) | Trial::Begins(place) => Some(place),
        _ => None,
    });
    // A dialect that only lends its blocks to others reads no answer.
    let reads = |dialect: &&Dialect| {
        let mut modes = program.modes.values();
        modes.any(|mode| program.dialects_of(mode).any(|one| one.id == dialect.id))
    };
    for dialect in program.dialects.iter().filter(reads) {
        let name = &dialect.name;
        let Some(one) = tried.iter().find(|one| one.dialect == dialect.id) else {
            let found = format!("`{name}` is not tried in the mode `{}`", judged.session.mode);
            steps.push(step(program, StepKind::Dialect, Span::default(), found, dialect.at));
            continue;
        };
        let place = match one.trial {
            Trial::Claims(place) | Trial::Begins(place) => Span::new(place, place),
            _ => one.seen.unwrap_or_default(),
        };
        let needs = excerpt(&dialect.needs.join("`, `"), 120).into_owned();
        let found = match one.trial {
            Trial::Sole if tried.len() > 1 => format!("`{name}` reads it: only a fallback is tried beside it"),
            Trial::Sole => format!("`{name}` reads it: no other is tried"),
            Trial::Claims(place) => {
                let opens = judged.document.blocks.iter().find(|block| block.span().start == place);
                let opens = opens.map_or_else(String::new, |block| {
                    format!(" with `{}`", named(judged, block.name().of(judged.text)))
                });
                format!("`{name}` claims it{opens} at {}", lines.place(place))
            }
            Trial::Tied => format!("`{name}` would claim it at the same place, but comes after the one that does"),
            Trial::First => format!("`{name}` reads it: nobody claims it, and it is the first that found a block"),
            Trial::Rest => format!("`{name}` reads it: nobody finds a block, and it is the only one that needs none"),
            Trial::Fallback => format!("`{name}` reads it: no other dialect finds a block outside quotations"),
            Trial::Begins(place) => {
                format!("`{name}` reads it: the quotation that it begins with opens a block at {}", lines.place(place))
            }
            Trial::Spared => format!("`{name}` is a fallback, and another dialect finds a block"),
            Trial::Passed => {
                let until = if claim.is_some() { " before that" } else { "" };
                let misses = if needs.is_empty() {
                    "found no block".to_owned()
                } else {
                    format!("needs `{needs}`, and found none")
                };
                format!("`{name}` {misses}{until}{}", nearest(judged, one, &lines))
            }
        };
        steps.push(step(program, StepKind::Dialect, place, found, dialect.at));
    }
}

/// Describes what came nearest to a block that the dialect needs.
fn nearest(judged: &Judgement<'_>, tried: &Tried, lines: &Lines<'_>) -> String {
    let mut text = String::new();
    let quoted = |span: Span| excerpt(&named(judged, span.of(judged.text)), 40).into_owned();
    if let Some(name) = tried.seen {
        text += &format!("; it found `{}` at {}", quoted(name), lines.place(name.start));
    }
    match tried.near {
        Some((FindingKind::Remark(Remark::QuotedBlock), span)) => {
            text += &format!("; `{}` at {} is quoted", quoted(span), lines.place(span.start));
        }
        Some((_, span)) => {
            text += &format!("; the opener `{}` at {} cannot be read", quoted(span), lines.place(span.start))
        }
        None => {}
    }
    text
}

/// A step for each run of bytes that have the same block and the same part of the ledger.
fn bytes(judged: &Judgement<'_>, steps: &mut Vec<TraceStep>) {
    let mut leaves: Vec<(Span, Leaf)> = Vec::new();
    judged.leaves(|span, leaf| {
        if !span.is_empty() {
            leaves.push((span, leaf));
        }
    });
    leaves.sort_by_key(|(span, _)| span.start);
    let blocks = &judged.document.blocks;
    // The blocks around the place, the innermost last.
    let mut around: Vec<usize> = Vec::new();
    let mut next = 0;
    let mut runs: Vec<(Span, Leaf, Option<usize>)> = Vec::new();
    for (span, leaf) in leaves {
        while let Some(block) = blocks.get(next).filter(|block| block.span().start <= span.start) {
            if block.span().end > span.start {
                around.push(next);
            }
            next += 1;
        }
        let ends = |block: usize| blocks.get(block).is_none_or(|block| block.span().end <= span.start);
        around.retain(|block| !ends(*block));
        let own = around.last().copied();
        match runs.last_mut() {
            Some((run, known, block)) if *known == leaf && *block == own && run.end == span.start => run.end = span.end,
            _ => runs.push((span, leaf, own)),
        }
    }
    for (span, leaf, own) in runs {
        let bound = own.and_then(|block| judged.block(block)).map(|(_, bound)| bound.at);
        let why = if leaf == Leaf::Dropped { why_dropped(judged, span, own) } else { None };
        let found = match &why {
            Some(why) => format!("{leaf}: {why}"),
            None => leaf.word().to_owned(),
        };
        steps.push(step(judged.program, StepKind::Bytes { part: leaf, why }, span, found, bound));
    }
}

/// Why a run of bytes was dropped: the cause of the outermost dropped block, or else the finding that covers some of
/// its bytes.
fn why_dropped(judged: &Judgement<'_>, span: Span, own: Option<usize>) -> Option<String> {
    let parent = |block: &usize| judged.document.blocks.get(*block)?.parent();
    let gone = std::iter::successors(own, parent).filter(|block| judged.fate(*block) == Fate::Dropped);
    if let Some(cause) = gone.last().and_then(|block| judged.causes.get(&block)) {
        return Some(cause.bare().to_owned());
    }
    let acted = |found: &&Diagnostic| found.strategy.is_some_and(|strategy| strategy != Strategy::Keep);
    let shares = |found: &&Diagnostic| found.at.is_some_and(|at| at.span.start < span.end && span.start < at.span.end);
    judged.findings.list.iter().filter(acted).find(shares).map(|found| found.code.bare().to_owned())
}

fn trace_step(program: &Program, judged: &JudgeStep) -> TraceStep {
    let parts = judged.parts.iter().map(|part| Part { text: part.text.clone(), value: part.value.clone() });
    TraceStep {
        parts: parts.collect(),
        ..step(program, judged.kind.clone(), judged.span, judged.found.clone(), judged.at)
    }
}

fn step(program: &Program, kind: StepKind, span: Span, found: String, at: impl Into<Option<Location>>) -> TraceStep {
    let rule = at.into().and_then(|at| program.place(at));
    TraceStep { step: kind, span: span.into(), found, rule, parts: Vec::new() }
}
