//! OpenAI: which parts does a chat completion have?
//!
//! In: a chat completion, its first choice, or the message of one; what the Responses API returns is passed on.
//! Out: the parts of the reply: reasoning, then text, then calls.
//! Never: reads chunks.

use super::message::{Message, arguments_of, is_said, starts};
use super::responses;
use serde::Deserialize;
use serde_json::value::RawValue;

/// Anything that OpenAI and compatible servers return: members of several shapes.
#[derive(Deserialize)]
struct Returned<'t> {
    #[serde(borrow)]
    error: Option<&'t RawValue>,
    #[serde(borrow)]
    choices: Option<Vec<&'t RawValue>>,
    #[serde(borrow)]
    output: Option<&'t RawValue>,
    role: Option<&'t RawValue>,
    #[serde(borrow)]
    message: Option<&'t RawValue>,
}

#[derive(Deserialize)]
struct Choice<'t> {
    #[serde(borrow)]
    message: Option<&'t RawValue>,
    finish_reason: Option<String>,
}

#[derive(Deserialize)]
struct ChatMessage<'t> {
    #[serde(borrow)]
    content: Option<&'t RawValue>,
    refusal: Option<String>,
    #[serde(borrow)]
    reasoning_content: Option<&'t RawValue>,
    #[serde(borrow)]
    reasoning: Option<&'t RawValue>,
    #[serde(borrow)]
    tool_calls: Option<Vec<ToolCall<'t>>>,
    #[serde(borrow)]
    function_call: Option<Function<'t>>,
    #[serde(borrow)]
    audio: Option<&'t RawValue>,
    #[serde(borrow)]
    images: Option<&'t RawValue>,
}

#[derive(Deserialize)]
struct ToolCall<'t> {
    id: Option<String>,
    #[serde(rename = "type")]
    kind: Option<String>,
    #[serde(borrow)]
    function: Option<Function<'t>>,
}

#[derive(Deserialize)]
pub(super) struct Function<'t> {
    #[serde(default)]
    pub(super) name: Option<String>,
    #[serde(borrow)]
    pub(super) arguments: Option<&'t RawValue>,
}

/// A part of a content that is a list.
#[derive(Deserialize)]
pub(super) struct Piece<'t> {
    #[serde(rename = "type")]
    pub(super) kind: Option<String>,
    pub(super) text: Option<String>,
    pub(super) refusal: Option<String>,
    #[serde(borrow)]
    pub(super) thinking: Option<&'t RawValue>,
}

/// Reads whatever the API returned.
pub(super) fn message<'t>(message: &mut Message<'t>, text: &'t str) {
    const WHAT: &str = "a message of OpenAI";
    if text.trim_start().starts_with('[') {
        return responses::output(message, text);
    }
    let Some(returned) = message.part::<Returned<'_>>(text, WHAT) else { return };
    match returned {
        Returned { error: Some(error), .. } => message.returned(error),
        Returned { choices: Some(choices), .. } => {
            let Some((first, others)) = choices.split_first() else {
                return message.fault_in(text, "this has no choice, and so no answer");
            };
            if let Some(choice) = message.part::<Choice<'_>>(first.get(), "a choice") {
                choice.message.iter().for_each(|one| chat(message, one.get()));
                finish(message, choice.finish_reason.as_deref().unwrap_or_default());
                if choice.message.is_none() {
                    message.fault_in(first.get(), "this choice has no `message`; chunks are read one by one");
                }
            }
            others.iter().for_each(|_| message.other("choice"));
        }
        Returned { output: Some(_), .. } => responses::response(message, text),
        Returned { message: Some(one), role: None, .. } => chat(message, one.get()),
        Returned { role: Some(_), .. } => chat(message, text),
        _ => message.fault_in(text, "this has no `choices`, no `output` and no `role`, so it is no message of OpenAI"),
    }
}

/// Reads the message of a chat completion.
fn chat<'t>(message: &mut Message<'t>, text: &'t str) {
    let Some(read) = message.part::<ChatMessage<'_>>(text, "the message of a chat completion") else { return };
    // Servers that have both say the same in them.
    let reasoning = [read.reasoning_content, read.reasoning].into_iter().flatten().find(|one| is_said(Some(one)));
    match reasoning.map(|one| (starts(one), one)) {
        Some((b'"', one)) => {
            let text = message.part(one.get(), "a text");
            text.into_iter().for_each(|text| message.thinking(text));
        }
        Some(_) => message.other("reasoning"),
        None => {}
    }
    content(message, read.content);
    if let Some(refusal) = read.refusal.filter(|refusal| !refusal.is_empty()) {
        message.text(refusal);
        message.reply.refused = true;
    }
    if is_said(read.audio) {
        message.other("audio");
    }
    if is_said(read.images) {
        message.other("images");
    }
    for call in read.tool_calls.into_iter().flatten() {
        match call.function {
            Some(Function { name, arguments }) => {
                message.call(call.id, name.unwrap_or_default(), arguments_of(arguments));
            }
            None => message.other(call.kind.unwrap_or_else(|| "tool_call".to_owned())),
        }
    }
    if let Some(Function { name, arguments }) = read.function_call {
        message.call(None, name.unwrap_or_default(), arguments_of(arguments));
    }
}

/// Reads a content that is a text, or a list of parts.
pub(super) fn content<'t>(message: &mut Message<'t>, content: Option<&'t RawValue>) {
    let Some(content) = content else { return };
    match starts(content) {
        b'n' => {}
        b'[' => {
            let pieces: Vec<Piece<'_>> = message.part(content.get(), "a list of content parts").unwrap_or_default();
            pieces.into_iter().for_each(|piece| self::piece(message, piece));
        }
        _ => {
            let text = message.part(content.get(), "a content: a text or a list of parts");
            text.into_iter().for_each(|text| message.text(text));
        }
    }
}

fn piece<'t>(message: &mut Message<'t>, piece: Piece<'t>) {
    match piece {
        Piece { refusal: Some(refusal), .. } => {
            message.text(refusal);
            message.reply.refused = true;
        }
        Piece { text: Some(text), kind, .. } if kind.as_deref().is_none_or(is_text) => message.text(text),
        Piece { thinking: Some(thinking), .. } => {
            let mut within = Vec::new();
            match starts(thinking) {
                b'"' => within.extend(message.part::<String>(thinking.get(), "a text")),
                _ => {
                    let pieces: Option<Vec<Piece<'_>>> = message.part(thinking.get(), "a list of content parts");
                    within.extend(pieces.into_iter().flatten().filter_map(|piece| piece.text));
                }
            }
            message.thinking(within.concat());
        }
        Piece { kind, .. } => message.other(kind.unwrap_or_else(|| "part".to_owned())),
    }
}

pub(super) fn is_text(kind: &str) -> bool {
    matches!(kind, "text" | "output_text" | "summary_text" | "reasoning_text")
}

/// What the end of a chat completion means.
pub(super) fn finish(message: &mut Message<'_>, reason: &str) {
    message.reply.truncated |= is_truncated(reason);
    message.reply.refused |= is_refused(reason);
}

pub(super) fn is_truncated(reason: &str) -> bool {
    matches!(reason, "length" | "max_tokens" | "max_output_tokens")
}

pub(super) fn is_refused(reason: &str) -> bool {
    matches!(reason, "content_filter" | "refusal")
}
