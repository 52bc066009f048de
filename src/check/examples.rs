//! Examples: do the rules accept the examples that a model reads?
//!
//! In: every text that a model may read in a mode of a new session, and the pack's text for asking again.
//! Out: a finding for each fenced example of an answer that the rules of its mode refuse, and for each counter-example
//! (marked `refused` after the language of its fence) that they accept.
//! Never: requires an example to be a whole answer, or a new session to be in the state that the example needs.

use super::ModeTexts;
use crate::diagnostic::{Code, Diagnostic, Label, Severity};
use crate::outcome::{Finding, Outcome};
use crate::program::Program;
use crate::prompt::PromptText;
use crate::session::Session;
use crate::text::{Location, Slice, Span, excerpt};

/// The languages of fences that contain an answer, or a part of one.
const LANGUAGES: &[&str] = &["xml", "json"];
/// The word that marks a counter-example.
const REFUSED: &str = "refused";
/// Defects that an example may have: it may be only a part of an answer, or need a later session.
const FINE: &[&str] = &[MISSING_MESSAGE, "response/missing-block", "response/gate-closed", "response/turn-limit"];
/// The code for an answer without a message. If stray text took the place of the message, the text was not part of an
/// answer.
const MISSING_MESSAGE: &str = "response/missing-message";

/// The code for a text in which no dialect finds a block.
const NO_DIALECT: &str = "response/no-dialect";

/// Faults of examples that have been reported, each with the index of its finding.
pub(super) type ReportedFaults = Vec<(String, usize)>;

pub(super) fn check(program: &Program, reading: &ModeTexts, known: &mut ReportedFaults, found: &mut Vec<Diagnostic>) {
    let asked = program.ask_again.words.as_ref().filter(|words| words.plain().is_some());
    let asked = asked.map(|words| PromptText { source: words.at().source, text: words.source().to_owned() });
    for prompt_text in reading.texts.iter().chain(&asked) {
        for fence in fences(&prompt_text.text) {
            if let Some((finding, fault)) = judge(program, &reading.session, prompt_text, &fence) {
                add(finding, fault, known, found);
            }
        }
    }
}

/// Adds a finding, unless the same example has it already. If other examples have the same fault, their places are
/// added to the first finding.
fn add(new: Diagnostic, fault: Option<String>, known: &mut ReportedFaults, found: &mut Vec<Diagnostic>) {
    if found.iter().any(|known| (&known.code, known.at) == (&new.code, new.at)) {
        return;
    }
    let number = known.iter().find(|(one, _)| Some(one) == fault.as_ref()).map(|(_, number)| *number);
    match (number.and_then(|number| found.get_mut(number)), new.at) {
        (Some(first), Some(at)) if first.labels.iter().all(|label| label.at != at) => {
            first.labels.push(Label { at, text: "and here".to_owned() });
        }
        (Some(_), _) => {}
        (None, _) => {
            known.extend(fault.map(|fault| (fault, found.len())));
            found.push(new);
        }
    }
}

/// The finding for an example; also its fault, if the example is meant to be right.
fn judge(
    program: &Program,
    session: &Session,
    prompt_text: &PromptText,
    fence: &FencedBlock<'_>,
) -> Option<(Diagnostic, Option<String>)> {
    let (outcome, fence) = &read(program, session, fence);
    let fault = fault(outcome);
    let (mode, whole) = (&session.mode, Span::new(0, fence.body.trim_end().len()));
    match fault {
        Some(fault) if !fence.refused => {
            // A missing part has no place of its own: point at the whole example.
            let span = Span::new(fault.span.start, fault.span.end);
            let span = if span.is_empty() { whole } else { span };
            let (at, which) = place(program, prompt_text, fence, span);
            let why = fault.help.as_ref().map(|help| format!(" ({help})")).unwrap_or_default();
            let message = format!("the mode `{mode}` refuses this example{which}: {}{why}", fault.message);
            let finding = Diagnostic::new(Code::PROMPT_REFUSED_EXAMPLE, at, message).with_help(
                "fix it; if a model must not write it, add `refused` after the language of the fence; if it is not an answer, give the fence another language",
            );
            Some((finding, Some(fault.message.to_string())))
        }
        None if fence.refused => {
            let (at, which) = place(program, prompt_text, fence, whole);
            let message = format!("the mode `{mode}` accepts this counter-example{which}");
            let finding = Diagnostic::new(Code::PROMPT_ACCEPTED_EXAMPLE, at, message).with_help(
                "take out `refused`, or forbid it in the rules: what a prompt forbids and the rules allow is allowed",
            );
            Some((finding, None))
        }
        _ => None,
    }
}

/// What is wrong with an example.
fn fault(outcome: &Outcome) -> Option<&Finding> {
    let mut faults = outcome.diagnostics.iter().filter(|one| one.severity != Severity::Info);
    let took_stray_text = !outcome.message.is_empty();
    faults.find(|one| match one.code.as_str() {
        MISSING_MESSAGE => took_stray_text,
        code => !FINE.contains(&code),
    })
}

/// The outcome of an example. An example that is not an answer by itself may be one together with its fence: the fence
/// is then the opener, and the next line maybe the closer.
fn read<'t>(program: &Program, session: &Session, fence: &FencedBlock<'t>) -> (Outcome, FencedBlock<'t>) {
    let has_no_dialect = |outcome: &Outcome| outcome.diagnostics.iter().any(|one| one.code == NO_DIALECT);
    let alone = program.run(session, fence.body);
    if has_no_dialect(&alone) {
        let framed =
            [fence.framed, fence.closed].map(|text| (program.run(session, text), FencedBlock { body: text, ..*fence }));
        let [framed, closed] = framed;
        if fault(&closed.0).is_none() && fault(&framed.0).is_some() {
            return closed;
        }
        if !has_no_dialect(&framed.0) {
            return framed;
        }
    }
    (alone, *fence)
}

/// The place in its file of a part of an example. Text from a template may have no place: then take the nearest line of
/// the example that has one, or the fence, and describe which example it is.
fn place(program: &Program, prompt_text: &PromptText, fence: &FencedBlock<'_>, part: Span) -> (Location, String) {
    let file = program.sources().get(prompt_text.source).map(|source| source.text()).unwrap_or_default();
    let find = |text: &str| file.find(text).filter(|_| !text.trim().is_empty());
    let located = |span| Location { source: prompt_text.source, span };
    let start = find(fence.body).map(|start| start + part.start).or_else(|| find(part.of(fence.body)));
    if let Some(start) = start {
        return (located(Span::new(start, start + part.len())), String::new());
    }
    let opener = file.match_indices(fence.opener).nth(fence.number).map_or(0, |(at, _)| at);
    let after = file.slice(opener..);
    let lines = fence.body.slice(part.start..).lines().map(str::trim);
    let mut known = lines.filter(|line| !line.is_empty()).filter_map(|line| Some((after.find(line)?, line.len())));
    let (start, length) = known.next().unwrap_or_else(|| (0, after.lines().next().map_or(0, str::len)));
    let span = Span::new(opener + start, opener + start + length);
    let first = fence.body.lines().next().unwrap_or_default();
    (located(span), format!(", `{}` …", excerpt(first, 40)))
}

/// A fenced block of a Markdown text.
#[derive(Clone, Copy)]
struct FencedBlock<'t> {
    refused: bool,
    /// The opening line, and how many equal lines precede it.
    opener: &'t str,
    number: usize,
    body: &'t str,
    /// The block with its fence, and with the last line before it that is not blank.
    framed: &'t str,
    /// `framed`, with the next line after it that is not blank.
    closed: &'t str,
}

/// The closed fences of a text whose language is one in [`LANGUAGES`].
fn fences(text: &str) -> Vec<FencedBlock<'_>> {
    let mut fences: Vec<FencedBlock<'_>> = Vec::new();
    // Of the open fence: its opening line, its delimiter, the words after that, and the offset of its body.
    let mut open: Option<(&str, &str, &str, usize)> = None;
    // How many fences with a language are open inside it: models read them as nested, whatever Markdown defines.
    let mut inner = 0usize;
    // The offset of the last line outside of fences that is not blank.
    let mut above = 0;
    let mut end = 0;
    for line in text.split_inclusive('\n') {
        let start = end;
        end += line.len();
        let trimmed = line.trim();
        let words = trimmed.trim_start_matches(if trimmed.starts_with('~') { '~' } else { '`' });
        let (mark, _) = trimmed.split_at(trimmed.len() - words.len());
        match open {
            None if mark.len() >= 3 => open = Some((trimmed, mark, words, end)),
            Some((_, opened, ..)) if mark.starts_with(opened) && !words.is_empty() => inner += 1,
            Some((_, opened, ..)) if mark.starts_with(opened) && inner > 0 => inner -= 1,
            Some((opener, opened, info, body)) if mark.starts_with(opened) && words.is_empty() => {
                let mut info = info.split_whitespace();
                if info.next().is_some_and(|language| LANGUAGES.contains(&language)) {
                    let body = text.slice(body..start);
                    let number = fences.iter().filter(|fence| fence.opener == opener).count();
                    let refused = info.any(|word| word == REFUSED);
                    let behind = text.slice(end..);
                    let blank = behind.len() - behind.trim_start().len();
                    let line =
                        behind.get(blank..).and_then(|rest| rest.find('\n')).map_or(behind.len(), |at| blank + at);
                    fences.push(FencedBlock {
                        refused,
                        opener,
                        number,
                        body,
                        framed: text.slice(above..end),
                        closed: text.slice(above..end + line),
                    });
                }
                open = None;
            }
            None if !trimmed.is_empty() => above = start,
            _ => {}
        }
    }
    fences
}
