//! Heard words for people: what follows from the words of a user?
//!
//! In: the result of `hear`, and the words.
//! Out: the messages of the pack, the effects, the findings at their places, and a last line with class and mode.
//! Never: hides an effect or a finding.

use super::Tally;
use super::drawing::{FAINT, GOOD, Pen, STRONG, WARN, paint};
use super::outcome::{heading, visible};
use rulebook::diagnostic::Row;
use rulebook::outcome::{Effect, Heard};
use rulebook::text::{Source, excerpt, one_line};
use std::fmt::Write as _;

impl Pen {
    /// The findings about the words, with their places in them.
    pub fn heard_rows(&self, heard: &Heard, words: &Source) -> Vec<Row> {
        heard.diagnostics.iter().map(|finding| self.finding_row(words, finding)).collect()
    }

    /// The result of `hear` for `words`.
    pub fn heard(&self, heard: &Heard, words: &Source) -> String {
        // If a guardrail replaced a part, the original words are not printed anywhere, not even in the line of a
        // finding.
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

/// The last line: the class and its captures, the mode, and the number of findings.
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
