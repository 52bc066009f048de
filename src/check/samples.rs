//! Samples: does every expression run with values that fit its schemas?
//!
//! In: a program, the state of a new session, and for each action a payload made from its schema.
//! Out: `pack/failing-expression` for each condition, template or path that fails although everything that it reads
//! exists.
//! Never: reports on an action for whose schema no valid payload could be made. Behind a condition that is false for the
//! sample, reports only expressions that fail for every value of the one thing that they read.

use crate::diagnostic::{Code, Diagnostic};
use crate::expression::{Expression, Failure, FailureKind, Scope, Template};
use crate::program::{
    EffectRule, ExampleMembers, FileContent, Mode, PathTemplate, Permit, Program, Shape, StateSlot, Verb, example,
    misfit_at,
};
use crate::text::{Location, excerpt};
use crate::value::value;
use crate::value::{ByteBudget, Record};
use crate::value::{Object, Value};

/// Comparisons that fail for every value: of two kinds that have no order.
pub(super) fn unordered(program: &Program) -> Vec<Diagnostic> {
    let failing = program.idle_comparisons.iter().filter(|one| one.fails());
    failing.map(|one| one.explain(Diagnostic::new(Code::PACK_FAILS, one.constant.at, one.message()))).collect()
}

/// Runs every expression once, and reports those that fail.
pub(super) fn run(program: &Program) -> Vec<Diagnostic> {
    let mut samples = Samples { found: Vec::new(), data: &program.data, unmet: 0 };
    let (mode, absent) = (Value::from(program.mode_name(program.start)), Value::Null);
    let mut scope = Scope::new().with("data", &program.data).with("mode", &mode);
    let mut state = program.initial.clone();
    for (name, slot) in program.slots.iter() {
        let rule = |compute: &Template| StateSlot::rule(name, compute, &program.data, mode.clone(), Value::Null);
        slot.compute.iter().for_each(|compute| state.compute(name, rule(compute)));
    }
    scope.add_record("state", &state);
    for name in ["now", "reply", "item"] {
        scope.add(name, &absent);
    }
    let budget = ByteBudget::new(0, state.clone(), program.data.clone());
    scope.limit(&budget);
    samples.computed(program, &state, &scope);
    samples.guardrails(program, &scope);
    samples.actions(program, &scope);
    samples.prompts(program, &scope);
    samples.contents(program, &scope);
    samples.flows(program, &scope);
    samples.found
}

/// The failures so far.
struct Samples<'p> {
    found: Vec<Diagnostic>,
    data: &'p Value,
    /// How many conditions around the current expression do not hold.
    unmet: usize,
}

impl Samples<'_> {
    /// Checks that the computed values of a new session fit their schemas.
    fn computed(&mut self, program: &Program, state: &Record, scope: &Scope<'_>) {
        for (name, slot) in program.slots.iter() {
            let Some(compute) = &slot.compute else { continue };
            let budget = ByteBudget::of_computed(state);
            let mut bounded = Scope::inside(scope);
            bounded.limit(&budget);
            let value = self.outcome(compute.render(&bounded), compute.at()).filter(|value| !value.is_null());
            let Some((value, validator)) = value.zip(slot.schema.validator().ok()) else { continue };
            if let Some(error) = validator.faults(&value).next() {
                let message = format!(
                    "in a new session, the computed value of `{name}` does not match its schema: {}",
                    misfit_at("", &error)
                );
                let help = "fix the template, or the schema beside it";
                self.found.push(Diagnostic::new(Code::PACK_FAILS, compute.at(), message).with_help(help));
            }
        }
    }

    fn guardrails(&mut self, program: &Program, outer: &Scope<'_>) {
        let scope = with_absent(outer, &["captures", "speaker", "label", "key", "value"]);
        for rule in &program.guardrails.rules {
            self.condition(rule.when.as_ref(), &scope);
        }
    }

    /// Runs the permits and effects of actions, once with all optional parameters and once without.
    fn actions(&mut self, program: &Program, outer: &Scope<'_>) {
        // Nearly all permits have nothing to run, and there may be thousands of modes for each of thousands of actions.
        let runs = |permit: &Permit| permit.when.is_some() || permit.advice.is_some() || permit.confirm.is_some();
        let modes: Vec<&Mode> = program.modes.values().filter(|mode| mode.actions.iter().any(runs)).collect();
        for members in [ExampleMembers::All, ExampleMembers::Required] {
            for (name, action) in &program.actions {
                let params = example(action.schema.json(), members);
                if !action.schema.validator().is_ok_and(|validator| validator.is_valid(&params)) {
                    continue;
                }
                let (name_value, title) = (Value::from(name.as_str()), Value::Null);
                let scope = Scope::inside(outer).with("params", &params).with("action", &name_value);
                let scope = scope.with("title", &title);
                for mode in modes.iter().filter(|_| !action.is_pattern) {
                    for permit in mode.actions.denies.of(name).into_iter().chain(mode.actions.permits.of(name)) {
                        self.condition(permit.when.as_ref(), &scope);
                        self.template(permit.advice.as_ref(), &scope);
                        self.template(permit.confirm.as_ref(), &scope);
                    }
                }
                self.effects(&action.effects, &scope, Object::new());
            }
        }
    }

    /// Runs the texts of prompts, in the first mode.
    fn prompts(&mut self, program: &Program, outer: &Scope<'_>) {
        let Some(mode) = program.modes.values().next() else { return };
        let (none, nothing) = (Value::from(Vec::new()), Value::from(Object::new()));
        let mut scope = with_absent(outer, &["tier"]).with("title", &mode.title).with("sections", &mode.sections);
        for (name, value) in [("model", &nothing), ("actions", &none), ("forms", &none)] {
            scope.add(name, value);
        }
        for text in &program.prompts.texts {
            if let FileContent::Template(document) = &text.body {
                self.outcome(document.render(&scope), document.at());
            }
        }
    }

    fn contents(&mut self, program: &Program, outer: &Scope<'_>) {
        let nothing = Value::from(Object::new());
        for (name, content) in program.contents.iter() {
            let (key, text, name) = ("sample.txt".into(), "sample".into(), name.as_str().into());
            let mut scope = Scope::inside(outer).with("key", &key).with("text", &text).with("name", &name);
            scope.add("attributes", &nothing);
            self.effects(&content.effects, &scope, Object::new());
        }
    }

    fn effects(&mut self, list: &[EffectRule], outer: &Scope<'_>, mut ids: Object) {
        let mut scope = Scope::inside(outer);
        for effect in list {
            let Some(each) = &effect.each else {
                self.effect(effect, &mut scope, &mut ids);
                continue;
            };
            let item = match self.run(each.reads(), each.at(), &scope, |scope| each.value(scope)) {
                Some(Value::Array(items)) => items.first().cloned(),
                Some(Value::Null) | None => None,
                Some(_) => {
                    let message = "with sample values this is not a list, so the effect would never happen";
                    let help = "`each` takes a list: `params.LIST`, `state.LIST | items`, `range(3)`";
                    self.found.push(Diagnostic::new(Code::PACK_FAILS, each.at(), message).with_help(help));
                    None
                }
            };
            let mut round = Scope::inside(&scope).with_owned("item", item.unwrap_or_default());
            self.effect(effect, &mut round, &mut ids.clone());
        }
    }

    fn effect<'s>(&mut self, effect: &'s EffectRule, scope: &mut Scope<'s>, ids: &mut Object) {
        for (name, shape) in &effect.lets {
            let value = self.shape(Some(shape), scope);
            scope.add_owned(name, value);
        }
        let is_unmet = effect.when.is_some() && !self.condition(effect.when.as_ref(), scope);
        self.unmet += usize::from(is_unmet);
        self.happen(effect, scope, ids);
        self.unmet -= usize::from(is_unmet);
    }

    fn happen<'s>(&mut self, effect: &'s EffectRule, scope: &mut Scope<'s>, ids: &mut Object) {
        if let Some(kind) = &effect.new {
            ids.insert(kind.clone(), format!("{kind}-1").into());
        }
        scope.add_owned("ids", Value::Object(ids.clone()));
        match &effect.verb {
            Some(Verb::Set { path, value } | Verb::Append { path, value, .. }) => {
                self.path(path, effect.at, scope);
                self.shape(Some(value), scope);
            }
            Some(Verb::Remove { path }) => self.path(path, effect.at, scope),
            Some(Verb::Emit { event, value }) => {
                self.template(Some(event), scope);
                self.shape(value.as_ref(), scope);
            }
            Some(Verb::Write { key, value, .. }) => {
                self.template(Some(key), scope);
                self.shape(Some(value), scope);
            }
            Some(Verb::Remark { text, .. }) => self.template(text.as_ref(), scope),
            Some(Verb::Say { with, .. }) => with.iter().for_each(|(_, shape)| drop(self.shape(Some(shape), scope))),
            Some(Verb::Go { insist, .. }) => drop(self.condition(insist.as_ref(), scope)),
            Some(Verb::Amend { key, section, marker, otherwise, done, missing, value }) => {
                let maybe = [marker, otherwise, done, missing].into_iter().map(Option::as_ref);
                [Some(key), Some(section)].into_iter().chain(maybe).for_each(|text| self.template(text, scope));
                self.shape(Some(value), scope);
            }
            Some(Verb::Record { key, path, value, .. }) => {
                self.template(Some(key), scope);
                self.path(path, effect.at, scope);
                self.shape(Some(value), scope);
            }
            Some(Verb::Edit { key, find, put, all, .. }) => {
                [key, find, put].into_iter().for_each(|text| self.template(Some(text), scope));
                self.shape(all.as_ref(), scope);
            }
            Some(Verb::Patch { text, file, .. }) => {
                [Some(text), file.as_ref()].into_iter().for_each(|text| self.template(text, scope));
            }
            Some(Verb::Delete { key }) => self.template(Some(key), scope),
            Some(Verb::Move { key, to }) => [key, to].into_iter().for_each(|key| self.template(Some(key), scope)),
            None => {}
        }
        self.effects(&effect.nested, scope, ids.clone());
    }

    /// Runs gates, messages, speakers, and rules on any event.
    fn flows(&mut self, program: &Program, outer: &Scope<'_>) {
        for exit in program.modes.values().flat_map(|mode| &mode.exits) {
            self.condition(exit.gate.as_ref(), outer);
        }
        for message in program.messages.values() {
            let mut scope = Scope::inside(outer);
            message.takes.iter().for_each(|name| scope.add_owned(name, Value::Null));
            self.template(Some(&message.text), &scope);
        }
        if let Some(speakers) = &program.flows.speakers {
            for expression in [&speakers.from, &speakers.order, &speakers.limit] {
                self.condition(expression.as_ref(), outer);
            }
        }
        let scope = with_absent(outer, &["captures", "text", "speaker", "label"]);
        for rule in &program.flows.rules {
            self.condition(rule.when.as_ref(), &scope);
            self.effects(&rule.effects, &scope, Object::new());
        }
    }

    fn condition(&mut self, when: Option<&Expression>, scope: &Scope<'_>) -> bool {
        let holds = |when: &Expression| self.run(when.reads(), when.at(), scope, |scope| when.holds(scope));
        when.and_then(holds).unwrap_or_default()
    }

    fn template(&mut self, template: Option<&Template>, scope: &Scope<'_>) {
        if let Some(template) = template {
            self.run(template.reads(), template.at(), scope, |scope| template.render(scope));
        }
    }

    fn path(&mut self, path: &PathTemplate, at: Location, scope: &Scope<'_>) {
        if self.unmet == 0 {
            self.outcome(path.render(scope), at);
        }
    }

    /// Runs every template of a shape; returns its value if none fails.
    fn shape(&mut self, shape: Option<&Shape>, scope: &Scope<'_>) -> Value {
        let Some(shape) = shape else { return Value::Null };
        for template in shape.templates() {
            self.template(Some(template), scope);
        }
        shape.render(scope).unwrap_or_default()
    }

    /// Runs an expression with the sample values; after a condition that is not true for them, with any values.
    fn run<T>(
        &mut self,
        reads: &[Vec<String>],
        at: Location,
        scope: &Scope<'_>,
        run: impl Fn(&Scope<'_>) -> Result<T, Failure>,
    ) -> Option<T> {
        if self.unmet == 0 {
            return self.outcome(run(scope), at);
        }
        if let Some(failure) = doomed(reads, self.data, run) {
            let message = format!("this fails whatever it reads: {}", excerpt(&failure.message, 160));
            let help = "fix it, or the constants in `data` that it reads";
            self.report(Diagnostic::new(Code::PACK_FAILS, at, message).with_help(help));
        }
        None
    }

    fn outcome<T>(&mut self, outcome: Result<T, Failure>, at: Location) -> Option<T> {
        match outcome {
            Ok(value) => Some(value),
            Err(failure) => {
                if failure.kind != FailureKind::Absence {
                    let message = format!("this fails with sample values: {}", excerpt(&failure.message, 160));
                    let help = "the samples are made from the schemas of `params` and the defaults of `state`";
                    self.report(Diagnostic::new(Code::PACK_FAILS, at, message).with_help(help));
                }
                None
            }
        }
    }

    fn report(&mut self, fault: Diagnostic) {
        if !self.found.contains(&fault) {
            self.found.push(fault);
        }
    }
}

/// The scope `outer` with these names added, all absent.
fn with_absent<'s>(outer: &'s Scope<'_>, names: &[&'s str]) -> Scope<'s> {
    let mut scope = Scope::inside(outer);
    names.iter().for_each(|name| scope.add_owned(name, Value::Null));
    scope
}

/// The failure of an expression that reads at most one value besides constants, if it fails for every value.
fn doomed<T>(reads: &[Vec<String>], data: &Value, run: impl Fn(&Scope<'_>) -> Result<T, Failure>) -> Option<Failure> {
    let mut values: Vec<&[String]> =
        reads.iter().map(Vec::as_slice).filter(|path| !path.starts_with(&["data".to_owned()])).collect();
    values.sort();
    values.dedup();
    let any = value!([
        1, true, 2.5, "", "x", "7", [], [1], ["x"], [["x", 1]], [{ "x": "x" }], {}, { "x": 1 }, { "x": ["x"] }
    ]);
    let mut failure = None;
    for value in any.as_array().into_iter().flatten() {
        let mut scope = Scope::new().with("data", data);
        match values.as_slice() {
            [] => {}
            [[head, inside @ ..]] => {
                let around = |value, member: &String| value!({ (member.as_str()): value });
                scope.add_owned(head, inside.iter().rev().fold(value.clone(), around));
            }
            _ => return None,
        }
        match run(&scope) {
            Err(fails) if fails.kind != FailureKind::Absence => drop(failure.get_or_insert(fails)),
            _ => return None,
        }
    }
    failure
}
