//! Rules: what follows from an event?
//!
//! In: an event, and its values.
//! Out: the effects of each rule for it, in the order of the pack; then the change of mode, if one was requested.
//! Never: lets a rule change the mode that the next rule for the same event sees.

use super::turn::{Bindings, Flow};
use crate::judge::StepKind;
use crate::program::{EventRule, Input, RuleEvent};
use crate::text::Span;
use crate::value::Value;

impl Flow<'_> {
    /// Handles an event at `span`; `names` are the values of the event.
    pub(crate) fn handle_event(&mut self, event: RuleEvent, names: &[(&str, &Value)], span: Span) {
        self.span = span;
        self.run_rules(event, names);
        self.depart();
    }

    /// Sends the question that an input asks back, if it has one; `span` is the place of the user's message.
    pub(crate) fn ask(&mut self, input: &Input, span: Span) {
        self.span = span;
        if let Some(message) = input.ask
            && let Err(failure) = self.say(message, &[], input.at)
        {
            self.failed(input.at, &failure);
        }
    }

    /// Runs the rules for an event.
    pub(super) fn run_rules(&mut self, event: RuleEvent, names: &[(&str, &Value)]) {
        let mode = self.mode_id();
        let none = Value::Null;
        let applies = |rule: &&EventRule| rule.on.contains(&event) && rule.modes.include(mode);
        for rule in self.program.flows.rules.iter().filter(applies) {
            // A rule may have several events: names that this event does not provide are `none`.
            let absent = ["captures", "text", "speaker", "label"].into_iter().map(|name| (name, &none));
            let names: Vec<(&str, &Value)> = absent.chain(names.iter().copied()).collect();
            let mut bound = Bindings::of(&names);
            let holds = match &rule.when {
                None => Ok(true),
                Some(when) => self.holds(when, &bound, rule.at, || format!("the rule `{}` applies when", rule.id)),
            };
            match holds {
                Ok(true) => {
                    self.steps.record(StepKind::Rule, rule.at, self.span, || rule.id.clone());
                    self.list(&rule.effects, &mut bound);
                }
                Ok(false) => {}
                Err(failure) => self.left_out(&format!("the rule `{}`", rule.id), rule.at, &failure),
            }
        }
    }

    /// Whether an utterance now would exceed the turn limit. A limit that cannot be evaluated does not apply.
    pub(crate) fn is_beyond_limit(&mut self) -> bool {
        let speakers = self.program.flows.speakers.as_ref();
        let Some((speakers, limit)) = speakers.and_then(|speakers| Some((speakers, speakers.limit.as_ref()?))) else {
            return false;
        };
        let ends = || "the discussion ends when".to_owned();
        self.holds(limit, &Bindings::default(), speakers.at, ends).unwrap_or_default()
    }
}
