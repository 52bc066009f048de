//! Prompts for people: where does every token come from, and which lines differ?
//!
//! In: the ledger of a prompt, or two prompts.
//! Out: a table with a row for each layer; the lines that differ between two prompts.
//! Never: counts a token.

use super::diff::{Change, DiffLine, compare};
use super::drawing::{BAD, FAINT, GOOD, PLAIN, Pen, STRONG, paint, table};
use rulebook::outcome::Prompt;
use rulebook::prompt::{Layer, TokenLedger};
use std::fmt::Write as _;

/// A layer and its text.
type LayerText<'p> = (&'p Layer, &'p str);

impl Pen {
    /// The ledger of the tokens, a row for each layer.
    pub fn token_ledger(&self, ledger: &TokenLedger) -> String {
        let text = head(ledger);
        let mut rows = vec![(FAINT, ["layer", "source", "variant", "tokens", "budget", "left out"].map(str::to_owned))];
        rows.extend(ledger.layers.iter().map(|layer| {
            let budget = layer.budget.map(|budget| budget.to_string());
            let cells = [
                layer.id.clone(),
                or_dash(layer.source.as_deref()),
                or_dash(layer.variant.as_deref()),
                layer.tokens.to_string(),
                or_dash(budget.as_deref()),
                or_dash(layer.trimmed.as_deref()),
            ];
            (PLAIN, cells)
        }));
        text + &table(&rows, &[3, 4])
    }

    /// The difference of `after` from `before`: the layers that differ, then their lines.
    pub fn prompts_compared(&self, before: &Prompt, after: &Prompt) -> String {
        let text = format!("before: {}after:  {}", head(&before.ledger), head(&after.ledger));
        let mut rows =
            vec![(FAINT, ["layer", "before", "after", "left out before", "left out after"].map(str::to_owned))];
        let mut changes = String::new();
        for (id, old, new) in pairs(before, after) {
            if old == new {
                continue;
            }
            let tokens =
                |layer: Option<LayerText<'_>>| or_dash(layer.map(|(layer, _)| layer.tokens.to_string()).as_deref());
            let left = |layer: Option<LayerText<'_>>| or_dash(layer.and_then(|(layer, _)| layer.trimmed.as_deref()));
            rows.push((PLAIN, [id.to_owned(), tokens(old), tokens(new), left(old), left(new)]));
            let text_of =
                |layer: Option<LayerText<'_>>| layer.map(|(_, text_of)| text_of.to_owned()).unwrap_or_default();
            changed_lines(id, &text_of(old), &text_of(new), &mut changes);
        }
        match rows.len() {
            1 => text + "no layer differs\n",
            _ => text + &table(&rows, &[1, 2]) + &changes,
        }
    }
}

/// The model, and how many tokens of its context are used.
fn head(ledger: &TokenLedger) -> String {
    let model = if ledger.model.is_empty() { "any model" } else { &ledger.model };
    let how = if ledger.estimated { ", estimated" } else { "" };
    format!("{}, tier {}: {} of {} tokens{how}\n", paint(STRONG, model), ledger.tier, ledger.tokens, ledger.input)
}

/// The layers of both prompts, each once: those of `after` in their order, then those that only `before` has.
fn pairs<'p>(before: &'p Prompt, after: &'p Prompt) -> Vec<(&'p str, Option<LayerText<'p>>, Option<LayerText<'p>>)> {
    fn all(prompt: &Prompt) -> impl Iterator<Item = LayerText<'_>> {
        prompt.ledger.layers.iter().zip(prompt.texts.iter().map(String::as_str))
    }
    let mut pairs: Vec<_> =
        all(after).map(|new| (new.0.id.as_str(), all(before).find(|old| old.0.id == new.0.id), Some(new))).collect();
    let gone = all(before).filter(|old| all(after).all(|new| new.0.id != old.0.id));
    pairs.extend(gone.map(|old| (old.0.id.as_str(), Some(old), None)));
    pairs
}

/// Adds the lines of a layer that differ, with a few common ones around them.
fn changed_lines(id: &str, before: &str, after: &str, text: &mut String) {
    let lines = compare(before, after);
    if lines.is_empty() {
        return;
    }
    _ = writeln!(text, "\n{}", paint(STRONG, id));
    for line in lines {
        _ = match line {
            DiffLine::Line(Change::Equal, line) => writeln!(text, "  {line}"),
            DiffLine::Line(Change::Delete, line) => writeln!(text, "{}", paint(BAD, &format!("- {line}"))),
            DiffLine::Line(Change::Insert, line) => writeln!(text, "{}", paint(GOOD, &format!("+ {line}"))),
            DiffLine::LeftOut => writeln!(text, "  …"),
        };
    }
}

fn or_dash(text: Option<&str>) -> String {
    text.unwrap_or("—").to_owned()
}
