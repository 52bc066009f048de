//! Guardrails: which patterns and conditions are checked, and on what?
//!
//! In: the guardrails of the surface.
//! Out: [`Guardrails`], and a diagnostic for each pattern that cannot be used.
//! Never: searches a text.

use super::flow::modes_of;
use super::{COMPUTE_NAMES, NameScope, PackCompiler, REPLY_NAMES};
use crate::diagnostic::{Code, Diagnostic, Severity, Strategy};
use crate::program::{Guardrail, GuardrailTarget, Guardrails, Pattern, PatternSet, TargetPatterns};
use crate::surface::{self, Role, Surface};
use std::sync::{Arc, OnceLock};

impl PackCompiler<'_> {
    pub(super) fn compile_guardrails(&mut self) -> Guardrails {
        let surface = self.surface;
        let rules = surface.guardrails.iter().map(|guardrail| self.compile_guardrail(guardrail)).collect();
        let mut guardrails = Guardrails { rules, ..Guardrails::default() };
        self.compile_sets(&mut guardrails);
        guardrails
    }

    fn compile_guardrail(&mut self, guardrail: &surface::Guardrail) -> Guardrail {
        let pattern = guardrail.matches.as_ref().or(guardrail.unless.as_ref()).and_then(|text| self.pattern(text));
        let excuse = guardrail.matches.as_ref().and(guardrail.unless.as_ref());
        let excuse = excuse.and_then(|text| self.pattern(text));
        let targets: Vec<GuardrailTarget> = guardrail.on.0.iter().map(|on| target(&on.value, self.surface)).collect();
        self.check_guardrail(guardrail, &targets);
        let scope = self.scope_of_guardrail(guardrail, pattern.as_ref(), &targets);
        Guardrail {
            id: guardrail.id.value.clone(),
            targets,
            on: guardrail.on.0.iter().map(|on| on.at).collect(),
            pattern,
            inverted: guardrail.matches.is_none(),
            excuse,
            when: self.condition(guardrail.when.as_ref(), &scope),
            modes: modes_of(self.surface, &guardrail.modes.0),
            advice: guardrail.advice.as_ref().map(|advice| advice.value.clone()),
            severity: guardrail.severity.unwrap_or(Severity::Warning),
            strategy: guardrail.strategy.as_ref().map(|strategy| strategy.value),
            with: guardrail.with.as_ref().map_or("[…]", |with| with.value.as_str()).into(),
            watch: OnceLock::new(),
            at: guardrail.id.at,
        }
    }

    /// Checks that a guardrail can trip at all, that its pattern is for texts, and that its advice is not a template.
    fn check_guardrail(&mut self, guardrail: &surface::Guardrail, targets: &[GuardrailTarget]) {
        let has_pattern = has_pattern(guardrail);
        if !has_pattern && guardrail.when.is_none() && !self.surface.torn.contains(&guardrail.at) {
            let message = "this guardrail has no condition";
            let fault = Diagnostic::new(Code::PACK_MISSING_KEY, guardrail.id.at, message);
            self.diagnostics.push(fault.with_help("add `matches`, `unless` or `when`"));
        }
        let whole =
            guardrail.on.0.iter().zip(targets).filter(|(_, target)| has_pattern && **target == GuardrailTarget::Reply);
        self.diagnostics.extend(whole.map(|(on, _)| {
            Diagnostic::new(Code::PACK_PATTERN, on.at, "a pattern cannot look at the whole reply")
                .with_help("name a role or a block, or use `when`")
        }));
        let of_input = guardrail.on.0.iter().zip(targets).find(|(_, target)| **target == GuardrailTarget::Input);
        if let Some((on, _)) = of_input.filter(|_| targets.len() > 1) {
            let message = "a guardrail on `input` looks at nothing else: answers are judged later";
            let help = "make two of it: one with `on = \"input\"`, and one on the rest";
            self.diagnostics.push(Diagnostic::new(Code::PACK_WRONG_VALUE, on.at, message).with_help(help));
        }
        if let Some((on, _)) = of_input.filter(|_| !has_pattern) {
            let message = "a guardrail on `input` has a pattern";
            let help = "give it `matches` or `unless`";
            self.diagnostics.push(Diagnostic::new(Code::PACK_PATTERN, on.at, message).with_help(help));
        }
        let answers = |strategy: Strategy| matches!(strategy, Strategy::Keep | Strategy::Redact | Strategy::Refuse);
        if let Some(strategy) = guardrail.strategy.as_ref().filter(|one| of_input.is_some() && !answers(one.value)) {
            let message = format!("the strategy `{}` cannot be used on the words of a user", strategy.value);
            let finding = Diagnostic::new(Code::PACK_UNFIT_STRATEGY, strategy.at, message);
            self.diagnostics.push(finding.with_help("there is `keep`, `redact` and `refuse`"));
        }
        let redacts = guardrail.strategy.as_ref().filter(|strategy| strategy.value == Strategy::Redact);
        // The body of a call has been read into parameters, which are redacted by their names.
        let is_call = |name: &str| {
            let mut named = self.surface.blocks().filter(|(block, _)| *block == name);
            named.any(|(_, block)| block.value.role == Role::Call)
        };
        let text = |target: &GuardrailTarget| match target {
            GuardrailTarget::Reply | GuardrailTarget::Key(_) | GuardrailTarget::Role(Role::Call) => false,
            GuardrailTarget::Block(name) => !is_call(name),
            _ => true,
        };
        if let Some(strategy) = redacts.filter(|_| guardrail.matches.is_none()) {
            let message = "there is nothing to redact: only what `matches` finds can be replaced";
            let fault = Diagnostic::new(Code::PACK_UNFIT_STRATEGY, strategy.at, message);
            self.diagnostics.push(fault.with_help("give it `matches`"));
        } else if let Some(strategy) = redacts
            && let Some((on, _)) = guardrail.on.0.iter().zip(targets).find(|(_, target)| !text(target))
        {
            let message = format!("nothing can be redacted in `{}`: only texts and parameters can", on.value);
            let help = "look there with a guardrail of its own and another strategy; this one looks `on` a role, a block or `ACTION.PARAMETER`";
            self.diagnostics.push(Diagnostic::new(Code::PACK_UNFIT_STRATEGY, strategy.at, message).with_help(help));
        }
        if let Some(with) = guardrail.with.as_ref().filter(|_| guardrail.strategy.is_some() && redacts.is_none()) {
            let message = "nothing is redacted here, so there is nothing to replace";
            let finding = Diagnostic::new(Code::PACK_WRONG_VALUE, with.at, message);
            self.diagnostics.push(finding.with_help("say `strategy = \"redact\"`, or take it out"));
        }
        if let Some(advice) = guardrail.advice.as_ref().filter(|advice| advice.value.contains("{{")) {
            let message = "this advice is not a template: it is printed as it is";
            let finding = Diagnostic::new(Code::PACK_WRONG_VALUE, advice.at, message);
            self.diagnostics.push(finding.with_help("say it in words").into_warning());
        }
    }

    /// The names that the condition of a guardrail may read.
    fn scope_of_guardrail<'s>(
        &self,
        guardrail: &surface::Guardrail,
        pattern: Option<&Pattern>,
        targets: &[GuardrailTarget],
    ) -> NameScope<'s> {
        let mut scope =
            NameScope::of(if targets.contains(&GuardrailTarget::Input) { COMPUTE_NAMES } else { REPLY_NAMES });
        let torn = self.surface.torn.contains(&guardrail.at);
        scope.open(torn || targets.iter().any(|target| is_unknown(target, self.surface)));
        if guardrail.matches.is_some() {
            scope.add(&["captures"]);
            pattern.iter().for_each(|pattern| scope.capture(std::iter::once(*pattern)));
        }
        if targets.contains(&GuardrailTarget::Role(Role::Utterance)) {
            scope.add(&["speaker", "label"]);
        }
        let of_block = |target: &GuardrailTarget| {
            matches!(target, GuardrailTarget::Block(_) | GuardrailTarget::Role(Role::Content | Role::Section))
        };
        if has_pattern(guardrail) && targets.iter().any(of_block) {
            scope.add(&["key", "value"]);
        }
        scope
    }

    /// Compiles one set of patterns for each target.
    fn compile_sets(&mut self, guardrails: &mut Guardrails) {
        let mut targets: Vec<GuardrailTarget> = Vec::new();
        for target in guardrails.rules.iter().filter(|rule| rule.pattern.is_some()).flat_map(|rule| &rule.targets) {
            if !targets.contains(target) {
                targets.push(target.clone());
            }
        }
        for target in targets {
            let applies = |rule: &Guardrail| rule.pattern.is_some() && rule.targets.contains(&target);
            let rules = guardrails.rules.iter().enumerate().filter(|(_, rule)| applies(rule));
            let may_redact = rules.clone().any(|(_, rule)| rule.may_redact());
            let rules: Vec<usize> = rules.map(|(index, _)| index).collect();
            if let Some(same) = guardrails.sets.iter().find(|set| set.rules == rules) {
                let patterns = Arc::clone(&same.patterns);
                guardrails.sets.push(TargetPatterns { target, patterns, rules, may_redact });
                continue;
            }
            let found = rules.iter().filter_map(|index| guardrails.rules.get(*index)?.pattern.as_ref());
            match PatternSet::new(found).map(Arc::new) {
                Ok(patterns) => guardrails.sets.push(TargetPatterns { target, patterns, rules, may_redact }),
                Err(error) => {
                    let at = rules.first().and_then(|index| guardrails.rules.get(*index)).map(|rule| rule.at);
                    let message = format!("the patterns of one target are too large together: {error}");
                    self.diagnostics.push(Diagnostic::new(Code::PACK_PATTERN, at, message));
                }
            }
        }
    }
}

/// Whether a guardrail has a pattern, valid or not.
fn has_pattern(guardrail: &surface::Guardrail) -> bool {
    guardrail.matches.is_some() || guardrail.unless.is_some()
}

/// Whether the target is the name of a block that no dialect declares.
fn is_unknown(target: &GuardrailTarget, surface: &Surface) -> bool {
    let GuardrailTarget::Block(on) = target else { return false };
    !surface.blocks().any(|(name, block)| name == on || block.value.name().is_some_and(|called| called.value == *on))
}

/// The target of a guardrail: the word for a role, `ACTION.PARAMETER`, or else the name of blocks.
fn target(on: &str, surface: &Surface) -> GuardrailTarget {
    match on {
        "reply" => return GuardrailTarget::Reply,
        "input" => return GuardrailTarget::Input,
        _ => {}
    }
    if let Some((action, param)) = on.split_once('.')
        && surface.actions.contains_key(action)
    {
        return GuardrailTarget::Param(action.to_owned(), param.to_owned());
    }
    if let Some(name) = on.strip_suffix(".key") {
        return GuardrailTarget::Key(name.to_owned());
    }
    let bound = surface.dialects.values().any(|dialect| dialect.value.blocks.contains_key(on));
    let roles = [Role::Message, Role::Thinking, Role::Call, Role::Content, Role::Section, Role::Utterance];
    match roles.into_iter().find(|role| role.word() == on) {
        Some(role @ (Role::Message | Role::Thinking)) => GuardrailTarget::Role(role),
        Some(role) if !bound => GuardrailTarget::Role(role),
        _ => GuardrailTarget::Block(on.to_owned()),
    }
}
