//! Played conversations: what does each turn result in, and what is the state after it?
//!
//! In: the result of one turn, the session before it, and the words or the answer.
//! Out: all messages and utterances in full, calls, effects, findings, and two last lines: the status, and mode and
//! counters.
//! Never: hides an effect or a finding.

use super::drawing::{FAINT, Pen, STRONG, paint};
use super::heard::heard_status;
use super::outcome::{heading, readable, status, visible};
use rulebook::cases::TurnResult;
use rulebook::outcome::Effect;
use rulebook::text::{Source, excerpt, one_line};
use rulebook::{Outcome, Session, Value};
use std::fmt::Write as _;

/// The longest value that is printed, in characters.
const MAX_VALUE_CHARACTERS: usize = 60;

impl Pen {
    /// One step of a conversation: the result of `words`.
    pub fn played(&self, result: &TurnResult, before: &Session, words: &Source) -> String {
        let mut text = match result {
            TurnResult::Heard(heard) => self.heard(heard, words) + &heard_status(heard),
            TurnResult::Outcome(outcome) => self.answered(outcome, &readable(outcome, words)) + &status(outcome),
        };
        text += &state_line(Some(before), result.session());
        text
    }

    fn answered(&self, outcome: &Outcome, words: &Source) -> String {
        let mut pieces = vec![visible(&outcome.message)];
        pieces.extend(outcome.utterances.iter().map(|one| {
            format!("{} ({}): {}", paint(STRONG, &visible(&one.speaker)), visible(&one.label), visible(&one.text))
        }));
        pieces.extend(outcome.effects.iter().filter_map(|record| match &record.effect {
            Effect::Say { text, .. } => Some(visible(text)),
            _ => None,
        }));
        let mut asked_for = String::new();
        self.asked_for(outcome, &mut asked_for);
        pieces.push(asked_for);
        let mut effects = String::new();
        let others = outcome.effects.iter().filter(|record| !matches!(record.effect, Effect::Say { .. }));
        for record in others {
            if effects.is_empty() {
                heading("effects", &mut effects);
            }
            effects += &self.effect(record);
        }
        pieces.push(effects);
        pieces.extend(outcome.diagnostics.iter().map(|finding| self.finding(finding, words)));
        if let Some(correction) = &outcome.ask_again {
            pieces.push(format!("{}\n{}", paint(STRONG, "the model is asked again"), visible(correction)));
        }
        let mut text = String::new();
        for piece in pieces.iter().map(|piece| piece.trim_matches('\n')).filter(|piece| !piece.is_empty()) {
            _ = writeln!(text, "{piece}\n");
        }
        text
    }
}

/// The state of a conversation: the mode, every number of the state, and every other value that has changed.
pub fn state_line(before: Option<&Session>, now: &Session) -> String {
    let mut words = vec![format!("mode {}", one_line(&now.mode))];
    for (name, value) in now.state.iter() {
        let was = before.and_then(|before| before.state.get(name));
        let new = before.is_some() && was != Some(value);
        if new || value.is_number() {
            let value = format!("{name} {}", excerpt(&displayed(value), MAX_VALUE_CHARACTERS));
            words.push(if new { paint(STRONG, &value) } else { value });
        }
    }
    format!("{}\n", words.join(&paint(FAINT, " · ")))
}

fn displayed(value: &Value) -> String {
    match value {
        Value::Array(items) if items.len() > 3 => format!("({} items)", items.len()),
        value => value.to_string(),
    }
}
