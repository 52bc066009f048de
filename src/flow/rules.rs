//! Rules: what follows on an event?
//!
//! In: an event, and what it brings along.
//! Out: the effects of each rule that follows on it, in the order of the pack; then the change of mode, if one asked for it.
//! Never: lets a rule change the mode that the next rule on the same event sees.

use super::occasion::{Bound, Flow};
use crate::judge::StepKind;
use crate::program::{Event, Input, Rule};
use crate::text::Span;
use crate::value::Value;

impl Flow<'_> {
    /// Something happened at `span`; `names` are what it brings along.
    pub(crate) fn happen(&mut self, event: Event, names: &[(&str, &Value)], span: Span) {
        self.span = span;
        self.follow(event, names);
        self.depart();
    }

    /// Asks back, where the input of the words at `span` does so.
    pub(crate) fn ask(&mut self, input: &Input, span: Span) {
        self.span = span;
        if let Some(message) = input.ask
            && let Err(failure) = self.say(message, &[], input.at)
        {
            self.failed(input.at, &failure);
        }
    }

    /// Fires the rules that follow on an event.
    pub(super) fn follow(&mut self, event: Event, names: &[(&str, &Value)]) {
        let mode = self.mode_id();
        let none = Value::Null;
        let looks = |rule: &&Rule| rule.on.contains(&event) && rule.modes.include(mode);
        for rule in self.program.flows.rules.iter().filter(looks) {
            // A rule may listen to several events: the names that only another one brings are none.
            let absent = ["captures", "text", "speaker", "label"].into_iter().map(|name| (name, &none));
            let names: Vec<(&str, &Value)> = absent.chain(names.iter().copied()).collect();
            let mut bound = Bound::of(&names);
            let holds = match &rule.when {
                None => Ok(true),
                Some(when) => self.holds(when, &bound, rule.at, || format!("the rule `{}` waits for", rule.id)),
            };
            match holds {
                Ok(true) => {
                    self.steps.tell(StepKind::Rule, rule.at, self.span, || rule.id.clone());
                    self.list(&rule.effects, &mut bound);
                }
                Ok(false) => {}
                Err(failure) => self.left_out(&format!("the rule `{}`", rule.id), rule.at, &failure),
            }
        }
    }

    /// Whether an utterance that comes now is beyond the limit of the discussion; a limit that cannot be checked is none.
    pub(crate) fn is_beyond_limit(&mut self) -> bool {
        let speakers = self.program.flows.speakers.as_ref();
        let Some((speakers, limit)) = speakers.and_then(|speakers| Some((speakers, speakers.limit.as_ref()?))) else {
            return false;
        };
        let ends = || "the discussion ends when".to_owned();
        self.holds(limit, &Bound::default(), speakers.at, ends).unwrap_or_default()
    }
}
