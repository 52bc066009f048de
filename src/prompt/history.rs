//! History: which turns of the conversation does the model see?
//!
//! In: the turns so far, or the lines of a file with turns.
//! Out: [`Turn`]s, and a [`Window`] of them that reads and escapes a turn only when it is needed.
//! Never: cuts a turn in two, or shows more of an answer than its user saw.

use super::{Message, Request};
use crate::diagnostic::{Code, Diagnostic};
use crate::program::Prompts;
use crate::surface::Speaker;
use crate::text::{Location, Source, SourceId, Span};
use crate::value::Value;
use crate::value::broken;
use serde::{Deserialize, Serialize};
use std::borrow::Cow;
use std::cell::OnceCell;
use std::fmt::Write as _;

/// What one side said. Its JSON is that of [`read_history`]; its role may also be `system`, as in the messages of a
/// prompt. Such a turn speaks with the authority of the system, so it must not come from a user.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Turn {
    /// Who said it.
    pub role: Speaker,
    /// What was said; for the model its message, or its whole answer as it was written.
    pub content: String,
}

/// For hosts that keep the messages of a prompt, with turns of their own after them.
impl From<Message> for Turn {
    fn from(Message { role, content }: Message) -> Self {
        Self { role, content }
    }
}

/// Reads turns from JSON lines: `{"role": "user", "content": "…"}` or `"assistant"`, the oldest first. Skips blank
/// lines.
///
/// # Errors
///
/// `prompt/bad-history` for each line that is not a turn, at its place in `file`.
pub fn read_history(id: SourceId, file: &Source) -> Result<Vec<Turn>, Vec<Diagnostic>> {
    let (mut turns, mut faults) = (Vec::new(), Vec::new());
    let mut start = 0;
    for line in file.text().split_inclusive('\n') {
        let span = Span::new(start, start + line.trim_end().len());
        start += line.len();
        if line.trim().is_empty() {
            continue;
        }
        match turn(line) {
            Ok(turn) => turns.push(turn),
            Err((from, why)) => faults.push(
                Diagnostic::new(
                    Code::BAD_HISTORY,
                    Location { source: id, span: Span::new(span.start + from, span.end) },
                    why,
                )
                .with_help("a line holds `{\"role\": \"user\", \"content\": \"…\"}`, or `\"assistant\"`"),
            ),
        }
    }
    if faults.is_empty() { Ok(turns) } else { Err(faults) }
}

/// The turn on a line; or the byte from which it is wrong, and why.
fn turn(line: &str) -> Result<Turn, (usize, String)> {
    let json = line.trim_start_matches('\u{feff}').trim();
    let value: Value = serde_json::from_str(json).map_err(|error| {
        let before = line.len() - line.trim_start_matches('\u{feff}').trim_start().len();
        (before + broken::place(&error, json).start, format!("this is not JSON: {}", broken::why(&error)))
    })?;
    if !value.is_object() {
        return Err((0, "a turn is a JSON object".to_owned()));
    }
    let role = match value.get("role").and_then(Value::as_str) {
        Some("user") => Speaker::User,
        Some("assistant") => Speaker::Assistant,
        Some(_) => return Err((0, "the role of a turn is `user` or `assistant`".to_owned())),
        None => return Err((0, "the turn has no `role`".to_owned())),
    };
    match value.get("content") {
        Some(Value::String(content)) => Ok(Turn { role, content: (**content).to_owned() }),
        _ => Err((0, "the turn has no `content` that is a text".to_owned())),
    }
}

/// The turns, each processed when it is first needed.
pub(super) struct Window<'r> {
    turns: Vec<(&'r Turn, OnceCell<String>)>,
    prompts: &'r Prompts,
    answer: &'r dyn Fn(&str) -> String,
}

impl<'r> Window<'r> {
    pub(super) fn of(prompts: &'r Prompts, request: &'r Request, answer: &'r dyn Fn(&str) -> String) -> Self {
        Self { turns: request.history.iter().map(|turn| (turn, OnceCell::new())).collect(), prompts, answer }
    }

    pub(super) fn len(&self) -> usize {
        self.turns.len()
    }

    pub(super) fn role(&self, number: usize) -> Option<Speaker> {
        self.turns.get(number).map(|(turn, _)| turn.role)
    }

    /// The escaped text of a turn.
    pub(super) fn said(&self, number: usize) -> &str {
        let Some((turn, said)) = self.turns.get(number) else { return "" };
        said.get_or_init(|| {
            let label = line(turn.role, "");
            match turn.role {
                Speaker::Assistant => self.prompts.escape.behind(&label, (self.answer)(&turn.content).trim()),
                _ => self.prompts.escape.behind(&label, turn.content.trim()),
            }
        })
    }
}

/// A turn as it is printed if all layers are one text.
pub(super) fn line(role: Speaker, said: &str) -> String {
    format!("{}: {said}", role.word().to_ascii_uppercase())
}

/// The part `said` after `before`, if all layers are one text: no line of it looks like the start of a turn.
pub(super) fn of_one<'t>(before: &str, said: &'t str) -> Cow<'t, str> {
    let labels = [Speaker::User, Speaker::Assistant].map(|role| line(role, ""));
    let starts_turn = |line: &str| labels.iter().any(|label| line.trim_start().starts_with(label.trim_end()));
    let starts_line = before.is_empty() || before.ends_with('\n');
    let lines = || said.split_inclusive('\n').enumerate();
    let is_forged = |(number, line): (usize, &str)| (number > 0 || starts_line) && starts_turn(line);
    if !lines().any(is_forged) {
        return Cow::Borrowed(said);
    }
    let mut out = String::with_capacity(said.len() + 8);
    for (number, line) in lines() {
        let label = line.trim_start();
        match label.chars().next().filter(|_| is_forged((number, line))) {
            Some(first) => {
                out.push_str(line.get(..line.len() - label.len()).unwrap_or_default());
                let _ = write!(out, "&#{};", first as u32);
                out.push_str(label.get(first.len_utf8()..).unwrap_or_default());
            }
            None => out.push_str(line),
        }
    }
    Cow::Owned(out)
}
