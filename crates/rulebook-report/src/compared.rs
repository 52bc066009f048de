//! Compared packs: how is the comparison of two packs printed?
//!
//! In: the changes between two versions of a pack, and the results of recorded answers if there are any.
//! Out: text for people, and one plain line for each change.
//! Never: decides whether a change widens or narrows what is permitted.

use super::drawing::{BAD, FAINT, GOOD, Pen, STRONG, WARN, paint};
use super::{Replayed, count};
use annotate_snippets::renderer::Style;
use rulebook::compare::{Comparison, DeclarationChange, Direction, PromptChange};
use std::fmt::Write as _;

const DIRECTIONS: [Direction; 5] =
    [Direction::Widened, Direction::Narrowed, Direction::Changed, Direction::Appeared, Direction::Gone];

impl Pen {
    /// The changes by their direction, the widening ones first; then the prompts and the answers.
    pub fn compared(&self, before: &Pen, comparison: &Comparison, replayed: Option<&Replayed>) -> String {
        let mut text = String::new();
        for direction in DIRECTIONS {
            let changes: Vec<&DeclarationChange> =
                comparison.changes.iter().filter(|change| change.direction == direction).collect();
            if changes.is_empty() {
                continue;
            }
            _ = writeln!(text, "{}", paint(style(direction), direction.name()));
            for change in changes {
                let place = place(change, before, self).map(|place| format!("  {}", paint(FAINT, &place)));
                let place = place.unwrap_or_default();
                _ = writeln!(text, "  {} {}{place}", change.kind, paint(STRONG, &change.name));
                for how in &change.how {
                    _ = writeln!(text, "      {how}");
                }
            }
            text.push('\n');
        }
        if !comparison.prompts.is_empty() {
            _ = writeln!(text, "{}", paint(STRONG, "tokens of prompts"));
            for prompt in &comparison.prompts {
                let PromptChange { prompt: name, mode, tier, .. } = prompt;
                _ = writeln!(text, "  {:>20}  {name} in {mode}, {tier}", tokens(prompt));
            }
            text.push('\n');
        }
        text + &replayed.map(|replayed| self.replayed(replayed)).unwrap_or_default()
    }
}

/// One line for each change.
pub fn compared_plain(pen: &Pen, before: &Pen, comparison: &Comparison, replayed: Option<&Replayed>) -> String {
    let mut text = String::new();
    for change in &comparison.changes {
        let place = place(change, before, pen).map(|place| place + ": ").unwrap_or_default();
        let how = change.how.iter().map(|how| format!("; {}", how.replace('\n', "\\n"))).collect::<String>();
        _ = writeln!(text, "{place}{}: {} {}{how}", change.direction.name(), change.kind, change.name);
    }
    for prompt in &comparison.prompts {
        _ = writeln!(text, "tokens: {} in {}, {}: {}", prompt.prompt, prompt.mode, prompt.tier, tokens(prompt));
    }
    for (how, answers) in replayed.into_iter().flat_map(|replayed| &replayed.kinds) {
        _ = writeln!(text, "outcomes: {}: {}", count(*answers, "answer"), how.join("; "));
    }
    text
}

/// The place of the changed declaration: in the old pack if the new one no longer has it, otherwise in the new one.
fn place(change: &DeclarationChange, before: &Pen, now: &Pen) -> Option<String> {
    let pen = if change.gone { before } else { now };
    change.rule.as_ref().map(|rule| pen.display_name(rule))
}

/// The last line of `diff`: how many changes of each direction there are.
pub fn compared_sum(comparison: &Comparison, replayed: Option<&Replayed>) -> String {
    let of = |direction: Direction| (direction, comparison.count(direction));
    let words = DIRECTIONS.map(of).into_iter().filter(|(_, number)| *number > 0);
    let mut words: Vec<String> =
        words.map(|(direction, number)| paint(style(direction), &format!("{number} {}", direction.name()))).collect();
    if words.is_empty() {
        words.push(paint(GOOD, "nothing changed"));
    }
    words.extend(
        replayed.map(|replayed| format!("{} of {} different", replayed.differing, count(replayed.compared, "answer"))),
    );
    format!("{}\n", words.join(", "))
}

fn style(direction: Direction) -> Style {
    match direction {
        Direction::Widened => BAD,
        Direction::Narrowed => GOOD,
        _ => WARN,
    }
}

fn tokens(prompt: &PromptChange) -> String {
    let word = |tokens: Option<usize>| tokens.map_or("none".to_owned(), |tokens| tokens.to_string());
    format!("{} → {}", word(prompt.before), word(prompt.after))
}
