//! Heard, for people: what came of these words, at a glance?
//!
//! In: what was heard, and the words.
//! Out: what the pack says, the effects, the findings at their places, and a last line with class and mode.
//! Never: hides an effect or a finding.

use super::Tally;
use super::drawing::{FAINT, GOOD, Pen, STRONG, WARN, paint};
use super::outcome::{heading, visible};
use rulebook::diagnostic::Row;
use rulebook::outcome::{Effect, Heard};
use rulebook::text::{Source, excerpt, one_line};
use std::fmt::Write as _;

impl Pen {
    /// The findings about what was heard, with their places in the words.
    pub fn heard_rows(&self, heard: &Heard, words: &Source) -> Vec<Row> {
        heard.diagnostics.iter().map(|finding| self.finding_row(words, finding)).collect()
    }

    /// What was heard in `words`.
    pub fn heard(&self, heard: &Heard, words: &Source) -> String {
        // Where something was replaced, the words are drawn nowhere as they were.
        let readable: String = match heard.text == words.text() {
            true => words.text().to_owned(),
            false => words.text().chars().map(|c| if c.is_whitespace() { c } else { '*' }).collect(),
        };
        let words = &Source::new(words.name(), readable);
        let mut text = String::new();
        for message in &heard.say {
            _ = writeln!(text, "{}\n", visible(message));
        }
        let effects = heard.effects.iter().filter(|record| !matches!(record.effect, Effect::Say { .. }));
        let effects: String = effects.map(|record| self.effect(record)).collect();
        if !effects.is_empty() {
            _ = writeln!(text, "{}\n{effects}", paint(STRONG, "effects"));
        }
        for finding in &heard.diagnostics {
            text += &self.finding(finding, words);
            text.push('\n');
        }
        if let Some(trace) = &heard.trace {
            heading("trace", &mut text);
            for step in trace {
                text += &self.step(step, words);
            }
            text.push('\n');
        }
        text
    }
}

/// The last line: the class and its captures, the mode, and how much was found.
pub fn heard_status(heard: &Heard) -> String {
    let class = match &heard.class {
        Some(class) => paint(GOOD, &one_line(class)),
        None => paint(WARN, "no class"),
    };
    let mut words = vec![class];
    words.extend(heard.captures.iter().map(|(name, value)| format!("{name} {}", excerpt(&value.to_string(), 60))));
    words.push(format!("mode {}", one_line(&heard.session.mode)));
    words.extend(Tally::of(heard.diagnostics.iter().map(|finding| finding.severity)).words());
    format!("{}\n", words.join(&paint(FAINT, " · ")))
}
