//! Page: how is the story of an answer displayed in a browser?
//!
//! In: an outcome with its trace, and its answer.
//! Out: one page of HTML with its own style: no script, no network, the same bytes for the same answer.
//! Never: lets a character of an answer or a pack become markup.

use super::drawing::Pen;
use super::outcome::{parts, readable};
use super::story::{Story, StoryLine};
use super::{count, status, unpainted};
use rulebook::Outcome;
use rulebook::outcome::{Finding, Leaf, Status, StepKind, TraceStep};
use rulebook::text::{Source, entity, excerpt, is_bidi_control};
use std::fmt::Write as _;

const STYLE: &str = include_str!("page.css");
/// The content security policy of the page: it loads nothing and runs nothing, whatever the answer contains.
const POLICY: &str = "default-src 'none'; style-src 'unsafe-inline'; base-uri 'none'; form-action 'none'";

impl Pen {
    /// The story of an answer in the pack `pack` as a page of HTML. The outcome must have a trace.
    pub fn page_of_story(&self, outcome: &Outcome, response: &Source, pack: &str) -> String {
        let response = &readable(outcome, response);
        let story = Story::new(outcome, response);
        let word = outcome.status.name();
        let class = match outcome.status {
            Status::Clean => "good",
            Status::Degraded => "warn",
            Status::Refused => "bad",
        };
        let mut page = Page { pen: self, html: String::with_capacity(64 * 1024 + 4 * response.text().len()) };
        let name = escaped(response.name());
        page.html += &format!(
            "<!doctype html>\n<html lang=\"en\">\n<head>\n<meta charset=\"utf-8\">\n\
             <meta name=\"viewport\" content=\"width=device-width, initial-scale=1\">\n\
             <meta http-equiv=\"Content-Security-Policy\" content=\"{}\">\n\
             <title>{word}: {name}</title>\n<style>\n{STYLE}</style>\n</head>\n<body>\n",
            escaped(POLICY),
        );
        page.html += &format!(
            "<header>\n<h1>{name}</h1>\n<p><strong class=\"status {class}\">{word}</strong> {}</p>\n</header>\n<main>\n",
            escaped(unpainted(&status(outcome)).trim().trim_start_matches(word).trim_start_matches([' ', '·'])),
        );
        page.ledger(outcome, pack, story.lines.len());
        page.findings(outcome);
        page.section("dialects", "Dialects", |page| page.steps(&story.dialects));
        page.section("answer", "The answer", |page| page.lines(&story));
        if !story.whole.is_empty() {
            page.section("whole", "The reply as a whole", |page| page.steps(&story.whole));
        }
        page.section("message", "The message for the user", |page| match outcome.message.as_str() {
            "" => page.html += "<p class=\"none\">no message</p>\n",
            text => page.quote(text),
        });
        if let Some(correction) = &outcome.ask_again {
            page.section("ask-again", "What the model is asked again", |page| page.quote(correction));
        }
        page.html += "</main>\n</body>\n</html>\n";
        page.html
    }
}

/// A page that is being written.
struct Page<'p> {
    pen: &'p Pen,
    html: String,
}

impl Page<'_> {
    fn section(&mut self, id: &str, title: &str, body: impl FnOnce(&mut Self)) {
        self.html += &format!("<section aria-labelledby=\"{id}\">\n<h2 id=\"{id}\">{title}</h2>\n");
        body(self);
        self.html += "</section>\n";
    }

    /// The bar of all bytes, with a radio button for each part of the ledger that hides all other parts.
    fn ledger(&mut self, outcome: &Outcome, pack: &str, lines: usize) {
        let all = parts(&outcome.ledger);
        let counted =
            || all.iter().filter(|(_, bytes)| *bytes > 0).map(|(part, bytes)| (*part, *bytes, meaning(*part)));
        self.section("bytes", "Every byte", |page| {
            let all = format!("{} in {}", count(outcome.ledger.bytes, "byte"), count(lines, "line"));
            page.html += &format!("<p>{all}, judged by the pack <code>{}</code>.</p>\n<div class=\"bar\" aria-hidden=\"true\">", escaped(pack));
            for (part, bytes, meaning) in counted() {
                _ = write!(page.html, "<span class=\"{part}\" style=\"flex-grow:{bytes}\" title=\"{part}: {bytes} bytes, {meaning}\"></span>");
            }
            page.html += "</div>\n<fieldset class=\"legend\">\n<legend>Show</legend>\n\
                          <label><input type=\"radio\" name=\"part\" checked> everything</label>\n";
            for (part, bytes, meaning) in counted() {
                _ = writeln!(
                    page.html,
                    "<label class=\"{part}\"><input type=\"radio\" name=\"part\" id=\"only-{part}\"> <b class=\"p {part}\">{part}</b> {bytes} <small>{meaning}</small></label>",
                );
            }
            page.html += "</fieldset>\n";
        });
    }

    fn findings(&mut self, outcome: &Outcome) {
        self.section("findings", "What was found", |page| {
            if outcome.diagnostics.is_empty() {
                page.html += "<p class=\"none\">nothing</p>\n";
                return;
            }
            page.html += "<ul class=\"findings\">\n";
            for finding in &outcome.diagnostics {
                page.finding(finding);
            }
            page.html += "</ul>\n";
        });
    }

    fn finding(&mut self, finding: &Finding) {
        let class = finding.severity.name();
        let code = finding.code.bare();
        let id = finding.id.as_ref().map(|id| format!(" <b>{}</b>", escaped(id))).unwrap_or_default();
        let strategy = finding
            .strategy
            .as_ref()
            .map(|strategy| format!(" <span class=\"strategy\">{}</span>", escaped(strategy.name())));
        let help = finding.help.as_ref().map(|help| format!("<br><small>{}</small>", marked(help)));
        _ = writeln!(
            self.html,
            "<li class=\"{class}\"><a href=\"#L{line}\">line {line}</a> <span class=\"severity\">{class}</span> <b>{}</b>{id}{} {}{}</li>",
            escaped(code),
            strategy.unwrap_or_default(),
            marked(&finding.message),
            help.unwrap_or_default(),
            line = finding.line,
        );
    }

    /// The lines. A run of lines whose first pieces belong to one step has the reason once, on the list around it.
    fn lines(&mut self, story: &Story<'_>) {
        self.html += "<div class=\"lines\">\n<ol>\n";
        let mut common: Option<&TraceStep> = None;
        for (index, line) in story.lines.iter().enumerate() {
            let number = index + 1;
            let is_common = |common: Option<&TraceStep>, step| common.is_some_and(|common| std::ptr::eq(common, step));
            if let Some(first) = line.pieces.first().filter(|first| !is_common(common, first.step)) {
                common = Some(first.step);
                self.html += &format!("</ol>\n<ol title=\"{}\">\n", self.reason(first.step));
            }
            _ = write!(
                self.html,
                "<li id=\"L{number}\" class=\"{}\"><span class=\"n\">{number}</span><code>",
                line.part()
            );
            for piece in &line.pieces {
                let element = if piece.part == Leaf::Dropped { "del" } else { "span" };
                _ = write!(self.html, "<{element} class=\"p {}\"", piece.part);
                if !is_common(common, piece.step) {
                    _ = write!(self.html, " title=\"{}\"", self.reason(piece.step));
                }
                _ = write!(self.html, ">{}</{element}>", escaped(piece.text));
            }
            self.html += "</code>";
            self.notes(line);
            self.html += "</li>\n";
        }
        self.html += "</ol>\n</div>\n";
    }

    /// The part of the ledger for some bytes, why they are in it, and the declaration that decided it.
    fn reason(&self, step: &TraceStep) -> String {
        let StepKind::Bytes { part, why } = &step.step else { return escaped(&step.found) };
        let why = why.as_ref().map(|why| format!(" ({why})")).unwrap_or_default();
        let rule = step.rule.as_ref().map(|rule| format!(", {}", self.pen.display_name(rule))).unwrap_or_default();
        escaped(&format!("{part}: {}{why}{rule}", meaning(*part)))
    }

    /// What was decided at a line: a summary, and all steps in its details.
    fn notes(&mut self, line: &StoryLine<'_>) {
        let Some((at, gist)) = line.steps.iter().enumerate().min_by_key(|(_, step)| weight(step)) else { return };
        let answer = line.steps.get(at + 1).filter(|step| step.step == StepKind::Strategy && kind(gist) == "warning");
        let answer = answer.map(|step| format!(" → {}", marked(&step.found))).unwrap_or_default();
        let rest = line.steps.len() - 1;
        let more = if rest > 0 { format!(" <small>+{rest}</small>") } else { String::new() };
        _ = write!(
            self.html,
            "<details title=\"\"><summary class=\"{}\">{}{answer}{more}</summary>",
            kind(gist),
            marked(&excerpt(&gist.found, 120)),
        );
        self.steps(&line.steps);
        self.html += "</details>";
    }

    fn steps(&mut self, steps: &[&TraceStep]) {
        self.html += "<ul class=\"steps\">\n";
        for step in steps {
            let rule = step
                .rule
                .as_ref()
                .map(|rule| format!(" <small class=\"rule\">{}</small>", escaped(&self.pen.display_name(rule))));
            _ = write!(
                self.html,
                "<li class=\"{}\"><b>{}</b> {}{}",
                kind(step),
                step.step,
                marked(&excerpt(&step.found, 600)),
                rule.unwrap_or_default(),
            );
            if !step.parts.is_empty() {
                self.html += "<dl>";
                for part in &step.parts {
                    _ = write!(
                        self.html,
                        "<dt><code>{}</code></dt><dd><code>{}</code></dd>",
                        escaped(&part.text),
                        escaped(&part.value)
                    );
                }
                self.html += "</dl>";
            }
            self.html += "</li>\n";
        }
        self.html += "</ul>\n";
    }

    fn quote(&mut self, text: &str) {
        _ = writeln!(self.html, "<pre>{}</pre>", escaped(text));
    }
}

/// The CSS class of a step.
fn kind(step: &TraceStep) -> &'static str {
    match step.step {
        StepKind::Call { accepted: false } => "bad",
        StepKind::Call { .. } | StepKind::Effect | StepKind::Mode { .. } => "good",
        StepKind::Defect | StepKind::Guardrail => "warning",
        StepKind::Strategy => "strategy",
        StepKind::Condition | StepKind::Remark => "info",
        _ => "plain",
    }
}

/// What it means that bytes are counted in this part of the ledger.
fn meaning(part: Leaf) -> &'static str {
    match part {
        Leaf::Message => "shown to the user",
        Leaf::Thinking => "the model's reasoning: nothing in it counts",
        Leaf::Calls => "the payload of a call",
        Leaf::Contents => "text under a key",
        Leaf::Sections => "a named part of the reply",
        Leaf::Utterances => "what a speaker says",
        Leaf::Markup => "openers, closers and what else only spells blocks",
        Leaf::Stray => "text outside every block",
        Leaf::Dropped => "taken out by a strategy",
        Leaf::Blank => "white space around blocks",
    }
}

/// The step with the lowest weight becomes the summary of its line.
fn weight(step: &TraceStep) -> usize {
    match step.step {
        StepKind::Call { .. } => 0,
        StepKind::Defect | StepKind::Guardrail => 1,
        StepKind::Block => 2,
        _ => 3,
    }
}

/// A text as HTML, in which what is between backticks becomes code.
fn marked(text: &str) -> String {
    if text.matches('`').count() % 2 == 1 {
        return escaped(text);
    }
    let pieces = text.split('`').enumerate().map(|(index, piece)| match index % 2 {
        0 => escaped(piece),
        _ => format!("<code>{}</code>", escaped(piece)),
    });
    pieces.collect()
}

/// A text as HTML: entities for markup, visible symbols for control characters.
fn escaped(text: &str) -> String {
    let mut html = String::with_capacity(text.len() + text.len() / 8);
    for c in text.chars() {
        match c {
            '\n' | '\t' => html.push(c),
            '\0'..='\u{1f}' => html.extend(char::from_u32(0x2400 + u32::from(c))),
            '\u{7f}' => html.push('␡'),
            '\u{80}'..='\u{9f}' => html.push(char::REPLACEMENT_CHARACTER),
            // A character that changes the direction of text could make the text look like another one.
            c if is_bidi_control(c) => html.push(char::REPLACEMENT_CHARACTER),
            c => match entity(c) {
                Some(entity) => html.push_str(entity),
                None => html.push(c),
            },
        }
    }
    html
}
