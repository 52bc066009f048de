//! Anthropic: which parts does a message have?
//!
//! In: a message of the Messages API, or one of its content blocks.
//! Out: the parts of the reply, in the order of the content blocks.
//! Never: reads the events of a stream.

use super::message::{Message, arguments_of, starts};
use serde::Deserialize;
use serde_json::value::RawValue;

#[derive(Deserialize)]
struct Returned<'t> {
    #[serde(borrow)]
    error: Option<&'t RawValue>,
    #[serde(borrow)]
    content: Option<&'t RawValue>,
    stop_reason: Option<String>,
}

/// A content block.
#[derive(Deserialize)]
pub(super) struct ContentBlock<'t> {
    #[serde(rename = "type")]
    pub(super) kind: String,
    #[serde(default)]
    pub(super) text: String,
    #[serde(default)]
    pub(super) thinking: String,
    pub(super) id: Option<String>,
    #[serde(default)]
    pub(super) name: String,
    #[serde(borrow)]
    pub(super) input: Option<&'t RawValue>,
}

/// Reads whatever the API returned.
pub(super) fn message<'t>(message: &mut Message<'t>, text: &'t str) {
    const WHAT: &str = "a message of Anthropic";
    let Some(returned) = message.part::<Returned<'_>>(text, WHAT) else { return };
    if let Some(error) = returned.error {
        return message.returned(error);
    }
    match returned.content.map(|content| (starts(content), content)) {
        Some((b'[', content)) => {
            let blocks: Vec<&RawValue> = message.part(content.get(), "a list of content blocks").unwrap_or_default();
            blocks.into_iter().for_each(|one| block(message, one.get()));
        }
        Some((_, content)) => {
            let text = message.part(content.get(), "a content: a text or a list of blocks");
            text.into_iter().for_each(|text| message.text(text));
        }
        None => message.fault_in(text, "this has no `content`, so it is no message of Anthropic"),
    }
    stop(message, returned.stop_reason.as_deref().unwrap_or_default());
}

fn block<'t>(message: &mut Message<'t>, text: &'t str) {
    let Some(block) = message.part::<ContentBlock<'_>>(text, "a content block") else { return };
    match block.kind.as_str() {
        "text" => message.text(block.text),
        "thinking" => message.thinking(block.thinking),
        // It is encrypted: there is nothing to read.
        "redacted_thinking" => {}
        "tool_use" => message.call(block.id, block.name, arguments_of(block.input)),
        kind => message.other(kind),
    }
}

/// What the end of a message means.
fn stop(message: &mut Message<'_>, reason: &str) {
    message.reply.truncated |= is_truncated(reason);
    message.reply.refused |= reason == REFUSAL;
}

pub(super) const REFUSAL: &str = "refusal";

pub(super) fn is_truncated(reason: &str) -> bool {
    matches!(reason, "max_tokens" | "model_context_window_exceeded")
}
