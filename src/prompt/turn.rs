//! Turns: what does a history store of a conversation?
//!
//! In: texts of either side, or the lines of a file with turns.
//! Out: [`Turn`]; a [`History`], whose answers a program has not parsed yet.
//! Never: parses or judges an answer.

use super::PromptMessage;
use crate::diagnostic::{Code, Diagnostic};
use crate::session::contract;
use crate::surface::Speaker;
use crate::text::{Location, Source, SourceId, Span};
#[cfg(feature = "schema")]
use crate::value::Object;
use crate::value::{Value, broken};

contract! {
    /// One turn of a conversation. `content` is plain text, and what a host displays: a prompt reads no block in it,
    /// and escapes anything that looks like one.
    ///
    /// An answer of the model becomes a turn by [`Turn::answer`], or by [`Program::turn`](crate::Program::turn) if only
    /// its text is left. A prompt shows such a turn in the form in which the current mode asks for answers.
    pub struct Turn {
        /// Whose turn it is. A turn of the `system` speaks with its authority, so it must not come from a user.
        role: Speaker,
        /// What was said. Of an answer, this is what its user saw.
        content: String,
        /// How the answer was read; absent if nothing is known of it, and in turns that are no answers.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        outcome: Option<PastOutcome>,
    }

    /// What a history has of an outcome, besides the text that the user saw.
    pub struct PastOutcome {
        /// The mode in which the answer was judged.
        mode: String,
        /// The dialect that read it; none if no dialect did.
        dialect: Option<String>,
        /// The parts that counted, from which a prompt writes the answer again; absent if no dialect read it, if it was
        /// refused, or if the parts are too long. Such a turn is shown as its `content`.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        answer: Option<PastAnswer>,
        /// The calls that were not carried out, with the reasons. The next prompt may report them to the model.
        #[serde(default, skip_serializing_if = "Vec::is_empty")]
        refused: Vec<RefusedCall>,
    }

    /// The parts of a past answer that counted. Nothing of what was refused, dropped, redacted or withheld is in it,
    /// and no reasoning.
    #[derive(Default)]
    pub struct PastAnswer {
        /// The message; absent if it is the `content` of the turn.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        message: Option<String>,
        /// The sections, in order.
        #[serde(default, skip_serializing_if = "Vec::is_empty")]
        sections: Vec<PastSection>,
        /// The utterances, in order.
        #[serde(default, skip_serializing_if = "Vec::is_empty")]
        utterances: Vec<PastUtterance>,
        /// The calls that were accepted or wait, in order, except long ones.
        #[serde(default, skip_serializing_if = "Vec::is_empty")]
        calls: Vec<PastCall>,
        /// What is named and not repeated: contents, and calls whose parameters are long.
        #[serde(default, skip_serializing_if = "Vec::is_empty")]
        omitted: Vec<Omitted>,
    }

    /// A section of a past answer.
    pub struct PastSection {
        /// Its name.
        name: String,
        /// Its text.
        text: String,
        /// Its value; absent unless it is JSON other than a text, or declares how it is read.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        value: Option<Value>,
    }

    /// What one speaker said in a past answer.
    pub struct PastUtterance {
        /// The speaker's name.
        speaker: String,
        /// The label written after the name.
        #[serde(default, skip_serializing_if = "String::is_empty")]
        label: String,
        /// What the speaker said.
        text: String,
        /// How many bytes of the message come before it.
        #[serde(default)]
        offset: usize,
    }

    /// A call of a past answer that was accepted, or that waits.
    pub struct PastCall {
        /// The name of the action.
        action: String,
        /// The parameters.
        #[cfg_attr(feature = "schema", schemars(with = "Object"))]
        params: Value,
        /// The id of the request under which it waits, or waited; the session has what became of it.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        pending: Option<String>,
    }

    /// A part of a past answer that is named and not repeated.
    #[derive(Eq)]
    pub struct Omitted {
        /// The name of the content or of the action.
        name: String,
        /// The key of the content, such as a path; empty for a call.
        #[serde(default, skip_serializing_if = "String::is_empty")]
        key: String,
    }

    /// A call of an answer that was not carried out.
    #[derive(Eq)]
    pub struct RefusedCall {
        /// The name of the action, as the answer wrote it.
        action: String,
        /// The reason, in words for a model.
        message: String,
        /// How to do better; absent if that is unknown.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        help: Option<String>,
        /// The id of the request under which it waits, or waited; the session has what became of it.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        pending: Option<String>,
    }
}

impl PastAnswer {
    /// The texts of its parts, besides the message.
    pub(crate) fn texts(&self) -> impl Iterator<Item = &str> {
        let sections = self.sections.iter().map(|section| section.text.as_str());
        sections.chain(self.utterances.iter().map(|utterance| utterance.text.as_str()))
    }
}

impl Turn {
    /// A turn of this speaker.
    ///
    /// A text of [`Speaker::System`] has the authority of the system, so it must not come from a user. A text of
    /// [`Speaker::Assistant`] is the message that a user saw of an answer, such as `outcome.message`. It is never
    /// parsed, so a raw answer would include its reasoning and its calls: use
    /// [`Program::turn`](crate::Program::turn) for that.
    pub fn new(role: Speaker, content: impl Into<String>) -> Self {
        Self { role, content: content.into(), outcome: None }
    }
}

/// For hosts that send the messages of a prompt together with turns of their own.
impl From<PromptMessage> for Turn {
    fn from(PromptMessage { role, content }: PromptMessage) -> Self {
        Self { role, content, outcome: None }
    }
}

/// Turns as a file or a host stores them. [`Program::turns`](crate::Program::turns) parses the answers without an
/// outcome, once for any number of prompts.
#[derive(Debug, Clone, Default)]
pub struct History {
    pub(crate) lines: Vec<Line>,
}

/// For hosts that store answers as they were written.
impl From<Vec<Turn>> for History {
    fn from(turns: Vec<Turn>) -> Self {
        Self { lines: turns.into_iter().map(|turn| Line::of(turn, None)).collect() }
    }
}

/// One line of a history.
#[derive(Debug, Clone)]
pub(crate) enum Line {
    /// The message of a user, or an answer with its outcome.
    Turn(Turn),
    /// An answer to be parsed: its text, and the mode in which it was given, if that is known.
    Answer { text: String, mode: Option<String> },
}

impl Line {
    fn of(turn: Turn, mode: Option<String>) -> Self {
        match turn.role {
            Speaker::Assistant if turn.outcome.is_none() => Line::Answer { text: turn.content, mode },
            _ => Line::Turn(turn),
        }
    }
}

/// Reads turns from JSON lines: `{"role": "user", "content": "…"}` or `"assistant"`, the oldest first. Skips blank
/// lines.
///
/// The content of an assistant may be a message or a whole answer as it was written, and the line may have the `mode`
/// in which it was given. A line with an `outcome` is a [`Turn`] that was written as JSON, and its content is used as
/// it is.
///
/// # Errors
///
/// `prompt/bad-history` for each line that is not a turn, at its place in `file`.
pub fn read_history(id: SourceId, file: &Source) -> Result<History, Vec<Diagnostic>> {
    let (mut lines, mut faults) = (Vec::new(), Vec::new());
    let mut start = 0;
    for text in file.text().split_inclusive('\n') {
        let span = Span::new(start, start + text.trim_end().len());
        start += text.len();
        if text.trim().is_empty() {
            continue;
        }
        match line(text) {
            Ok(line) => lines.push(line),
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
    if faults.is_empty() { Ok(History { lines }) } else { Err(faults) }
}

/// The turn on a line; the error is the byte at which the fault starts, and the reason.
fn line(text: &str) -> Result<Line, (usize, String)> {
    let json = text.trim_start_matches('\u{feff}').trim();
    let value: Value = serde_json::from_str(json).map_err(|error| {
        let before = text.len() - text.trim_start_matches('\u{feff}').trim_start().len();
        (before + broken::place(&error, json).start, format!("this is not JSON: {}", broken::why(&error)))
    })?;
    let wrong = |why: &str| Err((0, why.to_owned()));
    if !value.is_object() {
        return wrong("a turn is a JSON object");
    }
    let role = match value.get("role").and_then(Value::as_str) {
        Some("user") => Speaker::User,
        Some("assistant") => Speaker::Assistant,
        Some(_) => return wrong("the role of a turn is `user` or `assistant`"),
        None => return wrong("the turn has no `role`"),
    };
    let Some(Value::String(content)) = value.get("content") else {
        return wrong("the turn has no `content` that is a text");
    };
    if role == Speaker::User {
        return Ok(Line::Turn(Turn::new(Speaker::User, &**content)));
    }
    let mode = match value.get("mode") {
        None | Some(Value::Null) => None,
        Some(Value::String(mode)) => Some((**mode).to_owned()),
        Some(_) => return wrong("the `mode` of the turn is not a text"),
    };
    match serde_json::from_value(value.get("outcome").unwrap_or(&Value::Null).into()) {
        Ok(outcome) => Ok(Line::of(Turn { outcome, ..Turn::new(Speaker::Assistant, &**content) }, mode)),
        Err(_) => wrong("the `outcome` of the turn is not an object with a `mode` and a `dialect`"),
    }
}
