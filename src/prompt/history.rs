//! History: which turns of the conversation does the model see?
//!
//! In: the turns so far, or the lines of a file that holds them.
//! Out: [`Turn`]s, and a [`Window`] on them that reads and escapes only what is asked for.
//! Never: cuts a turn in two, or shows an answer as anything but its message.

use super::Request;
use crate::diagnostic::{Code, Diagnostic};
use crate::program::Prompts;
use crate::surface::Speaker;
use crate::text::{Location, Source, SourceId, Span};
use serde::{Deserialize, Serialize};
use serde_json::Value;
use std::cell::OnceCell;

/// What one side said. In JSON it is as [`read_history`] reads it.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Turn {
    /// Who said it: the user or the model.
    pub role: Speaker,
    /// What was said: of the model its message, or the whole answer as it came.
    pub content: String,
}

/// Reads turns from JSON lines: `{"role": "user", "content": "…"}` or `"assistant"`, the oldest first. Blank lines are skipped.
///
/// # Errors
///
/// `prompt/bad-history` for each line that holds no turn, at its place in `file`.
pub fn read_history(id: SourceId, file: &Source) -> Result<Vec<Turn>, Vec<Diagnostic>> {
    let (mut turns, mut faults) = (Vec::new(), Vec::new());
    let mut start = 0;
    for line in file.text().split_inclusive('\n') {
        let at = Location { source: id, span: Span::new(start, start + line.trim_end().len()) };
        start += line.len();
        if line.trim().is_empty() {
            continue;
        }
        match turn(line) {
            Ok(turn) => turns.push(turn),
            Err(why) => faults.push(
                Diagnostic::new(Code::BAD_HISTORY, at, why)
                    .with_help("a line holds `{\"role\": \"user\", \"content\": \"…\"}`, or `\"assistant\"`"),
            ),
        }
    }
    if faults.is_empty() { Ok(turns) } else { Err(faults) }
}

fn turn(line: &str) -> Result<Turn, String> {
    let value: Value = serde_json::from_str(line.trim_start_matches('\u{feff}').trim())
        .map_err(|error| format!("this is not JSON: {error}"))?;
    let role = match value.get("role").and_then(Value::as_str) {
        Some("user") => Speaker::User,
        Some("assistant") => Speaker::Assistant,
        Some(_) => return Err("the role of a turn is `user` or `assistant`".to_owned()),
        None => return Err("the turn has no `role`".to_owned()),
    };
    match value.get("content") {
        Some(Value::String(content)) => Ok(Turn { role, content: content.clone() }),
        _ => Err("the turn has no `content` that is a text".to_owned()),
    }
}

/// The turns, each read when it is first asked for.
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

    /// What a turn says, escaped.
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

/// A turn as it stands where all layers are one text.
pub(super) fn line(role: Speaker, said: &str) -> String {
    format!("{}: {said}", role.word().to_ascii_uppercase())
}
