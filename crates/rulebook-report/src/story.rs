//! Stories: how did this answer become its outcome?
//!
//! In: an outcome with its trace, and the answer it is about.
//! Out: [`Story`], the answer line by line with what was decided at each; and the story as text for people.
//! Never: leaves out a step: those that belong to no line are listed for the reply as a whole.

use super::drawing::{BAD, FAINT, GOOD, Pen, STRONG, WARN, paint};
use super::outcome::{ending, heading, mark_of, readable, visible};
use super::{count, status};
use annotate_snippets::renderer::Style;
use rulebook::outcome::{Leaf, StepKind, TraceStep};
use rulebook::text::{Source, excerpt};
use rulebook::{Extent, Outcome};
use std::fmt::Write as _;

/// The longest line of the answer that is printed, in characters.
const MAX_LINE_CHARACTERS: usize = 110;
/// The longest text of a step that is printed, in characters.
const MAX_STEP_CHARACTERS: usize = 200;
/// Of more lines in a row than this for which there is no step, only the first two and the last are printed.
const MAX_QUIET_LINES: usize = 5;

/// An answer, with what was decided at each of its lines.
pub(super) struct Story<'o> {
    pub(super) dialects: Vec<&'o TraceStep>,
    pub(super) lines: Vec<StoryLine<'o>>,
    /// Steps that belong to no line: rules that apply after the reply, and what is missing in the reply.
    pub(super) whole: Vec<&'o TraceStep>,
}

/// One line of the answer.
#[derive(Default)]
pub(super) struct StoryLine<'o> {
    /// The text of the line without its line break, in pieces that each belong to one part of the ledger.
    pub(super) pieces: Vec<LinePiece<'o>>,
    pub(super) steps: Vec<&'o TraceStep>,
}

/// Some bytes of a line.
pub(super) struct LinePiece<'o> {
    pub(super) text: &'o str,
    /// The part of the ledger that counts these bytes.
    pub(super) part: Leaf,
    /// The step that assigned the bytes to that part.
    pub(super) step: &'o TraceStep,
}

impl StoryLine<'_> {
    /// The part of the ledger that counts most bytes of the line; markup and white space only if the line has nothing
    /// else.
    pub(super) fn part(&self) -> Leaf {
        let weight = |piece: &&LinePiece<'_>| {
            let says = !matches!(piece.part, Leaf::Markup | Leaf::Blank);
            (says, piece.part != Leaf::Blank, piece.text.len())
        };
        self.pieces.iter().max_by_key(weight).map_or(Leaf::Blank, |piece| piece.part)
    }
}

impl<'o> Story<'o> {
    /// The story of `outcome`, which must have a trace, and of its answer.
    pub(super) fn new(outcome: &'o Outcome, response: &'o Source) -> Self {
        let trace = outcome.trace.as_deref().unwrap_or_default();
        let mut story = Story { dialects: Vec::new(), lines: Vec::new(), whole: Vec::new() };
        let length = response.text().len();
        let is_block = |span| trace.iter().any(|step| step.step == StepKind::Block && step.span == span);
        let one_block = is_block(Extent::new(0, length));
        let mut at_lines: Vec<(usize, &TraceStep)> = Vec::new();
        for step in trace {
            let Extent { start, end, .. } = step.span;
            match step.step {
                StepKind::Dialect => story.dialects.push(step),
                StepKind::Bytes { .. } => {}
                _ if start >= length || (start == 0 && end == length && !one_block) => story.whole.push(step),
                _ => at_lines.push((start, step)),
            }
        }
        at_lines.sort_by_key(|(start, _)| *start);
        let mut steps = at_lines.into_iter().peekable();
        let counted = trace.iter().filter_map(|step| match step.step {
            StepKind::Bytes { part, .. } => Some((part, step)),
            _ => None,
        });
        let mut counted = counted.peekable();
        let mut at = 0;
        for text in response.text().split_inclusive('\n') {
            let end = at + text.len();
            let mut line = StoryLine::default();
            while let Some((_, step)) = steps.next_if(|(start, _)| *start < end) {
                line.steps.push(step);
            }
            let trimmed_end = at + text.trim_end_matches(['\n', '\r']).len();
            while let Some((part, step)) = counted.peek().copied().filter(|(_, step)| step.span.start < end) {
                let from = step.span.start.max(at);
                let text = response.text().get(from..step.span.end.min(trimmed_end)).unwrap_or_default();
                if !text.is_empty() {
                    line.pieces.push(LinePiece { text, part, step });
                }
                if step.span.end > end {
                    break;
                }
                counted.next();
            }
            story.lines.push(line);
            at = end;
        }
        story.whole.extend(steps.map(|(_, step)| step));
        story
    }
}

impl Pen {
    /// The story of an answer: its lines, each with what was decided at it. The outcome must have a trace.
    pub fn story(&self, outcome: &Outcome, response: &Source) -> String {
        let response = &readable(outcome, response);
        let story = Story::new(outcome, response);
        let lines = count(story.lines.len(), "line");
        let mut text =
            format!("{}  {lines}, {}\n", paint(STRONG, response.name()), count(outcome.ledger.bytes, "byte"));
        heading("dialects", &mut text);
        for step in &story.dialects {
            self.line_of(step, "  ", &mut text);
        }
        heading("answer", &mut text);
        self.lines(&story, &mut text);
        if !story.whole.is_empty() {
            heading("the reply as a whole", &mut text);
            for step in &story.whole {
                self.line_of(step, "  ", &mut text);
            }
        }
        text + &ending(outcome)
    }

    /// The story with one line for each step, for screen readers and searching.
    pub fn plain_story(&self, outcome: &Outcome, response: &Source) -> String {
        let mut text = String::new();
        let steps = outcome.trace.iter().flatten().filter(|step| !matches!(step.step, StepKind::Bytes { .. }));
        for step in steps {
            let rule = step.rule.as_ref().map(|rule| format!(" [{}]", self.display_name(rule))).unwrap_or_default();
            let place = response.place(step.span.start);
            _ = writeln!(
                text,
                "{}:{place}: {}: {}{rule}",
                response.name(),
                step.step,
                visible(&step.found).replace('\n', " ")
            );
            for part in &step.parts {
                _ = writeln!(
                    text,
                    "{}:{place}: part: {} = {}",
                    response.name(),
                    visible(&part.text),
                    visible(&part.value)
                );
            }
        }
        text + &super::unpainted(&status(outcome))
    }

    fn lines(&self, story: &Story<'_>, text: &mut String) {
        let width = story.lines.len().to_string().len().max(3);
        let margin = format!("{:width$} {} ", "", paint(FAINT, "│"));
        let mut at = 0;
        while let Some(line) = story.lines.get(at) {
            let rest = story.lines.get(at..).unwrap_or_default();
            let quiet = rest.iter().take_while(|line| line.steps.is_empty()).count();
            if quiet > MAX_QUIET_LINES {
                for number in [at, at + 1] {
                    draw_line(story, number, width, text);
                }
                let left_out = quiet - 3;
                _ = writeln!(text, "{:>width$} {}", "⋮", paint(FAINT, &format!("{left_out} more lines")));
                draw_line(story, at + quiet - 1, width, text);
                at += quiet;
                continue;
            }
            draw_line(story, at, width, text);
            for step in &line.steps {
                self.line_of(step, &margin, text);
            }
            at += 1;
        }
    }

    /// Writes a step, with the values of the parts of its condition below it.
    fn line_of(&self, step: &TraceStep, margin: &str, text: &mut String) {
        let (word, style) = word_of(step);
        let rule =
            step.rule.as_ref().map(|rule| format!("  {}", paint(FAINT, &self.display_name(rule)))).unwrap_or_default();
        _ = writeln!(
            text,
            "{margin}{} {}{rule}",
            paint(style, &format!("{word:<9}")),
            excerpt(&step.found, MAX_STEP_CHARACTERS)
        );
        for part in &step.parts {
            let value = paint(STRONG, &excerpt(&part.value, MAX_LINE_CHARACTERS));
            _ = writeln!(text, "{margin}{:12}{} = {value}", "", excerpt(&part.text, MAX_LINE_CHARACTERS));
        }
    }
}

/// The word for a step, and its colour.
pub(super) fn word_of(step: &TraceStep) -> (&'static str, Style) {
    let style = match &step.step {
        StepKind::Strategy => return ("  answer", WARN),
        StepKind::Defect | StepKind::Guardrail => WARN,
        StepKind::Call { accepted: false } => BAD,
        StepKind::Call { .. } | StepKind::Effect | StepKind::Mode { .. } => GOOD,
        StepKind::Condition | StepKind::Remark => FAINT,
        _ => STRONG,
    };
    (step.step.word(), style)
}

fn draw_line(story: &Story<'_>, at: usize, width: usize, text: &mut String) {
    let Some(line) = story.lines.get(at) else { return };
    let (mark, style) = mark_of(line.part());
    _ = write!(text, "{} {} ", paint(FAINT, &format!("{:>width$}", at + 1)), paint(style, &mark.to_string()));
    let mut room = MAX_LINE_CHARACTERS;
    for piece in &line.pieces {
        let (_, style) = mark_of(piece.part);
        let trimmed_end = excerpt(piece.text, room);
        *text += &paint(style, &visible(&trimmed_end));
        room = room.saturating_sub(piece.text.chars().count());
        if room == 0 {
            break;
        }
    }
    text.truncate(text.trim_end().len());
    text.push('\n');
}
