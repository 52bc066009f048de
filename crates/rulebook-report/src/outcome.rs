//! Outcomes for people: what did this answer result in?
//!
//! In: an outcome, and its answer.
//! Out: the calls with their verdicts, the effects, the message, the findings at their lines, the ledger as a bar.
//! Never: hides a call, an effect or a finding.

use super::drawing::{BAD, FAINT, GOOD, Mark, Pen, Picture, STRONG, WARN, paint};
use super::{Tally, count};
use annotate_snippets::renderer::{AnsiColor, Style};
use rulebook::Severity;
use rulebook::diagnostic::Row;
use rulebook::outcome::{
    Call, Effect, EffectRecord, Finding, Leaf, Ledger, Outcome, Status, StepKind, TraceStep, Verdict,
};
use rulebook::text::{Source, Span, excerpt, is_bidi_control, one_line};
use rulebook::value::to_value;
use rulebook::{Extent, Value};
use std::fmt::Write as _;

/// The longest value that is printed, in characters.
const MAX_VALUE_CHARACTERS: usize = 60;
/// The width of the ledger bar in characters.
const BAR_WIDTH: usize = 48;

impl Pen {
    /// The findings of an outcome, with their places in the answer.
    pub fn rows(&self, outcome: &Outcome, response: &Source) -> Vec<Row> {
        outcome.diagnostics.iter().map(|finding| self.finding_row(response, finding)).collect()
    }

    /// The outcome of the answer `response`, ending with its ledger. [`status`] is the last line.
    pub fn outcome(&self, outcome: &Outcome, response: &Source) -> String {
        let whole = response;
        let response = &readable(outcome, response);
        let mut text = String::new();
        self.parts(outcome, &mut text);
        // Each heading begins with an empty line, which the first one does not need.
        text = text.trim_start_matches('\n').to_owned();
        for finding in &outcome.diagnostics {
            text.push('\n');
            text += &self.finding(finding, response);
        }
        if outcome.status == Status::Refused && response.text() != whole.text() {
            let note = "the answer is masked because it is refused; `rulebook run --withheld` shows it";
            text += &format!("\n{}\n", paint(FAINT, note));
        }
        if let Some(trace) = &outcome.trace {
            heading("trace", &mut text);
            // The bar below is the sum of these steps.
            for step in trace.iter().filter(|step| !matches!(step.step, StepKind::Bytes { .. })) {
                text += &self.step(step, response);
            }
        }
        text + &ending(outcome)
    }

    /// Only the findings, each followed by a blank line.
    pub fn findings(&self, outcome: &Outcome, response: &Source) -> String {
        let response = &readable(outcome, response);
        outcome.diagnostics.iter().map(|finding| self.finding(finding, response) + "\n").collect()
    }

    /// Everything but the findings, verdicts first. Texts of the answer are indented, so that no message can imitate a
    /// verdict.
    fn parts(&self, outcome: &Outcome, text: &mut String) {
        self.asked_for(outcome, text);
        if !outcome.utterances.is_empty() {
            heading("utterances", text);
            for utterance in &outcome.utterances {
                let name = paint(STRONG, &visible(&utterance.speaker));
                _ = writeln!(text, "  {name} {}", excerpt(&utterance.text, MAX_VALUE_CHARACTERS));
            }
        }
        if !outcome.effects.is_empty() {
            heading("effects", text);
            for effect in &outcome.effects {
                *text += &self.effect(effect);
            }
        }
        if outcome.message.is_empty() {
            _ = writeln!(text, "\n{}", paint(FAINT, "(no message)"));
        } else {
            heading("message", text);
            for line in visible(&outcome.message).lines() {
                _ = writeln!(text, "{}", format!("  {line}").trim_end());
            }
        }
        if !outcome.thinking.is_empty() {
            heading("thinking", text);
            for part in &outcome.thinking {
                _ = writeln!(text, "  {}", paint(FAINT, &excerpt(part, MAX_VALUE_CHARACTERS + 20)));
            }
        }
    }

    /// The calls, contents and sections.
    pub(super) fn asked_for(&self, outcome: &Outcome, text: &mut String) {
        if !outcome.calls.is_empty() {
            heading("calls", text);
            for call in &outcome.calls {
                *text += &self.call(call, outcome);
            }
        }
        if !outcome.contents.is_empty() {
            heading("contents", text);
            for content in &outcome.contents {
                let name = paint(STRONG, &visible(&content.name));
                _ = writeln!(text, "  {name} {} {}", excerpt(&content.key, MAX_VALUE_CHARACTERS), size(&content.text));
            }
        }
        if !outcome.sections.is_empty() {
            heading("sections", text);
            for section in &outcome.sections {
                let name = paint(STRONG, &visible(&section.name));
                _ = writeln!(text, "  {name} {}", excerpt(&section.text, MAX_VALUE_CHARACTERS));
            }
        }
    }

    fn call(&self, call: &Call, outcome: &Outcome) -> String {
        let (mark, style) = match call.verdict {
            Verdict::Accepted => ("✓", GOOD),
            Verdict::Dropped => ("✗", BAD),
            // A call that waits for a person, or a verdict that a later version of the engine adds.
            _ => ("?", WARN),
        };
        let mut line = format!("  {} {}", paint(style, mark), paint(STRONG, &visible(&call.action)));
        if call.verdict == Verdict::Dropped {
            let Extent { start, end, .. } = call.span;
            let mut reasons: Vec<&str> = outcome
                .diagnostics
                .iter()
                .filter(|finding| {
                    finding.severity != Severity::Info && start <= finding.span.start && finding.span.end <= end
                })
                .map(|finding| finding.code.bare())
                .collect();
            reasons.dedup();
            if !reasons.is_empty() {
                _ = write!(line, "  {}", paint(WARN, &reasons.join(", ")));
            }
        }
        let params = members(&call.params);
        if !params.is_empty() {
            _ = write!(line, "  {params}");
        }
        if let Some((id, waits)) = call.pending.as_ref().and_then(|id| outcome.session.pending.get_key_value(id)) {
            let question = visible(&one_line(&waits.question));
            _ = write!(line, "\n    {} {question}", paint(WARN, &format!("waits as {}:", visible(id))));
        }
        line.push('\n');
        line
    }

    pub(super) fn effect(&self, record: &EffectRecord) -> String {
        let (verb, what) = match &record.effect {
            Effect::Emit { event, value } => ("emit".into(), format!("{} {}", visible(event), brief(value))),
            Effect::Write { key, text, new, executable } => {
                let new = if *new { " new" } else { "" };
                let executable = if *executable { " executable" } else { "" };
                ("write".into(), format!("{}{new}{executable} {}", visible(key), size(text)))
            }
            Effect::Edit(edit) => {
                let find = excerpt(&edit.find, MAX_VALUE_CHARACTERS);
                let count = if edit.all { "every" } else { "one" };
                ("edit".into(), format!("{} {count} {find:?} {}", visible(&edit.key), size(&edit.put)))
            }
            Effect::Move { key, to } => ("move".into(), format!("{} to {}", visible(key), visible(to))),
            Effect::Amend(one) => {
                let place = format!("{} section {:?}", visible(&one.key), excerpt(&one.section, MAX_VALUE_CHARACTERS));
                ("amend".into(), format!("{place} {}", size(&one.text)))
            }
            other => plain(other),
        };
        format!(
            "  {verb:<6} {what}  {}\n",
            paint(FAINT, &record.cause.as_ref().map(|cause| self.display_name(cause)).unwrap_or_default())
        )
    }

    pub(super) fn finding(&self, finding: &Finding, response: &Source) -> String {
        let mut notes = Vec::new();
        if let Some(help) = &finding.help {
            notes.push(("help", help.to_string()));
        }
        let rule = finding.rule.as_ref().map(|rule| self.display_name(rule));
        match (&finding.strategy, rule) {
            // The rule that found it and the strategy that answered it may be declared in different places.
            (Some(strategy), Some(rule)) => {
                notes.push(("strategy", strategy.to_string()));
                notes.push(("rule", rule));
            }
            (Some(strategy), None) => notes.push(("strategy", format!("{strategy} (default)"))),
            (None, Some(rule)) => notes.push(("rule", rule)),
            (None, None) => {}
        }
        let code = match &finding.id {
            Some(id) => format!("{}: {id}", finding.code),
            None => finding.code.to_string(),
        };
        // A long block would hide the message about it, so only its first line is drawn.
        let span = Span::new(finding.span.start, finding.span.end);
        let first = span.of(response.text()).lines().next().unwrap_or_default().len();
        let first_part = Span::new(span.start, span.start + first);
        self.draw(&Picture {
            severity: finding.severity,
            code,
            message: finding.message.to_string(),
            marks: vec![Mark { source: response, span: first_part, label: None, primary: true }],
            notes,
        })
    }

    pub(super) fn step(&self, step: &TraceStep, response: &Source) -> String {
        let start = step.span.start;
        let rule = step.rule.as_ref().map(|rule| self.display_name(rule)).unwrap_or_default();
        let place = response.place(start).to_string();
        format!("  {place:>6} {:<9} {}  {}\n", step.step, excerpt(&step.found, 100), paint(FAINT, &rule))
    }
}

/// The answer with everything masked that a guardrail redacts.
pub(super) fn readable(outcome: &Outcome, response: &Source) -> Source {
    Source::new(response.name(), outcome.readable(response.text()))
}

pub(super) fn heading(name: &str, text: &mut String) {
    _ = writeln!(text, "\n{}", paint(STRONG, name));
}

/// A text without the control characters that could drive a terminal; line breaks and tabs remain, and characters that
/// change the direction of text are escaped.
pub fn visible(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    for c in text.chars().filter(|c| !c.is_control() || matches!(c, '\n' | '\t')) {
        if is_bidi_control(c) { out.extend(c.escape_unicode()) } else { out.push(c) }
    }
    out
}

/// The kind of an effect, and the values of its other members in their order.
fn plain(effect: &Effect) -> (String, String) {
    let Some(Value::Object(mut members)) = to_value(effect) else { return ("effect".into(), String::new()) };
    let kind = members.remove("kind");
    let words: Vec<String> = members
        .values()
        .map(|value| match value {
            Value::String(text) if members.len() > 1 => excerpt(text, MAX_VALUE_CHARACTERS).into_owned(),
            value => brief(value),
        })
        .collect();
    (kind.as_ref().and_then(Value::as_str).unwrap_or_default().to_owned(), words.join(" "))
}

fn size(text: &str) -> String {
    paint(FAINT, &format!("({}, {})", count(text.lines().count(), "line"), count(text.len(), "byte")))
}

fn brief(value: &dyn std::fmt::Display) -> String {
    excerpt(&value.to_string(), MAX_VALUE_CHARACTERS).into_owned()
}

fn members(members: &rulebook::Value) -> String {
    let words: Vec<String> =
        members.as_object().into_iter().flatten().map(|(key, value)| format!("{key}={}", brief(value))).collect();
    excerpt(&words.join(" "), 2 * MAX_VALUE_CHARACTERS).into_owned()
}

/// The parts of the ledger, each with its size in bytes.
pub(super) fn parts(ledger: &Ledger) -> [(Leaf, usize); 10] {
    [
        (Leaf::Message, ledger.message),
        (Leaf::Thinking, ledger.thinking),
        (Leaf::Calls, ledger.calls),
        (Leaf::Contents, ledger.contents),
        (Leaf::Sections, ledger.sections),
        (Leaf::Utterances, ledger.utterances),
        (Leaf::Markup, ledger.markup),
        (Leaf::Stray, ledger.stray),
        (Leaf::Dropped, ledger.dropped),
        (Leaf::Blank, ledger.blank),
    ]
}

/// The character of a part of the ledger, which distinguishes it without colours, and its colour.
pub(super) fn mark_of(part: Leaf) -> (char, Style) {
    let colour = |colour: AnsiColor| colour.on_default();
    match part {
        Leaf::Message => ('█', colour(AnsiColor::Green)),
        Leaf::Thinking => ('░', colour(AnsiColor::BrightBlack)),
        Leaf::Calls => ('▓', colour(AnsiColor::Blue)),
        Leaf::Contents => ('▒', colour(AnsiColor::Cyan)),
        Leaf::Sections => ('▞', colour(AnsiColor::BrightGreen)),
        Leaf::Utterances => ('▚', colour(AnsiColor::BrightCyan)),
        Leaf::Markup => ('─', colour(AnsiColor::Magenta)),
        Leaf::Stray => ('?', colour(AnsiColor::Yellow)),
        Leaf::Dropped => ('×', colour(AnsiColor::BrightRed)),
        Leaf::Blank => ('·', FAINT),
    }
}

/// The end of an outcome and of a story: the correction for the model if there is one, and the ledger.
pub(super) fn ending(outcome: &Outcome) -> String {
    let mut text = String::new();
    if let Some(correction) = &outcome.ask_again {
        heading("ask again", &mut text);
        for line in correction.lines() {
            _ = writeln!(text, "  {}", visible(line));
        }
    }
    text.push('\n');
    text + &ledger(&outcome.ledger)
}

/// The ledger on one line: a bar in which every part that is not empty has at least one cell, and the numbers.
fn ledger(ledger: &Ledger) -> String {
    let mut bar = String::new();
    let mut legend = Vec::new();
    for (part, bytes) in parts(ledger).into_iter().filter(|(_, bytes)| *bytes > 0) {
        let (mark, style) = mark_of(part);
        let cells = (bytes * BAR_WIDTH).div_ceil(ledger.bytes.max(1)).min(BAR_WIDTH);
        let run: String = std::iter::repeat_n(mark, cells).collect();
        bar += &paint(style, &run);
        legend.push(format!("{} {part} {bytes}", paint(style, &mark.to_string())));
    }
    if bar.is_empty() {
        return format!("{}\n", count(ledger.bytes, "byte"));
    }
    format!("{bar} {}\n{}\n", count(ledger.bytes, "byte"), legend.join("  "))
}

/// The last line: the status, the mode, the dialect, and the number of findings.
pub fn status(outcome: &Outcome) -> String {
    let tally = Tally::of(outcome.diagnostics.iter().map(|finding| finding.severity));
    // An answer that no strategy changed is `clean` even if it has warnings.
    let is_warned = outcome.status == Status::Clean && tally.errors + tally.warnings > 0;
    let style = match outcome.status {
        Status::Clean if is_warned => WARN,
        Status::Clean => GOOD,
        Status::Degraded => WARN,
        Status::Refused => BAD,
    };
    let mode = match &outcome.session.mode {
        same if *same == outcome.mode => format!("mode {same}"),
        next => format!("mode {} → {next}", outcome.mode),
    };
    let mut words = vec![paint(style, outcome.status.name()), mode];
    words.push(match &outcome.dialect {
        Some(dialect) => format!("dialect {dialect}"),
        None => "no dialect".to_owned(),
    });
    words.extend(tally.words());
    format!("{}\n", words.join(&paint(FAINT, " · ")))
}
