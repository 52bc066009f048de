//! Anthropic: which parts does a message have?
//!
//! In: a message of the Messages API.
//! Out: the parts of the reply, in the order of the content blocks.
//! Never: reads the events of a stream.

use super::message::ReplyMessage;
use super::raw::Raw;

/// Reads whatever the API returned.
pub(super) fn message<'t>(message: &mut ReplyMessage<'t>, returned: Raw<'t>) {
    if !message.is_object(returned, "a message of Anthropic") {
        return;
    }
    if let Some(error) = returned.get("error") {
        return message.returned(error);
    }
    if !message.is_of_model(returned) {
        return;
    }
    match returned.get("content") {
        Some(content) if content.is_list() => content.items().for_each(|one| block(message, one)),
        Some(_) => {
            let text = message.text_member(returned, "content");
            text.into_iter().for_each(|text| message.text(text));
        }
        None => message.fault_in(returned, "this has no `content`, so it is no message of Anthropic"),
    }
    let reason = message.text_member(returned, "stop_reason").unwrap_or_default();
    message.end(&reason);
    message.unsaid = returned.members().any(|(name, value)| name == "stop_reason" && value.is_null());
}

/// Reads a content block.
pub(super) fn block<'t>(message: &mut ReplyMessage<'t>, block: Raw<'t>) {
    if !message.is_object(block, "a content block") {
        return;
    }
    let kind = message.text_member(block, "type").unwrap_or_default();
    match kind.as_str() {
        "text" => {
            let text = message.text_member(block, "text").unwrap_or_default();
            message.text(text);
        }
        "thinking" => {
            let text = message.text_member(block, "thinking").unwrap_or_default();
            message.thinking(text);
        }
        // Encrypted: there is nothing to read.
        "redacted_thinking" => {}
        "tool_use" => {
            let (id, name) = (message.text_member(block, "id"), message.text_member(block, "name").unwrap_or_default());
            message.call_of(id, name, block, "input");
        }
        "" => message.other("content block"),
        kind => message.other(kind),
    }
}
