//! Gemini: which parts does a response have?
//!
//! In: a `GenerateContentResponse`, or the list of them that a stream returns.
//! Out: the parts of the reply: those of the first candidate, in order.
//! Never: joins texts of one kind unless nothing is between them.

use super::ReplyPart;
use super::message::{Message, Present, arguments_of};
use serde::Deserialize;
use serde::de::IgnoredAny;
use serde_json::value::RawValue;
use std::collections::BTreeMap;

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct Returned<'t> {
    #[serde(borrow)]
    error: Option<&'t RawValue>,
    #[serde(borrow)]
    candidates: Option<Vec<&'t RawValue>>,
    #[serde(alias = "prompt_feedback")]
    prompt_feedback: Option<Feedback>,
    #[serde(alias = "usage_metadata")]
    usage_metadata: Present,
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct Feedback {
    #[serde(alias = "block_reason")]
    block_reason: Option<String>,
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct Candidate<'t> {
    #[serde(borrow)]
    content: Option<Content<'t>>,
    #[serde(alias = "finish_reason")]
    finish_reason: Option<String>,
}

#[derive(Deserialize)]
struct Content<'t> {
    #[serde(borrow)]
    parts: Option<Vec<&'t RawValue>>,
}

#[derive(Deserialize)]
struct Part<'t> {
    text: Option<String>,
    thought: Option<bool>,
    #[serde(borrow, rename = "functionCall", alias = "function_call")]
    function_call: Option<&'t RawValue>,
    #[serde(flatten)]
    rest: BTreeMap<String, IgnoredAny>,
}

#[derive(Deserialize)]
struct FunctionCall<'t> {
    id: Option<String>,
    #[serde(default)]
    name: String,
    #[serde(borrow)]
    args: Option<&'t RawValue>,
    #[serde(rename = "partialArgs", alias = "partial_args")]
    partial_args: Present,
}

/// Reads whatever the API returned.
pub(super) fn message<'t>(message: &mut Message<'t>, text: &'t str) {
    if text.trim_start().starts_with('[') {
        let all: Vec<&RawValue> = message.part(text, "a list of responses of Gemini").unwrap_or_default();
        all.into_iter().for_each(|one| _ = response(message, one.get()));
    } else {
        response(message, text);
    }
}

/// Reads one response; returns whether it is the last of a stream.
pub(super) fn response<'t>(message: &mut Message<'t>, text: &'t str) -> bool {
    let Some(returned) = message.part::<Returned<'_>>(text, "a response of Gemini") else { return false };
    if let Some(error) = returned.error {
        message.returned(error);
        return false;
    }
    let blocked = returned.prompt_feedback.and_then(|feedback| feedback.block_reason);
    message.reply.refused |= blocked.is_some();
    let Some(candidates) = returned.candidates else {
        if blocked.is_none() && returned.usage_metadata.is_none() {
            message.fault_in(text, "this has no `candidates`, so it is no response of Gemini");
        }
        return blocked.is_some();
    };
    let mut candidates = candidates.into_iter();
    let Some(first) = candidates.next() else { return false };
    let Some(candidate) = message.part::<Candidate<'_>>(first.get(), "a candidate") else { return false };
    let parts = candidate.content.and_then(|content| content.parts);
    parts.into_iter().flatten().for_each(|one| part(message, one.get()));
    candidates.for_each(|_| message.other("candidate"));
    finish(message, candidate.finish_reason.as_deref())
}

fn part<'t>(message: &mut Message<'t>, text: &'t str) {
    let Some(part) = message.part::<Part<'_>>(text, "a part") else { return };
    if let Some(call) = part.function_call {
        let Some(call) = message.part::<FunctionCall<'_>>(call.get(), "a function call") else { return };
        message.call(call.id, call.name, arguments_of(call.args));
        if call.partial_args.is_some() {
            message.other("partialArgs");
        }
        return;
    }
    match (part.text, part.thought) {
        (Some(text), thought) => add(message, text, thought == Some(true)),
        (None, _) => {
            // A signature says nothing to anybody but the API.
            let is_other = |key: &&String| {
                !matches!(
                    key.as_str(),
                    "thoughtSignature" | "thought_signature" | "videoMetadata" | "mediaResolution" | "partMetadata"
                )
            };
            let kinds: Vec<String> = part.rest.keys().filter(is_other).cloned().collect();
            kinds.into_iter().for_each(|kind| message.other(kind));
        }
    }
}

/// Adds a text to the one before it, or as a part of its own: a stream returns one text in many.
fn add(message: &mut Message<'_>, more: String, thought: bool) {
    match (message.reply.parts.last_mut(), thought) {
        (Some(ReplyPart::Thinking { text }), true) | (Some(ReplyPart::Text { text }), false) => text.push_str(&more),
        (_, true) => message.thinking(more),
        (_, false) => message.text(more),
    }
}

/// What the end of a response means; returns whether it ended.
fn finish(message: &mut Message<'_>, reason: Option<&str>) -> bool {
    match reason {
        None | Some("" | "FINISH_REASON_UNSPECIFIED") => return false,
        Some("STOP") => {}
        Some("MAX_TOKENS") => message.reply.truncated = true,
        // The call that the model wrote is not in the response.
        Some(reason @ ("MALFORMED_FUNCTION_CALL" | "UNEXPECTED_TOOL_CALL" | "TOO_MANY_TOOL_CALLS" | "OTHER")) => {
            message.other(reason);
        }
        Some(_) => message.reply.refused = true,
    }
    true
}
