//! Responses: which parts does a response of OpenAI's Responses API have?
//!
//! In: a response, its `output`, or one item of that.
//! Out: the parts of the reply, in the order of the items.
//! Never: reads the events of a stream.

use super::ending::Ending;
use super::message::ReplyMessage;
use super::openai::content;
use super::raw::Raw;

/// Reads a whole response.
pub(super) fn response<'t>(message: &mut ReplyMessage<'t>, response: Raw<'t>) {
    message.list(response, "output").for_each(|one| whole_item(message, one));
    end(message, response);
}

/// Records whether a response is complete, and why it is not.
pub(super) fn end<'t>(message: &mut ReplyMessage<'t>, response: Raw<'t>) {
    if let Some(details) = response.get("incomplete_details") {
        let reason = message.text_member(details, "reason").unwrap_or_default();
        message.end(&reason);
        message.reply.truncated |= Ending::of(&reason) != Ending::Refused;
    } else {
        // One of completed, failed, in_progress, cancelled, queued and incomplete.
        let status = message.text_member(response, "status").unwrap_or_default();
        message.end(&status);
    }
}

/// Reads a list of items.
pub(super) fn output<'t>(message: &mut ReplyMessage<'t>, output: Raw<'t>) {
    output.items().for_each(|one| whole_item(message, one));
}

/// Reads one item to which nothing will be added.
pub(super) fn whole_item<'t>(message: &mut ReplyMessage<'t>, one: Raw<'t>) {
    let calls = message.calls;
    item(message, one);
    let status = message.text_member(one, "status").unwrap_or_default();
    if is_read(one) && !matches!(Ending::of(&status), Ending::Unsaid | Ending::Whole) {
        message.item_status = Some(status);
        if message.calls > calls {
            message.last_is_partial();
        }
    }
}

/// Whether an item is a part of the reply; the status of others, such as tools of the provider, is for the host.
fn is_read(item: Raw<'_>) -> bool {
    let kind = item.get("type").and_then(Raw::text);
    matches!(kind.as_deref(), None | Some("message" | "function_call"))
}

/// Reads one item, whatever its status.
pub(super) fn item<'t>(message: &mut ReplyMessage<'t>, item: Raw<'t>) {
    if !message.is_object(item, "an output item") {
        return;
    }
    let kind = message.text_member(item, "type");
    match kind.as_deref() {
        Some("function_call") => {
            let id = message.text_member(item, "call_id").or_else(|| message.text_member(item, "id"));
            let name = message.text_member(item, "name").unwrap_or_default();
            message.call_of(id, name, item, "arguments");
        }
        Some("reasoning") => {
            for name in ["summary", "content"] {
                for one in message.list(item, name) {
                    let text = message.text_member(one, "text");
                    text.into_iter().for_each(|text| message.thinking(text));
                }
            }
        }
        kind if kind == Some("message") || (kind.is_none() && item.get("role").is_some()) => {
            if message.is_of_model(item) {
                content(message, item);
            }
        }
        kind => message.other(kind.unwrap_or("item")),
    }
}
